"""Mistakes in the value of an expression, which are told with what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import DomainError, format_number
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_text
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail
from aspenpy.language.lower import Origins, find_place
from aspenpy.language.source import Span


class ValueMistake(Diagnostic):
    """A mistake in the value of `subject`; `message` goes before the value, and what `beside` is worth, which it should
    be, behind it. A hint ends in a formula for `beside`, unless it is a number."""

    subject: Expr = graph.ZERO
    beside: Expr | None = None


class BoundMistake(Diagnostic):
    """A `value` above its `bound`. `numbers` is the message with places for both, `message` the one where they are not
    known."""

    value: Expr = graph.ZERO
    bound: Expr = graph.ZERO
    numbers: str = ""


def require_whole(subject: Expr, span: Span | None, hint: str) -> Expr:
    """1, or the mistake where the subject is no whole number."""
    message = f"`{to_text(subject)}` must be a whole number here"
    mistake = ValueMistake(code="not-whole", message=message, subject=subject, span=span, hint=hint)
    fits = graph.compare("==", graph.apply("floor", subject), subject)
    return graph.if_else(fits, graph.ONE, graph.failure(mistake))


@contextmanager
def locate_failures(origins: Origins, otherwise: Span | None = None, subject: str = "") -> Iterator[None]:
    """Within it, what has no value is an AspenError at the place that it was written at, or else that which is given.
    `Scope.locating` knows more of it, where there is an application."""
    said = f"{subject}: " if subject else ""
    try:
        yield
    except EvaluationError as error:
        if isinstance(error.payload, Diagnostic):
            raise AspenError(error.payload) from None
        fail("no-value", said + error.reason, find_place(error.node, origins) or otherwise, hint=error.hint)
    except DomainError as error:
        fail("no-value", said + str(error), otherwise)


Definitions = Mapping[Expr, Expr]


def describe_mistake(
    mistake: ValueMistake, definitions: Definitions, name: Callable[[Expr], str], seed: int
) -> Diagnostic:
    """The mistake with what its subject is worth, and the parameters that make it so."""
    subject = mistake.subject
    symbols = [] if subject.kind == "symbol" else sorted(graph.free_symbols(subject), key=lambda one: one.serial)
    values = _values([subject, mistake.beside or graph.ZERO, *symbols], definitions, seed)
    if values is None or (mistake.beside is not None and values[0] == values[1]):
        return Diagnostic(mistake.code, mistake.message, mistake.span, hint=mistake.hint)
    worth, beside, *others = values
    formula = mistake.beside is not None and mistake.beside.kind != "number"
    hint = f"{mistake.hint} = {format_number(beside)}" if formula else mistake.hint
    known = " and ".join(f"{name(one)} = {format_number(value)}" for one, value in zip(symbols, others, strict=True))
    wanted = "" if mistake.beside is None else f", not {format_number(beside)}"
    message = f"{mistake.message}, but {f'with {known} it is' if known else 'it is'} {format_number(worth)}{wanted}"
    return Diagnostic(mistake.code, message, mistake.span, hint=hint)


def describe_bound_mistake(
    mistake: BoundMistake, definitions: Definitions, names: Mapping[Expr, str], seed: int
) -> Diagnostic:
    """The mistake with both numbers, and which of the parameters that have `names` would be set. Where the definitions
    do not make it, but other values of free parameters, numbers are not known."""
    values = _values([mistake.value, mistake.bound], definitions, seed)
    if values is None or values[0] <= values[1]:
        return Diagnostic(mistake.code, mistake.message, mistake.span, hint=mistake.hint)
    value, bound = map(format_number, values)
    inner = mistake.value.args[0] if mistake.value.kind == "checked" else mistake.value
    fewer = [f"run fewer, `--set {names[inner]}={bound}`"] if inner in names else []
    hint = ", or ".join([*fewer, mistake.hint] if mistake.hint else fewer)
    return Diagnostic(mistake.code, mistake.numbers.format(value, bound), mistake.span, hint=hint or None)


def _values(exprs: list[Expr], definitions: Definitions, seed: int) -> list[Any] | None:
    """The values of expressions; None where one has no value: a counter of a loop has one in its passes only."""
    try:
        return evaluate_many(exprs, None, seed, definitions)
    except EvaluationError:
        return None
