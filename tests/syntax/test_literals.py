"""Numbers, quantities and strings."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.nodes import Number
from aspenpy.language.parser import parse_expression
from aspenpy.language.tokens import LARGEST_EXPONENT, LONGEST_NUMBER, read_string, write_string


def read(text: str) -> Number:
    tree = parse_expression(text)
    assert isinstance(tree, Number)
    return tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("9007199254740993", 9007199254740993),
        ("1.", 1),
        (".5", Fraction(1, 2)),
        ("0.1", Fraction(1, 10)),
        ("1.e3", 1000),
        ("1E+3", 1000),
        ("1e-3", Fraction(1, 1000)),
        ("1.25e1", Fraction(25, 2)),
        ("2.5e-1", Fraction(1, 4)),
        ("1.50", Fraction(3, 2)),
    ],
)
def test_a_number_is_exact_and_keeps_its_spelling(text: str, value: int | Fraction) -> None:
    number = read(text)
    assert (number.value, type(number.value), number.spelling, number.unit) == (value, type(value), text, None)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=0))
def test_numbers_are_what_fractions_take_them_for(decimal: object) -> None:
    text = str(decimal)
    assert read(text).value == Fraction(text)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("25.6 GB/s", 25_600_000_000, "GB/s"),
        ("2.8 GHz", 2_800_000_000, "GHz"),
        ("90 W", 90, "W"),
        ("64KiB", 65_536, "KiB"),
        ("64 KiB", 65_536, "KiB"),
        ("1.07 us", Fraction(107, 100_000_000), "us"),
        ("20 nJ/B", Fraction(2, 100_000_000), "nJ/B"),
        ("4 flop", 4, "flop"),
        ("2e3 flop/s", 2000, "flop/s"),
        ("1e3s", 1000, "s"),
        ("3 W/GHz", Fraction(3, 1_000_000_000), "W/GHz"),
        ("1 B/min", Fraction(1, 60), "B/min"),
        ("2EB", 2 * 10**18, "EB"),
    ],
)
def test_a_quantity_is_in_base_units(text: str, value: int | Fraction, unit: str) -> None:
    assert read(text) == Number(value, text, unit)


@pytest.mark.parametrize(
    "text", ["3 sockets", "3 GBs", "3  GB", "3 gb", "3 b", "3 s(1)", "3 GB_", "3 KB", "3 Kib", "3\nGB"]
)
def test_a_number_and_another_word_are_no_quantity(text: str) -> None:
    with pytest.raises(AspenError):
        parse_expression(text)


def test_a_quantity_ends_where_no_unit_follows() -> None:
    assert parse_expression("6 B/x").rest[0][0] == "/"  # type: ignore[union-attr]
    assert parse_expression("6 B / s").rest[0][0] == "/"  # type: ignore[union-attr]
    assert parse_expression("2 s*n").first == Number(2, "2 s", "s")  # type: ignore[union-attr]


def test_limits_of_numbers() -> None:
    assert read("9" * LONGEST_NUMBER).value == 10**LONGEST_NUMBER - 1
    assert read(f"1e{LARGEST_EXPONENT}").value == 10**LARGEST_EXPONENT
    for text in ("9" * (LONGEST_NUMBER + 1), f"1e{LARGEST_EXPONENT + 1}", "1e-401", "1e" + "9" * 1000, "1e99999999 GB"):
        with pytest.raises(AspenError):
            parse_expression(text)


@given(st.text())
def test_strings_are_read_as_they_were_written(text: str) -> None:
    assert read_string(write_string(text)) == text


def test_escapes_of_strings() -> None:
    assert read_string(r'"a\"b"') == 'a"b'
    assert read_string(r'"a\\b"') == r"a\b"
    assert read_string(r'"C:\new"') == r"C:\new"
