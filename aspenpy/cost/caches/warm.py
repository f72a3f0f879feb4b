"""What a cache still holds of data that were swept before the block began, all structures side by side."""

from __future__ import annotations

from itertools import pairwise

from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import Nest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

INSTANTS = tuple(graph.number(k) / 8 for k in (1, 3, 5, 7))
"""When in the first pass a line is touched, as a share of the pass: the midpoints of its quarters."""


def missing_share(own: Nest, arrays: list[tuple[Nest, Expr]], all_lines: Expr, level: Level) -> Expr:
    """The share of an array's lines that are gone when the block first touches them.

    `arrays` are the nests of the block with the lines of each, the array itself among them; `all_lines` are those of
    all data structures. They were swept from begin to end, a place u in [0, 1] of each at a time; a line at u is
    touched by the block at the share v of the first pass of the array's outermost loop. Between the two lie the lines
    behind u, N (1 - u) of each array, and of those before u what the block has touched by then: all of an array that
    is faster, v of one that goes along, u v of one that is walked across, and f v of a slower one, f its share in
    a pass. The lines at u are there if that is less than the cache has room for.
    """
    along = across = faster = slower = graph.ZERO
    for nest, lines in arrays:
        if nest.outermost < own.outermost:
            faster += lines
        elif nest.outermost > own.outermost:
            slower += nest.lines(own.outermost, level.line)
        elif in_order(nest):
            along += lines
        else:
            across += lines
    excess = all_lines - level.lines
    if in_order(own):  # v is u: excess = u fall - u^2 across
        fall = all_lines - graph.add(along, faster, slower)
        square = fall**2 - graph.mul(4, across, excess)
        root = graph.apply("sqrt", graph.apply("max", 0, square))
        never = graph.compare("<", square, 0)
        return graph.if_else(never, 1, _clipped(excess, (fall + root) / 2))
    shares = []
    for instant in INSTANTS:
        reached = excess + instant * (along + slower)
        fall = all_lines - (faster + instant * across)
        shares.append(_clipped(reached, fall))
    return graph.add(*shares) / len(shares)


def in_order(nest: Nest) -> bool:
    """Whether an array is touched from begin to end: its outer loops have the longer strides."""
    return all(inner < outer for inner, outer in pairwise(nest.order(len(nest.loops))))


def _clipped(excess: Expr, fall: Expr) -> Expr:
    """excess / fall, as a share: where nothing falls with u, all are gone if there is an excess of a line."""
    over = graph.apply("max", 0, excess)
    return over / graph.apply("max", fall, over, 1)
