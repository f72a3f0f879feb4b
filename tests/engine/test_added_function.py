"""A function of the language is one row of one table: with `hypot` added to it, every runner, printer and search knows
it. The row is added in a process of its own, before anything else reads the table."""

import shutil
import subprocess
import sys

import pytest

PROGRAM = """
import math
from aspenpy.expr import functions

functions.FUNCTIONS["hypot"] = functions.Function(
    "hypot", 2, 2, "same",
    exact=math.hypot,
    numpy=lambda numpy, x, y: numpy.hypot(x, y),
    c="hypot({joined})",
    llvm="call double @hypot(double {0}, double {1})",
    latex=r"\\\\operatorname{{hypot}}\\\\left({joined}\\\\right)",
    derivative=lambda graph, x, y: (x / graph.apply("hypot", x, y), y / graph.apply("hypot", x, y)),
)

from aspenpy.engine.c_text import to_c
from aspenpy.engine.javascript_text import add_helpers, to_javascript
from aspenpy.engine.python import compile_python
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import apply, symbol
from aspenpy.expr.printer import to_latex, to_text
from aspenpy.expr.sympy_view import from_sympy, to_sympy
from tests.sweeps.test_programs import AVAILABLE, swept

x, y = symbol("x"), symbol("y")
expr = apply("hypot", x, y)
assert evaluate(expr, {x: 3, y: 4}) == 5
assert compile_python([expr], [x, y])(3.0, 4.0)[0] == 5
for backend in AVAILABLE:
    assert swept(expr, {x: [3.0, 5.0], y: [4.0, 12.0]}, backend)[0] == [5.0, 13.0], backend
assert evaluate(differentiate(expr, x), {x: 3, y: 4}) == 3 / 5
assert to_text(expr) == "hypot(x, y)"
assert "hypot" in to_latex(expr)
assert evaluate(from_sympy(to_sympy(expr), {"x": x, "y": y}), {x: 3, y: 4}) == 5
assert "hypot(x, y)" in to_c(expr, [x, y])
print(add_helpers(to_javascript([expr], [x, y], "f")) + "\\nconsole.log(f([3, 4])[0]);")
"""


@pytest.fixture(scope="module")
def javascript() -> str:
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_one_row_serves_all_of_python(javascript: str) -> None:
    assert "hypot" in javascript


def test_one_row_serves_the_page(javascript: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js on this machine")
    assert subprocess.run([node, "-e", javascript], capture_output=True, text=True, check=True).stdout.strip() == "5"
