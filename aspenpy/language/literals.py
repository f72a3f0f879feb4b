"""Literals: the value of a number, a quantity or a string as it is spelled."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from aspenpy.language.dimensions import parse_unit

LONGEST_NUMBER = 4_000  # characters of a number: converting more takes quadratic time, and nobody can read them
LARGEST_EXPONENT = 400  # behind `e`; a floating-point number ends at about 308


class LiteralError(ValueError):
    """A literal that is not accepted; the text says why in the user's words."""


@lru_cache(maxsize=4096)
def read_number(spelling: str) -> int | Fraction:
    """The exact value: an int where it is one, a Fraction elsewhere."""
    if len(spelling) > LONGEST_NUMBER:
        raise LiteralError(f"this number is {len(spelling):,} characters long; {LONGEST_NUMBER:,} are the most")
    if spelling.isdigit():
        return int(spelling)
    mantissa, _, exponent = spelling.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    if len(exponent) > LONGEST_EXPONENT or abs(int(exponent or 0)) > LARGEST_EXPONENT:
        raise LiteralError(f"the exponent of `{_shorten(spelling)}` is beyond {LARGEST_EXPONENT}")
    scale = int(exponent or 0) - len(fraction)
    digits = int(whole + fraction)
    return digits * 10**scale if scale >= 0 else _reduce_fraction(Fraction(digits, 10**-scale))


LONGEST_EXPONENT = 12  # characters of an exponent that are looked at


@lru_cache(maxsize=4096)
def read_quantity(spelling: str) -> tuple[int | Fraction, str]:
    """The value in base units, and the unit as it is spelled."""
    match = re.match(r"([0-9.]++(?:[eE][+-]?[0-9]+)?+) ?(.*)", spelling)
    assert match is not None, f"{spelling!r} is no quantity"
    number, unit = match.groups()
    return _reduce_fraction(read_number(number) * parse_unit(unit).size), unit


def read_string(spelling: str) -> str:
    r"""The text between the quotes; `\"` stands for a quote and `\\` for a backslash."""
    return re.sub(r'\\(["\\])', r"\1", spelling[1:-1])


def write_string(value: str) -> str:
    """The inverse of `read_string`."""
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def _reduce_fraction(value: int | Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _shorten(spelling: str) -> str:
    return spelling if len(spelling) <= 20 else spelling[:9] + "..." + spelling[-8:]
