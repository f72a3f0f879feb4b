"""Sums over a loop counter: closed forms against adding one by one."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import (
    ZERO,
    apply,
    checked,
    compare,
    counter,
    div,
    free_symbols,
    if_else,
    neg,
    number,
    power,
    sub,
    substitute,
    summation,
    symbol,
    topological_order,
)
from aspenpy.expr.series import bernoulli_number

n, a, b = symbol("n"), symbol("a"), symbol("b")
i, j, k = counter("i"), counter("j"), counter("k")


def is_closed(expr):
    return all(node.kind != "sum" for node in topological_order(expr))


def one_by_one(body, passes, values):
    """The sum as the language defines it."""
    return sum(evaluate(body, {**values, i: number_}) for number_ in range(math.ceil(passes)))


CLOSED = [
    i,
    3 * i + 2,
    a * i / b,
    (i + a) ** 3,
    i**8,
    (a - i) * (b + i) * i,
    neg(i) + 7 / a,
    power(2, i),
    power(2, i) * i**2,
    power(Fraction(1, 2), i) * a,
    a / power(2, i),
    power(a, i),
    power(a, 2 * i + 1),
    power(2, a * i),
    power(-1, i) * i,
    power(3, i - 2),
    if_else(compare("<", a, b), i, i**2),
    apply("ceil", a / 3 + i),
    apply("floor", a / 3 - 2 * i),
    checked("count", i + a),
]


@pytest.mark.parametrize("body", CLOSED, ids=str)
@pytest.mark.parametrize("passes", [0, 1, 2, 7, Fraction(13, 2)])
def test_closed_forms_are_exact(body, passes):
    total = summation(i, n, body)
    values = {a: Fraction(5, 2) if body.kind == "apply" else 4, b: 3}
    assert evaluate(total, {**values, n: passes}) == pytest.approx(one_by_one(body, passes, values), rel=1e-13)


@pytest.mark.parametrize("body", CLOSED, ids=str)
def test_closed_forms_hold_no_loop(body):
    """But for a ratio that may turn out to be 1, where a loop stands ready."""
    symbolic_ratio = body.kind == "power" and a in free_symbols(body) and i not in free_symbols(body.args[0])
    assert is_closed(summation(i, n, body)) != symbolic_ratio


@given(
    st.lists(st.fractions(-9, 9, max_denominator=9), min_size=1, max_size=7),
    st.integers(0, 40),
)
def test_every_polynomial_has_a_closed_form(coefficients, passes):
    body = ZERO
    for degree, coefficient in enumerate(coefficients):
        body = body + coefficient * i**degree
    expected = sum(c * Fraction(x) ** degree for x in range(passes) for degree, c in enumerate(coefficients))
    total = summation(i, n, body)
    assert is_closed(total)
    assert evaluate(total, {n: passes}) == expected


@given(st.fractions(-3, 3, max_denominator=4), st.integers(0, 2), st.integers(0, 25))
def test_every_geometric_sum_is_exact(ratio, degree, passes):
    expected = sum(Fraction(x) ** degree * ratio**x for x in range(passes))
    assert evaluate(summation(i, n, i**degree * power(number(ratio), i)), {n: passes}) == expected


@pytest.mark.parametrize("ratio", [1, 1.0, 1 + 1e-9, 1.001, 0.999, 1.5, 0.25, 0, -1, -0.5])
def test_a_symbolic_ratio_may_come_near_one(ratio):
    expected = math.fsum(float(ratio) ** x for x in range(50))
    assert evaluate(summation(i, n, power(a, i)), {a: ratio, n: 50}) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("passes", [0, 1, 2, 9, 2.5])
@pytest.mark.parametrize(
    "body", [apply("exp", i * b), apply("exp", a - 2 * i * b), 3 * apply("exp", i / 10), apply("exp", 1 - i) * i]
)
def test_sums_of_exponentials(body, passes):
    """exp(a + b*i) is exp(a) * exp(b)^i: a geometric term."""
    values = {a: 0.75, b: -0.3}
    total = evaluate(summation(i, passes, body), values)
    assert float(total) == pytest.approx(float(one_by_one(body, passes, values)), rel=1e-12)


def test_the_sum_of_exponentials_is_a_quotient():
    """The sum of exp(i/2) over n passes is (exp(n/2) - 1)/(exp(1/2) - 1); a million passes of a falling one take no
    loop."""
    total = summation(i, n, apply("exp", i * b))
    assert float(evaluate(total, {n: 40, b: 0.5})) == pytest.approx(math.expm1(20) / math.expm1(0.5), rel=1e-12)
    assert float(evaluate(total, {n: 10**6, b: -1})) == pytest.approx(1 / -math.expm1(-1), rel=1e-12)


def test_bernoulli_numbers():
    """DLMF table 24.2.1."""
    assert [bernoulli_number(m) for m in range(9)] == [
        1, Fraction(-1, 2), Fraction(1, 6), 0, Fraction(-1, 30), 0, Fraction(1, 42), 0, Fraction(-1, 30)
    ]  # fmt: skip


def test_a_triangular_loop_has_a_closed_form():
    """sum over i < n of (n - i), in ceil(n) passes: the inner count is refused only where it is negative."""
    triangle = summation(i, n, summation(j, checked("count", n - i), a))
    assert is_closed(triangle)
    assert evaluate(triangle, {n: 10**6, a: 2}) == 10**6 * (10**6 + 1)
    assert evaluate(triangle, {n: 0, a: 2}) == 0
    cube = summation(i, n, summation(j, i, summation(k, j, 1)))
    assert evaluate(cube, {n: 100}) == math.comb(100, 3)


def test_a_count_that_goes_negative_is_refused_in_closed_form_too():
    total = summation(i, n, summation(j, checked("count", 3 - i), 1))
    assert is_closed(total)
    assert evaluate(total, {n: 4}) == 3 + 2 + 1 + 0
    with pytest.raises(EvaluationError, match="a loop cannot run -1 times"):
        evaluate(total, {n: 5})
    increasing = summation(i, n, summation(j, checked("count", i - 2), 1))
    assert evaluate(increasing, {n: 0}) == 0
    with pytest.raises(EvaluationError, match="a loop cannot run -2 times"):
        evaluate(increasing, {n: 9})


def test_a_law_on_a_curve_is_looked_at_pass_by_pass():
    total = summation(i, n, checked("count", (i - 3) ** 2 - 2))
    assert evaluate(total, {n: 2}) == 7 + 2
    with pytest.raises(EvaluationError, match="a loop cannot run -1 times"):
        evaluate(total, {n: 3})


P = 10**9


@pytest.mark.parametrize(
    ("body", "value", "expected", "bad"),
    [
        (a * i**2, 1, (P - 1) * P * (2 * P - 1) // 6, -1),
        ((a - i) * (a - i - 1) / 2, P, (P - 1) * P * (P + 1) // 6, Fraction(1, 2)),
    ],
)
def test_a_law_on_a_curve_whose_signs_are_known_takes_no_passes(body, value, expected, bad):
    """1e9 passes would be refused as too many. The sums of squares and of triangular numbers are those of textbooks."""
    total = summation(i, n, checked("amount", body))
    assert evaluate(total, {n: P, a: value}) == expected
    with pytest.raises(EvaluationError, match="it must not be negative"):
        evaluate(total, {n: 4, a: bad})


def test_what_does_not_depend_on_the_counter_is_multiplied():
    assert summation(i, n, a) is apply("ceil", n) * a
    assert summation(i, 10, a) is number(10) * a
    assert summation(i, j, a) is j * a


def test_what_has_no_closed_form_is_taken_apart():
    body = a * apply("max", i, b) / 4 + a * i + b
    total = summation(i, n, body)
    loops = [node for node in topological_order(total) if node.kind == "sum"]
    assert [loop.args[2] for loop in loops] == [apply("max", i, b)]
    assert evaluate(total, {n: 9, a: 2, b: 5}) == one_by_one(body, 9, {a: 2, b: 5})


def test_parts_without_closed_form_share_one_loop():
    total = summation(i, n, apply("max", i, b) + apply("min", i, a) + i)
    assert sum(node.kind == "sum" for node in topological_order(total)) == 1


def test_a_condition_free_of_the_counter_is_taken_out():
    total = summation(i, n, if_else(compare("<", a, b), apply("max", i, b), 1 / a))
    assert total.kind == "if_else"
    assert evaluate(total, {n: 4, a: 0, b: 2}) == 2 + 2 + 2 + 3


def test_one_pass_and_no_pass():
    assert summation(i, 1, apply("max", i, a)) is apply("max", 0, a)
    assert summation(i, 0, 1 / a) is ZERO
    assert summation(i, -3, i) is ZERO


def test_only_counters_are_summed_over():
    with pytest.raises(ValueError, match="counter"):
        summation(n, 3, n)


def test_a_million_passes_take_no_loop():
    total = summation(i, n, summation(j, i, (a + j) * i))
    assert is_closed(total)
    expected = sum(x * (x * 4 + x * (x - 1) // 2) for x in range(1000))
    assert evaluate(total, {n: 1000, a: 4}) == expected
    assert substitute([total], {n: number(1000), a: number(4)}) == [number(expected)]
    assert evaluate(total, {n: 10**6, a: 4}) > 10**23


def test_deep_sums_of_terms_do_not_recurse():
    body = i
    for step in range(3000):
        body = apply("max", body, sub(i, step)) if step % 2 else body + div(i, step + 1)
    total = summation(i, n, body)
    assert evaluate(total, {n: 2}) == evaluate(body, {i: 0}) + evaluate(body, {i: 1})
