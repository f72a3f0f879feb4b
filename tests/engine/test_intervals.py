"""Intervals of a program's operations: every value lies in its own, and every back end keeps a law that breaks
somewhere in the box, cell by cell."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aspenpy.engine.operation import LARGEST, UNBOUNDED, find_intervals, is_certain
from aspenpy.engine.program import Program
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.failures import CONSTRAINT, FINE, LAWS
from aspenpy.expr.graph import apply, checked, compare, if_else, junction, power
from tests.expr.strategies import SYMBOLS, built, recipes, robust_worth
from tests.sweeps.test_programs import AVAILABLE, swept
from tests.thorough import examples

x, y = SYMBOLS["x"], SYMBOLS["y"]

AXES = {x: [-3.0, -1.0, 0.0, 2.0, 5.0], y: [-2.0, 1.0, 3.0, 4.0]}
GRID = list(product(*AXES.values()))


def cells(function):
    """Values at the points of the grid, NaN where they are negative or there are none."""
    found = []
    for point in GRID:
        try:
            value = function(*point)
        except (ZeroDivisionError, ValueError):
            value = math.nan
        found.append(value if value >= 0 else math.nan)
    return found


SUBJECTS = {
    "sum": (x + y, lambda a, b: a + b),
    "difference": (x - y, lambda a, b: a - b),
    "difference the other way": (y - x, lambda a, b: b - a),
    "distance from a number": (4 - x, lambda a, b: 4 - a),
    "negative": (graph.neg(x), lambda a, b: -a),
    "product": (x * y, lambda a, b: a * b),
    "quotient": (x / y, lambda a, b: a / b),
    "quotient by what may be zero": (y / x, lambda a, b: b / a),
    "square": (power(x, 2) - 2, lambda a, b: a * a - 2),
    "least": (apply("min", x, y), min),
    "greatest": (apply("max", x, y), max),
    "floor": (apply("floor", x / 2), lambda a, b: math.floor(a / 2)),
    "ceil": (apply("ceil", x / 2), lambda a, b: math.ceil(a / 2)),
    "magnitude": (apply("abs", x) - 2, lambda a, b: abs(a) - 2),
    "root": (apply("sqrt", x) - 1, lambda a, b: math.sqrt(a) - 1),
    "exponential": (apply("exp", x) - 1, lambda a, b: math.exp(a) - 1),
    "logarithm": (apply("log2", y), lambda a, b: math.log2(b)),
    "choice": (if_else(compare("<", x, y), x, y), lambda a, b: a if a < b else b),
    "condition": (
        if_else(junction("and", compare("<", x, 1), compare(">", y, 0)), x, 1),
        lambda a, b: a if a < 1 and b > 0 else 1,
    ),
}


@pytest.mark.parametrize("backend", AVAILABLE)
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_law_that_breaks_inside_the_box(name, backend):
    subject, by_hand = SUBJECTS[name]
    values, reasons = swept(
        checked("amount", subject, subject), dict(zip(AXES, zip(*GRID, strict=True), strict=True)), backend
    )
    expected = cells(by_hand)
    assert values == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert [reason != FINE for reason in reasons] == [math.isnan(value) for value in expected]


@pytest.mark.parametrize("backend", AVAILABLE)
def test_random_laws_break_alike(backend):
    """Values and reasons of every cell, against Fractions."""

    @settings(max_examples=examples({"numpy": 60, "llvm": 30, "c": 3}[backend]))
    @given(recipes, st.sampled_from(sorted(LAWS)), st.lists(st.integers(-9, 9), min_size=2, max_size=5))
    def agree(recipe, law, numbers):
        points = [dict.fromkeys(SYMBOLS, number) | {"y": other} for number in numbers for other in (-2, 3)]
        exact = [robust_worth(recipe, point) for point in points]
        bounds = [bound for bound in (LAWS[law].low, LAWS[law].high) if bound is not None]
        assume(all(value is None or abs(value - bound) > 1e-9 for value in exact for bound in bounds))
        columns = {symbol: [point[name] for point in points] for name, symbol in SYMBOLS.items()}
        values, reasons = swept(checked(law, 1 + x, built(recipe)), columns, backend)
        for point, value, reason, subject in zip(points, values, reasons, exact, strict=True):
            if subject is None:
                assert math.isnan(value)
                assert reason != FINE
            elif LAWS[law].is_obeyed_by(subject):
                assert (value, reason) == (1 + point["x"], FINE)
            else:
                assert math.isnan(value)
                assert reason == CONSTRAINT

    agree()


ends = st.tuples(st.integers(-20, 20), st.integers(-20, 20)).map(sorted)


@given(recipes, st.fixed_dictionaries(dict.fromkeys(SYMBOLS, ends)), st.sampled_from([0, Fraction(1, 3), 1]))
def test_values_lie_in_their_intervals(recipe, box, part):
    """An operation with a finite interval has a value, and there, at both ends of the box and between them."""
    expr = built(recipe)
    nodes = [node for node in graph.topological_order(expr) if node.kind not in ("array", "number", "boolean")]
    if not nodes:
        return
    program = Program(nodes, list(SYMBOLS.values()), box=[tuple(map(float, box[name])) for name in SYMBOLS])
    point = {SYMBOLS[name]: low + part * (high - low) for name, (low, high) in box.items()}
    for node, place in zip(nodes, program.roots, strict=True):
        low, high = program.intervals[place]
        if (low, high) != UNBOUNDED:
            value = float(evaluate(node, point))
            assert low - 1e-9 * abs(low) - 1e-12 <= value <= high + 1e-9 * abs(high) + 1e-12


def ends_of(expr, first, second):
    return find_intervals(Program([expr], [x, y]).ops, [first, second])[-1]


def test_intervals_by_hand():
    a, b = (-1.0, 2.0), (3.0, 5.0)
    assert ends_of(x + y, a, b) == (2, 7)
    assert ends_of(x - y, a, b) == (-6, -1)
    assert ends_of(x * y, a, b) == (-5, 10)
    assert ends_of(x / y, a, b) == pytest.approx((-1 / 3, 2 / 3))
    assert ends_of(graph.neg(x) * y, a, b) == (-10, 5)
    assert ends_of(y / x, a, b) == UNBOUNDED
    assert ends_of(y / x, (0.0, 1.0), b) == UNBOUNDED
    assert ends_of(y / x, (-1.0, 0.0), b) == UNBOUNDED
    assert ends_of(checked("amount", y, x), a, b) == UNBOUNDED
    assert ends_of(checked("amount", y, x), (0.0, 2.0), b) == b


@pytest.mark.parametrize(("end", "expected"), [(LARGEST, True), (-LARGEST, True), (1.1e300, False), (-1.1e300, False)])
def test_what_may_overflow_is_not_certain(end, expected):
    assert is_certain((min(end, 0.0), max(end, 0.0))) is expected


def test_an_operation_that_may_fail_is_anywhere():
    assert ends_of(apply("log", x), (-1.0, 2.0), (0.0, 0.0)) == UNBOUNDED
    with pytest.raises(EvaluationError):
        evaluate(apply("log", x), {x: -1})
