"""Warm data: the part of those swept before a block began that a cache still holds, all structures side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest
from aspenpy.expr import graph
from aspenpy.expr.cache_sweeps import BESIDE_THE_ONE_BEFORE, MOST_APART, Between
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.record import Record


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


Term = tuple[int, Expr, Expr]
"""A term of `share_still_held`: the `Between` of a structure, its lines, and the part of which v counts."""


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
    age = swept.ages[names[0]]
    between, unnamed = list[Term](), list[Expr]()
    for name, (nest, lines) in zip(names, touched, strict=True):
        later = swept.ages[name] - age
        if swept.sweep is None or name is None:
            part = _lines_between_sweeps(own, nest, lines, level, later)
        else:
            lines = swept.sweep.get(name, lines)
            part = _lines_of_pass(lines, later, name in swept.sweep)
        between.append(part)
        size = swept.lines.get(name, lines) if name is not None and later >= 0 else lines
        if size is not lines:
            which, untouched, _ = _untouched_lines(graph.apply("max", 0, size - lines), later)
            between.append((BESIDE_THE_ONE_BEFORE - which, untouched, graph.ZERO))
        unnamed += [lines] if name is None else []
    between += [_lines_of_pass(lines, number - age, moves) for number, lines, moves in swept.beside]
    rest = [(number - age, lines) for number, lines in swept.rest if number >= age]
    if unnamed:
        rest = [(0, graph.apply("max", 0, graph.add(*(lines for _, lines in rest)) - graph.add(*unnamed)))]
    if len(rest) > MOST_APART:
        since = graph.add(*(lines for later, lines in rest if later))
        rest = [*((0, lines) for later, lines in rest if not later), (1, since)]
    between += [_untouched_lines(lines, later) for later, lines in rest]
    in_step = graph.ONE if swept.sweep is not None or in_order(own) else graph.ZERO
    cache = level.room, level.line, level.sets, level.whole_sets
    terms = (value for which, lines, part in between for value in (int(which), lines, part))
    return 1 - graph.apply("share_still_held", *cache, in_step, _crowding(own, touched[0][1], level), *terms)


def _crowding(nest: AccessNest, lines: Expr, level: Level) -> Expr:
    """Ratio of a nest's lines in each set that it touches to those if they lay side by side."""
    depth = len(nest.loops)
    if nest.dense(depth) or nest.is_triangular:
        return graph.ONE
    touched = [part for loop in nest.moving_loops(depth) for part in (loop.stride, loop.trips)]
    if not touched:
        return graph.ONE
    met = graph.apply("sets_touched", nest.word, level.line, level.whole_sets, *touched)
    several = graph.compare(">=", lines, 2 * met)  # in a set, though it has fewer lines than there are sets
    alike = graph.apply("max", 1, graph.apply("min", level.sets, lines) / met)
    return graph.if_else(several, level.sets / met, alike)


def _lines_of_pass(lines: Expr, later: int, moves: bool) -> Term:
    """The lines of an array between two touches of a place in one that loops around the block go on in: all, and of one
    in which they go on, and that was swept before, those that the loops have touched by then."""
    return (Between.PASSED if later < 0 and moves else Between.ALL), lines, graph.ZERO


def _untouched_lines(lines: Expr, later: int) -> Term:
    """The lines of what no access of the block touches: those behind a place, and all that were swept later."""
    return (Between.ALL if later or lines is graph.ZERO else Between.BEHIND), lines, graph.ZERO


def _lines_between_sweeps(own: AccessNest, nest: AccessNest, lines: Expr, level: Level, later: int) -> Term:
    """The lines of an array between the sweep of a place u and the share v of the pass: all of one that is faster, all
    but those from v to u of one that goes along, u v of those before u of one that is walked across, and f v of those
    of a slower one, f its share in a pass. All of one that was swept `later`, and of one that was swept before (-1)
    what the block has touched by then."""
    if later > 0 or nest.outermost < own.outermost:
        return Between.ALL, lines, graph.ZERO
    part = nest.lines(own.outermost, level.line) if nest.outermost > own.outermost else lines
    if later < 0:
        return Between.PASSED, part, graph.ZERO
    if nest.outermost > own.outermost:
        return Between.BEHIND_AND_PASSED, lines, part
    return (Between.ALL_BUT_V_TO_U if in_order(nest) else Between.BEHIND_AND_CROSSED), lines, graph.ZERO


def in_order(nest: AccessNest) -> bool:
    """Whether an array is touched from begin to end: its outer loops have the longer strides."""
    return all(inner < outer for inner, outer in pairwise(nest.order(len(nest.loops))))
