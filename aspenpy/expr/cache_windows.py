"""Windows between two touches of a line, set by set: the share of an array's lines that find room."""

from __future__ import annotations

import math
from bisect import bisect
from functools import lru_cache

from aspenpy.allowance import INTERPRETED
from aspenpy.expr.arithmetic import DomainError, Number, normalise_number
from aspenpy.expr.cache_laws import require_positive_whole
from aspenpy.expr.cache_walks import Cache, read_window
from aspenpy.expr.failures import NoOperationsLeft, spend


def share_kept(room: Number, line: Number, sets: Number, *window: Number) -> Number:
    """The share of an array's lines that are touched again while no more lines are in use in their set than there is
    `room`, counted line by line.

    `window`: the number of loops outside and their trips; for each data structure the number of its walks, and these;
    the first is that of the array. A walk: bytes of a run; the number of loops inside, their strides (bytes) and trips;
    stride and trips of the loop around these, which each touch parts: what is behind it comes in the one pass, what is
    before it in the next; how many bytes further that lies; its strides in the loops outside; the address where
    it begins.

    Some lines stand for all, as Vera, Bermudo, Llosa and Gonzalez (TOPLAS 2004) sample the iterations of loops.
    """
    size, count = (
        require_positive_whole(line, "the size of a cache line"),
        require_positive_whole(sets, "a number of sets"),
    )
    limit, window = math.floor(room), _without_empty_runs(window)
    sure = _sure_share_of_runs(limit, size, count, window)
    return _window(size, count, window).share_within(limit) if sure is None else sure


ONE_RUN = (0, 0, 1, 0, 0)
"""A walk behind its bytes: one run without loops, at the begin of a way."""


def _without_empty_runs(window: tuple[Number, ...]) -> tuple[Number, ...]:
    """A window of plain runs without those of no bytes behind the first: what a loop does not go on in has no line."""
    if window[:1] != (0,) or len(window) % 7 != 1 or not any(size <= 0 for size in window[9::7]):
        return window
    runs = [window[index : index + 7] for index in range(1, len(window), 7)]
    if any(run[0] != 1 or run[2:] != ONE_RUN for run in runs):
        return window
    return (0, *(number for place, run in enumerate(runs) if place == 0 or not run[1] <= 0 for number in run))


def _sure_share_of_runs(limit: int, size: int, count: int, window: tuple[Number, ...]) -> Number | None:
    """The share of a window of plain runs, as warm data are asked for many times a model, by their length alone; None
    where that does not tell."""
    if window[:1] != (0,) or len(window) % 7 != 1:
        return None
    most = least = 0
    for index in range(1, len(window), 7):
        if window[index] != 1 or window[index + 2 : index + 7] != ONE_RUN:
            return None
        length = max(1, math.ceil(window[index + 1]))
        most += min(length // size + 2, length // (size * count) + 2)
        least += length // size // count
    return 1 if most <= limit else 0 if least > limit else None


WINDOWS = 8192
"""Windows that are kept: that of caches of other ways is the same, as is that beside other numbers of drawn lines."""

HEADROOM = 8
"""Ways asked for, for each of which one more is counted, beside one in any case."""


class CountedWindow:
    """The structures of a window in a cache of `count` sets with lines of `size` bytes. Lines in use are counted once
    for all numbers of ways that are asked about."""

    def __init__(self, size: int, count: int, window: tuple[Number, ...]) -> None:
        spend(2 * INTERPRETED * len(window))  # each number is read, and looked at among the others
        self.trips, self.measured = read_window(window, size)
        walks = [walk for found in self.measured for walk in found]
        self.way, self.first = size * count, walks[0].walk.place
        begins = [(walk.walk.place - self.first) % self.way for walk in walks]
        in_set = ((begin + walk.reach) // self.way + 2 for begin, walk in zip(begins, walks, strict=True))
        self.most = sum(map(min, (walk.most for walk in walks), in_set))
        alone = len(walks) == len(self.measured)
        self.least = sum(walk.least // count for walk in walks) if alone else 0
        reach = max(begin + walk.reach_outside for begin, walk in zip(begins, walks, strict=True))
        unit = math.gcd(size, *begins, *(walk.divisor for walk in walks))
        self.cache = Cache(size, min(count, reach // size + 2), unit)
        self.counted = -1
        self.used, self.shares = list[int](), list[float]()

    def share_within(self, limit: int) -> Number:
        """The share of the first structure's lines in sets with no more lines in use than that."""
        if self.most <= limit:
            return 1
        if self.least > limit:
            return 0
        if limit > self.counted:
            self._count(limit)
        index = bisect(self.used, limit)
        return normalise_number(self.shares[index - 1] if index else 0.0)

    def _count(self, limit: int) -> None:
        from aspenpy.expr.cache_sets import shares_by_use

        structures = [
            [walk.walk.move_begin((walk.walk.place - self.first) % self.way) for walk in window]
            for window in self.measured
        ]
        more = limit + 1 + limit // HEADROOM
        try:
            self.used, self.shares = shares_by_use(more, self.trips, structures, self.cache)
        except NoOperationsLeft:
            raise
        except DomainError:  # of what only a larger cache would come to
            more = limit
            self.used, self.shares = shares_by_use(more, self.trips, structures, self.cache)
        self.counted = more


@lru_cache(maxsize=WINDOWS)
def _window(size: int, count: int, window: tuple[Number, ...]) -> CountedWindow:
    return CountedWindow(size, count, window)
