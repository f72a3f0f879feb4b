"""Rates of branches that no run says, by Ball and Larus's heuristics (Wu and Larus, MICRO 1994, table 1): opcode 84 %,
pointer 60 %, loop header 75 %, call 78 %, store 55 %, return 72 %."""

from __future__ import annotations

from fractions import Fraction

import pytest

from aspenpy.extract import records as r
from aspenpy.extract.branches import _rate_of_comparison, _rates_of_side, guess_rate

INT = r.Type("integer", 4)
REAL = r.Type("real", 8)
POINTER = r.Type("pointer", 8, REAL)
X = r.Variable("x", "x", INT, "local")
Y = r.Variable("y", "y", REAL, "local")
P = r.Variable("p", "p", POINTER, "local")
ZERO = r.Constant(0, INT)
ONE = r.Constant(1, INT)

PLAIN = r.ExpressionStatement(r.Assignment("+", X, ONE, INT))
STORE = r.ExpressionStatement(r.Assignment("", r.Element(P, X, REAL), Y, REAL))
PRINT = r.ExpressionStatement(r.Call("printf", "printf", (), INT))
CALL = r.ExpressionStatement(r.Call("f", "f", (), INT))
LOOP = r.LoopStatement(None, None, None, PLAIN)
RETURN, BREAK = r.Jump("return"), r.Jump("break")


def block(*statements: r.Statement) -> r.Statement:
    return r.CompoundStatement(statements)


@pytest.mark.parametrize(
    ("side", "rates"),
    [
        (None, []),
        (PLAIN, []),
        (block(), []),
        (LOOP, [75]),
        (block(LOOP, PLAIN), [75]),
        (block(PLAIN, LOOP), []),  # a loop that does not come first
        (RETURN, [28]),
        (block(PLAIN, RETURN), [28]),
        (block(RETURN, PLAIN), []),
        (block(PLAIN, block(RETURN)), [28]),
        (BREAK, []),
        (PRINT, [22]),
        (CALL, []),
        (STORE, [45]),
        (block(PLAIN, STORE), [45]),
        (block(STORE, PRINT), [22]),  # a print counts before a store
        (block(LOOP, STORE, RETURN), [75, 28, 45]),
        (r.LoopStatement(None, None, None, PRINT), [75, 22]),
    ],
)
def test_rates_of_a_side(side: r.Statement | None, rates: list[int]) -> None:
    assert [100 * rate for rate in _rates_of_side(side)] == rates


@pytest.mark.parametrize(
    ("operator", "left", "right", "rate"),
    [
        ("==", X, ONE, 16),
        ("!=", X, ONE, 84),
        ("==", P, ZERO, 40),
        ("!=", P, ZERO, 60),
        ("!=", ZERO, P, 60),
        ("<", X, ZERO, 16),
        ("<=", X, ZERO, 16),
        (">", X, ZERO, 84),
        (">=", X, ZERO, 84),
        ("<", X, ONE, None),
        ("<", Y, ZERO, None),
        ("&&", X, ZERO, None),
    ],
)
def test_rates_of_comparisons(operator: str, left: r.Expression, right: r.Expression, rate: int | None) -> None:
    found = _rate_of_comparison(r.Operation(operator, (left, right), INT))
    assert found == (None if rate is None else Fraction(rate, 100))
    assert _rate_of_comparison(r.Operation("not", (X,), INT)) is None
    assert _rate_of_comparison(X) is None


def combined(*rates: float) -> float:
    """By Dempster and Shafer's rule, as Wu and Larus combine heuristics."""
    yes = no = 0.5
    for rate in rates:
        yes, no = yes * rate, no * (1 - rate)
    return yes / (yes + no)


@pytest.mark.parametrize(
    ("condition", "then", "otherwise", "rates"),
    [
        (X, PLAIN, None, []),
        (r.Operation(">", (X, ZERO), INT), PLAIN, None, [0.84]),
        (r.Operation("not", (r.Operation(">", (X, ZERO), INT),), INT), PLAIN, None, [0.16]),
        (r.Operation(">", (X, ZERO), INT), LOOP, None, [0.84, 0.75]),
        (r.Operation(">", (X, ZERO), INT), PLAIN, LOOP, [0.84, 0.25]),
        (X, RETURN, STORE, [0.28, 0.55]),
        (X, PRINT, PRINT, [0.22, 0.78]),
        (r.Operation("!=", (P, ZERO), INT), block(LOOP, RETURN), PRINT, [0.6, 0.75, 0.28, 0.78]),
    ],
)
def test_rates_are_combined(
    condition: r.Expression, then: r.Statement, otherwise: r.Statement | None, rates: list[float]
) -> None:
    assert float(guess_rate(r.Branch(condition, then, otherwise))) == pytest.approx(combined(*rates))
