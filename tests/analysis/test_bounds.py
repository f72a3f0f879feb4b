"""Bounds hold at every value tried, and directions between any two."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.expr import graph
from aspenpy.expr.bounds import bound_over_box
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.intervals import ANYWHERE, FALLING, FLAT, RISING
from aspenpy.expr.node import intern_node
from aspenpy.language import nodes
from aspenpy.language.lower import Lowering
from aspenpy.language.parser import parse_expression
from aspenpy.language.source import Source
from aspenpy.models.application.load import link_application
from tests.random_models import expression
from tests.thorough import examples

X = graph.symbol("x")


def lowered(text: str) -> graph.Expr:
    app = link_application(nodes.Application("none", (), ()), Source(""), [])
    return Lowering(lambda node: X if node.name == "x" else app.resolve(node), {})(parse_expression(text))


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        ("3", 0, 1, (3, 3, FLAT)),
        ("2*x^3", 1, 10, (2, 2000, RISING)),
        ("100/x", 4, 10, (10, 25, FALLING)),
        ("5 - x", 0, 2, (3, 5, FALLING)),
        ("ceil(x/4)*4", 1, 10, (4, 12, RISING)),
        ("x^2", -3, -1, (1, 9, FALLING)),
        ("x^2", -3, 2, (0, 9, None)),
        ("abs(x)", -3, -1, (1, 3, FALLING)),
        ("x*(x - 10)", 12, 20, (24, 200, RISING)),
        ("(x - 10)*(x + 1)", 0, 5, (-60, -5, None)),
        ("(x - 10)*7", 0, 5, (-70, -35, RISING)),
        ("(x - 10)*(x - 20)", 0, 5, (75, 200, FALLING)),
        ("max(x, 7)", 0, 5, (7, 7, FLAT)),
        ("max(x, 7)", 0, 9, (7, 9, RISING)),
        ("min(x, 10 - x)", 0, 10, (0, 10, None)),
        ("2^x", 1, 5, (2, 32, RISING)),
        ("sqrt(x)", 4, 9, (2, 3, RISING)),
        ("x^-2", 1, 2, (Fraction(1, 4), 1, FALLING)),
        ("x^-2", -2, -1, (Fraction(1, 4), 1, RISING)),
        ("x^-3", -2, -1, (-1, Fraction(-1, 8), FALLING)),
        ("(1/2)^x", 0, 3, (Fraction(1, 8), 1, FALLING)),
        ("mod(x, 3)", -1, 5, (0, 3, None)),
    ],
)
def test_by_hand(text: str, low: int, high: int, expected: tuple[Any, ...]) -> None:
    assert bound_over_box(lowered(text), {X: (low, high)}, X) == expected


@pytest.mark.parametrize("text", ["1/x", "log(x)", "mod(3, x)"])
def test_what_cannot_be_told_is_left_open(text: str) -> None:
    assert bound_over_box(lowered(text), {X: (-1, 5)}, X) == ANYWHERE


def test_a_sum_without_closed_form() -> None:
    """ceil(i/2) for i = 0 .. n-1, with n from 2 to 4: at least nothing, at most four times the largest."""
    counter = graph.counter("i")
    total = graph.summation(counter, X, graph.apply("ceil", counter / 2))
    found = bound_over_box(total, {X: (2, 4)}, X)
    assert found.direction == RISING
    assert found.low <= 1 <= 4 <= found.high <= 8


@settings(max_examples=examples(150))
@given(st.data(), st.integers(0, 30), st.integers(0, 30))
def test_random_expressions(data: st.DataObject, first: int, second: int) -> None:
    text = expression(data.draw, ("x",), 3).replace("tt[1]", "{1, 2}").replace("kilo", "1000")
    low, high = min(first, second), max(first, second)
    if "t[" in text or "lookup" in text or "{" in text:
        return
    expr = lowered(text)
    found = bound_over_box(expr, {X: (low, high)}, X)
    tried = sorted({low + (high - low) * Fraction(part, 12) for part in range(13)})
    try:
        values = [evaluate(expr, {X: x}) for x in tried]
    except EvaluationError:
        return
    assert all(found.low <= value <= found.high for value in values)
    if found.direction is not None:
        assert all(found.direction * (after - before) >= 0 for before, after in pairwise(values))
        assert found.direction != FLAT or len(set(values)) == 1


ELEMENTS = st.integers(-4, 4)


@st.composite
def tables_and_sums(draw: st.DrawFn) -> graph.Expr:
    """Tables that are looked up, sums of them over numbers of passes that move, and powers with a moving exponent."""
    size = draw(st.integers(1, 4))
    values = draw(st.lists(ELEMENTS, min_size=size, max_size=size))
    sizes = sorted(draw(st.lists(st.integers(-2, 9), min_size=size, max_size=size, unique=True)))
    counter = graph.counter("i")
    at = draw(st.sampled_from([X, -X, 2 * X - 3, counter, counter - X]))
    table = graph.apply("lookup", graph.array(values), graph.array(sizes), at)
    if counter not in graph.free_symbols(table):
        return table
    shift = draw(ELEMENTS)
    return graph.summation(counter, graph.apply("ceil", X / 2), table + shift)


@settings(max_examples=examples(400))
@given(tables_and_sums(), st.integers(0, 12), st.integers(0, 12))
def test_tables_and_sums(expr: graph.Expr, first: int, second: int) -> None:
    """The values at half numbers lie within the bounds, and go the way that is told."""
    low, high = min(first, second), max(first, second)
    found = bound_over_box(expr, {X: (low, high)}, X)
    values = [evaluate(expr, {X: Fraction(step, 2)}) for step in range(2 * low, 2 * high + 1)]
    assert all(found.low <= value <= found.high for value in values)
    if found.direction == FLAT:
        assert len(set(values)) == 1
    elif found.direction is not None:
        ordered = values if found.direction == RISING else values[::-1]
        assert ordered == sorted(ordered)


@pytest.mark.parametrize(
    ("values", "sizes", "at", "expected"),
    [
        ([1, 5, 2], [0, 4, 8], X, (1, 5, None)),  # from 0 to 8
        ([1, 5, 9], [0, 4, 8], X, (1, 9, RISING)),
        ([1, 5, 9], [0, 4, 8], -X, (-7, 1, FALLING)),
        ([9, 5, 1], [0, 4, 8], X, (1, 9, FALLING)),
        ([9, 5, 1], [0, 4, 8], 8 - X, (1, 9, RISING)),
        ([3], [2], X, (3, 3, FLAT)),
    ],
)
def test_tables_by_hand(values: list[int], sizes: list[int], at: graph.Expr, expected: tuple[Any, ...]) -> None:
    table = graph.apply("lookup", graph.array(values), graph.array(sizes), at)
    assert bound_over_box(table, {X: (0, 8)}, X) == expected


@pytest.mark.parametrize(
    ("count", "body", "expected"),
    [
        (X, graph.number(3), (6, 12, RISING)),
        (X, graph.number(-3), (-12, -6, FALLING)),
        (6 - X, graph.number(3), (6, 12, FALLING)),
        (graph.number(3), X - 10, (-24, -18, RISING)),
        (X - 9, graph.number(3), tuple(ANYWHERE)),  # no number of passes is below nothing
        (X * 0, X + 3, (0, 0, FLAT)),
    ],
)
def test_sums_by_hand(count: graph.Expr, body: graph.Expr, expected: tuple[Any, ...]) -> None:
    """x from 2 to 4; a node of a sum, as `summation` closes these."""
    counter = graph.counter("i")
    total = intern_node("sum", (counter, count, body), None, 0)
    assert tuple(bound_over_box(total, {X: (2, 4)}, X)) == expected
