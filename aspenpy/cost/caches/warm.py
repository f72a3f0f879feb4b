"""What a cache still holds of data that were swept before the block began, all structures side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product

from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import Nest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

INSTANTS = tuple(graph.number(k) / 16 for k in range(1, 16, 2))
"""When in the first pass a line is touched, as a share of the pass: the midpoints of its eighths."""

FEW_INSTANTS = INSTANTS[::2]
"""Where the place of a line does not follow from when it is touched, places and instants are that many each."""

PAGE = graph.number(4096)
"""Bytes of a page of the operating system, where data structures begin."""

MOST_APART = 4
"""Data structures whose lines in a set are added one by one; the others are one."""


class Swept(Record):
    """The bytes of the data structures that were swept before a block began: of those that it touches, by name, but for
    the `untouched` until then, and the `rest`, which accesses that name none (`unnamed`) may touch."""

    sizes: Mapping[str, Expr]
    rest: tuple[Expr, ...]
    untouched: frozenset[str | None] = frozenset()
    unnamed: bool = False

    def size(self, name: str | None) -> Expr:
        """0 where nobody knows it."""
        return graph.ZERO if name is None or name in self.untouched else self.sizes.get(name, graph.ZERO)

    def of(self, names: Sequence[str | None]) -> Expr:
        """Those of a block that touches the structures of some names."""
        return graph.add(*map(self.size, names), *self.rest)


def missing_share(
    touched: Sequence[tuple[Nest, Expr]], names: Sequence[str | None], swept: Swept, level: Level
) -> Expr:
    """The share of an array's lines that are gone when the block first touches them.

    `touched` are the nests of the block with the lines of each, the array itself first. All data structures were swept
    from begin to end, a place u in [0, 1] of each at a time; a line at u is touched by the block at the share v of the
    first pass of the array's outermost loop. Between the two lie, of each structure, the lines behind u and those
    before u that the block has touched by then. The line is there if its set has room for them.
    """
    (own, _), *_ = touched
    parts = [
        _touched(own, nest, lines, level, name not in swept.untouched)
        for name, (nest, lines) in zip(names, touched, strict=True)
    ]
    beside = [
        graph.apply("max", 0, swept.size(name) / level.line - lines)
        for name, (_, lines) in zip(names, touched, strict=True)
    ]
    rest = [size / level.line for size in swept.rest]
    if swept.unnamed:
        taken = (lines for name, (_, lines) in zip(names, touched, strict=True) if name is None)
        rest = [graph.apply("max", 0, graph.add(*rest) - graph.add(*taken))]
    moments = [(u, u) for u in INSTANTS] if in_order(own) else [*product(FEW_INSTANTS, repeat=2)]
    kept = []
    for u, v in moments:
        between = [part(u, v) + _left(lines, u, level) for part, lines in zip(parts, beside, strict=True)]
        kept.append(_kept([*between, *(_left(lines, u, level) for lines in rest)], level))
    return 1 - graph.add(*kept) / len(kept)


def _left(lines: Expr, u: Expr, level: Level) -> Expr:
    """The lines behind a place of what no access of the block touches."""
    return graph.apply("min", lines, _behind(lines, u, level))


def _behind(lines: Expr, u: Expr, level: Level) -> Expr:
    """The lines behind a place, its own among them, as those of its set say: in each set a whole number."""
    return graph.apply("ceil", lines * (1 - u) / level.sets) * level.sets


def _touched(own: Nest, nest: Nest, lines: Expr, level: Level, swept: bool) -> Callable[[Expr, Expr], Expr]:
    """The lines of an array between the sweep of a place u and the share v of the pass: all of one that is faster, all
    but those from v to u of one that goes along, u v of those before u of one that is walked across, and f v of those
    of a slower one, f its share in a pass. Of one that was not swept, what the block has touched by then."""
    if nest.outermost < own.outermost:
        return lambda u, v: lines
    part = nest.lines(own.outermost, level.line) if nest.outermost > own.outermost else lines
    if not swept:
        return lambda u, v: part * v
    if nest.outermost > own.outermost:
        return lambda u, v: graph.apply("min", lines, _behind(lines, u, level) + part * v)
    if in_order(nest):
        return lambda u, v: lines if u is v else lines * (1 - graph.apply("max", 0, u - v))
    return lambda u, v: graph.apply("min", lines, _behind(lines, u, level) + lines * u * v)


def _kept(between: Sequence[Expr], level: Level) -> Expr:
    """The chance that a set has room for the lines of some structures, the first that of the line. A way of a page or
    less has equal places for all of them; in larger caches each begins anywhere."""
    mine, *others = between
    if len(others) > MOST_APART:
        others = [*others[: MOST_APART - 1], graph.add(*others[MOST_APART - 1 :])]
    runs = [value for lines in (mine, *others) for value in (1, lines * level.line, 0, 0, 1, 0, 0)]
    together = graph.apply("share_kept", level.room, level.line, level.whole_sets, 0, *runs)
    mine, *others = (lines / level.sets for lines in (mine, *others))
    loads = [value for load in others for value in (load, graph.ONE)]
    apart = graph.apply("lines_with_room", level.room, graph.apply("max", 1, mine), *loads)
    return graph.if_else(graph.compare("<=", level.line * level.sets, PAGE), together, apart)


def in_order(nest: Nest) -> bool:
    """Whether an array is touched from begin to end: its outer loops have the longer strides."""
    return all(inner < outer for inner, outer in pairwise(nest.order(len(nest.loops))))
