"""The standard library of C++ as records: iterators and owning pointers are pointers, algorithms are functions with
loops."""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.extract import records as r
from aspenpy.extract.tree_types import INT, LAMBDA, VOID
from aspenpy.language.source import Span

STANDARD = "std::"
"""How the keys of functions that stand for algorithms of the library begin."""

_BINARY = frozenset({"==", "!=", "<", "<=", ">", ">=", "+", "-"})


def translate_call(
    name: str, arguments: tuple[r.Expression, ...], type: r.Type, span: Span | None, lambdas: tuple[str, ...]
) -> tuple[r.Expression, r.Function | None] | None:
    """Translates a call of the standard library, and gives the function that it needs; None for other calls. A method's
    object is the first argument; `lambdas` are the functions among the arguments."""
    if name.startswith("operator") and arguments:
        found = _translate_operator(name[len("operator") :].strip(), arguments, type, span)
        return None if found is None else (found, None)
    if name in _METHODS and arguments:
        found = _METHODS[name](arguments, type, span)
        return None if found is None else (found, None)
    if name in _ALGORITHMS:
        values = tuple(part for part in arguments if not _is_function(part))
        function = _ALGORITHMS[name](name, values, type, span, lambdas)
        return None if function is None else (r.Call(function.key, name, values, type, span), function)
    return None


def _is_function(part: r.Expression) -> bool:
    return part.type.name.startswith(LAMBDA)


def _is_pointer(node: r.Expression) -> bool:
    return node.type.kind == "pointer"


def _translate_operator(
    sign: str, arguments: tuple[r.Expression, ...], type: r.Type, span: Span | None
) -> r.Expression | None:
    first, *rest = arguments
    if not _is_pointer(first):
        return r.Element(first, rest[0], type, span) if sign == "[]" and len(rest) == 1 else None
    of = first.type.of or type
    if sign in ("*", "->") and not rest:
        return first if sign == "->" else r.Element(first, r.Constant(0, INT), of, span)
    if sign == "[]" and len(rest) == 1:
        return r.Element(first, rest[0], of, span)
    if sign in ("++", "--"):
        return r.Assignment(sign[0], first, r.Constant(1, INT), first.type, len(rest) == 1, span)
    if sign in ("+=", "-="):
        return r.Assignment(sign[0], first, rest[0], first.type, False, span)
    if sign == "=" and len(rest) == 1 and rest[0].type.kind == "pointer":
        return r.Assignment("", first, rest[0], first.type, False, span)
    if sign in _BINARY and len(rest) == 1:
        return r.Operation(sign, (first, rest[0]), type, span)
    return None


def _make_size_call(container: r.Expression, span: Span | None) -> r.Expression:
    return r.Call("size", "size", (container,), INT, span)


def _make_element(container: r.Expression, index: r.Expression, type: r.Type, span: Span | None) -> r.Expression:
    return r.Element(container, index, container.type.of or type, span)


def _begin_address(parts: tuple[r.Expression, ...], type: r.Type, span: Span | None) -> r.Expression | None:
    if len(parts) != 1 or _is_pointer(parts[0]):
        return parts[0] if len(parts) == 1 else None
    return r.Address(_make_element(parts[0], r.Constant(0, INT), type, span), type, span)


def _end_address(parts: tuple[r.Expression, ...], type: r.Type, span: Span | None) -> r.Expression | None:
    if len(parts) != 1:
        return None
    return r.Address(_make_element(parts[0], _make_size_call(parts[0], span), type, span), type, span)


def _last_element(parts: tuple[r.Expression, ...], type: r.Type, span: Span | None) -> r.Expression:
    index = r.Operation("-", (_make_size_call(parts[0], span), r.Constant(1, INT)), INT, span)
    return _make_element(parts[0], index, type, span)


_METHODS: dict[str, Callable[[tuple[r.Expression, ...], r.Type, Span | None], r.Expression | None]] = {
    **dict.fromkeys(("begin", "cbegin", "data"), _begin_address),
    **dict.fromkeys(("end", "cend"), _end_address),
    "get": lambda parts, type, span: parts[0] if _is_pointer(parts[0]) else None,
    "at": lambda parts, type, span: _make_element(parts[0], parts[1], type, span) if len(parts) == 2 else None,
    "front": lambda parts, type, span: _make_element(parts[0], r.Constant(0, INT), type, span),
    "back": _last_element,
    "empty": lambda parts, type, span: r.Operation(
        "==", (_make_size_call(parts[0], span), r.Constant(0, INT)), INT, span
    ),
    "reset": lambda parts, type, span: (
        r.Assignment("", parts[0], parts[1], parts[0].type, False, span)
        if len(parts) == 2 and _is_pointer(parts[0])
        else None
    ),
}

# -- algorithms ------------------------------------------------------------------------------------


