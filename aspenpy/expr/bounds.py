"""Bounds: between which values an expression lies while its symbols move in intervals, and whether it only rises or
only falls with one of them.

Interval arithmetic over the expression graph (`intervals` has its laws). What it says holds; what it cannot tell it
leaves open: wide bounds, no direction. Splitting the interval tells more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from aspenpy.expr import graph, intervals
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import (
    ANYWHERE,
    FLAT,
    OPERATORS,
    RISING,
    DirectedInterval,
    Real,
    combine_directions,
    multiply_ends,
)
from aspenpy.expr.node import operation_of

Box = Mapping[Expr, tuple[Real, Real]]  # the interval of each symbol


def bound_over_box(expr: Expr, box: Box, moving: Expr) -> DirectedInterval:
    """The range of an expression over a box; the direction is that with `moving`, whatever the others are."""
    return bound_nodes(expr, box, moving)[expr]


def bound_nodes(expr: Expr, box: Box, moving: Expr) -> dict[Expr, DirectedInterval]:
    """The ranges of all nodes that an expression is made of."""

    def rule(node: Expr, known: Mapping[Expr, DirectedInterval]) -> DirectedInterval:
        bounds = _bound_node(node, known, box, moving)
        return bounds._replace(direction=FLAT) if bounds.single else bounds

    return graph.fold(rule, expr)


def _bound_node(node: Expr, known: Mapping[Expr, DirectedInterval], box: Box, moving: Expr) -> DirectedInterval:
    if node in box:
        low, high = box[node]
        return DirectedInterval(low, high, RISING if node is moving else FLAT)
    try:
        if node.kind == "sum":
            return _bound_sum(node, known, box, moving)
        if node.kind == "apply":
            return _bound_call(node, [known[arg] for arg in node.args])
        if node.kind == "checked":
            return known[node.args[0]]
        law = OPERATORS.get(node.payload if node.kind == "compare" else operation_of(node))
        return _bound_constant(node, box) if law is None else law(*[known[arg] for arg in node.args])
    except (DomainError, EvaluationError, OverflowError, ZeroDivisionError):
        return ANYWHERE


def _bound_constant(node: Expr, box: Box) -> DirectedInterval:
    """Bounds of a node without a rule: its value, where it depends on nothing that moves."""
    if not graph.free_symbols(node).isdisjoint(box):
        return ANYWHERE
    value = evaluate(node)
    if isinstance(value, bool):
        return DirectedInterval(int(value), int(value), FLAT)
    return ANYWHERE if isinstance(value, tuple) else DirectedInterval(value, value, FLAT)


def _bound_call(node: Expr, parts: list[DirectedInterval]) -> DirectedInterval:
    row = FUNCTIONS[node.payload]
    assert row.exact is not None, row.name
    if row.name == "lookup":
        return _bound_lookup(node, row.exact, parts[-1])
    if all(part.constant for part in parts):
        value = row.exact(*(part.low for part in parts))
        return DirectedInterval(value, value, FLAT)
    return ANYWHERE if row.interval is None else row.interval(*parts)


def _bound_lookup(node: Expr, rule: Callable[..., Any], x: DirectedInterval) -> DirectedInterval:
    """Straight lines between the points: the extremes are at points, or at the ends."""
    arrays = [array.args for array in node.args[:2]]
    if any(element.kind != "number" for array in arrays for element in array) or math.inf in (-x.low, x.high):
        return ANYWHERE
    values, sizes = (tuple(element.payload for element in array) for array in arrays)
    places = [x.low, *(place for place in sizes if x.low < place < x.high), x.high]
    heights = [rule(values, sizes, place) for place in places]
    direction = None
    if heights == sorted(heights):
        direction = x.direction
    elif heights == sorted(heights, reverse=True):
        direction = intervals.turn_direction(x.direction)
    return DirectedInterval(min(heights), max(heights), direction)


def _bound_sum(node: Expr, known: Mapping[Expr, DirectedInterval], box: Box, moving: Expr) -> DirectedInterval:
    """Terms that are not negative: more passes, or larger terms, make more."""
    counter, _, body = node.args
    count = known[node.args[1]]
    if count.low < 0 or count.high == math.inf:
        return ANYWHERE
    fewest, most = math.ceil(count.low), math.ceil(count.high)
    if most == 0:
        return DirectedInterval(0, 0, FLAT)
    term = bound_over_box(body, {**box, counter: (0, most - 1)}, moving)
    if term.high <= 0:
        return intervals.negate_range(_bound_repeated(intervals.negate_range(term), fewest, most, count.direction))
    return _bound_repeated(term, fewest, most, count.direction)


def _bound_repeated(term: DirectedInterval, fewest: int, most: int, direction: int | None) -> DirectedInterval:
    if term.low < 0:
        return DirectedInterval(multiply_ends(most, term.low), multiply_ends(most, term.high), None)
    return DirectedInterval(
        multiply_ends(fewest, term.low), multiply_ends(most, term.high), combine_directions(direction, term.direction)
    )
