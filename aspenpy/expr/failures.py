"""The error of evaluation."""

from __future__ import annotations

from typing import Any

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
