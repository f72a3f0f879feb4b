"""Expressions of fparser as records: each as a view, which gives what it is at each of its elements.

An operation on arrays becomes one on their elements, in loops that its statement makes; a reduction such as `sum` is a loop in
front of the statement, as gfortran writes it (-fdump-tree-original).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.fortran_scopes import (
    DESCRIPTOR_BYTES,
    DIMENSION_BYTES,
    EXTENT_AT,
    INDEX,
    INT,
    ISO_KINDS,
    OTHER,
    Bounds,
    Component,
    DerivedType,
    Entity,
    Generic,
    Scope,
    Signature,
    View,
    add,
    array_type,
    constant_value,
    count_between,
    index_array,
    integer,
    integer_kind,
    multiply,
    real_kind,
)
from aspenpy.extract.fortran_text import FortranText
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span

OPERATORS = {
    ".eq.": "==", ".ne.": "!=", ".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">=", "/=": "!=",
    ".and.": "&&", ".or.": "||", ".eqv.": "==", ".neqv.": "!=",
}  # fmt: skip
ARITHMETIC = frozenset({"+", "-", "*", "/"})

IN_C = {
    "dsqrt": "sqrt", "dexp": "exp", "alog": "log", "dlog": "log", "alog10": "log10", "dlog10": "log10", "dsin": "sin",
    "dcos": "cos", "dtan": "tan", "datan": "atan", "datan2": "atan2", "aint": "trunc", "anint": "round", "gamma": "tgamma",
    "dabs": "abs", "iabs": "abs", "dsign": "sign", "amod": "mod", "dmod": "mod", "amax1": "max", "amin1": "min",
    "dmax1": "max", "dmin1": "min", "max0": "max", "min0": "min", "dfloat": "dble", "float": "real",
    "sngl": "real", "ifix": "int", "idint": "int", "idnint": "nint",
}  # fmt: skip
"""Specific names of intrinsic functions, and names of the mathematical library of C."""

MATHEMATICAL = frozenset(
    "sqrt exp log log10 sin cos tan asin acos atan atan2 sinh cosh tanh erf tgamma hypot trunc round".split()
)
BITWISE = {"iand": "&", "ior": "|", "ieor": "^"}
REDUCTIONS = frozenset("sum product maxval minval dot_product count any all".split())

Reduced = Callable[[r.Expression, r.Expression], r.Expression]


COMPLEX = "complex"
"""The name of the types of complex numbers, which are structures of two reals."""


class FortranExpressions:
    """The expressions of one procedure. What has to run before the statement at hand, such as the loop of a reduction, is
    appended to `before`."""

    def __init__(self, text: FortranText, scope: Scope, prefix: str, diagnostics: list[Diagnostic]) -> None:
        self.text, self.scope, self.prefix, self.diagnostics = text, scope, prefix, diagnostics
        self.before: list[r.Statement] = []
        self.statement: Span | None = None
        self._at = 0  # where the statement has been read up to
        self._made = 0
        self.call_function: Callable[[Signature, list[Any], Span | None], View] | None = None
        self.resolve_generic: Callable[[Generic | Signature, list[Any]], Signature | None] | None = None

    # -- places in the text ------------------------------------------------------------------------

    def begin_statement(self, span: Span | None) -> None:
        self.statement = span
        self._at = span.start if span else 0

    def find_span(self, name: str, with_arguments: bool = False) -> Span | None:
        """Where a name stands next in the statement, with its arguments in parentheses."""
        whole = self.statement
        if whole is None:
            return None
        pattern = re.compile(rf"(?<![\w%]){re.escape(name)}(?!\w)", re.IGNORECASE)
        match = pattern.search(whole.source.text, self._at, whole.end) or pattern.search(
            whole.source.text, whole.start, whole.end
        )
        if match is None:
            return whole
        self._at = match.end()
        end = match.end()
        if with_arguments:
            end = _close(whole.source.text, match.end(), whole.end)
        return Span(whole.source, match.start(), end)

    # -- temporaries and loops ---------------------------------------------------------------------

    def make_variable(self, name: str, type: r.Type) -> r.Variable:
        self._made += 1
        return r.Variable(f"{name}@{self.prefix} {self._made}", name, type, "local", self.statement)

    @contextmanager
    def collect(self) -> Iterator[list[r.Statement]]:
        """Collects what has to run before what is read meanwhile."""
        outer, self.before = self.before, []
        try:
            yield self.before
        finally:
            self.before = outer

    def make_nest(self, extents: Sequence[r.Expression], body: Callable[[Sequence[r.Expression]], Sequence[r.Statement]]) -> r.Statement:  # fmt: skip
        """Loops over all elements, the first subscript innermost, around a body that takes their counters."""
        counters = [self.make_variable("element", INT) for _ in extents]
        with self.collect() as before:
            inside = list(body(counters))
            statements: list[r.Statement] = [*before, *inside]
        for counter, extent in zip(counters, extents, strict=True):
            step = r.Assignment("+", counter, integer(1), INT, span=self.statement)
            condition = r.Operation("<", (counter, extent), INT, self.statement)
            start = r.Declaration(counter, integer(0), None, self.statement)
            loop = r.LoopStatement(start, condition, step, _join(statements), span=self.statement)
            statements = [loop]
        return _join(statements)

    def keep(self, value: r.Expression, name: str = "value") -> r.Expression:
        """A variable with the value of an expression that is used more than once."""
        if isinstance(value, r.Variable | r.Constant):
            return value
        kept = self.make_variable(name, value.type)
        self.before.append(r.Declaration(kept, value, None, value.span))
        return kept

    # -- expressions -------------------------------------------------------------------------------

    def read(self, node: Any) -> r.Expression:
        """A scalar expression; of an array its first element."""
        found = self.view(node)
        return found.at([integer(0)] * len(found.extents))

    def read_integer(self, node: Any) -> r.Expression:
        return self.read(node)

    def view(self, node: Any) -> View:
        """An expression by its elements."""
        kind = type(node).__name__
        if kind == "str":
            return _scalar(r.Constant(None, OTHER))
        if kind == "Parenthesis":
            return self.view(node.children[1])
        rule: Callable[[Any], View] | None = getattr(self, f"_view_{kind.lower()}", None)
        if rule is not None:
            return rule(node)
        children = getattr(node, "children", ())
        if len(children) == 3 and isinstance(children[1], str):
            return self._view_binary(*children)
        if len(children) == 2 and isinstance(children[0], str):
            return self._view_unary(*children)
        return self.unknown(f"`{node}`")

    def unknown(self, what: str) -> View:
        """What has no words here: named with its line."""
        message = f"{what} is not understood: not counted"
        self.diagnostics.append(warning("not-counted", message, self.statement))
        return _scalar(r.Several((), OTHER, True, self.statement))

    # -- literals and names ------------------------------------------------------------------------

    def _view_int_literal_constant(self, node: Any) -> View:
        kind = self.kind_of(node.children[1], 4)
        return _scalar(r.Constant(int(node.children[0]), r.Type("integer", kind), None, self._find_literal(node)))

    def _view_real_literal_constant(self, node: Any) -> View:
        digits = node.children[0].lower()
        kind = 8 if "d" in digits else self.kind_of(node.children[1], 4)
        value = float(digits.replace("d", "e"))
        return _scalar(r.Constant(value, r.Type("real", kind), None, self._find_literal(node)))

    def _find_literal(self, node: Any) -> Span | None:
        span = self.find_span(str(node))
        return None if span is self.statement else span

    _view_signed_int_literal_constant = _view_int_literal_constant
    _view_signed_real_literal_constant = _view_real_literal_constant

    def _view_logical_literal_constant(self, node: Any) -> View:
        return _scalar(r.Constant(int("true" in str(node).lower()), INT))

    def _view_char_literal_constant(self, node: Any) -> View:
        return _scalar(r.Constant(None, r.Type("pointer", 8)))

    def kind_of(self, node: Any, default: int) -> int:
        """Bytes by a kind: a number, a name, or an expression of constants."""
        if node is None:
            return default
        if isinstance(node, str):
            if node.isdigit():
                return int(node)
            found = self.scope.find(node.lower())
            value = constant_value(found.expression) if isinstance(found, Entity) else ISO_KINDS.get(node.lower())
        else:
            with self.collect():
                value = constant_value(self.read(node))
        return int(value) if value else default

    def _view_name(self, node: Any) -> View:
        return self._view_meaning(str(node).lower(), None)

    def _view_meaning(self, name: str, arguments: list[Any] | None) -> View:
        """What a name is, with subscripts or arguments where it has any."""
        found = self.find(name)
        span = self.find_span(name, arguments is not None)
        if isinstance(found, View):
            return found if arguments is None else self._index_view(found, arguments)
        if isinstance(found, Entity):
            expression = found.expression
            here = expression.replace(span=span) if isinstance(expression, r.Variable | r.Constant) else expression
            return self.view_entity(found.replace(expression=here), arguments)
        if isinstance(found, Signature | Generic):
            if arguments is None and isinstance(found, Signature):
                return _scalar(r.Routine(found.key, found.name, r.Type("pointer", 8, OTHER), span))
            return self._call(found, arguments or [], span)
        if arguments is not None and self.scope.derived_type(name) is not None:
            return self._view_structure(name, arguments)
        if arguments is not None:
            return self._view_intrinsic(name, arguments, span)
        return _scalar(r.Constant(ISO_KINDS[name], INT)) if name in ISO_KINDS else self.unknown(f"the name `{name}`")

    def find(self, name: str) -> Any:
        """What a name means; without a declaration a variable, where names are typed by their letters."""
        found = self.scope.find(name)
        if found is None and name not in ISO_KINDS and name[:1] in self.scope.letters and not _is_intrinsic(name):
            type = self.scope.letters[name[0]]
            found = Entity(r.Variable(f"{name}@{self.prefix}", name, type), type)
            if name.startswith("mpi_"):
                found = Entity(r.Constant(0, INT), INT)
            self.scope.names[name] = found
        return found

    def _call(self, found: Signature | Generic, arguments: list[Any], span: Span | None) -> View:
        assert self.resolve_generic is not None and self.call_function is not None
        signature = self.resolve_generic(found, arguments)
        return self.unknown("which procedure this calls") if signature is None else self.call_function(signature, arguments, span)

    # -- arrays and components ---------------------------------------------------------------------

    def view_entity(self, entity: Entity, subscripts: list[Any] | None) -> View:
        """A variable, its elements or a section of it."""
        base, shape = entity.expression, entity.shape
        if not shape:
            return View(entity.element, (), lambda counters: base, entity)
        if subscripts is None:
            extents = tuple(bounds.extent or integer(1) for bounds in shape)
            return View(entity.element, extents, lambda counters: index_array(base, shape, counters, [None] * len(shape)), entity)  # fmt: skip
        return self._view_section(entity, subscripts)

    def _view_section(self, entity: Entity, subscripts: list[Any]) -> View:
        """A part of an array by its subscripts: numbers, ranges and arrays of numbers."""
        shape = entity.shape
        if len(subscripts) != len(shape):
            return self.unknown(f"a reference with {len(subscripts)} subscripts to an array of rank {len(shape)}")
        parts: list[Callable[[Sequence[r.Expression]], r.Expression]] = []
        firsts: list[r.Expression | None] = []
        extents: list[r.Expression] = []
        for subscript, bounds in zip(subscripts, shape, strict=True):
            place = len(extents)
            if type(subscript).__name__ == "Subscript_Triplet":
                lower, upper, step = (None if part is None else self.read(part) for part in subscript.children)
                if upper is None:
                    upper = add(add(bounds.lower, bounds.extent or integer(1)), integer(1), "-")
                is_whole = lower is None
                start = bounds.lower if lower is None else lower
                whole = is_whole and subscript.children[1] is None and step is None
                extents.append(bounds.extent or integer(1) if whole else count_between(start, upper, step))
                parts.append(_range_at(place, None if is_whole else start, step))
                firsts.append(None if is_whole else bounds.lower)
                continue
            index = self.view(subscript)
            if index.extents:
                extents.append(index.extents[0])
                parts.append(lambda counters, index=index, place=place: index.at([counters[place]]))  # type: ignore[misc]
            else:
                value = index.at(())
                parts.append(lambda counters, value=value: value)  # type: ignore[misc]
            firsts.append(bounds.lower)
        base = entity.expression
        span = base.span

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            return index_array(base, shape, [part(counters) for part in parts], firsts).replace(span=span)

        return View(entity.element, tuple(extents), at)

    def _index_view(self, view: View, subscripts: list[Any]) -> View:
        if view.whole is not None:
            return self.view_entity(view.whole, subscripts)
        values = [add(self.read(part), integer(1), "-") for part in subscripts]
        return View(view.element, (), lambda counters: view.at(values))

    def _view_part_ref(self, node: Any) -> View:
        return self._view_meaning(str(node.children[0]).lower(), list_arguments(node.children[1]))

    _view_function_reference = _view_structure_constructor = _view_part_ref

    def _view_intrinsic_function_reference(self, node: Any) -> View:
        name, arguments = str(node.children[0]).lower(), list_arguments(node.children[1])
        return self._view_meaning(name, arguments) if self.scope.find(name) else self._view_intrinsic(name, arguments, self.find_span(name, True))  # fmt: skip

    def _view_data_ref(self, node: Any) -> View:
        """`a(i)%b(j)%c`: components of components."""
        first, *rest = node.children
        view = self.view(first)
        for part in rest:
            if isinstance(part, str):
                continue
            is_plain = type(part).__name__ == "Name"
            name = str(part if is_plain else part.children[0]).lower()
            subscripts = None if is_plain else list_arguments(part.children[1])
            view = self.view_component(view, name, subscripts)
        return view

    _view_proc_component_ref = _view_data_ref

    def view_component(self, view: View, name: str, subscripts: list[Any] | None) -> View:
        """A component of a structure, or of each element of an array of structures."""
        derived = self.scope.derived_type(view.element.name)
        if derived is None or name not in derived.components:
            return self.unknown(f"the component `{name}`")
        component = derived.components[name]
        span = self.find_span(name, subscripts is not None)
        if not view.extents:
            entity = component_entity(component, name, view.at(()), span)
            return self.view_entity(entity, subscripts)
        if component.shape and subscripts is None:
            return self.unknown("an array component of an array")

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            entity = component_entity(component, name, view.at(counters), span)
            return self.view_entity(entity, subscripts).at(())

        return View(component.element, view.extents, at)

    def _view_structure(self, name: str, arguments: list[Any]) -> View:
        """`cell(1.0, 2)`: a structure of its own, whose components are assigned before the statement."""
        derived = self.scope.derived_type(name)
        assert isinstance(derived, DerivedType)
        made = self.make_variable(name, derived.type)
        self.before.append(r.Declaration(made, None, None, self.statement))
        names = iter(derived.components)
        for argument in arguments:
            keyword, value = split_keyword(argument)
            field = keyword or next(names, "")
            component = derived.components.get(field)
            if component is None or component.shape:
                self.unknown(f"the component `{field}`")
                continue
            target = component_entity(component, field, made, self.statement).expression
            self.before.append(assign(target, self.read(value), self.statement))
        return _scalar(made)

    def _view_array_constructor(self, node: Any) -> View:
        """`[a, b, c]`: an array of its own, stored before the statement."""
        items = [child for child in node.children if not isinstance(child, str)]
        values = [item for child in items for item in list_arguments(child)]
        if not values or any(type(value).__name__ == "Ac_Implied_Do" for value in values):
            return self.unknown("an implied `do` of an array constructor")
        read = [self.read(value) for value in values]
        element = read[0].type
        made = self.make_variable("constructed", r.Type("array", element.size * len(read), element, integer(len(read))))
        self.before.append(r.Declaration(made, None, None, self.statement))
        for place, value in enumerate(read):
            if not isinstance(value, r.Constant):
                self.before.append(assign(r.Element(made, integer(place), element), value, self.statement))
        entity = Entity(made, element, (Bounds(integer(1), integer(len(read))),))
        return self.view_entity(entity, None)

    # -- operations --------------------------------------------------------------------------------

    def _view_unary(self, operator: str, node: Any) -> View:
        operand = self.view(node)
        sign = operator.strip().lower()
        if sign == "+":
            return operand
        if sign not in ("-", ".not."):
            return self.unknown(f"the operator `{operator}`")
        name = "neg" if sign == "-" else "not"
        return self._map([operand], lambda parts: _negate(parts[0], name, self.statement))

    def _view_binary(self, left: Any, operator: str, right: Any) -> View:
        sign = operator.strip().lower()
        views = [self.view(left), self.view(right)]
        if sign == "//":
            return _scalar(r.Constant(None, r.Type("pointer", 8)))
        if sign == "**":
            return self._map(views, lambda parts: self._raise(*parts))
        name = OPERATORS.get(sign, sign)
        if name not in ARITHMETIC and name not in ("==", "!=", "<", "<=", ">", ">=", "&&", "||"):
            return self.unknown(f"the operator `{operator}`")
        return self._map(views, lambda parts: operate(name, *self._keep_complex(name, parts)))

    def _keep_complex(self, operator: str, parts: Sequence[r.Expression]) -> list[r.Expression]:
        """Operands of a product or quotient, whose parts are used more than once."""
        if operator not in "*/" or not any(map(is_complex, parts)):
            return list(parts)
        kept: list[r.Expression] = []
        for part in parts:
            if is_complex(part):
                real, imaginary = complex_parts(part)
                part = make_complex(self.keep(real), self.keep(imaginary))
            else:
                part = self.keep(part)
            kept.append(part)
        return kept

    def _view_complex_literal_constant(self, node: Any) -> View:
        return _scalar(make_complex(self.read(node.children[0]), self.read(node.children[1])))

    def _map(self, views: list[View], build: Callable[[list[r.Expression]], r.Expression]) -> View:
        """An operation on elements, of those operands that are arrays."""
        extents = next((view.extents for view in views if view.extents), ())

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            return build([view.at(counters if view.extents else ()) for view in views])

        if not extents:
            value = at(())
            return _scalar(value)
        with self.collect():
            sample = at([integer(0)] * len(extents))
        return View(sample.type, extents, at)

    def _raise(self, base: r.Expression, exponent: r.Expression) -> r.Expression:
        """A power: products by repeated squaring, as GCC expands those of small whole numbers (Knuth, The Art of Computer
        Programming 2, section 4.6.3), else a call of the library."""
        value = constant_value(exponent)
        if not isinstance(value, int) or not 0 < abs(value) <= 32:
            if base.type.kind == "integer" and exponent.type.kind == "integer":
                return r.Call("ipow", "ipow", (base, exponent), base.type, self.statement)
            real = base.type if base.type.kind == "real" else exponent.type
            return r.Call("pow", "pow", (convert(base, real), exponent), real, self.statement)
        if is_complex(base):
            product_of = base
            for _ in range(abs(value) - 1):
                product_of = operate("*", *self._keep_complex("*", [product_of, base]))
            return product_of
        square, product = base, None
        rest = abs(value)
        while rest:
            if rest & 1:
                product = square if product is None else r.Operation("*", (product, square), base.type, self.statement)
            rest >>= 1
            if rest:
                square = self.keep(square)
                square = self.keep(r.Operation("*", (square, square), base.type, self.statement)) if rest > 1 or product is not None else r.Operation("*", (square, square), base.type, self.statement)  # fmt: skip
        assert product is not None
        if value > 0:
            return product
        one = r.Constant(1.0 if base.type.kind == "real" else 1, base.type)
        return r.Operation("/", (one, product), base.type, self.statement)

    # -- intrinsic functions -----------------------------------------------------------------------

    def _view_intrinsic(self, name: str, arguments: list[Any], span: Span | None) -> View:
        """A function of the language (ISO/IEC 1539-1:2018, chapter 16)."""
        plain = [value for keyword, value in map(split_keyword, arguments) if not keyword]
        given = {keyword: value for keyword, value in map(split_keyword, arguments) if keyword}
        name = IN_C.get(name, name)
        if name in REDUCTIONS:
            return self._view_reduction(name, plain, given)
        rule: Callable[[list[Any], dict[str, Any]], View] | None = getattr(self, f"_intrinsic_{name}", None)
        if rule is not None:
            return rule(plain, given)
        views = [self.view(value) for value in plain]
        if views and views[0].element.name == COMPLEX or name == "cmplx":
            found = self._view_of_complex(name, views, plain, given, span)
            if found is not None:
                return found
        if name in MATHEMATICAL:
            return self._map(views, lambda parts: r.Call(name, name, tuple(parts), parts[0].type, span))
        if name in ("min", "max"):
            return self._map(views, lambda parts: _extreme(name, parts, span))
        if name == "abs":
            return self._map(views, lambda parts: _absolute(parts[0], span))
        if name in ("mod", "modulo"):
            return self._map(views, lambda parts: _remainder(parts[0], parts[1], span))
        if name == "sign":
            return self._map(views, lambda parts: r.Call("copysign", "copysign", tuple(parts), parts[0].type, span))
        if name in BITWISE:
            return self._map(views, lambda parts: r.Operation(BITWISE[name], tuple(parts), parts[0].type, span))
        if name in ("real", "int", "nint", "floor", "ceiling"):
            kind = given.get("kind", plain[1] if len(plain) > 1 else None)
            wanted = "real" if name == "real" else "integer"
            to = r.Type(wanted, self.kind_of(kind, 4))  # type: ignore[arg-type]
            return self._map(views[:1], lambda parts: convert(parts[0], to))
        if name in ("dim",):
            return self._map(views, lambda parts: _extreme("max", [operate("-", *parts), integer(0)], span))
        if name == "merge":
            return self._map(views, lambda parts: r.Selection(parts[2], parts[0], parts[1], parts[0].type, span))
        if name == "dprod":
            double = r.Type("real", 8)
            return self._map(views, lambda parts: operate("*", convert(parts[0], double), convert(parts[1], double)))
        if name in ("present", "associated", "allocated", "ieee_is_nan", "is_iostat_end"):
            return _scalar(r.Constant(1 if name in ("present", "allocated") else 0, INT))
        if name in ("len", "len_trim", "index", "ichar", "iachar", "command_argument_count", "scan", "verify"):
            return _scalar(r.Call(name, name, (), INT, span))
        if name in ("trim", "adjustl", "adjustr", "char", "achar", "repeat", "new_line"):
            return _scalar(r.Constant(None, r.Type("pointer", 8)))
        if name in ("omp_get_wtime", "mpi_wtime"):
            return _scalar(r.Call(name, name, (), r.Type("real", 8), span))
        if name.startswith("omp_"):
            return _scalar(r.Call(name, name, (), INT, span))
        type = views[0].element if views else r.Type("real", 8)
        key = f"c:@F@{name}_"
        return self._map(views, lambda parts: r.Call(key, name, tuple(parts), type, span))

    def _view_of_complex(self, name: str, views: list[View], plain: list[Any], given: dict[str, Any], span: Span | None) -> View | None:  # fmt: skip
        """A function of complex numbers; None for one that is the same as that of reals."""
        if name == "cmplx":
            is_kind = "kind" in given or len(plain) > 2
            size = self.kind_of(given.get("kind", plain[2] if len(plain) > 2 else None), 4) if is_kind else 4
            half = r.Type("real", size)
            if views[0].element.name == COMPLEX:
                return self._map(views[:1], lambda parts: make_complex(*(convert(part, half) for part in complex_parts(parts[0]))))  # fmt: skip
            zero = r.Constant(0.0, half)
            return self._map(views[:2], lambda parts: make_complex(convert(parts[0], half), convert(parts[1], half) if len(parts) > 1 else zero))  # fmt: skip
        if name in ("real", "dble"):
            return self._map(views[:1], lambda parts: complex_parts(parts[0])[0])
        if name in ("aimag", "dimag", "imag"):
            return self._map(views[:1], lambda parts: complex_parts(parts[0])[1])
        if name in ("conjg", "dconjg"):
            return self._map(views[:1], lambda parts: make_complex(complex_parts(parts[0])[0], _negate(complex_parts(parts[0])[1], "neg", span)))  # fmt: skip
        if name in ("abs", "cabs", "zabs"):
            return self._map(views[:1], lambda parts: r.Call("hypot", "hypot", complex_parts(parts[0]), complex_parts(parts[0])[0].type, span))  # fmt: skip
        if name in MATHEMATICAL:
            return self._map(views[:1], lambda parts: make_complex(r.Call(f"c{name}", f"c{name}", complex_parts(parts[0]), complex_parts(parts[0])[0].type, span), complex_parts(parts[0])[1]))  # fmt: skip
        return None

    def _intrinsic_dble(self, plain: list[Any], given: dict[str, Any]) -> View:
        to = r.Type("real", 8)
        return self._map([self.view(plain[0])], lambda parts: convert(parts[0], to))

    def _intrinsic_kind(self, plain: list[Any], given: dict[str, Any]) -> View:
        return _scalar(integer(self.view(plain[0]).element.size or 4))

    def _intrinsic_selected_real_kind(self, plain: list[Any], given: dict[str, Any]) -> View:
        digits = given.get("p", plain[0] if plain else None)
        found = constant_value(self.read(digits)) if digits is not None else None
        return _scalar(integer(real_kind(int(found or 15))))

    def _intrinsic_selected_int_kind(self, plain: list[Any], given: dict[str, Any]) -> View:
        return _scalar(integer(integer_kind(int(constant_value(self.read(given.get("r", plain[0] if plain else None))) or 9))))  # fmt: skip

    def _limit(self, plain: list[Any], name: str) -> View:
        type = self.view(plain[0]).element
        return _scalar(r.Constant(2**31 - 1 if type.kind == "integer" else 1.0, type))

    def _intrinsic_huge(self, plain: list[Any], given: dict[str, Any]) -> View:
        return self._limit(plain, "huge")

    _intrinsic_tiny = _intrinsic_epsilon = _intrinsic_huge

    def _intrinsic_size(self, plain: list[Any], given: dict[str, Any]) -> View:
        extents = self.view(plain[0]).extents
        dimension = given.get("dim", plain[1] if len(plain) > 1 else None)
        number = None if dimension is None else constant_value(self.read(dimension))
        if isinstance(number, int) and 1 <= number <= len(extents):
            return _scalar(extents[number - 1])
        total: r.Expression = integer(1)
        for extent in extents:
            total = multiply(total, extent)
        return _scalar(total)

    def _bound(self, plain: list[Any], given: dict[str, Any], is_upper: bool) -> View:
        view = self.view(plain[0])
        dimension = given.get("dim", plain[1] if len(plain) > 1 else None)
        number = constant_value(self.read(dimension)) if dimension is not None else 1 if len(view.extents) == 1 else None
        if not isinstance(number, int) or not 1 <= number <= len(view.extents):
            return self.unknown("a bound of more than one dimension")
        extent = view.extents[number - 1]
        lower = view.whole.shape[number - 1].lower if view.whole is not None else integer(1)
        return _scalar(add(add(lower, extent), integer(1), "-") if is_upper else lower)

    def _intrinsic_lbound(self, plain: list[Any], given: dict[str, Any]) -> View:
        return self._bound(plain, given, False)

    def _intrinsic_ubound(self, plain: list[Any], given: dict[str, Any]) -> View:
        return self._bound(plain, given, True)

    def _intrinsic_transpose(self, plain: list[Any], given: dict[str, Any]) -> View:
        view = self.view(plain[0])
        return View(view.element, view.extents[::-1], lambda counters: view.at(counters[::-1]))

    def _intrinsic_spread(self, plain: list[Any], given: dict[str, Any]) -> View:
        view = self.view(plain[0])
        place = constant_value(self.read(given.get("dim", plain[1] if len(plain) > 1 else None)))
        copies = self.read(given.get("ncopies", plain[2] if len(plain) > 2 else None))
        if not isinstance(place, int):
            return self.unknown("`spread` along a dimension that varies")
        before = place - 1
        extents = (*view.extents[:before], copies, *view.extents[before:])
        return View(view.element, extents, lambda counters: view.at([*counters[:before], *counters[before + 1 :]]))

    def _intrinsic_cshift(self, plain: list[Any], given: dict[str, Any]) -> View:
        """The elements of an array, moved around: the same loads, from places that wrap around once."""
        return self.view(plain[0])

    def _intrinsic_reshape(self, plain: list[Any], given: dict[str, Any]) -> View:
        source = self.view(plain[0])
        shape = plain[1] if len(plain) > 1 else given.get("shape")
        items = [item for child in getattr(shape, "children", ()) if not isinstance(child, str) for item in list_arguments(child)]  # fmt: skip
        if type(shape).__name__ != "Array_Constructor" or len(source.extents) != 1:
            return self.unknown("`reshape` of an array of several dimensions, or to a shape that is no list")
        extents = tuple(self.read(item) for item in items)

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            place: r.Expression = counters[-1]
            for counter, extent in zip(reversed(counters[:-1]), reversed(extents[:-1]), strict=True):
                place = add(multiply(place, extent), counter)
            return source.at([place])

        return View(source.element, extents, at)

    def _intrinsic_matmul(self, plain: list[Any], given: dict[str, Any]) -> View:
        """Elements of a product, each a loop over the inner dimension."""
        left, right = (self.view(part) for part in plain[:2])
        inner = left.extents[-1]
        extents = (*left.extents[:-1], *right.extents[1:])
        split = len(left.extents) - 1

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            def product(k: Sequence[r.Expression]) -> r.Expression:
                return operate("*", left.at([*counters[:split], *k]), right.at([*k, *counters[split:]]))

            return self._reduce((inner,), product, None, lambda total, value: operate("+", total, value), 0, left.element)  # fmt: skip

        return View(left.element, extents, at)

    def _view_reduction(self, name: str, plain: list[Any], given: dict[str, Any]) -> View:
        """`sum(a)` and its sisters, over all elements or along one dimension."""
        views = [self.view(value) for value in plain[: 2 if name == "dot_product" else 1]]
        rest = plain[len(views) :]
        mask = self.view(given["mask"]) if "mask" in given else None
        dimension = given.get("dim")
        for part in rest:
            view = self.view(part)
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
                return _extreme(name[:3], [total, value], self.statement)
            if name in ("count", "any", "all"):
                return r.Selection(value, add(total, integer(1)), total, INT, self.statement)
            return operate("*" if name == "product" else "+", total, value)

        mask_at = None if mask is None else mask.at
        if dimension is None:
            start = 1 if name == "product" else 0
            return View(element, (), lambda counters: self._reduce(extents, value_at, mask_at, combine, start, element))
        place = constant_value(self.read(dimension))
        if not isinstance(place, int) or not 1 <= place <= len(extents):
            return self.unknown(f"`{name}` along a dimension that varies")
        before = place - 1

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            def whole(inner: Sequence[r.Expression]) -> list[r.Expression]:
                return [*counters[:before], *inner, *counters[before:]]

            chosen = None if mask_at is None else lambda inner: mask_at(whole(inner))
            start = 1 if name == "product" else 0
            return self._reduce((extents[before],), lambda inner: value_at(whole(inner)), chosen, combine, start, element)  # fmt: skip

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
        total = self.make_variable("total", element)
        if element.name == COMPLEX:
            self.before += [r.Declaration(total, None, None, self.statement), assign(total, r.Constant(float(start), r.Type("real", element.size // 2)), self.statement)]  # fmt: skip
        else:
            initial = r.Constant(float(start) if element.kind == "real" else start, element)
            self.before.append(r.Declaration(total, initial, None, self.statement))

        def body(counters: Sequence[r.Expression]) -> list[r.Statement]:
            mask = None if mask_at is None else mask_at(counters)
            step = assign(total, combine(total, value_at(counters)), self.statement)
            return [step] if mask is None else [r.Branch(mask, step, None, (), self.statement)]

        self.before.append(self.make_nest(extents, body))
        return total


# -- helpers ---------------------------------------------------------------------------------------


def _scalar(value: r.Expression) -> View:
    return View(value.type, (), lambda counters: value)


def _join(statements: Sequence[r.Statement]) -> r.Statement:
    return statements[0] if len(statements) == 1 else r.CompoundStatement(tuple(statements))


def _range_at(place: int, start: r.Expression | None, step: r.Expression | None) -> Callable[[Sequence[r.Expression]], r.Expression]:  # fmt: skip
    """The subscript of a range's element; without a start it counts from the first element."""

    def at(counters: Sequence[r.Expression]) -> r.Expression:
        moved = counters[place] if step is None else multiply(counters[place], step)
        return moved if start is None else add(start, moved)

    return at


