"""Warnings of counts from runs at other sizes than those that a model is asked about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.scope import Scope
from aspenpy.expr.arithmetic import format_number
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.source import Span
from aspenpy.models.model import Parameter

CODE = "counted-elsewhere"

MOST_NAMED = 5
"""Parameters that are named; of more it is said how many they are."""


def warn_of_other_sizes(case: Case, scope: Scope, used: Callable[[], Collection[Expr]]) -> list[Diagnostic]:
    """A warning for each size whose value is not that of the runs in which parameters were counted that an answer
    depends on, those `used` (`param passes = 37 counted at n = 100`). What the user has set follows the user."""
    counted = [parameter for parameter in case.application.parameters.values() if parameter.counted_at]
    if not counted:
        return []
    try:
        needed = frozenset(used())
    except AspenError:
        return []  # a circular definition is an error of its own
    given = {scope.symbol(name) for name in case.set}
    stale: dict[tuple[str, Any, Any], list[Parameter]] = {}
    for parameter in counted:
        if parameter.symbol in needed and parameter.symbol not in given:
            for size in _find_other_sizes(parameter, scope, case.seed):
                stale.setdefault(size, []).append(parameter)
    return [
        _warn(name, value, at, parameters, parameters[0].node.name_span)
        for (name, value, at), parameters in stale.items()
    ]


def _find_other_sizes(parameter: Parameter, scope: Scope, seed: int) -> Iterator[tuple[str, Any, Any]]:
    """Names of sizes with their value and that of the runs, where these differ."""
    sizes = () if parameter.node.counted_at is None else parameter.node.counted_at.sizes
    for size, ends in zip(sizes, parameter.counted_at, strict=True):
        with suppress(AspenError, EvaluationError):
            value, counted = scope.values(ends, seed)
            if value != counted:
                yield size.name, value, counted


def _warn(name: str, value: Any, counted: Any, parameters: Collection[Parameter], span: Span | None) -> Diagnostic:
    names = [f"`{parameter.name}`" for parameter in parameters]
    shown = names if len(names) <= MOST_NAMED + 1 else [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    verb, follow = ("was", "does") if len(names) == 1 else ("were", "do")
    at, now = format_number(counted), format_number(value)
    message = f"{listed} {verb} counted at {name} = {at} and {follow} not follow it to {now}"
    sizes = ",".join(dict.fromkeys(format_number(max(1, counted * part // 4)) for part in (1, 2, 4)))
    hint = f'extract --run "... {{{name}}} ..." --over {name}={sizes} has them as formulas of {name}'
    return warning(CODE, message, span, hint=hint)
