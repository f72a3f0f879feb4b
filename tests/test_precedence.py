"""When an operand needs parentheses."""

from __future__ import annotations

import pytest

from aspenpy.language.printer import (
    ATOM,
    BINARY,
    NEGATE,
    NEGATION,
    POWER,
    PRODUCT,
    SUM,
    Precedence,
    Side,
    needs_parentheses,
)


def test_levels_from_loose_to_tight() -> None:
    assert SUM < PRODUCT < NEGATION < POWER < ATOM
    assert [operator.level for operator in BINARY.values()] == [SUM, SUM, PRODUCT, PRODUCT, POWER]


@pytest.mark.parametrize(
    ("operand", "operator", "side", "needed"),
    [
        (SUM, "*", "left", True),  # (a + b)*c
        (SUM, "-", "left", False),  # a + b - c
        (SUM, "-", "right", True),  # a - (b + c)
        (PRODUCT, "+", "right", False),  # a + b*c
        (PRODUCT, "/", "right", True),  # a/(b*c)
        (NEGATION, "*", "right", False),  # a*-b
        (NEGATION, "^", "left", True),  # (-a)^b
        (NEGATION, "^", "right", False),  # a^-b
        (POWER, "^", "left", True),  # (a^b)^c
        (POWER, "^", "right", False),  # a^b^c
        (PRODUCT, "^", "right", True),  # a^(b*c)
        (ATOM, "^", "left", False),  # a^b
    ],
)
def test_binary_operators(operand: Precedence, operator: str, side: Side, needed: bool) -> None:
    assert needs_parentheses(operand, BINARY[operator], side) is needed


@pytest.mark.parametrize(("operand", "needed"), [(SUM, True), (PRODUCT, True), (NEGATION, False), (POWER, False)])
def test_a_sign(operand: Precedence, needed: bool) -> None:
    assert needs_parentheses(operand, NEGATE, "right") is needed