def list_arguments(node: Any) -> list[Any]:
    """The items of a list, of which fparser hands on one alone as itself."""
    if node is None:
        return []
    return list(node.children) if type(node).__name__.endswith("_List") else [node]


def split_keyword(argument: Any) -> tuple[str, Any]:
    """The keyword of an argument, empty without one, and its value."""
    if type(argument).__name__ in ("Actual_Arg_Spec", "Component_Spec"):
        return str(argument.children[0]).lower(), argument.children[1]
    return "", argument


def component_entity(component: Component, name: str, base: r.Expression, span: Span | None) -> Entity:
    """A component of a structure as an entity of its own."""
    if base.type.kind == "pointer":
        base = r.Element(base, integer(0), base.type.of or r.Type("record"), base.span)
    shape = component.shape
    if component.has_descriptor:
        first = component.offset + DESCRIPTOR_BYTES + EXTENT_AT
        extents = (r.Field(base, f"{name}_extent_{place + 1}", first + DIMENSION_BYTES * place, INDEX, span) for place in range(len(shape)))  # fmt: skip
        shape = tuple(Bounds(integer(1), extent) for extent in extents)
    type = array_type(component.element, shape, component.has_descriptor) if shape else component.element
    return Entity(r.Field(base, name, component.offset, type, span), component.element, shape, component.has_descriptor)


