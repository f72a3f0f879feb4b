"""The tables of functions and laws: no cell is empty, and every runner has every row."""

import math
import re
import shutil
from fractions import Fraction
from random import Random

import numpy
import pytest

from aspenpy.engine import backends
from aspenpy.engine.arrays import Doubt
from aspenpy.engine.backends import BACKENDS
from aspenpy.engine.c_text import read_helpers, to_c
from aspenpy.engine.compiled import is_compilable
from aspenpy.engine.operation import find_intervals
from aspenpy.engine.program import LOWERED, Program
from aspenpy.engine.python import PreparedExpressions, compile_python
from aspenpy.expr import graph
from aspenpy.expr.array_rules import RULES as ARRAY_RULES
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import RULES as EXACT_RULES
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.failures import LAWS
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import apply, array, checked, counter, power, substitute, summation, symbol
from aspenpy.expr.printer import RULES as PRINTED
from aspenpy.expr.printer import to_latex, to_text
from aspenpy.expr.sympy_view import TO_SYMPY, from_sympy, to_sympy
from aspenpy.generate.mpi import mpi_helpers
from tests.expr.test_c_code import run as run_c
from tests.sweeps.test_programs import AVAILABLE, swept
from tests.thorough import some

x, y, z = symbol("x"), symbol("y"), symbol("z")
i = counter("i")

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")

CALLS = {
    "lookup": (apply("lookup", array([1, 4]), array([0, x]), y), 5.0, 2.0, 1 + 3 * 2 / 5),
    "gcd": (apply("gcd", x, y), 12.0, 18.0, 6.0),
    "grid": (apply("grid", x, y, 1), 24.0, 3.0, 3.0),
    "lru_hits": (apply("lru_hits", x, 2, y), 3.0, 8.0, 0.75**3 + 3 * 0.25 * 0.75**2),
    "random_misses": (apply("random_misses", x, y, 0.5), 2.0, 1.0, 2 / 3),
    "sets_touched": (apply("sets_touched", x, 64, 16, y, 4), 64.0, 128.0, 4.0),
    "share_kept": (apply("share_kept", x, 64, 4, 0, 1, 8, 0, y, 8, 0, 0), 2.0, 64.0, 1.0),
    "share_still_held": (apply("share_still_held", x, 64, 64, 64, 1, 1, 4, 64, 0, 1, y, 0), 1.0, 128.0, 0.25),
    "lines_with_room": (apply("lines_with_room", x, 1, y, 0.5), 2.0, 2.0, 0.5),
    "mod": (apply("mod", x, y), 7.0, -4.0, -1.0),
    "pow": (power(x, y), 3.0, 4.0, 81.0),
    "max": (apply("max", x, y), 3.0, 4.0, 4.0),
    "min": (apply("min", x, y), 3.0, 4.0, 3.0),
    "log": (apply("log", x), math.e, 0.0, 1.0),
    "log2": (apply("log2", x), 8.0, 0.0, 3.0),
    "log10": (apply("log10", x), 1000.0, 0.0, 3.0),
    "exp": (apply("exp", x), 1.0, 0.0, math.e),
    "sqrt": (apply("sqrt", x), 2.25, 0.0, 1.5),
    "floor": (apply("floor", x), -2.5, 0.0, -3.0),
    "ceil": (apply("ceil", x), -2.5, 0.0, -2.0),
    "round": (apply("round", x), 2.5, 0.0, 2.0),
    "abs": (apply("abs", x), -2.5, 0.0, 2.5),
}
"""An expression of each function, a point (x, y), and its value there by hand: of lru_hits the chance that fewer than 2
of 3 lines fall into one of 4 sets, of random_misses the root of m = 1 - (1 - m/2)/2, of share_still_held the mean share
of 64 sets of one line that 8, 24, 40, 56 and, three times, more than 64 lines leave free."""

COMPUTED = [name for name, row in FUNCTIONS.items() if not row.random]


def test_no_function_is_left_out():
    assert set(CALLS) == set(COMPUTED)


