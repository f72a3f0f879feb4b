"""Numbers as reports write them, at the values where their form changes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from aspenpy.report import comparison, fit
from aspenpy.report.advice.design_space import compare_values
from aspenpy.tables.numbers import count_of, format_count, format_expected, format_ratio, format_share


@pytest.mark.parametrize(
    ("value", "base", "text"),
    [
        (1.0, 1.0, "the same"), (1.0005, 1.0, "the same"), (0.9995, 1.0, "the same"), (1.001, 1.0, "0.1 % more"),
        (0.999, 1.0, "0.1 % less"), (3.0, 2.0, "50.0 % more"), (1.0, 2.0, "50.0 % less"), (20.0, 10.0, "100.0 % more"),
    ],
)  # fmt: skip
def test_differences(value: float, base: float, text: str) -> None:
    """(value - base)/base; up to half of the last digit is the same."""
    if abs(value - base) == pytest.approx(5e-4 * base):
        value += 1e-9 * (base - value)  # just inside
    assert compare_values(value, base) == text


@pytest.mark.parametrize(
    ("value", "text", "signed"),
    [
        (0.0, "0 %", "0 %"), (9e-13, "0 %", "0 %"), (1e-12, "1e-10 %", "+1e-10 %"), (-1e-12, "-1e-10 %", "-1e-10 %"),
        (0.01234, "1.23 %", "+1.23 %"), (-0.5, "-50 %", "-50 %"), (-9e-13, "0 %", "0 %"),
    ],
)  # fmt: skip
def test_percent_of_a_fit(value: float, text: str, signed: str) -> None:
    assert (fit.three_digits(value), fit.signed_percent(value)) == (text, signed)


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (comparison.format_number, 1234567, "1,234,567"), (comparison.format_number, 1234.5, "1,234.5"),
        (comparison.format_number, Fraction(1, 3), "0.333333333"), (fit.six_digits, 1 / 3, "0.333333"),
        (fit.six_digits, 1234567.0, "1.23457e+06"),
        (format_count, 10**15 - 1, "999,999,999,999,999"), (format_count, 10**15, "1e+15"),
        (format_count, 1 - 10**15, "-999,999,999,999,999"),
        (format_count, 2.5, "2.5"), (format_count, 0, "0"),
        (format_expected, 99.96, "100"), (format_expected, 100.4, "100"),
        (format_expected, 1234.5, "1,234"), (format_expected, 2.345, "2.35"),
        (format_ratio, 1234.5, "1.23e+03"), (format_ratio, 0.12345, "0.123"),
        (format_share, 0.0, "0.0 %"), (format_share, 0.0004999, "<0.1 %"), (format_share, 0.0005, "0.1 %"),
        (format_share, 1, "100.0 %"),
        (format_share, -0.25, "-25.0 %"),
        (lambda value: count_of(value, "rank"), 1, "1 rank"), (lambda value: count_of(value, "rank"), 0, "0 ranks"),
        (lambda value: count_of(value, "rank"), 1280, "1,280 ranks"),
    ],
)  # fmt: skip
def test_written(write: Any, value: Any, text: str) -> None:
    assert write(value) == text
