"""Warm data: the part of those swept before a block began that a cache still holds, all structures side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product

from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest
from aspenpy.expr import graph
from aspenpy.expr.cache_windows import ONE_RUN
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.record import Record

INSTANTS = tuple(graph.number(k) / 16 for k in range(1, 16, 2))
"""When in the first pass a line is touched, as a share of the pass: the midpoints of its eighths."""

STILL_TO_COME = {u: 1 - u for u in INSTANTS}
"""The share of the pass that comes after each."""

FEW_INSTANTS = INSTANTS[::2]
"""Where the place of a line does not follow from when it is touched, places and instants are that many each."""

PLAIN_RUN = tuple(map(graph.number, ONE_RUN))
PAGE = graph.number(4096)
"""Bytes of a page of the operating system, where data structures begin."""

MOST_APART = 4
"""Data structures whose lines in a set are added one by one; the others are one."""


class PassOfLoop(Record):
    """Lines that each pass of a loop touches: of the table that a block draws from (`own`), of other `tables`, with all
    that these have, of what each pass touches again (`still`), and of what the passes go on in (`moving`)."""

    own: Expr
    tables: tuple[tuple[Expr, Expr], ...]
    still: Expr
    moving: Expr


class Swept(Record):
    """Data touched since a block last touched a data structure, in lines of a cache: all of one `age` was swept side by
    side, from begin to end. By name `ages` of the structures of the block, -1 for what was not touched until then, and
    the `lines` that were swept of them; the `rest` with their ages. Where loops around the block go on in the
    structure, `sweep` are the lines that they touch of those of the block in which they go on, and `beside` those of
    others, with their ages, and whether they go on in them."""

    ages: Mapping[str | None, int]
    lines: Mapping[str, Expr]
    rest: tuple[tuple[int, Expr], ...]
    sweep: Mapping[str, Expr] | None = None
    beside: tuple[tuple[int, Expr, bool], ...] = ()
    each: PassOfLoop | None = None

    def of(self, names: Sequence[str | None]) -> Expr:
        """The lines of those of some names, the first of them touched again, and of the rest."""
        known = (self.lines[name] for name in names if name is not None and name in self.lines)
        rest = (lines for age, lines in self.rest if age >= self.ages[names[0]])
        return graph.add(*known, *rest, *(lines for _, lines, _ in self.beside))


class Last(Record):
    """A way in which a structure was touched last: the share of a block's executions that come after it, times that of
    the lines of a table of which it is so (`part`), and what was `swept` since; None where nothing has touched it."""

    share: Expr
    swept: Swept | None
    part: Expr = graph.ONE


COLD = Last(graph.ONE, None)
"""Nothing has touched it."""

Memory = Callable[[flow.Requirement, Expr, bool, bool], Sequence[Last]]
"""How the structure of a requirement was touched last, in lines of so many bytes; whether it is certainly warm, and
whether only stores count."""


Between = Expr | Callable[[Expr, Expr], Expr]
"""The lines of a structure that lie between the sweep of a place and a share of the pass, the same for all of them or
by the two."""


def missing_share(
    touched: Sequence[tuple[AccessNest, Expr]], names: Sequence[str | None], swept: Swept, level: Level
) -> Expr:
    """The share of an array's lines that are gone when the block first touches them.

    `touched` are the nests of the block with the lines of each, the array itself first, and `names` those of their
    structures. Of what was swept at the same time, a place u in [0, 1] of each at a time, lie between the sweep and the
    share v of the first pass of the array's outermost loop, when the block comes to u: the lines behind u, and those
    before u that the block has touched by then. Of what was swept later lie all between; of what was swept before, what
    the block has touched by then. The line is there if its set has room for them. Where loops around the block go on in
    the array, the pass is one of all of them.
    """
    (own, _), *_ = touched
    age, parts = swept.ages[names[0]], list[Between]()
    between, unnamed = list[Between](), list[Expr]()
    for name, (nest, lines) in zip(names, touched, strict=True):
        later = swept.ages[name] - age
        if swept.sweep is None or name is None:
            part = _lines_between_sweeps(own, nest, lines, level, later)
        else:
            lines = swept.sweep.get(name, lines)
            part = _lines_of_pass(lines, later, name in swept.sweep)
        size = swept.lines.get(name, graph.ZERO) if name is not None and later >= 0 else graph.ZERO
        untouched = graph.ZERO if size is lines else graph.apply("max", 0, size - lines)
        parts.append(part)
        between.append(_sum_of_both(part, _untouched_lines(untouched, later, level.sets)))
        unnamed += [lines] if name is None else []
    between += [_lines_of_pass(lines, number - age, moves) for number, lines, moves in swept.beside]
    rest = [(number - age, lines) for number, lines in swept.rest if number >= age]
    if unnamed:
        rest = [(0, graph.apply("max", 0, graph.add(*(lines for _, lines in rest)) - graph.add(*unnamed)))]
    if len(rest) > MOST_APART:
        since = graph.add(*(lines for later, lines in rest if later))
        rest = [*((0, lines) for later, lines in rest if not later), (1, since)]
    between += [_untouched_lines(lines, later, level.sets) for later, lines in rest]
    in_step = swept.sweep is not None or in_order(own)
    moments = [(u, u) for u in INSTANTS] if in_step else [*product(FEW_INSTANTS, repeat=2)]
    crowding = _crowding(own, touched[0][1], level)
    plain = crowding is graph.ONE
    crowded = graph.ZERO if plain else lambda u, v: _at_moment(parts[0], u, v) * crowding
    kept = _kept_at(moments, between, crowded, level)
    return 1 - (kept[0] if len({*kept}) == 1 else graph.add(*kept) / len(kept))


def _kept_at(
    moments: Sequence[tuple[Expr, ...]], between: Sequence[Between], crowded: Between, level: Level
) -> list[Expr]:
    """The chances at some moments. Of the structure itself, which comes first, the set has the `crowded` lines at
    least: what is left of it lies in other sets, too."""
    kept = list[Expr]()
    for u, v in moments:
        mine, *others = (_at_moment(lines, u, v) for lines in between)
        least = _at_moment(crowded, u, v)
        mine = mine if least is graph.ZERO else graph.apply("max", mine, least)
        kept.append(_chance_kept((mine, *others), level.room, level.line, level.sets, level.whole_sets))
    return kept


def _at_moment(lines: Between, u: Expr, v: Expr) -> Expr:
    return lines if isinstance(lines, Expr) else lines(u, v)


def _crowding(nest: AccessNest, lines: Expr, level: Level) -> Expr:
    """Ratio of a nest's lines in each set that it touches to those if they lay side by side."""
    depth = len(nest.loops)
    if nest.dense(depth) or nest.is_triangular:
        return graph.ONE
    touched = [part for loop in nest.moving(depth) for part in (loop.stride, loop.trips)]
    if not touched:
        return graph.ONE
    met = graph.apply("sets_touched", nest.word, level.line, level.whole_sets, *touched)
    several = graph.compare(">=", lines, 2 * met)  # in a set, though it has fewer lines than there are sets
    alike = graph.apply("max", 1, graph.apply("min", level.sets, lines) / met)
    return graph.if_else(several, level.sets / met, alike)


