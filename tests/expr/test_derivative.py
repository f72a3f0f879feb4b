"""Derivatives against SymPy's and against differences."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import EvaluationError, ExactEvaluation, evaluate
from aspenpy.expr.graph import (
    ZERO,
    apply,
    array,
    checked,
    compare,
    counter,
    draw,
    if_else,
    index,
    power,
    summation,
    symbol,
    topological_order,
)
from tests.expr.strategies import SYMBOLS, expressions
from tests.thorough import slow, some

n, m = symbol("n"), symbol("m")

DEEP = some(10_000, 2_500)
i = counter("i")

X, Y = sympy.symbols("n m", positive=True)
SMOOTH = [
    (n**3 / m - 2 * n, X**3 / Y - 2 * X),
    (1 / (n + m) ** 2, 1 / (X + Y) ** 2),
    (power(m, n), Y**X),
    (power(n, n), X**X),
    (power(n * m, 0.5), (X * Y) ** 0.5),
    (apply("log", n * m) * n, sympy.log(X * Y) * X),
    (apply("log2", n) + apply("log10", n), sympy.log(X, 2) + sympy.log(X, 10)),
    (apply("exp", n / m), sympy.exp(X / Y)),
    (apply("sqrt", n**2 + m), sympy.sqrt(X**2 + Y)),
    (-(n - m) * (n + m) * n, -(X - Y) * (X + Y) * X),
    (checked("count", n * n), X * X),
    (index(array([n, n**2, 3]), 1), X**2),
    (summation(i, m, n**2 * i / 3), X**2 * 3 * (3 - 1) / 6),
]


@pytest.mark.parametrize(("ours", "theirs"), SMOOTH, ids=[str(ours) for ours, _ in SMOOTH])
def test_smooth_expressions_as_sympy_has_them(ours, theirs):
    expected = sympy.diff(theirs, X).subs({X: sympy.Rational(7, 2), Y: 3})
    assert float(evaluate(differentiate(ours, n), {n: 3.5, m: 3})) == pytest.approx(float(expected), rel=1e-13)


OFF_THE_CORNERS = (0.2137, 0.5713, 0.8391)
"""Added to whole numbers, so that no point happens to lie where a `max`, a step or a condition changes."""


@given(expressions(), st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9)))
def test_all_expressions_have_the_slope_of_a_short_secant(expr, whole):
    x = SYMBOLS["x"]
    values = {name: a + b for name, a, b in zip(SYMBOLS.values(), whole, OFF_THE_CORNERS, strict=True)}

    def secant(start, end):
        left, right = (float(evaluate(expr, values | {x: values[x] + shift})) for shift in (start, end))
        return (right - left) / (end - start)

    try:
        secants = [secant(-1e-4, 0), secant(0, 1e-4), secant(-1e-3, 1e-3), secant(-1e-5, 1e-5)]
        slope = float(evaluate(differentiate(expr, x), values))
        run = ExactEvaluation(values, 0)
        run.compute([expr])
        slope_there = float(evaluate(differentiate(expr, x, run.known), values))
    except EvaluationError:
        assume(False)
    assume(max(secants) - min(secants) <= 1e-3 * (1 + abs(secants[0])))
    assert slope == pytest.approx(secants[0], rel=1e-2, abs=1e-2)
    assert slope_there == pytest.approx(secants[0], rel=1e-2, abs=1e-2)


def test_the_slope_at_known_values_leaves_out_what_they_do_not_choose():
    """Of max(n m, n^2 + min(m, n^3 or e^n)) the first at 2 and 10, the second at 20 and 10: slopes m and 2 n."""
    expr = apply("max", n * m, n**2 + apply("min", m, if_else(compare("<", n, m), n**3, apply("exp", n))))
    for values, slope in (({n: 2, m: 10}, 10), ({n: 20, m: 10}, 40)):
        run = ExactEvaluation(values, 0)
        run.compute([expr])
        found = differentiate(expr, n, run.known)
        assert evaluate(found, values) == slope
        assert len(topological_order(found)) < len(topological_order(differentiate(expr, n)))


@pytest.mark.parametrize(
    ("expr", "at", "expected"),
    [
        (apply("max", n, 2 * m), {n: 5, m: 2}, 1),
        (apply("max", n, 2 * m), {n: 3, m: 2}, 0),
        (apply("max", n, 2 * n, m), {n: 3, m: 2}, 2),
        (apply("min", n, 2 * m), {n: 3, m: 2}, 1),
        (apply("ceil", n) * n, {n: 2.5, m: 0}, 3),
        (apply("mod", n, 3), {n: 7.5, m: 0}, 1),
        (apply("mod", 7.5, n), {n: 3, m: 0}, -2),
        (apply("abs", n), {n: -4, m: 0}, -1),
        (if_else(compare("<", n, m), n**2, 5 * n), {n: 1, m: 2}, 2),
        (apply("lookup", array([0, 10, 10]), array([0, 2, 4]), n), {n: 1}, 5),
        (apply("lookup", array([0, 10, 10]), array([0, 2, 4]), n), {n: 3}, 0),
        (apply("lookup", array([7]), array([0]), n), {n: 3}, 0),
        (index(array([m, n**2]), 0 * m + 1), {n: 3, m: 5}, 6),
    ],
    ids=str,
)
def test_corners_and_steps(expr, at, expected):
    assert evaluate(differentiate(expr, n), at) == expected


def test_a_sum_is_differentiated_term_by_term():
    total = summation(i, m, apply("max", n * i, 10))
    slope = differentiate(total, n)
    assert any(node.kind == "sum" for node in topological_order(slope))
    assert evaluate(slope, {n: 3, m: 6}) == sum(k for k in range(6) if 3 * k > 10)


def test_draws_move_with_their_arguments():
    low, high = n, 3 * n
    slope = evaluate(differentiate(draw("uniform", (low, high), (1,)), n), {n: 2}, seed=4)
    drawn = evaluate(draw("uniform", (low, high), (1,)), {n: 2}, seed=4)
    assert slope == pytest.approx(drawn / 2, rel=1e-14)  # n * (1 + 2 u) is proportional to n
    gaussian = draw("normal", (n**2, n), (1,))
    spread = (evaluate(gaussian, {n: 2}) - 4) / 2
    assert evaluate(differentiate(gaussian, n), {n: 2}) == pytest.approx(4 + spread, rel=1e-13)


def test_what_does_not_move_has_no_slope():
    assert differentiate(m**2 + apply("ceil", m), n) is ZERO
    assert differentiate(apply("floor", n), n) is ZERO
    assert differentiate(draw("cdf", (array([n, 1]),), (1,)), n) is ZERO


def test_points_and_whole_arrays_have_no_derivative():
    with pytest.raises(ValueError, match="lookup has no derivative by the sizes"):
        differentiate(apply("lookup", array([0, 2]), array([0, n]), 1), n)
    with pytest.raises(ValueError, match="an array as a whole has no derivative"):
        differentiate(index(n, m), n)


def test_lookup_is_linear_in_its_values():
    """Halfway between the points (0, 0) and (2, n^2) lies n^2/2."""
    assert evaluate(differentiate(apply("lookup", array([0, n**2]), array([0, 2]), 1), n), {n: 7}) == 7


def test_a_root_of_what_stands_still():
    """sqrt(max(0, n)) is 0 for all negative n, and 1/(2 sqrt(n)) steep for others."""
    slope = differentiate(apply("sqrt", apply("max", 0, n)), n)
    assert evaluate(slope, {n: -3}) == 0
    assert evaluate(slope, {n: 4}) == Fraction(1, 4)
    third = differentiate(apply("max", 0, n) ** Fraction(1, 3), n)
    assert evaluate(third, {n: -3}) == 0
    assert evaluate(third, {n: 8}) == pytest.approx(1 / 12)


def central(function, place, step):
    return (function(place + step) - function(place - step)) / (2 * step)


def negative_binomial(distance, ways, lines):
    """Fewer than A of D lines fall into a set: the incomplete beta function, of SciPy."""
    from scipy.special import betainc

    return betainc(distance - ways + 1, ways, 1 - ways / lines)


@pytest.mark.parametrize("ways", [1, 2, 8])
def test_hits_by_the_lines_of_a_cache(ways):
    slope = differentiate(apply("lru_hits", 60, ways, n), n)
    for lines in (64, 128.0, 1024):
        expected = central(lambda size: negative_binomial(60, ways, size), lines, 1e-3)
        assert float(evaluate(slope, {n: lines})) == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert evaluate(slope, {n: ways}) == 0


def random_misses(lines, distance, share):
    """The fixed point, by bisection."""
    from scipy.optimize import brentq

    return brentq(lambda m: m - 1 + share * (1 - m / lines) ** distance, 1e-9, 1, xtol=1e-15)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_random_misses_by_each_argument(place):
    values = [100.0, 40.0, 0.75]
    given = [*values[:place], n, *values[place + 1 :]]
    slope = differentiate(apply("random_misses", *given), n)

    def at(x):
        return random_misses(*values[:place], x, *values[place + 1 :])

    expected = central(at, values[place], 1e-4 * values[place])
    assert float(evaluate(slope, {n: values[place]})) == pytest.approx(expected, rel=1e-6)


@slow
def test_deeper_than_python_recurses():
    chain = n
    for _ in range(DEEP):
        chain = apply("sqrt", chain * chain)
    assert evaluate(differentiate(chain, n), {n: 2}) == 1
