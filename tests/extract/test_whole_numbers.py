"""Whole numbers of a program as formulas: each operation against Python's own numbers at many sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Polynomial, atom_polynomial, constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.branches import _select_value
from aspenpy.extract.costs import Guard, Nest, PointerTarget
from aspenpy.extract.count import Counter, GuardedLoops, NoClosedForm
from aspenpy.extract.scope import NOTHING, SIZE
from aspenpy.extract.values import COUNTER, ONE, ZERO, TooLong, Value

N, M = graph.symbol("n", SIZE), graph.symbol("m", SIZE)
I, K = graph.symbol("i", COUNTER), graph.symbol("k", COUNTER)  # noqa: E741
SIZES = [dict(zip((N, M, I, K), sizes, strict=True)) for sizes in product((1, 2, 7, 12), (1, 3, 8), (0, 5), (2,))]


def line(constant: int | Fraction, *terms: tuple[int | Fraction, Expr]) -> Value:
    return v.add(constant_polynomial(constant), *(v.scale(atom_polynomial(symbol), factor) for factor, symbol in terms))


def worth(value: Value, at: dict[Expr, int]) -> Fraction:
    return Fraction(evaluate(v.to_expression(value), dict(at)))


def draw(random: Random, degree: int = 2) -> Value:
    value = line(random.randint(-4, 4))
    for _ in range(random.randint(0, 3)):
        term = constant_polynomial(random.choice((-3, -2, -1, 1, 2, 6)))
        for _ in range(random.randint(1, degree)):
            term = v.multiply(term, atom_polynomial(random.choice((N, M, I))))
        value = v.add(value, term)
    return value


def cut(a: Fraction, b: Fraction) -> Fraction:
    """The remainder of a division that rounds down, as of numbers from 0 on."""
    return a - b * (a // b)


DIVIDED: dict[str, tuple[Callable[[Value, Value], Value], Callable[[Fraction, Fraction], Fraction]]] = {
    "floor": (v.floor_quotient, lambda a, b: Fraction(math.floor(a / b))),
    "ceil": (v.ceil_quotient, lambda a, b: Fraction(math.ceil(a / b))),
    "ratio": (v.ratio, lambda a, b: a / b),
    "remainder": (v.remainder, cut),
}


@pytest.mark.parametrize("name", DIVIDED)
def test_divisions_by_sizes_and_numbers(name: str) -> None:
    divide, by_hand = DIVIDED[name]
    random = Random(3)
    divisors = [line(2), line(3), line(6), line(0, (1, N)), line(0, (2, N)), line(1, (1, N)), line(2, (1, N), (1, M))]
    for _ in range(25):
        a, b = draw(random), random.choice(divisors)
        if random.random() < 0.4:
            a = v.multiply(a, b)
        if name == "remainder" and v.number(a) is not None:
            a = v.scale(a, 1 if (v.number(a) or 0) >= 0 else -1)
        found = divide(a, b)
        for at in SIZES:
            assert worth(found, at) == by_hand(worth(a, at), worth(b, at)), (name, at)


@pytest.mark.parametrize(
    ("dividend", "divisor", "left"), [(7, 3, 1), (-7, 3, -1), (7, -3, 1), (-7, -3, -1), (6, 3, 0), (2, 3, 2)]
)
def test_remainders_of_numbers_have_the_sign_of_the_dividend(dividend: int, divisor: int, left: int) -> None:
    """ISO/IEC 9899:2018, section 6.5.5."""
    assert v.number(v.remainder(line(dividend), line(divisor))) == left == math.fmod(dividend, divisor)


def test_divisions_that_leave_nothing_have_no_function() -> None:
    square = v.multiply(line(0, (1, N)), line(2, (1, N)))
    for divide in (v.floor_quotient, v.ceil_quotient, v.ratio):
        assert v.is_same(divide(square, line(0, (1, N))), line(2, (1, N)))
        assert v.is_same(divide(line(0, (4, N)), line(2)), line(0, (2, N)))
        assert v.is_same(divide(line(5, (3, N)), ONE), line(5, (3, N)))
    assert v.is_same(v.ratio(square, line(2, (1, N))), line(0, (1, N)))
    assert v.is_same(v.ratio(square, ZERO), ZERO)
    assert v.is_same(v.floor_quotient(line(7), line(2)), line(3))
    assert v.is_same(v.ceil_quotient(line(7), line(2)), line(4))
    for divide in (v.floor_quotient, v.ceil_quotient):
        with pytest.raises(TooLong):
            divide(line(0, (1, N)), ZERO)


def test_quotients_are_whole_or_none() -> None:
    assert v.is_same(v.quotient(line(6, (4, N)), line(2)) or ZERO, line(3, (2, N)))
    assert v.quotient(line(3, (4, N)), line(2)) is None
    assert v.quotient(line(0, (4, N)), line(0, (2, M))) is None
    assert v.quotient(ONE, line(0, (1, N))) is None


def test_values_replace_symbols_inside_of_functions_too() -> None:
    random = Random(8)
    for _ in range(25):
        a, inside = draw(random), random.choice((line(random.randint(1, 3), (1, M)), line(0, (2, M)), line(3)))
        form = random.choice(
            (
                lambda x: x,
                lambda x: v.floor_quotient(x, line(3)),
                lambda x: v.ceil_quotient(x, line(1, (1, N))),
                lambda x: v.extreme_of("min", (x, line(0, (2, N)))),
                lambda x: v.multiply(x, v.extreme_of("max", (line(0, (1, N)), line(3)))),
                lambda x: v.ratio(x, line(0, (1, M))),
            )
        )
        value = form(a)
        found = v.substitute(value, {N: inside})
        for at in SIZES:
            assert worth(found, at) == worth(value, {**at, N: int(worth(inside, at))})


def test_a_quotient_by_a_sum_is_no_formula() -> None:
    by_size = v.ratio(ONE, line(0, (1, N)))
    assert v.is_same(v.substitute(by_size, {N: line(0, (2, M))}), v.ratio(line(Fraction(1, 2)), line(0, (1, M))))
    with pytest.raises(TooLong):
        v.substitute(by_size, {N: line(1, (1, M))})


@pytest.mark.parametrize("function", ["min", "max"])
def test_extremes(function: str) -> None:
    random, rule = Random(2), {"min": min, "max": max}[function]
    for _ in range(25):
        base = draw(random, 1)
        parts = [v.add(base, line(random.randint(-2, 2))) for _ in range(random.randint(1, 3))]
        parts += [draw(random, 1) for _ in range(random.randint(0, 1))]
        random.shuffle(parts)
        found = v.extreme_of(function, parts)
        for at in SIZES:
            assert worth(found, at) == rule(worth(part, at) for part in parts)
    assert v.is_same(
        v.extreme_of(function, (line(3, (1, N)), line(1, (1, N)))), line({"min": 1, "max": 3}[function], (1, N))
    )


def test_signs_hold_at_all_sizes_from_one_on() -> None:
    random, seen = Random(4), {True: 0, False: 0}
    for _ in range(300):
        value = draw(random)
        if random.random() < 0.3:
            value = v.add(
                v.floor_quotient(draw(random, 1), line(2)), v.extreme_of("max", (value, line(random.randint(-1, 1))))
            )
        if v.counters(value):  # which begin at 0
            continue
        sure = v.is_never_negative(value)
        seen[sure] += 1
        assert not sure or all(worth(value, {N: n, M: m, I: 0, K: 0}) >= 0 for n in range(1, 9) for m in range(1, 9))
    assert min(seen.values()) > 20


@pytest.mark.parametrize(
    ("value", "sure"),
    [
        (line(-1, (1, N)), True),
        (line(-2, (1, N)), False),
        (line(-3, (1, N), (2, M)), True),
        (line(0, (1, N), (-1, M)), False),
        (v.subtract(v.multiply(line(0, (1, N)), line(0, (1, N))), line(0, (1, N))), True),  # n^2 - n
        (v.floor_quotient(line(-1, (1, N)), line(2)), True),
        (v.floor_quotient(line(-2, (1, N)), line(2)), False),
        (v.extreme_of("min", (line(-1, (1, N)), line(-1, (1, M)))), True),
        (v.extreme_of("min", (line(-1, (1, N)), line(-2, (1, M)))), False),
        (atom_polynomial(graph.apply("log2", graph.add(N, 1))), False),  # which nobody looks into
        (v.ratio(line(-1, (1, N)), line(0, (1, M))), False),
        (v.ratio(line(1, (1, N)), line(0, (1, M))), True),
    ],
)
def test_signs_that_are_known(value: Value, sure: bool) -> None:
    assert v.is_never_negative(value) is sure


@pytest.mark.parametrize(
    ("value", "sign", "is_one_signed"),
    [
        (ZERO, 0, True),
        (line(-5), -1, True),
        (line(-5, (1, N)), 1, True),
        (line(5, (-1, N)), -1, True),
        (line(0, (1, N), (-1, M)), None, False),
        (line(0, (2, N), (-1, M)), 1, False),
        (v.subtract(v.multiply(line(0, (1, N)), line(0, (1, M))), line(0, (9, N))), 1, False),
    ],
)
def test_signs_of_large_sizes(value: Value, sign: int | None, is_one_signed: bool) -> None:
    assert (v.sign_for_large(value), v.is_one_signed(value)) == (sign, is_one_signed)


def test_dividends_of_rounded_quotients() -> None:
    line_of_n = line(-3, (1, N))
    for divide in (v.floor_quotient, v.ceil_quotient):
        rounded = divide(line_of_n, line(4))
        assert v.is_same(v.rounded_dividend(rounded) or ZERO, line_of_n)
        assert v.is_same(v.rounded_dividend(v.scale(rounded, 2)) or ZERO, line_of_n)
        for other in (v.scale(rounded, -1), v.add(rounded, ONE), v.multiply(rounded, rounded), line_of_n, line(7)):
            assert v.rounded_dividend(other) is None
        assert v.rounded_dividend(divide(line_of_n, line(0, (1, M)))) is None
    assert v.rounded_dividend(v.extreme_of("min", (line_of_n, line(0, (1, M))))) is None


@pytest.mark.parametrize("power", range(6))
def test_sums_of_powers(power: int) -> None:
    for end in range(7):
        assert v.number(v.power_sum(power, line(end))) == sum(i**power for i in range(end))
    value = v.raise_to(line(1, (2, I)), power)
    found = v.sum_over(value, I, line(0, (1, M)), line(3, (1, M), (1, N)))
    assert found is not None
    for at in SIZES:
        assert worth(found, at) == sum((1 + 2 * i) ** power for i in range(at[M], 3 + at[M] + at[N]))
    assert v.sum_over(v.floor_quotient(line(0, (1, I)), line(2)), I, ZERO, line(0, (1, N))) is None


def test_formulas_have_a_limit() -> None:
    symbols = [graph.symbol(f"s{place}", SIZE) for place in range(v.MOST_TERMS + 1)]
    most = line(0, *((1, symbol) for symbol in symbols[:-1]))
    assert len(most) == v.MOST_TERMS
    with pytest.raises(TooLong):
        v.add(most, atom_polynomial(symbols[-1]))
    with pytest.raises(TooLong):
        v.subtract(most, atom_polynomial(symbols[-1]))
    with pytest.raises(TooLong):
        v.multiply(most, line(1, (1, N), (1, M), (1, I), (1, K)))  # 2000 products
    rows, columns = symbols[:20], symbols[20:41]
    with pytest.raises(TooLong):
        v.multiply(line(0, *((1, symbol) for symbol in rows)), line(0, *((1, symbol) for symbol in columns)))
    assert v.distance(most, line(1, (1, symbols[-1]))) is None
    assert len(v.multiply(most, line(0, (3, N)))) == v.MOST_TERMS


# -- tiles -----------------------------------------------------------------------------------------


def tiles(length: Value, size: Value) -> GuardedLoops:
    """Loops over the tiles of a length, and inside of each."""
    inside = v.subtract(length, v.multiply(size, atom_polynomial(I)))
    return GuardedLoops((Nest(I, (v.ceil_quotient(length, size),), []), Nest(K, (size, inside), [])))


@pytest.mark.parametrize(("size", "by"), [(line(4), 4), (line(0, (1, M)), None)])
@pytest.mark.parametrize("twice", [False, True])
def test_passes_of_tiles(size: Value, by: int | None, twice: bool) -> None:
    """All tiles but the last are whole; loops over both sides of a tile have squares of their lengths."""
    domain = tiles(line(1, (1, N)), size)
    if twice:
        domain = GuardedLoops((*domain.nests, domain.nests[1].replace(counter=graph.symbol("l", COUNTER))))
    found = Counter().total(ONE, domain)
    for n, m in product(range(1, 12), range(1, 5)):
        tile = by or m
        lengths = [min(tile, n + 1 - tile * place) for place in range(-(-(n + 1) // tile))]
        assert worth(found, {N: n, M: m, I: 0, K: 0}) == sum(length ** (2 if twice else 1) for length in lengths)


def test_tiles_of_another_length_have_no_closed_form() -> None:
    outer, inner = tiles(line(1, (1, N)), line(4)).nests
    with pytest.raises(NoClosedForm):
        Counter().total(ONE, GuardedLoops((outer.replace(bounds=(line(0, (1, M)),)), inner)))
    with pytest.raises(NoClosedForm):
        Counter().total(atom_polynomial(I), GuardedLoops((outer, inner)))


# -- values behind a branch ------------------------------------------------------------------------


def selected(guards: Iterable[Guard], one: Value, two: Value) -> Value | None:
    found = _select_value(tuple(guards), one, two)
    assert found is None or isinstance(found, Polynomial)
    return found


@pytest.mark.parametrize(
    ("guard", "one", "two"),
    [
        (line(-1, (1, N), (-1, M)), line(0, (1, N)), line(0, (1, M))),  # if (n > m) x = n; else x = m;
        (line(0, (1, N), (-1, M)), line(0, (1, N)), line(0, (1, M))),  # if (n >= m)
        (line(-1, (1, N), (-1, M)), line(0, (1, M)), line(0, (1, N))),
        (line(0, (1, N), (-1, M)), line(0, (1, M)), line(0, (1, N))),
        (line(-1, (-1, N), (1, M)), line(0, (1, N)), line(0, (1, M))),
        (line(-3, (1, N)), line(4), line(0, (1, N))),  # limited to 4, and a step before
        (line(-4, (1, N)), line(4), line(0, (1, N))),
        (line(-5, (1, N)), line(4), line(0, (1, N))),
        (line(-4, (1, N)), line(9, (3, M)), line(2)),
    ],
)
def test_a_value_that_a_branch_chooses(guard: Value, one: Value, two: Value) -> None:
    found = selected([Guard(guard)], one, two)
    assert found is not None
    for n, m in product(range(1, 9), range(1, 9)):
        at = {N: n, M: m, I: 0, K: 0}
        assert worth(found, at) == worth(one if worth(guard, at) >= 0 else two, at)


def test_values_that_no_formula_chooses() -> None:
    guard, n, m = Guard(line(-4, (1, N))), line(0, (1, N)), line(0, (1, M))
    equal = Guard(line(-4, (1, N)), "==")
    assert selected([], n, m) is None
    assert selected([guard, Guard(m)], n, m) is None
    assert selected([equal], n, m) is None
    for one, two in ((PointerTarget("a", ZERO), m), (NOTHING, m), (n, NOTHING), (n, None), (None, m)):
        assert _select_value((guard,), one, two) is None
    assert v.is_same(selected([Guard(line(-4, (1, I)), "==")], n, m) or ZERO, m)  # one pass of a loop is neglected
