"""Expr: a node of the expression graph, shared by all expressions that contain it.

Equal structure is one object, so equality is identity and a subexpression is computed once. A node's `serial` is
greater than those of its arguments: nodes sorted by serial are in an order of computation, and no pass recurses.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from _weakref import _remove_dead_weakref, ref  # type: ignore[attr-defined]
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any, TypeVar, cast

from aspenpy.expr import traits
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.traits import CLOSED, INTEGER, NONNEGATIVE, TOTAL

CONSTRUCTORS: dict[str, Callable[..., Expr]] = {}
"""The constructors of operators and sums, registered by `graph` and `series`, which import this module."""

TEXTS: dict[str, Callable[[Expr], str]] = {}
"""The functions that write an expression, in full and as an excerpt, registered by `printer`."""


class Expr:
    """`kind` names the operation, `args` are its operands, `payload` is data that is no expression; `graph` lists the
    kinds.

    Made by the constructors of `graph` only. Immutable; operators build expressions, `==` is identity (build a
    comparison with `graph.compare`).
    """

    __slots__ = ("__weakref__", "args", "kind", "payload", "serial", "traits")

    kind: str
    args: tuple[Expr, ...]
    payload: Any
    serial: int
    traits: int

    @property
    def name(self) -> str:
        """The name of a symbol."""
        return cast(str, self.payload[0])

    @property
    def owner(self) -> str:
        """Whose the name of a symbol is: "" for an application's, else what tells it apart."""
        return cast(str, self.payload[1])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an expression is immutable: {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        order = topological_order(self)
        position = {node: index for index, node in enumerate(order)}
        return node_from_tape, (
            tuple((n.kind, tuple([position[arg] for arg in n.args]), n.payload, n.traits) for n in order),
        )

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: object) -> Expr:
        return self

    def __str__(self) -> str:
        return TEXTS["text"](self)

    def __repr__(self) -> str:
        return f"<Expr {TEXTS['excerpt'](self)}>"

    def __add__(self, other: Expr | Number) -> Expr:
        return CONSTRUCTORS["add"](self, other)

    def __radd__(self, other: Number) -> Expr:
        return CONSTRUCTORS["add"](other, self)

    def __sub__(self, other: Expr | Number) -> Expr:
        return CONSTRUCTORS["sub"](self, other)

    def __rsub__(self, other: Number) -> Expr:
        return CONSTRUCTORS["sub"](other, self)

    def __mul__(self, other: Expr | Number) -> Expr:
        return CONSTRUCTORS["mul"](self, other)

    def __rmul__(self, other: Number) -> Expr:
        return CONSTRUCTORS["mul"](other, self)

    def __truediv__(self, other: Expr | Number) -> Expr:
        return CONSTRUCTORS["div"](self, other)

    def __rtruediv__(self, other: Number) -> Expr:
        return CONSTRUCTORS["div"](other, self)

    def __pow__(self, other: Expr | Number) -> Expr:
        return CONSTRUCTORS["power"](self, other)

    def __rpow__(self, other: Number) -> Expr:
        return CONSTRUCTORS["power"](other, self)

    def __neg__(self) -> Expr:
        return CONSTRUCTORS["neg"](self)


class NodeReference(ref):  # type: ignore[type-arg]
    """A weak reference to a node, with the key that it is found by."""

    __slots__ = ("key",)

    key: Any


_references: dict[Any, NodeReference] = {}
"""The nodes that are there. An entry takes a third of the time that it does in Python's `WeakValueDictionary`, whose
module takes 1 ms of a command's start."""


def _forget_node(reference: NodeReference) -> None:
    """Drops the entry of a node that is gone, unless an equal one has been made since; takes no lock."""
    _remove_dead_weakref(_references, reference.key)


_lock = allocate_lock()
_last_serial = 0
_set_kind, _set_args, _set_payload, _set_serial, _set_traits = (
    vars(Expr)[name].__set__ for name in ("kind", "args", "payload", "serial", "traits")
)
_KEYS: dict[str, Callable[[Any], Any]] = {
    "number": lambda value: (type(value), value.hex() if type(value) is float else value),
    "failure": lambda payload: id(payload),
}
"""Keys for payloads that `==` does not distinguish: 1 and 1.0, 0.0 and -0.0, two failures with equal messages."""

OF_MODELS = ("", "machine")  # owners of symbols that no call and no loop gives another value


def intern_node(kind: str, args: tuple[Expr, ...], payload: Any, traits: int) -> Expr:
    """The one node of this kind, arguments and payload; `traits` follow from the three."""
    global _last_serial
    key = (kind, args, _KEYS[kind](payload) if kind in _KEYS else payload)
    reference = _references.get(key)
    node = None if reference is None else reference()
    if node is None:
        with _lock:
            reference = _references.get(key)
            node = None if reference is None else reference()
            if node is None:
                node = Expr.__new__(Expr)
                closed = CLOSED
                for arg in args:
                    closed &= arg.traits
                if kind == "symbol" and (len(payload) == 3 or payload[1] not in OF_MODELS):
                    closed = 0
                _last_serial += 1
                _set_kind(node, kind)
                _set_args(node, args)
                _set_payload(node, payload)
                _set_serial(node, _last_serial)
                _set_traits(node, traits & ~CLOSED | closed)
                reference = NodeReference(node, _forget_node)
                reference.key = key
                _references[key] = reference
    return node


def node_from_tape(tape: Iterable[tuple[str, tuple[int, ...], Any, int]]) -> Expr:
    """The last node of a tape, whose entries name their arguments by position; the inverse of pickling."""
    nodes: list[Expr] = []
    for kind, positions, payload, known in tape:
        nodes.append(intern_node(kind, tuple([nodes[position] for position in positions]), payload, known))
    return nodes[-1]


