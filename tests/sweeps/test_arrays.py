"""Arrays of the language in sweeps and in long loops, against Python's own lists and fractions."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.expr import evaluate as evaluation
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.failures import DOMAIN, FINE
from aspenpy.expr.graph import apply, array, compare, counter, draw, if_else, index, substitute, symbol
from aspenpy.expr.node import intern_node
from tests.sweeps.test_programs import AVAILABLE, swept, x, y
from tests.thorough import examples

i, n = counter("i"), symbol("n")

NUMBERS = st.integers(-3, 5)
POINTS = [(-1.5, 2.0), (-0.5, 0.0), (0.0, 1.0), (0.75, 2.0), (1.0, 0.0), (2.0, 3.0), (2.5, 1.0), (3.0, 2.0), (9.0, 1.0)]


class Part:
    """An expression, and what it is worth at a point: a fraction, a list, or None."""

    def __init__(self, expr, worth):
        self.expr, self.worth = expr, worth


@st.composite
def elements(draw):
    """A number, or one that differs from point to point."""
    constant, factor = draw(NUMBERS), draw(st.sampled_from([0, 0, 1, -2]))
    expr = graph.number(constant) if factor == 0 else factor * x + constant
    return Part(expr, lambda at: factor * at[0] + constant)


def listed(parts):
    return Part(array([part.expr for part in parts]), lambda at: [part.worth(at) for part in parts])


@st.composite
def chosen(draw, build):
    """One of two arrays by a condition."""
    first, second, limit = draw(build), draw(build), draw(NUMBERS)
    expr = if_else(compare("<", x, limit), first.expr, second.expr)
    return Part(expr, lambda at: first.worth(at) if at[0] < limit else second.worth(at))


def vectors(size):
    plain = st.lists(elements(), min_size=size, max_size=size).map(listed)
    return st.one_of(plain, chosen(plain))


def tables(rows, columns):
    return st.lists(vectors(columns), min_size=rows, max_size=rows).map(listed)


POSITIONS = st.sampled_from(
    [
        Part(x, lambda at: at[0]),
        Part(y, lambda at: at[1]),
        Part(x / 2 + 1, lambda at: at[0] / 2 + 1),
        Part(graph.number(1), lambda at: Fraction(1)),
    ]
)


def element(values, place):
    """Python's own element at a truncated place; None outside."""
    where = math.trunc(place)
    return values[where] if values is not None and 0 <= where < len(values) else None


@st.composite
def picked(draw):
    """An element of an array, or of a table."""
    place = draw(POSITIONS)
    if draw(st.booleans()):
        vector = draw(vectors(draw(st.integers(1, 4))))
        return Part(index(vector.expr, place.expr), lambda at: element(vector.worth(at), place.worth(at)))
    table, other = draw(tables(draw(st.integers(1, 3)), draw(st.integers(1, 3)))), draw(POSITIONS)
    return Part(
        index(table.expr, place.expr, other.expr),
        lambda at: element(element(table.worth(at), place.worth(at)), other.worth(at)),
    )


@st.composite
def looked_up(draw):
    """Values at sizes that increase; none where two of them do not."""
    size = draw(st.sampled_from([1, 2, 3, 8, 9, 12]))
    steps = draw(st.lists(st.sampled_from([1, 1, 2, 3, 0]), min_size=size, max_size=size))
    moved = draw(st.booleans())
    sizes = [sum(steps[: place + 1]) for place in range(size)]
    values = draw(st.lists(NUMBERS, min_size=size, max_size=size))
    stretched = [step * y if moved and place == size - 1 else graph.number(step) for place, step in enumerate(sizes)]
    expr = apply("lookup", array(values), array(stretched), x)

    def worth(at):
        found = [Fraction(step) for step in sizes]
        found[-1] *= at[1] if moved else 1
        if any(above <= below for below, above in pairwise(found)):
            return None
        if size == 1:
            return Fraction(values[0])
        left = max((place for place in range(size - 1) if found[place] <= at[0]), default=0)
        share = (at[0] - found[left]) / (found[left + 1] - found[left])
        return values[left] + (values[left + 1] - values[left]) * share

    return Part(expr, worth)


