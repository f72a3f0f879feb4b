"""Which touches of lines find them in a cache where an access is at several places of its data at once.

An access at offsets from where its loops are, such as the points of a stencil, walks over its data several times, one
walk behind the other. A line is touched again by the next walk when the loops have gone on by the bytes between the
two: it is there if what all accesses of the block have touched since, in its set, finds room beside it. That is the
layer condition (Rivera and Tseng, SC 2000; Stengel, Treibig, Hager and Wellein, ICS 2015) for each gap by itself, with
lines counted in their sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.affine import first_touches
from aspenpy.cost.caches.around import AccessSurroundings
from aspenpy.cost.caches.block_loops import time_ahead
from aspenpy.cost.caches.domain import StridedLoop
from aspenpy.cost.caches.interference import (
    InterveningData,
    reuse_window,
    share_beside_draws,
    share_found,
    share_kept_in_sets,
)
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest, product
from aspenpy.cost.caches.patterns import ContiguousWords, Offsets
from aspenpy.cost.caches.policies import Touches, at_least_none, but_its_own
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

MOST_DRIFTS = 31
"""Passes of a loop that stand for all, where arrays move on by different strides."""

MOST_RIM = Fraction(3, 2)
"""Strides of a loop, in parts of the rows inside, up to which these count as one run with what lies between."""

Window = list[Expr | int]


def smallest(*values: Expr | int) -> Expr:
    return graph.apply("min", *values)


def largest(*values: Expr | int) -> Expr:
    return graph.apply("max", *values)


def offsets(access: Access, around: AccessSurroundings, level: Level) -> list[Touches]:
    """The touches of each walk, the nearest first: of a line by the next word, of a line by the next walk, of lines to
    which the first walk comes back, and those of the next sweep."""
    pattern = access.pattern
    assert isinstance(pattern, Offsets)
    sweeps = access.accesses / pattern.sweep
    pattern = pattern.part(smallest(1, sweeps))
    sweeps = largest(1, sweeps)
    walks = Walks(pattern, around, level)
    lines = pattern.nest.lines(len(pattern.nest.loops), level.line)
    visits = [walks.visits(run) for run in pattern.runs]
    parts = list[Touches]()
    for run, count in zip(pattern.runs, visits, strict=True):
        parts.append(
            Touches(
                at_least_none(walks.lines_touched(run) - count), walks.share_of_next_word(run), graph.ZERO, near=True
            )
        )
    returns = [Touches(count, *walks.share_of_return(depth, time)) for depth, time, count in walks.returns]
    again = at_least_none(graph.add(*visits) - lines - graph.add(graph.ZERO, *(part.count for part in returns)))
    parts += [*walks.touches_of_next_walk(again, visits), *returns]
    known = graph.add(lines, *(part.count for part in parts))
    sure = Touches(at_least_none(access.accesses - known * sweeps), graph.ONE, graph.ZERO, near=True)
    parts = [sure, *(part.replace(count=part.count * sweeps) for part in parts)]
    everything = graph.add(lines, *around.nests.lines(level))
    stays = share_kept_in_sets(everything / level.sets, level)
    parts.append(Touches(lines * at_least_none(sweeps - 1), stays, but_its_own(everything)))
    return [*parts, *first_touches(access, pattern.nest, around, level)]


class Walks:
    """The walks of an access in a cache, beside all else in the block; times are in passes of the innermost loop."""

    def __init__(self, pattern: Offsets, around: AccessSurroundings, level: Level) -> None:
        self.runs, self.walk, self.rim, self.level = pattern.runs, pattern.walk, pattern.rim, level
        self.tables = around.nests.tables
        self.others = (*around.nests.others, *((nest,) for nest in around.nests.siblings))
        self.passes = [product(loop.trips for loop in self.walk.loops[:depth]) for depth in range(len(self.walk.loops))]
        self.moving = [depth for depth, loop in enumerate(self.walk.loops) if loop.moves]
        self.pace = self.walk.loops[self.moving[0]].stride if self.moving else self.walk.word
        self.way = level.line * level.sets
        self.leaves = graph.compare(">=", self.pace, level.line)

    def visits(self, run: ContiguousWords) -> Expr:
        """Lines that a walk comes to, one after the other."""
        nest = self.walk.replace(word=run.bytes)
        near = self._words * smallest(1, self.pace / self.level.line)
        return largest(near, nest.lines(len(nest.loops), self.level.line))

    def lines_touched(self, run: ContiguousWords) -> Expr:
        """Lines that a run touches, summed over all its places."""
        steps = tuple(self.walk.loops[depth] for depth in self.moving[:1])
        still = (StridedLoop(graph.ZERO, graph.ONE),)
        return self._words * self.walk.replace(word=run.bytes).run_lines(still, steps, self.level.line)

    @property
    def _words(self) -> Expr:
        return product(loop.trips for loop in self.walk.loops[: self.walk.outermost])

    @property
    def returns(self) -> list[tuple[int | None, Expr, Expr]]:
        """The loop, or the time, after which the first of the walks comes back to lines that it has left, as one along
        columns does to the words beside, and the number of these lines."""
        nest, found = self.walk.replace(word=self.runs[-1].bytes), list[tuple[int | None, Expr, Expr]]()
        for depth in self.moving[1:]:
            inner, outer = (nest.lines_of_all_passes(number, self.level.line) for number in (depth, depth + 1))
            if depth == self.walk.along_line:
                inner, seams = self._lines_before_coming_back(depth), self._seams(depth)
                rows = self.passes[depth] * at_least_none(self.walk.loops[depth].trips - 1)
                found.append((None, rows, graph.if_else(self.leaves, smallest(seams, at_least_none(inner - outer)), 0)))
                inner = inner - seams
            count = graph.if_else(self.leaves, at_least_none(inner - outer), 0)
            along = depth if depth == self.walk.along_line and not self.walk.is_triangular else None
            found.append((along, self.passes[depth], count))
        return found

    def share_of_return(self, along: int | None, time: Expr) -> tuple[Expr, Expr]:
        """The share of the lines that walks find when they come back to them in the next pass of a loop along lines, or
        so long after, and those that all touch in between. In such a pass all walks together are one, from the first
        byte along a line to the last, and from the first row to the last."""
        if along is None or self.leaves is graph.FALSE:
            return self.share_since(self.runs[-1], self.runs[-1], time)
        place, loops = self.rim, list[StridedLoop]()
        for depth, loop in enumerate(self.walk.loops):
            steps = [run.steps[depth] for run in self.runs]
            first = smallest(*steps) if len(steps) > 1 else steps[0]
            place += first * loop.stride if loop.moves else graph.ZERO
            wider = largest(*steps) - first if len(steps) > 1 and loop.moves and depth < along else graph.ZERO
            loops.append(loop.replace(trips=loop.trips + wider))
        begin = self.walk.begin_in(self.way) or graph.ZERO
        own = self._hull(along).replace(loops=tuple(loops), place=self._around(begin + place), pages=None)
        beside = InterveningData((), self.others, self.tables)
        return share_found(own, beside, reuse_window(own, along + 1), self.level)

    def _lines_before_coming_back(self, along: int) -> Expr:
        """Lines that walks touch from line to line, summed over the passes of the loop `along` a line: in each what all
        of them touch, from the first byte to the last."""
        still, loop = StridedLoop(graph.ZERO, graph.ONE), self.walk.loops[along]
        return self._words * self._hull(along).run_lines((still,), (loop,), self.level.line)

    def _seams(self, along: int) -> Expr:
        """Lines that hold the end of one row and the begin of the next, which walks along columns touch in their last
        passes and in their first."""
        nest = self._hull(along)
        if not nest.crosses(along + 1) or nest.is_triangular:
            return graph.ZERO
        outside = product(loop.trips for loop in self.walk.loops[along + 1 :] if loop.moves)
        return nest.seams(along + 1, self.level.line) * outside

    def _hull(self, along: int) -> AccessNest:
        """The walk with all that is touched along a line at once for its word."""
        loop = self.walk.loops[along]
        begins = [run.steps[along] * loop.stride for run in self.runs]
        ends = [begin + run.bytes for begin, run in zip(begins, self.runs, strict=True)]
        return self.walk.replace(word=largest(*ends) - smallest(*begins) if len(ends) > 1 else self.runs[0].bytes)

    def touches_of_next_walk(self, again: Expr, visits: Sequence[Expr]) -> list[Touches]:
        """The `again` touches of lines that another walk has left, shared out by where two walks have been."""
        gaps = [*pairwise(self.runs)]
        if not gaps:
            return [Touches(again, graph.ONE, graph.ZERO, near=True)]
        counts = [self._share_walked_before(*gap) * count for gap, count in zip(gaps, visits, strict=False)]
        scale = again / largest(1, graph.add(*counts))
        found = list[Touches]()
        for (behind, ahead), count in zip(gaps, counts, strict=True):
            share, lines = self.share_since(behind, ahead, self.delay(behind, ahead))
            found.append(Touches(scale * count, share, but_its_own(lines)))
        return found

    def _share_walked_before(self, behind: ContiguousWords, ahead: ContiguousWords) -> Expr:
        """The share of the words of a walk that the walk before it has touched."""
        steps = zip(behind.steps, ahead.steps, self.walk.loops, strict=False)
        return product(
            at_least_none(1 - graph.apply("abs", theirs - mine) / loop.trips)
            for mine, theirs, loop in steps
            if loop.moves
        )

    def delay(self, behind: ContiguousWords, ahead: ContiguousWords) -> Expr:
        """The delay after which the walk behind reaches a position of the one ahead."""
        steps = [theirs - mine for mine, theirs in zip(behind.steps, ahead.steps, strict=True)]
        return time_ahead(steps, self.walk)

    def share_of_next_word(self, own: ContiguousWords) -> Expr:
        """The share of the touches of a line by the next word that find it: a word of each walk comes between."""
        outside = self._drifts()
        phases = largest(1, graph.apply("floor", self.level.line / self.pace) - 1)
        window: Window = [1 + len(outside), phases, *self._trips(outside), *self._own_line(1 + len(outside))]
        for run in self.runs:
            if run is not own:
                along = [self.pace, *[graph.ZERO] * len(outside)]
                window += [1, run.bytes, 0, 0, 1, 0, *along, self._around(run.place - own.place)]
        for nest, place, length, _ in self._places():
            stride = next((loop.stride for loop in nest.loops if loop.trips is not graph.ONE), graph.ZERO)
            begin = self._around(place - own.place - self.rim)
            window += [1, length, 0, 0, 1, 0, stride, *self._moved(nest, outside), begin]
        return self._share(window, 1 / self._words)

    def share_since(self, behind: ContiguousWords, ahead: ContiguousWords, time: Expr) -> tuple[Expr, Expr]:
        """The share of the lines that a walk finds where another has left them so long before, and the lines that all
        touch in between: from the last word of the line to its first."""
        last = at_least_none(self.level.line - self.pace)
        per_word = self.passes[self.moving[0]] if self.moving else graph.ONE
        time = largest(1, time - (last + behind.bytes - self.walk.word) / self.pace * per_word)
        outside, lines = self._drifts(), graph.ZERO
        phases = self._phases()
        trips, steps = [count for count, _ in phases], [step for _, step in phases]
        around = len(trips) + len(outside)
        window: Window = [around, *trips, *self._trips(outside), *self._own_line(around)]
        for run, following in zip(self.runs, (*self.runs[1:], None), strict=True):
            since, spacing = time, None
            if following is not None:
                since = smallest(time, self.delay(run, following))
                spacing = following.place - run.place
            place = last + run.place - ahead.place
            if run is ahead:
                place, since = place + self.pace, largest(1, since - 1)
            walked, count = self._touched_since(self.walk, since, run.bytes, spacing)
            window += [1, *walked, *steps, *[0] * len(outside), self._around(place)]
            lines += count
        for nest, place, length, spacing in self._places():
            walked, count = self._touched_since(nest, time, length, spacing)
            begin = self._around(place + last - ahead.place - self.rim)
            window += [1, *walked, *steps, *self._moved(nest, outside), begin]
            lines += count
        return self._share(window, time / self._words), lines

    def _touched_since(self, nest: AccessNest, time: Expr, length: Expr, spacing: Expr | None) -> tuple[Window, Expr]:
        """The touches of an array in that time, as `share_kept` takes them, and its lines: runs of `length` bytes,
        where the rows of a loop follow each other with what lies between, and no further than `spacing`."""
        moving = [depth for depth, loop in enumerate(nest.loops) if loop.moves]
        if not moving:
            return [length, 0, 0, 1, 0], graph.ONE
        first = nest.loops[moving[0]]
        limit, loops, between, rows = time, list[Expr | int](), list[tuple[Expr, Expr]](), graph.ONE
        dense = graph.compare("==", 0, 0)
        for inner, outer in pairwise(moving):
            loop, ends = nest.loops[outer], nest.loops[inner].stride * nest.loops[inner].trips
            longest = graph.compare("<=", loop.stride, ends * MOST_RIM + self.level.line)
            follows = graph.junction("and", graph.compare(">=", loop.stride, ends), longest)
            dense = graph.junction("and", dense, follows)
            limit = smallest(limit, graph.if_else(follows, limit, self.passes[outer]))
            passes = smallest(loop.trips, largest(1, graph.apply("round", time / self.passes[outer])))
            loops += [loop.stride, graph.if_else(dense, 1, passes)]
            rows = rows * graph.if_else(dense, 1, passes)
            between.append((graph.if_else(dense, loop.stride - ends, 0), self.passes[outer]))
        steps = limit / self.passes[moving[0]]
        steps += (
            graph.add(graph.ZERO, *(gap * graph.apply("round", limit / per) for gap, per in between)) / first.stride
        )
        if spacing is not None:
            steps = smallest(steps, 1 + at_least_none(spacing - length) / first.stride)
        steps = largest(1, steps)
        lines = rows * (steps * smallest(self.level.line, first.stride) + length) / self.level.line
        return [length, len(moving), first.stride, steps, *loops, 0, 1, 0], lines

    def _phases(self) -> list[tuple[Expr, Expr]]:
        """Number of places in its line that a walk comes to which leaves the line at once, and the bytes between them:
        all others lie that much further in theirs. A walk along a line comes to each, the last of them before it
        leaves."""
        if self.leaves is graph.FALSE:
            return []
        step = self.level.line
        for depth in self.moving:
            step = graph.apply("gcd", step, self.walk.loops[depth].stride)
        return [(graph.if_else(self.leaves, self.level.line / step, 1), step)]

    def _drifts(self) -> dict[int, StridedLoop]:
        """The loops in which another array moves on by another stride."""
        nests = [nest for nests in self.others for nest in nests]
        return {
            depth: loop
            for depth, loop in enumerate(self.walk.loops)
            if loop.trips is not graph.ONE and any(nest.loops[depth].stride is not loop.stride for nest in nests)
        }

    def _trips(self, outside: dict[int, StridedLoop]) -> list[Expr]:
        return [smallest(loop.trips, MOST_DRIFTS) for loop in outside.values()]

    def _moved(self, nest: AccessNest, outside: dict[int, StridedLoop]) -> list[Expr]:
        """Bytes by which another array moves on beside this one, from each examined pass to the next."""
        steps = (graph.apply("floor", loop.trips / smallest(loop.trips, MOST_DRIFTS)) for loop in outside.values())
        apart = (nest.loops[depth].stride - loop.stride for depth, loop in outside.items())
        return [graph.apply("mod", length * step, self.way) for length, step in zip(apart, steps, strict=True)]

    def _own_line(self, outside: int) -> Window:
        """The line that is touched twice, as a structure of its own."""
        return [1, self.walk.word, 0, 0, 1, 0, *[0] * outside, 0]

    def _around(self, place: Expr) -> Expr:
        """A place round the cache."""
        return graph.apply("mod", graph.apply("floor", place), self.way)

    def _places(self) -> Iterator[tuple[AccessNest, Expr, Expr, Expr | None]]:
        """The places where other nests are at once, relative to the begin of this access, with the bytes of a run there
        and to the next place."""
        for nest in (nest for nests in self.others for nest in nests):
            theirs, mine = nest.begin_in(self.way), self.walk.begin_in(self.way)
            begin = (theirs or graph.ZERO) - (mine or graph.ZERO)
            runs = nest.runs or ((graph.ZERO, nest.word),)
            for (place, length), following in zip(runs, (*runs[1:], None), strict=True):
                yield nest, begin + place, length, None if following is None else following[0] - place

    def _share(self, window: Window, part: Expr) -> Expr:
        """The share of the lines that find room beside what lies in a window, which is so large a part of the block."""
        level = self.level
        drawn = [(table.lines(level), table.lines_of(part * table.draws, level)) for table in self.tables]
        variance = graph.add(graph.ZERO, *(found * (1 - found / lines) for lines, found in drawn))
        touched = graph.add(graph.ZERO, *(found for _, found in drawn))

        def kept(room: Expr) -> Expr:
            return graph.apply("share_kept", room, level.line, level.whole_sets, *window)

        return share_beside_draws(kept, touched, variance, level)
