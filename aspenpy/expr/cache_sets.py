"""Lines counted in the sets of a cache, many sets at once: where runs begin, and how many have bytes in a line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy

from aspenpy.allowance import INTERPRETED
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.cache_walks import Cache, Loops, Runs, Walk
from aspenpy.expr.failures import spend

# -- places of a loop's steps round a cache --------------------------------------------------------


class Lattice(NamedTuple):
    """Steps of equal size round a cache of `units`."""

    step: int
    units: int

    def count_between(self, low: Any, high: Any, trips: Any) -> Any:
        """Number of the places of the first trips, and of those a whole number of rounds further, that are above `low`
        and at most `high`. All steps of a cycle meet each multiple of the divisor that step and round share."""
        divisor = math.gcd(self.step, self.units)
        cycles, rest = numpy.divmod(trips, self.units // divisor)
        all_of_cycle = high // divisor - low // divisor
        ends = numpy.stack(numpy.broadcast_arrays(high, low)) - self.step * (rest - 1)
        below_high, below_low = sum_floors(rest, self.step, self.units, ends)
        return cycles * all_of_cycle + below_high - below_low


def sum_floors(counts: Any, step: int, modulus: int, begins: Any) -> Any:
    """The sums of floor((begin + step t) / modulus) over t below each count: what is whole is taken out, and the points
    under the line are counted by its other axis, as in Euclid's algorithm (Graham, Knuth and Patashnik, Concrete
    Mathematics, 1994, section 3.5). Below `MOST_EXACT` floating-point numbers, which divide faster, are as exact."""
    counts, begins = (numpy.array(part, dtype=numpy.int64) for part in numpy.broadcast_arrays(counts, begins))
    spend(OF_A_SUM * counts.size)
    most = int(counts.max(initial=0))
    furthest = max(int(begins.max(initial=0)), -int(begins.min(initial=0))) + step * most + modulus
    if most * furthest < MOST_EXACT:
        counts, begins = counts.astype(float), begins.astype(float)
        return _sum_floors(counts, step, modulus, begins, _floor_quotient).astype(numpy.int64)
    return _sum_floors(counts, step, modulus, begins, numpy.floor_divide)


OF_A_SUM = 100
"""Operations of a sum of floors: some twenty steps of Euclid's algorithm."""

MOST_EXACT = 1 << 52
"""Half of the whole numbers that are floating-point numbers: the floor of a quotient of smaller ones is exact."""


def _floor_quotient(dividend: Any, divisor: int) -> Any:
    quotient = dividend / divisor
    return numpy.floor(quotient, out=quotient)


def _sum_floors(counts: Any, step: int, modulus: int, begins: Any, divide: Callable[[Any, int], Any]) -> Any:
    total = numpy.zeros_like(counts)
    while True:
        whole = divide(begins, modulus)
        begins = begins - whole * modulus
        times, step = divmod(step, modulus)
        total += counts * whole
        if times:
            total += divide(counts * (counts - 1), 2) * times
        if not step:
            return total
        reached = step * counts + begins
        counts = divide(reached, modulus)
        if not counts.any():
            return total
        begins = reached - counts * modulus
        step, modulus = modulus, step


SAMPLES = 2048
"""Lines of an array, somewhere in its loops, that stand for all where there are more."""

MANY_STRUCTURES = 12
"""Data structures in a window beyond which fewer lines of each stand for all, so that what a block of many takes grows
as their number: its misses are the sum over all of them."""


def count_samples(structures: int) -> int:
    """Lines that stand for all of an array, where there are more, beside `structures` structures."""
    return SAMPLES * MANY_STRUCTURES // max(structures, MANY_STRUCTURES)


MOST_UNITS = 1 << 22
"""Limit of the units of a cache that are counted one by one."""

FURTHEST = 1 << 62
"""Limit of the bytes that loops span and of trips: places are 64-bit integers."""

MOST_TABLED = 1 << 15
"""Units of a cache up to which a table of all is made for one loop: beyond, each place is counted by itself."""

MOST_COUNTED = 1 << 30
"""Units up to which that is done: products of two such numbers are 64-bit integers."""

MOST_KEPT = 100 << 20
"""Bytes of all tables of a kind that are kept for the next window."""

MOST_SORTED = 1 << 12
"""Trips of a loop up to which the places that it comes to are sorted."""

MOST_PLACES = 1 << 17
"""Places that loops come to together, up to which all are written down."""

