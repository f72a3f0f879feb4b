"""Text and LaTeX, read again by Python's parser and by the eye."""

import re
from fractions import Fraction

import pytest
from hypothesis import assume, given

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
    junction,
    neg,
    number,
    power,
    summation,
    symbol,
)
from aspenpy.expr.printer import TooLarge, display_names, shorten_text, to_latex, to_named_text, to_text
from tests.expr.strategies import built, environments, recipes, worth

n, m, k = symbol("n"), symbol("m"), symbol("k")
i = counter("i")


def reread(text, environment):
    """The worth of an Aspen text without arrays, by Python's own grammar, whose precedences are the same."""
    text = re.sub(r"\d+(\.\d+)?(e-?\d+)?", lambda numeral: f"Fraction('{numeral[0]}')", text)
    text = text.replace("^", "**").replace("if(", "if_(").replace("mod(", "mod_(")
    scope = {
        "Fraction": Fraction,
        "if_": lambda condition, then, otherwise: then if condition else otherwise,
        "mod_": lambda a, b: a % b,
        "floor": lambda x: Fraction(x.__floor__()),
        "ceil": lambda x: Fraction(x.__ceil__()),
        "round": lambda x: Fraction(round(x)),
    }
    return eval(text, scope, {name: Fraction(value) for name, value in environment.items()})


@given(recipes, environments)
def test_text_means_what_the_expression_means(recipe, environment):
    text = to_text(built(recipe))
    assume("{" not in text)
    try:
        expected, found = worth(recipe, environment), reread(text, environment)
    except (ArithmeticError, IndexError):
        assume(False)
    assert found == expected


@pytest.mark.parametrize(
    ("expr", "text", "latex"),
    [
        (n - m, "n - m", "n - m"),
        (n - (m - k), "n - (m - k)", r"n - \left(m - k\right)"),
        (n - 3, "n - 3", "n - 3"),
        (n + -3 * m, "n - 3*m", r"n - 3 \cdot m"),
        (-(n**2), "-n^2", "-n^{2}"),
        ((-n) ** 2, "(-n)^2", r"\left(-n\right)^{2}"),
        (n * (m + k), "n*(m + k)", r"n \cdot \left(m + k\right)"),
        (n / m / k, "n/m/k", r"\frac{\frac{n}{m}}{k}"),
        (n / (m * k), "n/(m*k)", r"\frac{n}{m \cdot k}"),
        (n * (m / k), "n*(m/k)", r"n \cdot \frac{m}{k}"),
        ((n / m) ** 2, "(n/m)^2", r"\left(\frac{n}{m}\right)^{2}"),
        (power(power(n, m), k), "(n^m)^k", r"\left(n^{m}\right)^{k}"),
        (power(n, power(m, k)), "n^m^k", "n^{m^{k}}"),
        (power(n, -1), "n^(-1)", "n^{-1}"),
        (n * Fraction(31, 200), "n*0.155", r"n \cdot 0.155"),
        (n * Fraction(1, 3), "n*(1/3)", r"n \cdot \frac{1}{3}"),
        (power(Fraction(1, 3), n), "(1/3)^n", r"\left(\frac{1}{3}\right)^{n}"),
        (n * number(-2), "n*(-2)", r"n \cdot \left(-2\right)"),
        (n * 2_800_000_000, "n*2.8e9", r"n \cdot \left(2.8 \cdot 10^{9}\right)"),
        (n * 10**18, "n*1e18", r"n \cdot \left(1 \cdot 10^{18}\right)"),
        (n + Fraction(107, 10**8), "n + 1.07e-6", r"n + 1.07 \cdot 10^{-6}"),
        (n + 0.1, "n + 0.1", "n + 0.1"),
        (n + 1e-9, "n + 1e-9", r"n + 1 \cdot 10^{-9}"),
        (apply("ceil", n / m), "ceil(n/m)", r"\left\lceil \frac{n}{m} \right\rceil"),
        (apply("max", n, m, k), "max(n, m, k)", r"\max\left(n, m, k\right)"),
        (apply("log", n) * apply("sqrt", m), "log(n)*sqrt(m)", r"\ln\left(n\right) \cdot \sqrt{m}"),
        (apply("log2", n), "log2(n)", r"\log_{2}\left(n\right)"),
        (apply("mod", n + m, k), "mod(n + m, k)", r"\operatorname{mod}\left(n + m, k\right)"),
        (neg(n + m), "-(n + m)", r"-\left(n + m\right)"),
        (index(array([n, m]), k), "{n, m}[k]", r"{\left\{n, m\right\}}_{k}"),
        (index(symbol("t"), n, m), "t[n][m]", "{t}_{n, m}"),
        (
            if_else(compare("<=", n, 2), n, 3),
            "if(n <= 2, n, 3)",
            r"\begin{cases} n & \text{if } n \le 2 \\ 3 & \text{otherwise} \end{cases}",
        ),
        (
            summation(i, n, apply("max", i, m)),
            "sum(i, n, max(i, m))",
            r"\sum_{i=0}^{\left\lceil n \right\rceil - 1} \max\left(i, m\right)",
        ),
        (checked("count", n) * 2, "n*2", r"n \cdot 2"),
        (draw("uniform", (n, 2), (1,)), "uniform(n, 2)", r"\operatorname{uniform}\left(n, 2\right)"),
        (failure("x"), "undefined", r"\mathrm{undefined}"),
        (symbol("nAtoms_0"), "nAtoms_0", r"\mathrm{nAtoms\_0}"),
    ],
)
def test_spelling(expr, text, latex):
    assert to_text(expr) == text
    assert to_latex(expr) == latex


