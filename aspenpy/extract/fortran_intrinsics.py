"""Functions of the language, element by element, and reductions as loops in front of their statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.extract import records as r
from aspenpy.extract.fortran_operations import (
    BITWISE,
    COMPLEX,
    IN_C,
    MATHEMATICAL,
    REDUCTIONS,
    Reduced,
    absolute_value,
    assign,
    complex_parts,
    convert,
    extreme,
    list_arguments,
    make_complex,
    negate,
    operate,
    remainder,
    scalar_view,
    split_keyword,
)
from aspenpy.extract.fortran_scopes import INT, View, add, constant_value, integer, integer_kind, multiply, real_kind
from aspenpy.language.source import Span

if TYPE_CHECKING:
    from aspenpy.extract.fortran_expressions import FortranExpressions


class Intrinsics:
    """The functions of the language (ISO/IEC 1539-1:2018, chapter 16) in the expressions of one procedure."""

    def __init__(self, expressions: FortranExpressions) -> None:
        self.expressions = expressions

    def view(self, name: str, arguments: list[Any], span: Span | None) -> View:
        """A function of the language (ISO/IEC 1539-1:2018, chapter 16)."""
        plain = [value for keyword, value in map(split_keyword, arguments) if not keyword]
        given = {keyword: value for keyword, value in map(split_keyword, arguments) if keyword}
        name = IN_C.get(name, name)
        if name in REDUCTIONS:
            return self._view_reduction(name, plain, given)
        rule: Callable[[list[Any], dict[str, Any]], View] | None = getattr(self, f"_intrinsic_{name}", None)
        if rule is not None:
            return rule(plain, given)
        views = [self.expressions.view(value) for value in plain]
        if (views and views[0].element.name == COMPLEX) or name == "cmplx":
            found = self._view_complex(name, views, plain, given, span)
            if found is not None:
                return found
        if name in MATHEMATICAL:
            return self.expressions.map_elements(
                views, lambda parts: r.Call(name, name, tuple(parts), parts[0].type, span)
            )
        if name in ("min", "max"):
            return self.expressions.map_elements(views, lambda parts: extreme(name, parts, span))
        if name == "abs":
            return self.expressions.map_elements(views, lambda parts: absolute_value(parts[0], span))
        if name in ("mod", "modulo"):
            return self.expressions.map_elements(views, lambda parts: remainder(parts[0], parts[1], span))
        if name == "sign":
            return self.expressions.map_elements(
                views, lambda parts: r.Call("copysign", "copysign", tuple(parts), parts[0].type, span)
            )
        if name in BITWISE:
            return self.expressions.map_elements(
                views, lambda parts: r.Operation(BITWISE[name], tuple(parts), parts[0].type, span)
            )
        if name in ("real", "int", "nint", "floor", "ceiling"):
            kind = given.get("kind", plain[1] if len(plain) > 1 else None)
            wanted = "real" if name == "real" else "integer"
            to = r.Type(wanted, self.expressions.kind_of(kind, 4))  # type: ignore[arg-type]
            return self.expressions.map_elements(views[:1], lambda parts: convert(parts[0], to))
        if name in ("dim",):
            return self.expressions.map_elements(
                views, lambda parts: extreme("max", [operate("-", *parts), integer(0)], span)
            )
        if name == "merge":
            return self.expressions.map_elements(
                views, lambda parts: r.Selection(parts[2], parts[0], parts[1], parts[0].type, span)
            )
        if name == "dprod":
            double = r.Type("real", 8)
            return self.expressions.map_elements(
                views, lambda parts: operate("*", convert(parts[0], double), convert(parts[1], double))
            )
        if name in ("present", "associated", "allocated", "ieee_is_nan", "is_iostat_end"):
            return scalar_view(r.Constant(1 if name in ("present", "allocated") else 0, INT))
        if name in ("len", "len_trim", "index", "ichar", "iachar", "command_argument_count", "scan", "verify"):
            return scalar_view(r.Call(name, name, (), INT, span))
        if name in ("trim", "adjustl", "adjustr", "char", "achar", "repeat", "new_line"):
            return scalar_view(r.Constant(None, r.Type("pointer", 8)))
        if name in ("omp_get_wtime", "mpi_wtime"):
            return scalar_view(r.Call(name, name, (), r.Type("real", 8), span))
        if name.startswith("omp_"):
            return scalar_view(r.Call(name, name, (), INT, span))
        type = views[0].element if views else r.Type("real", 8)
        key = f"c:@F@{name}_"
        return self.expressions.map_elements(views, lambda parts: r.Call(key, name, tuple(parts), type, span))

    def _view_complex(
        self, name: str, views: list[View], plain: list[Any], given: dict[str, Any], span: Span | None
    ) -> View | None:
        """A function of complex numbers; None for one that is the same as that of reals."""
        if name == "cmplx":
            is_kind = "kind" in given or len(plain) > 2
            size = (
                self.expressions.kind_of(given.get("kind", plain[2] if len(plain) > 2 else None), 4) if is_kind else 4
            )
            half = r.Type("real", size)
            if views[0].element.name == COMPLEX:
                return self.expressions.map_elements(
                    views[:1], lambda parts: make_complex(*(convert(part, half) for part in complex_parts(parts[0])))
                )
            zero = r.Constant(0.0, half)
            return self.expressions.map_elements(
                views[:2],
                lambda parts: make_complex(
                    convert(parts[0], half), convert(parts[1], half) if len(parts) > 1 else zero
                ),
            )
        if name in ("real", "dble"):
            return self.expressions.map_elements(views[:1], lambda parts: complex_parts(parts[0])[0])
        if name in ("aimag", "dimag", "imag"):
            return self.expressions.map_elements(views[:1], lambda parts: complex_parts(parts[0])[1])
        if name in ("conjg", "dconjg"):
            return self.expressions.map_elements(
                views[:1],
                lambda parts: make_complex(complex_parts(parts[0])[0], negate(complex_parts(parts[0])[1], "neg", span)),
            )
        if name in ("abs", "cabs", "zabs"):
            return self.expressions.map_elements(
                views[:1],
                lambda parts: r.Call("hypot", "hypot", complex_parts(parts[0]), complex_parts(parts[0])[0].type, span),
            )
        if name in MATHEMATICAL:
            return self.expressions.map_elements(
                views[:1],
                lambda parts: make_complex(
                    r.Call(f"c{name}", f"c{name}", complex_parts(parts[0]), complex_parts(parts[0])[0].type, span),
                    complex_parts(parts[0])[1],
                ),
            )
        return None

    def _intrinsic_dble(self, plain: list[Any], given: dict[str, Any]) -> View:
        to = r.Type("real", 8)
        return self.expressions.map_elements([self.expressions.view(plain[0])], lambda parts: convert(parts[0], to))

    def _intrinsic_kind(self, plain: list[Any], given: dict[str, Any]) -> View:
        return scalar_view(integer(self.expressions.view(plain[0]).element.size or 4))

    def _intrinsic_selected_real_kind(self, plain: list[Any], given: dict[str, Any]) -> View:
        digits = given.get("p", plain[0] if plain else None)
        found = constant_value(self.expressions.read(digits)) if digits is not None else None
        return scalar_view(integer(real_kind(int(found or 15))))

    def _intrinsic_selected_int_kind(self, plain: list[Any], given: dict[str, Any]) -> View:
        return scalar_view(
            integer(
                integer_kind(
                    int(constant_value(self.expressions.read(given.get("r", plain[0] if plain else None))) or 9)
                )
            )
        )

    def _limit(self, plain: list[Any], name: str) -> View:
        type = self.expressions.view(plain[0]).element
        return scalar_view(r.Constant(2**31 - 1 if type.kind == "integer" else 1.0, type))

    def _intrinsic_huge(self, plain: list[Any], given: dict[str, Any]) -> View:
        return self._limit(plain, "huge")

    _intrinsic_tiny = _intrinsic_epsilon = _intrinsic_huge

    def _intrinsic_size(self, plain: list[Any], given: dict[str, Any]) -> View:
        extents = self.expressions.view(plain[0]).extents
        dimension = given.get("dim", plain[1] if len(plain) > 1 else None)
        number = None if dimension is None else constant_value(self.expressions.read(dimension))
        if isinstance(number, int) and 1 <= number <= len(extents):
            return scalar_view(extents[number - 1])
        total: r.Expression = integer(1)
        for extent in extents:
            total = multiply(total, extent)
        return scalar_view(total)

    def _bound(self, plain: list[Any], given: dict[str, Any], is_upper: bool) -> View:
        view = self.expressions.view(plain[0])
        dimension = given.get("dim", plain[1] if len(plain) > 1 else None)
        number = (
            constant_value(self.expressions.read(dimension))
            if dimension is not None
            else 1
            if len(view.extents) == 1
            else None
        )
        if not isinstance(number, int) or not 1 <= number <= len(view.extents):
            return self.expressions.unknown("a bound of more than one dimension")
        extent = view.extents[number - 1]
        lower = view.whole.shape[number - 1].lower if view.whole is not None else integer(1)
        return scalar_view(add(add(lower, extent), integer(1), "-") if is_upper else lower)

    def _intrinsic_lbound(self, plain: list[Any], given: dict[str, Any]) -> View:
        return self._bound(plain, given, False)

    def _intrinsic_ubound(self, plain: list[Any], given: dict[str, Any]) -> View:
        return self._bound(plain, given, True)

    def _intrinsic_transpose(self, plain: list[Any], given: dict[str, Any]) -> View:
        view = self.expressions.view(plain[0])
        return View(view.element, view.extents[::-1], lambda counters: view.at(counters[::-1]))

    def _intrinsic_spread(self, plain: list[Any], given: dict[str, Any]) -> View:
        view = self.expressions.view(plain[0])
        place = constant_value(self.expressions.read(given.get("dim", plain[1] if len(plain) > 1 else None)))
        copies = self.expressions.read(given.get("ncopies", plain[2] if len(plain) > 2 else None))
        if not isinstance(place, int):
            return self.expressions.unknown("`spread` along a dimension that varies")
        before = place - 1
        extents = (*view.extents[:before], copies, *view.extents[before:])
        return View(view.element, extents, lambda counters: view.at([*counters[:before], *counters[before + 1 :]]))

    def _intrinsic_cshift(self, plain: list[Any], given: dict[str, Any]) -> View:
        """The elements of an array, moved around: the same loads, from places that wrap around once."""
        return self.expressions.view(plain[0])

    def _intrinsic_reshape(self, plain: list[Any], given: dict[str, Any]) -> View:
        source = self.expressions.view(plain[0])
        shape = plain[1] if len(plain) > 1 else given.get("shape")
        items = [
            item
            for child in getattr(shape, "children", ())
            if not isinstance(child, str)
            for item in list_arguments(child)
        ]
        if type(shape).__name__ != "Array_Constructor" or len(source.extents) != 1:
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

    def _intrinsic_matmul(self, plain: list[Any], given: dict[str, Any]) -> View:
        """Elements of a product, each a loop over the inner dimension."""
        left, right = (self.expressions.view(part) for part in plain[:2])
        inner = left.extents[-1]
        extents = (*left.extents[:-1], *right.extents[1:])
        split = len(left.extents) - 1

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            def product(k: Sequence[r.Expression]) -> r.Expression:
                return operate("*", left.at([*counters[:split], *k]), right.at([*k, *counters[split:]]))

            return self._reduce(
                (inner,), product, None, lambda total, value: operate("+", total, value), 0, left.element
            )

        return View(left.element, extents, at)

    def _view_reduction(self, name: str, plain: list[Any], given: dict[str, Any]) -> View:
        """`sum(a)` and its sisters, over all elements or along one dimension."""
        views = [self.expressions.view(value) for value in plain[: 2 if name == "dot_product" else 1]]
        rest = plain[len(views) :]
        mask = self.expressions.view(given["mask"]) if "mask" in given else None
        dimension = given.get("dim")
        for part in rest:
            view = self.expressions.view(part)
            if view.extents:
                mask = view
            else:
                dimension = part
        extents = views[0].extents
        element = INT if name in ("count", "any", "all") else views[0].element

        def value_at(counters: Sequence[r.Expression]) -> r.Expression:
            parts = [view.at(counters) for view in views]
            return parts[0] if len(parts) == 1 else operate("*", *parts)

        def combine(total: r.Expression, value: r.Expression) -> r.Expression:
            if name in ("maxval", "minval"):
                return extreme(name[:3], [total, value], self.expressions.statement)
            if name in ("count", "any", "all"):
                return r.Selection(value, add(total, integer(1)), total, INT, self.expressions.statement)
            return operate("*" if name == "product" else "+", total, value)

        mask_at = None if mask is None else mask.at
        if dimension is None:
            start = 1 if name == "product" else 0
            return View(element, (), lambda counters: self._reduce(extents, value_at, mask_at, combine, start, element))
        place = constant_value(self.expressions.read(dimension))
        if not isinstance(place, int) or not 1 <= place <= len(extents):
            return self.expressions.unknown(f"`{name}` along a dimension that varies")
        before = place - 1

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            def whole(inner: Sequence[r.Expression]) -> list[r.Expression]:
                return [*counters[:before], *inner, *counters[before:]]

            chosen = None if mask_at is None else lambda inner: mask_at(whole(inner))
            start = 1 if name == "product" else 0
            return self._reduce(
                (extents[before],), lambda inner: value_at(whole(inner)), chosen, combine, start, element
            )

        return View(element, (*extents[:before], *extents[before + 1 :]), at)

    def _reduce(
        self,
        extents: tuple[r.Expression, ...],
        value_at: Callable[[Sequence[r.Expression]], r.Expression],
        mask_at: Callable[[Sequence[r.Expression]], r.Expression] | None,
        combine: Reduced,
        start: int,
        element: r.Type,
    ) -> r.Expression:
        """A variable with the result of a loop over elements, which runs before the statement."""
        total = self.expressions.make_variable("total", element)
        if element.name == COMPLEX:
            self.expressions.before += [
                r.Declaration(total, None, None, self.expressions.statement),
                assign(total, r.Constant(float(start), r.Type("real", element.size // 2)), self.expressions.statement),
            ]
        else:
            initial = r.Constant(float(start) if element.kind == "real" else start, element)
            self.expressions.before.append(r.Declaration(total, initial, None, self.expressions.statement))

        def body(counters: Sequence[r.Expression]) -> list[r.Statement]:
            mask = None if mask_at is None else mask_at(counters)
            step = assign(total, combine(total, value_at(counters)), self.expressions.statement)
            return [step] if mask is None else [r.Branch(mask, step, None, (), self.expressions.statement)]

        self.expressions.before.append(self.expressions.make_nest(extents, body))
        return total
