"""SymPy's view: the same values, exactly, there and back."""

import math
from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, given

from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import (
    add,
    apply,
    array,
    checked,
    compare,
    counter,
    draw,
    failure,
    free_symbols,
    if_else,
    index,
    junction,
    number,
    power,
    summation,
    symbol,
)
from aspenpy.expr.sympy_view import NotInSympy, from_sympy, simplify_with_sympy, sympy_text, to_sympy
from tests.expr.strategies import SYMBOLS, bound, built, environments, recipes, worth

n, m = symbol("n"), symbol("m")
i, j = counter("i"), counter("j")
N, M = sympy.symbols("n m")


@given(recipes, environments)
def test_sympy_gives_the_same_value(recipe, environment):
    assume("lookup" not in str(recipe))  # with one in a condition, SymPy's `subs` trips over itself
    try:
        expected = worth(recipe, environment)
    except (ArithmeticError, IndexError):
        assume(False)
    shown = to_sympy(built(recipe))
    assume(not shown.has(sympy.Function("element")))
    values = {sympy.Symbol(name): sympy.Rational(value) for name, value in environment.items()}
    found = shown.subs(values).doit()
    assume(not found.has(sympy.nan, sympy.zoo))  # a branch that is not taken may fail
    assert found == sympy.Rational(expected)


@given(recipes, environments)
def test_there_and_back_is_exact(recipe, environment):
    try:
        expected = worth(recipe, environment)
    except (ArithmeticError, IndexError):
        assume(False)
    shown = to_sympy(built(recipe))
    assume(not shown.has(sympy.nan, sympy.zoo))
    try:
        found = evaluate(from_sympy(shown, SYMBOLS), bound(environment))
    except EvaluationError:
        assume(False)  # SymPy sorts the parts of a condition: one that was not reached before may come first
    assert found == expected


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (n / 3, N / 3),
        (n * Fraction(31, 200), sympy.Rational(31, 200) * N),
        (n + 0.5, N + sympy.Float(0.5)),
        (power(n, Fraction(1, 2)), sympy.sqrt(N)),
        (apply("sqrt", n), sympy.sqrt(N)),
        (apply("log", n) - apply("exp", m), sympy.log(N) - sympy.exp(M)),
        (apply("max", n, m), sympy.Max(N, M)),
        (apply("ceil", n / m), sympy.ceiling(N / M)),
        (compare("<=", n, m), sympy.Le(N, M)),
        (checked("count", n), N),
        (summation(i, n, i * 2), sympy.ceiling(N) * (sympy.ceiling(N) - 1)),
        (number(10**30), sympy.Integer(10) ** 30),
    ],
    ids=str,
)
def test_forms(ours, theirs):
    assert sympy.simplify(to_sympy(ours) - theirs) == 0 if not theirs.is_Relational else to_sympy(ours) == theirs


@pytest.mark.parametrize(
    "expr",
    [
        if_else(junction("or", compare("<", n, 2), junction("and", compare(">", m, 1), compare("!=", n, 5))), n, m),
        summation(i, n, summation(j, i, apply("max", i, j, m))),
        apply("lookup", array([1, 5, 6]), array([1, 2, 4]), n),
        apply("mod", n, m) + apply("floor", n / m) + apply("abs", m - n) + apply("round", n / m),
        index(array([array([1, 2]), array([3, n])]), 1, m - 2),
        draw("uniform", (n, 3 * n), (4, m)) + draw("normal", (n, 1), (1,)),
        n / m**2 / 3 + apply("log2", n) + apply("log10", n) + apply("min", n, m),
    ],
    ids=str,
)
def test_every_kind_of_node_comes_back(expr):
    back = from_sympy(to_sympy(expr), {"n": n, "m": m})
    assert evaluate(back, {n: 7, m: 3}) == pytest.approx(evaluate(expr, {n: 7, m: 3}), rel=1e-14)


def test_sums_stay_sums():
    shown = to_sympy(summation(i, n, apply("max", i, m)))
    assert isinstance(shown, sympy.Sum)
    assert shown.subs({N: 5, M: 2}).doit() == 2 + 2 + 2 + 3 + 4


@pytest.mark.parametrize("count", [2.5, Fraction(5, 2), apply("sqrt", 7)], ids=str)
def test_a_sum_goes_over_whole_passes(count):
    # 2.5 and sqrt(7) passes are 3: i = 0, 1 and 2
    assert to_sympy(summation(i, count, apply("sqrt", i))).evalf() == pytest.approx(1 + math.sqrt(2))
    shown = to_sympy(summation(i, count, apply("max", i, m)))
    assert float(shown.subs({M: 1}).evalf()) == 1 + 1 + 2


