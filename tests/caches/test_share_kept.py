"""The share of lines that find room in their sets between two touches, against touching every line."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import pytest

from aspenpy.expr import cache_sets, cache_windows
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.cache_sets import sum_floors
from aspenpy.expr.cache_windows import share_kept

LINE = 16

Walk = tuple[int, tuple[tuple[int, int], ...], tuple[int, int], int, tuple[int, ...]]
"""Bytes of a run, loops inside, the loop around them, the shift, strides in the loops outside."""


def arguments(ways: int, sets: int, trips: tuple[int, ...], walks: list[Walk], apart: int = 0) -> list[int]:
    """As the law takes them, each walk on a data structure of its own, so far behind the one before."""
    numbers = [ways, LINE, sets, len(trips), *trips]
    for number, (run, inner, around, shift, outer) in enumerate(walks):
        loops = (part for loop in inner for part in loop)
        numbers += [1, run, len(inner), *loops, *around, shift, *outer, number * apart]
    return numbers


def lines(walk: Walk, trips: range, place: tuple[int, ...], shift: int) -> set[int]:
    """All that some trips of a walk touch, byte by byte."""
    run, inner, (stride, _), _, outer = walk
    base = shift + sum(map(math.prod, zip(outer, place, strict=True)))
    starts = [
        base + stride * trip + sum(step * at for (step, _), at in zip(inner, ats, strict=True))
        for trip in trips
        for ats in product(*(range(count) for _, count in inner))
    ]
    return {byte // LINE for start in starts for byte in range(start, start + run)}


def touched_one_by_one(ways: int, sets: int, trips: tuple[int, ...], walks: list[Walk], apart: int = 0) -> float:
    """Of the first walk's lines that the next pass touches again, those with no more than `ways` lines in their set
    since the last trip that touched them."""
    kept = total = 0
    own, count = walks[0], walks[0][2][1]
    for place in product(*map(range, trips)):
        by_trip = [lines(own, range(trip, trip + 1), place, 0) for trip in range(count)]
        again = [lines(own, range(trip, trip + 1), place, own[3]) for trip in range(count)]
        for line in sorted(set().union(*by_trip)):
            left = max(trip for trip in range(count) if line in by_trip[trip])
            found = min((trip for trip in range(count) if line in again[trip]), default=None)
            if found is None:
                continue
            in_use = 0
            for number, walk in enumerate(walks):
                met = lines(walk, range(left, count), place, 0) | lines(walk, range(found), place, walk[3])
                behind = number * apart // LINE
                in_use += len({(number, other) for other in met if (other + behind - line) % sets == 0})
            kept, total = kept + (in_use <= ways), total + 1
    return kept / total if total else math.nan


COLUMN: Walk = (8, (), (72, 9), 8, (0, 72))
ROW: Walk = (8, (), (8, 9), 0, (72, 8))
TILE: Walk = (8, ((80, 5),), (8, 5), 0, (40, 0))
RESULT: Walk = (8, (), (8, 5), 80, (0, 400))
WINDOWS = [
    ((3, 6), [COLUMN, ROW]),
    ((3, 6), [ROW, COLUMN]),
    ((3, 3), [TILE, RESULT]),
    ((2, 3), [TILE, RESULT, (4, (), (0, 1), 40, (8, 4))]),
    ((4,), [(64, (), (0, 1), 0, (64,)), (4, (), (0, 1), 4, (4,))]),
    ((4,), [(8, ((128, 4),), (8, 4), 0, (512,)), (200, (), (0, 1), 0, (200,))]),
]


@pytest.mark.parametrize(("trips", "walks"), WINDOWS)
@pytest.mark.parametrize(("ways", "sets"), [(1, 16), (2, 8), (4, 4), (9, 1)])
def test_line_by_line(ways: int, sets: int, trips: tuple[int, ...], walks: list[Walk]) -> None:
    expected = touched_one_by_one(ways, sets, trips, walks)
    assert float(share_kept(*arguments(ways, sets, trips, walks))) == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize(("trips", "walks"), WINDOWS)
@pytest.mark.parametrize(("ways", "sets"), [(1, 16), (2, 8)])
@pytest.mark.parametrize("apart", [16, 48, 208])
def test_arrays_that_begin_elsewhere(
    ways: int, sets: int, trips: tuple[int, ...], walks: list[Walk], apart: int
) -> None:
    expected = touched_one_by_one(ways, sets, trips, walks, apart)
    assert float(share_kept(*arguments(ways, sets, trips, walks, apart))) == pytest.approx(expected, abs=0.04)


def forget() -> None:
    """Leaves nothing known of windows before."""
    for table in (cache_sets._count_begins, cache_sets._count_lines_by_trip):
        table.clear()
    cache_windows._window.cache_clear()


@pytest.mark.parametrize(("trips", "walks"), WINDOWS)
def test_without_tables(trips: tuple[int, ...], walks: list[Walk], monkeypatch: pytest.MonkeyPatch) -> None:
    """As large caches are counted."""
    tabled = share_kept(*arguments(2, 8, trips, walks))
    forget()
    monkeypatch.setattr(cache_sets, "MOST_TABLED", 0)
    assert share_kept(*arguments(2, 8, trips, walks)) == tabled
    expected = touched_one_by_one(2, 8, trips, walks)
    assert float(tabled) == pytest.approx(expected, abs=0.04)
    forget()


@pytest.mark.parametrize(("trips", "walks"), WINDOWS)
def test_ways_in_any_order(trips: tuple[int, ...], walks: list[Walk]) -> None:
    """A window that is kept answers for all ways what a fresh one does, and for structures in any order."""
    fresh = []
    for ways in range(10):
        forget()
        fresh.append(share_kept(*arguments(ways, 8, trips, walks)))
    assert fresh == sorted(fresh)
    for order in (range(10), reversed(range(10)), (3, 9, 0, 5)):
        forget()
        assert all(share_kept(*arguments(ways, 8, trips, walks)) == fresh[ways] for ways in order)
    own, *others = walks
    swapped = arguments(4, 8, trips, [own, *reversed(others)])
    assert share_kept(*swapped) == fresh[4]


def test_floor_sums() -> None:
    """Against the sums written out, with negative begins, steps beyond the modulus, and more digits than a
    floating-point number holds."""
    draws = Random(5)
    for number in range(400):
        scale = 10 ** (0, 5, 11, 14)[number % 4]
        step, modulus = draws.randrange(90 * scale), draws.randrange(1, 60 * scale)
        counts = [draws.randrange(70) for _ in range(5)]
        begins = [draws.randrange(-10 * scale, 10 * scale) for _ in counts]
        expected = [
            sum((begin + step * t) // modulus for t in range(count))
            for count, begin in zip(counts, begins, strict=True)
        ]
        assert sum_floors(counts, step, modulus, begins).tolist() == expected


def test_large_caches() -> None:
    """8 or 16 GiB of one way: runs and columns are counted in closed form, tiles where the cache has no more than 4
    million units. Four rows of a column come round to places 64 KiB apart, so that none meet."""
    streams = [1, 64, 2**28, 1, 10, 1, 2**34, 0, 0, 1, 8, 8, 0, 1, 2**34, 0, 0, 1, 8, 8, 0]
    assert share_kept(*streams) == 0
    assert share_kept(1, 64, 2**27, 1, 10, 1, 8, 0, 2**20 + 8, 2**15, 8, 8, 0) == 1
    tiles = [1, 64, 2**28, 1, 10, 1, 8, 1, 2**20, 9, 2**24 + 8, 2**16, 8, 8, 0]
    with pytest.raises(DomainError, match="too large for strides of 8 bytes"):
        share_kept(*tiles)


@pytest.mark.parametrize("sets", [1, 3, 4])
def test_plain_runs_are_counted_set_by_set(sets: int) -> None:
    """Runs without loops that all begin at the same set, whose lengths mostly tell: against the lines of each set."""
    sizes = (1, LINE - 1, LINE, LINE + 1, 3 * LINE, 5 * LINE + 7, 12 * LINE, 40 * LINE + 1)
    for ways, *runs in product(range(1, 9), sizes, (0, *sizes)):
        counts = [[(math.ceil(run / LINE) - at + sets - 1) // sets for at in range(sets)] for run in runs if run]
        kept = sum(own for own, *others in zip(*counts, strict=True) if own + sum(others) <= ways)
        walks: list[Walk] = [(run, (), (0, 1), 0, ()) for run in runs if run]
        expected = kept / math.ceil(runs[0] / LINE)
        assert share_kept(*arguments(ways, sets, (), walks)) == pytest.approx(expected, rel=1e-12), (ways, runs)


def test_a_run_of_no_bytes_has_no_line() -> None:
    """Two runs fill eight ways of 32 sets to the last line; a line more is in one of their sets."""
    full, more = [8, 64, 32, 0, *([1, 8192, 0, 0, 1, 0, 0] * 2)], [0, 0, 1, 0, 0]
    kept = [share_kept(*full, 1, size, *more) for size in (0, 1, 64, 2048)]
    assert kept == [1, 31 / 32, 31 / 32, 0]
    assert share_kept(7, *full[1:]) == 0
