"""Expressions whose value fails whatever the user sets: put-off mistakes, division by zero, circular definitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from aspenpy.cost.value_mistakes import locate_failures
from aspenpy.expr import graph
from aspenpy.expr.evaluate import CircularDefinition, evaluate, needed_nodes, order_definitions
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.lower import Origins
from aspenpy.language.source import Span


@contextmanager
def collect_errors(errors: list[Diagnostic]) -> Iterator[None]:
    """Errors are added to what was found, and no more is done."""
    try:
        yield
    except AspenError as error:
        errors += error.diagnostics


def certain_errors(expr: Expr, origins: Origins) -> list[Diagnostic]:
    """Certain errors in the value of an expression; none where a symbol may still change it."""
    broken = [node.payload for node in needed_nodes(expr) if node.kind == "failure"]
    if broken:
        return [payload for payload in broken if isinstance(payload, Diagnostic)]
    if graph.free_symbols(expr):
        return []
    diagnostics: list[Diagnostic] = []
    with collect_errors(diagnostics), locate_failures(origins):
        evaluate(expr, {})
    return diagnostics


MOST_CIRCLES = 20


def circular_definitions(symbols: Iterable[Expr], definitions: Mapping[Expr, Expr]) -> list[CircularDefinition]:
    """The circular definitions among some symbols, each once, and 20 at most."""
    left = dict(definitions)
    cycles: list[CircularDefinition] = []
    while len(cycles) < MOST_CIRCLES:
        try:
            order_definitions([symbol for symbol in symbols if symbol in left], left)
            return cycles
        except CircularDefinition as error:
            cycles.append(CircularDefinition(error.cycle))  # without the frames that the one raised holds
            del left[error.cycle[0]]
    return cycles


def start_of(span: Span | None) -> int:
    """Sort key of diagnostics by their place in the text; those without a place come first."""
    return span.start if span else -1
