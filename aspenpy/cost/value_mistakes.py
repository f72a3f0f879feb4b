"""Mistakes in the value of an expression, which are told with what it is worth."""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_text
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.source import Span


class ValueMistake(Diagnostic):
    """What is wrong with the value of `subject`; `message` goes before the value, or has it at `{subject}`, and that of
    `limit` at `{limit}`."""

    subject: Expr = graph.ZERO
    limit: Expr = graph.ZERO

    def with_numbers(self, subject: str, limit: str) -> Diagnostic:
        """The diagnostic with what both are worth."""
        message = self.message.replace("{subject}", subject).replace("{limit}", limit)
        return Diagnostic(self.code, message, self.span, hint=self.hint)


def whole(subject: Expr, span: Span | None, hint: str) -> Expr:
    """1, or the mistake where the subject is no whole number."""
    message = f"`{to_text(subject)}` must be a whole number here"
    mistake = ValueMistake(code="not-whole", message=message, subject=subject, span=span, hint=hint)
    fits = graph.compare("==", graph.apply("floor", subject), subject)
    return graph.if_else(fits, graph.ONE, graph.failure(mistake))
