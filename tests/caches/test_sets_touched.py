"""The sets that nested loops touch, against touching every byte of every iteration."""

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.cache_laws import sets_touched
from tests.thorough import examples


def one_by_one(run: float, line: int, sets: int, *loops: float) -> int:
    strides = [abs(int(stride)) for stride in loops[0::2]]
    trips = [range(max(1, math.ceil(count))) for count in loops[1::2]]
    starts = {sum(map(math.prod, zip(strides, place, strict=True))) for place in product(*trips)}
    return len({byte // line % sets for start in starts for byte in range(start, start + max(1, math.ceil(run)))})


LOOPS = st.lists(
    st.tuples(st.one_of(st.integers(-90, 90), st.integers(0, 12).map(lambda n: 16 * n)), st.floats(0, 6)), max_size=3
)


@settings(max_examples=examples(400))
@given(st.floats(0, 40), st.sampled_from([1, 4, 12, 16]), st.integers(1, 40), LOOPS)
def test_byte_by_byte(run: float, line: int, sets: int, loops: list[tuple[int, float]]) -> None:
    flat = [number for loop in loops for number in loop]
    assert sets_touched(run, line, sets, *flat) == one_by_one(run, line, sets, *flat)


def test_a_large_cache_costs_no_more_than_what_is_touched() -> None:
    """A column of a matrix of 1000 rows of 8000 bytes: 1000 lines, as 8000 = 125 * 64; in 2^60 sets or in 2^40."""
    assert sets_touched(8, 64, 2**60, 8000, 1000) == 1000
    assert sets_touched(8, 64, 2**40, 8000, 1000, 8, 8) == 1000
    assert sets_touched(8, 64, 2**50, 8, 10**15) == 125 * 10**12
    with pytest.raises(DomainError, match="too large for strides of 1 bytes"):
        sets_touched(1, 64, 2**50, 999_999_937, 1_000)
