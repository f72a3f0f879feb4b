"""Nest: an affine access, by its strides in bytes and its trip counts, from the innermost loop outwards."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from aspenpy.cost.caches import triangular
from aspenpy.cost.caches.domain import COUNTERS, StridedLoop
from aspenpy.cost.caches.level import Level
from aspenpy.expr import graph
from aspenpy.expr.expansion import multiply_out
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import as_term, is_certainly_shorter
from aspenpy.record import Record


class AccessNest(Record):
    """Words of `word` bytes, accessed by loops; the i-th loop is the i-th of every nest in the block. The first word
    stands where a line begins; `place` is its address, where the model says it; otherwise `pages` pages lie before its
    data structure. One that is at several places at once has a run of bytes at each of `runs`, from the first word on.
    """

    word: Expr
    loops: tuple[StridedLoop, ...]
    place: Expr | None = None
    runs: tuple[tuple[Expr, Expr], ...] = ()
    pages: Expr | None = None

    @property
    def accesses(self) -> Expr:
        return (
            triangular.count_accesses(self.loops) if self.is_triangular else product(loop.trips for loop in self.loops)
        )

    def begin_in(self, way: Expr) -> Expr | None:
        """Begin of the nest in a cache with `way` bytes a way; None where nothing says it."""
        return self.place if self.place is not None or self.pages is None else _begin_on_pages(self.pages, way)

    @property
    def address(self) -> Expr:
        """The address of the access as a function of the loops' counters, in bytes."""
        counted = zip(self.loops, COUNTERS, strict=False)
        return graph.add(*(loop.stride * counter for loop, counter in counted if loop.moves))

    @property
    def is_triangular(self) -> bool:
        """Whether the trips of a loop depend on the counter of another."""
        return _is_triangular(self.loops)

    @property
    def outermost(self) -> int:
        """Number of loops up to the outermost that moves the access."""
        return max((depth for depth, loop in enumerate(self.loops, 1) if loop.moves), default=0)

    def moving_loops(self, depth: int) -> tuple[StridedLoop, ...]:
        """The loops that move among the innermost `depth`, the shortest stride first. Where neither is surely shorter,
        words side by side are, and a number than what a parameter says."""
        within = self.within(depth)
        return tuple(within[place] for place in self.order(depth))

    def within(self, depth: int) -> tuple[StridedLoop, ...]:
        """The innermost `depth` loops, each with the most trips that it makes for any counters of the others."""
        return triangular.widest_loops(self.loops, depth) if self.is_triangular else self.loops[:depth]

    def order(self, depth: int) -> tuple[int, ...]:
        """The positions, among the innermost `depth` loops, of those that move, the shortest stride first."""
        places = [place for place, loop in enumerate(self.loops[:depth]) if loop.moves]
        strides = tuple([self.loops[place].stride for place in places])
        return tuple(places[number] for number in _shortest_first(strides, self.word))

    def lines(self, depth: int, line: Expr) -> Expr:
        """Distinct lines that the innermost `depth` loops touch.

        The loops with the k shortest strides make runs, the others repeat them; a run is no longer than its span, and a
        dense one as long, so that the smallest product over k is the footprint.
        """
        if self.is_triangular:
            return triangular.lines_of_pass(self.loops, self.order(depth), depth, line, summed=False)
        return _independent_lines(self.word, self.loops, depth, line)

    def lines_of_all_passes(self, depth: int, line: Expr) -> Expr:
        """The sum of those over all passes of the loops around."""
        if self.is_triangular:
            return triangular.lines_of_pass(self.loops, self.order(depth), depth, line, summed=True)
        return self.lines(depth, line) * product(loop.trips for loop in self.loops[depth:])

    def on_average(self, depth: int) -> tuple[StridedLoop, ...]:
        """The innermost `depth` loops, each with its mean trips over the passes of the others of them."""
        loops = self.loops[:depth]
        if not triangular.trips_depend(loops):
            return loops
        return tuple(map(StridedLoop, [loop.stride for loop in loops], triangular.mean_trips(loops)))

    @property
    def longest(self) -> tuple[StridedLoop, ...]:
        """The loops, each with the most trips that it makes."""
        return self.within(len(self.loops))

    def lines_around(self, line: Expr) -> Expr:
        """Distinct lines if all loops made their most trips."""
        return self.replace(loops=self.longest).lines(len(self.loops), line)

    def seams(self, depth: int, line: Expr) -> Expr:
        """Lines that hold the end of one row and the begin of the next, where the loop `depth` walks across rows that
        loops inside step through. Rows shorter than a line are touched side by side."""
        loops = self.moving_loops(depth)
        walked = self.order(depth).index(depth - 1) + 1
        if any(are_nearly_equal(loop.stride, loops[walked - 1].stride) for loop in loops[walked:]):
            return graph.ZERO
        across, word = list(loops[walked:]), self.word
        for first, second in pairwise(loops[walked:]):
            if are_nearly_equal(first.stride, second.stride):
                joined, word = join_nearly_equal(first, second, word)
                across = [loop for loop in across if loop not in (first, second)] + [joined]
        rows = product(loop.trips for loop in across)
        by_rows = rows * self.replace(word=word).run_lines(loops[:walked], tuple(across), line)
        apart = graph.compare(">=", loops[walked].stride, line)
        return graph.if_else(apart, graph.apply("max", 0, by_rows - self.lines(depth, line)), 0)

    @property
    def along_line(self) -> int | None:
        """The place of the loop that goes on along a line, where a loop inside steps from line to line, as a walk along
        columns does; None where none does."""
        moving = [index for index, loop in enumerate(self.loops) if loop.moves]
        first = self.order(len(self.loops))[:1]
        stride = self.loops[first[0]].stride if first else self.word
        short = stride.kind == "number" and stride.payload < SHORTEST_LINE
        return first[0] if short and moving[0] != first[0] else None

    def crosses(self, depth: int) -> bool:
        """Whether the loop `depth` walks across rows."""
        return self.loops[depth - 1].moves and self.order(depth)[-1] != depth - 1

    def run_lines(self, loops: tuple[StridedLoop, ...], others: tuple[StridedLoop, ...], line: Expr) -> Expr:
        """Lines of one run that begins anywhere the other loops take it: at each multiple of `step` bytes in a line
        alike, so that it has on average one more than its length, less a step."""
        step = line
        for loop in others:
            step = graph.apply("gcd", step, loop.stride)
        steps = graph.apply("ceil", self.span(loops) / step)
        return (steps - 1) * step / line + 1

    def span(self, loops: Iterable[StridedLoop]) -> Expr:
        """Bytes from the first to behind the last of what some loops touch."""
        return graph.add(self.word, *(loop.stride * (loop.trips - 1) for loop in loops))

    def dense(self, depth: int) -> bool:
        """Whether the innermost `depth` loops certainly touch one run, each going on where the last one ended."""
        ends = self.word
        for loop in self.moving_loops(depth):
            if as_term(loop.stride, all_positive=True) != as_term(ends, all_positive=True):
                return False
            ends = loop.stride * loop.trips
        return True

    def sets_in_turn(self, level: Level) -> Expr:
        """Sets in which the lines of the innermost loop that moves lie, where it takes a line after the other and they
        find no room together; 0 where it does not."""
        walk = next((loop for loop in self.longest if loop.moves), None)
        if walk is None or walk.stride is self.word:
            return graph.ZERO
        round_trip = level.line * level.sets
        met = graph.apply("min", level.sets, round_trip / graph.apply("gcd", walk.stride, round_trip))
        apart = graph.compare(">=", walk.stride, level.line)
        crowded = graph.junction("and", apart, graph.compare(">", walk.trips, level.room * met))
        return graph.if_else(crowded, met, 0)


