"""Exact arithmetic: int and Fraction until an operand is a float, or until a number would have more than 4096 bits.

Every rule returns a settled number (see `normalise_number`) or raises `DomainError` with the reason in the user's
words.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

Number = int | Fraction | float

EXACT_BITS = 4096  # an exact number longer than this becomes a float: `9^9^9^9` must be refused at once, not computed

_GIANT = 1 << EXACT_BITS

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}

TOO_LARGE = "overflow: the value is too large for a floating-point number"


class DomainError(ArithmeticError):
    """An operation has no value for its operands; the text says why."""


def normalise_number(value: Number) -> Number:
    """The canonical form of a number: whole fractions as int, very long ones as float; never nan or infinity."""
    if isinstance(value, float):
        if value - value == 0.0:
            return value
        raise DomainError(TOO_LARGE)
    if isinstance(value, Fraction):
        numerator, denominator = value.numerator, value.denominator
        if denominator != 1:
            return value if -_GIANT < numerator < _GIANT and denominator < _GIANT else to_float(value)
        value = numerator
    return value if -_GIANT < value < _GIANT else to_float(value)


def to_float(value: Number) -> float:
    """The nearest float; raises DomainError beyond the largest one."""
    try:
        return float(value)
    except OverflowError:
        raise DomainError(TOO_LARGE) from None


def add_exactly(left: Number, right: Number) -> Number:
    try:
        return normalise_number(left + right)
    except OverflowError:
        raise DomainError(TOO_LARGE) from None


def multiply_exactly(left: Number, right: Number) -> Number:
    try:
        return normalise_number(left * right)
    except OverflowError:
        raise DomainError(TOO_LARGE) from None


def divide(left: Number, right: Number) -> Number:
    """Quotient, exact for exact operands: 1/3 is a Fraction."""
    if right == 0:
        raise DomainError("division by zero")
    try:
        if type(left) is int and type(right) is int:
            return normalise_number(Fraction(left, right))
        return normalise_number(left / right)
    except OverflowError:
        raise DomainError(TOO_LARGE) from None


def raise_to_power(base: Number, exponent: Number) -> Number:
    """`base ^ exponent`, exact for exact bases and whole exponents within the size bound; 0^0 is 1."""
    if base == 0 and exponent < 0:
        raise DomainError(f"division by zero: 0 to the power of {format_number(exponent)}")
    if isinstance(exponent, int) and not isinstance(base, float) and _is_power_in_bounds(base, exponent):
        if isinstance(base, int) and exponent < 0:
            return normalise_number(Fraction(1, base**-exponent))
        return normalise_number(base**exponent)
    if isinstance(exponent, Fraction) and isinstance(base, int | Fraction) and (root := _exact_root(base, exponent)):
        return raise_to_power(root, exponent.numerator)
    if isinstance(exponent, Fraction) and type(base) is float and (whole := _whole_root(base, exponent.denominator)):
        return raise_to_power(whole, exponent.numerator)
    if base < 0 and exponent != math.floor(exponent):
        raise DomainError(
            f"{format_number(base)} to the power of {format_number(exponent)}: a negative base needs a whole exponent"
        )
    try:
        return normalise_number(to_float(base) ** to_float(exponent))
    except OverflowError:
        raise DomainError(TOO_LARGE) from None


def _exact_root(base: int | Fraction, exponent: Fraction) -> Fraction | None:
    """The root of the exponent's denominator, if it is exact: 8^(1/3) is 2. None for numbers too large to check in
    floating point."""
    if base <= 0 or max(base.numerator, base.denominator) >= LARGEST_EXACT_POWER:
        return None
    degree = exponent.denominator
    above, below = (round(part ** (1 / degree)) for part in (base.numerator, base.denominator))
    exact = above**degree == base.numerator and below**degree == base.denominator
    return Fraction(above, below) if exact else None


def _whole_root(base: float, degree: int) -> float | None:
    """The root of a float that is a whole power: 1e6^(1/3) is 100, as that of the whole number is."""
    if not 0 < base < LARGEST_EXACT_POWER or degree > LARGEST_DEGREE:
        return None
    near = round(base ** (1 / degree))
    return float(near) if near**degree == base else None


LARGEST_DEGREE = 52  # the highest degree whose root of a whole number below `LARGEST_EXACT_POWER` is more than 1

LARGEST_EXACT_POWER = 2**52
"""Whole numbers below it are exact in floating point, and rounding gives the exact roots of whole powers."""


def _is_power_in_bounds(base: int | Fraction, exponent: int) -> bool:
    """Whether the exact power may be computed: a number of b bits is at least 2^(b-1), so less than twice the bound."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
    return bits * abs(exponent) <= EXACT_BITS


