"""Values: exact, lazy, and refused in the user's words."""

import math
from fractions import Fraction

import numpy
import pytest
from hypothesis import given

from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate, evaluate_many
from aspenpy.expr.graph import (
    apply,
    array,
    checked,
    compare,
    counter,
    div,
    failure,
    if_else,
    index,
    junction,
    number,
    power,
    summation,
    symbol,
)
from tests.expr.strategies import bound, built, environments, recipes, worth
from tests.thorough import some

n, m = symbol("n"), symbol("m")

DEEP = some(10_000, 2_500)


@given(recipes, environments)
def test_exact_values_are_those_of_fractions(recipe, environment):
    try:
        expected = worth(recipe, environment)
    except (ArithmeticError, IndexError):
        with pytest.raises(EvaluationError):
            evaluate(built(recipe), bound(environment))
    else:
        value = evaluate(built(recipe), bound(environment))
        assert value == expected
        assert not isinstance(value, float)
        assert not (isinstance(value, Fraction) and value.denominator == 1)


@pytest.mark.parametrize(
    ("expr", "values", "reason"),
    [
        (div(1, n), {n: 0}, "division by zero"),
        (power(n, -1), {n: 0}, "division by zero: 0 to the power of -1"),
        (power(n, Fraction(1, 3)), {n: -8}, "-8 to the power of 0.333333: a negative base needs a whole exponent"),
        (apply("log", n), {n: 0}, "logarithm of 0: the argument must be positive"),
        (apply("log2", n), {n: -1}, "logarithm of -1: the argument must be positive"),
        (apply("sqrt", n), {n: -1}, "square root of -1"),
        (apply("mod", n, 0), {n: 1}, "division by zero: a remainder needs a divisor other than 0"),
        (index(array([1, 2]), n), {n: 9}, "index 9 is outside the 2 elements 0..1"),
        (index(array([1, 2]), n), {n: -1}, "index -1 is outside the 2 elements 0..1"),
        (index(array([1, 2]), n, 1), {n: 0}, "a number has no elements: too many indices"),
        (index(array([]), n), {n: 0}, "index 0 is outside an array without elements"),
        (apply("exp", n), {n: 1000}, "overflow: exp(1000) is too large for a floating-point number"),
        (n * n, {n: 1e200}, "overflow: the value is too large for a floating-point number"),
        (n * 1e308, {n: 10**400}, "overflow: the value is too large for a floating-point number"),
        (power(9, power(9, power(9, 9))), {}, "overflow: the value is too large for a floating-point number"),
        (n + 1, {}, "no value for `n`"),
        (n + 1, {n: (1, 2)}, "an array stands where a number is needed"),
        (checked("count", n), {n: -2}, "a loop cannot run -2 times: the count must not be negative"),
        (checked("quantity", n), {n: 0}, "the number of a component cannot be 0: it must be positive"),
        (checked("probability", n), {n: Fraction(3, 2)}, "a probability of 1.5 is not between 0 and 1"),
        (checked("probabilities", n), {n: 1.1}, "the probabilities add up to 1.1, which is more than 1"),
        (
            checked("parallelism", n),
            {n: -1},
            "a block cannot run in -1 parallel instances: the parallelism must not be negative",
        ),
        (
            apply("lookup", array([1, 2]), array([1]), n),
            {n: 0},
            "lookup needs as many values as sizes, and has 2 and 1",
        ),
        (apply("lookup", array([1, 2]), array([3, 3]), n), {n: 0}, "lookup needs sizes that increase, and 3 follows 3"),
    ],
)
def test_what_has_no_value_says_why(expr, values, reason):
    with pytest.raises(EvaluationError) as caught:
        evaluate(2 * expr, values)
    assert caught.value.reason == reason


def test_the_error_names_the_node_that_failed():
    broken = div(1, n)
    with pytest.raises(EvaluationError) as caught:
        evaluate(apply("max", 3, broken) * 2, {n: 0})
    assert caught.value.node is broken


def test_a_failure_hands_its_payload_back():
    payload = ["anything", "at all"]
    with pytest.raises(EvaluationError) as caught:
        evaluate(failure(payload) + 1)
    assert caught.value.payload is payload


def test_the_branch_that_is_not_taken_may_fail():
    guarded = if_else(compare("==", n, 0), 7, 1 / n)
    assert evaluate(guarded, {n: 0}) == 7
    assert evaluate(guarded, {n: 4}) == Fraction(1, 4)
    assert evaluate(if_else(compare(">", n, 0), n, failure("never")), {n: 2}) == 2


