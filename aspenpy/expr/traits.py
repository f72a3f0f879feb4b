"""Properties of a node's value that are known without computing it, as bits; each rule derives them from the arguments'
bits."""

from __future__ import annotations

from collections.abc import Callable

Rule = Callable[[tuple[int, ...]], int]

TOTAL = 1  # evaluation cannot fail once the symbols have values (overflow excepted)
INTEGER = 2  # it is a whole number
NONNEGATIVE = 4  # it is not below 0

CLOSED = 8  # it holds for all calls and passes of loops; `intern_node` knows

ALL = TOTAL | INTEGER | NONNEGATIVE


def common_traits(traits: tuple[int, ...]) -> int:
    """The properties that all arguments have: the rule of sums, products and minima."""
    known = ALL
    for trait in traits:
        known &= trait
    return known


def traits_of_maximum(traits: tuple[int, ...]) -> int:
    """Properties of a maximum: one argument that is not negative makes the largest not negative."""
    known = common_traits(traits)
    return known | NONNEGATIVE if any(trait & NONNEGATIVE for trait in traits) else known


def traits_of_rounding(traits: tuple[int, ...]) -> int:
    """Properties of floor, ceil and round: they keep the sign, and give an integer."""
    return traits[0] | INTEGER


def traits_of_magnitude(traits: tuple[int, ...]) -> int:
    return traits[0] | NONNEGATIVE


def traits_of_root(traits: tuple[int, ...]) -> int:
    """Properties of a square root, which fails for negative arguments only."""
    return NONNEGATIVE | (traits[0] & TOTAL if traits[0] & NONNEGATIVE else 0)


def no_traits(traits: tuple[int, ...]) -> int:
    return 0


def traits_of_exponential(traits: tuple[int, ...]) -> int:
    return NONNEGATIVE


def traits_of_count(traits: tuple[int, ...]) -> int:
    """A count: a whole number, not below 0."""
    return INTEGER | NONNEGATIVE


def traits_of_remainder(traits: tuple[int, ...]) -> int:
    """Properties of a remainder: the sign of the divisor; a divisor of 0 makes it fail."""
    return common_traits(traits) & INTEGER | traits[1] & NONNEGATIVE


def traits_of_choice(traits: tuple[int, ...]) -> int:
    """Properties of a conditional: total if all of its arguments are, otherwise the properties of both branches."""
    return common_traits(traits) & TOTAL | common_traits(traits[1:]) & ~TOTAL
