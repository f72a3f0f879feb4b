"""The rank that is a fixed number of ranks further: how far away it is on average, and for how many ranks of a
container it is outside.

Ranks fill the nodes in their order, so many on each, and behind the last comes the first. The number of a rank then has
digits, the last of which is its place on the node and the others its coordinates; a shift changes each digit by its own
digit, or by one more where the digits below carry. They carry as often as what they move by is part of what they hold,
so that the average over all ranks is exact, whatever the sizes. `placement` has the average over a grid of ranks with
its edges; here every size may be a symbol.

Along a dimension of `length` ranks the next one is `stride` numbers further, and behind the last comes the first: the
numbers fall into rings of stride * length. Of a part of x numbers at one end of a ring, min(x, stride, ring - stride,
ring - x) have their next outside. A container holds whole rings, which nobody leaves, and a part of one at either end.
"""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.cost.network.topology import Size, Topology, floor
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def off_node(shift: Size, ranks_per_node: Size, nodes: Size) -> Expr:
    """The part of the ranks (0 to 1) whose partner, `shift` ranks further, is on another node."""
    ranks = graph.mul(ranks_per_node, nodes)
    return graph.apply("min", 1, _shorter_way(graph.to_expr(shift), ranks) / ranks_per_node)


Law = Callable[[Topology, Expr, Expr], Expr]
"""The average hops between the nodes of a rank and of the one `shift` ranks further, with so many ranks on a node;
exact on tori, meshes, hypercubes, fat trees and stars."""


def on_grid(topology: Topology, shift: Expr, ranks_per_node: Expr) -> Expr:
    sizes = dict(topology.parameters)
    stride, hops = ranks_per_node * sizes.get("nodes_per_router", 1), []
    for length, ring in zip(reversed(sizes["dimensions"]), reversed(topology.rings), strict=True):
        hops.append(_digit(length, shift, stride, ring))
        stride *= length
    return graph.add(*hops)


def on_hypercube(topology: Topology, shift: Expr, ranks_per_node: Expr) -> Expr:
    bit, dimension = graph.counter("bit"), dict(topology.parameters)["dimension"]
    return graph.summation(bit, dimension, _digit(graph.number(2), shift, ranks_per_node * 2**bit, graph.TRUE))


def on_fat_tree(topology: Topology, shift: Expr, ranks_per_node: Expr) -> Expr:
    sizes, level = dict(topology.parameters), graph.counter("level")
    ranks, down = ranks_per_node * topology.nodes, sizes["taper"] * sizes["arity"]
    parts = graph.apply("ceil", topology.nodes / (down * sizes["arity"] ** level))
    leaving = graph.apply("min", 1, _shorter_way(shift, ranks) * parts / ranks)
    several = graph.if_else(graph.compare(">", parts, 1), 2 * leaving, 0)
    return graph.summation(level, sizes["levels"] - 1, several)


def in_containers(topology: Topology, shift: Expr, ranks_per_node: Expr) -> Expr:
    """Two nodes of one router, group or network of a dragonfly or slim fly, and of no smaller one, are as far apart as
    such pairs are on average."""
    ranks, hops, below = ranks_per_node * topology.nodes, [], off_node(shift, ranks_per_node, topology.nodes)
    for index, (size, apart) in enumerate(topology.nested):
        last = index == len(topology.nested) - 1
        out = graph.ZERO if last else graph.apply("min", 1, _shorter_way(shift, ranks) / (ranks_per_node * size))
        hops.append((below - graph.apply("min", below, out)) * apart)
        below = graph.apply("min", below, out)
    return graph.add(*hops)


def anywhere(topology: Topology, shift: Expr, ranks_per_node: Expr) -> Expr:
    """Any two nodes are as far apart as any: exact on stars."""
    return off_node(shift, ranks_per_node, topology.nodes) * topology.average_distance


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
    """Mean number of hops of a shift: round a ring the shorter way; on a line `moved` of the ranks send from its end
    back to its beginning."""
    back = length - moved
    return graph.if_else(ring, graph.apply("min", moved, back), 2 * moved * back / length)