class _Body:
    """Formals of an algorithm, and the loop from its first place to the last."""

    def __init__(
        self, name: str, values: tuple[r.Expression, ...], span: Span | None, lambdas: tuple[str, ...]
    ) -> None:
        kinds = ",".join(f"{part.type.kind}{part.type.of.size if part.type.of else part.type.size}" for part in values)
        self.key = f"{STANDARD}{name}({kinds})" + "".join(lambdas)
        self.name = name
        self.span = span
        self.lambdas = lambdas
        self.formals = [
            r.Variable(f"{self.key}@{place}", f"argument_{place}", _type_by_value(part.type), "formal", span)
            for place, part in enumerate(values)
        ]

    def dereference(self, place: int) -> r.Expression:
        """The element that a formal points at."""
        pointer = self.formals[place]
        return r.Element(pointer, r.Constant(0, INT), pointer.type.of or VOID, self.span)

    def make_call(self, *places: int) -> r.Expression | None:
        """Calls the lambda with the elements that formals point at; None where there is not one lambda."""
        if len(self.lambdas) != 1:
            return None
        first = self.dereference(places[0])
        return r.Call(self.lambdas[0], "lambda", tuple(map(self.dereference, places)), first.type, self.span)

    def make_step(self, place: int) -> r.Expression:
        formal = self.formals[place]
        return r.Assignment("+", formal, r.Constant(1, INT), formal.type, False, self.span)

    def make_assignment(self, target: r.Expression, value: r.Expression, operator: str = "") -> r.Statement:
        return r.ExpressionStatement(r.Assignment(operator, target, value, target.type, False, self.span), self.span)

    def make_function(self, action: r.Statement, *further: int, result: r.Expression | None = None) -> r.Function:
        """Function with a loop from the first argument to the second; pointers `further` move along."""
        condition = r.Operation("!=", (self.formals[0], self.formals[1]), INT, self.span)
        step = r.Several(tuple(map(self.make_step, (0, *further))), INT, True, self.span)
        loop = r.LoopStatement(None, condition, step, action, True, (), "", self.span)
        back = () if result is None else (r.Jump("return", result, self.span),)
        body = r.CompoundStatement((loop, *back), self.span)
        formals = tuple(self.formals)
        return r.Function(self.key, self.name, formals, body, span=self.span, in_place=True)


def _type_by_value(type: r.Type) -> r.Type:
    """The type of an argument that is passed by value."""
    if type.kind == "array" and type.of is not None:
        return r.Type("pointer", 8, type.of)
    return type.of if type.kind == "pointer" and type.name == "&" and type.of is not None else type


_Algorithm = Callable[[str, tuple[r.Expression, ...], r.Type, Span | None, tuple[str, ...]], r.Function | None]


def _make_algorithm(least: int, body: Callable[[_Body], r.Function | None]) -> _Algorithm:
    def function(
        name: str, values: tuple[r.Expression, ...], type: r.Type, span: Span | None, lambdas: tuple[str, ...]
    ) -> r.Function | None:
        if len(values) < least or any(_type_by_value(part.type).kind != "pointer" for part in values[:2]):
            return None
        return body(_Body(name, values, span, lambdas))

    return function


def _make_accumulate(body: _Body) -> r.Function | None:
    total, element = body.formals[2], body.dereference(0)
    if len(body.formals) > 3:
        return None  # an object of the library adds them up, such as `std::multiplies`
    operator, value = "+", element
    for function in body.lambdas:
        operator, value = "", r.Call(function, "lambda", (total, element), total.type, body.span)
    return body.make_function(body.make_assignment(total, value, operator), result=total)


def _make_inner_product(body: _Body) -> r.Function | None:
    if len(body.formals) != 4 or body.lambdas:
        return None
    total = body.formals[3]
    product = r.Operation("*", (body.dereference(0), body.dereference(2)), total.type, body.span)
    return body.make_function(body.make_assignment(total, product, "+"), 2, result=total)


def _make_for_each(body: _Body) -> r.Function | None:
    called_ = body.make_call(0)
    return None if called_ is None else body.make_function(r.ExpressionStatement(called_, body.span))


def _make_transform(body: _Body) -> r.Function | None:
    sources = range(2, len(body.formals) - 1)
    value = body.make_call(0, *sources)
    target = len(body.formals) - 1
    return (
        None
        if value is None
        else body.make_function(body.make_assignment(body.dereference(target), value), *sources, target)
    )


_ALGORITHMS: dict[str, _Algorithm] = {
    "fill": _make_algorithm(
        3, lambda body: body.make_function(body.make_assignment(body.dereference(0), body.formals[2]))
    ),
    "copy": _make_algorithm(
        3, lambda body: body.make_function(body.make_assignment(body.dereference(2), body.dereference(0)), 2)
    ),
    "accumulate": _make_algorithm(3, _make_accumulate),
    "inner_product": _make_algorithm(4, _make_inner_product),
    "for_each": _make_algorithm(2, _make_for_each),
    "transform": _make_algorithm(3, _make_transform),
}