@pytest.mark.parametrize("name", COMPUTED)
def test_no_cell_is_empty(name):
    row = FUNCTIONS[name]
    assert row.exact
    assert row.numpy
    assert row.latex
    assert row.dimension
    if row.definition:  # others compute it in programs
        return
    assert row.c
    assert row.derivative or name == "pow"
    program = Program([CALLS[name][0]], [x, y])
    given = not is_compilable(program) or any(op.kind == name for op in [program.ops[p] for p in program.straight])
    assert row.llvm or given or name in ("max", "min", "lookup")


@pytest.mark.parametrize("backend", AVAILABLE)
@pytest.mark.parametrize("name", COMPUTED)
def test_every_runner_has_every_function(name, backend):
    expr, first, second, expected = CALLS[name]
    point = {x: first, y: second}
    assert float(evaluate(expr, point)) == pytest.approx(expected, rel=1e-12)
    assert compile_python([expr], [x, y])(first, second)[0] == pytest.approx(expected, rel=1e-12)
    assert swept(expr, {x: [first], y: [second]}, backend)[0] == pytest.approx([expected], rel=1e-12)
    assert to_text(expr)
    assert to_latex(expr)
    again = from_sympy(to_sympy(expr), {"x": x, "y": y})
    assert float(evaluate(again, point)) == pytest.approx(expected, rel=1e-12)
    (low, high) = find_intervals(Program([expr], [x, y]).ops, [(first, first), (second, second)])[-1]
    assert low - 1e-9 <= expected <= high + 1e-9


@pytest.mark.parametrize("name", COMPUTED)
def test_long_loops_have_every_function(name):
    """2000 passes that add the same, since i mod 1 is 0."""
    expr, first, second, expected = CALLS[name]
    (body,) = substitute([expr], {x: x + apply("mod", i, 1), y: y + apply("mod", i, 1)})
    total = evaluate(summation(i, 2000, body), {x: first, y: second})
    assert float(total) == pytest.approx(2000 * expected, rel=1e-12)


def test_every_runner_has_every_kind_of_node():
    """`checked` is printed as its value, and what does not change from pass to pass comes into long loops as it is."""
    words = re.findall(r"^    ([a-z_]+(?:, [a-z_]+)?) {2,}\S", graph.__doc__, re.MULTILINE)
    kinds = {kind for word in words for kind in word.split(", ")}
    assert kinds == {"number", "boolean", "symbol", "failure", *graph.REBUILT}
    assert set(EXACT_RULES) == kinds
    lowered = {"and", "or", "if", "square", "root", "sub", *COMPUTED} - {"pow"}
    assert set(ARRAY_RULES) == graph.REBUILT - {"apply", "junction", "if_else", "sum"} | lowered
    assert {*LOWERED, "sum"} == {"failure", *graph.REBUILT}
    assert {*PRINTED, "symbol", "checked"} == kinds
    assert {*TO_SYMPY, "symbol"} == kinds


@needs_gcc
def test_generated_c_has_every_function_and_law(tmp_path):
    calls = [(expr, [x, y], (first, second)) for expr, first, second, _ in CALLS.values()]
    assert run_c(tmp_path, calls) == pytest.approx([expected for *_, expected in CALLS.values()], rel=1e-12)


def test_no_law_is_named_as_a_helper_of_another_meaning():
    text = to_c(checked("power", x) + power(x, y), [x, y])
    assert "aspen_power(x, y)" in text
    assert "aspen_power(x, x)" not in text
    assert {"aspen_power", "aspen_held"} <= set(read_helpers())


