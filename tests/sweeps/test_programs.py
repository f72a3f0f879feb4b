"""Programs of every back end against exact arithmetic in Fractions, point by point."""

import math
from fractions import Fraction

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.engine.backends import BACKENDS
from aspenpy.engine.compiled import is_compilable
from aspenpy.engine.program import Program
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.failures import CONSTRAINT, DIVISION, DOMAIN, FINE, OVERFLOW, UNDEFINED
from aspenpy.expr.graph import apply, array, checked, compare, counter, draw, failure, if_else, index, junction, power
from aspenpy.sweeps.work import Blocks, PointSheet
from tests.expr.strategies import SYMBOLS, built, environments, recipes, robust_worth
from tests.thorough import examples

x, y = SYMBOLS["x"], SYMBOLS["y"]

AVAILABLE = [name for name, backend in BACKENDS.items() if backend.missing() is None]


def swept(expr, columns, backend="numpy", seed=0):
    """Values and reasons of an expression at the points whose coordinates the columns have, by a program that knows
    between which values they are."""
    box = [(float(min(column)), float(max(column))) for column in columns.values()]
    program = Program([expr], list(columns), seed, box=box)
    make = BACKENDS[backend].kernel
    kernel = make(program) if make and is_compilable(program) else None
    points = [(0, numpy.array(column, dtype=float)) for column in columns.values()]
    sheet = PointSheet(program, (len(points[0][1]),), points, kernel)
    values = numpy.empty(len(points[0][1]))
    reasons = sheet.block((slice(None),), [values])
    return values.tolist(), (numpy.zeros(len(values)) if reasons is None else reasons).tolist()


@pytest.mark.parametrize("backend", AVAILABLE)
def test_random_expressions_agree_with_fractions(backend):
    @settings(max_examples=examples({"numpy": 60, "llvm": 20, "c": 3}[backend]))
    @given(recipes, st.lists(environments, min_size=5, max_size=5))
    def agree(recipe, points):
        expected = [robust_worth(recipe, environment) for environment in points]
        columns = {symbol: [environment[name] for environment in points] for name, symbol in SYMBOLS.items()}
        values, reasons = swept(built(recipe), columns, backend)
        for value, reason, exact in zip(values, reasons, expected, strict=True):
            if exact is None:
                assert math.isnan(value)
                assert reason != FINE
            else:
                assert value == pytest.approx(exact, rel=1e-12, abs=1e-12)
                assert reason == FINE

    agree()


COMBINED = {
    "+": graph.add,
    "*": graph.mul,
    "/": graph.div,
    "^": power,
    "max": lambda first, second: apply("max", first, second),
    "third": lambda first, second: power(first, graph.div(1, 3)),
    "4th": lambda first, second: power(first, 4),
}


@st.composite
def smooth_expressions(draw):
    """Expressions of functions that no Fraction can follow, away from steps."""
    parts = [x, y, graph.number(draw(st.integers(1, 9)))]
    for _ in range(draw(st.integers(1, 6))):
        first, second = draw(st.sampled_from(parts)), draw(st.sampled_from(parts))
        kind = draw(st.sampled_from(["log", "log2", "log10", "exp", "sqrt", "+", "*", "/", "^", "max", "third", "4th"]))
        parts.append(COMBINED[kind](first, second) if kind in COMBINED else apply(kind, first))
    return graph.add(*parts)


@pytest.mark.parametrize("backend", [name for name in AVAILABLE if name != "numpy"])
def test_back_ends_agree(backend):
    number = st.one_of(st.floats(-5, 40), st.sampled_from([0.0, 1.0, -1.0, 1e200, -1e-200]))

    @settings(max_examples=examples(20) if backend == "llvm" else 3)
    @given(smooth_expressions(), st.lists(st.tuples(number, number), min_size=4, max_size=4))
    def agree(expr, points):
        columns = dict(zip((x, y), zip(*points, strict=True), strict=True))
        values, reasons = swept(expr, columns, backend)
        expected, why = swept(expr, columns, "numpy")
        assert reasons == why
        assert values == pytest.approx(expected, rel=1e-12, abs=0, nan_ok=True)

    agree()


@given(smooth_expressions(), st.floats(-5, 40), st.floats(-5, 40))
def test_what_has_no_value_for_the_exact_rules_has_none_in_a_sweep(expr, first, second):
    try:
        exact = float(evaluate(expr, {x: first, y: second}))
    except (EvaluationError, OverflowError):
        exact = math.nan
    (value,), _ = swept(expr, {x: [first], y: [second]})
    assert value == pytest.approx(exact, rel=1e-12, abs=0, nan_ok=True)


i = counter("i")

POINTS = [0.0, 1.0, 2.0, 7.0, -3.0, 0.5]

