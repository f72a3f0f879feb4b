"""Long loops run as arrays give what the exact rules give, pass by pass."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.expr import evaluate as evaluation
from aspenpy.expr.accuracy import LARGEST_DIVIDEND
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import (
    apply,
    array,
    checked,
    compare,
    counter,
    draw,
    if_else,
    index,
    junction,
    number,
    stream,
    substitute,
    symbol,
    to_expr,
)
from aspenpy.expr.node import intern_node
from tests.expr.strategies import SYMBOLS, bound, environments, expressions
from tests.thorough import examples

n, a = symbol("n"), symbol("a")
i, j = counter("i"), counter("j")

PASSES = evaluation.EXACT_PASSES + 100


def open_sum(counter_, count, body):
    """A sum node without any closed form."""
    return intern_node("sum", (counter_, to_expr(count), body), None, 0)


@settings(max_examples=examples(150))
@given(expressions(), environments)
def test_arrays_give_what_the_exact_rules_give(expr, environment):
    """Twelve passes exactly, and the same as arrays; where one is refused, so is the other, in the same words."""
    (body,) = substitute([expr], {SYMBOLS["x"]: i - 5})
    total = open_sum(i, n, body)
    values = bound(environment) | {n: 12}

    def outcome():
        try:
            return evaluate(total, values)
        except EvaluationError as error:
            return error.reason

    exact = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "EXACT_PASSES", 0)
        by_lanes = outcome()
    if isinstance(exact, str):
        assert by_lanes == exact
    else:
        assert by_lanes == pytest.approx(float(exact), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("power", [18, 400])
def test_a_body_beyond_the_largest_machine_number(power):
    found = evaluate(open_sum(i, n, number(12) ** power), {n: PASSES})
    assert found == pytest.approx(12**power * PASSES, rel=1e-15) if power < 100 else found == 12**power * PASSES


@pytest.mark.parametrize(
    ("body", "one"),
    [
        (apply("max", i, 300) / 7, lambda x: Fraction(max(x, 300), 7)),
        (apply("ceil", i / 3), lambda x: -(-x // 3)),
        (apply("ceil", i * Fraction(1, 10)), lambda x: -(-x // 10)),
        (apply("floor", (i + Fraction(1, 10)) * 10), lambda x: 10 * x + 1),
        (apply("round", i * Fraction(1, 2)), lambda x: round(Fraction(x, 2))),
        (apply("mod", i, 7) * i, lambda x: x % 7 * x),
        (if_else(compare("==", i * Fraction(1, 10) * 10, i), 1, 0), lambda x: 1),
        (if_else(compare("==", i, 40), 5, 1 / (i - 40)), lambda x: 5 if x == 40 else Fraction(1, x - 40)),
        (if_else(junction("and", compare(">", i, 0), compare(">", 1 / i, Fraction(1, 9))), 1, 0), lambda x: 1 <= x < 9),
        (index(array([2, 3, 5]), apply("mod", i, 3)), lambda x: (2, 3, 5)[x % 3]),
        (index(array([i, 3, 2 * i]), apply("mod", i, 3)), lambda x: (x, 3, 2 * x)[x % 3]),
        (index(array([array([1, 2]), array([3, 4])]), apply("mod", i, 2), 1), lambda x: (2, 4)[x % 2]),
        (apply("lookup", array([1, 3]), array([0, 50]), i), lambda x: 1 + Fraction(x, 25)),
        (checked("count", apply("max", i - 3, 0)), lambda x: max(x - 3, 0)),
    ],
    ids=lambda value: "" if callable(value) else str(value),
)
def test_long_loops(body, one):
    expected = sum(one(x) for x in range(PASSES))
    assert evaluate(open_sum(i, n, body), {n: PASSES}) == pytest.approx(float(expected), rel=1e-13)


def test_whole_sums_stay_whole():
    total = evaluate(open_sum(i, n, apply("ceil", i / 3)), {n: 100_000})
    assert type(total) is int
    assert total == sum(-(-x // 3) for x in range(100_000))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (apply("max", 1 / (i - 550), 2), "division by zero"),
        (apply("log", 550 - i), "logarithm of 0: the argument must be positive"),
        ((1 / (i - 550)) ** 0, "division by zero"),
        (1 / (1 / (i - 550)), "division by zero"),
        (index(array([1, 2]), i / 200), "index 2 is outside the 2 elements 0..1"),
        (checked("probability", i / 598), "a probability of 1.00167 is not between 0 and 1"),
        (if_else(compare("<", 1 / (i - 550), 1), 1, 2), "division by zero"),
        (apply("exp", 2 * i), "overflow: exp(710) is too large for a floating-point number"),
    ],
    ids=str,
)
def test_the_pass_that_fails_is_reported_as_in_a_short_loop(body, reason):
    with pytest.raises(EvaluationError) as caught:
        evaluate(open_sum(i, n, body), {n: PASSES})
    assert caught.value.reason == reason


def test_loops_within_loops():
    total = open_sum(i, n, open_sum(j, i, apply("max", i - j, a)))
    expected = sum(max(x - y, 7) for x in range(120) for y in range(x))
    assert evaluate(total, {n: 120, a: 7}) == expected
    ceiled = open_sum(i, n, open_sum(j, i / 2, apply("max", i - j, a)))
    assert evaluate(ceiled, {n: 120, a: 7}) == sum(max(x - y, 7) for x in range(120) for y in range(-(-x // 2)))


def test_a_failure_in_an_inner_loop_is_found():
    total = open_sum(i, n, open_sum(j, i, 1 / (i * 1000 + j - 100_005)))
    with pytest.raises(EvaluationError, match="division by zero"):
        evaluate(total, {n: 120})


def test_an_inner_loop_longer_than_a_stretch():
    total = open_sum(i, 3, open_sum(j, n, apply("max", i * 50_000, j)))
    passes = 100_000
    expected = sum(sum(max(x * 50_000, y) for y in range(passes)) for x in range(3))
    assert evaluate(total, {n: passes}) == expected


def test_loops_beyond_all_patience_are_refused():
    for total in (open_sum(i, n, apply("max", i, a)), open_sum(i, 10**5, open_sum(j, n, apply("max", i, j)))):
        with pytest.raises(EvaluationError, match="too many to add one by one"):
            evaluate(total, {n: 10**12, a: 1})


@pytest.mark.parametrize(
    "distribution", [("uniform", (1, i + 2)), ("normal", (i, 3)), ("cdf", (array([0.25, 0.5, 1]),))]
)
def test_draws_are_the_same_in_long_loops_and_in_short_ones(distribution):
    name, arguments = distribution
    body = draw(name, arguments, stream(3, i, stream(i, 8)))
    exactly = [evaluate(body, {i: x}, seed=5) for x in range(PASSES)]
    assert evaluate(open_sum(i, n, body), {n: PASSES}, seed=5) == pytest.approx(math.fsum(exactly), rel=1e-13)


def test_wrong_draws_are_refused_in_long_loops():
    for name, arguments, reason in [
        ("uniform", (i, 550), "the upper bound is below the lower one"),
        ("normal", (0, 550 - i), "the standard deviation is negative"),
        ("cdf", (array([0.5, 0.2, 1]),), "cumulative probabilities must rise, and 0.2 follows 0.5"),
    ]:
        with pytest.raises(EvaluationError, match=reason):
            evaluate(open_sum(i, n, draw(name, arguments, (i,))), {n: PASSES})


WHOLE_NUMBERS = st.integers(1, int(LARGEST_DIVIDEND)) | st.integers(1, 1 << 27)


@given(WHOLE_NUMBERS, WHOLE_NUMBERS, st.integers(-3, 3))
def test_a_quotient_is_whole_in_float64_where_it_is(divisor, quotient, rest):
    """By whole-number arithmetic, around products as large as they are taken to be."""
    quotient = max(1, quotient if quotient * divisor < LARGEST_DIVIDEND else int(LARGEST_DIVIDEND) // divisor)
    dividend = min(max(1, quotient * divisor + rest), int(LARGEST_DIVIDEND))
    assert (dividend / divisor).is_integer() == (dividend % divisor == 0)
