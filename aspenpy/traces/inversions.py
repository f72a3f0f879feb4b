"""Counting, for each element of a permutation, the earlier ones that are greater: a wavelet tree in NumPy.

The values are looked at `DIGIT` bits at a time, the highest first. Of two values the first digit in which they differ
says which is greater; so the count is a sum over the digits, each over the elements whose higher digits agree. Sorted
by these, stably, such elements stand together, in groups whose sizes are powers of two, since the values are a
permutation. In a group the elements of earlier blocks are counted by a histogram of digits for each block, and those
of the same block one by one, which a processor does for many blocks at once.
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


def earlier_and_greater(values: NDArray[Any]) -> NDArray[np.int32]:
    """For each element of a permutation of 0, 1, ..., n - 1 how many before it are greater; n <= `MOST`."""
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
        greater = _in_own_block(digit).astype(np.int32)
        if level:
            greater += _in_earlier_blocks(digit, min(1 << DIGIT * (level + 1), padded))
        counts[place] += greater
        if level:
            order = np.argsort((current >> np.uint32(DIGIT * level)).astype(np.uint16), kind="stable")
            current, place = current[order], place[order]
    return counts[:length]


def _in_own_block(digit: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """How many earlier elements of the same block have a greater digit."""
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


def _in_earlier_blocks(digit: NDArray[np.uint8], group: int) -> NDArray[np.int32]:
    """How many elements of earlier blocks of the same group, of `group` elements, have a greater digit."""
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