FAILING = [
    (1 / x, [DIVISION, 0, 0, 0, 0, 0]),
    (1 / (1 / x), [DIVISION, 0, 0, 0, 0, 0]),
    (apply("mod", 5, x), [DIVISION, 0, 0, 0, 0, 0]),
    (power(x, -2), [DIVISION, 0, 0, 0, 0, 0]),
    (power(x, y), [DIVISION, 0, 0, 0, DOMAIN, 0]),
    (power(x, graph.div(1, 3)), [0, 0, 0, 0, DOMAIN, 0]),
    (apply("log", x), [DOMAIN, 0, 0, 0, DOMAIN, 0]),
    (apply("max", apply("log", x), 5), [DOMAIN, 0, 0, 0, DOMAIN, 0]),
    (apply("sqrt", x), [0, 0, 0, 0, DOMAIN, 0]),
    (apply("exp", 400 * x), [0, 0, OVERFLOW, OVERFLOW, 0, 0]),
    (1 / apply("exp", 400 * x), [0, 0, OVERFLOW, OVERFLOW, DIVISION, 0]),
    (apply("min", x * 1e308 * 10, 1), [0, OVERFLOW, OVERFLOW, OVERFLOW, OVERFLOW, OVERFLOW]),
    (checked("quantity", x) + 1, [CONSTRAINT, 0, 0, 0, CONSTRAINT, 0]),
    (index(array([4, 5, 6]), x), [0, 0, 0, DOMAIN, DOMAIN, 0]),
    (index(array([x, 2 * x]), x), [0, 0, DOMAIN, DOMAIN, DOMAIN, 0]),
    (index(array([array([1, x]), array([3, 4])]), x, 1), [0, 0, DOMAIN, DOMAIN, DOMAIN, 0]),
    (apply("lookup", array([1, 2]), array([x, 2]), 1), [0, 0, DOMAIN, DOMAIN, 0, 0]),
    (if_else(compare("==", x, 0), 5, 1 / x), [0] * 6),
    (if_else(compare("==", x, 0), 5, failure("no")), [0, *[UNDEFINED] * 5]),
    (if_else(compare("<", 1 / x, 1), 1, 2), [DIVISION, 0, 0, 0, 0, 0]),
    (if_else(junction("or", compare("==", x, 0), compare("<", 1 / x, 1)), 1, 2), [0] * 6),
    (if_else(junction("and", compare("!=", x, 0), compare("<", 1 / x, 1)), 1, 2), [0] * 6),
    # A condition that is one of two: the other one need not be decided.
    (if_else(if_else(compare("==", x, 0), compare("<", x, 1), compare("<", 1 / x, 1)), 1, 2), [0] * 6),
    (if_else(if_else(compare("==", x, 0), compare(">", x, 1), compare("<", 1 / x, 1)), 1, 2), [0] * 6),
    (
        if_else(if_else(compare("!=", x, 0), compare("<", x, 1), compare("<", 1 / x, 1)), 1, 2),
        [DIVISION, 0, 0, 0, 0, 0],
    ),
    (if_else(if_else(compare("<", 1 / x, 1), compare("<", x, 1), compare("<", x, 3)), 1, 2), [DIVISION, 0, 0, 0, 0, 0]),
    (graph.summation(i, checked("count", x), apply("max", i / (2 - i), 1)), [0, 0, 0, DIVISION, CONSTRAINT, 0]),
    (graph.summation(i, apply("max", x, 0), apply("max", i, x)), [0] * 6),
    (x + apply("log", graph.number(0) * 1.0 + apply("floor", graph.number(0.5))), [DOMAIN] * 6),
    (x * 0 + 5, [0] * 6),
    (apply("gcd", x, 6) + 1, [0, 0, 0, 0, 0, DOMAIN]),
    (2 * apply("lru_hits", x, 2, 8) + x, [0, 0, 0, 0, DOMAIN, 0]),
    (apply("random_misses", x + 4, 3, 0.5), [0] * 6),
]


@pytest.mark.parametrize("backend", AVAILABLE)
@pytest.mark.parametrize(("expr", "expected"), FAILING, ids=[str(expr)[:40] for expr, _ in FAILING])
def test_reasons(backend, expr, expected):
    if backend == "c" and FAILING.index((expr, expected)) % 5:
        pytest.skip("a compiler takes its time: every fifth will do")
    columns = {x: POINTS, y: [-1, 1, 1, 1, 0.5, 1]}
    values, reasons = swept(expr, columns, backend)
    assert reasons == expected
    for place, (value, reason) in enumerate(zip(values, reasons, strict=True)):
        if reason == FINE:
            exact = evaluate(expr, {x: POINTS[place], y: columns[y][place]})
            assert value == pytest.approx(float(exact), rel=1e-12, abs=0)
        else:
            assert math.isnan(value)


