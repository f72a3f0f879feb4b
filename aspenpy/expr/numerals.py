"""Numbers as text, exactly: a short finite decimal if there is one, else a quotient.

Each function takes a number that is not negative; the flag says whether the text is a single factor, which needs no
parentheses.
"""

from __future__ import annotations

from fractions import Fraction

from aspenpy.expr.arithmetic import Number

MOST_DIGITS = 20  # a decimal with more significant digits is written as a quotient
_PLAIN_ABOVE, _PLAIN_BELOW = -4, 15  # powers of ten between which a number is written without an exponent


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


def _mantissa(digits: int, exponent: int) -> tuple[str, int]:
    """(`1.07`, -6) for 107 * 10^-8."""
    text = str(digits)
    return text[0] + ("." + text[1:] if len(text) > 1 else ""), exponent + len(text) - 1


def _plain_decimal(digits: int, exponent: int) -> str | None:
    """Without an exponent, if the number is neither too small nor too large for that."""
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
    plain = _plain_decimal(digits, exponent)
    if plain is None and (exponent < 0 or exponent >= 6):
        return scientific.format(*_mantissa(digits, exponent)), True
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
