"""Searches over numbers of ranks: the one that takes the least time, and the problem that is large enough for each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from math import log, sqrt

from aspenpy.expr.counts import CountRule, counts_accepted_by_all, nearest_of
from aspenpy.record import Record
from aspenpy.sweeps.points import Floats

SEARCHED_ONE_BY_ONE = 1024
"""Ranks up to which the search for the fastest looks at every number; beyond, at 64 in each octave."""

MOST_AT_ONCE, FEWEST_AT_ONCE = 2048, 16
SEARCHED_OPERATIONS = 10_000_000
"""Most numbers of ranks that a search looks at together, and most operations of loops without a closed form."""

MOST_GROWTH = 1e12
"""Largest factor by which a problem grows in the search for an efficiency."""


def batch_size(operations: float) -> int:
    """Numbers of ranks to look at together, given the operations of one: fewer where loops are added pass by pass."""
    return max(FEWEST_AT_ONCE, min(MOST_AT_ONCE, int(SEARCHED_OPERATIONS / max(1.0, operations))))


def doublings(first: int, last: int) -> list[int]:
    """Doublings of `first`, then `last`."""
    counts = []
    while first < last:
        counts.append(first)
        first *= 2
    return [*counts, last]


class RankSearch(Record):
    """Numbers of ranks from `first` to `last` that all `rules` accept, `at_once` of which are looked at together."""

    times: Callable[[Sequence[int]], Floats]
    rules: tuple[CountRule, ...]
    first: int
    last: int
    at_once: int

    def find_fastest(self, listed: Sequence[int], seconds: Sequence[float]) -> int | None:
        """The number of ranks that takes the least time, of equals the fewest; None where all are refused. Of more than
        can be looked at, those next to the fastest of the `listed`."""
        accepted = counts_accepted_by_all(self.rules, self.first, self.last)
        if not accepted:
            return None
        counts = self._candidates()
        if self.rules:
            few = len(accepted) <= SEARCHED_ONE_BY_ONE
            counts = list(accepted) if few else nearest_of(accepted, counts)
        if len(counts) > self.at_once:
            here = min(range(len(listed)), key=seconds.__getitem__)
            low, high = listed[max(here - 1, 0)], listed[min(here + 1, len(listed) - 1)]
            counts = [ranks for ranks in counts if low <= ranks <= high] or counts
        best = self._fastest_of(counts)
        if best <= SEARCHED_ONE_BY_ONE:
            return best
        near = best // 64  # between the candidates next to it
        return self._fastest_of(accepted[bisect_left(accepted, best - near) : bisect_right(accepted, best + near)])

    def _candidates(self) -> list[int]:
        counts = set(range(self.first, min(self.last, SEARCHED_ONE_BY_ONE) + 1)) | {self.first, self.last}
        octaves = range(SEARCHED_ONE_BY_ONE.bit_length() - 1, int(log(self.last, 2)) + 1)
        counts |= {(1 << octave) * (64 + part) // 64 for octave in octaves for part in range(64)}  # 1.6 % apart at most
        return sorted(ranks for ranks in counts if self.first <= ranks <= self.last)

    def _fastest_of(self, counts: Sequence[int]) -> int:
        """The one that takes the least time, the fewest of equals: all of them at once, or, where they are more than
        that, some, then those around the fastest of these."""
        while len(counts) > self.at_once:
            stride = -(-len(counts) // self.at_once)
            best = int(self.times(counts[::stride]).argmin()) * stride
            counts = counts[max(0, best - stride + 1) : best + stride]
        return counts[int(self.times(counts).argmin())]


def find_growths(
    listed: Sequence[int], wanted: float, efficiencies: Callable[[Sequence[int], Sequence[float]], list[float]]
) -> list[float | None]:
    """Factor of the problem's size, at least 1, at which each number of ranks has the efficiency wanted; None beyond
    `MOST_GROWTH`. All are bisected at once; a larger problem is taken to be no less efficient."""
    growths: dict[int, float | None] = {
        ranks: 1.0
        for ranks, here in zip(listed, efficiencies(listed, [1.0] * len(listed)), strict=True)
        if here >= wanted
    }
    low, high = (dict.fromkeys((ranks for ranks in listed if ranks not in growths), at) for at in (1.0, 2.0))
    bracketed: set[int] = set()  # numbers of ranks whose upper end is found; then both ends close in
    while waiting := [ranks for ranks in low if ranks not in bracketed]:
        for ranks, here in zip(waiting, efficiencies(waiting, [high[each] for each in waiting]), strict=True):
            if here >= wanted:
                bracketed.add(ranks)
            elif high[ranks] ** 2 > MOST_GROWTH:
                growths[ranks] = None
                del low[ranks], high[ranks]
            else:
                low[ranks], high[ranks] = high[ranks], high[ranks] ** 2  # from 2, five squarings reach 4e9
    while waiting := [ranks for ranks in low if high[ranks] / low[ranks] > 1 + 1e-9]:
        middles = [sqrt(low[ranks] * high[ranks]) for ranks in waiting]  # of growths that span orders of magnitude
        for ranks, middle, here in zip(waiting, middles, efficiencies(waiting, middles), strict=True):
            (high if here >= wanted else low)[ranks] = middle
    return [growths[ranks] if ranks in growths else high[ranks] for ranks in listed]
