"""Counts: the whole numbers that a program accepts, such as cubes of ranks, with the nearest below and above any other.

square          1, 4, 9, ...
cube            1, 8, 27, ...
power_of(b)     1, b, b^2, ...
divisor_of(n)   the numbers that divide n
multiple_of(n)  n, 2 n, 3 n, ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from aspenpy.expr.arithmetic import divisors
from aspenpy.record import Record

LARGEST_DIVIDED = 10**12
"""All numbers up to the root of what is divided are tried: a million."""


def whole_root(number: int, degree: int) -> int:
    """The largest whole number whose power is no more than a number from 1 on, by Newton's method from above."""
    root = 1 << -(-number.bit_length() // degree)
    while root**degree > number:
        root = ((degree - 1) * root + number // root ** (degree - 1)) // degree
    return root


_divisors = lru_cache(maxsize=64)(divisors)


def _largest_power_below(base: int, number: int) -> int:
    power = 1
    while base > 1 and power * base <= number:
        power *= base
    return power


_BELOW: dict[str, Callable[[int, int], int]] = {
    "square": lambda _, number: whole_root(number, 2) ** 2,
    "cube": lambda _, number: whole_root(number, 3) ** 3,
    "power_of": _largest_power_below,
    "divisor_of": lambda whole, number: max(each for each in _divisors(whole) if each <= number),
    "multiple_of": lambda unit, number: number // unit * unit,
}
"""The largest accepted number up to a number from 1 on, given the rule's argument; 0 where there is none."""

_NEXT: dict[str, Callable[[int, int], int | None]] = {
    "square": lambda _, accepted: (whole_root(accepted, 2) + 1) ** 2,
    "cube": lambda _, accepted: (whole_root(accepted, 3) + 1) ** 3,
    "power_of": lambda base, accepted: accepted * base if base > 1 else None,
    "divisor_of": lambda whole, accepted: next((each for each in _divisors(whole) if each > accepted), None),
    "multiple_of": lambda unit, accepted: accepted + unit,
}
"""The accepted number after one, or after 0; None behind the last."""

RULES = tuple(_BELOW)
ARGUMENTS = {"power_of": "its base", "divisor_of": "what it divides", "multiple_of": "of what"}
"""The rules with an argument, and what it is."""


class Counts(Record):
    """The numbers that a rule accepts; `argument` is 1 for a rule that has none."""

    rule: str
    argument: int = 1

    def __str__(self) -> str:
        return f"{self.rule}({self.argument})" if self.rule in ARGUMENTS else self.rule

    def describe(self) -> str:
        """In words: "cube numbers", "powers of 2"."""
        kind, _, of = self.rule.partition("_")
        return f"{kind}s {of} {self.argument:,}" if of else f"{kind} numbers"

    def largest_below(self, number: int) -> int | None:
        """The largest of them up to a number from 1 on."""
        return _BELOW[self.rule](self.argument, number) or None

    def smallest_above(self, number: int) -> int | None:
        """The smallest of them from a number from 1 on."""
        accepted = self.largest_below(number) or 0
        return accepted if accepted == number else _NEXT[self.rule](self.argument, accepted)

    def __contains__(self, number: float) -> bool:
        return number >= 1 and number % 1 == 0 and self.largest_below(int(number)) == number

    def nearest_two(self, number: float) -> list[int]:
        """The number itself if it is one of them, else those next to it."""
        whole = max(1, int(number))
        over = self.smallest_above(whole if whole >= number else whole + 1)
        near = [self.largest_below(whole) if number >= 1 else None, over]
        return sorted({each for each in near if each is not None})

    def pick_nearest(self, numbers: Iterable[int], low: int, high: int) -> list[int]:
        """For each number the nearest of them by ratio between two ends, each once."""
        found = set()
        for number in numbers:
            inside = [each for each in self.nearest_two(number) if low <= each <= high]
            if inside:
                found.add(min(inside, key=lambda each: max(each / number, number / each)))
        return sorted(found)
