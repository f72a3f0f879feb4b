"""The error of evaluation, and the number of passes after which it stops."""

from __future__ import annotations

from typing import Any

from aspenpy.expr.laws import LAWS
from aspenpy.expr.node import Expr

MOST_PASSES = 10**8  # limit of the passes of loops without closed form in one evaluation: some seconds of work


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
