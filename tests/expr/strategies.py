"""Random expressions, and a second opinion on what they are worth.

A recipe is a nested tuple `(operation, operand...)`. `built` makes the graph of it, `worth` computes it with Python's
own operators on Fractions, without anything of aspenpy's.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

Recipe = Any

SYMBOLS = {name: graph.symbol(name) for name in ("x", "y", "z")}

values = st.one_of(st.integers(-30, 30), st.fractions(-20, 20, max_denominator=12))
"""What symbols are bound to."""

environments = st.fixed_dictionaries(dict.fromkeys(SYMBOLS, values))

_leaves = st.one_of(
    st.sampled_from([(name,) for name in SYMBOLS]),
    st.tuples(st.just("number"), st.one_of(st.integers(-9, 9), st.fractions(-5, 5, max_denominator=8))),
)


def _composed(parts: st.SearchStrategy[Recipe]) -> st.SearchStrategy[Recipe]:
    conditions = st.tuples(st.sampled_from(["==", "!=", "<", ">", "<=", ">="]), parts, parts)
    joined = st.tuples(st.sampled_from(["and", "or"]), conditions, conditions)
    return st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "max", "min", "mod"]), parts, parts),
        st.tuples(st.sampled_from(["+", "*"]), parts, parts, parts),
        st.tuples(st.sampled_from(["neg", "floor", "ceil", "round", "abs"]), parts),
        st.tuples(st.just("^"), parts, st.tuples(st.just("number"), st.integers(-2, 3))),
        st.tuples(st.just("if"), st.one_of(conditions, joined), parts, parts),
        st.tuples(st.just("lookup"), parts),
        st.tuples(st.just("element"), parts),
    )


recipes = st.recursive(_leaves, _composed, max_leaves=12)

LOOKUP_SIZES, LOOKUP_VALUES = (1, 2, 4, 8), (10, 14, 15, 25)
ELEMENTS = (5, 7, Fraction(1, 2))


def expressions() -> st.SearchStrategy[Expr]:
    """Random expressions in x, y and z."""
    return recipes.map(built)


def built(recipe: Recipe) -> Expr:
    """The graph of a recipe."""
    operation, *operands = recipe
    if operation in SYMBOLS:
        return SYMBOLS[operation]
    if operation == "number":
        return graph.number(operands[0])
    args = [built(operand) for operand in operands]
    if operation in graph.COMPARISONS:
        return graph.compare(operation, *args)
    if operation in ("and", "or"):
        return graph.junction(operation, *args)
    special = {
        "+": graph.add,
        "-": graph.sub,
        "*": graph.mul,
        "/": graph.div,
        "^": graph.power,
        "neg": graph.neg,
        "if": graph.if_else,
        "element": lambda x: graph.index(graph.array(ELEMENTS), x),
        "lookup": lambda x: graph.apply("lookup", graph.array(LOOKUP_VALUES), graph.array(LOOKUP_SIZES), x),
    }
    return special[operation](*args) if operation in special else graph.apply(operation, *args)


def _interpolated(x: Fraction) -> Fraction:
    points = list(zip(LOOKUP_SIZES, LOOKUP_VALUES, strict=True))
    (left, low), (right, high) = next(((a, b) for a, b in pairwise(points) if x < b[0]), (points[-2], points[-1]))
    return low + Fraction(high - low, right - left) * (x - left)


def _element(x: Fraction) -> Fraction:
    position = math.trunc(x)
    if position < 0:
        raise IndexError(position)
    return Fraction(ELEMENTS[position])


_WORTH = {
    "-": lambda a, b: a - b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a ** int(b),
    "neg": lambda a: -a,
    "max": max,
    "min": min,
    "mod": lambda a, b: a - b * math.floor(a / b),
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "abs": abs,
    "lookup": _interpolated,
    "element": _element,
    "+": lambda *terms: sum(terms),
    "*": lambda *factors: math.prod(factors),
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


def worth(recipe: Recipe, environment: dict[str, Any], number: type[Fraction] | type[float] = Fraction) -> Any:
    """The value in Fractions, or in floats; raises ArithmeticError or IndexError where there is none."""
    operation, *operands = recipe
    if operation in environment:
        return number(environment[operation])
    if operation == "number":
        return number(operands[0])
    if operation == "if":
        condition, then, otherwise = operands
        return worth(then if worth(condition, environment, number) else otherwise, environment, number)
    if operation == "and":
        return all(worth(operand, environment, number) for operand in operands)
    if operation == "or":
        return any(worth(operand, environment, number) for operand in operands)
    result = _WORTH[operation](*[worth(operand, environment, number) for operand in operands])
    return result if isinstance(result, bool) else number(result)


def robust_worth(recipe: Recipe, environment: dict[str, Any]) -> float | None:
    """The value, or None where there is none; examples whose value hangs on rounding are not looked at."""
    outcomes = []
    for number in (Fraction, float):
        try:
            outcomes.append(float(worth(recipe, environment, number)))
        except (ArithmeticError, IndexError):
            outcomes.append(None)
    exact, rounded = outcomes
    assume((exact is None) == (rounded is None))
    assume(exact is None or math.isclose(exact, rounded, rel_tol=1e-13, abs_tol=1e-13))
    return exact


def bound(environment: dict[str, Any]) -> dict[Expr, Any]:
    """The environment for `evaluate`."""
    return {SYMBOLS[name]: value for name, value in environment.items()}
