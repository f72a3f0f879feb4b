"""Accuracy: how close the float64 values of a long loop are to the exact ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy

from aspenpy.expr.array_rules import ConstantArray
from aspenpy.expr.node import Expr
from aspenpy.expr.traits import INTEGER

DOUBTFUL_DISTANCE = 1e-13  # relative, from a step: some hundred roundings of doubles may decide the side

WHOLE, EXACT, ROUNDED, ROUGH = 3, 2, 1, 0
"""Accuracy of a float64: an exact whole number; exact; correctly rounded; off by several roundings."""

LARGEST_WHOLE = 2.0**53
"""Up to it float64 holds all whole numbers."""

LARGEST_DIVIDEND = 2.0**52
"""Up to it quotients of whole numbers are whole in float64 only where they are."""

LARGEST_IN_LOG = 2.0**45
"""Up to it the logarithms of 2^k and of 2^k - 1 differ by five times the rounding of such logarithms."""


def convert_with_grade(value: Any) -> tuple[Any, int]:
    """A value as NumPy takes it, with its grade; nan where it is no float."""
    if type(value) is bool:
        return value, WHOLE
    if type(value) is tuple:
        elements = [convert_with_grade(element) for element in value]
        return ConstantArray([element for element, _ in elements]), min([WHOLE, *[grade for _, grade in elements]])
    try:
        approximate = float(value)
    except OverflowError:
        return numpy.nan, ROUGH
    if type(value) is int:
        return float(value), WHOLE if abs(value) <= 2**53 else ROUNDED
    return approximate, EXACT if type(value) is float or Fraction(approximate) == value else ROUNDED


def grade_of(node: Expr, grades: list[int]) -> int:
    """Grade of accuracy of a node from those of its arguments: whole numbers stay whole; one operation on exact
    operands is rounded once."""
    lowest = min(grades, default=ROUGH)
    if node.kind in ("compare", "junction", "stream") or (node.traits & INTEGER and lowest == WHOLE):
        return WHOLE
    if node.kind in ("neg", "if_else", "checked", "index") or node.payload in ("max", "min", "abs"):
        return lowest
    if node.payload in ("floor", "ceil", "round"):
        return WHOLE
    if node.kind in ("add", "mul", "div") and len(node.args) == 2:
        return ROUNDED if lowest >= EXACT else ROUGH
    return ROUGH


def is_near_step(value: Any) -> Any:
    """Whether rounding may have moved the value across a whole number."""
    return abs(value - numpy.rint(value)) <= DOUBTFUL_DISTANCE * numpy.maximum(1.0, abs(value))


def raise_by_squaring(base: Any, exponent: Any) -> Any:
    """Power by repeated squaring, exact as long as float64 holds the result; `pow` may be off by a rounding."""
    result, left = numpy.ones(numpy.broadcast(base, exponent).shape), exponent
    while numpy.any(left > 0):
        result = numpy.where(left % 2 == 1, result * base, result)
        base, left = base * base, left // 2
    return result


def are_powers_of_two(value: Any) -> bool:
    """Whether all lanes hold powers of two; most arrays are told by their first element."""
    values = numpy.asarray(value)
    return abs(numpy.frexp(values.flat[0])[0]) == 0.5 and bool(numpy.all(abs(numpy.frexp(values)[0]) == 0.5))


def holds_whole(value: Any) -> bool:
    """Whether all lanes that have a value have a whole one that float64 holds exactly."""
    values = numpy.asarray(value, dtype=numpy.float64)
    return not numpy.any((abs(values) > LARGEST_WHOLE) | ((values != numpy.rint(values)) & ~numpy.isnan(values)))
