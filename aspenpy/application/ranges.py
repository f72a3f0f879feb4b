"""The ranges that parameters declare: `param n = 8 in 1 .. 64`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aspenpy.application.model import Parameter
from aspenpy.diagnostics import Diagnostic
from aspenpy.expr.arithmetic import shown
from aspenpy.expr.graph import Expr


def ranged(parameters: Iterable[Parameter]) -> Iterator[tuple[Parameter, tuple[Expr, Expr, Expr]]]:
    """Each parameter with a range, and what stands for its value and for the ends of the range."""
    for parameter in parameters:
        if parameter.low is not None and parameter.high is not None:
            yield parameter, (parameter.symbol, parameter.low, parameter.high)


def range_warning(parameter: Parameter, value: Any, low: Any, high: Any) -> Diagnostic | None:
    """What is odd about a value and its range, if anything."""
    name, span = parameter.name, parameter.node.name_span
    if any(isinstance(number, tuple) for number in (value, low, high)):
        message = f"`{name}` and the ends of its range are numbers, and here is an array"
        return Diagnostic("not-a-number", message, span, severity="warning")
    if low > high:
        message = f"the range of `{name}` is empty: {shown(low)} is above {shown(high)}"
        return Diagnostic("empty-range", message, span, severity="warning")
    if not low <= value <= high:
        message = f"`{name}` is {shown(value)}, outside its range {shown(low)} .. {shown(high)}"
        return Diagnostic("outside-range", message, span, severity="warning")
    return None
