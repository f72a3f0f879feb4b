"""Grids of processes: a number of ranks in near-equal factors, as `MPI_Dims_create` lays them out.

The factors are as close to each other as possible and do not increase (MPI 4.0, section 8.5.2): the largest is the
smallest that there is, then the second, and so on.
"""

from __future__ import annotations

from functools import lru_cache

from aspenpy.expr.arithmetic import DomainError, Number, format_number

MOST_RANKS = 10**12  # all numbers up to the root of the ranks are tried: a million

MOST_DIMENSIONS = 6


def process_grid(ranks: Number, dimensions: Number, axis: Number) -> Number:
    """The ranks along one axis, counted from 0, of a grid of so many dimensions: `grid(12, 2, 0)` is 4."""
    count = _require_whole(ranks, "the ranks of a grid", 1, MOST_RANKS)
    many = _require_whole(dimensions, "the dimensions of a grid", 1, MOST_DIMENSIONS)
    return near_equal_factors(count, many)[_require_whole(axis, "the axis of a grid", 0, many - 1)]


def _require_whole(value: Number, role: str, least: int, most: int) -> int:
    if not least <= value <= most or int(value) != value:
        raise DomainError(f"{role} must be a whole number from {least:,} to {most:,}, not {format_number(value)}")
    return int(value)


@lru_cache(maxsize=4096)
def near_equal_factors(number: int, many: int) -> tuple[int, ...]:
    """So many factors, the largest first."""
    found = _find_factors(number, many, number, divisors(number))
    assert found is not None, "the number itself and ones are factors"
    return found


def _find_factors(number: int, many: int, largest: int, candidates: list[int]) -> tuple[int, ...] | None:
    """The first in the order of the module whose factors are no larger than `largest`."""
    if many == 1:
        return (number,) if number <= largest else None
    for factor in candidates:
        if factor > largest:
            break
        if number % factor == 0 and factor**many >= number:
            others = _find_factors(number // factor, many - 1, factor, candidates)
            if others is not None:
                return (factor, *others)
    return None


def divisors(number: int) -> list[int]:
    """Those of a whole number, the smallest first."""
    small, divisor = [], 1
    while divisor * divisor <= number:
        if number % divisor == 0:
            small.append(divisor)
        divisor += 1
    return small + [number // divisor for divisor in reversed(small) if divisor * divisor != number]
