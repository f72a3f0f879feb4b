"""Expr: a node of the expression graph, shared by all that mention it.

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
"""What operators build and how sums are closed: `graph` and `series` enter theirs, which stand above this module."""

TEXTS: dict[str, Callable[[Expr], str]] = {}
"""How an expression is written, in full and as an excerpt: `printer` enters both. The package imports all three."""


class Expr:
    """`kind` says what it is, `args` of what, `payload` what is not an expression; see `graph` for the kinds.

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
        order = topological(self)
        position = {node: index for index, node in enumerate(order)}
        return from_tape, (
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
"""What tells payloads apart where `==` does not: 1 and 1.0, 0.0 and -0.0, two failures of the same words."""


def shared(kind: str, args: tuple[Expr, ...], payload: Any, traits: int) -> Expr:
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


def from_tape(tape: Iterable[tuple[str, tuple[int, ...], Any, int]]) -> Expr:
    """The last node of a tape, whose entries name their arguments by position; the inverse of pickling."""
    nodes: list[Expr] = []
    for kind, positions, payload, traits in tape:
        nodes.append(shared(kind, tuple([nodes[position] for position in positions]), payload, traits))
    return nodes[-1]


def topological(*roots: Expr, since: int = 0) -> list[Expr]:
    """All nodes the roots are made of, each after its arguments; those with a serial below `since` are left out."""
    seen = {root for root in roots if root.serial >= since}
    waiting = list(seen)
    while waiting:
        for arg in waiting.pop().args:
            if arg not in seen and arg.serial >= since:
                seen.add(arg)
                waiting.append(arg)
    return sorted(seen, key=attrgetter("serial"))


def of_kind(kind: str, *roots: Expr) -> list[Expr]:
    """The nodes of one kind that the roots are made of, in order."""
    return [node for node in topological(*roots) if node.kind == kind]


def dependents(*roots: Expr, on: Collection[Expr]) -> list[Expr]:
    """The nodes of the roots that depend on some others, and those themselves, each after its arguments."""
    found = dict.fromkeys(on)
    for node in topological(*roots, since=min([cause.serial for cause in on], default=0)):
        if node not in found and not found.keys().isdisjoint(node.args):
            found[node] = None
    return list(found)


Found = TypeVar("Found")


def folded(rule: Callable[[Expr, Mapping[Expr, Found]], Found], *roots: Expr) -> dict[Expr, Found]:
    """What a rule says of each node of the roots, which it is given with what it said of those before."""
    found: dict[Expr, Found] = {}
    for node in topological(*roots):
        found[node] = rule(node, found)
    return found
