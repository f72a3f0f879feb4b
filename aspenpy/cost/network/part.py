"""Part of a network: what a run on some of the nodes has of it.

A batch system gives a run nodes that are near each other, and the ranks of a run fill the first of them:

* Of a mesh or torus a cuboid of routers, as cubic as its sides allow. A side that is shorter than the dimension is a
  line, since the links that close the ring lead through routers of others; one as long as the dimension is the ring
  itself. That is the law of Blue Gene's partitions (Krevat, Castanos and Moreira, "Job scheduling for the BlueGene/L
  system", JSSPP 2002).
* Of a fat tree, a dragonfly or a slim fly as many switches, and then groups or subtrees, as the nodes fill one after
  the other, and of a hypercube the nodes with the lowest numbers.
* In a star and in a full mesh any two nodes are as near as any others. Links of a custom network are no one's alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from aspenpy.cost.network.grids import mean_along
from aspenpy.cost.network.low_diameter import bisection_of_nodes
from aspenpy.cost.network.topology import Topology, average_over_pairs, floor, is_odd
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

SLACK = graph.number(1e-9)
"""The part by which rounding may make a root or a logarithm larger than a whole number."""

Law = Callable[[Topology, Expr], Topology]
"""The part of a network that so many nodes have, which is nearer together than the whole."""


def restrict(network: Topology, law: Law, used: Expr, nodes: Expr) -> Topology:
    """The network of a run on `used` of a machine's `nodes` by a law, or the whole network where these are all. Its
    number of nodes, diameter, average distance, bisection and dimensions are those of the part, the others those of the
    whole."""
    full = graph.TRUE if used is nodes else graph.compare(">=", used, nodes)
    if full is graph.TRUE:
        return network
    part = law(network, used)
    sizes = {name: _either(full, value, dict(part.parameters)[name]) for name, value in network.parameters}
    return network.replace(
        parameters=tuple(sizes.items()),
        nodes=graph.if_else(full, network.nodes, part.nodes),
        diameter=graph.if_else(full, network.diameter, part.diameter),
        average_distance=graph.if_else(full, network.average_distance, part.average_distance),
        bisection=graph.if_else(full, network.bisection, part.bisection),
        bounds=part.bounds,
        rings=tuple(_either(full, *pair) for pair in zip(network.rings, part.rings, strict=True)),
    )


def _either(full: Expr, whole: Any, part: Any) -> Any:
    """A parameter of the whole network or of the part."""
    if isinstance(whole, tuple):
        return tuple(_either(full, *pair) for pair in zip(whole, part, strict=True))
    return whole if whole is part else graph.if_else(full, whole, part)


# -- grids -----------------------------------------------------------------------------------------


def cuboid(network: Topology, used: Expr) -> Topology:
    """A cuboid that has as many routers as the nodes need, its sides as equal as they can be: from the shortest
    dimension on, each is the root of what is left, rounded up, or as long as the dimension. It is cut in half across
    the side where that takes the fewest links, a ring in two places; an odd length needs a few more."""
    sizes = dict(network.parameters)
    p = sizes.get("nodes_per_router", graph.ONE)
    dimensions = _sort(sizes["dimensions"])
    wrapped = network.kind == "torus"
    needed = graph.apply("ceil", used / p)
    sides: list[Expr] = []
    for index, longest in enumerate(dimensions):
        rest = needed / graph.mul(*sides)
        root = graph.power(rest, graph.number(Fraction(1, len(dimensions) - index)))
        sides.append(graph.apply("min", longest, graph.apply("ceil", root * (1 - SLACK))))
    rings = [graph.compare("==", *pair) if wrapped else graph.FALSE for pair in zip(sides, dimensions, strict=True)]
    routers = graph.mul(*sides)
    nodes = p * routers
    means, cuts, farthest = [], [], []
    for side, ring in zip(sides, rings, strict=True):
        farthest.append(graph.if_else(ring, floor(side / 2), side - 1))
        means.append(graph.if_else(ring, mean_along(side, wrapped=True), mean_along(side, wrapped=False)))
        twice = graph.junction("and", ring, graph.compare(">", side, 2))
        cuts.append(graph.if_else(twice, 2, 1) * routers / side)
    width = graph.apply("min", *cuts, floor(nodes / 2))
    # the smallest dimension is the last, along which nodes are numbered first
    sizes["dimensions"] = tuple(reversed(sides))
    return network.replace(
        parameters=tuple(sizes.items()),
        nodes=used,
        diameter=graph.add(*farthest),
        average_distance=average_over_pairs(graph.add(*means) * nodes**2, nodes),
        bisection=width,
        bounds=(("bisection", "lower"),),
        rings=tuple(reversed(rings)),
    )


def _sort(lengths: Sequence[Expr]) -> list[Expr]:
    """The lengths, shortest first, by exchanges of neighbours: they may be symbols, which `min` and `max` can order."""
    ordered = list(lengths)
    for last in range(len(ordered) - 1, 0, -1):
        for index in range(last):
            pair = ordered[index : index + 2]
            ordered[index : index + 2] = graph.apply("min", *pair), graph.apply("max", *pair)
    return ordered


def subcube(network: Topology, used: Expr) -> Topology:
    """A part of a hypercube: of the nodes with numbers below n, c have a 1 in a bit, and c (n-c) pairs differ there.
    They are joined by routes inside, on which ones become zeros first."""
    bit = graph.counter("bit")
    twice = 2 ** (bit + 1)
    ones = floor(used / twice) * 2**bit + graph.apply("max", 0, graph.apply("mod", used, twice) - 2**bit)
    dimension = graph.apply("ceil", graph.apply("log2", used) - SLACK)
    pairs = graph.summation(bit, dimension, 2 * ones * (used - ones))
    return network.replace(
        parameters=(("dimension", dimension),),
        nodes=used,
        diameter=dimension,
        average_distance=average_over_pairs(pairs, used),
        bisection=floor(used / 2),
        bounds=(("bisection", "lower"),),
    )


# -- networks of switches --------------------------------------------------------------------------


def subtree(network: Topology, used: Expr) -> Topology:
    """Two nodes are two hops apart for each level on which they are in no common subtree; only links up from the
    lowest switches are cut."""
    sizes = dict(network.parameters)
    k, down = sizes["arity"], sizes["taper"] * sizes["arity"]
    level = graph.counter("level")
    apart = 2 * (used**2 - _pairs_together(used, down * k**level))
    climbed = graph.if_else(graph.compare(">", used, down * k**level), 2, 0)
    switches = graph.apply("ceil", used / down)
    cut = k * floor(switches / 2) + is_odd(switches) * floor(down / 2)
    return network.replace(
        nodes=used,
        diameter=graph.summation(level, sizes["levels"] - 1, climbed),
        average_distance=average_over_pairs(graph.summation(level, sizes["levels"] - 1, apart), used),
        bisection=graph.apply("min", cut, floor(used / 2)),
        bounds=(("bisection", "upper"),),
    )


def groups(network: Topology, used: Expr) -> Topology:
    return containers(network, used).replace(bisection=bisection_of_nodes(network, used))


def containers(network: Topology, used: Expr) -> Topology:
    """Two nodes are as far apart as two of the smallest container that has both are on average, and the farthest as far
    as in the whole network unless a single router has all."""
    total, below = [], graph.ZERO
    for index, (size, hops) in enumerate(network.nested):
        pairs = used**2 if index == len(network.nested) - 1 else _pairs_together(used, size)
        total.append((pairs - below) * hops)
        below = pairs
    farthest = graph.if_else(graph.compare("<=", used, network.nested[0][0]), 0, network.diameter)
    average = average_over_pairs(graph.add(*total), used)
    return network.replace(nodes=used, diameter=farthest, average_distance=average)


def _pairs_together(nodes: Expr, size: Expr) -> Expr:
    """Ordered pairs of nodes (a node and itself are one) in the same container of `size` nodes, filled in turn."""
    rest = graph.apply("mod", nodes, size)
    return (nodes - rest) * size + rest**2
