"""Interval arithmetic: one law for each operation, exact where the ends are, in float64 where they are floats.

A law takes the ranges of the operands and returns that of the result, or `ANYWHERE` where nothing is certain. Rounding
is monotonic, so ends that are floats bound the float64 values of a program. The laws of functions are cells of the
table of functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from aspenpy.expr.arithmetic import add_exactly, divide, multiply_exactly, raise_to_power
from aspenpy.record import NamedTuple

Real = int | Fraction | float

FLAT, RISING, FALLING = 0, 1, -1
"""Directions: `RISING` may stay level for a while, `FALLING` too; None where neither is certain."""


class DirectedInterval(NamedTuple):
    """Values from `low` to `high`, and the direction in which they move with the symbol in question."""

    low: Real
    high: Real
    direction: int | None = None

    @property
    def single(self) -> bool:
        return self.low == self.high

    @property
    def constant(self) -> bool:
        """Whether it is one value, whatever moves."""
        return self.single and self.direction == FLAT


ANYWHERE = DirectedInterval(-math.inf, math.inf)

Law = Callable[..., DirectedInterval]


# -- directions ------------------------------------------------------------------------------------


def combine_directions(*directions: int | None) -> int | None:
    """The direction of something that moves with each of its parts."""
    if None in directions:
        return None
    moving = {direction for direction in directions if direction != FLAT}
    if len(moving) > 1:
        return None
    return moving.pop() if moving else FLAT


def turn_direction(direction: int | None) -> int | None:
    return None if direction is None else -direction


# -- numbers that may be infinite ------------------------------------------------------------------


def magnitude_of_end(value: Real) -> Real:
    """Absolute value of an end."""
    return value if value >= 0 else -value


def _add_ends(a: Real, b: Real) -> Real:
    return a + b if math.inf in (magnitude_of_end(a), magnitude_of_end(b)) else add_exactly(a, b)


def multiply_ends(a: Real, b: Real) -> Real:
    """The product; 0 if either is."""
    if 0 in (a, b):
        return 0
    return a * b if math.inf in (magnitude_of_end(a), magnitude_of_end(b)) else multiply_exactly(a, b)


def _divide_ends(a: Real, b: Real) -> Real:
    """The quotient by a positive number."""
    if math.inf in (magnitude_of_end(a), b):
        return 0 if b == math.inf else a
    return divide(a, b)


def _raise_end(base: Real, exponent: Real) -> Real:
    if magnitude_of_end(base) == math.inf:
        return 0 if exponent < 0 else base if exponent % 2 == 1 else math.inf
    if magnitude_of_end(exponent) == math.inf:
        raise OverflowError
    return raise_to_power(base, exponent)


# -- laws of operators -----------------------------------------------------------------------------


def negate_range(part: DirectedInterval) -> DirectedInterval:
    return DirectedInterval(-part.high, -part.low, turn_direction(part.direction))


def _add_ranges(*parts: DirectedInterval) -> DirectedInterval:
    low, high = parts[0].low, parts[0].high
    for part in parts[1:]:
        low, high = _add_ends(low, part.low), _add_ends(high, part.high)
    return DirectedInterval(low, high, combine_directions(*[part.direction for part in parts]))


def _multiply_ranges(*parts: DirectedInterval) -> DirectedInterval:
    result = parts[0]
    for part in parts[1:]:
        result = _multiply_two(result, part)
    return result


def _multiply_two(a: DirectedInterval, b: DirectedInterval) -> DirectedInterval:
    """Product of two intervals. Where neither changes its sign, the product of what is not negative moves with both."""
    if a.high <= 0 and not a.single:
        return negate_range(_multiply_two(negate_range(a), b))
    if b.high <= 0 and not b.single:
        return negate_range(_multiply_two(a, negate_range(b)))
    return _combine_corners(multiply_ends, a, b, _direction_of_product(a, b))


def _combine_corners(
    rule: Callable[[Real, Real], Real], a: DirectedInterval, b: DirectedInterval, direction: int | None
) -> DirectedInterval:
    """The range of a function that is monotonic in each operand."""
    values = [rule(x, y) for x, y in product((a.low, a.high), (b.low, b.high))]
    return DirectedInterval(min(values), max(values), direction)


def _direction_of_product(a: DirectedInterval, b: DirectedInterval) -> int | None:
    if a.low >= 0 and b.low >= 0:
        return combine_directions(a.direction, b.direction)
    if a.constant:
        return b.direction if a.low >= 0 else turn_direction(b.direction)
    if b.constant:
        return a.direction if b.low >= 0 else turn_direction(a.direction)
    return None


def _divide_ranges(top: DirectedInterval, bottom: DirectedInterval) -> DirectedInterval:
    if bottom.high < 0:
        top, bottom = negate_range(top), negate_range(bottom)
    if bottom.low <= 0:
        return ANYWHERE
    if top.high <= 0 and not top.single:
        return negate_range(_divide_ranges(negate_range(top), bottom))
    turned = bottom._replace(direction=turn_direction(bottom.direction))
    return _combine_corners(_divide_ends, top, bottom, _direction_of_product(top, turned))


def _square_range(part: DirectedInterval) -> DirectedInterval:
    low, high = multiply_ends(part.low, part.low), multiply_ends(part.high, part.high)
    if part.low >= 0:
        return DirectedInterval(low, high, part.direction)
    if part.high <= 0:
        return DirectedInterval(high, low, turn_direction(part.direction))
    return DirectedInterval(0, max(low, high))


def _raise_range(base: DirectedInterval, exponent: DirectedInterval) -> DirectedInterval:
    if exponent.constant:
        return _raise_to_constant(base, exponent.low)
    if base.low <= 0:
        return ANYWHERE
    direction = None
    if base.constant:
        direction = exponent.direction if base.low >= 1 else turn_direction(exponent.direction)
    return _combine_corners(_raise_end, base, exponent, direction)


def _raise_to_constant(base: DirectedInterval, exponent: Real) -> DirectedInterval:
    """Monotonic on one side of 0, odd powers on both sides; negative powers and fractions have no value everywhere."""
    if (exponent < 0 and base.low <= 0 <= base.high) or (base.low < 0 and exponent != int(exponent)):
        return ANYWHERE
    low, high = _raise_end(base.low, exponent), _raise_end(base.high, exponent)
    if base.low < 0 < base.high and exponent % 2 == 0:
        return DirectedInterval(0, max(low, high))
    if (exponent > 0) == (base.low >= 0 or exponent % 2 == 1):
        return DirectedInterval(low, high, base.direction)
    return DirectedInterval(high, low, turn_direction(base.direction))


def _take_root(part: DirectedInterval) -> DirectedInterval:
    """The root of a range: whatever its degree, at most the larger of 1 and the operand."""
    return DirectedInterval(0, max(1, part.high), part.direction) if part.low >= 0 else ANYWHERE


_TRUE, _FALSE, _UNDECIDED = DirectedInterval(1, 1, FLAT), DirectedInterval(0, 0, FLAT), DirectedInterval(0, 1)


def _make_truth(always: bool, never: bool) -> DirectedInterval:
    return _TRUE if always else _FALSE if never else _UNDECIDED


def _compare_equal(a: DirectedInterval, b: DirectedInterval) -> DirectedInterval:
    return _make_truth(a.single and b.single and a.low == b.low, a.high < b.low or b.high < a.low)


def _compare_different(a: DirectedInterval, b: DirectedInterval) -> DirectedInterval:
    equal = _compare_equal(a, b)
    return _UNDECIDED if not equal.single else _FALSE if equal.low else _TRUE


def _compare_less(a: DirectedInterval, b: DirectedInterval) -> DirectedInterval:
    return _make_truth(a.high < b.low, a.low >= b.high)


def _compare_at_most(a: DirectedInterval, b: DirectedInterval) -> DirectedInterval:
    return _make_truth(a.high <= b.low, a.low > b.high)


def _make_junction_law(rule: Callable[..., Real]) -> Law:
    def law(*parts: DirectedInterval) -> DirectedInterval:
        low, high = rule(part.low for part in parts), rule(part.high for part in parts)
        return _make_truth(low == high and bool(low), low == high and not low)

    return law


def _choose_range(condition: DirectedInterval, then: DirectedInterval, otherwise: DirectedInterval) -> DirectedInterval:
    if condition.single:
        return then if condition.low else otherwise
    return DirectedInterval(min(then.low, otherwise.low), max(then.high, otherwise.high))


OPERATORS: dict[str, Law] = {
    "add": _add_ranges,
    "sub": lambda a, b: _add_ranges(a, negate_range(b)),
    "mul": _multiply_ranges,
    "neg": negate_range,
    "div": _divide_ranges,
    "square": _square_range,
    "power": _raise_range,
    "root": _take_root,
    "<": _compare_less,
    "<=": _compare_at_most,
    ">": lambda a, b: _compare_less(b, a),
    ">=": lambda a, b: _compare_at_most(b, a),
    "==": _compare_equal,
    "!=": _compare_different,
    "and": _make_junction_law(min),
    "or": _make_junction_law(max),
    "if": _choose_range,
}
"""Conditions are 1 where they hold and 0 where they do not."""


# -- laws of functions -----------------------------------------------------------------------------


def make_rising_law(rule: Callable[[Any], Any]) -> Law:
    """The law of a function that never falls, from its exact rule."""

    def law(part: DirectedInterval) -> DirectedInterval:
        low, high = [end if magnitude_of_end(end) == math.inf else rule(end) for end in (part.low, part.high)]
        return DirectedInterval(low, high, part.direction)

    return law


def take_magnitude(part: DirectedInterval) -> DirectedInterval:
    if part.low >= 0:
        return part
    return negate_range(part) if part.high <= 0 else DirectedInterval(0, max(-part.low, part.high))


def take_maximum(*parts: DirectedInterval) -> DirectedInterval:
    """The interval of a maximum: only parts that can be the largest somewhere have a say in its direction."""
    low = max(part.low for part in parts)
    directions = [part.direction for part in parts if part.high >= low]
    return DirectedInterval(low, max(part.high for part in parts), combine_directions(*directions))


def take_minimum(*parts: DirectedInterval) -> DirectedInterval:
    return negate_range(take_maximum(*map(negate_range, parts)))


def bound_remainder(_: DirectedInterval, divisor: DirectedInterval) -> DirectedInterval:
    """Range of a remainder: from 0 to the divisor where that is positive."""
    return DirectedInterval(0, divisor.high) if divisor.low > 0 else ANYWHERE