def test_the_second_condition_is_looked_at_only_if_it_decides():
    safe = junction("and", compare("!=", n, 0), compare(">", 1 / n, 2))
    assert evaluate(if_else(safe, 1, 2), {n: 0}) == 2
    either = junction("or", compare("==", n, 0), compare(">", 1 / n, 2))
    assert evaluate(if_else(either, 1, 2), {n: 0}) == 1


def test_a_loop_in_the_branch_that_is_not_taken_is_not_run():
    i = counter("i")
    endless = summation(i, n, apply("max", i, m))
    assert evaluate(if_else(compare("<", n, 10), endless, 3), {n: 10**15, m: 1}) == 3


def test_exact_until_a_float_meets():
    third = n / 3
    assert evaluate(third, {n: 1}) == Fraction(1, 3)
    assert evaluate(third, {n: 1.0}) == 1.0 / 3.0
    assert type(evaluate(third, {n: 6})) is int


def test_giants_become_floats_and_not_memory():
    assert evaluate(power(n, 1000), {n: 7}) == 7**1000
    assert evaluate(power(n, 4000) / power(n, 3990), {n: 2}) == 1024
    rounded = evaluate(power(n, 5000), {n: Fraction(101, 100)})
    assert rounded == pytest.approx(math.exp(5000 * math.log(1.01)), rel=1e-12)
    huge = power(n, 10**9)
    with pytest.raises(EvaluationError, match="overflow"):
        evaluate(huge, {n: 2})
    assert evaluate(huge, {n: -1}) == 1
    assert evaluate(huge, {n: Fraction(1, 2)}) == 0.0


def test_indices_truncate_towards_zero():
    table = array([array([1, 2]), array([3, 4])])
    assert evaluate(index(table, n, m), {n: Fraction(19, 10), m: -0.9}) == 3
    assert evaluate(index(n, 1), {n: (5, 6)}) == 6
    assert evaluate(index(n, 1, 0), {n: ((5, 6), (7, 8))}) == 7


def test_values_of_other_libraries_are_taken():
    value = evaluate(n * 1000**3, {n: numpy.int64(10**12)})
    assert value == 10**21
    assert type(evaluate(n + 0.5, {n: numpy.float64(1.5)})) is float


def test_several_values_share_their_work():
    assert evaluate_many([n + 1, n * 2, n], {n: 5}) == [6, 10, 5]


def test_deeper_than_python_recurses():
    chain = n
    for _ in range(DEEP):
        chain = apply("max", chain / 2, 1)
    assert evaluate(chain, {n: 10}) == 1
    nest = n
    for level in range(DEEP):
        nest = if_else(compare("==", m, level), level, nest)
    assert evaluate(nest, {n: 7, m: -1}) == 7
    assert evaluate(nest, {n: 7, m: 0}) == 0


def test_sums_over_few_passes_are_exact():
    i, j = counter("i"), counter("j")
    body = apply("max", i, m) / 7
    expected = sum(Fraction(max(k, 3), 7) for k in range(100))
    assert evaluate(summation(i, n, body), {n: 100, m: 3}) == expected
    nested = summation(i, n, summation(j, i, apply("min", i * j, m)))
    assert evaluate(nested, {n: 20, m: 40}) == sum(min(a * b, 40) for a in range(20) for b in range(a))


def test_passes_are_the_whole_numbers_below_the_count():
    i = counter("i")
    total = summation(i, n, apply("max", i, m))
    assert evaluate(total, {n: Fraction(5, 2), m: 1}) == 1 + 1 + 2
    assert evaluate(total, {n: 0, m: 1}) == 0


def test_definitions_are_evaluated_when_they_are_needed():
    known = {n: m + 1, m: number(4)}
    assert evaluate_many([n * 2], None, 0, known) == [10]
    with pytest.raises(EvaluationError, match="`n` is defined by itself"):
        evaluate_many([n], None, 0, {n: m + 1, m: n + 1})


def test_a_definition_may_hold_a_long_loop():
    """The exact rules begin it, give up, and the definition is asked for again."""
    i, j = counter("i"), counter("j")
    long_loop = summation(j, 1000, apply("max", j, 10))
    inner = summation(i, 600, apply("max", i, n))
    expected = sum(max(k, 10) for k in range(1000))
    assert evaluate_many([inner], None, 0, {n: long_loop / 1000}) == [
        pytest.approx(sum(max(k, expected / 1000) for k in range(600)), rel=1e-14)
    ]
    with pytest.raises(EvaluationError, match="division by zero"):
        evaluate_many([inner], None, 0, {n: 1 / m, m: graph.ZERO})
