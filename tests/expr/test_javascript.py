"""Generated JavaScript, run by Node.js and compared with evaluation."""

import json
import math
import shutil
import subprocess

import pytest

from aspenpy.engine.javascript_text import NotInJavaScript, add_helpers, to_javascript, translated_helpers
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import apply, array, draw, index, power, symbol
from tests.caches.test_laws import FORMS, expected
from tests.engine.test_table import CALLS
from tests.expr.test_c_code import FAILING, KINDS, m, n

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
x, y = symbol("x"), symbol("y")


def run(folder, calls):
    """The results of (expressions, free symbols, values), all in one script; NaN where there is none."""
    functions = [to_javascript(exprs, free, f"f{number}") for number, (exprs, free, _) in enumerate(calls)]
    results = ", ".join(f"f{number}({json.dumps([*values])})" for number, (*_, values) in enumerate(calls))
    script = folder / "all.js"
    script.write_text(
        '"use strict";\n' + add_helpers("\n".join(functions)) + f"console.log(JSON.stringify([{results}]));",
        encoding="utf-8",
    )
    done = subprocess.run(["node", str(script)], check=True, capture_output=True, text=True)
    return [[math.nan if value is None else value for value in row] for row in json.loads(done.stdout)]


@needs_node
def test_every_function(tmp_path):
    rows = run(tmp_path, [([expr], [x, y], (first, second)) for expr, first, second, _ in CALLS.values()])
    assert [row[0] for row in rows] == pytest.approx([value for *_, value in CALLS.values()], rel=1e-12)


@needs_node
def test_every_kind_of_node(tmp_path):
    (row,) = run(tmp_path, [(KINDS, [n, m], (7.0, 2.0))])
    assert row == pytest.approx([float(evaluate(expr, {n: 7, m: 2})) for expr in KINDS], rel=1e-13)


@needs_node
def test_what_has_no_value_is_not_a_number(tmp_path):
    (row,) = run(tmp_path, [(FAILING, [n], (0.0,))])
    assert all(map(math.isnan, row))


@needs_node
def test_laws_of_caches(tmp_path):
    calls = [([apply(name, *arguments(x))], [x], (point,)) for name, arguments, points in FORMS for point in points]
    wanted = [value for form in FORMS for value in expected(*form)]
    assert [row[0] for row in run(tmp_path, calls)] == pytest.approx(wanted, rel=1e-11, nan_ok=True)


@needs_node
def test_steps_stand_where_exact_arithmetic_has_them(tmp_path):
    """A tenth of 30 is 3, not 3.0000000000000004; logarithms and roots of whole powers are whole."""
    tenth = apply("ceil", x * 0.1)
    exprs = [tenth, apply("ceil", apply("log2", x)), apply("ceil", apply("log10", x)), apply("ceil", power(x, 1 / 3))]
    points = [30, 2.0**29, 1000, 64]
    rows = run(tmp_path, [([expr], [x], (point,)) for expr, point in zip(exprs, points, strict=True)])
    assert [row[0] for row in rows] == [3, 29, 3, 4]


def test_what_has_no_form():
    with pytest.raises(NotInJavaScript, match="a random draw has no form in JavaScript"):
        to_javascript([draw("uniform", (0, x), (1,))], [x], "f")
    with pytest.raises(NotInJavaScript, match="a row of a table has no form in JavaScript"):
        to_javascript([index(index(array([array([1]), array([2])]), x), 0)], [x], "f")


def test_helpers_are_those_of_c():
    assert {"aspen_divide", "aspen_share_kept", "aspen_grid"} <= set(translated_helpers())
    assert not add_helpers("").count("aspen_")
