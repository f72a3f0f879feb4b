"""The errors of evaluation, why a point of a sweep has no value, and the operations that loops without a closed form
take of an allowance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aspenpy.allowance import Allowance
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.laws import LAWS
from aspenpy.expr.node import Expr


class EvaluationError(Exception):
    """`node` has no value, for `reason`; `payload` is that of a `failure` node. The reason may be an object that is
    dear to print: at most points of a search nobody asks for it."""

    def __init__(self, node: Expr, reason: object, payload: Any = None) -> None:
        super().__init__(reason)
        self.node = node
        self.payload = payload

    @property
    def reason(self) -> str:
        return str(self)

    @property
    def hint(self) -> str | None:
        """What to do about a value that breaks a law."""
        return LAWS[self.node.payload].hint if self.node.kind == "checked" else None

    def __reduce__(self) -> tuple[Any, ...]:
        return EvaluationError, (self.node, self.reason, self.payload)


class TooMuchWork(EvaluationError):
    """`node` is not evaluated because the command has no operations left for it, whatever value it may have."""


class NoOperationsLeft(DomainError):
    """The same before the node is known."""


# -- operations that loops without a closed form take ----------------------------------------------


OF_A_PASS = 10
"""Operations of a pass beside those of its body: its lane and its counter are looked up, its value is added."""

SLOW = 6
"""Operations that a remainder, a power or a function such as a logarithm counts as."""

_QUICK = frozenset({"max", "min", "abs", "ceil", "floor", "round"})


def pass_operations(body: Iterable[Expr]) -> int:
    """Operations of one pass of a loop whose body computes these nodes."""
    return OF_A_PASS + sum(SLOW if is_slow(node) else 1 for node in body)


def is_slow(node: Expr) -> bool:
    """Whether NumPy computes it element by element instead of several at once."""
    return node.kind in ("power", "draw", "stream", "index") or (node.kind == "apply" and node.payload not in _QUICK)


def charge(allowance: Allowance, operations: float) -> None:
    """Spends operations of the command; raises NoOperationsLeft where it has not so many."""
    if not allowance.spend(operations):
        raise NoOperationsLeft(
            f"the {allowance.operations:,.0f} operations that one command may spend are used up by loops that have to "
            "be added pass by pass"
        )


# -- why a point of a sweep has no value -----------------------------------------------------------


FINE, DIVISION, OVERFLOW, DOMAIN, CONSTRAINT, UNDEFINED = range(6)
"""Codes, one for each point; a point with a value is `FINE`."""

REASONS = {
    FINE: "fine",
    DIVISION: "division by zero",
    OVERFLOW: "overflow",
    DOMAIN: "outside the domain of a function",
    CONSTRAINT: "a constraint of the model is violated",
    UNDEFINED: "the models give no value there",
}
"""Each code in words."""