SHORTEST_LINE = 32
"""Bytes of the shortest line, or sector, that a processor has."""

PAGE = 4096
"""Bytes of a page of the operating system, where large data structures begin."""


@lru_cache(maxsize=4096)
def _is_triangular(loops: tuple[StridedLoop, ...]) -> bool:
    return triangular.trips_depend(loops)


@lru_cache(maxsize=4096)
def _begin_on_pages(pages: Expr, way: Expr) -> Expr:
    """The place in a way behind `pages` pages. Ways of no more than a page have equal places for all pages."""
    divides = way.kind == "number" and way.payload > 0 and PAGE % way.payload == 0
    return graph.ZERO if divides else graph.apply("mod", pages * PAGE, way)


@lru_cache(maxsize=4096)
def _independent_lines(word: Expr, loops: tuple[StridedLoop, ...], depth: int, line: Expr) -> Expr:
    """`Nest.lines` of loops that do not depend on each other: every other array of a block asks for those of a nest."""
    nest = AccessNest(word, loops)
    moving = nest.moving_loops(depth)
    outer = tuple(loop for loop in loops[depth:] if loop.moves)
    candidates = []
    for inner in range(len(moving) + 1):
        apart = moving[inner:]
        run = nest.run_lines(moving[:inner], (*apart, *outer), line)
        candidates.append(product(loop.trips for loop in apart) * run)
    for first, second in pairwise(moving):
        if are_nearly_equal(first.stride, second.stride):
            joined, run = join_nearly_equal(first, second, word)
            rest = tuple(loop for loop in loops if loop is not first and loop is not second)
            inner = sum(loop is not first and loop is not second for loop in loops[:depth])
            candidates.append(_independent_lines(run, (*rest[:inner], joined, *rest[inner:]), inner + 1, line))
    return graph.apply("min", *candidates) if len(candidates) > 1 else candidates[0]