@pytest.mark.parametrize("backend", AVAILABLE)
def test_steps_are_where_exact_arithmetic_has_them(backend):
    """0.1 is no float: 0.1*30 is a little more than 3 in floating point, and `ceil` would make 4 of it."""
    tenth = graph.number(Fraction(1, 10))
    numbers = [float(n) for n in range(1, 2000)]
    for expr in (
        apply("ceil", x * tenth),
        apply("ceil", tenth * x),
        apply("floor", x * 3 / graph.div(3, 10)),
        if_else(compare("<=", x * tenth, apply("round", x / 10)), 1, 0),
    ):
        values, _ = swept(expr, {x: numbers}, backend)
        assert values == [float(evaluate(expr, {x: int(n)})) for n in numbers]


@pytest.mark.parametrize("backend", AVAILABLE)
def test_roots_of_cubes_are_whole(backend):
    cubes = [float(n**3) for n in range(1, 500)]
    values, _ = swept(apply("floor", power(x, graph.div(1, 3))), {x: cubes}, backend)
    assert values == [float(n) for n in range(1, 500)]


def test_draws_are_those_of_evaluation():
    drawn = [
        draw("uniform", (x, x + 2), (4, x)),
        draw("normal", (1, x), (x, 6)),
        draw("cdf", (array([0.25, 0.5, 1]),), (x,)),
        draw("uniform", (0, 1), (7,)) * x,
    ]
    for expr in drawn:
        values, _ = swept(expr, {x: [1, 2, 3, 4]}, seed=9)
        exact = [float(evaluate(expr, {x: value}, 9)) for value in (1, 2, 3, 4)]
        assert values == pytest.approx(exact, rel=1e-14)
    assert swept(drawn[0], {x: [0.5, 1]}, seed=9)[1] == [DOMAIN, FINE]
    assert swept(drawn[1], {x: [-1, 1]}, seed=9)[1] == [DOMAIN, FINE]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 40))
def test_blocks_cover_a_grid_once_and_in_order(shape, most):
    numbers = numpy.arange(numpy.prod(shape)).reshape(shape)
    blocks = Blocks(shape, most)
    found = []
    for number in range(blocks.count):
        start, slices = blocks[number]
        part = numbers[slices].reshape(-1).tolist()
        assert part[0] == start
        assert len(part) <= most
        found += part
    assert found == numbers.reshape(-1).tolist()


@pytest.mark.parametrize("backend", [name for name in AVAILABLE if name != "numpy"])
def test_compiled_code_on_a_grid(backend):
    """Axes are spread over the grid before compiled code reads them; it reads no further than its columns are long."""
    program = Program([x / 4 + 10 * y], [x, y])
    kernel = BACKENDS[backend].kernel(program)
    axes = numpy.array([1.0, 2.0, 3.0]), numpy.array([5.0, 7.0])
    values = numpy.empty(6)
    assert PointSheet(program, (3, 2), list(enumerate(axes)), kernel).block((slice(None),) * 2, [values]) is None
    assert values.tolist() == [first / 4 + 10 * second for first in (1, 2, 3) for second in (5, 7)]
    whole, part, strided = numpy.ones(6), numpy.ones(5), numpy.ones(12)[::2]
    kernel.run([whole, whole], [values])
    for columns, result in (([whole, part], values), ([part, whole], values), ([whole, strided], values),
                            ([whole, whole], numpy.empty(7)), ([whole, whole], numpy.empty(12)[::2])):  # fmt: skip
        with pytest.raises(ValueError, match="contiguous columns"):
            kernel.run(columns, [result])


@settings(max_examples=examples(60))
@given(recipes, st.integers(1, 60))
def test_a_grid_is_what_its_points_are(recipe, most):
    """Computed over few dimensions and shared, an operation gives what it gives at each point."""
    axes = [[-2.0, 0.0, 0.5, 3.0], [1.0, 2.0, 9.0], [-1.0, 0.0, 4.0, 5.0, 6.0]]
    program = Program([built(recipe)], list(SYMBOLS.values()))
    scattered = [(0, column.reshape(-1)) for column in numpy.meshgrid(*axes, indexing="ij")]
    sheet = PointSheet(program, (60,), scattered)
    expected = numpy.empty(60)
    why = sheet.block((slice(None),), [expected])
    grid = PointSheet(program, (4, 3, 5), [(place, numpy.array(axis)) for place, axis in enumerate(axes)])
    blocks = Blocks((4, 3, 5), most)
    values, reasons = numpy.empty(60), numpy.zeros(60)
    for number in range(blocks.count):
        start, slices = blocks[number]
        behind = blocks[number + 1][0] if number + 1 < blocks.count else 60
        failed = grid.block(slices, [values[start:behind]])
        if failed is not None:
            reasons[start:behind] = failed
    assert values.tolist() == pytest.approx(expected.tolist(), rel=0, abs=0, nan_ok=True)
    assert reasons.tolist() == (numpy.zeros(60) if why is None else why).tolist()