def test_text_is_what_sympy_writes_and_no_part_is_written_twice():
    part = n
    for step in range(18):  # each step holds the one before it twice
        part = apply("max", part + step, part * 2, m)
        if step == 7:
            assert sympy_text(part) == str(to_sympy(part))
    assert sympy_text(part).count("n") == 2**18  # SymPy's own printer takes some minutes


def test_a_sum_that_starts_elsewhere():
    k = sympy.Symbol("k")
    ours = from_sympy(sympy.Sum(sympy.Max(k, 4), (k, 3, N)), {"n": n})
    assert evaluate(ours, {n: 7}) == 4 + 4 + 5 + 6 + 7


def test_names():
    theirs = symbol("n", "machine")
    assert {str(name) for name in to_sympy(n / theirs).free_symbols} == {"n", "machine:n"}
    assert to_sympy(n, {n: "size"}) == sympy.Symbol("size")


def test_nothing_giant_and_nothing_infinite_is_computed():
    assert to_sympy(power(9, power(9, power(9, 9)))).is_Pow
    assert not to_sympy(1 / number(0)).has(sympy.zoo)
    assert to_sympy(n / 0 + 1).has(sympy.Symbol("n"))


def test_what_either_side_lacks():
    assert to_sympy(failure("x")) == sympy.Symbol("undefined")
    for theirs, reason in [
        (sympy.Symbol("q"), "`q` is not among the symbols"),
        (sympy.gamma(N), "no gamma"),
    ]:
        with pytest.raises(NotInSympy, match=reason):
            from_sympy(theirs, {"n": n, "m": m})


def test_a_piecewise_without_a_last_branch_fails_where_no_condition_holds():
    ours = from_sympy(sympy.Piecewise((N, N > 0)), {"n": n})
    assert evaluate(ours, {n: 3}) == 3
    with pytest.raises(EvaluationError, match="no condition of the Piecewise holds"):
        evaluate(ours, {n: -3})


def test_conditions_that_the_graph_has_no_words_for():
    for condition in (sympy.ITE(N > 1, M > 2, M < 0), sympy.Not(sympy.And(N > 1, M > 2), evaluate=False)):
        ours = from_sympy(sympy.Piecewise((1, condition), (0, True), evaluate=False), {"n": n, "m": m})
        for x in (0, 2):
            for y in (-1, 1, 3):
                assert evaluate(ours, {n: x, m: y}) == int(bool(condition.subs({N: x, M: y})))


def test_simplify_on_request():
    assert simplify_with_sympy((n**2 - m**2) / (n - m)) in (n + m, m + n)


def test_three_thousand_terms_take_no_time():
    terms = [apply("max", symbol(f"a{k}") / (k + 1), symbol(f"b{k}") * k, k) for k in range(1000)]
    total = apply("max", *[add(*terms[k : k + 100]) for k in range(0, 1000, 100)])
    shown = to_sympy(total)  # with evaluation, minutes
    assert {str(name) for name in shown.free_symbols} == {name.payload[0] for name in free_symbols(total)}


def test_a_thousand_levels_deep():
    chain = n
    for level in range(1000):
        chain = apply("max", chain + 1, level) / 2
    assert to_sympy(chain).is_Mul


def test_simplify_keeps_a_sum_it_cannot_see_into() -> None:
    """t*(n + sum over k < n of (ceil(k/3) if k < t else 5)) at t = 2, n = 4: 2*(4 + 0 + 1 + 5 + 5) = 30, by hand."""
    t, n, k = symbol("t"), symbol("n"), counter("k")
    total = summation(k, n, if_else(compare("<", k, t), apply("ceil", k / 3), 5))
    simplified = simplify_with_sympy(t * (n + total))
    assert free_symbols(simplified) == {t, n}
    assert evaluate(simplified, {t: 2, n: 4}) == 30


def test_a_sum_has_its_value_numerically() -> None:
    """1 + 1/8 + ... + 1/8^4 = (8^5 - 1)/(7*8^4) = 32767/28672; SymPy's evalf sums to the limit it is shown."""
    total = summation(k := counter("k"), 5, apply("max", power(number(8), -k), n * 0))
    view = to_sympy(total)
    assert view.has(sympy.Sum)
    assert float(view.subs({N: 1}).evalf()) == pytest.approx(32767 / 28672, rel=1e-12)
