"""Expr: a node of the expression graph, shared by all expressions that contain it.

Equal structure is one object, so equality is identity and a subexpression is computed once. A node's `serial` is
greater than those of its arguments: nodes sorted by serial are in an order of computation, and no pass recurses.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from aspenpy.expr.arithmetic import Number

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


_nodes: WeakValueDictionary[Any, Expr] = WeakValueDictionary()
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


def intern_node(kind: str, args: tuple[Expr, ...], payload: Any, traits: int) -> Expr:
    """The one node of this kind, arguments and payload; `traits` follow from the three."""
    global _last_serial
    key = (kind, args, _KEYS[kind](payload) if kind in _KEYS else payload)
    node = _nodes.get(key)
    if node is None:
        with _lock:
            node = _nodes.get(key)
            if node is None:
                node = Expr.__new__(Expr)
                _last_serial += 1
                _set_kind(node, kind)
                _set_args(node, args)
                _set_payload(node, payload)
                _set_serial(node, _last_serial)
                _set_traits(node, traits)
                _nodes[key] = node
    return node


def node_from_tape(tape: Iterable[tuple[str, tuple[int, ...], Any, int]]) -> Expr:
    """The last node of a tape, whose entries name their arguments by position; the inverse of pickling."""
    nodes: list[Expr] = []
    for kind, positions, payload, traits in tape:
        nodes.append(intern_node(kind, tuple([nodes[position] for position in positions]), payload, traits))
    return nodes[-1]


def topological_order(*roots: Expr, since: int = 0) -> list[Expr]:
    """All nodes of the roots, each after its arguments, without those whose serial is below `since`."""
    seen = {root for root in roots if root.serial >= since}
    waiting = list(seen)
    while waiting:
        for arg in waiting.pop().args:
            if arg not in seen and arg.serial >= since:
                seen.add(arg)
                waiting.append(arg)
    return sorted(seen, key=attrgetter("serial"))


def nodes_of_kind(kind: str, *roots: Expr) -> list[Expr]:
    """The nodes of one kind in the roots, each after its arguments."""
    return [node for node in topological_order(*roots) if node.kind == kind]


def dependents(*roots: Expr, on: Collection[Expr]) -> list[Expr]:
    """The nodes `on`, and the nodes of the roots that depend on them, each after its arguments."""
    nodes = dict.fromkeys(on)
    for node in topological_order(*roots, since=min([cause.serial for cause in on], default=0)):
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
