"""Topology: the figures of a network, whatever its shape.

Conventions, which hold for every topology:

* A *node* computes, a *router* forwards. In a direct network (hypercube, mesh, torus, fully connected) each node is its
  own router, or shares it with others of a mesh or torus; elsewhere it hangs on one by a *terminal link*.
* A *link* joins two routers and carries data both ways at once. Terminal links are counted apart.
* A *distance* is the links between routers on a shortest route, so that two nodes of one router are at 0 hops;
  `terminal_hops` is what the way onto the first router and off the last one adds, nothing in a direct network.
* The *average distance* is that between two nodes that are not the same, each pair as likely as any other.
* The *bisection* is the fewest links, terminal links among them, that part the nodes into two halves, equal to one
  node. Where nobody has a closed form it is a bound, and `bound` says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

Size = Expr | Number
Bound = Literal["upper", "lower"]

FIGURES = (
    "nodes", "routers", "links", "terminal_links", "terminal_hops", "radix", "diameter", "average_distance", "bisection"
)  # fmt: skip


class NetworkError(ValueError):
    """A network that cannot be. `parameter` names what is to be changed; whoever read the value knows its place."""

    def __init__(self, message: str, parameter: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.parameter = parameter
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return NetworkError, (self.message, self.parameter, self.hint)


class Topology(Record):
    """The figures of one network, as expressions; numbers where its parameters are numbers.

    `parameters` are what `topologies.topology` takes to make it again. `radix` is the number of ports of the largest
    router, those of its nodes included where they hang on it. `bounds` names the figures that are no more than bounds.
    `rings` says of each dimension of a grid whether its ends are linked. `nested` are the containers that nodes fill in
    their order, smallest first: the nodes of one, and the average hops between two of them that share no smaller one.
    """

    kind: str
    parameters: tuple[tuple[str, Any], ...]
    nodes: Expr
    routers: Expr
    links: Expr
    radix: Expr
    diameter: Expr
    average_distance: Expr
    bisection: Expr
    terminal_links: Expr = graph.ZERO
    terminal_hops: Expr = graph.ZERO
    bounds: tuple[tuple[str, Bound], ...] = ()
    rings: tuple[Expr, ...] = ()
    nested: tuple[tuple[Expr, Expr], ...] = ()

    def bound(self, figure: str) -> Bound | None:
        """Which kind of bound a figure is; None for one that is exact."""
        return dict(self.bounds).get(figure)

    def bisection_bandwidth(self, link_bandwidth: Size) -> Expr:
        """Bytes per second from one half to the other, and as many back; a link carries `link_bandwidth`."""
        return self.bisection * link_bandwidth

    def latency(self, per_hop: Size, start: Size = 0, *, farthest: bool = False) -> Expr:
        """Seconds until the first byte arrives: `start`, and `per_hop` for every link on the way to an average node,
        or to the farthest."""
        distance = self.diameter if farthest else self.average_distance
        return graph.add(start, (distance + self.terminal_hops) * per_hop)

    def figures(self, values: Mapping[Expr, Number] | None = None) -> dict[str, Number]:
        """The figures as exact numbers, where all symbols have values."""
        return {name: evaluate(getattr(self, name), values) for name in FIGURES}


# -- what the constructors of all topologies use ---------------------------------------------------


def whole_size(value: Size, parameter: str, words: str, least: int = 1) -> Expr:
    """The size as an expression. Raises NetworkError where it is a number, and not a whole one from `least` on."""
    expr = graph.to_expr(value)
    if expr.kind != "number":
        return expr
    number = expr.payload
    if number != int(number) or number < least:
        raise NetworkError(f"{words} must be a whole number from {least} on, not {expr}", parameter)
    return graph.number(int(number))


def known_sizes(exprs: Iterable[Expr]) -> list[int] | None:
    """All sizes as whole numbers; None where one is not known yet."""
    numbers = [graph.whole_number(expr) for expr in exprs]
    return None if None in numbers else [number for number in numbers if number is not None]


def floor(value: Size) -> Expr:
    return graph.apply("floor", value)


def is_odd(value: Expr) -> Expr:
    """1 for an odd number, 0 for an even one."""
    return graph.apply("mod", value, 2)


def on_routers(nodes: Expr) -> dict[str, Any]:
    """The terminal links of nodes that hang on routers, and the hops that they add to a route."""
    return {"terminal_links": nodes, "terminal_hops": graph.number(2)}


def average_over_pairs(total: Expr, nodes: Expr) -> Expr:
    """The average over ordered pairs of distinct nodes, from the sum over all; 0 where there is one node."""
    return graph.if_else(graph.compare("==", nodes, 1), 0, total / (nodes * (nodes - 1)))


def describe_topology(topology: Topology) -> str:
    """`torus (dimensions 8 x 8 x 8)`."""
    return f"{topology.kind.replace('_', ' ')} ({', '.join(_describe_size(*pair) for pair in topology.parameters)})"


def _describe_size(name: str, value: Any) -> str:
    if name == "edges":
        return f"{len(value)} edges"
    text = " x ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"{name.replace('_', ' ')} {text}"