def ranks_leaving(window: Expr, stride: Expr, length: Expr, ranks: Expr) -> Expr:
    """Ranks of the fullest container, among `ranks` in all, whose next one along the dimension is outside: exact where
    the ring and the container divide each other, or all ways to cut a ring occur; else an upper bound. Rings that are
    no whole numbers, by a rounding error, are taken for one."""
    ring = stride * length
    one = graph.junction("or", graph.compare(">=", ring, ranks), graph.compare("!=", floor(ring), ring))
    return graph.if_else(one, _leaving_part(window, stride, ring), _leaving_several(window, stride, ring))


def _leaving_several(window: Expr, stride: Expr, ring: Expr) -> Expr:
    """The ranks that leave a container in which one ring may end and another begin."""
    rest = graph.apply("mod", window, ring)
    step = graph.apply("gcd", window, ring)
    fewer = _cut(rest, step, stride, ring)
    more = graph.if_else(graph.compare(">=", window, ring), _cut(rest + ring, step, stride, ring), 0)
    return graph.apply("max", fewer, more)


def _cut(parts: Expr, step: Expr, stride: Expr, ring: Expr) -> Expr:
    """Ranks that leave either half of `parts` ranks in a row, cut in the middle as far as the steps allow."""
    first = step * floor(parts / (2 * step))
    return _leaving_part(first, stride, ring) + _leaving_part(parts - first, stride, ring)


def _leaving_part(part: Expr, stride: Expr, ring: Expr) -> Expr:
    return graph.apply("max", 0, graph.apply("min", part, stride, ring - stride, ring - part))


def leaving_dealt(stride: Expr, length: Expr, size: Expr, nodes: Expr) -> Expr:
    """The part of all ranks whose next along the dimension is on another node, where planes of `size` ranks are dealt
    out to nodes in turn: exact where rings and planes divide each other, else the average over all ways to cut rings.

    A shift by s = q size + t moves (size - t)/size of the ranks by q planes and the others by q + 1; a plane is on the
    same node as those a multiple of the nodes further. Of a ring the last `stride` ranks go back to its first ones.
    """
    ring = stride * length
    back = ring - stride
    forth = back * _off_node(stride, size, nodes)
    around = stride * _off_node(back, size, nodes)
    planes = ring / size
    whole = graph.compare("==", graph.apply("mod", ring, size), 0)
    short = graph.compare("<", stride, size)
    # of rings of whole planes, all but the last of which hand their last ranks on to the next
    home = graph.compare("==", graph.apply("mod", planes - 1, nodes), 0)
    cut = (planes - 1) * stride * graph.if_else(graph.compare(">", nodes, 1), 1, 0) + graph.if_else(home, 0, stride)
    inside = graph.compare("==", graph.apply("mod", size, ring), 0)
    exact = graph.if_else(graph.junction("and", whole, short), cut, forth + around)
    return graph.if_else(inside, 0, graph.apply("min", 1, exact / ring))


def _off_node(shift: Expr, size: Expr, nodes: Expr) -> Expr:
    """The part of ranks whose partner, `shift` ranks on, is on another node; after `turn` ranks the nodes repeat."""
    turn = size * nodes
    moved = graph.apply("mod", shift, turn)
    return graph.apply("min", 1, graph.apply("min", moved, turn - moved) / size)


def ranks_crossing(inner: Expr, outer: Expr, stride: Expr, length: Expr, ranks: Expr) -> Expr:
    """The ranks that leave an inner container but stay in the outer one around it, where they are most: numbers
    i with i + stride at `inner` or beyond and below `outer`."""
    staying = graph.apply("min", inner, outer - stride) - graph.apply("max", 0, inner - stride)
    return graph.apply("min", ranks_leaving(inner, stride, length, ranks), graph.apply("max", 0, staying))