MOST_IN_ORDER = 1 << 19
"""Units of a cache up to which that is done."""

FEW_TOGETHER = 4
"""Runs that have bytes in one line on average, below which they are looked at rather than put in a table."""

MOST_TOGETHER = 12
"""Runs that have bytes in one line, up to which each is looked at."""

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


class Steps:
    """Counts at the units of a cache, summed along steps round it, which meet them in one cycle or several."""

    def __init__(self, counts: Any, step: int) -> None:
        units = len(counts)
        cycles = math.gcd(step, units)
        self.length = units // cycles
        order = (numpy.arange(cycles)[:, None] + step % units * numpy.arange(self.length)) % units
        self.place, self.begin = numpy.empty((2, units), dtype=numpy.int64)
        self.place[order] = numpy.arange(self.length)
        self.begin[order] = (self.length + 1) * numpy.arange(cycles)[:, None]
        before = numpy.zeros((cycles, self.length + 1), dtype=numpy.int64)
        numpy.cumsum(counts[order], axis=1, out=before[:, 1:])
        self.before = before.ravel()
        self.nbytes = int(self.place.nbytes + self.begin.nbytes + self.before.nbytes)

    def sum_between(self, units: Any, first: Any, last: Any) -> Any:
        """The sum over k from `first` up to below `last` of the count k steps before some units."""
        units = units % len(self.place)
        place, begin = self.place.take(units) + 1, self.begin.take(units)
        return self._sum_up_to(place - first, begin) - self._sum_up_to(place - last, begin)

    def _sum_up_to(self, place: Any, begin: Any) -> Any:
        rounds = place // self.length
        of_round = self.before.take(begin + self.length)
        return rounds * of_round + self.before.take(begin + place - rounds * self.length)


