"""Sums over the values of a counter, against adding them up."""

from __future__ import annotations

from fractions import Fraction

import pytest

from aspenpy.cost.caches.counter_sums import sum_over_counter
from aspenpy.cost.caches.domain import Bounds
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr

N, J = graph.symbol("n"), graph.counter("j")


def added_up(body: Expr, low: int, high: int, n: int) -> Fraction:
    return sum((Fraction(evaluate(body, {J: i, N: n})) for i in range(low, high + 1)), Fraction(0))


@pytest.mark.parametrize("power", range(5))
@pytest.mark.parametrize(("low", "high"), [(0, 9), (1, 1), (3, 2), (-4, 6)])
def test_sums_of_powers_are_exact(power: int, low: int, high: int) -> None:
    """No values, one, and some below 0; the counter beside a size and alone, to no power too."""
    body = J**power * N + 3 * J**power - 2
    for ends in ((graph.number(low), graph.number(high)), (N + (low - 7), N + (high - 7))):
        found = sum_over_counter(body, J, Bounds((ends[0],), (ends[1],)))
        assert evaluate(found, {N: 7}) == added_up(body, low, high, 7)


@pytest.mark.parametrize("body", [graph.apply("floor", J / 3), N / J, graph.apply("max", J, N) * J])
def test_other_sums_are_taken_in_bands(body: Expr) -> None:
    """Near what they add up to over many values."""
    found = float(evaluate(sum_over_counter(body, J, Bounds((graph.number(50),), (N + 43,))), {N: 107}))
    assert found == pytest.approx(float(added_up(body, 50, 150, 107)), rel=0.02)