WITHIN = {
    "amount": (0.0, 7.0), "size": (0.0, 4096.0), "part": (0.5, 4.0), "width": (0.5, 8.0),
    "count": (0.0, 7.0), "parallelism": (0.0, 1.0), "quantity": (0.5, 1.0), "power": (0.0, 95.0),
    "design_power": (0.0, 20.0), "energy": (0.0, 1e-12), "clock": (1.0, 1e9), "efficiency": (0.01, 1.0),
    "probability": (0.0, 1.0), "probabilities": (-3.0, 1.0), "bandwidth_share": (0.5, 1.0),
}  # fmt: skip
OUTSIDE = {
    "amount": (-1.0, -0.5), "size": (-1.0, -8.0), "part": (0.0, -1.0), "width": (0.0, -1.0),
    "count": (-1.0, -0.5), "parallelism": (-1.0, -1e-9), "quantity": (0.0, -1.0), "power": (-1.0, -2.0),
    "design_power": (-1.0, -2.0), "energy": (-1.0, -2.0), "clock": (0.0, -1.0), "efficiency": (0.0, 1.01),
    "probability": (-0.1, 1.1), "probabilities": (1.1, 2.0), "bandwidth_share": (0.0, 1.5),
}  # fmt: skip
"""What each law allows and refuses, from its words: a power may be nothing, a clock may not."""


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("backend", AVAILABLE)
def test_every_runner_keeps_every_law(law, backend):
    expr = 3 + checked(law, y, x)
    good, bad = WITHIN[law], OUTSIDE[law]
    values, _ = swept(expr, {x: [*good, *bad], y: [4.0] * 4}, backend)
    assert values == pytest.approx([7.0, 7.0, math.nan, math.nan], nan_ok=True)
    assert [evaluate(expr, {x: value, y: 4}) for value in good] == [7, 7]
    prepared = PreparedExpressions([expr], [x, y])
    assert prepared(good[0], 4.0) == (7.0,)
    long = summation(i, 2000, checked(law, apply("max", i, y), x))
    assert evaluate(long, {x: good[1], y: 0}) == 2000 * 1999 / 2
    for value in bad:
        with pytest.raises(EvaluationError):
            evaluate(expr, {x: value, y: 4})
        with pytest.raises(EvaluationError):
            prepared(value, 4.0)
        with pytest.raises(EvaluationError):
            evaluate(long, {x: value, y: 0})


@needs_gcc
def test_generated_c_keeps_every_law(tmp_path):
    calls = [(checked(law, y, x), [x, y], (value, 4.0)) for law in LAWS for value in (*WITHIN[law], *OUTSIDE[law])]
    assert run_c(tmp_path, calls) == pytest.approx([4.0, 4.0, math.nan, math.nan] * len(LAWS), nan_ok=True)


# -- roots -----------------------------------------------------------------------------------------

ROOTS = [(degree, base) for degree in (2, 3, 4, 5, 7) for base in (2, 3, 10, 17, 100) if base**degree < 2**52]


def test_roots_are_whole_however_the_number_came_in():
    for degree, base in ROOTS:
        root = apply("floor", power(x, Fraction(1, degree)))
        for value in (base**degree, float(base**degree), Fraction(base**degree)):
            assert evaluate(root, {x: value}) == base
        assert PreparedExpressions([root], [x])(float(base**degree)) == (float(base),)
        assert evaluate(power(x, Fraction(2, degree)), {x: float(base**degree)}) == pytest.approx(base**2, abs=0)


@pytest.mark.parametrize("backend", AVAILABLE)
def test_roots_are_whole_in_sweeps(backend):
    for degree in (2, 3, 5) if backend == "c" else (2, 3, 4, 5, 7):
        bases = [base for base in range(1, 400) if base**degree < 2**52]
        values, _ = swept(
            apply("floor", power(x, Fraction(1, degree))), {x: [float(b**degree) for b in bases]}, backend
        )
        assert values == bases


@needs_gcc
def test_roots_are_whole_in_c(tmp_path):
    calls = [(apply("floor", power(x, Fraction(1, degree))), [x], (float(b**degree),)) for degree, b in ROOTS]
    assert run_c(tmp_path, calls) == [float(base) for _, base in ROOTS]


# -- what fails shows ------------------------------------------------------------------------------

VANISHING = [
    apply("min", apply("max", x, apply("sqrt", x - 5)), x),
    power(x / x, graph.number(0.0)),
    power(graph.number(1.0), 1 / x) + 1,
    1 / (1 / x),
    apply("exp", -1 / x),
    apply("mod", 3, 1 / x),
    apply("max", apply("log", x), 2),
    graph.if_else(graph.compare("<", apply("log", x), 2), 1, 1 + x),
    graph.index(array([x, 1 / x]), x / 9),
    apply("lookup", array([1, 1 / x, 5]), array([0, 1, 2]), 1.5 + x),
    apply("min", x + 1, checked("clock", x)),
]
"""At x = 0 an operand fails, of which arithmetic in floating point may leave nothing in the result."""


