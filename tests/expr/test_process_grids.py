"""Near-equal factors of a number of ranks, against trying all of them."""

from __future__ import annotations

import random
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import DomainError, factor_evenly, process_grid
from tests.sweeps.test_programs import AVAILABLE, swept
from tests.thorough import examples


def tried(number: int, many: int) -> tuple[int, ...]:
    """The least in their order of all factors that do not increase."""
    divisors = [divisor for divisor in range(1, number + 1) if number % divisor == 0]
    rows = (row for row in product(divisors, repeat=many) if prod(row) == number)
    return min(row for row in rows if list(row) == sorted(row, reverse=True))


@pytest.mark.parametrize("many", [1, 2, 3])
def test_against_all_factors(many: int) -> None:
    for number in range(1, 200):
        assert factor_evenly(number, many) == tried(number, many)


@pytest.mark.parametrize("number", [1, 12, 16, 30, 36, 64, 72, 81])
def test_four_dimensions(number: int) -> None:
    assert factor_evenly(number, 4) == tried(number, 4)


@pytest.mark.parametrize(
    ("number", "many", "factors"),
    [(6, 2, (3, 2)), (7, 2, (7, 1)), (6, 3, (3, 2, 1)), (7, 3, (7, 1, 1))],
)
def test_small_grids(number: int, many: int, factors: tuple[int, ...]) -> None:
    """The first two are the standard's own, MPI 4.0, section 8.5.2."""
    assert factor_evenly(number, many) == factors


@given(st.integers(1, 10**9), st.integers(1, 6))
@settings(max_examples=examples(40), deadline=None)
def test_factors_multiply_and_do_not_increase(number: int, many: int) -> None:
    factors = factor_evenly(number, many)
    assert prod(factors) == number
    assert list(factors) == sorted(factors, reverse=True)


@pytest.mark.parametrize("backend", AVAILABLE)
@pytest.mark.parametrize("many", [1, 2, 3])
def test_many_counts_at_once(backend: str, many: int) -> None:
    """Counts that come again, and counts that share a row of C's table of 1,024."""
    counts = [*range(1, 40), *range(1025, 1064), *range(7169, 7180)]
    draws = random.Random(many).choices(counts, k=300)
    factors = {count: tried(count, many) for count in counts}
    ranks = graph.symbol("ranks")
    for axis in range(many):
        found, _ = swept(graph.apply("grid", ranks, many, axis), {ranks: draws}, backend)
        assert found == [factors[count][axis] for count in draws]


def test_large_numbers_of_ranks() -> None:
    assert prod(factor_evenly(963_761_198_400, 3)) == 963_761_198_400
    assert factor_evenly(999_999_999_989, 3) == (999_999_999_989, 1, 1)
    assert factor_evenly(2**39, 3) == (2**13,) * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2, 0), "the ranks of a grid must be a whole number from 1 to 1,000,000,000,000, not 0"),
        ((12.5, 2, 0), "the ranks of a grid must be a whole number from 1 to 1,000,000,000,000, not 12.5"),
        ((12, 7, 0), "the dimensions of a grid must be a whole number from 1 to 6, not 7"),
        ((12, 2, 2), "the axis of a grid must be a whole number from 0 to 1, not 2"),
    ],
)
def test_what_is_no_grid(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(DomainError) as caught:
        process_grid(*arguments)
    assert str(caught.value) == message
