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
    """The data structures that were swept before a block began, each from begin to end, and those of one `age` side by
    side. By name those that the block may touch, with their bytes where they are known; -1 is the age of what was not
    touched until then. The `rest` with ages and bytes, which accesses that name none may touch."""

    sizes: Mapping[str, Expr]
    ages: Mapping[str | None, int]
    rest: tuple[tuple[int, Expr], ...]

    def of(self, names: Sequence[str | None]) -> Expr:
        """The bytes of those of some names, the first of them warm, and of the rest."""
        known = (self.sizes[name] for name in names if name is not None and name in self.sizes)
        return graph.add(*known, *(size for age, size in self.rest if age >= self.ages[names[0]]))


def missing_share(
    touched: Sequence[tuple[Nest, Expr]], names: Sequence[str | None], swept: Swept, level: Level
) -> Expr:
    """The share of an array's lines that are gone when the block first touches them.

    `touched` are the nests of the block with the lines of each, the array itself first, and `names` those of their
    structures. Of what was swept at the same time, a place u in [0, 1] of each at a time, lie between the sweep and the
    share v of the first pass of the array's outermost loop, when the block comes to u: the lines behind u, and those
    before u that the block has touched by then. Of what was swept later lie all between; of what was swept before, what
    the block has touched by then. The line is there if its set has room for them.
    """
    (own, _), *_ = touched
    age = swept.ages[names[0]]
    parts, beside, unnamed = [], [], list[Expr]()
    for name, (nest, lines) in zip(names, touched, strict=True):
        later = swept.ages[name] - age
        parts.append(_lines_between_sweeps(own, nest, lines, level, later))
        size = swept.sizes.get(name, graph.ZERO) if name is not None and later >= 0 else graph.ZERO
        beside.append((later, graph.apply("max", 0, size / level.line - lines)))
        unnamed += [lines] if name is None else []
    rest = [(number - age, size / level.line) for number, size in swept.rest if number >= age]
    if unnamed:
        rest = [(0, graph.apply("max", 0, graph.add(*(lines for _, lines in rest)) - graph.add(*unnamed)))]
    moments = [(u, u) for u in INSTANTS] if in_order(own) else [*product(FEW_INSTANTS, repeat=2)]
    kept = []
    for u, v in moments:
        between = [
            part(u, v) + _untouched_lines(lines, u, later, level)
            for part, (later, lines) in zip(parts, beside, strict=True)
        ]
        kept.append(
            _chance_kept([*between, *(_untouched_lines(lines, u, later, level) for later, lines in rest)], level)
        )
    return 1 - graph.add(*kept) / len(kept)


def _untouched_lines(lines: Expr, u: Expr, later: int, level: Level) -> Expr:
    """The lines of what no access of the block touches: those behind a place, and all that were swept later."""
    return lines if later else graph.apply("min", lines, _behind(lines, u, level))


def _behind(lines: Expr, u: Expr, level: Level) -> Expr:
    """The lines behind a place, its own among them, as those of its set say: in each set a whole number."""
    return graph.apply("ceil", lines * (1 - u) / level.sets) * level.sets


def _lines_between_sweeps(own: Nest, nest: Nest, lines: Expr, level: Level, later: int) -> Callable[[Expr, Expr], Expr]:
    """The lines of an array between the sweep of a place u and the share v of the pass: all of one that is faster, all
    but those from v to u of one that goes along, u v of those before u of one that is walked across, and f v of those
    of a slower one, f its share in a pass. All of one that was swept `later`, and of one that was swept before (-1)
    what the block has touched by then."""
    if later > 0 or nest.outermost < own.outermost:
        return lambda u, v: lines
    part = nest.lines(own.outermost, level.line) if nest.outermost > own.outermost else lines
    if later < 0:
        return lambda u, v: part * v
    if nest.outermost > own.outermost:
        return lambda u, v: graph.apply("min", lines, _behind(lines, u, level) + part * v)
    if in_order(nest):
        return lambda u, v: lines if u is v else lines * (1 - graph.apply("max", 0, u - v))
    return lambda u, v: graph.apply("min", lines, _behind(lines, u, level) + lines * u * v)


def _chance_kept(between: Sequence[Expr], level: Level) -> Expr:
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
