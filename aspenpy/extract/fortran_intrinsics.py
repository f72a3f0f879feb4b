"""Functions of the language, element by element, and reductions as loops in front of their statement."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from aspenpy.extract import records as r
from aspenpy.extract.fortran_nodes import Syntax, list_arguments, split_keyword, type_name
from aspenpy.extract.fortran_operations import (
    COMPLEX,
    IN_C,
    MATHEMATICAL,
    REDUCTIONS,
    absolute_value,
    assign,
    call_of_complex,
    complex_parts,
    convert,
    extreme,
    make_complex,
    negate,
    operate,
    remainder,
    scalar_view,
)
from aspenpy.extract.fortran_scopes import (
    INT,
    NameScope,
    View,
    add,
    constant_value,
    integer,
    integer_kind,
    multiply,
    real_kind,
)
from aspenpy.extract.library_functions import TEXT_OF_FORTRAN
from aspenpy.language.source import Span


class Views(Protocol):
    """The expressions of a procedure, as its functions use them."""

    scope: NameScope
    statement: Span | None
    before: list[r.Statement]

    def view(self, node: Syntax | View | None) -> View: ...

    def read(self, node: Syntax | View | None) -> r.Expression: ...

    def kind_of(self, node: Syntax | str | None, default: int) -> int: ...

    def unknown(self, what: str) -> View: ...

    def map_elements(self, views: list[View], build: Callable[[list[r.Expression]], r.Expression]) -> View: ...

    def make_variable(self, name: str, type: r.Type) -> r.Variable: ...

    def make_nest(
        self,
        extents: Sequence[r.Expression],
        body: Callable[[Sequence[r.Expression]], Sequence[r.Statement]],
    ) -> r.Statement: ...


class Intrinsics:
    """The functions of the language (ISO/IEC 1539-1:2018, chapter 16) in the expressions of one procedure."""

    def __init__(self, expressions: Views) -> None:
        self.expressions = expressions

    def view(self, name: str, arguments: list[Syntax], span: Span | None) -> View:
        """A function by its name and arguments; one that is not known is a call of a procedure elsewhere."""
        plain: list[Any]  # nodes, and views of those that were looked at
        plain, given = place_arguments(name, arguments)
        name = IN_C.get(name, name)
        if name in REDUCTIONS:
            return self._view_reduction(name, plain, given)
        if name in OF_TEXT or name.startswith("omp_"):
            type = OF_TEXT.get(name, INT)
            key = TEXT_OF_FORTRAN if name in OF_TEXT and type is INT else name
            return scalar_view(r.Call(key, name, (), type, span) if type.kind != "pointer" else r.Constant(None, type))
        rule: Callable[[list[Syntax], dict[str, Syntax]], View] | None = getattr(self, f"_intrinsic_{name}", None)
        if plain and name in OF_COMPLEX:
            plain = [one := self.expressions.view(plain[0]), *plain[1:]]
            if one.element.name == COMPLEX:
                return self.expressions.map_elements(
                    [one], lambda parts: OF_COMPLEX[name](*complex_parts(parts[0]), span)
                )
        views = [] if rule is not None else [self.expressions.view(value) for value in plain]
        if rule is not None:
            return rule(plain, given)
        if name in ELEMENTAL:
            return self.expressions.map_elements(views, lambda parts: ELEMENTAL[name](parts, span))
        type = views[0].element if views else r.Type("real", 8)
        key = f"c:@F@{name}_"
        return self.expressions.map_elements(views, lambda parts: r.Call(key, name, tuple(parts), type, span))

    def _convert_elements(
        self, plain: list[Syntax], given: dict[str, Syntax], wanted: Literal["integer", "real"]
    ) -> View:
        scope = self.expressions.scope
        default = scope.real_size if wanted == "real" else scope.integer_size
        to = r.Type(wanted, self.expressions.kind_of(given.get("kind", plain[1] if len(plain) > 1 else None), default))
        return self.expressions.map_elements([self.expressions.view(plain[0])], lambda parts: convert(parts[0], to))

    def _intrinsic_real(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._convert_elements(plain, given, "real")

    def _intrinsic_int(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._convert_elements(plain, given, "integer")

    def _intrinsic_nint(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._round(plain, given, lambda value: math.floor(abs(value) + 0.5) * (1 if value > 0 else -1))

    def _intrinsic_floor(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._round(plain, given, math.floor)

    def _intrinsic_ceiling(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._round(plain, given, math.ceil)

    def _round(self, plain: list[Syntax], given: dict[str, Syntax], rule: Callable[[float], int]) -> View:
        """A whole number near a real one; that of a constant is computed."""
        view = self._intrinsic_int(plain, given)
        value = None if view.extents else constant_value(view.at(()))
        return view if value is None else scalar_view(integer(rule(value)))

    def _intrinsic_cmplx(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        kind, default = given.get("kind", plain[2] if len(plain) > 2 else None), self.expressions.scope.real_size
        half = r.Type("real", self.expressions.kind_of(kind, default))
        views = [self.expressions.view(part) for part in plain[:2]]

        def build(parts: Sequence[r.Expression]) -> r.Expression:
            pair = complex_parts(parts[0]) if len(parts) == 1 else parts
            return make_complex(convert(pair[0], half), convert(pair[1], half))

        return self.expressions.map_elements(views, build)

    def _intrinsic_present(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return scalar_view(integer(1))

    _intrinsic_allocated = _intrinsic_present

    def _intrinsic_associated(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return scalar_view(integer(0))

    _intrinsic_ieee_is_nan = _intrinsic_is_iostat_end = _intrinsic_associated

    def _intrinsic_dble(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        to = r.Type("real", 8)
        return self.expressions.map_elements([self.expressions.view(plain[0])], lambda parts: convert(parts[0], to))

    def _intrinsic_kind(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return scalar_view(integer(self.expressions.view(plain[0]).element.size or 4))

    def _intrinsic_selected_real_kind(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        digits = given.get("p", plain[0] if plain else None)
        value = constant_value(self.expressions.read(digits)) if digits is not None else None
        return scalar_view(integer(real_kind(int(value or 15))))

    def _intrinsic_selected_int_kind(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        digits = constant_value(self.expressions.read(given.get("r", plain[0] if plain else None)))
        return scalar_view(integer(integer_kind(int(digits or 9))))

    def _limit(self, plain: list[Syntax], real: float) -> View:
        type = self.expressions.view(plain[0]).element
        return scalar_view(r.Constant(2**31 - 1 if type.kind == "integer" else real, type))

    def _intrinsic_huge(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._limit(plain, sys.float_info.max)

    def _intrinsic_tiny(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._limit(plain, sys.float_info.min)

    def _intrinsic_epsilon(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._limit(plain, sys.float_info.epsilon)

    def _intrinsic_size(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        extents = self.expressions.view(plain[0]).extents
        dimension = given.get("dim", plain[1] if len(plain) > 1 else None)
        number = None if dimension is None else constant_value(self.expressions.read(dimension))
        if isinstance(number, int) and 1 <= number <= len(extents):
            return scalar_view(extents[number - 1])
        total: r.Expression = integer(1)
        for extent in extents:
            total = multiply(total, extent)
        return scalar_view(total)

    def _bound(self, plain: list[Syntax], given: dict[str, Syntax], is_upper: bool) -> View:
        view = self.expressions.view(plain[0])
        dimension = given.get("dim", plain[1] if len(plain) > 1 else None)
        only = 1 if len(view.extents) == 1 else None
        number = only if dimension is None else constant_value(self.expressions.read(dimension))
        if not isinstance(number, int) or not 1 <= number <= len(view.extents):
            return self.expressions.unknown("a bound of more than one dimension")
        extent = view.extents[number - 1]
        lower = view.whole.shape[number - 1].lower if view.whole is not None else integer(1)
        return scalar_view(add(add(lower, extent), integer(1), "-") if is_upper else lower)

    def _intrinsic_lbound(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._bound(plain, given, False)

    def _intrinsic_ubound(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        return self._bound(plain, given, True)

    def _intrinsic_transpose(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        view = self.expressions.view(plain[0])
        return View(view.element, view.extents[::-1], lambda counters: view.at(counters[::-1]))

    def _intrinsic_spread(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        view = self.expressions.view(plain[0])
        place = constant_value(self.expressions.read(given.get("dim", plain[1] if len(plain) > 1 else None)))
        copies = self.expressions.read(given.get("ncopies", plain[2] if len(plain) > 2 else None))
        if not isinstance(place, int):
            return self.expressions.unknown("`spread` along a dimension that varies")
        before = place - 1
        extents = (*view.extents[:before], copies, *view.extents[before:])
        return View(view.element, extents, lambda counters: view.at([*counters[:before], *counters[before + 1 :]]))

    def _intrinsic_cshift(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        """The elements of an array, moved around: the same loads, from places that wrap around once."""
        return self.expressions.view(plain[0])

    def _intrinsic_reshape(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        source = self.expressions.view(plain[0])
        shape = plain[1] if len(plain) > 1 else given.get("shape")
        items = [
            item
            for child in getattr(shape, "children", ())
            if not isinstance(child, str)
            for item in list_arguments(child)
        ]
        if type_name(shape) != "Array_Constructor" or len(source.extents) != 1:
            return self.expressions.unknown(
                "`reshape` of an array of several dimensions, or to a shape that is no list"
            )
        extents = tuple(self.expressions.read(item) for item in items)

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            place: r.Expression = counters[-1]
            for counter, extent in zip(reversed(counters[:-1]), reversed(extents[:-1]), strict=True):
                place = add(multiply(place, extent), counter)
            return source.at([place])

        return View(source.element, extents, at)

    def _intrinsic_matmul(self, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        """Elements of a product, each a loop over the inner dimension."""
        left, right = (self.expressions.view(part) for part in plain[:2])
        inner = left.extents[-1]
        extents = (*left.extents[:-1], *right.extents[1:])
        split = len(left.extents) - 1

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            def product(k: Sequence[r.Expression]) -> r.Expression:
                return operate("*", left.at([*counters[:split], *k]), right.at([*k, *counters[split:]]))

            return self._reduce("sum", View(left.element, (inner,), product), None)

        return View(left.element, extents, at)

    def _view_reduction(self, name: str, plain: list[Syntax], given: dict[str, Syntax]) -> View:
        """`sum(a)` and its sisters, over all elements or along one dimension."""
        views = [self.expressions.view(value) for value in plain[: 2 if name == "dot_product" else 1]]
        mask = self.expressions.view(given["mask"]) if "mask" in given else None
        dimension = given.get("dim")
        for part in plain[len(views) :]:
            if (view := self.expressions.view(part)).extents:
                mask = view
            else:
                dimension = part
        values = self.expressions.map_elements(
            views, lambda parts: parts[0] if len(parts) == 1 else operate("*", *parts)
        )
        if dimension is None:
            return View(_result_type(name, values), (), lambda counters: self._reduce(name, values, mask))
        number = constant_value(self.expressions.read(dimension))
        if not isinstance(number, int) or not 1 <= number <= len(values.extents):
            return self.expressions.unknown(f"`{name}` along a dimension that varies")
        before = number - 1

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            def lines(view: View) -> View:
                """The elements along the dimension."""
                extents = view.extents[before : before + 1]
                return View(view.element, extents, lambda i: view.at([*counters[:before], *i, *counters[before:]]))

            return self._reduce(name, lines(values), None if mask is None else lines(mask))

        return View(_result_type(name, values), (*values.extents[:before], *values.extents[before + 1 :]), at)

    def _reduce(self, name: str, values: View, mask: View | None) -> r.Expression:
        """A variable with the result of a loop over elements, which runs before the statement."""
        statement, element = self.expressions.statement, _result_type(name, values)
        total = self.expressions.make_variable("total", element)
        start = 1 if name == "product" else 0
        zero = r.Constant(start if element.kind == "integer" else float(start), _half(element))
        self.expressions.before += [r.Declaration(total, span=statement), assign(total, zero, statement)]

        def body(counters: Sequence[r.Expression]) -> list[r.Statement]:
            condition = None if mask is None else mask.at(counters)
            value = values.at(counters)
            step = assign(total, _combine(name, total, value, statement), statement)
            if name in ("any", "all"):
                known = self.expressions.make_variable("outcome", INT).replace(span=value.span)
                return [r.Branch(known, step, is_mask=True, search=name, span=value.span)]
            return [step] if condition is None else [r.Branch(condition, step, is_mask=True, span=condition.span)]

        self.expressions.before.append(self.expressions.make_nest(values.extents, body))
        return total


def place_arguments(name: str, arguments: list[Syntax]) -> tuple[list[Syntax], dict[str, Syntax]]:
    """Arguments by their places, those that a program names among them, and options by their names."""
    plain = [value for keyword, value in map(split_keyword, arguments) if not keyword]
    given = {keyword: value for keyword, value in map(split_keyword, arguments) if keyword}
    is_option = {"kind"} if name in ELEMENTAL else OPTIONS
    places = PLACES.get(name, sorted(given))
    named = [keyword for keyword in places if keyword in given and keyword not in is_option]
    return plain + [given.pop(keyword) for keyword in named], given


def _result_type(name: str, values: View) -> r.Type:
    return INT if name in ("count", "any", "all") else values.element


def _half(type: r.Type) -> r.Type:
    """The type of the parts of complex numbers; that of others is their own."""
    return r.Type("real", type.size // 2) if type.name == COMPLEX else type


def _combine(name: str, total: r.Expression, value: r.Expression, span: Span | None) -> r.Expression:
    """The result of a reduction with one element more."""
    if name in ("maxval", "minval"):
        return extreme(name[:3], [total, value], span)
    if name in ("count", "any", "all"):
        return r.Selection(value, add(total, integer(1)), total, INT, span)
    return operate("*" if name == "product" else "+", total, value)


# -- tables ----------------------------------------------------------------------------------------

Elemental = Callable[[Sequence[r.Expression], Span | None], r.Expression]


def _call(name: str) -> Elemental:
    return lambda parts, span: r.Call(name, name, tuple(parts), parts[0].type, span)


def _operation(operator: str) -> Elemental:
    return lambda parts, span: r.Operation(operator, tuple(parts), parts[0].type, span)


_DOUBLE = r.Type("real", 8)

ELEMENTAL: Mapping[str, Elemental] = {
    **{name: _call(name) for name in MATHEMATICAL},
    "sign": _call("copysign"),
    "iand": _operation("&"),
    "ior": _operation("|"),
    "ieor": _operation("^"),
    "min": lambda parts, span: extreme("min", parts, span),
    "max": lambda parts, span: extreme("max", parts, span),
    "abs": lambda parts, span: absolute_value(parts[0], span),
    "mod": lambda parts, span: remainder(parts[0], parts[1], span),
    "modulo": lambda parts, span: remainder(parts[0], parts[1], span),
    "dim": lambda parts, span: extreme("max", [operate("-", *parts), integer(0)], span),
    "merge": lambda parts, span: r.Selection(parts[2], parts[0], parts[1], parts[0].type, span),
    "dprod": lambda parts, span: operate("*", *(convert(part, _DOUBLE) for part in parts)),
}
"""Functions of scalars, which take arrays element by element."""


def _call_parts(name: str) -> Callable[[r.Expression, r.Expression, Span | None], r.Expression]:
    """A function of complex numbers from a library, whose work counts once."""
    return lambda real, part, span: make_complex(call_of_complex(name, (real, part), span), part)


OF_COMPLEX: Mapping[str, Callable[[r.Expression, r.Expression, Span | None], r.Expression]] = {
    **{name: _call_parts(name) for name in MATHEMATICAL},
    "real": lambda real, part, span: real,
    "dble": lambda real, part, span: real,
    "aimag": lambda real, part, span: part,
    "dimag": lambda real, part, span: part,
    "conjg": lambda real, part, span: make_complex(real, negate(part, "neg", span)),
    "dconjg": lambda real, part, span: make_complex(real, negate(part, "neg", span)),
    "abs": lambda real, part, span: r.Call("hypot", "hypot", (real, part), real.type, span),
}
"""Functions of complex numbers, by their two parts."""

OPTIONS = {"kind", "dim", "mask", "ncopies", "shape", "p", "r"}
"""Arguments that functions other than elemental ones find by their names."""

PLACES: Mapping[str, tuple[str, ...]] = {"merge": ("tsource", "fsource", "mask"), "atan2": ("y", "x")}
"""Names of arguments in their order, where that is not the alphabet's, which puts `b` behind `a`."""

_TEXT = r.Type("pointer", 8)
OF_TEXT: Mapping[str, r.Type] = {
    **dict.fromkeys("len len_trim index ichar iachar command_argument_count scan verify".split(), INT),
    **dict.fromkeys("trim adjustl adjustr char achar repeat new_line".split(), _TEXT),
    **dict.fromkeys(("omp_get_wtime", "mpi_wtime"), _DOUBLE),
}
"""Functions whose arguments are not looked at, and the types of what they give."""
