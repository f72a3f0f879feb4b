"""Formulas at many points at once are what the exact rules say at each, and most of them need none of these."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.failures import OF_A_PASS, OF_AN_ARRAY, OF_AN_INNER_PASS, TooMuchWork
from aspenpy.expr.graph import Expr
from aspenpy.sweeps.points import Formulas, Points

N = graph.symbol("n")
COUNTER = graph.counter("i")


def ceil(x: Expr) -> Expr:
    return graph.apply("ceil", x)


def floor(x: Expr) -> Expr:
    return graph.apply("floor", x)


LOG = floor(graph.apply("log2", N))
BROKEN = graph.div(1, graph.sub(N, N))

WITHOUT_DOUBT = {
    "rounds": ceil(graph.apply("log2", N)),
    "power of two": graph.if_else(graph.compare("==", graph.power(2, LOG), N), 1, 0),
    "square": graph.if_else(graph.compare(">=", graph.power(N, 2), 27 * N), 1, 0),
    "products": ceil(graph.div(N * (N - 1) + 3, 8 * N)),
    "halves": ceil(graph.div(graph.div(1124864, graph.power(4, LOG)), 8)),
    "remainder": floor(graph.div(graph.apply("mod", N, 12), 6)),
    "branch": graph.if_else(graph.compare("<=", N, 10**6), ceil(N), graph.failure("too many")),
    "sums": graph.summation(COUNTER, floor(graph.div(N, 100)), graph.apply("max", COUNTER * N, ceil(COUNTER / 3) * 7)),
}
"""Of whole numbers."""

SETTLED = {
    "root": ceil(graph.power(N, graph.number(1) / graph.number(3))),
    "tie": graph.if_else(graph.compare(">=", 0.1 * N + 0.2 * N - 0.3 * N, 0), 1, 2),
    "not needed": graph.if_else(
        graph.junction("and", graph.compare("<", N, 0), graph.compare("<", BROKEN, 1)), BROKEN, ceil(N / 7)
    ),
}


def values(expr: Expr) -> tuple[list[float], list[Any]]:
    numbers = [*range(1, 130), 1000, 1023, 1024, 1025, 2**20 - 1, 2**20, 10**6]
    numbers = [number for number in numbers if number <= 10**6]
    found = Formulas([expr], [N])(numpy.array(numbers, dtype=float)[:, None])[0]
    return found.tolist(), [float(evaluate(expr, {N: number})) for number in numbers]


@pytest.mark.parametrize("name", WITHOUT_DOUBT)
def test_whole_numbers_need_no_exact_rules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact: list[Expr] = []
    monkeypatch.setattr(Points, "_settle", lambda self, node: exact.append(node))
    found, expected = values(WITHOUT_DOUBT[name])
    assert found == pytest.approx(expected, rel=1e-12)
    assert not exact


@pytest.mark.parametrize("name", SETTLED)
def test_what_is_in_doubt_is_settled(name: str) -> None:
    found, expected = values(SETTLED[name])
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_step_in_doubt_within_a_sum_is_settled_at_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """27000/n cells a rank, by a cube root, of which region r has (r + 1)/66."""
    cells = graph.power(30 * graph.power(graph.div(1, N), graph.number(1) / graph.number(3)), 3)
    share = graph.div(cells * (COUNTER + 1), 66)
    settled: list[str] = []
    settle = Points._settle
    monkeypatch.setattr(Points, "_settle", lambda self, node: (settled.append(node.kind), settle(self, node)))
    found, expected = values(graph.summation(COUNTER, 11, ceil(share)))
    assert found == expected
    assert "sum" not in settled


def test_sums_over_one_counter_share_their_passes() -> None:
    """Two sums of the same number of passes, one of them with a third in its body, are added once each."""
    count = floor(graph.div(N, 10))
    inner = graph.counter("j")
    first = graph.summation(COUNTER, count, graph.apply("max", COUNTER, 5))
    within = graph.summation(inner, count, graph.apply("max", inner, 5))
    second = graph.summation(COUNTER, count, graph.apply("max", COUNTER * within, 7))
    formulas = Formulas([first, second, first + second], [N])
    points = numpy.array([[15.0], [100.0]])
    found = formulas(points)
    for column, number in enumerate((15, 100)):
        passes = range(number // 10)
        one = sum(max(i, 5) for i in passes)
        two = sum(max(i * one, 7) for i in passes)
        assert found[:, column].tolist() == [one, two, one + two]
    of_a_pass = OF_A_PASS + OF_AN_INNER_PASS
    passes_of_both = 1 + 10
    small = (4 + 2) * (OF_AN_ARRAY - passes_of_both)  # the bodies' nodes, arrays of so few passes
    assert formulas.operations == passes_of_both * ((of_a_pass + 4) + (of_a_pass + 2)) + small


def test_a_point_without_a_value_is_told() -> None:
    with pytest.raises(EvaluationError):
        Formulas([graph.div(1, N - 3)], [N])(numpy.array([[2.0], [3.0]]))


def test_points_whose_loops_are_too_long_have_no_value_and_the_others_keep_theirs() -> None:
    """0 + 3*1 + 3*2 + 3*3 is 18; ten times as many passes: 3*(1 + ... + 33) is 1683."""
    loop = graph.summation(COUNTER, N, ceil(graph.div(COUNTER, 3)))
    found = Formulas([loop], [N])(numpy.array([[10.0], [3e8], [100.0], [1e12]]), missing=True)
    assert numpy.array_equal(found[0], [18, numpy.nan, 1683, numpy.nan], equal_nan=True)


def test_many_points_with_long_loops_are_refused() -> None:
    loop = graph.summation(COUNTER, N, ceil(graph.div(COUNTER, 3)))
    with pytest.raises(TooMuchWork) as caught:
        Formulas([loop], [N])(4e7 + numpy.arange(1000.0)[:, None], missing=True)
    assert caught.value.node is loop
