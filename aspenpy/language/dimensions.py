"""Dimensions: bytes, flops, messages, seconds, joules; units, prefixes, and how people read amounts.

Everything a model speaks of is a product of powers of these five: a bandwidth is bytes^1 seconds^-1, a watt
joules^1 seconds^-1, a hertz seconds^-1.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from math import isfinite

from aspenpy.record import NamedTuple, Record


class Dimension(NamedTuple):
    """The exponents of the base units; `*`, `/` and `**` do the algebra."""

    bytes: Fraction | int = 0
    flops: Fraction | int = 0
    messages: Fraction | int = 0
    seconds: Fraction | int = 0
    joules: Fraction | int = 0

    def __mul__(self, other: object) -> Dimension:
        if not isinstance(other, Dimension):
            return NotImplemented
        return Dimension(*(ours + theirs for ours, theirs in zip(self, other, strict=True)))

    def __truediv__(self, other: Dimension) -> Dimension:
        return Dimension(*(ours - theirs for ours, theirs in zip(self, other, strict=True)))

    def __pow__(self, exponent: int | Fraction) -> Dimension:
        return Dimension(*(ours * exponent for ours in self))

    def __str__(self) -> str:
        return describe_dimension(self)


DIMENSIONLESS = Dimension()
BYTES = Dimension(bytes=1)
FLOPS = Dimension(flops=1)
MESSAGES = Dimension(messages=1)
SECONDS = Dimension(seconds=1)
JOULES = Dimension(joules=1)
WATTS = Dimension(joules=1, seconds=-1)
HERTZ = Dimension(seconds=-1)

PREFIXES = {
    "p": Fraction(1, 10**12), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12), "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40), "Pi": Fraction(2**50),
}  # fmt: skip


class UnitFamily(Record):
    """A unit with the prefixes it is written with; `size` is its worth in base units."""

    symbol: str
    dimension: Dimension
    prefixes: tuple[str, ...] = ("",)
    size: int = 1


FAMILIES = (
    UnitFamily("B", BYTES, ("", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi")),
    UnitFamily("flop", FLOPS, ("", "k", "M", "G", "T", "P", "E")),
    UnitFamily("message", MESSAGES),
    UnitFamily("messages", MESSAGES),
    UnitFamily("msg", MESSAGES),
    UnitFamily("s", SECONDS, ("p", "n", "u", "m", "")),
    UnitFamily("min", SECONDS, size=60),
    UnitFamily("h", SECONDS, size=3600),
    UnitFamily("J", JOULES, ("p", "n", "u", "m", "", "k", "M", "G")),
    UnitFamily("W", WATTS, ("u", "m", "", "k", "M", "G")),
    UnitFamily("Hz", HERTZ, ("", "k", "M", "G", "T")),
)


class Unit(Record):
    """Size of one unit, in base units of its dimension."""

    size: Fraction
    dimension: Dimension


UNITS = {
    prefix + family.symbol: Unit(PREFIXES[prefix] * family.size, family.dimension)
    for family in FAMILIES
    for prefix in family.prefixes
}


def carries_units(text: str) -> bool:
    """Whether there can be a unit literal in a text: what one looks like at least."""
    return re.search(r"[0-9.] ?[A-Za-z]", text) is not None


def parse_unit(text: str) -> Unit:
    """The unit a text names: one of `UNITS`, or one per another (`GB/s`). KeyError for anything else."""
    above, per, below = text.partition("/")
    if not per:
        return UNITS[above]
    numerator, denominator = UNITS[above], UNITS[below]
    return Unit(numerator.size / denominator.size, numerator.dimension / denominator.dimension)


# -- in words --------------------------------------------------------------------------------------

_NAMED = {
    DIMENSIONLESS: "a plain number", BYTES: "bytes", FLOPS: "flop", MESSAGES: "messages",
    SECONDS: "seconds", JOULES: "joules", WATTS: "watts", HERTZ: "hertz",
}  # fmt: skip

_SYMBOLS = ("B", "flop", "message", "s", "J")  # of the base units, in the order of the fields of `Dimension`


def describe_dimension(dimension: Dimension) -> str:
    """Words of a message for a dimension: "bytes", "B/s", "a plain number"."""
    return _NAMED.get(dimension) or unit_symbol(dimension)


def unit_symbol(dimension: Dimension) -> str:
    """The base unit of a dimension: "B/s", "W", "flop/J", "1/s^2"; empty for a plain number."""
    for named, text in ((WATTS, "W"), (HERTZ, "Hz")):
        if dimension == named:
            return text
    above = [_write_power(base, exponent) for base, exponent in zip(_SYMBOLS, dimension, strict=True) if exponent > 0]
    below = [_write_power(base, -exponent) for base, exponent in zip(_SYMBOLS, dimension, strict=True) if exponent < 0]
    if not below:
        return "*".join(above)
    denominator = below[0] if len(below) == 1 else f"({'*'.join(below)})"
    return f"{'*'.join(above) or '1'}/{denominator}"


def _write_power(base: str, exponent: Fraction | int) -> str:
    return base if exponent == 1 else f"{base}^{exponent}" if exponent.denominator == 1 else f"{base}^({exponent})"


# -- as people read amounts ------------------------------------------------------------------------

_LONG_TIMES = tuple(
    (Fraction(2 * size), name, size) for name, size in (("years", 31557600), ("d", 86400), ("h", 3600), ("min", 60))
)
"""Units of a time from two of them on; a year has 365.25 days."""

_DECIMAL_PREFIXES = sorted(
    ((size, prefix) for prefix, size in PREFIXES.items() if not prefix.endswith("i")), reverse=True
)


def format_quantity(value: float | Fraction, unit: str = "", digits: int = 3) -> str:
    """A value in base units as people read it: `format_quantity(0.00183, "s")` is "1.83 ms".

    `unit` is a base unit, or one per another ("B/s"); its first part takes the prefix.
    """
    if isinstance(value, float) and not isfinite(value):
        return f"{value} {unit}".rstrip()
    exact = Fraction(value)
    if unit == "s":
        for least, name, size in _LONG_TIMES:
            if abs(exact) >= least:
                return f"{_format_decimal(_round_to_digits(exact / size, digits))} {name}"
    if unit.partition("/")[0] not in _PREFIXED:
        whole = abs(exact) >= 10**digits
        return f"{_format_decimal(Decimal(round(exact)) if whole else _round_to_digits(exact, digits))} {unit}".rstrip()
    of_prefix, prefixed = prefixed_unit(exact, unit, digits)
    return f"{_format_decimal(_round_to_digits(exact / of_prefix, digits))} {prefixed}"


def prefixed_unit(value: float | Fraction, unit: str, digits: int = 3) -> tuple[Fraction, str]:
    """The unit that a value in base units is read in, and how many base units that is: of 2.6e9 Hz, 10^9 and GHz."""
    first = unit.partition("/")[0]
    if first not in _PREFIXED or not isfinite(value):
        return Fraction(1), unit
    size, prefix = _choose_prefix(Fraction(_round_to_digits(Fraction(value), digits)), first in _DIVISIBLE)
    return size, f"{prefix}{unit}"


_PREFIXED = frozenset(family.symbol for family in FAMILIES if len(family.prefixes) > 1)

_DIVISIBLE = frozenset(family.symbol for family in FAMILIES if "m" in family.prefixes)
"""Units that come in thousandths; there is no such thing as a millibyte."""


def _choose_prefix(value: Fraction, divisible: bool) -> tuple[Fraction, str]:
    """The largest prefix that leaves at least 1, or the smallest there is; none for 0."""
    if not value or (abs(value) < 1 and not divisible):
        return Fraction(1), ""
    return next((entry for entry in _DECIMAL_PREFIXES if abs(value) >= entry[0]), _DECIMAL_PREFIXES[-1])


def _round_to_digits(value: Fraction, digits: int) -> Decimal:
    return Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))


def _format_decimal(value: Decimal) -> str:
    """A number without trailing zeros; as a power of ten where it would be long."""
    if 1000 <= abs(value) < 10**12:
        return f"{int(value):,}"
    plain = f"{value.normalize():f}"
    return plain if len(plain) <= LONGEST_PLAIN_NUMBER else f"{_round_to_digits(Fraction(value), 6).normalize():e}"


LONGEST_PLAIN_NUMBER = 10  # characters of a number that is not shown as a power of ten