def assign(target: r.Expression, value: r.Expression, span: Span | None) -> r.Statement:
    """An assignment, of a complex number one to each half."""
    if is_complex(target):
        pairs = zip(complex_parts(target), complex_parts(value), strict=True)
        return r.CompoundStatement(tuple(assign(part, given, span) for part, given in pairs), span)
    return r.ExpressionStatement(r.Assignment("", target, convert(value, target.type), target.type, span=span), span)


def convert(operand: r.Expression, to: r.Type) -> r.Expression:
    """An expression as one of another type."""
    of = operand.type
    if of.kind not in ("integer", "real") or to.kind not in ("integer", "real"):
        return operand
    if (to.kind, to.size) == (of.kind, of.size) or (to.kind == of.kind == "integer"):
        return operand
    if isinstance(operand, r.Constant) and operand.value is not None and to.kind == "real":
        return r.Constant(float(operand.value), to, None, operand.span)
    return r.Conversion(operand, to, operand.span)


def is_complex(node: r.Expression) -> bool:
    return node.type.name == COMPLEX


def complex_parts(node: r.Expression) -> tuple[r.Expression, r.Expression]:
    """The real and the imaginary part of a complex number; those of a place are its two halves."""
    if not is_complex(node):
        return node, r.Constant(0.0, r.Type("real", node.type.size))
    if isinstance(node, r.Several):
        return node.parts[0], node.parts[1]
    half = r.Type("real", node.type.size // 2)
    return r.Field(node, "re", 0, half, node.span), r.Field(node, "im", half.size, half, node.span)


def make_complex(real: r.Expression, imaginary: r.Expression) -> r.Expression:
    """A complex number of two reals, carried along as a pair until a place takes it."""
    size = max(part.type.size if part.type.kind == "real" else 4 for part in (real, imaginary))
    half = r.Type("real", size)
    pair = convert(real, half), convert(imaginary, half)
    return r.Several(pair, r.Type("record", 2 * size, name=COMPLEX), True, join_spans(real.span, imaginary.span))


def operate(operator: str, left: r.Expression, right: r.Expression) -> r.Expression:
    """An operation on two scalars, the narrower one converted (ISO/IEC 1539-1:2018, section 10.1.5.2)."""
    if is_complex(left) or is_complex(right):
        return _operate_on_complex(operator, left, right)
    span = join_spans(left.span, right.span)
    types = [part.type for part in (left, right)]
    real = max((type for type in types if type.kind == "real"), key=lambda type: type.size, default=None)
    wide = real if real is not None else max(types, key=lambda type: type.size)
    if operator not in ("&&", "||") and real is not None:
        left, right = convert(left, wide), convert(right, wide)
    if operator in ARITHMETIC and wide.kind == "integer" and operator in "+-":
        folded = add(left, right, operator)
        return folded.replace(span=span) if isinstance(folded, r.Operation) else folded
    return r.Operation(operator, (left, right), wide if operator in ARITHMETIC else INT, span)


def _operate_on_complex(operator: str, left: r.Expression, right: r.Expression) -> r.Expression:
    """Arithmetic on complex numbers as GCC writes it for Fortran: a product has four products and two sums, a quotient is
    Smith's (-fcx-fortran-rules; Smith, "Algorithm 116: Complex division", CACM 5, 1962)."""
    (a, b), (c, d) = complex_parts(left), complex_parts(right)
    if operator in ("==", "!="):
        junction = "&&" if operator == "==" else "||"
        return r.Operation(junction, (operate(operator, a, c), operate(operator, b, d)), INT, left.span)
    if operator in "+-":
        imaginary = d if not is_complex(left) and operator == "+" else b if not is_complex(right) else operate(operator, b, d)  # fmt: skip
        return make_complex(operate(operator, a, c), imaginary)
    if not is_complex(right):
        return make_complex(operate(operator, a, c), operate(operator, b, c))
    if operator == "*" and not is_complex(left):
        return make_complex(operate("*", a, c), operate("*", a, d))
    if operator == "*":
        real = operate("-", operate("*", a, c), operate("*", b, d))
        return make_complex(real, operate("+", operate("*", a, d), operate("*", b, c)))
    ratio = operate("/", d, c)
    denominator = operate("+", c, operate("*", d, ratio))
    real = operate("/", operate("+", a, operate("*", b, ratio)), denominator)
    return make_complex(real, operate("/", operate("-", b, operate("*", a, ratio)), denominator))


def join_spans(left: Span | None, right: Span | None) -> Span | None:
    if left is None or right is None or left.source is not right.source:
        return left or right
    return Span(left.source, min(left.start, right.start), max(left.end, right.end))


def _negate(operand: r.Expression, name: str, span: Span | None) -> r.Expression:
    """The negative or the logical opposite of a scalar."""
    if is_complex(operand):
        return make_complex(*(_negate(part, name, span) for part in complex_parts(operand)))
    if name == "neg" and isinstance(operand, r.Constant) and operand.macro is None and operand.value is not None:
        return operand.replace(value=-operand.value)
    return r.Operation(name, (operand,), operand.type if name == "neg" else INT, operand.span or span)


def _extreme(name: str, parts: Sequence[r.Expression], span: Span | None) -> r.Expression:
    found, *rest = parts
    for part in rest:
        real = next((one.type for one in (found, part) if one.type.kind == "real"), None)
        called = f"f{name}" if real is not None else name
        pair = (found, part) if real is None else (convert(found, real), convert(part, real))
        found = r.Call(called, called, pair, real or found.type, span)
    return found


def _absolute(operand: r.Expression, span: Span | None) -> r.Expression:
    if is_complex(operand):
        return r.Call("hypot", "hypot", complex_parts(operand), complex_parts(operand)[0].type, span)
    name = "fabs" if operand.type.kind == "real" else "abs"
    return r.Call(name, name, (operand,), operand.type, span)


def _remainder(left: r.Expression, right: r.Expression, span: Span | None) -> r.Expression:
    if left.type.kind == "real":
        return r.Call("fmod", "fmod", (left, right), left.type, span)
    return r.Operation("%", (left, right), left.type, span)


def _is_intrinsic(name: str) -> bool:
    """Whether a name without a declaration is that of a function of the language."""
    plain = IN_C.get(name, name)
    return plain in MATHEMATICAL or plain in REDUCTIONS or plain in ("min", "max", "abs", "mod", "real", "int", "nint")


def _close(text: str, start: int, end: int) -> int:
    """The end of the parentheses that open behind a place; the place itself without any."""
    at = start
    while at < end and text[at] in " \t":
        at += 1
    if at >= end or text[at] != "(":
        return start
    depth = 0
    for place in range(at, end):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place + 1
    return end