@pytest.mark.parametrize("backend", AVAILABLE)
def test_an_operand_that_fails_cannot_disappear(backend):
    for expr in VANISHING[:: 4 if backend == "c" else 1]:
        values, reasons = swept(expr, {x: [0.0, 9.0]}, backend)
        assert math.isnan(values[0]), str(expr)
        assert reasons[0]
        assert values[1] == pytest.approx(float(evaluate(expr, {x: 9})), rel=1e-12)
        with pytest.raises(EvaluationError):
            evaluate(expr, {x: 0})


@needs_gcc
def test_an_operand_that_fails_cannot_disappear_in_c(tmp_path):
    assert all(math.isnan(value) for value in run_c(tmp_path, [(expr, [x], (0.0,)) for expr in VANISHING]))


@pytest.mark.parametrize("backend", [name for name in AVAILABLE if name != "numpy"])
def test_code_is_not_trusted_outside_of_its_box(backend):
    """Compiled for x from 1 to 2, where nothing of it overflows."""
    program = Program([apply("min", x**4 * x**4, 7)], [x], box=[(1.0, 2.0)])
    kernel = BACKENDS[backend].kernel(program)
    values = numpy.empty(2)
    kernel.run([numpy.array([1.0, 2.0])], [values])
    assert values.tolist() == [1.0, 7.0]
    with pytest.raises(Doubt):
        kernel.run([numpy.array([1e60, 1.0])], [values])


def test_large_whole_numbers_in_long_loops():
    """Of 0 .. 99,999 a third of which, rounded up, is odd: three each of 1, 3, .. 33,333."""
    third = apply("ceil", i / 3)
    total = summation(i, 100_000, power(graph.number(10**22), apply("mod", third, 2)))
    odd = 3 * len(range(1, 33_334, 2))
    assert float(evaluate(total)) == pytest.approx(odd * 1e22 + (100_000 - odd), rel=1e-12)


def test_derivatives_exist():
    for name, (expr, first, second, _) in CALLS.items():
        slope = differentiate(expr, x if name != "lookup" else y)
        assert math.isfinite(float(evaluate(slope, {x: first, y: second}))) or name == "random_misses"


def test_helpers_of_formulas_and_of_skeletons_are_told_apart():
    """A generated program has both."""
    assert not set(read_helpers()) & set(mpi_helpers())


def lru_by_hand(distance, ways, lines):
    """The chance that fewer than `ways` of so many lines fall into a set, in fractions: a binomial sum."""
    chance = Fraction(ways, lines)
    terms = (math.comb(distance, k) * chance**k * (1 - chance) ** (distance - k) for k in range(ways))
    return float(sum(terms))


@pytest.mark.parametrize("backend", AVAILABLE)
def test_lru_hits_at_all_sizes(backend):
    """Those whose sum passes 10^250, and those whose share falls below 10^-260, among them."""
    points = [(3, 2, 8), (500, 16, 4096), (500, 1, 64), (1790, 900, 1800), (900, 4, 8), (700, 2, 5), (15, 16, 32)]
    columns = dict(zip((x, y, z), zip(*points, strict=True), strict=True))
    values, _ = swept(apply("lru_hits", x, y, z), columns, backend)
    assert values == pytest.approx([lru_by_hand(*point) for point in points], rel=1e-11)


@pytest.mark.skipif("llvm" not in AVAILABLE, reason="llvmlite is not installed")
@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_lru_hits_at_several_points_at_once(lanes, monkeypatch):
    """Neighbours have different ways; the last points fill no vector."""
    monkeypatch.setattr(backends, "points_per_instruction", lambda: lanes)
    draws = Random(lanes)
    ways = [draws.randint(1, 40) for _ in range(some(101, 29))]
    points = [(draws.randint(0, 3000), count, count * draws.randint(1, 500)) for count in ways]
    columns = dict(zip((x, y, z), zip(*points, strict=True), strict=True))
    values, _ = swept(apply("lru_hits", x, y, z), columns, "llvm")
    assert values == pytest.approx([lru_by_hand(*point) for point in points], rel=1e-11, abs=1e-300)
