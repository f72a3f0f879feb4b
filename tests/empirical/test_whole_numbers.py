"""Whole numbers that fit best, by branch and bound: against trying all of them."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy
import pytest

pytest.importorskip("scipy", reason="the extra `fit` is not installed")

from scipy.optimize import lsq_linear

from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.fitting import search
from aspenpy.learn.fitting.search import LeastSquaresSolution, branch_and_bound, keep_best


@pytest.fixture(autouse=True)
def boxes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, int]]:
    """Squares of linear errors, whose bottom in a box SciPy knows; the boxes that are asked for, with the runs."""
    asked: list[tuple[Any, int]] = []

    def minimise(errors: Any, box: Any, runs: int) -> LeastSquaresSolution:
        asked.append((box, runs))
        matrix, target = errors
        low, high = (numpy.array([ends[side] for ends in box], dtype=float) for side in (0, 1))
        free = low < high
        values = low.copy()
        if free.any():
            rest = target - matrix[:, ~free] @ low[~free]
            values[free] = lsq_linear(matrix[:, free], rest, (low[free], high[free]), tol=1e-14).x
        values = numpy.where(abs(values - values.round()) < 1e-9, values.round(), values)
        return LeastSquaresSolution(tuple(map(float, values)), cost(errors, values))

    monkeypatch.setattr(search, "minimise_in_box", minimise)
    return asked


def cost(errors: Any, values: Any) -> float:
    matrix, target = errors
    return float(((matrix @ numpy.asarray(values, dtype=float) - target) ** 2).sum() / 2)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_of_all_whole_numbers(seed: int) -> None:
    chance = random.Random(seed)
    matrix = numpy.array([[chance.uniform(-1, 1) for _ in range(3)] for _ in range(5)])
    errors = matrix, matrix @ numpy.array([chance.uniform(-1, 6) for _ in range(3)])
    box = ((0.0, 5.0), (-1.0, 4.0), (2.0, 4.0))
    found = branch_and_bound(errors, box, [0, 1, 2])  # type: ignore[arg-type]
    every = product(*(range(int(low), int(high) + 1) for low, high in box))
    best = min(every, key=lambda values: cost(errors, values))
    assert found.values == best
    assert found.cost == pytest.approx(cost(errors, best))


def test_real_parameters_beside_whole_ones() -> None:
    """x + y = 2.4 and x - y = 1.0 at 1.7 and 0.7: of whole x, 2 with y = 0.7 and the squares of 0.3 twice."""
    errors = numpy.array([[1.0, 1.0], [1.0, -1.0]]), numpy.array([2.4, 1.0])
    found = branch_and_bound(errors, ((0.0, 9.0), (0.0, 9.0)), [0])  # type: ignore[arg-type]
    assert found.values == pytest.approx((2.0, 0.7))
    assert found.cost == pytest.approx(0.09)


@pytest.mark.parametrize(("target", "first", "second"), [(2.3, (0.0, 2.0), (3.0, 9.0)), (2.7, (3.0, 9.0), (0.0, 2.0))])
def test_the_nearer_half_comes_first(
    target: float, first: tuple[float, float], second: tuple[float, float], boxes: list[tuple[Any, int]]
) -> None:
    """With fewer runs than the whole box; the other half cannot be better, which its own bottom says."""
    errors = numpy.array([[1.0]]), numpy.array([target])
    assert branch_and_bound(errors, ((0.0, 9.0),), [0]).values == (round(target),)  # type: ignore[arg-type]
    assert boxes == [(((0.0, 9.0),), 4), ((first,), 2), ((second,), 2)]


def test_no_whole_number_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_BRANCHES", 1)
    errors = numpy.array([[1.0]]), numpy.array([2.5])
    with pytest.raises(AspenError, match="no whole numbers were found that fit, in 1 attempts"):
        branch_and_bound(errors, ((0.0, 9.0),), [0])  # type: ignore[arg-type]


def test_attempts_without_a_value_are_left_out() -> None:
    def solve(attempt: float) -> LeastSquaresSolution:
        if attempt < 0:
            raise AspenError()
        return LeastSquaresSolution((attempt,), abs(attempt - 3))

    assert keep_best(solve, [5.0, -1.0, 2.0, 9.0]).values == (2.0,)
    with pytest.raises(AspenError):
        keep_best(solve, [-1.0, -2.0])
