"""The LRU stack of a trace, a chunk at a time: how many other lines are touched between two references to a line.

With the lines in the order of their last reference as references of a time before the chunk, a reuse is an interval of
time, from `start` to `end`. Of the `end - start - 1` references inside of it, those that are the end of an interval
inside of it touch a line that has been counted already:

    distance = (end - start - 1) - |{other: start < start_other, end_other < end}|

In the order of the ends, these are the earlier intervals that start later (Mattson et al. 1970 for the stack; the
counting is that of Bennett and Kruskal 1975 with another data structure). They are counted by a wavelet tree in NumPy,
`DIGIT` bits at a time, the highest first. Of two values the first digit in which they differ says which is greater; so
the count is a sum over the digits, each over the elements whose higher digits agree. Sorted by these, stably, such
elements stand together, in groups whose sizes are powers of two, since the values are a permutation. In a group the
elements of earlier blocks are counted by a histogram of digits for each block, and those of the same block one by one,
which a processor does for many blocks at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGIT = 6  # bits; a block has as many elements as a digit has values: its counts fit a byte

WIDTH = 1 << DIGIT

MOST = 1 << (DIGIT + 16)
"""Elements: NumPy sorts 16 bits, the digits above the lowest, in a time that grows with their number only."""

COLUMNS = 4096  # blocks that are compared at once: what they take, 512 KiB, stays near the processor


def count_earlier_and_greater(values: NDArray[Any]) -> NDArray[np.int32]:
    """Number of greater elements before each element of a permutation of 0, 1, ..., n - 1; n <= `MOST`."""
    length = len(values)
    digits = max(1, -(-max(length - 1, 1).bit_length() // DIGIT))
    padded = -(-length >> DIGIT * max(digits - 1, 1)) << DIGIT * max(digits - 1, 1)
    # What fills the last group is greater than all before it, and comes after them: it counts for nobody.
    current = np.arange(padded, dtype=np.uint32)
    current[:length] = values
    place = np.arange(padded, dtype=np.int32)
    counts = np.zeros(padded, np.int32)
    for level in range(digits - 1, -1, -1):
        digit = (current >> np.uint32(DIGIT * level)).astype(np.uint8) & np.uint8(WIDTH - 1)
        greater = _count_in_own_block(digit).astype(np.int32)
        if level:
            greater += _count_in_earlier_blocks(digit, min(1 << DIGIT * (level + 1), padded))
        counts[place] += greater
        if level:
            order = np.argsort((current >> np.uint32(DIGIT * level)).astype(np.uint16), kind="stable")
            current, place = current[order], place[order]
    return counts[:length]


def _count_in_own_block(digit: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Number of earlier elements of the same block with a greater digit, for each element."""
    blocks = digit.reshape(-1, WIDTH)
    counts = np.empty_like(blocks)
    for start in range(0, len(blocks), COLUMNS):
        rows = np.ascontiguousarray(blocks[start : start + COLUMNS].T)
        found = np.zeros_like(rows)
        greater = np.empty(rows.shape, np.bool_)
        for row in range(1, WIDTH):
            np.greater(rows[:row], rows[row], out=greater[:row])
            np.add.reduce(greater[:row].view(np.uint8), axis=0, dtype=np.uint8, out=found[row])
        counts[start : start + COLUMNS] = found.T
    return counts.reshape(-1)


def _count_in_earlier_blocks(digit: NDArray[np.uint8], group: int) -> NDArray[np.int32]:
    """Number of elements of earlier blocks of the same group, of `group` elements, that have a greater digit."""
    blocks = len(digit) >> DIGIT
    key = (np.arange(len(digit), dtype=np.int32) & -WIDTH) | digit
    having = np.bincount(key, minlength=len(digit)).astype(np.int32).reshape(-1, WIDTH)
    at_least = having[:, ::-1].cumsum(axis=1, dtype=np.int32)[:, ::-1]
    above = np.zeros((blocks, WIDTH), np.int32)
    for start in range(0, blocks, group >> DIGIT):
        end = min(start + (group >> DIGIT), blocks)
        np.cumsum(at_least[start : end - 1, 1:], axis=0, out=above[start + 1 : end, :-1])
    counted: NDArray[np.int32] = above.reshape(-1)[key]
    return counted


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
        """Place of each line in the order of last references, the longest ago first."""

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def chunk(self) -> int:
        """Number of references that the next call of `distances` should have: enough to pay for renewing the order."""
        return min(max(LEAST_CHUNK, len(self)), MOST_CHUNK)

    def distances(self, lines: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Distances of the next references, at most `MOST` of them: the number of other lines since the last one to the
        same line, or `COLD`."""
        distances = np.zeros(len(lines), np.int64)
        if not len(lines):
            return distances
        # A reference to the line of the one before it has distance 0 and changes nothing.
        moved = np.flatnonzero(np.concatenate(([True], lines[1:] != lines[:-1])))
        distances[moved] = self._measure(lines[moved])
        return distances

    def _measure(self, lines: NDArray[np.uint64]) -> NDArray[np.int64]:
        known, count = len(self), len(lines)
        ordered, time = _sort_lines(lines)
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
        rank = _rank_times(start, known + count)
        distances[end] = (known + end - start - 1) - count_earlier_and_greater(rank[start])

        latest, is_new = time[last] + known, ~is_known
        self._rank[place[is_known]] = latest[is_known]
        if is_new.any():
            self.lines = np.insert(self.lines, place[is_new], touched[is_new])
            self._rank = np.insert(self._rank, place[is_new], latest[is_new])
        self._rank = _rank_times(self._rank, known + count)[self._rank]
        return distances


def _sort_lines(lines: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
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


def _rank_times(times: NDArray[np.int64], end: int) -> NDArray[np.int64]:
    """A table of all times before `end`: for those that are given, how many of them are earlier."""
    given = np.zeros(end, np.bool_)
    given[times] = True
    places: NDArray[Any] = np.cumsum(given, dtype=np.int64) - 1
    return places
