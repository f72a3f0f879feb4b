"""Laws of intervals against all values on a grid: the interval of a result is that of its values, and it moves in the
direction that is claimed."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

from aspenpy.expr.intervals import (
    ANYWHERE,
    FALLING,
    FLAT,
    OPERATORS,
    RISING,
    DirectedInterval,
    bound_remainder,
    combine_directions,
    make_rising_law,
    take_magnitude,
    take_maximum,
    take_minimum,
)

ENDS = (-3, -1, 0, 2)
PARTS = [
    DirectedInterval(low, high, direction)
    for low, high in product(ENDS, ENDS)
    for direction in ([FLAT] if low == high else [RISING, FALLING, None] if low < high else [])
]
STEPS = [0, 0.25, 0.5, 0.75, 1]  # whose products are exact

INF = math.inf


def values(part: DirectedInterval) -> list[float]:
    """Values from one end to the other, whole ones among them."""
    return sorted({part.low + step * (part.high - part.low) for step in STEPS} | {*range(part.low, part.high + 1)})


def paths(parts: tuple[DirectedInterval, ...]) -> Iterator[list[tuple[float, ...]]]:
    """The values of all parts, each moving at its own pace in its direction."""
    for paces in product((1, 3), repeat=len(parts)):
        moving = [
            [part.low + step**pace * (part.high - part.low) for step in STEPS][:: part.direction or 1]
            for part, pace in zip(parts, paces, strict=True)
        ]
        yield list(zip(*moving, strict=True))


def check(law: Callable[..., DirectedInterval], rule: Callable[..., Any], *parts: DirectedInterval) -> None:
    found = law(*parts)
    results = [+rule(*point) for point in product(*map(values, parts))]
    assert (found.low, found.high) == pytest.approx((min(results), max(results)), rel=1e-12), parts
    if found.direction is None:
        return
    for path in paths(parts):
        for before, behind in pairwise(+rule(*point) for point in path):
            assert before == behind if found.direction == FLAT else found.direction * (behind - before) >= -1e-12, parts


PAIRS = list(product(PARTS, PARTS))
TWO: dict[str, Callable[[float, float], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


@pytest.mark.parametrize("name", TWO)
def test_laws_of_two_operands(name: str) -> None:
    for a, b in PAIRS:
        check(OPERATORS[name], TWO[name], a, b)


def test_quotients() -> None:
    for a, b in PAIRS:
        if b.low <= 0 <= b.high:
            assert OPERATORS["div"](a, b) == ANYWHERE
        else:
            check(OPERATORS["div"], lambda x, y: x / y, a, b)


@pytest.mark.parametrize(
    ("law", "rule"),
    [
        (OPERATORS["neg"], lambda a: -a),
        (OPERATORS["square"], lambda a: a * a),
        (take_magnitude, abs),
        (make_rising_law(math.floor), math.floor),
        (make_rising_law(math.ceil), math.ceil),
    ],
)
def test_laws_of_one_operand(law: Callable[..., DirectedInterval], rule: Callable[[Any], Any]) -> None:
    for part in PARTS:
        check(law, rule, part)


@pytest.mark.parametrize(("law", "rule"), [(take_maximum, max), (take_minimum, min)])
def test_extremes(law: Callable[..., DirectedInterval], rule: Callable[..., Any]) -> None:
    for parts in PAIRS:
        check(law, rule, *parts)


@pytest.mark.parametrize("exponent", [-3, -2, -1, 1, 2, 3, 4])
def test_powers_with_a_number_above(exponent: int) -> None:
    above = DirectedInterval(exponent, exponent, FLAT)
    for part in PARTS:
        if exponent < 0 and part.low <= 0 <= part.high:
            assert OPERATORS["power"](part, above) == ANYWHERE
        else:
            check(lambda one: OPERATORS["power"](one, above), lambda x: x**exponent, part)


def test_other_powers() -> None:
    half = DirectedInterval(Fraction(1, 2), Fraction(1, 2), FLAT)
    assert OPERATORS["power"](DirectedInterval(-1, 4, RISING), half) == ANYWHERE  # no root of what is negative
    assert OPERATORS["power"](DirectedInterval(0, 4, RISING), half) == (0, 2, RISING)
    assert OPERATORS["power"](DirectedInterval(1, 4, FALLING), half) == (1, 2, FALLING)
    moving = DirectedInterval(-1, 2, RISING)
    assert OPERATORS["power"](DirectedInterval(0, 2, RISING), moving) == ANYWHERE
    assert OPERATORS["power"](DirectedInterval(2, 2, FLAT), moving) == (Fraction(1, 2), 4, RISING)
    assert OPERATORS["power"](DirectedInterval(1, 1, FLAT), moving) == (1, 1, RISING)
    assert OPERATORS["power"](DirectedInterval(Fraction(1, 2), Fraction(1, 2), FLAT), moving) == (
        *(Fraction(1, 4), 2),
        FALLING,
    )
    assert OPERATORS["power"](DirectedInterval(2, 4, RISING), moving) == (Fraction(1, 4), 16, None)


@pytest.mark.parametrize(
    ("name", "parts", "ends"),
    [
        ("add", [(-INF, 1), (2, 3)], (-INF, 4)),
        ("add", [(1, INF), (2, 3)], (3, INF)),
        ("add", [(1, INF), (2, INF)], (3, INF)),
        ("add", [(-INF, 1), (-INF, 3)], (-INF, 4)),
        ("sub", [(1, INF), (2, 3)], (-2, INF)),
        ("mul", [(0, 2), (1, INF)], (0, INF)),
        ("mul", [(-1, 2), (1, INF)], (-INF, INF)),
        ("mul", [(0, 0), (-INF, INF)], (0, 0)),
        ("mul", [(-INF, -1), (2, 3)], (-INF, -2)),
        ("div", [(1, 2), (4, INF)], (0, Fraction(1, 2))),
        ("div", [(1, INF), (2, 4)], (Fraction(1, 4), INF)),
        ("div", [(-INF, -1), (2, 4)], (-INF, -Fraction(1, 4))),
        ("square", [(-INF, -2)], (4, INF)),
        ("square", [(-INF, 2)], (0, INF)),
        ("power", [(2, INF), (3, 3)], (8, INF)),
        ("power", [(-INF, -2), (3, 3)], (-INF, -8)),
        ("power", [(-INF, -2), (2, 2)], (4, INF)),
        ("power", [(-INF, INF), (2, 2)], (0, INF)),
        ("power", [(2, INF), (-2, -2)], (0, Fraction(1, 4))),
        ("power", [(-INF, -2), (-1, -1)], (-Fraction(1, 2), 0)),
        ("power", [(4, INF), (Fraction(1, 2), Fraction(1, 2))], (2, INF)),
        ("root", [(Fraction(1, 4), Fraction(1, 2))], (0, 1)),
        ("root", [(0, 9)], (0, 9)),
        ("root", [(-1, 9)], (-INF, INF)),
    ],
)
def test_infinite_ends(name: str, parts: list[tuple[Any, Any]], ends: tuple[Any, Any]) -> None:
    given = [DirectedInterval(*part, FLAT if part[0] == part[1] else RISING) for part in parts]
    assert OPERATORS[name](*given)[:2] == ends


def test_a_rising_law_keeps_infinite_ends() -> None:
    assert make_rising_law(math.floor)(DirectedInterval(-INF, 1.5, FALLING)) == (-INF, 1, FALLING)
    assert make_rising_law(math.ceil)(DirectedInterval(1.5, INF, RISING)) == (2, INF, RISING)


TRUE, FALSE, OPEN = DirectedInterval(1, 1, FLAT), DirectedInterval(0, 0, FLAT), DirectedInterval(0, 1)


@pytest.mark.parametrize(("name", "rule"), [("and", all), ("or", any)])
def test_junctions(name: str, rule: Callable[..., bool]) -> None:
    for parts in product((TRUE, FALSE, OPEN), repeat=3):
        found = {rule(values) for values in product(*(range(part.low, part.high + 1) for part in parts))}
        assert OPERATORS[name](*parts) == (OPEN if len(found) > 1 else TRUE if found.pop() else FALSE)


def test_a_choice_is_one_of_two_where_its_condition_is_open() -> None:
    then, otherwise = DirectedInterval(1, 4, RISING), DirectedInterval(2, 3, FALLING)
    assert OPERATORS["if"](TRUE, then, otherwise) == then
    assert OPERATORS["if"](FALSE, then, otherwise) == otherwise
    assert OPERATORS["if"](OPEN, then, otherwise) == (1, 4, None)
    assert OPERATORS["if"](OPEN, DirectedInterval(0, 1), DirectedInterval(2, 3)) == (0, 3, None)


@pytest.mark.parametrize(
    ("parts", "direction"),
    [
        ([], FLAT),
        ([FLAT, FLAT], FLAT),
        ([FLAT, RISING], RISING),
        ([FALLING, FLAT, FALLING], FALLING),
        ([RISING, FALLING], None),
        ([RISING, None], None),
        ([None, FLAT], None),
    ],
)
def test_directions_of_what_moves_with_its_parts(parts: list[int | None], direction: int | None) -> None:
    assert combine_directions(*parts) == direction


@pytest.mark.parametrize(
    ("law", "parts", "direction"),
    [
        (OPERATORS["mul"], [(0, 2, RISING), (1, 2, RISING)], RISING),
        (OPERATORS["mul"], [(-2, 0, RISING), (1, 2, FALLING)], RISING),  # 2 to 0, falling, times what falls
        (OPERATORS["mul"], [(-2, 2, RISING), (3, 3, FLAT)], RISING),
        (OPERATORS["mul"], [(-2, 2, RISING), (-3, -3, FLAT)], FALLING),
        (OPERATORS["mul"], [(-3, -3, FLAT), (-2, 2, FALLING)], RISING),
        (OPERATORS["div"], [(1, 2, RISING), (1, 2, FALLING)], RISING),
        (OPERATORS["div"], [(1, 2, RISING), (1, 2, RISING)], None),
        (OPERATORS["square"], [(1, 2, FALLING)], FALLING),
        (OPERATORS["square"], [(-2, 0, FALLING)], RISING),
        (OPERATORS["square"], [(0, 2, RISING)], RISING),
        (take_magnitude, [(0, 2, RISING)], RISING),
        (take_magnitude, [(-2, 0, FALLING)], RISING),
        (take_magnitude, [(-2, 1, FALLING)], None),
        (take_maximum, [(0, 1, FALLING), (2, 3, RISING)], RISING),  # the first is never the largest
        (take_maximum, [(0, 2, FALLING), (2, 3, RISING)], None),
        (take_minimum, [(0, 1, FALLING), (2, 3, RISING)], FALLING),
        (take_minimum, [(0, 2, FALLING), (2, 3, RISING)], None),
    ],
)
def test_directions_that_are_known(
    law: Callable[..., DirectedInterval], parts: list[tuple[int, int, int]], direction: int | None
) -> None:
    assert law(*(DirectedInterval(*part) for part in parts)).direction == direction


@pytest.mark.parametrize(("low", "range_"), [(-1, ANYWHERE), (0, ANYWHERE), (1, (0, 5, None))])
def test_remainders_lie_between_0_and_what_divides(low: int, range_: tuple[Any, ...]) -> None:
    assert bound_remainder(DirectedInterval(-9, 9, RISING), DirectedInterval(low, 5, RISING)) == range_