def topological_order(*roots: Expr, since: int = 0, apart: int = 0, done: Container[Expr] = ()) -> list[Expr]:
    """All nodes of the roots, each after its arguments, without those whose serial is below `since`, that have one of
    the traits `apart`, or that are `done` and what only these need."""
    seen = {root for root in roots if root.serial >= since and not root.traits & apart and root not in done}
    waiting = list(seen)
    while waiting:
        for arg in waiting.pop().args:
            if arg not in seen and arg.serial >= since and not arg.traits & apart and arg not in done:
                seen.add(arg)
                waiting.append(arg)
    return sorted(seen, key=attrgetter("serial"))


def nodes_of_kind(kind: str, *roots: Expr) -> list[Expr]:
    """The nodes of one kind in the roots, each after its arguments."""
    return [node for node in topological_order(*roots) if node.kind == kind]


def traits_without(causes: Iterable[Expr]) -> int:
    """Traits of nodes that cannot depend on any of the causes."""
    return 0 if any(cause.traits & CLOSED for cause in causes) else CLOSED


def dependents(*roots: Expr, on: Collection[Expr]) -> list[Expr]:
    """The nodes `on`, and the nodes of the roots that depend on them, each after its arguments."""
    nodes = dict.fromkeys(on)
    since, apart = min([cause.serial for cause in on], default=0), traits_without(on)
    for node in topological_order(*roots, since=since, apart=apart):
        if node not in nodes and not nodes.keys().isdisjoint(node.args):
            nodes[node] = None
    return list(nodes)


Result = TypeVar("Result")


def fold(rule: Callable[[Expr, Mapping[Expr, Result]], Result], *roots: Expr) -> dict[Expr, Result]:
    """The result of `rule(node, results so far)` for each node of the roots, arguments first."""
    results: dict[Expr, Result] = {}
    for node in topological_order(*roots):
        results[node] = rule(node, results)
    return results


def operation_of(node: Expr) -> str:
    """The operation of a node: the name of a function, `and` or `or`, `if`, else its kind."""
    if node.kind in ("apply", "junction"):
        return str(node.payload)
    return "if" if node.kind == "if_else" else node.kind


def to_expr(value: Expr | Number) -> Expr:
    """The expression itself, or the number as one."""
    if type(value) is Expr:
        return value
    return (type(value) is int and _SMALL_NUMBERS.get(value)) or number(value)  # type: ignore[arg-type]


def number(value: Number) -> Expr:
    """A constant, exact if it is given exactly; whole fractions become ints. Refuses bool, nan and infinity."""
    kind = type(value)
    if kind is Fraction and value.denominator == 1:  # type: ignore[union-attr]
        value = value.numerator  # type: ignore[union-attr]
    elif kind is float and value - value != 0.0:
        raise ValueError(f"{value} is not a number an expression can hold")
    elif kind is not int and kind is not float and kind is not Fraction:
        raise TypeError(f"a number is an int, a Fraction or a float, not {kind.__name__}")
    known = TOTAL | (NONNEGATIVE if value >= 0 else 0) | (INTEGER if type(value) is int else 0)
    return intern_node("number", (), value, known)


_SMALL_NUMBERS = {value: number(value) for value in range(-1, 65)}
"""Constants that models are full of, found without their key."""


FROM_ZERO = "from zero"  # owner of symbols that never stand for a value below 0


def symbol(name: str, owner: str = "") -> Expr:
    """A free name; `owner` distinguishes symbols of the same name."""
    return intern_node("symbol", (), (name, owner), TOTAL | (NONNEGATIVE if owner == FROM_ZERO else 0))


def counter(name: str, owner: str = "") -> Expr:
    """A new loop counter, 0, 1, 2, ...: different from all others, also those of the same name and of other
    processes."""
    return intern_node("symbol", (), (name, owner, int.from_bytes(os.urandom(8))), traits.ALL)


def is_counter(expr: Expr) -> bool:
    return expr.kind == "symbol" and len(expr.payload) == 3


def array(elements: Sequence[Expr | Number]) -> Expr:
    """An array; a table is an array of arrays."""
    return intern_node("array", tuple([to_expr(element) for element in elements]), None, traits=0)


def failure(payload: Any) -> Expr:
    """A node without value; evaluating it raises an `EvaluationError` with the payload."""
    return intern_node("failure", (), payload, traits=0)


def stream(*parts: Expr | Number) -> Expr:
    """Identity of a random draw: ints, counters and other streams."""
    return intern_node("stream", tuple([to_expr(part) for part in parts]), None, TOTAL | INTEGER)


TRUE = intern_node("boolean", (), True, TOTAL)
FALSE = intern_node("boolean", (), False, TOTAL)
ZERO = number(0)
ONE = number(1)
MINUS_ONE = number(-1)


# -- what is known of a node -----------------------------------------------------------------------


def is_exact(expr: Expr) -> bool:
    """Whether the node is an exact constant: an int or a Fraction."""
    return expr.kind == "number" and type(expr.payload) is not float


def whole_number(expr: Expr) -> int | None:
    """The value of an int constant; None for other nodes."""
    return expr.payload if expr.kind == "number" and type(expr.payload) is int else None


def is_call(expr: Expr, functions: Container[str]) -> bool:
    """Whether the node applies one of the functions."""
    return expr.kind == "apply" and expr.payload in functions


def is_integer(expr: Expr) -> bool:
    """Whether the value is known to be whole, whatever the symbols are."""
    return bool(expr.traits & INTEGER)


def is_total(expr: Expr) -> bool:
    """Whether the value cannot fail once its symbols have values, overflow set aside."""
    return bool(expr.traits & TOTAL)
