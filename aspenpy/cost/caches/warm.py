"""What a cache still holds of data that were swept before the block began, all structures side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product

from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import Nest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

INSTANTS = tuple(graph.number(k) / 16 for k in range(1, 16, 2))
"""When in the first pass a line is touched, as a share of the pass: the midpoints of its eighths."""

FEW_INSTANTS = INSTANTS[::2]
"""Where the place of a line does not follow from when it is touched, places and instants are that many each."""

PAGE = graph.number(4096)
"""Bytes of a page of the operating system, where data structures begin."""

MOST_APART = 4
"""Data structures whose lines in a set are added one by one; the others are one."""


def missing_share(own: Nest, arrays: list[tuple[Nest, Expr]], all_lines: Expr, level: Level) -> Expr:
    """The share of an array's lines that are gone when the block first touches them.

    `arrays` are the nests of the block with the lines of each, the array itself first; `all_lines` are those of all
    data structures. They were swept from begin to end, a place u in [0, 1] of each at a time; a line at u is
    touched by the block at the share v of the first pass of the array's outermost loop. Between the two lie, of each
    structure, the lines behind u and those before u that the block has touched by then. The line is there if its set
    has room for them.
    """
    held = graph.add(*(lines for _, lines in arrays))
    rest = graph.apply("max", 0, all_lines - held)
    touched = [_touched(own, nest, lines, level) for nest, lines in arrays]
    moments = [(u, u) for u in INSTANTS] if in_order(own) else [*product(FEW_INSTANTS, repeat=2)]
    kept = []
    for u, v in moments:
        between = [part(u, v) for part in touched]
        kept.append(_kept([*between, graph.apply("min", rest, _behind(rest, u, level))], level))
    return 1 - graph.add(*kept) / len(kept)


def _behind(lines: Expr, u: Expr, level: Level) -> Expr:
    """The lines behind a place, its own among them, as those of its set say: in each set a whole number."""
    return graph.apply("ceil", lines * (1 - u) / level.sets) * level.sets


def _touched(own: Nest, nest: Nest, lines: Expr, level: Level) -> Callable[[Expr, Expr], Expr]:
    """The lines of an array between the sweep of a place u and the share v of the pass: all of one that is faster, all
    but those from v to u of one that goes along, u v of those before u of one that is walked across, and f v of those
    of a slower one, f its share in a pass."""
    if nest.outermost < own.outermost:
        return lambda u, v: lines
    if nest.outermost > own.outermost:
        part = nest.lines(own.outermost, level.line)
        return lambda u, v: graph.apply("min", lines, _behind(lines, u, level) + part * v)
    if in_order(nest):
        return lambda u, v: lines if u is v else lines * (1 - graph.apply("max", 0, u - v))
    return lambda u, v: graph.apply("min", lines, _behind(lines, u, level) + lines * u * v)


def _kept(between: Sequence[Expr], level: Level) -> Expr:
    """The chance that a set has room for the lines of some structures, the first that of the line and the last all
    that no access of the block touches. A way of a page or
    less has equal places for all of them; in larger caches each begins anywhere."""
    *most, last, rest = between
    runs = [value for lines in (*most, last + rest) for value in (1, lines * level.line, 0, 0, 1, 0, 0)]
    together = graph.apply("share_kept", level.room, level.line, level.whole_sets, 0, *runs)
    mine, *others = (lines / level.sets for lines in between)
    if len(others) > MOST_APART:
        others = [*others[: MOST_APART - 1], graph.add(*others[MOST_APART - 1 :])]
    loads = [value for load in others for value in (load, graph.ONE)]
    apart = graph.apply("lines_with_room", level.room, graph.apply("max", 1, mine), *loads)
    return graph.if_else(graph.compare("<=", level.line * level.sets, PAGE), together, apart)


def in_order(nest: Nest) -> bool:
    """Whether an array is touched from begin to end: its outer loops have the longer strides."""
    return all(inner < outer for inner, outer in pairwise(nest.order(len(nest.loops))))