def remainder(left: Number, right: Number) -> Number:
    """left - right * floor(left / right): it has the sign of the divisor, as in Python."""
    if right == 0:
        raise DomainError("division by zero: a remainder needs a divisor other than 0")
    try:
        return normalise_number(left % right)
    except OverflowError:
        raise DomainError(TOO_LARGE) from None


def natural_logarithm(value: Number) -> Number:
    return 0 if _require_positive(value) == 1 and not isinstance(value, float) else _float_logarithm(math.log, value)


def binary_logarithm(value: Number) -> Number:
    """Logarithm to base 2, exact for whole powers of two: log2(1/8) is -3."""
    _require_positive(value)
    if not isinstance(value, float):
        top, bottom = value.numerator, value.denominator
        if top & (top - 1) == 0 and bottom & (bottom - 1) == 0:
            return top.bit_length() - bottom.bit_length()
    return _float_logarithm(math.log2, value)


def decimal_logarithm(value: Number) -> Number:
    """Logarithm to base 10, exact for whole powers of ten."""
    _require_positive(value)
    result = _float_logarithm(math.log10, value)
    if type(value) is not float and raise_to_power(10, round(result)) == value:
        return round(result)
    return result


def _float_logarithm(function: Callable[[Any], float], value: Number) -> float:
    """Python takes the logarithm of any int, but converts a fraction to float first, which may overflow."""
    if type(value) is Fraction:
        return function(value.numerator) - function(value.denominator) if not _is_moderate(value) else function(value)
    return function(value)


def _is_moderate(value: Fraction) -> bool:
    return abs(value.numerator.bit_length() - value.denominator.bit_length()) < 1000


def _require_positive(value: Number) -> Number:
    if value <= 0:
        raise DomainError(f"logarithm of {format_number(value)}: the argument must be positive")
    return value


def exponential(value: Number) -> Number:
    if value == 0 and type(value) is not float:
        return 1
    try:
        return normalise_number(math.exp(value))
    except OverflowError:
        raise DomainError(f"overflow: exp({format_number(value)}) is too large for a floating-point number") from None


def square_root(value: Number) -> Number:
    """Square root, exact for squares of exact numbers."""
    if value < 0:
        raise DomainError(f"square root of {format_number(value)}")
    if not isinstance(value, float):
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if top * top == value.numerator and bottom * bottom == value.denominator:
            return normalise_number(Fraction(top, bottom))
    return math.sqrt(to_float(value))


def interpolate(values: tuple[Number, ...], sizes: tuple[Number, ...], x: Number) -> Number:
    """The line through the points (sizes[i], values[i]), extended beyond both ends; a single point gives a constant."""
    check_points(values, sizes)
    if len(sizes) == 1:
        return values[0]
    left = min(max(bisect_right(sizes, x) - 1, 0), len(sizes) - 2)
    run, rise = add_exactly(sizes[left + 1], -sizes[left]), add_exactly(values[left + 1], -values[left])
    return add_exactly(values[left], divide(multiply_exactly(rise, add_exactly(x, -sizes[left])), run))


def check_points(values: tuple[Number, ...], sizes: tuple[Number, ...]) -> None:
    """Raises DomainError unless there is one value for each size and the sizes increase."""
    if type(values) is not tuple or type(sizes) is not tuple:
        raise DomainError("lookup takes two arrays and a number: the values, their sizes, and the size asked for")
    if len(values) != len(sizes) or not sizes:
        raise DomainError(f"lookup needs as many values as sizes, and has {len(values)} and {len(sizes)}")
    for lower, upper in pairwise(sizes):
        if lower >= upper:
            raise DomainError(
                f"lookup needs sizes that increase, and {format_number(upper)} follows {format_number(lower)}"
            )


def format_number(value: Number) -> str:
    """A number as a message shows it: at most 6 digits after a decimal point."""
    if type(value) is int and abs(value) < 10**15:
        return str(value)
    try:
        return f"{float(value):g}"
    except OverflowError:
        return "a number beyond 10^308"


MOST_RANKS = 10**12  # all numbers up to the root of the ranks are tried: a million

MOST_DIMENSIONS = 6