class Single:
    """`Steps` of one unit where all counts are 0 but the first, which is 1."""

    nbytes = 0

    def __init__(self, units: int) -> None:
        self.units = units

    def sum_between(self, units: Any, first: Any, last: Any) -> Any:
        begin = units - first
        if isinstance(last, int):
            rounds, rest = divmod(last - first, self.units)
            return rounds + (begin - begin // self.units * self.units < rest)
        return begin // self.units - (units - last) // self.units


class Begins:
    """`Steps` of one unit, from the number of begins below each unit of the cache."""

    def __init__(self, counts: Any) -> None:
        self.units = len(counts)
        self.before = numpy.zeros(self.units + 1, dtype=numpy.int64)
        numpy.cumsum(counts, out=self.before[1:])
        self.all = int(self.before[-1])

    @property
    def nbytes(self) -> int:
        return int(self.before.nbytes)

    def count_below(self, units: Any) -> Any:
        rounds = units // self.units
        return rounds * self.all + self.before.take(units - rounds * self.units)

    def sum_between(self, units: Any, first: Any, last: Any) -> Any:
        return self.count_below(units - first + 1) - self.count_below(units - last + 1)


class Turns:
    """`Steps` of the units that one loop comes to, without a table."""

    nbytes = 0

    def __init__(self, step: int, trips: int, units: int) -> None:
        self.lattice, self.trips = Lattice(step % units, units), trips

    def sum_between(self, units: Any, first: Any, last: Any) -> Any:
        return self.lattice.count_between(units - last, units - first, self.trips)


class Rows:
    """`Steps` of the lines of runs of a number of units that nothing repeats, summed along the trips around. Where few
    of all its runs are in one line, each is looked at: the trips are in the `order` of where they begin."""

    def __init__(self, covered: int, step: int, trips: int, cache: Cache) -> None:
        self.covered, self.line = covered, cache.line // cache.unit
        self.lattice = Lattice(step % cache.units, cache.units)
        self.begins: Begins | None = None
        if trips <= MOST_SORTED and cache.units <= MOST_IN_ORDER:
            places = self.lattice.step * numpy.arange(trips) % cache.units
            self.order = numpy.argsort(places, kind="stable")
            self.begins = Begins(numpy.bincount(places, minlength=cache.units))

    @property
    def nbytes(self) -> int:
        return 0 if self.begins is None else self.begins.nbytes

    def sum_between(self, units: Any, first: Any, last: Any) -> Any:
        if self.begins is not None:
            low = self.begins.count_below(units - self.covered + 1)
            there = self.begins.count_below(units + self.line) - low
            most = int(there.max(initial=0))
            if most <= MOST_TOGETHER:
                return self._count_one_by_one(low, there, most, first, last)
        begin = units - self.lattice.step * first
        return self.lattice.count_between(begin - self.covered, begin + self.line - 1, last - first)

    def _count_one_by_one(self, low: Any, there: Any, most: int, first: Any, last: Any) -> Any:
        """Number of the `most` runs from the `low`-th on that are `there`, of trips from one up to below another."""
        place = low % len(self.order)
        total = numpy.zeros(there.shape, dtype=numpy.int64)
        for number in range(most):
            trip = self.order.take(place + number, mode="wrap")
            total += (there > number) & (trip >= first) & (trip < last)
        return total


class Kept:
    """A function of loops and a cache, and the tables that it made last."""

    def __init__(self, make: Callable[[Any, Cache], Any]) -> None:
        self._make = make
        self._tables: dict[tuple[Any, Cache], Any] = {}
        self._bytes = 0

    def __call__(self, loops: Any, cache: Cache) -> Any:
        table = self._tables.pop((loops, cache), None)
        if table is None:
            table = self._make(loops, cache)
            self._bytes += table.nbytes + OF_A_TABLE
            spend(OF_AN_ENTRY * table.nbytes / 8)
        self._tables[loops, cache] = table
        while self._bytes > MOST_KEPT and len(self._tables) > 1:
            oldest = next(iter(self._tables))
            self._bytes -= self._tables.pop(oldest).nbytes + OF_A_TABLE
        return table

    def clear(self) -> None:
        self._tables, self._bytes = {}, 0


OF_AN_ENTRY = 5  # operations in which a number of a table is made, and the lines counted that it is made of
OF_A_STEP = 25  # the same where runs of a loop are added to those of another, at places far from each other
OF_A_TABLE = 1000
"""Bytes of a table beside its numbers."""


@Kept
def _count_begins(loops: Loops, cache: Cache) -> Begins | Single | Turns:
    """Number of runs that begin at each unit of the cache."""
    if not loops:
        return Single(cache.units)
    if cache.units <= MOST_IN_ORDER and math.prod(trips for _, trips in loops) <= MOST_PLACES:
        places = numpy.zeros(1, dtype=numpy.int64)
        for stride, trips in loops:
            steps = stride // cache.unit % cache.units * numpy.arange(trips)
            places = (places[:, None] + steps).ravel() % cache.units
        return Begins(numpy.bincount(places, minlength=cache.units))
    if len(loops) == 1 and MOST_TABLED < cache.units <= MOST_COUNTED:
        (stride, trips), *_ = loops
        return Turns(stride // cache.unit, trips, cache.units)
    everywhere = _all_units(cache)
    spend(OF_A_STEP * len(loops) * cache.units)
    counts = (everywhere == 0).astype(numpy.int64)
    for stride, trips in loops:
        counts = Steps(counts, stride // cache.unit).sum_between(everywhere, 0, trips)
    return Begins(counts)


def _count_lines(loops: Loops, length: Any, units: Any, cache: Cache) -> Any:
    """Number of runs of a length that have bytes in a line at some units of the cache: those that begin in it, or less
    than their length before it. A long run has several lines in a set."""
    covered = -(-length // cache.unit)
    return _count_begins(loops, cache).sum_between(units, 1 - cache.line // cache.unit, covered)


def _all_units(cache: Cache) -> Any:
    """All units of a cache."""
    if cache.units > MOST_UNITS:
        raise DomainError(
            f"a cache of {cache.line * cache.sets:,} bytes is too large for strides of {cache.unit} bytes"
        )
    return numpy.arange(cache.units)


@Kept
def _count_lines_by_trip(along: tuple[Runs, int, int], cache: Cache) -> Steps | Rows:
    """The lines of some runs, summed along the trips of the loop of a stride around them."""
    runs, stride, trips = along
    covered = -(-runs.length // cache.unit)
    few = trips <= MOST_SORTED and trips * (covered + cache.line // cache.unit) < FEW_TOGETHER * cache.units
    if not runs.loops and (few or MOST_TABLED < cache.units <= MOST_COUNTED):
        return Rows(covered, stride // cache.unit, trips, cache)
    return Steps(_count_lines(runs.loops, runs.length, _all_units(cache), cache), stride // cache.unit)


def _count_lines_of_trips(walk: Walk, first: Any, last: Any, units: Any, cache: Cache) -> Any:
    """The lines of a walk in the sets of some units, of its trips from one up to below another."""
    runs = cache.join_runs(walk, walk.inner)
    if walk.stride >= runs.length + cache.line:
        last = numpy.maximum(first, last)
        return _count_lines_by_trip((runs, walk.stride, walk.trips), cache).sum_between(units, first, last)
    if isinstance(first, int) and isinstance(last, int):
        length = runs.length + walk.stride * (last - first - 1)
        return _count_lines(runs.loops, length, units - walk.stride // cache.unit * first, cache)
    length = runs.length + walk.stride * (numpy.maximum(first, last) - first - 1)
    lines = _count_lines(runs.loops, length, units - walk.stride // cache.unit * first, cache)
    return lines * (last > first)


def _count_lines_of_both_passes(walk: Walk, units: Any, cache: Cache) -> Any:
    """The different lines of two passes."""
    length, loops = cache.join_runs(walk, (*walk.inner, walk.around))
    if 0 <= walk.shift < length + cache.line:
        return _count_lines(loops, length + walk.shift, units, cache)
    for index, (stride, trips) in enumerate(loops):
        if 0 < walk.shift < stride * trips and walk.shift % stride == 0:
            longer = (*loops[:index], (stride, trips + walk.shift // stride), *loops[index + 1 :])
            return _count_lines(longer, length, units, cache)
    further = units - walk.shift // cache.unit
    return _count_lines(loops, length, units, cache) + _count_lines(loops, length, further, cache)


class Visits(NamedTuple):
    """Lines that are touched again: the place of each in memory, in units of the cache, the trip of the loop around
    when the first visit ends and when the second begins, the iterations of the loops outside, and which of the lines
    count."""

    units: Any
    left: Any
    found: Any
    outside: Any
    counts: Any

    def select(self, chosen: Any) -> Visits:
        """The visits that are chosen, by a mask of truth values."""
        outside = [trips[chosen] for trips in self.outside]
        return Visits(self.units[chosen], self.left[chosen], self.found[chosen], outside, self.counts[chosen])


OF_A_WALK = 170
"""Interpreted operations in which the lines of a walk between some two thousand visits are counted."""


def _count_lines_between(walk: Walk, visits: Visits, cache: Cache) -> Any:
    """The lines of a walk in the set of each visited line: what follows the first visit, and what is done before the
    second."""
    spend(INTERPRETED * OF_A_WALK)
    units = visits.units - walk.place // cache.unit
    for stride, trip in zip(walk.outer, visits.outside, strict=True):
        units = units - stride // cache.unit * trip if stride else units
    if not walk.stride or walk.trips == 1:
        once = _count_lines_of_trips(walk, 0, 1, units, cache)
        if not walk.shift:
            return once
        return numpy.where(visits.found > 0, _count_lines_of_both_passes(walk, units, cache), once)
    behind = _count_lines_of_trips(walk, visits.left, walk.trips, units, cache)
    further = units - walk.shift // cache.unit if walk.shift else units
    ahead = _count_lines_of_trips(walk, 0, numpy.minimum(visits.found, walk.trips), further, cache)
    if _are_all_different(walk, cache):
        return behind + ahead
    return numpy.minimum(behind + ahead, _count_lines_of_both_passes(walk, units, cache))


def _are_all_different(walk: Walk, cache: Cache) -> bool:
    """Whether all lines behind and ahead are surely different ones, so that they are no more than those of both
    passes."""
    runs = cache.join_runs(walk, walk.inner)
    if not walk.shift or walk.stride < runs.length + cache.line:
        return walk.stride >= runs.length + cache.line
    length, loops = cache.join_runs(walk, (*walk.inner, walk.around))
    if (length, len(loops)) != (runs.length, len(runs.loops) + 1):
        return False
    joins = (0 < walk.shift < stride * trips and walk.shift % stride == 0 for stride, trips in loops)
    return not 0 <= walk.shift < length + cache.line and not any(joins)


MANY_LEFT = 0.9
"""The share of visits above which those that count no longer stay among the others."""


def shares_by_use(
    limit: int, trips: Sequence[int], structures: list[list[Walk]], cache: Cache
) -> tuple[list[int], list[float]]:
    """Numbers of lines in use in a set, up to a limit, and the share of the first walk's lines that are touched again
    while no more than that number is in use. Structures of many lines come first, so that few visits are left for the
    others; equal ones are counted once."""
    if any(walk.reach_in_bytes(trips) > FURTHEST for walks in structures for walk in walks):
        raise DomainError(f"the loops of a window span at most {FURTHEST:,} bytes")
    visits = _sample_visits(structures[0][0], trips, cache, count_samples(len(structures)))
    kept, in_use = visits.counts, numpy.zeros(visits.counts.shape, dtype=numpy.int64)
    counted = kept.sum()
    alike = Counter(tuple(walks) for walks in structures)
    for walks in sorted(alike, key=lambda walks: -sum(_most_lines(walk, cache) for walk in walks)):
        lines = sum(_count_lines_between(walk, visits, cache) for walk in walks)
        if len(walks) > 1:
            parts = [cache.join_runs(walk, walk.all_loops(trips)) for walk in walks]
            begins = [visits.units - walk.place // cache.unit for walk in walks]
            bounds = [_count_lines(part.loops, part.length, at, cache) for part, at in zip(parts, begins, strict=True)]
            lines = numpy.minimum(lines, numpy.max(bounds, axis=0))
        in_use += lines if alike[walks] == 1 else alike[walks] * lines
        kept = (in_use <= limit) & visits.counts
        left = numpy.count_nonzero(kept)
        if not left:
            return [], []
        if left < MANY_LEFT * kept.size:
            visits, in_use = visits.select(kept), in_use[kept]
            kept = visits.counts
    used, times = numpy.unique(in_use[kept], return_counts=True)
    return used.tolist(), (times.cumsum() / counted).tolist()


def _most_lines(walk: Walk, cache: Cache) -> int:
    """The lines of a walk, at most."""
    return cache.join_runs(walk, (*walk.inner, walk.around)).most_lines(cache.line)


def _sample_visits(own: Walk, trips: Sequence[int], cache: Cache, samples: int) -> Visits:
    """Visits of lines of a walk, all of them or `samples`."""
    runs, line = cache.join_runs(own, own.inner), cache.line
    is_dense = own.stride < runs.length + line
    length = runs.length + own.stride * (own.trips - 1) if is_dense else runs.length
    apart = (*runs.loops, *(() if is_dense else (own.around,)))
    counts = [*trips, *(count for _, count in apart), length // line + 2]
    *loops, number = _sample_iterations(tuple(counts), samples)
    outside, inside = loops[: len(trips)], loops[len(trips) :]
    strides = (*own.outer, *(stride for stride, _ in apart))
    begin = sum((stride * trip for stride, trip in zip(strides, loops, strict=True)), numpy.zeros_like(number))
    offset = number * line - begin % line
    there = offset < length
    back = offset - own.shift
    if is_dense:
        step = max(1, own.stride)
        left = numpy.clip((offset + line - 1) // step, 0, own.trips - 1)
        found = numpy.clip(-((runs.length - 1 - back) // step), 0, own.trips - 1)
        again = (back > -line) & (back < length)
    else:
        trip = inside[-1]
        left, found = trip, trip - (own.shift // own.stride if own.shift % own.stride == 0 else 0)
        again = (found >= 0) & (found < own.trips) & ((own.shift % own.stride == 0) | (back > -line) & (back < length))
    again &= there
    units = (begin + offset) // cache.unit
    return Visits(units, left, numpy.maximum(found, 0), outside, again if again.any() else there)


@lru_cache(maxsize=100)
def _sample_iterations(counts: tuple[int, ...], samples: int) -> list[Any]:
    """Iterations of some loops: all of them, or `samples` spread evenly."""
    if math.prod(counts) <= samples:
        return [places.ravel() for places in numpy.indices(counts)]
    shares = _kronecker_points(len(counts))[:, :samples]
    return [(share * min(count, FURTHEST)).astype(numpy.int64) for share, count in zip(shares, counts, strict=True)]


@lru_cache(maxsize=16)
def _kronecker_points(axes: int) -> Any:
    """Points of a cube, by the multiples of roots of primes (Kronecker's sequence: Niederreiter, Random Number
    Generation and Quasi-Monte Carlo Methods, 1992, chapter 3)."""
    roots = numpy.sqrt(numpy.resize(PRIMES, axes))
    return numpy.fmod(numpy.outer(roots, numpy.arange(1, SAMPLES + 1)), 1.0)
