"""Interference between two touches of a line: which other lines come, in which of the cache's sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, pairwise, takewhile

from aspenpy.cost.caches.domain import STILL
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest, are_nearly_equal, join_nearly_equal, longest_trips, product
from aspenpy.cost.caches.siblings import are_apart, find_cover
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

PARTS = tuple((graph.number(k) / 8, graph.number(8 - k) / 16) for k in (1, 3, 5, 7))
"""Midpoints of the quarters of a pass, and the chances that so much of it lies between two of its places: 2 (1 - d),
where each is anywhere in it."""


class DrawnTable(Record):
    """A data structure of `bytes` bytes, of which a block accesses `draws` words at random. Of one that is `shared`
    each of the instances that share a cache has a part there."""

    bytes: Expr
    draws: Expr
    shared: bool = False

    def lines(self, level: Level) -> Expr:
        """All of its lines."""
        size = self.bytes / level.shares if self.shared else self.bytes
        return graph.apply("max", 1, size / level.line)

    def lines_of(self, draws: Expr, level: Level) -> Expr:
        """Different lines that `draws` random accesses touch: N (1 - (1 - 1/N)^k) of N, nearly N (1 - exp(-k/N))."""
        lines = self.lines(level)
        return lines * (1 - graph.apply("exp", -draws / lines))


class InterveningData(Record):
    """Data touched between two touches of a line: by other nests of the same data structure (`siblings`), by those of
    each other structure (`others`), at random in other `tables`, and by `draws` random accesses of others to the same
    structure. Nests of one structure touch no more lines than it has."""

    siblings: tuple[AccessNest, ...]
    others: tuple[tuple[AccessNest, ...], ...]
    tables: tuple[DrawnTable, ...] = ()
    draws: Expr = graph.ZERO

    @property
    def any_triangular(self) -> bool:
        """Whether any nest of the others has loops whose bounds depend on each other."""
        return _any_triangular(self)

    def of(self, own: AccessNest, sibling: AccessNest) -> InterveningData:
        """The neighbours of a sibling."""
        return self.replace(siblings=(own, *(nest for nest in self.siblings if nest is not sibling)))

    def lines(self, level: Level) -> list[Expr]:
        """Lines of each other structure that the block touches."""
        return [footprint(nests, level) for nests in self.others]


@lru_cache(maxsize=1024)
def _any_triangular(data: InterveningData) -> bool:
    return any(nest.is_triangular for nests in (data.siblings, *data.others) for nest in nests)


@lru_cache(maxsize=1024)
def intervening_data(
    siblings: tuple[AccessNest, ...],
    others: tuple[tuple[AccessNest, ...], ...],
    tables: tuple[DrawnTable, ...],
    draws: Expr,
) -> InterveningData:
    """The same for the same data, since what follows from it is kept by it."""
    return InterveningData(siblings, others, tables, draws)


def lines_by_share(nest: AccessNest, level: Level) -> list[tuple[Expr, Expr]]:
    """Different lines that a nest touches within a share of the block: the least of lines a + b x share, which join the
    footprints of one pass of each loop, since footprints grow ever more slowly."""
    share, lines, pieces = graph.ZERO, graph.ZERO, list[tuple[Expr, Expr]]()
    for depth, loop in enumerate(nest.longest, 1):
        if loop.trips is graph.ONE:
            continue
        wider = 1 / product(outer.trips for outer in nest.longest[depth:])
        more = nest.lines(depth, level.line)
        slope = (more - lines) / graph.apply("max", TINY, wider - share)
        pieces.append((lines - share * slope, slope))
        share, lines = wider, more
    return pieces or [(graph.ONE, graph.ZERO)]


TINY = graph.number(1e-12)
"""A share of a block that is none."""


def footprint(nests: Sequence[AccessNest], level: Level) -> Expr:
    """Lines of one data structure that its nests touch."""
    return most_lines(tuple(nests), level.line)


@lru_cache(maxsize=4096)
def most_lines(nests: tuple[AccessNest, ...], line: Expr) -> Expr:
    """Lines of the longest of some nests over one data structure: every other array of a block asks for them."""
    lines = [nest.lines(len(nest.loops), line) for nest in nests]
    return graph.apply("max", *lines) if len(lines) > 1 else lines[0]


class ReuseWindow(Record):
    """Between the touches of a line in two passes of the loop `carried` (1 is the innermost).

    Everything touched by the innermost `depth` loops comes between. The access itself is at some place of the loop
    `place`; what lies within is touched both behind that place in the one pass and before it in the next, and where
    the arrays move on between the passes these are different lines.
    """

    carried: int
    depth: int
    place: int


def reuse_window(nest: AccessNest, carried: int) -> ReuseWindow:
    """Loops in which the access stands still touch the line to the end, so that they do not part the touches."""
    depth = carried - 1
    while depth and nest.loops[depth - 1].repeats:
        depth -= 1
    place = max((k for k in range(1, depth + 1) if nest.loops[k - 1].moves), default=0)
    return ReuseWindow(carried, depth, place)


@lru_cache(maxsize=4096)
def lines_between(nest: AccessNest, between: ReuseWindow, line: Expr) -> Expr:
    """The lines that one array brings into the window: what it moves on to counts again."""
    inner = nest.lines(between.depth, line)
    if not between.place or not any(loop.moves for loop in nest.loops[between.depth : between.carried]):
        return inner
    return inner + graph.apply("min", nest.lines(between.place - 1, line), _new_lines_of_next_pass(nest, between, line))


def sets_of(nest: AccessNest, depth: int, lines: Expr, level: Level) -> Expr:
    """Number of sets with lines of the innermost `depth` loops of a nest. `lines` is an estimate of their lines and
    bounds it."""
    if nest.dense(depth):
        return graph.apply("min", level.sets, lines)
    loops = [part for loop in nest.moving_loops(depth) for part in (loop.stride, loop.trips)]
    return graph.apply("min", graph.apply("sets_touched", nest.word, level.line, level.sets, *loops), lines)


def _new_lines_of_next_pass(nest: AccessNest, between: ReuseWindow, line: Expr) -> Expr:
    """Lines of the next pass that the one before did not touch."""
    inner = nest.lines(between.depth, line)
    if between.depth < between.carried - 1:
        return inner
    loop = nest.loops[between.carried - 1]
    grown = nest.lines(between.carried, line) - inner
    others = graph.apply("max", 1, loop.trips - 1)
    return graph.apply("max", 0, grown / others)


def reuse(own: AccessNest, others: InterveningData, carried: int, level: Level) -> tuple[Expr, Expr]:
    """The share of the touches that the loop `carried` repeats and that find their line, and the lines in between.

    Where the loop goes on where the loops inside have ended, its passes share the line at the seam, which is touched
    twice in a row.
    """
    between = reuse_window(own, carried)
    share, lines = share_found(own, others, between, level)
    inner = own.moving_loops(carried - 1)
    loop = own.loops[carried - 1]
    if not inner or not loop.moves or own.order(carried)[-1] != carried - 1:
        return share, lines
    gap = graph.apply("abs", loop.stride - own.span(inner))
    seam, few = share_found(own, others, ReuseWindow(carried, 0, 0), level)
    goes_on = graph.compare("<", gap, level.line)
    return graph.if_else(goes_on, seam, share), graph.if_else(goes_on, few, lines)


def reuse_of_sibling(own: AccessNest, sibling: AccessNest, others: InterveningData, level: Level) -> tuple[Expr, Expr]:
    """The share of a nest's first touches that find the line where a sibling has left it, and the lines in between.

    The sibling has been everywhere within a pass of the loops that it moves in; where both move alike in the outer of
    these, within one of the loops inside them. Where both move in the outermost of them, each in its own direction, as
    a matrix and its transpose, a part of all comes in between, long ones less often.
    """
    pairs = enumerate(zip(own.loops, sibling.loops, strict=True), 1)
    different = max((depth for depth, (mine, theirs) in pairs if mine.stride is not theirs.stride), default=0)
    passed = min(different, sibling.outermost)
    crossing = passed and own.loops[passed - 1].moves and sibling.loops[passed - 1].moves
    parts = PARTS if crossing else ((graph.ONE, graph.ONE),)
    between, beside = reuse_window(sibling, passed + 1), others.of(own, sibling)
    found = [(*share_found(sibling, beside, between, level, part), chance) for part, chance in parts]
    share = graph.add(*(part * chance for part, _, chance in found))
    return share, graph.add(*(lines * chance for _, lines, chance in found))


def share_found(
    own: AccessNest, others: InterveningData, between: ReuseWindow, level: Level, part: Expr = graph.ONE
) -> tuple[Expr, Expr]:
    """The share of the reuses in the window, or in that part of it, that find their line, and the lines in between.

    A set keeps its lines while no more of them are in use than it has ways: they are counted set by set.
    """
    share, lines = graph.ZERO, graph.ZERO
    for window in _windows(own, others, between):
        drawn, variance = _lines_drawn(own, others.tables, between, part, level)
        numbers = _numbers_of(window, between, part, level)
        fixed = partial(_share_kept, level.line, level.whole_sets, numbers)
        kept = share_beside_draws(fixed, drawn, variance, level)
        share += window.chance * kept
        lines += window.chance * (part * _lines_of_window(window, between, level.line) + drawn)
    return share, lines


def _share_kept(line: Expr, sets: Expr, numbers: Sequence[Expr], room: Expr) -> Expr:
    return graph.apply("share_kept", room, line, sets, *numbers)


PlacedWalk = tuple[AccessNest, list[Expr]]
"""A nest, which knows where it begins, and its numbers in a window."""


class FilledWindow(Record):
    """The nests of each data structure that are in so large a share of the windows between two touches, its own first,
    and the trips of those loops outside of the window in which some of them move, by their places."""

    chance: Expr
    structures: tuple[tuple[AccessNest, ...], ...]
    outside: tuple[int, ...]
    trips: tuple[Expr, ...]


@lru_cache(maxsize=4096)
def _windows(own: AccessNest, others: InterveningData, between: ReuseWindow) -> tuple[FilledWindow, ...]:
    """The windows by what is in them. Of nests that are in some of them, those that are in fewer are where the others
    are, too."""
    every_nest = [nest for nests in (others.siblings, *others.others) for nest in nests]
    shares = {nest: _share_of_windows(own, nest, between) for nest in every_nest}
    known = {share for share in shares.values() if share.kind == "number"} - {graph.ZERO, graph.ONE}
    unknown = [share for share in dict.fromkeys(shares.values()) if share.kind != "number"]
    seldom = [graph.ONE, *sorted(known, key=lambda share: -share.payload), *unknown]
    chances = [*accumulate(seldom, partial(graph.apply, "min")), graph.ZERO]
    windows = []
    for place, (chance, fewer) in enumerate(pairwise(chances)):
        there = [
            [nest for nest in nests if shares[nest] in seldom[: place + 1]]
            for nests in (others.siblings, *others.others)
        ]
        structures = [(own, *_different(there[0], (own,), between))]
        structures += [tuple(found) for nests in there[1:] if (found := _different(nests, (), between))]
        every = [nest for nests in structures for nest in nests]
        loops = range(between.depth, max(len(nest.loops) for nest in every))
        outside = tuple([loop for loop in loops if any(nest.loops[loop].moves for nest in every)])
        trips = tuple([longest_trips(nest.longest[loop].trips for nest in every) for loop in outside])
        windows.append(FilledWindow(chance - fewer, tuple(structures), outside, trips))
    return tuple(windows)


def _numbers_of(window: FilledWindow, between: ReuseWindow, part: Expr, level: Level) -> list[Expr]:
    """A window, or that part of it, as arguments of `share_kept`. Data structures without a stated place begin at the
    same place of the cache, as on pages of their own, or, on a level that puts them `apart`, at equal distances."""
    numbers, way = [graph.number(len(window.outside)), *window.trips], level.line * level.sets
    apart = _places_apart(level.line, level.sets, len(window.structures)) if level.apart else None
    for number, walks in enumerate(_walks_of(window, between, part)):
        walks = _at_their_places(walks, level.apart, way)
        begin = graph.ZERO if apart is None else apart[number]
        numbers.append(graph.ONE if len(walks) == 1 else graph.number(len(walks)))
        for nest, walk in walks:
            known = nest.place if level.apart else nest.begin_in(way)
            numbers += walk
            numbers.append(begin if known is None else graph.apply("floor", known))
    return numbers


@lru_cache(maxsize=256)
def _places_apart(line: Expr, sets: Expr, count: int) -> list[Expr]:
    """Begins of `count` data structures that lie as far apart as possible."""
    apart = (line * graph.apply("floor", sets * number / count) for number in range(1, count))
    return [graph.ZERO, *(graph.apply("floor", place) for place in apart)]


@lru_cache(maxsize=1024)
def _walks_of(window: FilledWindow, between: ReuseWindow, part: Expr) -> tuple[list[PlacedWalk], ...]:
    """The nests of each data structure of a window, as `share_kept` takes them but for where they begin: all caches
    have the same. Those at several places at once, where no loop in the window moves them on, keep their runs."""
    structures = list[list[PlacedWalk]]()
    for nests in window.structures:
        stays = not any(loop.moves for nest in nests for loop in nest.loops[: between.depth])
        still = nests if stays else [nest.replace(runs=()) for nest in nests]
        walks = (_walk(nest, between, window.outside, part) for nest in nests)
        structures.append([*zip(still, walks, strict=True)])
    return tuple(structures)


@lru_cache(maxsize=4096)
def _lines_of_window(window: FilledWindow, between: ReuseWindow, line: Expr) -> Expr:
    """The lines that are touched in a window."""
    return graph.add(*(_lines_of(nests, between, line) for nests in window.structures))


def _at_their_places(walks: list[PlacedWalk], apart: bool, way: Expr) -> list[PlacedWalk]:
    """Walks, those of nests that are at several places at once as one for each."""
    if not any(nest.runs for nest, _ in walks):
        return walks
    found = list[PlacedWalk]()
    for nest, walk in walks:
        first = nest.place if apart else nest.begin_in(way)
        for place, length in nest.runs:
            begin = place if first is None else first + place
            found.append((nest.replace(place=graph.apply("mod", begin, way), runs=()), [length, *walk[1:]]))
        if not nest.runs:
            found.append((nest, walk))
    return found


def _lines_drawn(
    own: AccessNest, tables: Sequence[DrawnTable], between: ReuseWindow, part: Expr, level: Level
) -> tuple[Expr, Expr]:
    """The expected number of lines of tables that are touched in part of a window, and its variance: each of N lines is
    among them with the chance q (binomial, N q (1 - q)). A window is one of the passes of the loops around it."""
    passes = product(loop.trips for loop in own.longest[between.carried - 1 :])
    if passes.kind != "number":
        passes = graph.apply("max", passes, TINY)  # of a loop that a value of a parameter leaves without passes
    drawn = [(table.lines(level), table.lines_of(part * table.draws / passes, level)) for table in tables]
    return (
        graph.add(*(found for _, found in drawn)),
        graph.add(*(found * (1 - found / lines) for lines, found in drawn)),
    )


def share_beside_draws(kept: Callable[[Expr], Expr], drawn: Expr, variance: Expr, level: Level) -> Expr:
    """The mean of what is `kept` in the room that drawn lines leave in a set. Few of them come by Poisson's law, of
    which the first terms count; many by a normal law, of which three points have the mean, the variance and the
    third moment (Gauss and Hermite's quadrature), half a line up since a set has a whole number of them."""
    if drawn is graph.ZERO:
        return kept(level.room)
    mean = drawn / level.sets
    few, chance, rest = graph.ZERO, graph.apply("exp", -mean), graph.ONE
    for count in range(FEW_DRAWN):
        few, rest = few + chance * kept(level.room - count), rest - chance
        chance = chance * mean / (count + 1)
    few += rest * kept(graph.apply("max", 0, level.room - FEW_DRAWN))
    spread = graph.apply("sqrt", 3 * variance / level.sets)
    middle = level.room - mean + Fraction(1, 2)
    many = kept(middle) * Fraction(2, 3) + (kept(middle + spread) + kept(middle - spread)) * Fraction(1, 6)
    return graph.if_else(graph.compare("<", mean, 1), few, many)


FEW_DRAWN = 3
"""Drawn lines in a set up to which each number has a term, where there is less than one on average."""


@lru_cache(maxsize=4096)
def _share_of_windows(own: AccessNest, other: AccessNest, between: ReuseWindow) -> Expr:
    """The share of the windows in which another access comes. Where it stands outside of a loop around the access,
    sweeps follow each other there, and it is in the windows between groups of them."""
    if are_apart(own, other, between.carried - 1):
        return graph.ZERO
    loops = list(zip(own.longest, other.loops, strict=True))[between.depth :]
    parting = [mine.trips is not graph.ONE and theirs.trips is graph.ONE for mine, theirs in loops]
    if not any(parting):
        return graph.ONE
    last = max(place for place, parts in enumerate(parting) if parts)
    sweeps = graph.mul(*(mine.trips for (mine, _), parts in zip(loops, parting, strict=True) if parts))
    groups = graph.mul(*(mine.trips for mine, _ in takewhile(lambda pair: pair[0].repeats, loops[last + 1 :])))
    return (graph.apply("max", 1, groups) - 1) / graph.apply("max", 1, sweeps * groups - 1)


def _different(nests: Sequence[AccessNest], before: Sequence[AccessNest], between: ReuseWindow) -> list[AccessNest]:
    """Nests of one array without those that touch in the window only what another of them touches."""
    if len(nests) == 1 and not before:
        return [*nests]
    kept = list[AccessNest]()
    for nest in nests:
        covers = (find_cover(nest, other) for other in (*before, *kept))
        if not any(cover is not None and cover.depth <= between.depth for cover in covers):
            kept.append(nest)
    return kept


@lru_cache(maxsize=4096)
def _walk(nest: AccessNest, between: ReuseWindow, outside: tuple[int, ...], part: Expr) -> list[Expr]:
    """A nest in a window, as `share_kept` takes it; of the loop around the others only that part."""
    within = nest.on_average(between.depth)
    inner = [loop for loop in within[: between.place - 1 if between.place else between.depth] if loop.moves]
    around = within[between.place - 1] if between.place else STILL
    word = nest.word
    for loop in [loop for loop in inner if are_nearly_equal(loop.stride, around.stride)]:
        apart, word = join_nearly_equal(loop, around, word)
        inner, around = [part for part in inner if part is not loop], apart
    loops = [value for loop in inner for value in (loop.stride, loop.trips)]
    shift = graph.ZERO
    if between.place and between.carried <= len(nest.loops):
        shift = nest.loops[between.carried - 1].stride
        for loop in nest.on_average(between.carried - 1)[between.depth :]:
            shift = shift - loop.stride * (loop.trips - 1)
    outer = [nest.loops[loop].stride for loop in outside]
    return [word, graph.number(len(inner)), *loops, around.stride, around.trips * part, shift, *outer]


def _lines_of(nests: Sequence[AccessNest], between: ReuseWindow, line: Expr) -> Expr:
    """The lines of one data structure in the window: no more than it has."""
    if len(nests) == 1:
        return lines_between(nests[0], between, line)
    lines = graph.add(*(lines_between(nest, between, line) for nest in nests))
    return graph.apply("min", lines, most_lines(nests, line))


def share_kept_in_sets(in_set: Expr, level: Level) -> Expr:
    """The share of lines in sets with no more lines in use than ways, where sets have `in_set` on average."""
    return graph.apply("lines_with_room", level.room, in_set)
