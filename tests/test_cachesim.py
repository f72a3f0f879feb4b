"""The simulator of caches against closed forms, against stacks, and against what must always hold."""

import csv
import os
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cachesim import Cache, Counts, Hierarchy, PlruSet
from tests.reuse.simulation import stack_distances

LINE = 64


def alone(lines: int, ways: int | None, **options: object) -> Hierarchy:
    """One cache of so many lines."""
    return Hierarchy([Cache("L1", lines * LINE, ways, **options)])  # type: ignore[arg-type]


def misses(caches: Hierarchy, lines: Iterable[int]) -> int:
    for line in lines:
        caches.load(line * LINE)
    return caches.levels[0].counts.misses


@pytest.mark.parametrize("policy", ["lru", "plru", "random"])
@pytest.mark.parametrize("ways", [1, 2, 8, None])
def test_sweep_that_fits_misses_once(policy: str, ways: int | None) -> None:
    assert misses(alone(32, ways, policy=policy), [*range(32)] * 5) == 32


@pytest.mark.parametrize("ways", [1, 2, 8, None])
def test_sweep_that_does_not_fit_always_misses(ways: int | None) -> None:
    """A line more in every set than there are ways: LRU throws out what is needed next."""
    lines = 32 + 32 // (ways or 32)
    assert misses(alone(32, ways), [*range(lines)] * 5) == 5 * lines


def test_random_replacement_of_a_sweep_one_line_too_long() -> None:
    """n ways, n + 1 lines: the victim of a miss is needed after 1, 2, ... or n references, all with the same
    probability: one miss in (n + 1)/2 references."""
    ways, rounds = 8, 20_000
    found = misses(alone(ways, None, policy="random", seed=1), [*range(ways + 1)] * rounds)
    # The gap between misses has the variance (n^2 - 1)/12: five standard errors are 0.5 % here.
    assert found / (rounds * (ways + 1)) == pytest.approx(2 / (ways + 1), rel=0.005)


def test_same_seed_same_victims() -> None:
    lines = [Random(4).randrange(40) for _ in range(500)]
    first, again, other = (misses(alone(16, 4, policy="random", seed=seed), lines) for seed in (1, 1, 2))
    assert first == again
    assert isinstance(other, int)


def test_column_of_a_matrix_of_a_power_of_two() -> None:
    """64 rows of 4096 bytes in 64 sets: all in one set, of 8 ways; padded by a line they take a set each."""
    assert misses(alone(512, 8), [row * 64 for row in range(64)] * 2) == 128
    assert misses(alone(512, 8), [row * 65 for row in range(64)] * 2) == 64


def test_tree_of_pointers_by_hand() -> None:
    """After a b c d a the root points to c and d, of which d was the last: c goes. LRU would take b."""
    places = PlruSet(4)
    assert [places.insert(line) for line in "abcd"] == [None] * 4  # type: ignore[arg-type]
    assert places.touch("a")  # type: ignore[arg-type]
    assert places.insert("e") == "c"  # type: ignore[arg-type, comparison-overlap]
    # Then it points to a and b, of which a was the last.
    assert places.insert("f") == "b"  # type: ignore[arg-type, comparison-overlap]


LINES = st.lists(st.integers(0, 40), max_size=200)


@given(LINES, st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 3]))
@settings(deadline=None)
def test_lru_is_a_stack_for_each_set(lines: list[int], sets: int, ways: int) -> None:
    """A reference hits if fewer other lines of its set were touched than there are ways (Mattson et al. 1970)."""
    expected = sum(
        not 0 <= distance < ways
        for number in range(sets)
        for distance in stack_distances(line for line in lines if line % sets == number)
    )
    assert misses(alone(sets * ways, ways), lines) == expected


@given(LINES, st.sampled_from([1, 4]))
@settings(deadline=None)
def test_two_pointers_are_lru(lines: list[int], sets: int) -> None:
    assert misses(alone(2 * sets, 2, policy="plru"), lines) == misses(alone(2 * sets, 2), lines)


# -- stores ----------------------------------------------------------------------------------------


def test_stream_of_stores() -> None:
    """1000 lines, 8 stores each: all are fetched once, all but the 32 that are left are written back."""
    caches = alone(32, 4).run(("S", 8 * number, 8) for number in range(8000))
    counts = caches.levels[0].counts
    assert (counts.reads, counts.writes, counts.write_misses, counts.writes_back) == (0, 8000, 1000, 968)
    assert (caches.memory.lines_read, caches.memory.lines_written) == (1000, 968)
    caches.flush()
    assert caches.memory.lines_written == 1000


def test_stores_without_allocation() -> None:
    """Lines that are not there are not fetched; a line that was loaded takes its stores."""
    caches = alone(32, 4, allocate=False).run(("S", 8 * number, 8) for number in range(80))
    assert (caches.memory.lines_read, caches.memory.lines_written) == (0, 80)
    caches.run([("L", 0, 8), *(("S", 8 * number, 8) for number in range(8))])
    assert (caches.memory.lines_read, caches.memory.lines_written) == (1, 80)
    assert caches.levels[0].dirty == {0}


def test_reference_in_two_lines() -> None:
    caches = alone(32, 4).run([("L", 60, 8), ("S", 60, 8)])
    counts = caches.levels[0].counts
    assert (counts.reads, counts.read_misses, counts.writes, counts.write_misses) == (2, 2, 2, 0)


# -- levels ----------------------------------------------------------------------------------------

REFERENCES = st.lists(st.tuples(st.sampled_from("LS"), st.integers(0, 50 * LINE), st.integers(1, 9)), max_size=200)


