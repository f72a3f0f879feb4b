"""Expressions of fparser as records: each as a view, which gives what it is at each of its elements.

An operation on arrays becomes one on their elements, in loops that its statement makes; a reduction such as `sum` is
a loop in front of the statement, as gfortran writes it (-fdump-tree-original).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from aspenpy.extract import records as r
from aspenpy.extract.effects import POINTED
from aspenpy.extract.fortran_coarrays import image_function
from aspenpy.extract.fortran_intrinsics import Intrinsics
from aspenpy.extract.fortran_nodes import Syntax, list_arguments, split_keyword, type_name
from aspenpy.extract.fortran_operations import (
    ARITHMETIC,
    OPERATORS,
    assign,
    call_of_complex,
    close_parentheses,
    complex_parts,
    component_entity,
    convert,
    find_object,
    is_complex,
    is_intrinsic,
    join_statements,
    make_complex,
    negate,
    operate,
    range_at,
    scalar_view,
)
from aspenpy.extract.fortran_scopes import (
    INT,
    ISO_KINDS,
    OTHER,
    DerivedType,
    DimensionBounds,
    Entity,
    Generic,
    Meaning,
    NameScope,
    RankMismatch,
    Signature,
    StatementFunction,
    View,
    add,
    array_type,
    constant_value,
    count_between,
    external,
    index_array,
    integer,
    is_function,
    multiply,
)
from aspenpy.extract.fortran_text import FortranText
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span


def _index_at(index: View, place: int, counters: Sequence[r.Expression]) -> r.Expression:
    return index.at([counters[place]])


def _same_at(value: r.Expression, counters: Sequence[r.Expression]) -> r.Expression:
    return value


class FortranExpressions:
    """The expressions of one procedure. What has to run before the statement at hand, such as the loop of a reduction,
    is appended to `before`."""

    def __init__(self, text: FortranText, scope: NameScope, prefix: str, diagnostics: list[Diagnostic]) -> None:
        self.text, self.scope, self.prefix, self.diagnostics = text, scope, prefix, diagnostics
        self.before: list[r.Statement] = []
        self.statement: Span | None = None
        self.intrinsics = Intrinsics(self)
        self._at = 0  # where the statement has been read up to
        self._made = 0
        self.call_function: Callable[[Signature, Sequence[Syntax | View], Span | None], View] | None = None
        self.resolve_generic: Callable[[Generic | Signature, Sequence[Syntax | View]], Signature | None] | None = None

    # -- places in the text ------------------------------------------------------------------------

    def begin_statement(self, span: Span | None) -> None:
        self.statement = span
        self._at = span.start if span else 0

    def find_span(self, name: str, with_arguments: bool = False) -> Span | None:
        """Span of the next occurrence of a name in the statement, with its arguments in parentheses."""
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
            end = close_parentheses(whole.source.text, match.end(), whole.end)
        return Span(whole.source, match.start(), end)

    def find_item(self, name: str) -> Span | None:
        """Span of the next occurrence of a variable or component; reading goes on from the last one."""
        whole = self.statement
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        match = None if whole is None else pattern.search(whole.source.text, self._at, whole.end)
        return None if whole is None or match is None else Span(whole.source, *match.span())

    def _find_component(self, name: str, with_arguments: bool) -> Span | None:
        """Span of the next occurrence of a component, from the object on, with its subscripts."""
        found = self.find_item(name)
        if found is None or self.statement is None:
            return self.statement
        text, first = found.source.text, self.statement.start
        end = close_parentheses(text, found.end, self.statement.end) if with_arguments else found.end
        self._at = found.end
        return Span(found.source, find_object(text, first, found.start), end)

    # -- temporaries and loops ---------------------------------------------------------------------

    def make_variable(self, name: str, type: r.Type) -> r.Variable:
        self._made += 1
        return r.Variable(f"{name}@{self.prefix} {self._made}", name, type, "local", span=self.statement)

    @contextmanager
    def collect(self) -> Iterator[list[r.Statement]]:
        """Collects what has to run before what is read meanwhile."""
        outer, self.before = self.before, []
        try:
            yield self.before
        finally:
            self.before = outer

    def make_nest(
        self, extents: Sequence[r.Expression], body: Callable[[Sequence[r.Expression]], Sequence[r.Statement]]
    ) -> r.Statement:
        """Loops over all elements, the first subscript innermost, around a body that takes their counters."""
        counters = [self.make_variable("element", INT) for _ in extents]
        with self.collect() as before:
            inside = list(body(counters))
            statements: list[r.Statement] = [*before, *inside]
        for counter, extent in zip(counters, extents, strict=True):
            step = r.Assignment("+", counter, integer(1), INT, span=self.statement)
            condition = r.Operation("<", (counter, extent), INT, self.statement)
            start = r.Declaration(counter, integer(0), span=self.statement)
            loop = r.LoopStatement(start, condition, step, join_statements(statements), span=self.statement)
            statements = [loop]
        return join_statements(statements)

    def keep(self, value: r.Expression, name: str = "value") -> r.Expression:
        """A variable with the value of an expression that is used more than once."""
        if isinstance(value, r.Variable | r.Constant):
            return value
        kept = self.make_variable(name, value.type)
        self.before.append(r.Declaration(kept, value, span=value.span))
        return kept

    # -- expressions -------------------------------------------------------------------------------

    def read(self, node: Syntax | View | None) -> r.Expression:
        """A scalar expression; of an array its first element."""
        view = self.view(node)
        return view.at([integer(0)] * len(view.extents))

    def view(self, node: Syntax | View | None) -> View:
        """An expression by its elements."""
        if isinstance(node, View):
            return node
        if node is None:
            return self.unknown("an argument that is missing")
        kind = type_name(node)
        if kind == "str":
            return scalar_view(r.Constant(None, OTHER))
        if kind == "Parenthesis":
            return self.view(node.children[1])
        rule: Callable[[Syntax], View] | None = getattr(self, f"_view_{kind.lower()}", None)
        if rule is not None:
            return rule(node)
        match getattr(node, "children", ()):
            case (left, str(operator), right):
                return self._view_binary(left, operator, right)
            case (str(operator), operand):
                return self._view_unary(operator, operand)
        return self.unknown(f"`{node}`")

    def unknown(self, what: str) -> View:
        """Names code that is not understood, with its line."""
        message = f"{what} is not understood: not counted"
        self.diagnostics.append(warning("not-counted", message, self.statement))
        return scalar_view(r.Several((), OTHER, span=self.statement))

    # -- literals and names ------------------------------------------------------------------------

    def _view_int_literal_constant(self, node: Syntax) -> View:
        kind = self.kind_of(node.children[1], self.scope.integer_size)
        return scalar_view(r.Constant(int(node.children[0]), r.Type("integer", kind), span=self._find_literal(node)))

    def _view_real_literal_constant(self, node: Syntax) -> View:
        digits = node.children[0].lower()
        kind = 8 if "d" in digits else self.kind_of(node.children[1], self.scope.real_size)
        value = float(digits.replace("d", "e"))
        return scalar_view(r.Constant(value, r.Type("real", kind), span=self._find_literal(node)))

    def _find_literal(self, node: Syntax) -> Span | None:
        span = self.find_span(str(node))
        return None if span is self.statement else span

    _view_signed_int_literal_constant = _view_int_literal_constant
    _view_signed_real_literal_constant = _view_real_literal_constant

    def _view_logical_literal_constant(self, node: Syntax) -> View:
        return scalar_view(r.Constant(int("true" in str(node).lower()), INT))

    def _view_char_literal_constant(self, node: Syntax) -> View:
        return scalar_view(r.Constant(None, r.Type("pointer", 8)))

    def kind_of(self, node: Syntax | str | None, default: int) -> int:
        """Bytes by a kind: a number, a name, or an expression of constants."""
        if node is None:
            return default
        if isinstance(node, str):
            if node.isdigit():
                return int(node)
            entity = self.scope.find(node.lower())
            value = constant_value(entity.expression) if isinstance(entity, Entity) else ISO_KINDS.get(node.lower())
        else:
            with self.collect():
                value = constant_value(self.read(node))
        return int(value) if value else default

    def _view_name(self, node: Syntax) -> View:
        return self._view_meaning(str(node).lower(), None)

    def _view_meaning(self, name: str, arguments: list[Syntax] | None) -> View:
        """The view of a name, with subscripts or arguments where it has any."""
        if (image := image_function(name, self.statement)) is not None:
            return scalar_view(image)
        entity = self.find(name, arguments is not None)
        span = self.find_span(name, arguments is not None)
        if isinstance(entity, View):
            return entity if arguments is None else self._index_view(entity, arguments)
        if isinstance(entity, StatementFunction) and arguments is not None:
            return self._expand(entity, arguments)
        if isinstance(entity, Entity) and arguments is not None and is_function(entity, arguments):
            if is_intrinsic(name):
                return self.intrinsics.view(name, arguments, span)
            entity = external(name).replace(result=entity)
        if isinstance(entity, Entity):
            expression = entity.expression
            here = expression.replace(span=span) if isinstance(expression, r.Variable | r.Constant) else expression
            return self.view_entity(entity.replace(expression=here), arguments)
        if isinstance(entity, Signature | Generic):
            if arguments is None and isinstance(entity, Signature):
                type = r.Type("pointer", 8, OTHER)
                if entity.key.startswith(POINTED):
                    return scalar_view(r.Variable(entity.key[1:], entity.name, type, "formal", span=span))
                return scalar_view(r.Routine(entity.key, entity.name, type, span))
            return self._call(entity, arguments or [], span)
        if arguments is not None and self.scope.derived_type(name) is not None:
            return self._view_structure(name, arguments)
        if arguments is not None:
            return self.intrinsics.view(name, arguments, span)
        return (
            scalar_view(r.Constant(ISO_KINDS[name], INT)) if name in ISO_KINDS else self.unknown(f"the name `{name}`")
        )

    def find(self, name: str, has_arguments: bool = False) -> Meaning | None:
        """The meaning of a name; without a declaration it is a variable, where names are typed by their letters."""
        entity = self.scope.find(name)
        is_function = has_arguments and is_intrinsic(name)
        is_known = is_function or name in ISO_KINDS or self.scope.derived_type(name) is not None
        if entity is None and not is_known and name[:1] in self.scope.letters:
            type = self.scope.letters[name[0]]
            entity = Entity(r.Variable(f"{name}@{self.prefix}", name, type), type)
            if name.startswith("mpi_"):
                entity = Entity(r.Constant(0, INT), INT)
            self.scope.names[name] = entity
        return entity

    def _expand(self, function: StatementFunction, arguments: list[Syntax]) -> View:
        """A function of one statement in its place, its formals variables with the values of the arguments."""
        inner = NameScope(self.scope.name, self.scope)
        for formal, argument in zip(function.formals, arguments, strict=False):
            value = self.read(argument)
            declared = self.find(formal)
            element = declared.element if isinstance(declared, Entity) else value.type
            inner.names[formal] = Entity(self.keep(convert(value, element), formal), element)
        outer, self.scope = self.scope, inner
        try:
            return scalar_view(convert(self.read(function.body), function.result.element))
        finally:
            self.scope = outer

    def _call(self, procedure: Signature | Generic, arguments: Sequence[Syntax | View], span: Span | None) -> View:
        if self.resolve_generic is None or self.call_function is None:
            return self.unknown("a call in a declaration")
        signature = self.resolve_generic(procedure, arguments)
        return (
            self.unknown("which procedure this calls")
            if signature is None
            else self.call_function(signature, arguments, span)
        )

    def call_bound(self, base: Syntax | View, name: str, arguments: list[Syntax], span: Span | None) -> View:
        """A procedure of a type, on an object."""
        object = self.view(base).element
        derived = self.scope.derived_type((object.of or object).name if object.kind == "pointer" else object.name)
        if derived is None or name not in derived.procedures:
            return self.unknown(f"the procedure `{name}` of an object")
        bound = derived.procedures[name]
        return self._call(bound.target, [base, *arguments] if bound.takes_object else arguments, span)

    # -- arrays and components ---------------------------------------------------------------------

    def view_entity(self, entity: Entity, subscripts: list[Syntax] | None) -> View:
        """A variable, its elements or a section of it."""
        base, shape = entity.expression, entity.shape
        if not shape:
            return View(entity.element, (), lambda counters: base, entity)
        if subscripts is None:
            extents = tuple(bounds.extent or integer(1) for bounds in shape)
            return View(
                entity.element,
                extents,
                lambda counters: index_array(base, shape, counters, [None] * len(shape)),
                entity,
            )
        return self._view_section(entity, subscripts)

    def _view_section(self, entity: Entity, subscripts: list[Syntax]) -> View:
        """A part of an array by its subscripts: numbers, ranges and arrays of numbers."""
        shape = entity.shape
        if len(subscripts) != len(shape):
            return self.unknown(f"a reference with {len(subscripts)} subscripts to an array of rank {len(shape)}")
        parts: list[Callable[[Sequence[r.Expression]], r.Expression]] = []
        firsts: list[r.Expression | None] = []
        extents: list[r.Expression] = []
        for subscript, bounds in zip(subscripts, shape, strict=True):
            place = len(extents)
            if type_name(subscript) == "Subscript_Triplet":
                lower, upper, step = (None if part is None else self.read(part) for part in subscript.children)
                if upper is None:
                    upper = add(add(bounds.lower, bounds.extent or integer(1)), integer(1), "-")
                is_whole = lower is None
                start = bounds.lower if lower is None else lower
                whole = is_whole and subscript.children[1] is None and step is None
                extents.append(bounds.extent or integer(1) if whole else count_between(start, upper, step))
                parts.append(range_at(place, None if is_whole else start, step))
                firsts.append(None if is_whole else bounds.lower)
                continue
            index = self.view(subscript)
            if index.extents:
                extents.append(index.extents[0])
                parts.append(partial(_index_at, index, place))
            else:
                parts.append(partial(_same_at, index.at(())))
            firsts.append(bounds.lower)
        base = entity.expression
        span = base.span

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            if len(counters) != len(extents):
                raise RankMismatch
            return index_array(base, shape, [part(counters) for part in parts], firsts).replace(span=span)

        return View(entity.element, tuple(extents), at)

    def _index_view(self, view: View, subscripts: list[Syntax]) -> View:
        if view.whole is not None:
            return self.view_entity(view.whole, subscripts)
        values = [add(self.read(part), integer(1), "-") for part in subscripts]
        return View(view.element, (), lambda counters: view.at(values))

    def _view_part_ref(self, node: Syntax) -> View:
        target = node.children[0]
        if type_name(target) == "Procedure_Designator":
            base, name = target.children[0], str(target.children[2]).lower()
            return self.call_bound(base, name, list_arguments(node.children[1]), self.find_span(name, True))
        return self._view_meaning(str(node.children[0]).lower(), list_arguments(node.children[1]))

    _view_function_reference = _view_structure_constructor = _view_part_ref

    def _view_intrinsic_function_reference(self, node: Syntax) -> View:
        name, arguments = str(node.children[0]).lower(), list_arguments(node.children[1])
        return (
            self._view_meaning(name, arguments)
            if self.scope.find(name)
            else self.intrinsics.view(name, arguments, self.find_span(name, True))
        )

    def _view_data_ref(self, node: Syntax) -> View:
        """`a(i)%b(j)%c`: components of components."""
        first, *rest = node.children
        view = self.view(first)
        for part in rest:
            if isinstance(part, str):
                continue
            is_plain = type_name(part) == "Name"
            name = str(part if is_plain else part.children[0]).lower()
            subscripts = None if is_plain else list_arguments(part.children[1])
            view = self.view_component(view, name, subscripts)
        return view

    _view_proc_component_ref = _view_data_ref

    def view_component(self, view: View, name: str, subscripts: list[Syntax] | None) -> View:
        """A component of a structure, or of each element of an array of structures."""
        element = view.element.of if view.element.kind == "pointer" else view.element
        derived = self.scope.derived_type(element.name if element else "")
        if derived is not None and name in derived.procedures:
            return self.call_bound(view, name, subscripts or [], self.find_span(name, subscripts is not None))
        if derived is None or name not in derived.components:
            return self.unknown(f"the component `{name}`")
        component = derived.components[name]
        span = self._find_component(name, subscripts is not None)
        if not view.extents:
            entity = component_entity(component, name, view.at(()), span)
            return self.view_entity(entity, subscripts)
        if component.shape and subscripts is None:
            return self.unknown("an array component of an array")

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            entity = component_entity(component, name, view.at(counters), span)
            return self.view_entity(entity, subscripts).at(())

        return View(component.element, view.extents, at)

    def _view_structure(self, name: str, arguments: list[Syntax]) -> View:
        """`cell(1.0, 2)`: a structure of its own, whose components are assigned before the statement."""
        derived = self.scope.derived_type(name)
        assert isinstance(derived, DerivedType)
        made = self.make_variable(name, derived.type)
        self.before.append(r.Declaration(made, span=self.statement))
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
        return scalar_view(made)

    def _view_array_constructor(self, node: Syntax) -> View:
        """`[a, b, (c(i), i = 1, n)]`: an array of its own, stored before the statement."""
        values = [item for child in node.children if not isinstance(child, str) for item in list_arguments(child)]
        if not values:
            return self.unknown("an array constructor without values")
        first = values[0]
        while type_name(first) == "Ac_Implied_Do":
            first = list_arguments(first.children[0])[0]
        with self.collect(), self.bind_counters(values):
            element = self.view(first).element
        with self.collect() as stores:
            made = self.make_variable("constructed", r.Type("array", 0, element))
            number = self._store_values(made, element, values, integer(0))
        shape = (DimensionBounds(integer(1), number),)
        whole = made.replace(type=array_type(element, shape, False))
        self.before += [r.Declaration(whole, span=self.statement), *stores]
        return self.view_entity(Entity(whole, element, shape), None)

    def _store_values(
        self, made: r.Variable, element: r.Type, values: Sequence[Syntax], at: r.Expression
    ) -> r.Expression:
        """Stores the values of a constructor from a place on; returns the place behind them."""
        for value in values:
            if type_name(value) == "Ac_Implied_Do":
                at = self._store_repeated(made, element, value, at)
                continue
            view = self.view(value)
            if not view.extents:
                if not isinstance(view.at(()), r.Constant):
                    self.before.append(assign(r.Element(made, at, element), view.at(()), self.statement))
                at = add(at, integer(1))
                continue
            self.before.append(self.make_nest(view.extents, partial(self._store_element, made, view, at)))
            for extent in view.extents[:1]:
                at = add(at, extent)
        return at

    def _store_element(
        self, made: r.Variable, view: View, at: r.Expression, counters: Sequence[r.Expression]
    ) -> list[r.Statement]:
        return [assign(r.Element(made, add(at, counters[0]), view.element), view.at(counters), self.statement)]

    def _store_repeated(self, made: r.Variable, element: r.Type, node: Syntax, at: r.Expression) -> r.Expression:
        """Stores the values of an implied `do`; returns the place behind them."""
        values, control = list_arguments(node.children[0]), node.children[1]
        bounds = [None if part is None else self.read(part) for part in control.children[1]]
        first, last = bounds[0] or integer(1), bounds[1] or integer(1)
        step = bounds[2] if len(bounds) > 2 else None
        with self.bind_counters([node]):
            counter = self.read(control.children[0])
            passes = count_between(first, last, step)
            with self.collect() as inside:
                each = self._store_values(made, element, values, integer(0))
            done = add(counter, first, "-")
            done = done if step is None else r.Operation("/", (done, step), INT)
            with self.collect() as inside:
                self._store_values(made, element, values, add(at, multiply(done, each)))
        assert isinstance(counter, r.Variable)
        start = r.Declaration(counter, first, span=self.statement)
        condition = r.Operation("<=", (counter, last), INT, self.statement)
        change = r.Assignment("+", counter, step or integer(1), INT, span=self.statement)
        self.before.append(r.LoopStatement(start, condition, change, join_statements(inside), span=self.statement))
        return add(at, multiply(passes, each))

    @contextmanager
    def bind_counters(self, nodes: Sequence[Syntax]) -> Iterator[None]:
        """Gives the counters of implied `do` their own meanings, those inside one another together."""
        outer = self.scope
        self.scope = NameScope(outer.name, outer)
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if type_name(node).endswith("_Implied_Do"):
                name = str(node.children[1].children[0]).lower()
                if name not in self.scope.names:
                    self.scope.names[name] = Entity(self.make_variable(name, INT), INT)
                waiting += list_arguments(node.children[0])
        try:
            yield
        finally:
            self.scope = outer

    # -- operations --------------------------------------------------------------------------------

    def _view_unary(self, operator: str, node: Syntax) -> View:
        operand = self.view(node)
        sign = operator.strip().lower()
        if sign == "+":
            return operand
        if sign not in ("-", ".not."):
            return self.unknown(f"the operator `{operator}`")
        name = "neg" if sign == "-" else "not"
        return self.map_elements([operand], lambda parts: negate(parts[0], name, self.statement))

    def _view_binary(self, left: Syntax, operator: str, right: Syntax) -> View:
        sign = operator.strip().lower()
        views = [self.view(left), self.view(right)]
        if sign == "//":
            return scalar_view(r.Constant(None, r.Type("pointer", 8)))
        if sign == "**":
            return self.map_elements(views, lambda parts: self._raise(*parts))
        name = OPERATORS.get(sign, sign)
        if name not in ARITHMETIC and name not in ("==", "!=", "<", "<=", ">", ">=", "&&", "||"):
            return self.unknown(f"the operator `{operator}`")
        return self.map_elements(views, lambda parts: operate(name, *self.keep_complex(name, parts)))

    def keep_complex(self, operator: str, parts: Sequence[r.Expression]) -> list[r.Expression]:
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

    def _view_complex_literal_constant(self, node: Syntax) -> View:
        return scalar_view(make_complex(self.read(node.children[0]), self.read(node.children[1])))

    def map_elements(self, views: list[View], build: Callable[[list[r.Expression]], r.Expression]) -> View:
        """An operation on elements, of those operands that are arrays."""
        extents = next((view.extents for view in views if view.extents), ())
        if extents:  # scalars are evaluated once, in front of the loop
            views = [view if view.extents else self._keep_scalar(view) for view in views]

        def at(counters: Sequence[r.Expression]) -> r.Expression:
            return build([view.at(counters if view.extents else ()) for view in views])

        if not extents:
            value = at(())
            return scalar_view(value)
        with self.collect():
            sample = at([integer(0)] * len(extents))
        return View(sample.type, extents, at)

    def _keep_scalar(self, view: View) -> View:
        value = view.at(())
        is_register = isinstance(value, r.Variable) and value.scope != "global" and not value.is_reference
        if is_register or isinstance(value, r.Constant) or value.type.kind not in ("integer", "real"):
            return view
        kept = self.make_variable("value", value.type).replace(span=value.span)
        self.before.append(r.Declaration(kept, value, span=value.span))
        return scalar_view(kept)

    def _raise(self, base: r.Expression, exponent: r.Expression) -> r.Expression:
        """A power: products by repeated squaring, as GCC expands those of small whole numbers (Knuth, The Art of
        Computer Programming 2, section 4.6.3), else a call of the library."""
        value = constant_value(exponent)
        match base:
            case r.Constant(value=int(known), macro=None) if isinstance(value, int) and 0 <= value <= 64:
                return r.Constant(known**value, base.type)
        if not isinstance(value, int) or not 0 < abs(value) <= 32:
            if base.type.kind == "integer" and exponent.type.kind == "integer":
                return r.Call("ipow", "ipow", (base, exponent), base.type, self.statement)
            if is_complex(base) or is_complex(exponent):
                parts = (*complex_parts(base), *complex_parts(exponent))
                return make_complex(call_of_complex("pow", parts, self.statement), parts[1])
            real = base.type if base.type.kind == "real" else exponent.type
            return r.Call("pow", "pow", (convert(base, real), exponent), real, self.statement)
        if is_complex(base):
            product_of = base
            for _ in range(abs(value) - 1):
                product_of = operate("*", *self.keep_complex("*", [product_of, base]))
            return product_of
        square, product = base, None
        rest = abs(value)
        while rest:
            if rest & 1:
                product = square if product is None else r.Operation("*", (product, square), base.type, self.statement)
            rest >>= 1
            if rest:
                square = self.keep(square)
                square = (
                    self.keep(r.Operation("*", (square, square), base.type, self.statement))
                    if rest > 1 or product is not None
                    else r.Operation("*", (square, square), base.type, self.statement)
                )
        assert product is not None
        if value > 0:
            return product
        one = r.Constant(1.0 if base.type.kind == "real" else 1, base.type)
        return r.Operation("/", (one, product), base.type, self.statement)
