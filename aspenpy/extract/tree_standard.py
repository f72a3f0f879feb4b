"""The standard library of C++ as records: iterators and owning pointers are pointers, algorithms are functions with
loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.extract import records as r
from aspenpy.extract.tree_types import INT, LAMBDA, VOID, pointer_to
from aspenpy.language.source import Span
from aspenpy.record import NamedTuple

STANDARD = "std::"
"""How the keys of functions that stand for algorithms of the library begin."""

_BINARY = frozenset({"==", "!=", "<", "<=", ">", ">=", "+", "-"})
_ZERO, _ONE = r.Constant(0, INT), r.Constant(1, INT)


def translate_call(
    name: str, arguments: tuple[r.Expression, ...], type: r.Type, span: Span | None, lambdas: tuple[str, ...]
) -> tuple[r.Expression, r.Function | None] | None:
    """Translates a call of the standard library, and gives the function that it needs; None for other calls. A method's
    object is the first argument; `lambdas` are the keys of the functions among the arguments."""
    if name.startswith("operator") and arguments:
        translated = _translate_operator(name.removeprefix("operator").strip(), arguments, type, span)
        return None if translated is None else (translated, None)
    if name in _METHODS and arguments:
        translated = _METHODS[name](arguments, type, span)
        return None if translated is None else (translated, None)
    if name in _ALGORITHMS:
        values = tuple(part for part in arguments if not part.type.name.startswith(LAMBDA))
        function = _write_function(name, values, span, lambdas)
        return None if function is None else (r.Call(function.key, name, values, type, span), function)
    return None


def _is_pointer(node: r.Expression) -> bool:
    return node.type.kind == "pointer"


def _translate_operator(
    sign: str, arguments: tuple[r.Expression, ...], type: r.Type, span: Span | None
) -> r.Expression | None:
    """Translates an operator that is called as a function: on a container only `[]`, on iterators and owning pointers
    what pointers have."""
    first, *rest = arguments
    if not _is_pointer(first):
        return r.Element(first, rest[0], type, span=span) if sign == "[]" and len(rest) == 1 else None
    of = first.type.of or type
    if sign in ("*", "->") and not rest:
        return first if sign == "->" else r.Element(first, _ZERO, of, span=span)
    if sign == "[]" and len(rest) == 1:
        return r.Element(first, rest[0], of, span=span)
    if sign in ("++", "--"):
        is_postfix = len(rest) == 1  # C++ tells `p++` by an argument without use
        return r.assign(first, _ONE, span, operator=sign[0], is_postfix=is_postfix)
    if sign in ("+=", "-="):
        return r.assign(first, rest[0], span, operator=sign[0])
    if sign == "=" and len(rest) == 1 and rest[0].type.kind == "pointer":
        return r.assign(first, rest[0], span)
    if sign in _BINARY and len(rest) == 1:
        return r.Operation(sign, (first, rest[0]), type, span)
    return None


def _make_size_call(container: r.Expression, span: Span | None) -> r.Expression:
    return r.Call("size", "size", (container,), INT, span)


def _make_element(container: r.Expression, index: r.Expression, type: r.Type, span: Span | None) -> r.Expression:
    return r.Element(container, index, container.type.of or type, span=span)


def _begin_address(parts: tuple[r.Expression, ...], type: r.Type, span: Span | None) -> r.Expression | None:
    """Address at which a container begins; `std::begin` also takes a pointer."""
    if len(parts) != 1:
        return None
    if _is_pointer(parts[0]):
        return parts[0]
    return r.Address(_make_element(parts[0], _ZERO, type, span), type, span)


def _end_address(parts: tuple[r.Expression, ...], type: r.Type, span: Span | None) -> r.Expression | None:
    if len(parts) != 1:
        return None
    return r.Address(_make_element(parts[0], _make_size_call(parts[0], span), type, span), type, span)


def _last_element(parts: tuple[r.Expression, ...], type: r.Type, span: Span | None) -> r.Expression:
    index = r.Operation("-", (_make_size_call(parts[0], span), _ONE), INT, span)
    return _make_element(parts[0], index, type, span)


_METHODS: dict[str, Callable[[tuple[r.Expression, ...], r.Type, Span | None], r.Expression | None]] = {
    **dict.fromkeys(("begin", "cbegin", "data"), _begin_address),
    **dict.fromkeys(("end", "cend"), _end_address),
    "get": lambda parts, type, span: parts[0] if _is_pointer(parts[0]) else None,
    "at": lambda parts, type, span: _make_element(parts[0], parts[1], type, span) if len(parts) == 2 else None,
    "front": lambda parts, type, span: _make_element(parts[0], _ZERO, type, span),
    "back": _last_element,
    "empty": lambda parts, type, span: r.Operation("==", (_make_size_call(parts[0], span), _ZERO), INT, span),
    "reset": lambda parts, type, span: (
        r.assign(parts[0], parts[1], span) if len(parts) == 2 and _is_pointer(parts[0]) else None
    ),
}

# -- algorithms ------------------------------------------------------------------------------------


class _AlgorithmBody:
    """The formals of an algorithm, and the function with a loop from the first, an iterator, to the second."""

    def __init__(
        self, name: str, values: tuple[r.Expression, ...], span: Span | None, lambdas: tuple[str, ...]
    ) -> None:
        kinds = ",".join(f"{part.type.kind}{part.type.of.size if part.type.of else part.type.size}" for part in values)
        self.key = f"{STANDARD}{name}({kinds})" + "".join(lambdas)
        self.name = name
        self.span = span
        self.lambdas = lambdas
        self.formals = [
            r.Variable(f"{self.key}@{index}", f"argument_{index}", _type_by_value(part.type), "formal", span=span)
            for index, part in enumerate(values)
        ]

    def dereference(self, pointer: r.Variable) -> r.Expression:
        """The element that a formal points at."""
        return r.Element(pointer, _ZERO, pointer.type.of or VOID, span=self.span)

    def make_call(self, pointers: Sequence[r.Variable]) -> r.Expression | None:
        """Calls the lambda with the elements that formals point at; None where there is not one lambda."""
        if len(self.lambdas) != 1:
            return None
        elements = tuple(map(self.dereference, pointers))
        return r.Call(self.lambdas[0], "lambda", elements, elements[0].type, self.span)

    def make_assignment(self, target: r.Expression, value: r.Expression, operator: str = "") -> r.Statement:
        """The statement `target = value`, or `target += value` where the operator is `+`."""
        return r.ExpressionStatement(r.assign(target, value, self.span, operator=operator), self.span)

    def make_function(
        self, action: r.Statement, *, advance: Sequence[r.Variable] = (), result: r.Expression | None = None
    ) -> r.Function:
        """A function whose loop repeats `action`; the pointers in `advance` move on with the first formal."""
        first, last = self.formals[:2]
        steps = tuple(r.assign(pointer, _ONE, self.span, operator="+") for pointer in (first, *advance))
        loop = r.LoopStatement(
            start=None,
            condition=r.Operation("!=", (first, last), INT, self.span),
            step=r.Several(steps, INT, span=self.span),
            body=action,
            span=self.span,
        )
        returning = () if result is None else (r.Jump("return", result, self.span),)
        body = r.CompoundStatement((loop, *returning), self.span)
        return r.Function(self.key, self.name, tuple(self.formals), body, span=self.span, in_place=True)


def _type_by_value(type: r.Type) -> r.Type:
    """The type of an argument that is passed by value."""
    if type.kind == "array" and type.of is not None:
        return pointer_to(type.of)
    return type.of if type.kind == "pointer" and type.is_reference and type.of is not None else type


def _write_function(
    name: str, values: tuple[r.Expression, ...], span: Span | None, lambdas: tuple[str, ...]
) -> r.Function | None:
    """The function that stands for an algorithm; None for a call whose arguments it does not know."""
    algorithm = _ALGORITHMS[name]
    is_range = all(_type_by_value(part.type).kind == "pointer" for part in values[:2])
    if len(values) < algorithm.fewest_values or not is_range:
        return None
    return algorithm.write(_AlgorithmBody(name, values, span, lambdas))


def _write_fill(body: _AlgorithmBody) -> r.Function | None:
    """`fill(first, last, value)`"""
    first, _, value = body.formals[:3]
    return body.make_function(body.make_assignment(body.dereference(first), value))


def _write_copy(body: _AlgorithmBody) -> r.Function | None:
    """`copy(first, last, output)`"""
    first, _, output = body.formals[:3]
    action = body.make_assignment(body.dereference(output), body.dereference(first))
    return body.make_function(action, advance=[output])


def _write_accumulate(body: _AlgorithmBody) -> r.Function | None:
    """`accumulate(first, last, total)`, or with a lambda for the sum"""
    if len(body.formals) > 3:
        return None  # an object of the library adds them up, such as `std::multiplies`
    first, _, total = body.formals
    operator, value = "+", body.dereference(first)
    for function in body.lambdas:
        operator, value = "", r.Call(function, "lambda", (total, body.dereference(first)), total.type, body.span)
    return body.make_function(body.make_assignment(total, value, operator), result=total)


def _write_inner_product(body: _AlgorithmBody) -> r.Function | None:
    """`inner_product(first, last, other, total)`"""
    if len(body.formals) != 4 or body.lambdas:
        return None
    first, _, other, total = body.formals
    product = r.Operation("*", (body.dereference(first), body.dereference(other)), total.type, body.span)
    return body.make_function(body.make_assignment(total, product, "+"), advance=[other], result=total)


def _write_for_each(body: _AlgorithmBody) -> r.Function | None:
    """`for_each(first, last, function)`"""
    call = body.make_call(body.formals[:1])
    return None if call is None else body.make_function(r.ExpressionStatement(call, body.span))


def _write_transform(body: _AlgorithmBody) -> r.Function | None:
    """`transform(first, last, output, function)`, or with a second input before the output"""
    first, _, *others, output = body.formals
    value = body.make_call([first, *others])
    if value is None:
        return None
    return body.make_function(body.make_assignment(body.dereference(output), value), advance=[*others, output])


class _Algorithm(NamedTuple):
    """An algorithm: the least number of its values, lambdas aside, and what writes its function."""

    fewest_values: int
    write: Callable[[_AlgorithmBody], r.Function | None]


_ALGORITHMS = {
    "fill": _Algorithm(3, _write_fill),
    "copy": _Algorithm(3, _write_copy),
    "accumulate": _Algorithm(3, _write_accumulate),
    "inner_product": _Algorithm(4, _write_inner_product),
    "for_each": _Algorithm(2, _write_for_each),
    "transform": _Algorithm(3, _write_transform),
}
