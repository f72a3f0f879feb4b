"""Numbers as people read them."""

from fractions import Fraction
from typing import Any

import pytest

from aspenpy.tables.numbers import (
    Amount,
    format_amount,
    format_count,
    format_setting,
    format_setting_with_unit,
    format_share,
    plain_number,
    unit_of_resource,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1280.0, "1,280"),
        (2.5, "2.5"),
        (Fraction(1, 3), "0.333333"),
        (10**18, "1e+18"),
        (10**400, "1e+400"),
        (-7, "-7"),
    ],
)
def test_count(value: Any, text: str) -> None:
    assert format_count(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.0 %"), (1.0, "100.0 %"), (0.4567, "45.7 %"), (0.0004, "<0.1 %"), (0.0005, "0.1 %")]
)
def test_share(value: float, text: str) -> None:
    assert format_share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999999, "999999"),
        (10**6, "1e6"),
        (68 * 10**9, "68e9"),
        (3500000000, "3.5e9"),
        (1234567891, "1234567891"),
        (Fraction(3, 2000000), "1.5e-6"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(10**40, 3), "3.33333e+39"),
        (2.0, "2"),
        (0.1, "0.1"),
        ((1, Fraction(1, 2)), "{1, 0.5}"),
        (((1, 2), (3, 4)), "{{1, 2}, {3, 4}}"),
    ],
)
def test_setting(value: Any, text: str) -> None:
    assert format_setting(value) == text


def test_long_settings_end_with_an_ellipsis() -> None:
    text = format_setting(tuple(range(10**5)))
    assert len(text) == 60
    assert text.startswith("{0, 1, 2, ")
    assert text.endswith("...")


def test_units() -> None:
    assert format_amount(Amount(2.3e10, "flop")) == "23 Gflop"
    assert format_amount(Amount(1280, "")) == "1,280"
    assert format_setting_with_unit(Amount(3500000000, "Hz")) == "3.5 GHz"
    assert format_setting_with_unit(Amount(3500000000, "")) == "3.5e9"
    assert [unit_of_resource(name) for name in ("flops", "loads", "messages", "bytes", "intops")] == [
        "flop",
        "B",
        "B",
        "B",
        "",
    ]


def test_plain() -> None:
    assert plain_number((1, Fraction(1, 4), 0.5)) == [1, 0.25, 0.5]
    assert plain_number(10**30) == 10**30
    assert plain_number(Fraction(10**400, 3)) == 10**400 // 3