ARRAYS = st.one_of(picked(), looked_up())


@pytest.mark.parametrize("backend", [name for name in AVAILABLE if name != "c"])
def test_elements_in_sweeps(backend):
    @settings(max_examples=examples(400 if backend == "numpy" else 60))
    @given(ARRAYS)
    def agree(part):
        columns = {x: [at[0] for at in POINTS], y: [at[1] for at in POINTS]}
        values, reasons = swept(part.expr, columns, backend)
        for at, value, reason in zip(POINTS, values, reasons, strict=True):
            exact = part.worth(tuple(map(Fraction, at)))
            assert reason == (DOMAIN if exact is None else FINE)
            assert value == pytest.approx(math.nan if exact is None else float(exact), rel=1e-12, nan_ok=True)

    agree()


@settings(max_examples=examples(300))
@given(ARRAYS)
def test_elements_in_long_loops(part):
    """The sum over 11 passes, x from -2 in halves, added as arrays; a pass without a value has none for the sum."""
    (body,) = substitute([part.expr], {x: i / 2 - 2})
    total = intern_node("sum", (i, n, body), None, 0)
    each = [part.worth((Fraction(step, 2) - 2, Fraction(2))) for step in range(11)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "EXACT_PASSES", 0)
        if None in each:
            with pytest.raises(EvaluationError):
                evaluate(total, {n: 11, y: 2})
        else:
            assert evaluate(total, {n: 11, y: 2}) == pytest.approx(float(sum(each)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("expr", "fails"),
    [
        (index(x, 0), True),  # a number has no elements
        (index(array([array([1, 2]), array([3, 4])]), x), True),  # a row is no number
        (index(array([array([1, 2]), array([3])]), x, 0), False),  # rows of different lengths
        (index(array([array([1, x]), array([3])]), x, 0), False),
        (apply("lookup", array([1, 2, 3]), array([1, 2]), x), True),
        (apply("lookup", array([array([1, 2])]), array([1]), x), True),
        (apply("lookup", x, array([1, 2]), x), True),
        (index(if_else(compare("<", x, 1), array([1, 2]), array([3, 4])), 0), False),
        (index(if_else(compare("<", x, 1), *(array([array([1]), array([k])]) for k in (5, 4))), 1, 0), False),
    ],
)  # fmt: skip
def test_shapes_of_arrays(expr, fails):
    values, reasons = swept(expr, {x: [0.0, 1.0], y: [1.0, 1.0]})
    if fails:
        assert reasons == [DOMAIN, DOMAIN]
    else:
        assert values == [float(evaluate(expr, {x: at})) for at in (0, 1)]


@given(st.lists(st.sampled_from([0.0, 0.125, 0.25, 0.5]), min_size=1, max_size=4), st.integers(0, 50))
def test_steps_of_a_distribution(shares, seed):
    """As many steps as lie at or below the uniform number of the same stream, whether they are constants or differ from
    point to point; shares that decrease or do not end at 1 have no draws."""
    steps = [*shares, 1.0]
    where = [float(number) for number in range(9)]
    columns = {x: where, y: [0.0] * 9}
    stream = (7, x)
    uniform, _ = swept(draw("uniform", [0, 1], stream), columns, seed=seed)
    expected = [sum(step <= drawn for step in steps) for drawn in uniform]
    for drift in (graph.ZERO, y):
        values, reasons = swept(draw("cdf", [array([step + drift for step in steps])], stream), columns, seed=seed)
        if steps == sorted(steps):
            assert values == expected
        else:
            assert reasons == [DOMAIN] * 9
        _, reasons = swept(draw("cdf", [array([step + drift for step in [*shares, 0.75]])], stream), columns)
        assert reasons == [DOMAIN] * 9


def test_draws_between_ends_that_are_exchanged():
    _, reasons = swept(draw("uniform", [x, 1], (1,)), {x: [0.0, 1.0, 1.5], y: [0.0] * 3})
    assert reasons == [FINE, FINE, DOMAIN]
    values, reasons = swept(draw("normal", [4, x], (1,)), {x: [0.0, 1.0, -0.5], y: [0.0] * 3})
    assert reasons == [FINE, FINE, DOMAIN]
    assert values[0] == 4
