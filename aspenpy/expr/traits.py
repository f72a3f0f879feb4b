"""Properties of a node's value that are known without computing it, as bits; each rule derives them from the arguments'
bits."""

from __future__ import annotations

from collections.abc import Callable

Rule = Callable[[tuple[int, ...]], int]

TOTAL = 1  # evaluation cannot fail once the symbols have values (overflow excepted)
INTEGER = 2  # it is a whole number
NONNEGATIVE = 4  # it is not below 0

ALL = TOTAL | INTEGER | NONNEGATIVE


def every(traits: tuple[int, ...]) -> int:
    """The properties that all arguments have: the rule of sums, products and minima."""
    known = ALL
    for trait in traits:
        known &= trait
    return known


def maximum(traits: tuple[int, ...]) -> int:
    """One argument that is not negative makes the largest not negative."""
    known = every(traits)
    return known | NONNEGATIVE if any(trait & NONNEGATIVE for trait in traits) else known


def whole(traits: tuple[int, ...]) -> int:
    """floor, ceil and round keep the sign, and give an integer."""
    return traits[0] | INTEGER


def magnitude(traits: tuple[int, ...]) -> int:
    return traits[0] | NONNEGATIVE


def root(traits: tuple[int, ...]) -> int:
    """A square root fails for negative arguments only."""
    return NONNEGATIVE | (traits[0] & TOTAL if traits[0] & NONNEGATIVE else 0)


def nothing(traits: tuple[int, ...]) -> int:
    return 0


def positive_result(traits: tuple[int, ...]) -> int:
    return NONNEGATIVE


def count(traits: tuple[int, ...]) -> int:
    """A count: a whole number, not below 0."""
    return INTEGER | NONNEGATIVE


def remainder(traits: tuple[int, ...]) -> int:
    """The remainder has the sign of the divisor; a divisor of 0 makes it fail."""
    return every(traits) & INTEGER | traits[1] & NONNEGATIVE


def branches(traits: tuple[int, ...]) -> int:
    """A conditional is total if all of its arguments are, and otherwise has the properties of both branches."""
    return every(traits) & TOTAL | every(traits[1:]) & ~TOTAL
