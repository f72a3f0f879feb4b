"""Distances of the stack, in chunks, against a stack that is searched, and counts against comparing all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.traces.stack import COLUMNS, LEAST_CHUNK, WIDTH, LruStack, count_earlier_and_greater
from tests.reuse.simulation import stack_distances


def in_chunks(lines: list[int], cuts: list[int]) -> list[int]:
    """Distances of a trace that comes in chunks of these sizes, over and over."""
    stack, found, start, turn = LruStack(), [], 0, 0
    while start < len(lines):
        size = cuts[turn % len(cuts)]
        found += stack.distances(np.array(lines[start : start + size], np.uint64)).tolist()
        start, turn = start + size, turn + 1
    assert stack.lines.tolist() == sorted(set(lines))
    return found


@given(
    st.integers(1, 40).flatmap(lambda most: st.lists(st.integers(0, most), max_size=200)),
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
)
def test_chunks(lines: list[int], cuts: list[int]) -> None:
    assert in_chunks(lines, cuts) == stack_distances(lines)


@given(st.lists(st.sampled_from([0, 1, 2**63, 2**64 - 1, 2**40, 77]), max_size=60), st.integers(1, 30))
def test_lines_too_far_apart_for_one_word(lines: list[int], cut: int) -> None:
    assert in_chunks(lines, [cut]) == stack_distances(lines)


def test_zipf() -> None:
    lines = np.random.default_rng(7).zipf(1.3, 5000) % 700
    assert in_chunks(lines.tolist(), [333]) == stack_distances(lines.tolist())


@pytest.mark.parametrize("lines", [1, 2, 1000, 70_000])
def test_cyclic_sweep(lines: int) -> None:
    """All others are touched before a line is touched again."""
    found = in_chunks(list(range(lines)) * 3, [LEAST_CHUNK, 12_345])
    assert found == [-1] * lines + [lines - 1] * 2 * lines


def test_there_and_back() -> None:
    """0 1 ... n-1 n-1 ... 1 0: the line i from the top has the i lines above it in between."""
    n = 300
    assert in_chunks([*range(n), *reversed(range(n))], [64]) == [-1] * n + list(range(n))


def test_chunks_grow_with_the_lines() -> None:
    stack = LruStack()
    assert stack.chunk == LEAST_CHUNK
    stack.distances(np.arange(2 * LEAST_CHUNK, dtype=np.uint64))
    assert stack.chunk == len(stack) == 2 * LEAST_CHUNK


@given(st.integers(0, 300).flatmap(lambda n: st.permutations(range(n))))
def test_counts_of_permutations(values: list[int]) -> None:
    expected = [sum(other > value for other in values[:place]) for place, value in enumerate(values)]
    assert count_earlier_and_greater(np.array(values, np.int64)).tolist() == expected


@pytest.mark.parametrize("size", [1, 63, 64, 65, 4096, 4097, 2**18, 2**18 + 1])
def test_sizes_at_which_a_digit_is_added(size: int) -> None:
    falling = np.arange(size)[::-1]
    assert (count_earlier_and_greater(falling) == np.arange(size)).all()
    assert not count_earlier_and_greater(np.arange(size)).any()
    shuffled = np.random.default_rng(size).permutation(size)
    where = np.argsort(shuffled)
    counts = count_earlier_and_greater(shuffled)
    # The inverse permutation has as many inversions, and so has the reversed one the others.
    assert counts.sum() == count_earlier_and_greater(where).sum()
    assert counts.sum() + count_earlier_and_greater(shuffled[::-1]).sum() == size * (size - 1) // 2


def test_blocks_fit_a_byte() -> None:
    assert WIDTH - 1 <= 255
    assert COLUMNS * WIDTH * 2 == 512 * 1024