def test_conditions_joined_by_different_words_get_parentheses():
    a, b, c = (compare("<", name, 1) for name in (n, m, k))
    mixed = if_else(junction("or", junction("and", a, b), c), 1, 2)
    assert to_text(mixed) == "if((n < 1 and m < 1) or k < 1, 1, 2)"
    assert to_text(if_else(junction("and", junction("and", a, b), c), 1, 2)) == "if(n < 1 and m < 1 and k < 1, 1, 2)"


def test_names_that_two_models_have_are_qualified():
    theirs = symbol("n", "machine")
    assert to_text(n + theirs) == "n + machine:n"
    assert to_text(theirs) == "n"
    assert to_text(symbol("n", "app") / theirs) == "app:n/machine:n"


def test_counters_of_the_same_name_are_told_apart():
    j = counter("i")
    nested = summation(i, n, summation(j, n, apply("max", i, j)))
    assert to_text(nested) == "sum(i, n, sum(i_2, n, max(i, i_2)))"
    assert sorted(display_names(i + j).values()) == ["i", "i_2"]


def doubled(times, expr=n):
    for _ in range(times):
        expr = expr * expr + 1
    return expr


def test_a_shared_graph_too_large_to_write_out_is_refused_at_once():
    with pytest.raises(TooLarge, match=r"more than 1,000,000 terms; its graph has 2,00\d nodes"):
        to_text(doubled(1000))  # 2^1000 terms would not end


def test_shared_terms_have_names_but_in_a_sum():
    """Terms with the counter of a sum have no value outside of it, so that they are written out."""
    assert to_named_text(doubled(1000), "whole", {}).count("\n") > 400
    with pytest.raises(TooLarge):
        to_named_text(summation(i, n, apply("floor", apply("sqrt", doubled(40, i)))), "whole", {})


def test_an_excerpt_is_short_however_large_the_expression():
    assert len(shorten_text(doubled(1000))) == 80
    assert repr(n + 1) == "<Expr n + 1>"
    assert str(n + 1) == "n + 1"


def test_ten_thousand_levels_deep():
    chain = n
    for _ in range(10_000):
        chain = apply("sqrt", chain)
    assert to_text(chain) == "sqrt(" * 10_000 + "n" + ")" * 10_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12345678 * 10**1, "123456780"),
        (1234567 * 10**5, "123456700000"),
        (1234567 * 10**6, "1.234567e12"),
        (Fraction(123456789, 10**5), "1234.56789"),
    ],
)
def test_large_whole_numbers_with_many_zeros_have_an_exponent(value: int | Fraction, text: str) -> None:
    """Six zeros at the end are more than a reader counts at a glance."""
    assert to_text(number(value)) == text
