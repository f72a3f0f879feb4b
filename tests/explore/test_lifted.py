"""Minima of smooth problems and of kinks, against those that follow by hand."""

from types import SimpleNamespace

import numpy
import pytest

from aspenpy.explore.lifted import Smooth
from aspenpy.explore.variable import Variable
from aspenpy.expr import graph
from aspenpy.expr.graph import apply, symbol

x, y = symbol("x"), symbol("y")


def problem(objective, *constraints, equal=False, low=-10.0, high=10.0):
    variables = [Variable(name, "real", low, high, 1.0) for name in "xy"]
    return Smooth(objective, [(each, equal) for each in constraints], variables, (x, y), 0)


BOWL = (x - 3) ** 2 + (y - 1) ** 2


@pytest.mark.parametrize(
    ("objective", "constraints", "expected", "multipliers"),
    [
        (BOWL, (), (3, 1), ()),
        (BOWL, (x + y - 2,), (2, 0), (2,)),  # 2 (x-3, y-1) + m (1, 1) = 0
        (BOWL, (2 * x + 2 * y - 4,), (2, 0), (1,)),
        (BOWL, (x + y - 5,), (3, 1), (0,)),
        (BOWL, (x - 1, y + 1), (1, -1), (4, 4)),
        (BOWL, (x - 1, y - 5), (1, 1), (4, 0)),
        (apply("max", x + 4, -x) + (y - 1) ** 2, (), (-2, 1), ()),
        (apply("max", x + 4, -x) + (y - 1) ** 2, (y + x,), (-2, 1), (0,)),
        (apply("max", x + 4, -3 * x) + (y - 1) ** 2, (-x,), (0, 1), (1,)),
    ],
)
def test_minima_and_multipliers(objective, constraints, expected, multipliers):
    found = problem(objective, *constraints)
    solution = found.solve(numpy.array([0.5, 0.25]))
    assert solution.tolist() == pytest.approx(expected, abs=1e-5)
    kkt = found.kkt(numpy.array(expected, dtype=float))
    assert kkt.multipliers == pytest.approx(multipliers, abs=1e-6)
    assert kkt.active == tuple(multiplier > 0 for multiplier in multipliers)


def test_an_equation_may_push_either_way():
    for sign in (1, -1):
        found = problem(BOWL, sign * (x + y - 2), equal=True)
        assert found.solve(numpy.array([0.5, 0.25])).tolist() == pytest.approx((2, 0), abs=1e-5)
        assert found.kkt(numpy.array([2.0, 0.0])).multipliers == pytest.approx((2 * sign,), abs=1e-6)


def test_nothing_balances_the_gradient_elsewhere():
    assert problem(BOWL).kkt(numpy.array([2.0, 0.0])).multipliers is None


@pytest.mark.parametrize("found", [(numpy.nan, 0.5), (0.5, numpy.nan), (numpy.inf, 0.5), (numpy.nan, numpy.nan)])
def test_a_solver_that_goes_astray_in_one_unknown_has_found_nothing(found, monkeypatch):
    monkeypatch.setattr("scipy.optimize.minimize", lambda *_, **__: SimpleNamespace(x=numpy.array(found)))
    assert problem(BOWL).solve(numpy.array([1.0, 1.0])) is None


def test_what_a_solver_finds_outside_is_set_on_the_edge(monkeypatch):
    monkeypatch.setattr("scipy.optimize.minimize", lambda *_, **__: SimpleNamespace(x=numpy.array([-0.25, 1.5])))
    assert problem(BOWL).solve(numpy.array([1.0, 1.0])).tolist() == [-10, 10]


@pytest.mark.parametrize("place", [-10.0, 10.0, 0.0])
def test_slopes_from_differences_stay_in_the_range(place):
    """Where no derivative is known: d/dx and d/dy of x^2 + 3*y."""
    found = problem(x**2 + 3 * y)
    found._slopes = None
    asked = []
    rows = found.rows
    found.rows = lambda unknowns: asked.append(tuple(unknowns)) or rows(unknowns)
    assert found.slopes(numpy.array([place, 2.0])).tolist() == [pytest.approx([2 * place, 3], rel=1e-4, abs=1e-4)]
    assert all(-10 <= value <= 10 for point in asked for value in point)


def test_maxima_in_loops_stay_kinks():
    i = graph.counter("i")
    assert problem(graph.summation(i, 3, apply("max", x, i)) + apply("max", x, y)).lifting.meanings == (
        apply("max", x, y),
    )
