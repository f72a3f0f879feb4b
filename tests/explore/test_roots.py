"""Values at which a formula meets a target: of whole numbers all that trying each finds, of real ones closed forms."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby, pairwise

import pytest

from aspenpy.answers.inverse import Leap, RootSearch, Solution
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr, apply, compare, if_else
from aspenpy.language.diagnostics import AspenError

x = graph.symbol("x")
FORMULAS: dict[str, Expr] = {
    "line": 3 * x - 7,
    "falling line": 40 - 2 * x,
    "square": x * x - 10 * x,
    "cube": x * x * x - 12 * x * x + 36 * x,
    "steps": apply("floor", x / 3),
    "steps down": apply("ceil", (50 - x) / 4),
    "from a value on": apply("min", x, 10),
    "up to a value": apply("max", 5, 12 - x),
    "leap": if_else(compare("<", x, 7), x, 30 - x),
    "waves": apply("mod", x * x, 7),
    "constant": graph.number(4) + 0 * x,
}


def search(expr: Expr, target: int | Fraction, low: int, high: int, whole: bool) -> RootSearch:
    return RootSearch(expr, x, lambda at: evaluate(expr, {x: at}), target, whole)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("target", [-24, 2, 4, 5, 10, 12])
@pytest.mark.parametrize(("low", "high"), [(0, 25), (4, 10), (5, 6)])
def test_all_whole_numbers_are_found(name: str, target: int, low: int, high: int) -> None:
    amounts = {at: evaluate(FORMULAS[name], {x: at}) for at in range(low, high + 1)}
    met = [at for at, amount in amounts.items() if amount == target]
    runs = [[at for _, at in run] for _, run in groupby(enumerate(met), key=lambda pair: pair[1] - pair[0])]
    found = search(FORMULAS[name], target, low, high, whole=True).run(low, high)
    assert found.solutions == tuple(Solution(run[0], run[-1]) for run in runs)
    assert {(leap.before, leap.behind) for leap in found.leaps} == {
        (before, behind)
        for before, behind in pairwise(amounts)
        if (amounts[before] - target) * (amounts[behind] - target) < 0
    }
    assert all(
        leap == Leap(leap.before, amounts[leap.before], leap.behind, amounts[leap.behind]) for leap in found.leaps
    )


@pytest.mark.parametrize(
    ("expr", "target", "solutions"),
    [
        (x * x - 10 * x, -24, [(4, 4), (6, 6)]),
        (x * x - 10 * x, -25, [(5, 5)]),  # where it only touches
        (x * x, 400, [(20, 20)]),  # at the end of the range
        (x * x, 0, [(0, 0)]),
        (x * x, 401, []),
        (apply("min", x, 10), 10, [(10, 20)]),
        (apply("max", 5, 12 - x), 5, [(7, 20)]),
        (3 * x, 10, [(Fraction(10, 3), Fraction(10, 3))]),
    ],
)
def test_real_numbers(expr: Expr, target: int, solutions: list[tuple[float, float]]) -> None:
    found = search(expr, target, 0, 20, whole=False).run(0, 20)
    assert found.leaps == ()
    assert [(float(item.low), float(item.high)) for item in found.solutions] == [
        pytest.approx((float(low), float(high)), rel=1e-7, abs=1e-7) for low, high in solutions
    ]


def test_a_leap_lies_between_two_neighbouring_numbers() -> None:
    found = search(if_else(compare("<", x, 7), x, 30 - x), 10, 0, 19, whole=False).run(0, 19)
    (leap,) = found.leaps
    assert found.solutions == ()
    assert float(leap.before) == pytest.approx(7, rel=1e-9)
    assert (float(leap.amount_before), float(leap.amount_behind)) == pytest.approx((7, 23))
    assert leap.before < 7 <= leap.behind


def test_too_many_pieces_are_left() -> None:
    """No square leaves 3 of sevens, which no interval says."""
    waves = search(apply("mod", x * x, 7), 3, 0, 10**6, whole=True)
    waves.most_pieces = 50
    with pytest.raises(AspenError) as error:
        waves.run(0, 10**6)
    diagnostic = error.value.diagnostics[0]
    assert diagnostic.message.startswith("cannot prove that all values from ")
    assert diagnostic.hint == "the amount rises and falls too often; search a smaller range"
