"""Differences of expressions lie within their bounds, and what cancels is gone."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.explore.race import MOST_PASSES, range_of_difference, write_out_sums
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.intervals import DirectedInterval

X = graph.symbol("x")
NUMBERS = st.integers(-9, 9)


def polynomial(coefficients: list[int]) -> graph.Expr:
    """c0 + c1 x + c2 x^2 + ..."""
    powers = (graph.power(X, graph.number(exponent)) for exponent in range(len(coefficients)))
    return graph.add(*(graph.mul(graph.number(each), power) for each, power in zip(coefficients, powers, strict=True)))


def value(coefficients: list[int], x: Fraction) -> Fraction:
    return sum((each * x**exponent for exponent, each in enumerate(coefficients)), Fraction(0))


def places(low: int, high: int) -> list[Fraction]:
    return [low + (high - low) * Fraction(part, 8) for part in range(9)]


@given(st.lists(NUMBERS, min_size=1, max_size=5), st.lists(NUMBERS, min_size=1, max_size=5), NUMBERS, st.integers(1, 9))
def test_polynomials(first: list[int], second: list[int], low: int, width: int) -> None:
    found = range_of_difference(polynomial(first), polynomial(second), X, low, low + width)
    for x in places(low, low + width):
        assert found.low <= value(first, x) - value(second, x) <= found.high


@given(st.lists(NUMBERS, min_size=1, max_size=4), NUMBERS, NUMBERS, st.integers(1, 9))
def test_what_both_have_cancels(shared: list[int], a: int, b: int, width: int) -> None:
    """(p + a) - (p + b) is a - b all over the interval, however wide the bounds of p are."""
    first, second = graph.add(polynomial(shared), graph.number(a)), graph.add(polynomial(shared), graph.number(b))
    assert range_of_difference(first, second, X, -width, width) == DirectedInterval(a - b, a - b)


@given(
    st.sampled_from(["max", "min"]),
    st.lists(NUMBERS, min_size=2, max_size=3),
    st.lists(NUMBERS, min_size=2, max_size=3),
    st.integers(0, 9),
    st.integers(1, 9),
)
def test_extremes_and_steps(name: str, first: list[int], second: list[int], low: int, width: int) -> None:
    step = graph.apply("ceil", graph.div(X, graph.number(3)))
    one = graph.apply(name, polynomial(first), graph.mul(graph.number(2), step))
    other = graph.add(polynomial(second), step)
    found = range_of_difference(one, other, X, low, low + width)
    rule = max if name == "max" else min
    for x in places(low, low + width):
        ceiling = -(-x // 3)
        exact = rule(value(first, x), 2 * ceiling) - value(second, x) - ceiling
        assert found.low <= exact <= found.high


def grids(passes: graph.Expr | int, slope: int) -> graph.Expr:
    """The sum of max(x/8^i, slope/100) over some passes: each takes its branch for itself."""
    counter = graph.counter("i")
    smaller = graph.div(X, graph.power(graph.number(8), counter))
    return graph.summation(
        counter, passes, graph.apply("max", smaller, graph.div(graph.number(slope), graph.number(100)))
    )


def test_short_sums_are_written_out() -> None:
    """At x from 60 to 64: x + x/8 + 1 against x + x/8 + 2, as x/64 is 1 at most."""
    one, two = write_out_sums(grids(3, 100)), write_out_sums(grids(3, 200))
    assert "sum" not in {node.kind for node in graph.topological_order(one)}
    assert range_of_difference(one, two, X, 60, 64) == DirectedInterval(-1, -1)
    apart = range_of_difference(grids(3, 100), grids(3, 200), X, 60, 64)  # as sums they could lie anywhere
    assert apart.low < -1 < apart.high


@given(st.integers(1, MOST_PASSES), st.integers(1, 900), st.integers(1, 100))
def test_a_sum_written_out_has_its_value(passes: int, slope: int, x: int) -> None:
    plain = grids(passes, slope)
    by_hand = sum(max(Fraction(x, 8**level), Fraction(slope, 100)) for level in range(passes))
    assert evaluate(write_out_sums(plain), {X: x}) == evaluate(plain, {X: x}) == by_hand


@pytest.mark.parametrize("passes", [MOST_PASSES + 1, X, Fraction(5, 2)])
def test_long_sums_stay(passes: graph.Expr | int) -> None:
    plain = grids(passes, 100)
    assert write_out_sums(plain) is plain


def test_sums_in_sums() -> None:
    """The sum of max(x, i + j) over i < 3 and j < i + 2, with x = 2: 2 + 2, 2 + 2 + 3, 2 + 3 + 4 + 5."""
    outer, inner = graph.counter("i"), graph.counter("j")
    term = graph.apply("max", X, graph.add(outer, inner))
    nested = graph.summation(outer, 3, graph.summation(inner, graph.add(outer, graph.number(2)), term))
    assert evaluate(write_out_sums(nested), {X: 2}) == evaluate(nested, {X: 2}) == 25
