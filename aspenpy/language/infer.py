"""Infer: the dimension of an expression, as far as the model tells it.

Dimensions are gradual: a bare number may be anything, and so may what is computed from it. Only two known
dimensions can contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Related, fail
from aspenpy.language.dimensions import DIMENSIONLESS, Dimension, describe_dimension, parse_unit

Lookup = Callable[[str], Dimension | None]  # the dimension of a name, None if it is not known


def dimension_of(node: nodes.Expression | nodes.Condition, lookup: Lookup) -> Dimension | None:
    """The dimension of an expression, None if it is not known; of a condition always None.

    Raises AspenError where two known dimensions contradict each other: in sums, comparisons, arguments that must be
    of one kind, exponents, logarithms.
    """
    match node:
        case nodes.Number():
            return None if node.unit is None else parse_unit(node.unit).dimension
        case nodes.Name():
            return lookup(node.name)
        case nodes.Negation():
            return dimension_of(node.operand, lookup)
        case nodes.Chain():
            return _infer_chain(node, lookup)
        case nodes.Power():
            return _power(node.base, node.exponent, lookup)
        case nodes.Apply():
            return _infer_call(node, lookup)
        case nodes.Index():
            for index in node.indices:
                _require_pure(index, lookup, "an index")
            return lookup(node.array.name)
        case nodes.Array():
            return _common_dimension(node.elements, lookup, "put into one array with")
        case nodes.Comparison():
            _common_dimension((node.left, node.right), lookup, "compared with")  # for its error alone
        case nodes.Junction():
            for condition in (node.first, *(condition for _, condition in node.rest)):
                dimension_of(condition, lookup)  # for its error alone
    return None


def _infer_chain(node: nodes.Chain, lookup: Lookup) -> Dimension | None:
    operands = (node.first, *(operand for _, operand in node.rest))
    if node.rest[0][0] in "+-":
        return _common_dimension(operands, lookup, "added to" if node.rest[0][0] == "+" else "subtracted from")
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


def _infer_call(node: nodes.Apply, lookup: Lookup) -> Dimension | None:
    function, arguments = FUNCTIONS.get(node.function), node.arguments
    if function is None or not function.accepts(len(arguments)):  # refused where the expression is built
        return _check_arguments(arguments, lookup)
    match function.dimension:
        case "same":  # as all its arguments: `max(a, b)`
            return _common_dimension(arguments, lookup, f"used with `{node.function}` beside")
        case "pure":  # of and to a plain number: `log(x)`; of a bare number it is as bare, and fits anything
            known = [_require_pure(argument, lookup, f"the argument of `{node.function}`") for argument in arguments]
            return None if None in known else DIMENSIONLESS
        case "root":
            dimension = dimension_of(arguments[0], lookup)
            return None if dimension is None else dimension ** Fraction(1, 2)
        case "power":
            return _power(arguments[0], arguments[1], lookup)
        case "lookup":  # `lookup(values, sizes, x)` is as the values; x is as the sizes
            _common_dimension(arguments[1:], lookup, "looked up among")  # for its error alone
            return dimension_of(arguments[0], lookup)
        case "unknown":
            return _check_arguments(arguments, lookup)
    raise NotImplementedError(function.dimension)


def _check_arguments(arguments: tuple[nodes.Expression, ...], lookup: Lookup) -> Dimension | None:
    for argument in arguments:
        dimension_of(argument, lookup)  # for its error alone
    return None


def _common_dimension(operands: tuple[nodes.Expression, ...], lookup: Lookup, relation: str) -> Dimension | None:
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
            message = f"{describe_dimension(dimension)} cannot be {relation} {describe_dimension(common)}"
            fail("dimensions", message, operand.span, related=(Related(told_by.span, describe_dimension(common)),))
    return common


def _require_pure(node: nodes.Expression, lookup: Lookup, role: str) -> Dimension | None:
    dimension = dimension_of(node, lookup)
    if dimension is not None and dimension != DIMENSIONLESS:
        fail("dimensions", f"{role} is a plain number, this is {describe_dimension(dimension)}", node.span)
    return dimension