def process_grid(ranks: Number, dimensions: Number, axis: Number) -> Number:
    """The ranks along one axis, counted from 0, of a grid of `dimensions` dimensions: `grid(12, 2, 0)` is 4."""
    count = _require_whole(ranks, "the ranks of a grid", 1, MOST_RANKS)
    many = _require_whole(dimensions, "the dimensions of a grid", 1, MOST_DIMENSIONS)
    return factor_evenly(count, many)[_require_whole(axis, "the axis of a grid", 0, many - 1)]


def _require_whole(value: Number, role: str, least: int, most: int) -> int:
    if not least <= value <= most or int(value) != value:
        raise DomainError(f"{role} must be a whole number from {least:,} to {most:,}, not {format_number(value)}")
    return int(value)


@lru_cache(maxsize=4096)
def factor_evenly(number: int, many: int) -> tuple[int, ...]:
    """`many` factors that are as equal as can be, the largest first."""
    factors = _find_factors(number, many, number, divisors(number))
    assert factors is not None, "the number itself and ones are factors"
    return factors


def _find_factors(number: int, many: int, largest: int, candidates: list[int]) -> tuple[int, ...] | None:
    """The first factorisation in the order of the module whose factors are no larger than `largest`."""
    if many == 1:
        return (number,) if number <= largest else None
    for factor in candidates:
        if factor > largest:
            break
        if number % factor == 0 and factor**many >= number:
            others = _find_factors(number // factor, many - 1, factor, candidates)
            if others is not None:
                return (factor, *others)
    return None


def divisors(number: int) -> list[int]:
    """Divisors of a whole number, the smallest first."""
    small, divisor = [], 1
    while divisor * divisor <= number:
        if number % divisor == 0:
            small.append(divisor)
        divisor += 1
    return small + [number // divisor for divisor in reversed(small) if divisor * divisor != number]


MOST_DIGITS = 20  # a decimal with more significant digits is written as a quotient
_PLAIN_ABOVE, _PLAIN_BELOW = -4, 8  # powers of ten between which a number is written without an exponent


def decimal_digits(value: int | Fraction) -> tuple[int, int] | None:
    """(digits, exponent) with value = digits * 10^exponent, digits not divisible by 10; None if the decimal is not
    finite."""
    bottom = value.denominator
    twos = (bottom & -bottom).bit_length() - 1
    fives, rest = 0, bottom >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest != 1:
        return None
    places = max(twos, fives)
    digits, exponent = value.numerator * (10**places // bottom), -places
    while digits and digits % 10 == 0:
        digits, exponent = digits // 10, exponent + 1
    return digits, exponent


def _write_mantissa(digits: int, exponent: int) -> tuple[str, int]:
    """Mantissa and exponent of a decimal: (`1.07`, -6) for 107 * 10^-8."""
    text = str(digits)
    return text[0] + ("." + text[1:] if len(text) > 1 else ""), exponent + len(text) - 1


def _write_plain_decimal(digits: int, exponent: int) -> str | None:
    """Decimal text without an exponent, if the number is neither too small nor too large for that."""
    text = str(digits)
    if not _PLAIN_ABOVE <= exponent + len(text) - 1 <= _PLAIN_BELOW:
        return None
    if exponent >= 0:
        return text + "0" * exponent
    padded = text.rjust(1 - exponent, "0")
    return padded[:exponent] + "." + padded[exponent:]


def _format_numeral(value: Number, scientific: str, quotient: str) -> tuple[str, bool]:
    if isinstance(value, float):
        mantissa, _, power = repr(value).partition("e")
        return scientific.format(mantissa, int(power)) if power else mantissa, True
    parts = decimal_digits(value)
    if parts is None or (len(str(parts[0])) > MOST_DIGITS and value.denominator != 1):
        return quotient.format(value.numerator, value.denominator), False
    digits, exponent = parts
    plain = _write_plain_decimal(digits, exponent)
    if plain is None and (exponent < 0 or exponent >= 6):
        return scientific.format(*_write_mantissa(digits, exponent)), True
    return plain or str(value), True


def aspen_numeral(value: Number) -> tuple[str, bool]:
    return _format_numeral(value, "{}e{}", "{}/{}")


def latex_numeral(value: Number) -> tuple[str, bool]:
    text, _ = _format_numeral(value, r"{} \cdot 10^{{{}}}", r"\frac{{{}}}{{{}}}")
    return text, "cdot" not in text


def float_numeral(value: Number) -> str:
    """The nearest double, with as many digits as C and Python need to read it back exactly; raises OverflowError beyond
    the largest."""
    return repr(float(value))
