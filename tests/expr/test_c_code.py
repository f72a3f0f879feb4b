"""Generated C, compiled with all warnings as errors and compared with evaluation."""

import math
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.engine.c_text import KEYWORDS, NotInC, make_identifier, to_c
from aspenpy.expr.evaluate import evaluate
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
    power,
    summation,
    symbol,
)
from tests.expr.strategies import SYMBOLS, built, environments, recipes, robust_worth
from tests.thorough import some

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")

n, m = symbol("n"), symbol("P", "machine")
i, j = counter("i"), counter("j")

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]


def run(tmp_path, calls):
    """The results of (expression, free symbols, values), all in one program."""
    sources, mains = [], []
    for number, (expr, free, values) in enumerate(calls):
        code = to_c(expr, free, f"f{number}")
        (tmp_path / f"f{number}.c").write_text(code, encoding="utf-8")
        sources.append(str(tmp_path / f"f{number}.c"))
        parameters = ", ".join("double" for _ in free) or "void"
        mains += [f"double f{number}({parameters});"]
        mains += [f'static void p{number}(void) {{ printf("%.17g\\n", f{number}({", ".join(map(repr, values))})); }}']
    body = " ".join(f"p{number}();" for number in range(len(calls)))
    lines = ["#include <stdio.h>", *mains, f"int main(void) {{ {body} return 0; }}", ""]
    (tmp_path / "main.c").write_text("\n".join(lines), encoding="utf-8")
    program = str(tmp_path / "program")
    subprocess.run(["gcc", *FLAGS, *sources, str(tmp_path / "main.c"), "-o", program, "-lm"], check=True)
    printed = subprocess.run([program], capture_output=True, check=True, text=True).stdout
    return [float(line) for line in printed.split()]


KINDS = [
    n / m - 3 * n**2 + power(m, 0.5),
    apply("ceil", n / m) + apply("floor", n / m) + apply("round", n / m) + apply("abs", m - n),
    apply("max", n, m, 3) - apply("min", n, m, 3) + apply("mod", n, m) + apply("mod", -n, m) + apply("mod", n, -m),
    apply("log", n) + apply("log2", n) + apply("log10", n) + apply("exp", m) + apply("sqrt", n),
    index(array([array([1, n]), array([3, 4])]), m - 2, 1) + index(array([1, 2, 3]), m),
    apply("lookup", array([5, 9, 9]), array([1, n, 10]), m) + apply("lookup", array([5, 9]), array([1, 3]), n),
    if_else(junction("and", compare("<", n, m), compare("!=", n, 0)), n, checked("count", m)),
    if_else(junction("or", compare(">=", n, m), compare(">", 1 / (n - 7), 0)), n, m),
    summation(i, n, apply("max", i, m)) + summation(i, m, apply("min", i, n) * apply("sqrt", n + m)),
    summation(i, n, summation(j, i + m, apply("max", i * m, j) / apply("sqrt", n)) * apply("ceil", i / 2)),
    summation(i, n, index(array([i, m, 2 * n]), apply("mod", i, 3)) + apply("max", i, 3)),
]


FAILING = [
    1 / (1 / n),
    power(1 / n, 0),
    apply("max", apply("log", n), 1),
    apply("min", apply("sqrt", n - 1), 1),
    if_else(compare("<", 1 / n, 1), 1, 2),
    index(array([1, 2]), n - 1),
    checked("quantity", n),
    apply("exp", n + 1000),
    apply("mod", 1, n),
    summation(i, 5, apply("max", 1 / (n + i - 3), 1)),
    summation(i, 1 / n, apply("max", i, 1)),
    failure("never") + n,
    1 / power(2 + n, 5000),
    apply("lookup", array([1, 2]), array([n, 0]), 1),
]
"""Where n is 0."""


@needs_gcc
def test_every_kind_of_node(tmp_path):
    results = run(tmp_path, [(expr, [n, m], (7.0, 2.0)) for expr in KINDS])
    assert results == pytest.approx([float(evaluate(expr, {n: 7, m: 2})) for expr in KINDS], rel=1e-13)


@needs_gcc
def test_what_has_no_value_is_not_a_number(tmp_path):
    assert all(math.isnan(result) for result in run(tmp_path, [(expr, [n], (0.0,)) for expr in FAILING]))
    assert run(tmp_path, [(if_else(compare("==", n, 0), 5, 1 / n), [n], (0.0,))]) == [5.0]


@needs_gcc
@settings(max_examples=some(3, 1))
@given(st.lists(st.tuples(recipes, environments), min_size=25, max_size=25))
def test_compiled_c_agrees_with_fractions(tmp_path_factory, cases):
    calls, expected = [], []
    for recipe, environment in cases:
        value = robust_worth(recipe, environment)
        calls.append((built(recipe), list(SYMBOLS.values()), [float(environment[name]) for name in SYMBOLS]))
        expected.append(math.nan if value is None else value)
    results = run(tmp_path_factory.mktemp("c"), calls)
    assert results == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@needs_gcc
def test_deep_expressions_compile(tmp_path):
    chain = n
    for level in range(2000):
        chain = apply("max", chain / 2, level)
    assert run(tmp_path, [(chain, [n], (5.0,))]) == [float(evaluate(chain, {n: 5}))]


def test_the_function_as_it_is_written():
    assert to_c(3 * n**2 / 4 + m, [n, m], "runtime").splitlines()[-5:] == [
        "double runtime(double n, double P)",
        "{",
        "    const double result = 3.0 * (n * n) / 4.0 + P;",
        "    return isfinite(result) ? result : NAN;",
        "}",
    ]
    assert "double constant(void)" in to_c(apply("log", 10), [], "constant")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("n", "n"),
        ("fft3d.n", "fft3d_n"),
        ("int", "int_"),
        ("log", "log_"),
        ("2d", "m2d"),
        ("_x", "m_x"),
        ("machine:n", "machine_n"),
    ],
)
def test_names_become_identifiers(name, expected):
    assert make_identifier(name, set()) == expected
    assert expected not in KEYWORDS


def test_identifiers_stay_apart():
    code = to_c(symbol("a.b") + symbol("a_b") + symbol("result"), [symbol("a.b"), symbol("a_b"), symbol("result")])
    assert "double runtime(double a_b, double a_b_2, double result_2)" in code


@pytest.mark.parametrize(
    ("expr", "reason"),
    [
        (draw("uniform", (0, 1), (1,)), "a random draw has no form in C"),
        (n + symbol("k"), "`k` is neither given a value nor a parameter"),
        (index(n, 1), "only where its elements are written out"),
        (apply("lookup", n, array([1, 2]), 1), "only where its elements are written out"),
        (index(index(array([array([1]), array([2])]), n), 0), "a row of a table has no form in C"),
        (index(array([array([1]), array([2, 3])]), n, 0), "rows have the same length"),
    ],
)
def test_what_c_has_no_form_for(expr, reason):
    with pytest.raises(NotInC, match=reason):
        to_c(expr, [n])
