"""Units, prefixes, the algebra of dimensions, and amounts as people read them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from aspenpy.language.dimensions import (
    BYTES,
    DIMENSIONLESS,
    FLOPS,
    HERTZ,
    JOULES,
    MESSAGES,
    PREFIXES,
    SECONDS,
    UNITS,
    WATTS,
    Dimension,
    describe_dimension,
    format_quantity,
    parse_unit,
    unit_symbol,
)

POWERS = {"p": -12, "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_POWERS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50}

WRITTEN_OUT = {
    BYTES: "B kB MB GB TB PB EB KiB MiB GiB TiB PiB",
    FLOPS: "flop kflop Mflop Gflop Tflop Pflop Eflop",
    MESSAGES: "message messages msg",
    SECONDS: "ps ns us ms s min h",
    JOULES: "pJ nJ uJ mJ J kJ MJ GJ",
    WATTS: "uW mW W kW MW GW",
    HERTZ: "Hz kHz MHz GHz THz",
}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefix(prefix: str) -> None:
    expected = 2 ** BINARY_POWERS[prefix] if prefix in BINARY_POWERS else Fraction(10) ** POWERS[prefix]
    assert PREFIXES[prefix] == expected


@pytest.mark.parametrize(
    ("dimension", "unit"), [(d, unit) for d, units in WRITTEN_OUT.items() for unit in units.split()]
)
def test_unit_has_its_dimension(dimension: Dimension, unit: str) -> None:
    assert UNITS[unit].dimension == dimension


def test_no_unit_is_missing_from_this_test() -> None:
    assert sorted(UNITS) == sorted(" ".join(WRITTEN_OUT.values()).split())


@pytest.mark.parametrize(
    ("unit", "size"),
    [
        *[("GB", 10**9), ("kB", 1000), ("KiB", 1024), ("EB", 10**18), ("PiB", 2**50), ("Tflop", 10**12)],
        *[("min", 60), ("h", 3600), ("us", Fraction(1, 10**6)), ("msg", 1), ("messages", 1), ("MW", 10**6)],
        *[("GB/s", 10**9), ("nJ/B", Fraction(1, 10**9)), ("W/GHz", Fraction(1, 10**9)), ("B/h", Fraction(1, 3600))],
    ],
)
def test_unit_has_its_size(unit: str, size: int | Fraction) -> None:
    assert parse_unit(unit).size == size


@pytest.mark.parametrize("text", ["", "b", "gb", "GB/", "GB/x", "GB/s/s", "kHzs"])
def test_what_is_no_unit(text: str) -> None:
    with pytest.raises(KeyError):
        parse_unit(text)


def test_laws_of_dimensions() -> None:
    assert BYTES / (BYTES / SECONDS) == SECONDS
    assert SECONDS * WATTS == JOULES
    assert parse_unit("W/Hz").dimension == JOULES
    assert HERTZ * SECONDS == DIMENSIONLESS
    assert (SECONDS**-2) * SECONDS == HERTZ
    assert (BYTES**2) ** Fraction(1, 2) == BYTES


@pytest.mark.parametrize(
    ("dimension", "word"),
    [
        (DIMENSIONLESS, "a plain number"),
        (BYTES, "bytes"),
        (WATTS, "watts"),
        (HERTZ, "hertz"),
        (BYTES / SECONDS, "B/s"),
        (JOULES / FLOPS, "J/flop"),
        (SECONDS**-2, "1/s^2"),
        (BYTES ** Fraction(1, 2), "B^(1/2)"),
        (JOULES / (BYTES * SECONDS), "J/(B*s)"),
    ],
)
def test_words_for_a_dimension(dimension: Dimension, word: str) -> None:
    assert describe_dimension(dimension) == str(dimension) == word


def test_symbols_of_base_units() -> None:
    assert [unit_symbol(each) for each in (DIMENSIONLESS, BYTES, WATTS, HERTZ)] == ["", "B", "W", "Hz"]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00183, "s", "1.83 ms"),
        (0, "s", "0 s"),
        (1, "s", "1 s"),
        (-5e-7, "s", "-500 ns"),
        (0.9999996, "s", "1 s"),
        (999.6e-6, "s", "1 ms"),
        (119, "s", "119 s"),
        (120, "s", "2 min"),
        (7199, "s", "120 min"),
        (730 * 86400, "s", "730 d"),
        (2 * 365.25 * 86400, "s", "2 years"),
        (365.25 * 86400 * 3.5e10, "s", "35,000,000,000 years"),
        (1.42e-12, "B", "1.42e-12 B"),
        (0.25, "flop", "0.25 flop"),
        (0.25, "B/s", "0.25 B/s"),
        (0.25, "s", "250 ms"),
        (8640, "s", "2.4 h"),
        (200_000, "s", "2.31 d"),
        (1e-15, "s", "0.001 ps"),
        (3.2e9, "B/s", "3.2 GB/s"),
        (Fraction(1, 8), "B/s", "0.125 B/s"),
        (12.1e9, "flop", "12.1 Gflop"),
        (1e25, "B", "10,000,000 EB"),
        (1e-9, "J/B", "1 nJ/B"),
        (90, "W", "90 W"),
        (12345, "message", "12,345 message"),
        (10.25, "message/s", "10.2 message/s"),
        (2.5, "", "2.5"),
        (123456789, "", "123,456,789"),
        (1e12, "", "1e+12"),
        (1 / 3, "", "0.333"),
        (0.0000123456, "", "0.0000123"),
        (float("inf"), "s", "inf s"),
        (10**400, "", "1e+400"),
    ],
)
def test_amounts_as_people_read_them(value: float | Fraction, unit: str, text: str) -> None:
    assert format_quantity(value, unit) == text


def test_as_many_digits_as_asked_for() -> None:
    assert format_quantity(0.001834567, "s", digits=5) == "1.8346 ms"
