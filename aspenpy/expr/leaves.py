"""The leaves of the expression graph, arrays and streams, and predicates on single nodes."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from fractions import Fraction
from typing import Any

from aspenpy.expr import traits
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.node import Expr, intern_node
from aspenpy.expr.traits import INTEGER, NONNEGATIVE, TOTAL


def coerce(value: Expr | Number) -> Expr:
    """The expression itself, or the number as one."""
    return value if type(value) is Expr else number(value)  # type: ignore[arg-type]


def number(value: Number) -> Expr:
    """A constant, exact if it is given exactly; whole fractions become ints. Refuses bool, nan and infinity."""
    kind = type(value)
    if kind is Fraction and value.denominator == 1:  # type: ignore[union-attr]
        value = value.numerator  # type: ignore[union-attr]
    elif kind is float and value - value != 0.0:
        raise ValueError(f"{value} is not a number an expression can hold")
    elif kind is not int and kind is not float and kind is not Fraction:
        raise TypeError(f"a number is an int, a Fraction or a float, not {kind.__name__}")
    known = TOTAL | (NONNEGATIVE if value >= 0 else 0) | (INTEGER if type(value) is int else 0)
    return intern_node("number", (), value, known)


FROM_ZERO = "from zero"  # owner of symbols that never stand for a value below 0


def symbol(name: str, owner: str = "") -> Expr:
    """A free name; `owner` distinguishes symbols of the same name."""
    return intern_node("symbol", (), (name, owner), TOTAL | (NONNEGATIVE if owner == FROM_ZERO else 0))


def counter(name: str, owner: str = "") -> Expr:
    """A new loop counter, 0, 1, 2, ...: different from all others, also those of the same name and of other
    processes."""
    return intern_node("symbol", (), (name, owner, int.from_bytes(os.urandom(8))), traits.ALL)


def is_counter(expr: Expr) -> bool:
    return expr.kind == "symbol" and len(expr.payload) == 3


def array(elements: Sequence[Expr | Number]) -> Expr:
    """An array; a table is an array of arrays."""
    return intern_node("array", tuple([coerce(element) for element in elements]), None, 0)


def failure(payload: Any) -> Expr:
    """A node without value; evaluating it raises an `EvaluationError` with the payload."""
    return intern_node("failure", (), payload, 0)


def stream(*parts: Expr | Number) -> Expr:
    """What identifies a random draw: ints, counters and other streams."""
    return intern_node("stream", tuple([coerce(part) for part in parts]), None, TOTAL | INTEGER)


TRUE = intern_node("boolean", (), True, TOTAL)
FALSE = intern_node("boolean", (), False, TOTAL)
ZERO = number(0)
ONE = number(1)
MINUS_ONE = number(-1)


# -- what is known of a node -----------------------------------------------------------------------


def is_exact(expr: Expr) -> bool:
    """Whether the node is an exact constant: an int or a Fraction."""
    return expr.kind == "number" and type(expr.payload) is not float


def whole_number(expr: Expr) -> int | None:
    """The value of an int constant; None for other nodes."""
    return expr.payload if expr.kind == "number" and type(expr.payload) is int else None


def is_call(expr: Expr, functions: Container[str]) -> bool:
    """Whether the node applies one of the functions."""
    return expr.kind == "apply" and expr.payload in functions


def is_integer(expr: Expr) -> bool:
    """Whether the value is known to be whole, whatever the symbols are."""
    return bool(expr.traits & INTEGER)


def is_total(expr: Expr) -> bool:
    """Whether the value cannot fail once its symbols have values, overflow set aside."""
    return bool(expr.traits & TOTAL)
