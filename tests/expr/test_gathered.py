"""Formulas as a person writes them: the same value in exact arithmetic, in fewer numbers."""

from fractions import Fraction

import pytest
from hypothesis import assume, given

from aspenpy.expr.gathered import gather_numbers
from aspenpy.expr.graph import apply, checked, compare, counter, if_else, summation, symbol
from aspenpy.expr.printer import name_terms, to_named_text, to_text
from tests.expr.strategies import built, environments, recipes, worth
from tests.expr.test_printer import reread

n, m, k = symbol("n"), symbol("m"), symbol("k")
region, other = counter("region", "first loop 13"), counter("region", "second loop 75")
up = apply("ceil", n / 4)


@given(recipes, environments)
def test_gathered_numbers_change_no_value(recipe, environment):
    text = to_text(gather_numbers(built(recipe)))
    assume("{" not in text and "undefined" not in text)
    try:
        expected = worth(recipe, environment)
    except (ArithmeticError, IndexError):
        assume(False)
    assert reread(text, environment) == expected


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (4 * n * 20 * 20 / 8, "200*n"),
        (2 * (n * 3) + n * 3, "9*n"),
        (6 * n / 7_000_000_000 * 2, "3*n/1.75e9"),
        (2 * n * 3 / 4096, "3*n/2048"),
        (2 * n * 3 / 8, "0.75*n"),
        (n * 2 + m, "n*2 + m"),
        (n + (m + (n + 1)) + 2, "2*n + m + 3"),
        (n * 466 + (n * 577 + n * 806), "1849*n"),
        (4 * (n * 8 + n * 4), "48*n"),
        (n - n, "n - n"),
        (2 * n / (m / k) * 3, "6*n/(m/k)"),
        (2 * n / 0 * 3, "6*n/0"),
        (up * Fraction(16, 10**10) + up * Fraction(8, 10**10), "2.4e-9*ceil(n/4)"),
        (apply("ceil", 2 * n * 3 / 12), "ceil(2*n*3/12)"),
        (2 * checked("count", n * 3), "6*n"),
        (if_else(compare("<=", n, 2), 2 * (n * 3), m), "if(n <= 2, 6*n, m)"),
    ],
)
def test_numbers_of_products_and_sums_are_gathered(expr, text):
    assert to_text(gather_numbers(expr)) == text


def test_a_maximum_with_zero_stands_once():
    positive = apply("max", n - m, 0)
    assert to_text(gather_numbers(apply("max", positive * 2, 0))) == "max(n - m, 0)*2"
    assert to_text(gather_numbers(positive - apply("min", positive, 0))) == "max(n - m, 0)"
    assert to_text(gather_numbers(apply("max", n, 0) + apply("min", n, 0))) == "max(n, 0) + min(n, 0)"


@pytest.mark.parametrize("grow", [lambda e: e * e, lambda e: e + e, lambda e: e / m / 3, lambda e: 2 * (e + 1) * 3])
def test_deep_formulas_are_gathered_in_linear_time(grow):
    deep = n
    for _ in range(2000):
        deep = grow(deep)
    gather_numbers(deep)


def test_counters_of_sums_that_stand_apart_have_one_name():
    """The owner of a counter says where its loop stands, which is no name for a reader."""
    first, second = (summation(item, n, apply("max", item, m)) for item in (region, other))
    assert to_text(first * second) == "sum(region, n, max(region, m))*sum(region, n, max(region, m))"
    nested = summation(region, n, summation(other, n, apply("max", region, other)))
    assert to_text(nested) == "sum(first:region, n, sum(region, n, max(first:region, region)))"


def test_terms_have_names_and_those_that_vanish_have_no_line():
    term = n * m + k - 1
    assert to_named_text(apply("max", term * 2, term), "t", {}) == "t1 = n*m + k - 1\nt = max(t1*2, t1)"
    assert to_named_text(term * 2 * 3 + checked("count", n * m), "all", {term: "rows", n * m: "cells"}) == (
        "cells = n*m\nrows = cells + k - 1\nall = 6*rows + cells"
    )
    assert name_terms(apply("max", term, 1), {term: "amount"})[-1] == ("", "max(amount, 1)")
    cubes = (n * m * k * n + 1) / 3
    assert to_named_text(3 * cubes + cubes * 5, "t", {}) == "t1 = (n*m*k*n + 1)/3\nt = 8*t1"
