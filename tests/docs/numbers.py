"""Printed text compared by what it says: words exactly, numbers by value.

Processors and versions of NumPy round the last digit of a number otherwise. A number with a point or an exponent may
differ by one in its last digit, or by 1e-6 of itself; a whole number of less than six digits may not differ. A digit
more or less moves the columns of a table, so that runs of blanks and of rules count as one.
"""

from __future__ import annotations

import re
from decimal import Decimal

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])|(?<![\w.])\d+\.\d+(?=[a-zA-Z%])")
FILLING = re.compile(r" {2,}|[─━═-]{3,}")
EXACT_DIGITS = 6
RELATIVE = Decimal("1e-6")


def said(text: str) -> tuple[str, list[str]]:
    """The words, with `#` where a number stands, and the numbers."""
    lines = (FILLING.sub(lambda found: found[0][:2], line).rstrip() for line in text.split("\n"))
    plain = "\n".join(re.sub(r" {2,}", " ", line) for line in lines)
    return NUMBER.sub("#", plain), NUMBER.findall(plain)


def equal(one: str, other: str) -> bool:
    """Whether two numbers, as they are printed, are the same but for rounding."""
    first, second = Decimal(one), Decimal(other)
    if one.isdigit() and other.isdigit() and min(len(one), len(other)) < EXACT_DIGITS:
        return first == second
    return abs(first - second) <= max(unit(first), unit(second), RELATIVE * abs(second))


def unit(number: Decimal) -> Decimal:
    """One in the last digit that is printed."""
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return Decimal(1).scaleb(exponent)


def same(fresh: str, kept: str) -> bool:
    (words, numbers), (old_words, old_numbers) = said(fresh), said(kept)
    return words == old_words and all(map(equal, numbers, old_numbers))


def compare(fresh: str, kept: str) -> None:
    """Fails with the lines that say something else."""
    if not same(fresh, kept):
        lines, old = fresh.split("\n"), kept.split("\n")
        if len(lines) == len(old):  # leave what is equal out of the report
            lines = [mine if same(new, mine) else new for new, mine in zip(lines, old, strict=True)]
        assert lines == old
