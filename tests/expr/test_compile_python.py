"""Compiled predictions agree with evaluation, and fall back on it where they fail."""

import pickle
from fractions import Fraction

import pytest
from hypothesis import given

from aspenpy.engine.python import PreparedExpressions, compile_python
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import (
    apply,
    array,
    checked,
    compare,
    counter,
    draw,
    failure,
    if_else,
    index,
    power,
    summation,
    symbol,
)
from tests.expr.strategies import SYMBOLS, built, environments, recipes, robust_worth

n, m = symbol("n"), symbol("m")


@given(recipes, environments)
def test_prepared_agrees_with_fractions(recipe, environment):
    expected = robust_worth(recipe, environment)
    prepared = PreparedExpressions([built(recipe)], list(SYMBOLS.values()))
    values = [environment[name] for name in SYMBOLS]
    if expected is None:
        with pytest.raises(EvaluationError):
            prepared(*values)
    else:
        assert prepared(*values)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_every_kind_of_node():
    i = counter("i")
    table = array([array([1, n]), array([3, 4])])
    kinds = [
        n / m - 3 * n**2 + power(m, Fraction(1, 2)),
        apply("ceil", n / m) + apply("floor", n / m) + apply("round", n / m) + apply("abs", m - n),
        apply("max", n, m, 3) - apply("min", n, m, 3) + apply("mod", n + m, m - 5),
        apply("log", n) + apply("log2", n) + apply("log10", n) + apply("exp", m) + apply("sqrt", n),
        index(table, m - 2, 1) + apply("lookup", array([5, 9]), array([1, n]), m),
        if_else(compare("<", n, m), n, checked("count", m)),
        summation(i, n, apply("max", i, m)),
        draw("uniform", (n, 2 * n), (4, 5)) + draw("normal", (0, 1), (6,)),
    ]
    values = {n: 7, m: 2}
    assert PreparedExpressions(kinds, [n, m], seed=9)(7, 2) == pytest.approx(
        [float(evaluate(e, values, 9)) for e in kinds], rel=1e-14
    )


def test_arrays_are_parameters_too():
    expr = index(n, m) + apply("lookup", n, array([1, 2, 3]), m)
    assert PreparedExpressions([expr], [n, m])((4, 5, 7), 2) == (7 + 5,)


def test_a_branch_that_fails_but_is_not_taken():
    shared = 1 / n
    expr = if_else(compare("==", n, 0), 5, shared + shared**2)
    assert PreparedExpressions([expr], [n])(0) == (5.0,)
    assert PreparedExpressions([if_else(compare("==", n, 0), 5, failure("no"))], [n])(0) == (5.0,)


@pytest.mark.parametrize(
    ("expr", "values", "reason"),
    [
        (1 / n, (0,), "division by zero"),
        (n * n, (1e200,), "overflow"),
        (apply("log", n), (-1,), "logarithm of -1"),
        (checked("count", n), (-1,), "a loop cannot run -1 times"),
        (index(array([1, 2]), n), (-1,), "index -1 is outside"),
        (failure("out of order") + n, (1,), "out of order"),
        (n + m, (1,), "no value for `m`"),
        (power(n, 5000), (10,), "overflow"),
    ],
)
def test_what_fails_is_reported_as_by_evaluate(expr, values, reason):
    with pytest.raises(EvaluationError, match=reason):
        PreparedExpressions([expr], [n])(*values)


def test_beyond_floating_point_the_exact_rules_decide():
    assert PreparedExpressions([n * n / n], [n])(10**200) == (1e200,)
    assert PreparedExpressions([power(2, 4000) / power(2, 3990) + n], [n])(0) == (1024.0,)


def test_deep_and_wide_expressions_compile():
    chain = n
    for level in range(3000):
        chain = apply("max", chain / 2, level)
    assert PreparedExpressions([chain], [n])(1) == (float(evaluate(chain, {n: 1})),)


def test_prepared_can_be_sent_to_another_process():
    assert pickle.loads(pickle.dumps(PreparedExpressions([n + 1], [n])))(3) == (4.0,)


def test_names_of_the_user_do_not_reach_the_program():
    hostile = symbol("__import__('os').abort()")
    assert PreparedExpressions([hostile + 1], [hostile])(3) == (4.0,)


def test_several_sums_without_closed_form_compile():
    """ceil(k/2) for k below 5 are 0, 1, 1, 2, 2; of thirds 0, 1, 1, 1, 2. The exact rules are not asked."""
    n, k, j = symbol("n"), counter("k"), counter("j")
    half, third = (summation(item, n, apply("ceil", item / size)) for item, size in ((k, 2), (j, 3)))
    assert compile_python([half + 10 * third], [n])(5) == (0 + 1 + 1 + 2 + 2 + 10 * (0 + 1 + 1 + 1 + 2),)
