"""Precedence: how tightly each operator binds, for every printer of expressions.

One table serves the text of the language, LaTeX, C and JavaScript: it decides for all printers whether an operand needs
parentheses.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, NamedTuple


class Precedence(IntEnum):
    """The levels, loosest first."""

    SUM = 1
    PRODUCT = 2
    NEGATION = 3
    POWER = 4
    ATOM = 5


SUM, PRODUCT, NEGATION, POWER, ATOM = Precedence

Associativity = Literal["left", "right"]
Side = Literal["left", "right"]


class Operator(NamedTuple):
    """A binary or prefix operator: its level, and the side on which an operand of its own level stands bare."""

    symbol: str
    level: Precedence
    associativity: Associativity


BINARY = {
    operator.symbol: operator
    for operator in (
        Operator("+", SUM, "left"),
        Operator("-", SUM, "left"),
        Operator("*", PRODUCT, "left"),
        Operator("/", PRODUCT, "left"),
        Operator("^", POWER, "right"),
    )
}
"""`a - b - c` is `(a - b) - c`; `a ^ b ^ c` is `a ^ (b ^ c)`."""

NEGATE = Operator("-", NEGATION, "right")
"""`-a ^ b` is `-(a ^ b)`; `--a` is `-(-a)`; in `a ^ -b` the exponent needs no parentheses."""


def needs_parentheses(operand: Precedence, operator: Operator, side: Side) -> bool:
    """Whether an operand of this level, on this side of the operator, would be read differently without them."""
    if operator.level is POWER and side == "right" and operand is NEGATION:
        return False
    return operand < operator.level or (operand is operator.level and side != operator.associativity)
