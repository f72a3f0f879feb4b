"""Values at the edges of the rules: against whole binomial sums, exact powers, and numbers beyond floating point."""

import math
from fractions import Fraction

import numpy
import pytest

from aspenpy.expr import graph
from aspenpy.expr.accuracy import are_powers_of_two
from aspenpy.expr.arithmetic import (
    DomainError,
    add_exactly,
    divide,
    format_number,
    multiply_exactly,
    raise_to_power,
    remainder,
)
from aspenpy.expr.cache_laws import lru_hits, numpy_lru_hits, random_misses, require_positive_whole
from aspenpy.expr.evaluate import EvaluationError, evaluate

HUGE = 10**400
"""Beyond the largest float."""


@pytest.mark.parametrize("rule", [add_exactly, multiply_exactly, divide, remainder, raise_to_power])
def test_a_float_and_a_number_beyond_floats(rule):
    assert rule is divide or rule is remainder or rule is raise_to_power or rule(HUGE, 2) in (HUGE + 2, HUGE * 2)
    with pytest.raises(DomainError, match="too large"):
        rule(HUGE, 1.5)


def test_roots_of_whole_floats_are_whole():
    assert raise_to_power(1e6, Fraction(1, 3)) == 100
    assert raise_to_power(27.0, Fraction(2, 3)) == 9
    assert raise_to_power(8, Fraction(-1, 3)) == Fraction(1, 2)
    assert raise_to_power(Fraction(8, 27), Fraction(1, 3)) == Fraction(2, 3)
    assert raise_to_power(2.0, Fraction(1, 3)) == 2.0 ** (1 / 3)
    assert raise_to_power(2.0**60, Fraction(1, 2)) == 2.0**30
    assert raise_to_power(1e6, Fraction(1, 53)) == pytest.approx(math.exp(math.log(1e6) / 53), rel=1e-15)


@pytest.mark.parametrize(
    ("value", "text"),
    [(10**15 - 1, "999999999999999"), (10**15, "1e+15"), (-(10**15) + 1, "-999999999999999"),
     (Fraction(1, 3), "0.333333"), (HUGE, "a number beyond 10^308")],
)  # fmt: skip
def test_numbers_in_messages(value, text):
    assert format_number(value) == text


def binomial(distance: int, ways: int, lines: int) -> float:
    """The chance that fewer than `ways` of `distance` lines fall into the set, in whole numbers."""
    common = math.gcd(ways, lines)
    inside, all_lines = ways // common, lines // common
    return float(
        Fraction(
            sum(math.comb(distance, a) * inside**a * (all_lines - inside) ** (distance - a) for a in range(ways)),
            all_lines**distance,
        )
    )


LRU = [(0, 1, 4), (3, 4, 4), (4, 4, 4), (3, 1, 4), (7, 2, 8), (8, 4, 64), (100, 8, 512), (512, 8, 512),
       (3000, 1400, 2800), (2700, 1400, 2800), (2900, 1024, 2048)]  # fmt: skip


@pytest.mark.parametrize(("distance", "ways", "lines"), LRU)
def test_hits_of_lru_are_a_binomial_sum(distance, ways, lines):
    expected = binomial(distance, ways, lines)
    assert float(lru_hits(distance, ways, lines)) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_hits_of_lru_in_columns(monkeypatch):
    """A column of each argument; NaN where there is no such cache."""
    expected = [binomial(*row) for row in LRU]
    found = numpy_lru_hits(numpy, *map(numpy.array, zip(*LRU, strict=True)))
    assert found.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-300)
    monkeypatch.setattr("aspenpy.expr.cache_laws.MOST_WAYS", 16)
    wrong = [(-1, 4, 8), (3, 0, 8), (3, 1.5, 8), (3, 9, 8), (3, 17, 1e9), (math.nan, 4, 8), (3, 4, math.nan)]
    for row in wrong:
        assert math.isnan(numpy_lru_hits(numpy, *row)), row
        if not any(map(math.isnan, row)):
            with pytest.raises(DomainError):
                lru_hits(*row)
    assert numpy_lru_hits(numpy, 8, 8, 8) == 0
    assert numpy_lru_hits(numpy, 7, 8, 8) == 1
    assert not numpy.isnan(numpy_lru_hits(numpy, 3, 16, 1e9))


def test_random_misses_of_one_distance():
    """m = 1 - share * (1 - m/B)^d; for B = 1 and d = 2 by hand: m = 1 - (1 - m)^2, whose largest root is 1."""
    assert random_misses(1, 2, 1) == pytest.approx(1)
    assert random_misses(4, 0, 1) == pytest.approx(0)
    assert random_misses(4, 5, 0) == pytest.approx(1)
    found = float(random_misses(4, 8, 0.75))
    assert found == pytest.approx(1 - 0.75 * (1 - found / 4) ** 8, rel=1e-9)
    assert found > 0.25
    for lines, reuses in ((0.5, (1, 1)), (4, (1,))):
        with pytest.raises(DomainError):
            random_misses(lines, *reuses)


def test_least_whole_numbers():
    assert require_positive_whole(1, "x") == 1
    for value in (0, Fraction(1, 2), 1.5):
        with pytest.raises(DomainError, match="x is"):
            require_positive_whole(value, "x")


def test_values_that_are_no_numbers():
    n = graph.symbol("n")
    with pytest.raises(TypeError, match="a value is a number or a tuple of numbers, not bool"):
        evaluate(n, {n: True})
    with pytest.raises(EvaluationError, match="n"):
        evaluate(n, {n: math.nan})
    with pytest.raises(EvaluationError, match="array"):
        evaluate(graph.if_else(graph.compare("==", n, n + 1), 1, 2), {n: (1, 2)})


@pytest.mark.parametrize(
    ("values", "expected"),
    [(8, True), (0.25, True), (3, False), ([4, -8, 0.5], True), ([4, 6], False), ([6, 4], False), ([2, 0], False)],
)
def test_arrays_of_powers_of_two_hold_nothing_else(values: object, expected: bool) -> None:
    assert bool(are_powers_of_two(values)) is expected
