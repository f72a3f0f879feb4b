"""Model: what applications and machines have in common: a syntax tree, the parameters and enums it declares, and the
ranges of parameters (`param n = 8 in 1 .. 64`) and the numbers that a program accepts (`with cube`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import format_number
from aspenpy.expr.counts import LARGEST_DIVIDED, CountRule
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.dimensions import format_quantity, parse_unit, unit_symbol
from aspenpy.language.lower import Draw, Lowering, Origins, draw_sites, lower_guarded, site_in_text
from aspenpy.language.source import Span
from aspenpy.language.statements import declarations_by_name
from aspenpy.record import Record


class Parameter(Record):
    """A global parameter under its full name (`n`, `fft3d.n`), with the range it declares, the argument of the rule
    of the numbers that the program accepts, and the sizes that it was counted at, each beside its value there."""

    name: str
    symbol: Expr
    value: Expr
    low: Expr | None
    high: Expr | None
    node: nodes.Parameter
    span: Span | None
    counted: Expr | None = None
    counted_at: tuple[tuple[Expr, Expr], ...] = ()


def make_parameter(name: str, symbol: Expr, value: Expr, node: nodes.Parameter, lower: Lowering) -> Parameter:
    low, high = (None if end is None else lower_guarded(lower, end) for end in (node.low, node.high))
    argument = None if node.counts is None else node.counts.argument
    counted = None if argument is None else lower_guarded(lower, argument)
    counted_at = tuple(
        (lower_guarded(lower, nodes.Name(size.name, size.span)), lower_guarded(lower, size.value))
        for size in (() if node.counted_at is None else node.counted_at.sizes)
    )
    return Parameter(name, symbol, value, low, high, node=node, span=node.span, counted=counted, counted_at=counted_at)


def enum_constants(enums: Iterable[nodes.Enum]) -> dict[str, int]:
    """The members of some enums: 0, 1, 2, ..."""
    return {member: value for enum in enums for value, member in enumerate(enum.members)}


def name_members(members: Iterable[str]) -> str:
    """The hint that names the members of an enum."""
    return "its members are " + ", ".join(members)


class Model:
    """A loaded model. Immutable; equal when the texts say the same."""

    node: nodes.Application | nodes.Machine

    def __init__(self, node: nodes.Application | nodes.Machine, warnings: tuple[Diagnostic, ...]) -> None:
        self.node, self.warnings = node, warnings
        self.origins: Origins = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.node)

    @property
    def is_in_library(self) -> bool:
        """Whether its text was found in the library, by its name there."""
        span = self.node.span
        return span is not None and span.resolve().source.in_library is not None

    def _identity(self) -> tuple[Any, ...]:
        return (self.node,)

    def to_aspen(self) -> str:
        """The model as Aspen text (imported models stay imports)."""
        return self._text

    @cached_property
    def _text(self) -> str:
        from aspenpy.language.printer import to_aspen

        return to_aspen(self.node)

    @cached_property
    def declared(self) -> dict[str, nodes.Parameter]:
        """Global parameters of the model itself by name; of two with one name the later holds."""
        return declarations_by_name(nodes.Parameter, self.node.declarations)

    @cached_property
    def enums(self) -> dict[str, nodes.Enum]:
        return declarations_by_name(nodes.Enum, self.node.declarations)

    @cached_property
    def constants(self) -> dict[str, int]:
        """The members of its enums with their values."""
        return enum_constants(self.enums.values())

    def site_of_draw(self, node: Draw) -> str:
        """Identity of a random draw: it differs from all others of the model, whatever their call and pass."""
        return self._draw_sites.get(id(node)) or site_in_text(node)

    @cached_property
    def _draw_sites(self) -> dict[int, str]:
        return draw_sites(self._scopes())

    def _scopes(self) -> dict[str, Any]:
        """Parts of the tree whose draws are numbered apart, by name."""
        raise NotImplementedError


def parameters_with_range(parameters: Iterable[Parameter]) -> Iterator[tuple[Parameter, tuple[Expr, Expr, Expr]]]:
    """The parameters with a range, and what stands for the value and the ends of the range."""
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
    """Warnings about parameters and their ranges; `values` gives the values of expressions. An expression without a
    value is refused where it is needed."""
    warnings: list[Diagnostic | None] = []
    for parameter in parameters:
        for item, exprs in parameters_with_range([parameter]):
            with suppress(AspenError, EvaluationError):
                warnings.append(range_warning(item, *values(exprs)))
        with suppress(AspenError, EvaluationError):
            counts = find_count_rule(parameter, values)
            if counts is not None:
                warnings.append(count_warning(parameter, counts, values([parameter.symbol])[0]))
    return [item for item in warnings if item is not None]


def find_count_rule(parameter: Parameter, values: Callable[[Sequence[Expr]], Sequence[Any]]) -> CountRule | None:
    """The rule of the numbers that the program accepts for a parameter; None where it declares none, or where its
    argument is no whole number from 1 on. `values` evaluates expressions."""
    node = parameter.node.counts
    if node is None:
        return None
    (argument,) = values([graph.ONE if parameter.counted is None else parameter.counted])
    if isinstance(argument, tuple) or not 1 <= argument <= LARGEST_DIVIDED or int(argument) != argument:
        return None
    return CountRule(node.rule, int(argument))


def accepted_counts(
    parameters: Iterable[Parameter], name: str, values: Callable[[Sequence[Expr]], Sequence[Any]]
) -> CountRule | None:
    """The numbers that a program accepts for the parameter of a name; None where it declares none."""
    return next((find_count_rule(parameter, values) for parameter in parameters if parameter.name == name), None)


def count_warning(parameter: Parameter, counts: CountRule, value: Any) -> Diagnostic | None:
    """A warning where the program does not accept a value, with the nearest accepted ones."""
    if isinstance(value, tuple) or value in counts:
        return None
    near = counts.nearest_two(value) if value < float("inf") else []
    message = f"`{parameter.name}` is {format_number(value)}, and the program accepts {counts.describe()} only"
    hint = f"next to it: {' or '.join(f'{each:,}' for each in near)}" if near else None
    return warning("refused-count", message, parameter.node.name_span, hint=hint)


def range_warning(parameter: Parameter, value: Any, low: Any, high: Any) -> Diagnostic | None:
    """A warning about a value outside its range; None for one inside. The ends are shown as they are written."""
    name, node = parameter.name, parameter.node
    if any(isinstance(number, tuple) for number in (value, low, high)):
        message = f"`{name}` and the ends of its range are numbers, and here is an array"
        return warning("not-a-number", message, node.name_span)
    if low <= value <= high or _is_float_of(value, low) or _is_float_of(value, high):
        return None
    unit = _unit_of_end(node.low) or _unit_of_end(node.high)
    lowest, highest = _write_end(node.low, low, unit), _write_end(node.high, high, unit)
    if low > high:
        message = f"the range of `{name}` is empty: {lowest} is above {highest}"
        return warning("empty-range", message, node.name_span)
    written = _amount(value, unit)
    if written in (lowest, highest):  # it is outside by less than the digits of an amount show
        written = f"{format_number(value)} {unit}".rstrip()
    message = f"`{name}` is {written}, outside its range {lowest} .. {highest}"
    return warning("outside-range", message, node.name_span)


def _is_float_of(value: Any, end: Any) -> bool:
    """Whether a value is an end as a float has it: 0.8 lies above 4/5 by a bit that nobody wrote."""
    try:
        return isinstance(value, float) and value == float(end)
    except OverflowError:
        return False


def _unit_of_end(end: nodes.Expression | None) -> str:
    """The base unit of an end that is written with a unit; empty for every other."""
    return unit_symbol(parse_unit(end.unit).dimension) if isinstance(end, nodes.Number) and end.unit else ""


def _write_end(end: nodes.Expression | None, value: Any, unit: str) -> str:
    """A literal as it is spelled; of an expression its value."""
    return end.spelling if isinstance(end, nodes.Number) else _amount(value, unit)


def _amount(value: Any, unit: str) -> str:
    return format_quantity(value, unit, digits=6) if unit else format_number(value)
