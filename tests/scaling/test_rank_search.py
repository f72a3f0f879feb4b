"""Searches over numbers of ranks: against trying all of them, and efficiencies with a closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy
import pytest

from aspenpy.explore.rank_search import RankSearch, batch_size, doublings, find_growths


@pytest.mark.parametrize(
    ("operations", "size"),
    [(0, 2048), (1, 2048), (4882, 2048), (4883, 2047), (10_000, 1000), (625_000, 16), (10**9, 16)],
)
def test_fewer_ranks_at_once_where_each_costs_more(operations: float, size: int) -> None:
    """Ten million operations at once, 16 to 2,048 ranks."""
    assert batch_size(operations) == size


@pytest.mark.parametrize(
    ("first", "last", "counts"),
    [(1, 1, [1]), (1, 2, [1, 2]), (1, 5, [1, 2, 4, 5]), (3, 24, [3, 6, 12, 24]), (3, 25, [3, 6, 12, 24, 25])],
)
def test_doublings(first: int, last: int, counts: list[int]) -> None:
    assert doublings(first, last) == counts


TIMES: dict[str, Callable[[Any], Any]] = {
    "a valley": lambda p: 1e6 / p + p,  # least at 1,000
    "far out": lambda p: 1e8 / p + p,  # at 10,000
    "falling": lambda p: 1.0 / p,
    "rising": lambda p: 1.0 * p,
    "level": lambda p: 0 * p + 1.0,  # the fewest of equals
    "steps": lambda p: numpy.ceil(1000 / p) + numpy.floor(p / 300),
}


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 7), (5, 1024), (1, 1025), (1, 40_000), (30_000, 40_000)])
@pytest.mark.parametrize("at_once", [16, 2048])
def test_the_fastest_of_all(name: str, first: int, last: int, at_once: int) -> None:
    """The fewest ranks that take the least time; beyond 1,024, where candidates are looked at, hardly longer."""

    def times(counts: Sequence[int]) -> Any:
        assert len(counts) <= at_once
        return numpy.asarray(TIMES[name](numpy.asarray(counts, dtype=float)))

    listed = doublings(first, last)
    found = RankSearch(times, (), first, last, at_once).find_fastest(listed, list(TIMES[name](numpy.array(listed))))
    assert found is not None
    every = numpy.arange(first, last + 1)
    values = TIMES[name](every.astype(float))
    best = int(every[values.argmin()])
    if name == "steps":  # no valley: what a search of few at once finds is near
        assert TIMES[name](found) <= 1.35 * values.min()
    elif at_once == 2048 or name in ("rising", "falling"):
        assert found == best
    else:
        assert TIMES[name](found) == pytest.approx(values.min(), rel=1e-3)


@pytest.mark.parametrize("wanted", [0.5, 0.8])
def test_growths_of_a_closed_form(wanted: float) -> None:
    """Efficiency g/(g + c) of a problem g times as large is reached at g = c w/(1 - w), at 1 where that is less."""
    overheads = {1: 0.0, 2: 0.25, 4: 1.0, 8: 3.7, 16: 1e3, 32: 1e7, 64: 1e14}

    def efficiencies(ranks: Sequence[int], growths: Sequence[float]) -> list[float]:
        return [growth / (growth + overheads[each]) for each, growth in zip(ranks, growths, strict=True)]

    found = find_growths(list(overheads), wanted, efficiencies)
    for ranks, growth in zip(overheads, found, strict=True):
        exact = max(1.0, overheads[ranks] * wanted / (1 - wanted))
        assert growth == (None if ranks == 64 else pytest.approx(exact, rel=2e-9))
        assert growth is None or efficiencies([ranks], [growth])[0] >= wanted * (1 - 1e-12)


@pytest.mark.parametrize(("growth", "is_found"), [(2.0**32, True), (2.0**32 * 1.01, False)])
def test_growths_end_where_the_next_square_is_too_large(growth: float, is_found: bool) -> None:
    """2, 4, 16, 256, 65,536, 4e9: its square is above 1e12."""
    (found,) = find_growths([2], 0.5, lambda ranks, growths: [each / growth / 2 for each in growths])
    assert (found is not None) is is_found
    if is_found:
        assert found == pytest.approx(growth, rel=1e-8)
    assert sqrt(growth) < 1e12
