"""The ranges that parameters declare: `param n = 8 in 1 .. 64`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from aspenpy.expr.arithmetic import format_number
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.dimensions import format_quantity, parse_unit, unit_symbol
from aspenpy.models.model import Parameter


def parameters_with_range(parameters: Iterable[Parameter]) -> Iterator[tuple[Parameter, tuple[Expr, Expr, Expr]]]:
    """Each parameter with a range, and what stands for its value and for the ends of the range."""
    for parameter in parameters:
        if parameter.low is not None and parameter.high is not None:
            yield parameter, (parameter.symbol, parameter.low, parameter.high)


def range_of_symbol(symbol: Expr, parameters: Iterable[Parameter]) -> tuple[Expr, Expr] | None:
    """The ends of the range of the parameter that a symbol stands for; None where none of them declares one."""
    return next(
        ((low, high) for item, (_, low, high) in parameters_with_range(parameters) if item.symbol is symbol), None
    )


def range_warnings(
    parameters: Iterable[Parameter], values: Callable[[Sequence[Expr]], Sequence[Any]]
) -> list[Diagnostic]:
    """What is odd about parameters and their ranges; `values` gives those of expressions. What has none is an error of
    its own where it is needed."""
    warnings = []
    for parameter, exprs in parameters_with_range(parameters):
        with suppress(AspenError, EvaluationError):
            warnings.append(range_warning(parameter, *values(exprs)))
    return [item for item in warnings if item is not None]


def range_warning(parameter: Parameter, value: Any, low: Any, high: Any) -> Diagnostic | None:
    """What is odd about a value and its range, if anything. The ends are told as they are written."""
    name, node = parameter.name, parameter.node
    if any(isinstance(number, tuple) for number in (value, low, high)):
        message = f"`{name}` and the ends of its range are numbers, and here is an array"
        return warning("not-a-number", message, node.name_span)
    if low <= value <= high or _is_float_of(value, low) or _is_float_of(value, high):
        return None
    unit = _unit(node.low) or _unit(node.high)
    lowest, highest = _write_end(node.low, low, unit), _write_end(node.high, high, unit)
    if low > high:
        message = f"the range of `{name}` is empty: {lowest} is above {highest}"
        return warning("empty-range", message, node.name_span)
    told = _amount(value, unit)
    if told in (lowest, highest):  # it is outside by less than the digits of an amount show
        told = f"{format_number(value)} {unit}".rstrip()
    message = f"`{name}` is {told}, outside its range {lowest} .. {highest}"
    return warning("outside-range", message, node.name_span)


def _is_float_of(value: Any, end: Any) -> bool:
    """Whether a value is an end as a float has it: 0.8 lies above 4/5 by a bit that nobody wrote."""
    try:
        return isinstance(value, float) and value == float(end)
    except OverflowError:
        return False


def _unit(end: nodes.Expression | None) -> str:
    """The base unit of an end that is written with a unit; empty for every other."""
    return unit_symbol(parse_unit(end.unit).dimension) if isinstance(end, nodes.Number) and end.unit else ""


def _write_end(end: nodes.Expression | None, value: Any, unit: str) -> str:
    """A literal as it is spelled; of an expression its value."""
    return end.spelling if isinstance(end, nodes.Number) else _amount(value, unit)


def _amount(value: Any, unit: str) -> str:
    return format_quantity(value, unit, digits=6) if unit else format_number(value)