@lru_cache(maxsize=1024)
def _shortest_first(strides: tuple[Expr, ...], word: Expr) -> tuple[int, ...]:
    """Places of the strides, the shortest first. An array of a block is asked for them at every level, beside every
    other array."""
    places: list[int] = []
    for index, stride in enumerate(strides):
        longer = (k for k, other in enumerate(places) if _shorter(stride, strides[other], word))
        places.insert(next(longer, len(places)), index)
    return tuple(places)


def _shorter(first: Expr, second: Expr, word: Expr) -> bool:
    if is_certainly_shorter(first, second) or is_certainly_shorter(second, first):
        return is_certainly_shorter(first, second)
    return first is not second and (first is word or (first.kind == "number" and second.kind != "number"))


NEARLY_EQUAL = 64
"""Bytes below which strides that differ are nearly equal: those of the usual line."""


@lru_cache(maxsize=4096)
def are_nearly_equal(first: Expr, second: Expr) -> bool:
    """Whether strides differ by few bytes, and are surely many times as long, as a row and the step of a diagonal."""
    terms = multiply_out(_upwards(first) - _upwards(second)).terms
    apart = abs(sum(map(Fraction, terms.values()), Fraction(0)))
    if any(terms) or not 0 < apart < NEARLY_EQUAL:
        return False
    numbers = [Fraction(stride.payload) for stride in (first, second) if stride.kind == "number"]
    return not numbers or min(numbers) >= max(8 * apart, Fraction(2 * NEARLY_EQUAL))


def _upwards(stride: Expr) -> Expr:
    """A stride without the absolute value around it, as of a loop that runs upwards."""
    return stride.args[0] if graph.is_call(stride, ("abs",)) else stride


def join_nearly_equal(first: StridedLoop, second: StridedLoop, word: Expr) -> tuple[StridedLoop, Expr]:
    """Two loops of nearly equal strides as one of their passes together, a s + b (s - d) = (a + b) s - b d, and the
    bytes of a run there: what the strides differ by, for each pass of the shorter, and a word."""
    differ = graph.apply("abs", first.stride - second.stride)
    fewer = graph.apply("min", first.trips, second.trips)
    joined = StridedLoop(second.stride, first.trips + second.trips - 1)
    return joined, word + differ * (fewer - 1)


def longest_trips(trips: Iterable[Expr]) -> Expr:
    """The trips of a loop, which arrays outside of it give as 1."""
    different = list(dict.fromkeys(count for count in trips if count is not graph.ONE)) or [graph.ONE]
    return graph.apply("max", *different) if len(different) > 1 else different[0]


def product(factors: Iterable[Expr]) -> Expr:
    return graph.mul(*factors)
