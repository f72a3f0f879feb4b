"""Values that are tried where nothing is proven, and points that a search begins from: spread over all there is."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from aspenpy.explore.crossovers import MOST_LOOKS, Crossovers
from aspenpy.explore.problem import SCATTERED, Problem
from aspenpy.sweeps.grid import AxisSpread


def looks(low: float, high: float, whole: bool) -> list[Any]:
    return Crossovers._values_to_try(SimpleNamespace(whole=whole), low, high)  # type: ignore[arg-type]


@pytest.mark.parametrize(("low", "high"), [(0, 10), (-3, 5), (-0.5, 0), (1e-3, 1), (2, 4096)])
def test_looks_go_from_end_to_end(low: float, high: float) -> None:
    """In equal ratios where both ends are above 0, else in equal steps."""
    found = numpy.array([float(value) for value in looks(low, high, whole=False)])
    assert len(found) == MOST_LOOKS
    assert (found[0], found[-1]) == (low, high)
    apart = numpy.diff(numpy.log(found) if low > 0 else found)
    assert apart == pytest.approx(numpy.full(MOST_LOOKS - 1, apart.mean()), rel=1e-6)


@pytest.mark.parametrize("width", [MOST_LOOKS - 2, MOST_LOOKS - 1, MOST_LOOKS, MOST_LOOKS + 1, 10**6])
@pytest.mark.parametrize("low", [0, 1, 50])
def test_looks_at_whole_numbers(low: int, width: int) -> None:
    """At each of a few, at some of many, the ends among them, and at none twice."""
    found = looks(low, low + width, whole=True)
    assert all(value == int(value) for value in found)
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (low, low + width)
    assert (found == list(range(low, low + width + 1))) == (width < MOST_LOOKS)


def scattered(count: int) -> numpy.ndarray:
    variables = [
        SimpleNamespace(values_at=AxisSpread(0, 1).values_at, base=0.3, low=0.0, high=1.0) for _ in range(count)
    ]
    problem = SimpleNamespace(real=range(count), space=SimpleNamespace(variables=variables))
    return Problem._scatter_points(problem)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_search_begins_from_points_all_over(count: int) -> None:
    """The base, both ends and the middle; of the others some in each of 27 or more cells of equal size, in none more
    than three times as many as there would be if all had as many."""
    found = scattered(count)
    assert found[:4].tolist() == [[value] * count for value in (0.3, 0.0, 1.0, 0.5)]
    assert len(found) == 4 + SCATTERED
    parts = {1: 32, 2: 6, 3: 3}[count]
    cells = Counter(map(tuple, numpy.floor(found[4:] * parts).astype(int).tolist()))
    assert len(cells) == parts**count
    assert max(cells.values()) <= 3 * SCATTERED / parts**count
