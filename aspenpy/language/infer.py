"""Infer: the dimension of an expression, as far as the model tells it.

Dimensions are gradual: a bare number may be anything, and so may what is computed from it. Only two known
dimensions can contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Related, fail
from aspenpy.language.dimensions import DIMENSIONLESS, Dimension, unit_of, words

Lookup = Callable[[str], Dimension | None]
"""The dimension of a name, None if it is not known."""


def dimension_of(node: nodes.Expression | nodes.Condition, lookup: Lookup) -> Dimension | None:
    """The dimension of an expression, None if it is not known; of a condition always None.

    Raises AspenError where two known dimensions contradict each other: in sums, comparisons, arguments that must be
    of one kind, exponents, logarithms.
    """
    return _RULES[type(node)](node, lookup)


def _number(node: nodes.Number, lookup: Lookup) -> Dimension | None:
    return None if node.unit is None else unit_of(node.unit).dimension


def _chain(node: nodes.Chain, lookup: Lookup) -> Dimension | None:
    operands = (node.first, *(operand for _, operand in node.rest))
    if node.rest[0][0] in "+-":
        return _common(operands, lookup, "added to" if node.rest[0][0] == "+" else "subtracted from")
    known = [dimension_of(operand, lookup) for operand in operands]
    result = known[0]
    for (operator, _), dimension in zip(node.rest, known[1:], strict=True):
        if result is None or dimension is None:
            result = None
        else:
            result = result * dimension if operator == "*" else result / dimension
    return result


def _power(base: nodes.Expression, exponent: nodes.Expression, lookup: Lookup) -> Dimension | None:
    dimension = dimension_of(base, lookup)
    _require_pure(exponent, lookup, "an exponent")
    sign, literal = (-1, exponent.operand) if isinstance(exponent, nodes.Negation) else (1, exponent)
    if dimension is None or not isinstance(literal, nodes.Number) or literal.unit is not None:
        return DIMENSIONLESS if dimension == DIMENSIONLESS else None
    return dimension ** (sign * literal.value)


def _apply(node: nodes.Apply, lookup: Lookup) -> Dimension | None:
    function = FUNCTIONS.get(node.function)
    if function is None or not function.accepts(len(node.arguments)):  # refused where the expression is built
        return _unknown(node, lookup)
    return _FUNCTION_RULES[function.dimension](node, lookup)


def _same(node: nodes.Apply, lookup: Lookup) -> Dimension | None:
    """As all its arguments: `max(a, b)`."""
    return _common(node.arguments, lookup, f"used with `{node.function}` beside")


def _pure(node: nodes.Apply, lookup: Lookup) -> Dimension | None:
    """Of and to a plain number: `log(x)`. Of a bare number it is as bare, and fits anything."""
    known = [_require_pure(argument, lookup, f"the argument of `{node.function}`") for argument in node.arguments]
    return DIMENSIONLESS if all(dimension is not None for dimension in known) else None


def _root(node: nodes.Apply, lookup: Lookup) -> Dimension | None:
    dimension = dimension_of(node.arguments[0], lookup)
    return None if dimension is None else dimension ** Fraction(1, 2)


def _lookup_function(node: nodes.Apply, lookup: Lookup) -> Dimension | None:
    """`lookup(values, sizes, x)` is as the values; x is as the sizes."""
    values, *positions = node.arguments
    _common(tuple(positions), lookup, "looked up among")
    return dimension_of(values, lookup)


def _unknown(node: nodes.Apply, lookup: Lookup) -> Dimension | None:
    for argument in node.arguments:
        dimension_of(argument, lookup)
    return None


def _index(node: nodes.Index, lookup: Lookup) -> Dimension | None:
    for index in node.indices:
        _require_pure(index, lookup, "an index")
    return lookup(node.array.name)


def _comparison(node: nodes.Comparison, lookup: Lookup) -> None:
    _common((node.left, node.right), lookup, "compared with")


def _junction(node: nodes.Junction, lookup: Lookup) -> None:
    for condition in (node.first, *(condition for _, condition in node.rest)):
        dimension_of(condition, lookup)


def _common(operands: tuple[nodes.Expression, ...], lookup: Lookup, relation: str) -> Dimension | None:
    """The dimension all operands have, as far as it is known; fails at the first that has another."""
    common: Dimension | None = None
    told_by: nodes.Expression | None = None
    for operand in operands:
        dimension = dimension_of(operand, lookup)
        if dimension is None:
            continue
        if common is None or told_by is None:
            common, told_by = dimension, operand
        elif dimension != common:
            message = f"{words(dimension)} cannot be {relation} {words(common)}"
            fail("dimensions", message, operand.span, related=(Related(told_by.span, words(common)),))
    return common


def _require_pure(node: nodes.Expression, lookup: Lookup, role: str) -> Dimension | None:
    dimension = dimension_of(node, lookup)
    if dimension is not None and dimension != DIMENSIONLESS:
        fail("dimensions", f"{role} is a plain number, this is {words(dimension)}", node.span)
    return dimension


_FUNCTION_RULES: dict[str, Callable[[nodes.Apply, Lookup], Dimension | None]] = {
    "same": _same,
    "pure": _pure,
    "root": _root,
    "power": lambda node, lookup: _power(node.arguments[0], node.arguments[1], lookup),
    "lookup": _lookup_function,
    "unknown": _unknown,
}

_RULES: dict[type, Callable[[Any, Lookup], Dimension | None]] = {
    nodes.Number: _number,
    nodes.Name: lambda node, lookup: lookup(node.name),
    nodes.Negation: lambda node, lookup: dimension_of(node.operand, lookup),
    nodes.Chain: _chain,
    nodes.Power: lambda node, lookup: _power(node.base, node.exponent, lookup),
    nodes.Apply: _apply,
    nodes.Index: _index,
    nodes.Array: lambda node, lookup: _common(node.elements, lookup, "put into one array with"),
    nodes.Comparison: _comparison,
    nodes.Junction: _junction,
}
