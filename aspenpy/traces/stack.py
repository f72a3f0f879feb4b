"""The LRU stack of a trace, a chunk at a time: how many other lines are touched between two references to a line.

With the lines in the order of their last reference as references of a time before the chunk, a reuse is an interval of
time, from `start` to `end`. Of the `end - start - 1` references inside of it, those that are the end of an interval
inside of it touch a line that has been counted already:

    distance = (end - start - 1) - |{other: start < start_other, end_other < end}|

In the order of the ends, these are the earlier intervals that start later (Mattson et al. 1970 for the stack; the
counting is that of Bennett and Kruskal 1975 with another data structure).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aspenpy.traces.inversions import DIGIT, MOST, earlier_and_greater

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_CHUNK, MOST_CHUNK = 1 << 3 * DIGIT, MOST // 2
"""References. A chunk grows with the number of lines, whose order is renewed after each. Three digits of the counting
tell the references of the smallest apart."""

COLD = -1  # the distance of a first reference


class LruStack:
    """The lines that were touched, and how long ago each was: memory for the lines and one chunk, not for the trace."""

    def __init__(self) -> None:
        self.lines: NDArray[np.uint64] = np.empty(0, np.uint64)
        """All that were touched, ascending."""
        self._rank: NDArray[np.int64] = np.empty(0, np.int64)
        """Of each line its place in the order of last references, the longest ago first."""

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def chunk(self) -> int:
        """How many references the next call of `distances` should have: enough to pay for renewing the order."""
        return min(max(LEAST_CHUNK, len(self)), MOST_CHUNK)

    def distances(self, lines: NDArray[np.uint64]) -> NDArray[np.int64]:
        """For the next references, at most `MOST` of them, the number of other lines since the last one to the same
        line, or `COLD`."""
        distances = np.zeros(len(lines), np.int64)
        if not len(lines):
            return distances
        # A reference to the line of the one before it has distance 0 and changes nothing.
        moved = np.flatnonzero(np.concatenate(([True], lines[1:] != lines[:-1])))
        distances[moved] = self._distances(lines[moved])
        return distances

    def _distances(self, lines: NDArray[np.uint64]) -> NDArray[np.int64]:
        known, count = len(self), len(lines)
        ordered, time = _by_line(lines)
        same = ordered[1:] == ordered[:-1]
        first = np.concatenate(([True], ~same))
        last = np.concatenate((~same, [True]))
        touched = ordered[first]
        place = np.searchsorted(self.lines, touched)
        is_known = place < known
        is_known[is_known] = self.lines[place[is_known]] == touched[is_known]

        start = np.empty(count, np.int64)
        start[time[1:]] = time[:-1] + known
        start[time[first]] = COLD
        start[time[first][is_known]] = self._rank[place[is_known]]
        distances = np.full(count, COLD, np.int64)
        end = np.flatnonzero(start != COLD)
        start = start[end]
        rank = _places(start, known + count)
        distances[end] = (known + end - start - 1) - earlier_and_greater(rank[start])

        latest, is_new = time[last] + known, ~is_known
        self._rank[place[is_known]] = latest[is_known]
        if is_new.any():
            self.lines = np.insert(self.lines, place[is_new], touched[is_new])
            self._rank = np.insert(self._rank, place[is_new], latest[is_new])
        self._rank = _places(self._rank, known + count)[self._rank]
        return distances


def _by_line(lines: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The lines in ascending order, and the place that each had; equal ones in the order of their places.

    One sort of both in one word is several times faster than a stable one, where they fit.
    """
    bits = max(len(lines) - 1, 1).bit_length()
    least = lines.min()
    if int(lines.max() - least).bit_length() + bits > 64:
        order = np.argsort(lines, kind="stable")
        return lines[order], order.astype(np.int64)
    both = ((lines - least) << np.uint64(bits)) | np.arange(len(lines), dtype=np.uint64)
    both.sort()
    time = both & np.uint64((1 << bits) - 1)
    return (both >> np.uint64(bits)) + least, time.astype(np.int64)


def _places(times: NDArray[np.int64], end: int) -> NDArray[np.int64]:
    """A table of all times before `end`: for those that are given, how many of them are earlier."""
    given = np.zeros(end, np.bool_)
    given[times] = True
    places: NDArray[Any] = np.cumsum(given, dtype=np.int64) - 1
    return places