def _lines_of_pass(lines: Expr, later: int, moves: bool) -> Between:
    """The lines of an array between two touches of a place in one that loops around the block go on in: all, and of one
    in which they go on, and that was swept before, those that the loops have touched by then."""
    return (lambda u, v: lines * v) if later < 0 and moves else lines


def _untouched_lines(lines: Expr, later: int, sets: Expr) -> Between:
    """The lines of what no access of the block touches: those behind a place, and all that were swept later."""
    return lines if later or lines is graph.ZERO else lambda u, v: graph.apply("min", lines, _behind(lines, u, sets))


@lru_cache(maxsize=16384)
def _sum_of_both(first: Between, second: Between) -> Between:
    """Lines between two touches in all."""
    if second is graph.ZERO:
        return first
    if isinstance(first, Expr) and isinstance(second, Expr):
        return first + second
    return lambda u, v: graph.add(*(lines if isinstance(lines, Expr) else lines(u, v) for lines in (first, second)))


@lru_cache(maxsize=16384)
def _behind(lines: Expr, u: Expr, sets: Expr) -> Expr:
    """The lines behind a place, its own among them, as those of its set say: in each set a whole number."""
    return graph.apply("ceil", lines * STILL_TO_COME[u] / sets) * sets


def _lines_between_sweeps(own: AccessNest, nest: AccessNest, lines: Expr, level: Level, later: int) -> Between:
    """The lines of an array between the sweep of a place u and the share v of the pass: all of one that is faster, all
    but those from v to u of one that goes along, u v of those before u of one that is walked across, and f v of those
    of a slower one, f its share in a pass. All of one that was swept `later`, and of one that was swept before (-1)
    what the block has touched by then."""
    if later > 0 or nest.outermost < own.outermost:
        return lines
    part = nest.lines(own.outermost, level.line) if nest.outermost > own.outermost else lines
    if later < 0:
        return lambda u, v: part * v
    if nest.outermost > own.outermost:
        return lambda u, v: graph.apply("min", lines, _behind(lines, u, level.sets) + part * v)
    if in_order(nest):
        return lambda u, v: lines if u is v else lines * (1 - graph.apply("max", 0, u - v))
    return lambda u, v: graph.apply("min", lines, _behind(lines, u, level.sets) + lines * u * v)


@lru_cache(maxsize=4096)
def _chance_kept(between: tuple[Expr, ...], room: Expr, line: Expr, sets: Expr, whole_sets: Expr) -> Expr:
    """The chance that a set has room for the lines of some structures, the first that of the line. A way that divides a
    page has equal places for all of them; in other caches each begins anywhere."""
    mine, *others = between
    if len(others) > MOST_APART:
        others = [*others[: MOST_APART - 1], graph.add(*others[MOST_APART - 1 :])]
    runs = [value for lines in (mine, *others) for value in (graph.ONE, lines * line, *PLAIN_RUN)]
    together = graph.apply("share_kept", room, line, whole_sets, 0, *runs)
    mine, *others = (lines / sets for lines in (mine, *others))
    loads = [value for load in others for value in (load, graph.ONE)]
    apart = graph.apply("lines_with_room", room, graph.apply("max", 1, mine), *loads)
    return graph.if_else(graph.compare("==", graph.apply("mod", PAGE, line * sets), 0), together, apart)


def in_order(nest: AccessNest) -> bool:
    """Whether an array is touched from begin to end: its outer loops have the longer strides."""
    return all(inner < outer for inner, outer in pairwise(nest.order(len(nest.loops))))
