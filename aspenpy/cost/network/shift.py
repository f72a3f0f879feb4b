"""How far a rank is from the one that is a fixed number of ranks further, as a formula of that number.

Ranks fill the nodes in their order, so many on each, and behind the last comes the first. The number of a rank then has
digits, the last of which is its place on the node and the others its coordinates; a shift changes each digit by its own
digit, or by one more where the digits below carry. They carry as often as what they move by is part of what they hold,
so that the average over all ranks is exact, whatever the sizes. `neighbours` has the average over a grid of ranks
with its edges; here every size may be a symbol.
"""

from __future__ import annotations

from aspenpy.cost.network.topology import Size, Topology, floor
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def off_node(shift: Size, ranks_per_node: Size, nodes: Size) -> Expr:
    """The part of the ranks (0 to 1) whose partner, `shift` ranks further, is on another node."""
    ranks = graph.mul(ranks_per_node, nodes)
    return graph.apply("min", 1, _shorter_way(graph.to_expr(shift), ranks) / ranks_per_node)


def distance(topology: Topology, shift: Size, ranks_per_node: Size = 1) -> Expr:
    """The average hops between the nodes of a rank and of the one `shift` ranks further: exact on tori, meshes,
    hypercubes, fat trees and stars; two nodes of one router, group or network of a dragonfly or slim fly, and of no
    smaller one, are as far apart as such pairs are on average, and any two nodes of others as any."""
    s, r = graph.to_expr(shift), graph.to_expr(ranks_per_node)
    sizes = dict(topology.parameters)
    if topology.kind in ("torus", "mesh"):
        stride, hops = r * sizes.get("nodes_per_router", 1), []
        for length, ring in zip(reversed(sizes["dimensions"]), reversed(topology.rings), strict=True):
            hops.append(_digit(length, s, stride, ring))
            stride *= length
        return graph.add(*hops)
    if topology.kind == "hypercube":
        bit = graph.counter("bit")
        return graph.summation(bit, sizes["dimension"], _digit(graph.number(2), s, r * 2**bit, graph.TRUE))
    if topology.kind == "fat_tree":
        level = graph.counter("level")
        ranks = r * topology.nodes
        below = r * sizes["taper"] * sizes["arity"] ** (level + 1)
        parts = graph.apply("ceil", ranks / below)
        leaving = graph.apply("min", 1, _shorter_way(s, ranks) * parts / ranks)
        several = graph.if_else(graph.compare(">", parts, 1), 2 * leaving, 0)
        return graph.summation(level, sizes["levels"] - 1, several)
    if topology.nested:
        ranks, hops, below = r * topology.nodes, [], off_node(s, r, topology.nodes)
        for place, (size, apart) in enumerate(topology.nested):
            last = place == len(topology.nested) - 1
            out = graph.ZERO if last else graph.apply("min", 1, _shorter_way(s, ranks) / (r * size))
            hops.append((below - graph.apply("min", below, out)) * apart)
            below = graph.apply("min", below, out)
        return graph.add(*hops)
    return off_node(s, r, topology.nodes) * topology.average_distance


def _shorter_way(shift: Expr, ranks: Expr) -> Expr:
    """Forwards, or backwards round the end."""
    forwards = graph.apply("mod", shift, ranks)
    return graph.apply("min", forwards, ranks - forwards)


def _digit(length: Expr, shift: Expr, stride: Expr, ring: Expr) -> Expr:
    """The average hops along one dimension, `stride` ranks being one step along it."""
    moved = graph.apply("mod", floor(shift / stride), length)
    carried = graph.apply("mod", shift, stride) / stride
    further = graph.apply("mod", moved + 1, length)
    return (1 - carried) * _hops(moved, length, ring) + carried * _hops(further, length, ring)


def _hops(moved: Expr, length: Expr, ring: Expr) -> Expr:
    """Round a ring the shorter way; on a line that many of them jump from the end to the beginning."""
    back = length - moved
    return graph.if_else(ring, graph.apply("min", moved, back), 2 * moved * back / length)
