"""How many ranks of a container have a neighbour of their grid outside of it.

Ranks are numbered in their order and fill the containers one after the other. Along a dimension of `length` ranks the
next one is `stride` numbers further, and behind the last comes the first: the numbers fall into rings of stride *
length. Of a part of x numbers at one end of a ring, min(x, stride, ring - stride, ring - x) have their next outside.
A container holds whole rings, which nobody leaves, and a part of one at either end.
"""

from __future__ import annotations

from aspenpy.cost.network.topology import floor
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def leaving(window: Expr, stride: Expr, length: Expr, ranks: Expr) -> Expr:
    """The ranks of the fullest container, of so many ranks in all, whose next along the dimension is outside: exact
    where the ring and the container divide each other, or all ways to cut a ring occur; else at most so many. Rings
    that are no whole numbers, by a rounding error, are taken for one."""
    ring = stride * length
    one = graph.junction("or", graph.compare(">=", ring, ranks), graph.compare("!=", floor(ring), ring))
    return graph.if_else(one, _leaving_part(window, stride, ring), _leaving_several(window, stride, ring))


def _leaving_several(window: Expr, stride: Expr, ring: Expr) -> Expr:
    """Of a container in which one ring may end and another begin."""
    rest = graph.apply("mod", window, ring)
    step = graph.apply("gcd", window, ring)
    fewer = _cut(rest, step, stride, ring)
    more = graph.if_else(graph.compare(">=", window, ring), _cut(rest + ring, step, stride, ring), 0)
    return graph.apply("max", fewer, more)


def _cut(parts: Expr, step: Expr, stride: Expr, ring: Expr) -> Expr:
    """Lengths that leave two parts of so many numbers together, cut in the middle as far as the steps allow."""
    first = step * floor(parts / (2 * step))
    return _leaving_part(first, stride, ring) + _leaving_part(parts - first, stride, ring)


def _leaving_part(part: Expr, stride: Expr, ring: Expr) -> Expr:
    return graph.apply("max", 0, graph.apply("min", part, stride, ring - stride, ring - part))


def leaving_dealt(stride: Expr, length: Expr, size: Expr, nodes: Expr) -> Expr:
    """The part of all ranks whose next along the dimension is on another node, where planes of so many are dealt out to
    nodes in turn: exact where rings and planes divide each other, else the average over all ways to cut rings.

    A shift by s = q size + t moves (size - t)/size of the ranks by q planes and the others by q + 1; a plane is on the
    same node as those a multiple of the nodes further. Of a ring the last `stride` ranks go back to its first ones.
    """
    ring = stride * length
    back = ring - stride
    forth = back * _off_node(stride, size, nodes)
    round_ = stride * _off_node(back, size, nodes)
    planes = ring / size
    whole = graph.compare("==", graph.apply("mod", ring, size), 0)
    short = graph.compare("<", stride, size)
    # of rings of whole planes, all but the last of which hand their last ranks on to the next
    home = graph.compare("==", graph.apply("mod", planes - 1, nodes), 0)
    cut = (planes - 1) * stride * graph.if_else(graph.compare(">", nodes, 1), 1, 0) + graph.if_else(home, 0, stride)
    inside = graph.compare("==", graph.apply("mod", size, ring), 0)
    exact = graph.if_else(graph.junction("and", whole, short), cut, forth + round_)
    return graph.if_else(inside, 0, graph.apply("min", 1, exact / ring))


def _off_node(shift: Expr, size: Expr, nodes: Expr) -> Expr:
    round_ = size * nodes
    moved = graph.apply("mod", shift, round_)
    return graph.apply("min", 1, graph.apply("min", moved, round_ - moved) / size)


def crossing(inner: Expr, outer: Expr, stride: Expr, length: Expr, ranks: Expr) -> Expr:
    """Of those that leave an inner container, so many as stay in the outer one around it, where they are most: numbers
    i with i + stride at `inner` or beyond and below `outer`."""
    staying = graph.apply("min", inner, outer - stride) - graph.apply("max", 0, inner - stride)
    return graph.apply("min", leaving(inner, stride, length, ranks), graph.apply("max", 0, staying))
