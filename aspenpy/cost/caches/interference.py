"""What comes between two touches of a line: which lines, in which of the cache's sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.loop import Loop
from aspenpy.cost.caches.nest import Nest, all_multiples
from aspenpy.cost.caches.siblings import covered
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

MOST_TOLD_APART = 2
"""Arrays whose sets are followed one by one; each doubles the cases."""


MOST_SWEEPS = 4
"""Trips up to which a loop may be sweeps that follow each other."""

PARTS = tuple(graph.number(k) / 8 for k in (1, 3, 5, 7))
"""Midpoints of the quarters of a window of which any part may lie between two touches."""

RARE = graph.number(1e-9)
"""A chance below which what follows from it is not asked."""


class Load(Record):
    """Lines of one array between two touches: `lines` in all, `each` in every set that they use, and the `share` of
    the cache's sets that they use.

    Where the array has moved on before the second touch, `moved` lines more lie in a set of theirs; `beside` is the
    chance of that in a set that the others use, `apart` in one that they do not.
    """

    lines: Expr
    each: Expr
    share: Expr
    moved: Expr = graph.ZERO
    beside: Expr = graph.ZERO
    apart: Expr = graph.ZERO

    def where(self, there: bool) -> list[Expr]:
        """Loads and their chances, as `lines_with_room` takes them, in a set that the array uses or does not use."""
        return ([self.each, graph.ONE] if there else []) + self.after(there)

    def part(self, share: Expr) -> Load:
        """That share of the lines, in the same sets."""
        return self.replace(lines=self.lines * share, each=self.each * share, moved=self.moved * share)

    def after(self, there: bool) -> list[Expr]:
        """Those of the lines that it has moved on to."""
        return [] if self.moved is graph.ZERO else [self.moved, self.beside if there else self.apart]


class Neighbours(Record):
    """What else is touched between two touches of a line: by other nests of the same data structure (`siblings`), and
    by those of each other structure (`others`). Nests of one structure touch no more lines than it has."""

    siblings: tuple[Nest, ...]
    others: tuple[tuple[Nest, ...], ...]

    @property
    def depend(self) -> bool:
        """Whether one of them has loops that depend on each other."""
        return any(nest.depends for nests in (self.siblings, *self.others) for nest in nests)

    def of(self, own: Nest, sibling: Nest) -> Neighbours:
        """Those of a sibling."""
        return self.replace(siblings=(own, *(nest for nest in self.siblings if nest is not sibling)))

    def lines(self, level: Level) -> list[Expr]:
        """Of each other structure, all that the block touches."""
        return [footprint(nests, level) for nests in self.others]


def footprint(nests: Sequence[Nest], level: Level) -> Expr:
    """Lines of one data structure that its nests touch: those of the longest."""
    lines = [nest.lines(len(nest.loops), level.line) for nest in nests]
    return graph.apply("max", *lines) if len(lines) > 1 else lines[0]


def footprint_sets(nests: Sequence[Nest], lines: Expr, level: Level) -> Expr:
    """The sets that hold those lines."""
    sets = [_sets(nest, len(nest.loops), lines, [], level) for nest in nests]
    return graph.apply("max", *sets) if len(sets) > 1 else sets[0]


class Window(Record):
    """Between the touches of a line in two passes of the loop `carried` (1 is the innermost).

    Everything touched by the innermost `depth` loops comes between. The access itself is at some place of the loop
    `place`; what lies within is touched both behind that place in the one pass and before it in the next, and where
    the arrays move on between the passes these are different lines.
    """

    carried: int
    depth: int
    place: int


def window(nest: Nest, carried: int) -> Window:
    """Loops in which the access stands still touch the line to the end, so that they do not part the touches."""
    depth = carried - 1
    while depth and nest.loops[depth - 1].repeats:
        depth -= 1
    place = max((k for k in range(1, depth + 1) if nest.loops[k - 1].moves), default=0)
    return Window(carried, depth, place)


def load(nest: Nest, between: Window, level: Level) -> Load:
    """What one array brings into the window."""
    inner = nest.lines(between.depth, level.line)
    covered = _sets(nest, between.depth, inner, [], level)
    still = Load(inner, inner / covered, covered / level.sets)
    shifts = [loop for loop in nest.loops[between.depth : between.carried] if loop.moves]
    if between.place <= 1 or not shifts:
        return still
    again = graph.apply("min", nest.lines(between.place - 1, level.line), _moved_on(nest, between, level))
    more = _sets(nest, between.place - 1, again, [], level)
    both = _sets(nest, between.depth, inner + inner, shifts, level)
    fresh = graph.apply("min", 1, graph.apply("max", 0, (both - covered) / covered))
    others = graph.apply("max", 1, level.sets - covered)
    return still.replace(
        lines=inner + again,
        moved=again / graph.apply("max", RARE, more),
        beside=more * (1 - fresh) / covered,
        apart=graph.apply("min", 1, more * fresh / others),
    )


def sets_of(nest: Nest, depth: int, lines: Expr, level: Level) -> Expr:
    """The sets in which so many lines lie, among those of the innermost loops of a nest."""
    return _sets(nest, depth, lines, [], level)


def _sets(nest: Nest, depth: int, lines: Expr, shifts: list[Loop], level: Level) -> Expr:
    """The sets that some lines lie in, those of two passes of the loops `shifts` together; their number is estimated,
    and may be lower than the sets found."""
    if nest.dense(depth) and not shifts:
        return graph.apply("min", level.sets, lines)
    loops = [part for loop in nest.moving(depth) for part in (loop.stride, loop.trips)]
    loops += [part for loop in shifts for part in (loop.stride, graph.number(2))]
    return graph.apply("min", graph.apply("sets_touched", nest.word, level.line, level.sets, *loops), lines)


def _moved_on(nest: Nest, between: Window, level: Level) -> Expr:
    """Lines of the next pass that the one before did not touch."""
    inner = nest.lines(between.depth, level.line)
    if between.depth < between.carried - 1:
        return inner
    loop = nest.loops[between.carried - 1]
    grown = nest.lines(between.carried, level.line) - inner
    others = graph.apply("max", 1, loop.trips - 1)
    return graph.apply("max", 0, grown / others)


def overlap(own: Nest, other: Nest, there: Load, between: Window, level: Level) -> Expr:
    """The share of one array's sets that another uses, too, where the two move in step; 0 where they do not.

    They are in step when the difference of their addresses stays, taken around the sets, within what the other touches
    in the window: loops outside it move both alike, or by less than a line and so only along. Where that difference is
    one of whole steps of the other, one of its runs is there; where it is so only around the cache, as many of those
    places have a run as its sets (`there`) say. Arrays begin at equal places of the cache, as those on pages of their
    own do.
    """
    period = other.period(between.depth, level.line, level.whole_sets)
    extent = own.run(between.depth, level.line)
    differences = []
    for mine, theirs in zip(own.loops[between.depth :], other.loops[between.depth :], strict=True):
        if mine.stride is theirs.stride:
            continue
        drift = graph.apply("abs", mine.stride - theirs.stride)
        trips = graph.apply("max", mine.trips, theirs.trips)
        along = graph.compare("<", drift, level.line)
        way = drift * (trips - 1)
        extent += graph.if_else(along, way, 0)
        differences.append(graph.if_else(along, 0, drift))
    differences += [
        graph.if_else(graph.compare("<", loop.stride, level.line), 0, loop.stride) for loop in own.moving(between.depth)
    ]
    reach = graph.apply("max", level.line, other.run(between.depth, level.line))
    together = graph.apply("min", 1, reach / graph.apply("max", level.line, extent))
    filled = there.share * period / graph.apply("min", reach, period)
    around = together * graph.apply("min", 1, filled)
    within = all_multiples(differences, graph.apply("max", 1, other.pitch(between.depth, level.line)))
    in_step = graph.if_else(within, together, around)
    return graph.if_else(all_multiples(differences, period), in_step, 0)


def reuse(own: Nest, others: Neighbours, carried: int, level: Level) -> tuple[Expr, Expr]:
    """The share of the touches that the loop `carried` repeats and that find their line, and the lines in between.

    Where the loop goes on where the loops inside have ended, its passes share the line at the seam, which is touched
    twice in a row.
    """
    between = window(own, carried)
    share, lines = hits(own, others, between, level)
    inner = own.moving(carried - 1)
    loop = own.loops[carried - 1]
    if not inner or not loop.moves or own.order(carried)[-1] != carried - 1:
        return share, lines
    gap = graph.apply("abs", loop.stride - own.span(inner))
    seam, few = hits(own, others, Window(carried, 0, 0), level)
    goes_on = graph.compare("<", gap, level.line)
    return graph.if_else(goes_on, seam, share), graph.if_else(goes_on, few, lines)


def reuse_of_sibling(own: Nest, sibling: Nest, others: Neighbours, level: Level) -> tuple[Expr, Expr]:
    """The share of a nest's first touches that find the line where a sibling has left it, and the lines in between.

    The sibling has been everywhere within a pass of the loops that it moves in; where both move alike in the outer of
    these, within one of the loops inside them. Where both move in the outermost of them, each in its own direction, as
    a matrix and its transpose, any part of all comes in between, each as likely.
    """
    pairs = enumerate(zip(own.loops, sibling.loops, strict=True), 1)
    different = max((depth for depth, (mine, theirs) in pairs if mine.stride is not theirs.stride), default=0)
    passed = min(different, sibling.outermost)
    crossing = passed and own.loops[passed - 1].moves and sibling.loops[passed - 1].moves
    parts = PARTS if crossing else (graph.ONE,)
    between, beside = window(sibling, passed + 1), others.of(own, sibling)
    shares, lines = zip(*(hits(sibling, beside, between, level, part) for part in parts), strict=True)
    return graph.add(*shares) / len(parts), graph.add(*lines) / len(parts)


def hits(own: Nest, others: Neighbours, between: Window, level: Level, part: Expr = graph.ONE) -> tuple[Expr, Expr]:
    """The share of the reuses in the window, or in that part of it, that find their line, and the lines in between.

    A set keeps its lines while no more of them are in use than it has ways. The loads of its arrays are whole numbers:
    one of 8.3 on average is 9 in three sets of ten, in whichever sets those of the others are higher.
    """
    mine = load(own, between, level)
    arrays = _arrays(own, mine, others, between, level)
    if part is not graph.ONE:
        mine, arrays = mine.part(part), [array.replace(load=array.load.part(part)) for array in arrays]
    met = []
    for array in arrays:
        own_there = overlap(own, array.nest, array.load, between, level)
        shared = overlap(array.nest, own, mine, between, level) * (array.load.share / mine.share)
        met.append(graph.apply("max", array.load.share, own_there, shared))
    often = [_presence(own, array.nest, between) for array in arrays]
    met = [chance * part for chance, part in zip(met, often, strict=True)]
    in_set = [mine.each, *mine.after(there=True)]
    for array, chance in zip(arrays[MOST_TOLD_APART:], met[MOST_TOLD_APART:], strict=True):
        in_set += [array.load.each, chance] * array.count
    apart = arrays[:MOST_TOLD_APART]
    common = {
        (later, earlier): overlap(later.nest, earlier.nest, earlier.load, between, level)
        for place, later in enumerate(apart)
        for earlier in apart[:place]
    }
    lines = (array.count * array.load.lines * part for array, part in zip(arrays, often, strict=True))
    share = _cases(list(zip(apart, met, strict=False)), [], in_set, common, level)
    return share, graph.add(mine.lines, *lines)


def _presence(own: Nest, other: Nest, between: Window) -> Expr:
    """How often another access takes place in the window. One that stands outside of a loop that parts the touches does
    not; of two or three sweeps that follow each other, written as a loop, it is in one."""
    pairs = list(zip(own.loops, other.loops, strict=True))[between.depth :]
    outside = [mine.trips for mine, theirs in pairs if theirs.trips is graph.ONE and mine.trips is not graph.ONE]
    if any((graph.whole_number(trips) or MOST_SWEEPS + 1) > MOST_SWEEPS for trips in outside):
        return graph.ZERO
    return graph.ONE / graph.mul(*outside)


def _different(nests: Sequence[Nest], before: Sequence[Nest], between: Window) -> tuple[Nest, ...]:
    """Nests of one array without those that touch in the window only what another of them touches."""
    kept = list[Nest]()
    for nest in nests:
        covers = (covered(nest, other) for other in (*before, *kept))
        if not any(cover is not None and cover.depth <= between.depth for cover in covers):
            kept.append(nest)
    return tuple(kept)


class _Array(Record):
    """Arrays that are touched alike, so many of them: they lie in the same sets."""

    nest: Nest
    count: int
    load: Load


def _arrays(own: Nest, mine: Load, others: Neighbours, between: Window, level: Level) -> list[_Array]:
    """The other arrays in the window, and other nests of the same array with what they add to its lines."""
    different = [_different(nests, (), between) for nests in others.others]
    alone = Counter(nests[0] for nests in different if len(nests) == 1)
    arrays = [_Array(nest, count, load(nest, between, level)) for nest, count in alone.items()]
    for nests in different:
        if len(nests) > 1:
            arrays += _within(nests, nests, None, between, level)
    siblings = _different(others.siblings, (own,), between)
    if siblings:
        arrays += _within(siblings, (own, *others.siblings), mine, between, level)
    return arrays


def _within(
    nests: Sequence[Nest], structure: Sequence[Nest], taken: Load | None, between: Window, level: Level
) -> list[_Array]:
    """Nests of one array, beside what another of it has taken: together they touch no more lines than the array has,
    and no more in a set than it has there."""
    arrays, room = [], footprint(structure, level)
    deepest = room / footprint_sets(structure, room, level)
    if taken is not None:
        room, deepest = room - taken.lines, deepest - taken.each
    for nest in nests:
        whole = load(nest, between, level)
        lines = graph.apply("min", whole.lines, graph.apply("max", 0, room))
        each = graph.apply("min", whole.each * lines / whole.lines, graph.apply("max", 0, deepest))
        arrays.append(_Array(nest, 1, whole.part(lines / whole.lines).replace(each=each)))
        room, deepest = room - lines, deepest - each * whole.share
    return arrays


def _cases(
    arrays: list[tuple[_Array, Expr]],
    seen: list[tuple[_Array, Expr, bool]],
    in_set: list[Expr],
    common: Mapping[tuple[_Array, _Array], Expr],
    level: Level,
) -> Expr:
    """The share of sets that keep their lines, by which of the arrays use them. `seen` are the arrays decided so far,
    each with its chance: one that moves in step with another uses the sets that the other uses (`common`)."""
    if not arrays:
        return graph.apply("lines_with_room", level.room, *in_set)
    (array, alone), *rest = arrays
    chance = alone
    for other, other_chance, there in seen:
        shared = common[array, other]
        both = graph.apply("min", shared * alone, other_chance)
        given = (
            both / graph.apply("max", other_chance, RARE)
            if there
            else (alone - both) / graph.apply("max", 1 - other_chance, RARE)
        )
        in_step = graph.compare(">", shared, 0)
        chance = graph.if_else(in_step, graph.apply("min", 1, given), chance)
    total = graph.ZERO
    for there, weight in ((True, chance), (False, graph.sub(graph.ONE, chance))):
        held = [*in_set, *array.load.where(there) * array.count]
        total += weight * _cases(rest, [*seen, (array, alone, there)], held, common, level)
    return total


def kept(in_set: Expr, level: Level) -> Expr:
    """The share of lines in sets with no more lines in use than ways, where sets have `in_set` on average."""
    return graph.apply("lines_with_room", level.room, in_set)
