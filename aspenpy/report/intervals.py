"""The interval in which nine of ten such cases lie, in words and as data."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.expected_error import COVERAGE, UNKNOWN_SHARE, ExpectedError
from aspenpy.tables.numbers import format_share, make_formatter


def interval_rows(expected: ExpectedError, value: float, unit: str, where: str = "") -> list[tuple[str, str]]:
    """The interval around a value in which nine of ten such cases lie, or why none is known."""
    return (
        [("expected", f"{describe_interval(expected, value, unit)}{where}{_describe_cases(expected)}")] if value else []
    )


def describe_interval(expected: ExpectedError, value: float, unit: str) -> str:
    """`640 ms to 1.1 s`."""
    ends = expected.around(value)
    return "no interval" if ends is None else " to ".join(map(make_formatter(unit), ends))


def _describe_cases(expected: ExpectedError) -> str:
    """The classes of the cases, by their share of the runtime."""
    if expected.low is None:
        named = [f"{name} ({format_share(share)} of runtime)" for name, share in expected.unknown.items()]
        return f"; never compared with runs: {', '.join(named)}"
    names = [name for name, share in expected.classes.items() if share >= UNKNOWN_SHARE]
    return f" in nine of ten cases bound by {' and '.join(names)}"


def interval_as_data(expected: ExpectedError, value: float) -> dict[str, Any]:
    """The ends of the interval, in the unit of the value, with the shares of classes."""
    low, high = expected.around(value) or (None, None)
    return {
        "low": low,
        "high": high,
        "coverage": COVERAGE,
        "classes": dict(expected.classes),
        "compared_with_nothing": dict(expected.unknown),
    }
