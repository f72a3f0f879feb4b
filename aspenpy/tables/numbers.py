"""Numbers as a reader wants them: few digits, a unit of the right size."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from aspenpy.expr.arithmetic import aspen_numeral, decimal_digits
from aspenpy.language.dimensions import format_quantity
from aspenpy.record import NamedTuple

Real = int | Fraction | float

RESOURCE_UNITS = dict.fromkeys(("loads", "stores", "bytes", "messages", "intracomm", "read", "write"), "B") | {
    "flops": "flop"
}
"""What the amounts of resources are counted in; others are plain numbers."""


class Amount(NamedTuple):
    """An amount in a base unit, for columns in which every row has a unit of its own. An array has none."""

    value: Any
    unit: str


def unit_of_resource(resource: str) -> str:
    """The base unit of a resource's amount; empty for a plain number. `memory.resource`, of one of several memories,
    and names such as `dram_loads` are counted as the resource they end with."""
    return RESOURCE_UNITS.get(resource.rpartition(".")[2].rpartition("_")[2], "")


def format_amount(cell: Amount) -> str:
    """`23.1 Gflop`; plain numbers as `format_count` has them."""
    return format_quantity(cell.value, cell.unit) if cell.unit else format_count(cell.value)


def format_setting_with_unit(cell: Amount) -> str:
    """`3.5 GHz`; what has no unit as it could be given to `--set`."""
    return format_quantity(cell.value, cell.unit) if cell.unit else format_setting(cell.value)


def make_formatter(unit: str) -> Callable[[Real], str]:
    """A reader of numbers in a base unit, such as `831 ms`."""
    return lambda value: format_quantity(value, unit)


seconds = make_formatter("s")


def format_count(value: Real) -> str:
    """A count as `1,280`, `2.5` or `3.2e+18`."""
    if -(10**15) < value < 10**15 and value == int(value):
        return f"{int(value):,}"
    return format_quantity(value, "", 6)


def count_of(number: Real, noun: str) -> str:
    """`1 rank`, `1,280 ranks`."""
    return f"{format_count(number)} {noun}{'' if number == 1 else 's'}"


def format_expected(value: Real) -> str:
    """An expected count, which need not be whole."""
    return format_count(round(value)) if value >= 100 else f"{float(value):.3g}"


def format_ratio(value: Real) -> str:
    """A ratio in three digits."""
    return f"{float(value):.3g}"


def format_share(value: float) -> str:
    """A part of the whole (0 to 1) as a percentage."""
    if 0 < value < 0.0005:
        return "<0.1 %"
    return f"{100 * value:.1f} %"


MOST_DIGITS = 6  # of a large round number that is written with a power of a thousand: `6.8e9`, but `1234567891`
LONGEST_NUMBER = 24  # characters of an exact number; a longer one is rounded
LONGEST_SETTING = 60  # characters of a parameter's value


def format_setting(value: Any) -> str:
    """A parameter's value as it could be given to `--set`; a long one ends with an ellipsis."""
    text = _format_uncut(value)
    return text if len(text) <= LONGEST_SETTING else text[: LONGEST_SETTING - 3] + "..."


def _format_uncut(value: Any) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(_format_uncut, value[:LONGEST_SETTING])) + "}"
    if value < 0:
        return "-" + _format_uncut(-value)
    if isinstance(value, float):
        return f"{value:.10g}"
    digits, exponent = decimal_digits(value) or ("", 0)
    size = exponent + len(str(digits)) - 1
    if digits and not -3 <= size < 6 and len(str(digits)) <= MOST_DIGITS:
        thousands = 3 * (size // 3)
        return f"{float(value / Fraction(10) ** thousands):g}e{thousands}"
    text = aspen_numeral(value)[0]
    return text if len(text) <= LONGEST_NUMBER else format_quantity(value, "", 6)


def plain_number(value: Any) -> Any:
    """The number as JSON and CSV can hold it: whole ones as they are, fractions as the nearest float, or the whole
    number below where they are beyond all floats."""
    if isinstance(value, tuple):
        return [plain_number(element) for element in value]
    try:
        return float(value) if isinstance(value, Fraction) else value
    except OverflowError:
        return int(value)