def two_levels(policy: str, allocate: bool, inclusive: bool) -> Hierarchy:
    first = Cache("L1", 8 * LINE, 2, policy=policy, allocate=allocate)
    return Hierarchy([first, Cache("L2", 16 * LINE, 4, policy=policy, inclusive=inclusive)])


@given(REFERENCES, st.sampled_from(["lru", "plru", "random"]), st.booleans(), st.booleans())
@settings(deadline=None)
def test_what_always_holds(
    references: list[tuple[str, int, int]], policy: str, allocate: bool, inclusive: bool
) -> None:
    caches = two_levels(policy, allocate, inclusive)
    written: set[int] = set()
    for letter, address, size in references:
        caches.run([(letter, address, size)])
        if letter == "S":
            written |= set(range(address // LINE, (address + size - 1) // LINE + 1))
        for level in caches.levels:
            assert level.dirty <= level.present
            assert len(level.present) <= 16
        if inclusive and allocate:
            assert caches.levels[0].present <= caches.levels[1].present
    first, second = (level.counts for level in caches.levels)
    assert (second.reads, second.writes) == (first.read_misses, first.write_misses)
    assert caches.memory.lines_read == second.misses
    caches.flush()
    assert caches.memory.lines_written >= len(written)
    assert all(not level.dirty for level in caches.levels)


@given(REFERENCES)
@settings(deadline=None)
def test_second_level_sees_the_misses_of_the_first(references: list[tuple[str, int, int]]) -> None:
    """Without stores, it is a cache of its own whose trace is the first one's misses."""
    caches = two_levels("lru", allocate=True, inclusive=False)
    first, second = alone(8, 2), alone(16, 4)
    for _, address, size in references:
        caches.load(address, size)
        for line in range(address // LINE, (address + size - 1) // LINE + 1):
            before = first.levels[0].counts.misses
            first.load(line * LINE)
            if first.levels[0].counts.misses > before:
                second.load(line * LINE)
    assert caches.levels[0].counts == first.levels[0].counts
    assert caches.levels[1].counts == second.levels[0].counts


def test_inclusive_level_takes_lines_from_the_one_before_it() -> None:
    """Line 0 is used all the time, so that the second level does not see it and evicts it as its oldest."""
    lines = [line for other in range(1, 5) for line in (0, other)]
    for inclusive, expected in ((False, 5), (True, 6)):
        caches = Hierarchy([Cache("L1", 2 * LINE, None), Cache("L2", 4 * LINE, None, inclusive=inclusive)])
        assert misses(caches, [*lines, 0]) == expected


# -- a real simulator ------------------------------------------------------------------------------

SHARED = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[2] / "shared"))
CACHEGRIND = SHARED / "oracles" / "cachegrind.csv"

FLOAT = 4


def kernel(name: str, n: int, a: int, b: int, c: int) -> Iterator[tuple[str, int, int]]:
    """References of some kernels to matrices of floats, in the order of the program."""
    if name == "transpose":
        for i, j in product(range(n), range(n)):
            yield from (("L", a + FLOAT * (i * n + j), FLOAT), ("S", b + FLOAT * (j * n + i), FLOAT))
    elif name == "triad":
        for i in range(n * n):
            yield from (("L", c + FLOAT * i, FLOAT), ("L", b + FLOAT * i, FLOAT), ("S", a + FLOAT * i, FLOAT))
    else:
        for i, j in product(range(1, n - 1), range(1, n - 1)):
            yield from (("L", a + FLOAT * (i * n + j + beside), FLOAT) for beside in (0, -1, 1, -n, n))
            yield "S", b + FLOAT * (i * n + j), FLOAT


def cache(name: str, description: str) -> Cache:
    """Such as `32768:8:64`: bytes, ways, bytes of a line."""
    capacity, ways, line = map(int, description.split(":"))
    return Cache(name, capacity, ways, line=line)


@pytest.mark.skipif(not CACHEGRIND.exists(), reason="cachegrind's counts are not beside the checkout (ASPENPY_SHARED)")
@pytest.mark.parametrize("n", [64, 100, 128])
@pytest.mark.parametrize("name", ["transpose", "triad", "jacobi5"])
def test_cachegrind_counts_the_same(name: str, n: int) -> None:
    """But for the loads of the stack when the kernel returns, two at most."""
    with CACHEGRIND.open() as file:
        (row,) = (row for row in csv.DictReader(file) if (row["kernel"], row["n"]) == (name, str(n)))
    matrix = -(-FLOAT * n * n // 4096) * 4096
    places = (0, matrix, 2 * matrix)
    caches = Hierarchy([cache("D1", row["D1"]), cache("LL", row["LL"])])
    caches.run(("S", place + FLOAT * i, FLOAT) for i in range(n * n) for place in places)
    for level in caches.levels:
        level.counts = Counts()
    caches.run(kernel(name, n, *places))
    first, last = (level.counts for level in caches.levels)
    found = (first.reads, first.writes, first.read_misses, first.write_misses, last.read_misses, last.write_misses)
    counted = [int(row[column]) for column in ("Dr", "Dw", "D1mr", "D1mw", "DLmr", "DLmw")]
    assert all(0 <= theirs - ours <= 2 for ours, theirs in zip(found, counted, strict=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"capacity": 1000, "ways": 4}, "1000 bytes are no whole number of sets"),
        ({"capacity": 6 * LINE, "ways": 4}, "no whole number of sets of 4 lines"),
        ({"capacity": 6 * LINE, "ways": 3, "policy": "plru"}, "a power of two of ways, not 3"),
    ],
)
def test_impossible_caches(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Cache("L1", **options)  # type: ignore[arg-type]
