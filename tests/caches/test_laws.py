"""The laws of caches: exact sums, published values, a simulator, brute force; Python, NumPy and C agree."""

import math
import shutil
import subprocess
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.engine.c_text import to_c
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.cache_laws import (
    apply_by_point,
    greatest_divisor,
    lines_with_room,
    lru_hits,
    numpy_lines_with_room,
    numpy_lru_hits,
    random_misses,
    sets_touched,
)
from aspenpy.expr.graph import apply, symbol
from tests.cachesim import Cache, Hierarchy
from tests.thorough import examples

# -- the binomial model of LRU ---------------------------------------------------------------------

PUBLISHED = [
    (8, 512, 2, 1.0), (8, 512, 125, 0.999171), (8, 512, 256, 0.950269), (8, 512, 512, 0.451861),
    (8, 512, 1024, 0.009582), (8, 512, 2000, 1.7e-7), (16, 32768, 16384, 0.991784), (16, 32768, 32768, 0.466721),
    (1, 512, 256, 0.606234),
]  # fmt: skip
"""Ways, lines, distance, the probability of a hit: SDCM evaluated by others."""


@pytest.mark.parametrize(("ways", "lines", "distance", "hits"), PUBLISHED)
def test_published_values(ways, lines, distance, hits):
    assert lru_hits(distance, ways, lines) == pytest.approx(hits, abs=1e-6)


def binomial(distance, ways, lines):
    """The sum as it is defined, in whole numbers: sum over a < A of C(D, a) (A/B)^a (1 - A/B)^(D-a)."""
    chance = Fraction(ways, lines)
    terms = (math.comb(distance, a) * chance**a * (1 - chance) ** (distance - a) for a in range(ways))
    return sum(terms) if distance >= ways else Fraction(1)


caches = st.integers(1, 24).flatmap(lambda ways: st.tuples(st.just(ways), st.integers(1, 40).map(lambda n: n * ways)))


@given(caches, st.integers(0, 400))
def test_exact_sums(cache, distance):
    ways, lines = cache
    exact = binomial(distance, ways, lines)
    assert lru_hits(distance, ways, lines) == pytest.approx(float(exact), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("distance", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("ways", [1, 2, 8])
def test_distances_up_to_a_million_million(distance, ways):
    """A cache as large as the distance: Poisson's limit, sum of A^a exp(-A)/a!, off by A^2/D at most."""
    limit = math.exp(-ways) * sum(Fraction(ways**a, math.factorial(a)) for a in range(ways))
    assert lru_hits(distance, ways, distance) == pytest.approx(float(limit), rel=2 * ways**2 / distance + 1e-9)
    assert lru_hits(distance, ways, distance // 1000) == pytest.approx(0, abs=1e-12)


def test_many_ways_do_not_overflow():
    """Half of a large set's lines on average are no danger, twice as many are too many; the middle is the middle."""
    assert lru_hits(500_000, 10_000, 1_000_000) == pytest.approx(1, abs=1e-12)
    assert lru_hits(2_000_000, 10_000, 1_000_000) == pytest.approx(0, abs=1e-12)
    assert lru_hits(1_000_000, 10_000, 1_000_000) == pytest.approx(0.5, abs=0.01)


@given(caches, st.floats(0, 1e4), st.floats(0, 100))
def test_farther_is_never_likelier(cache, distance, more):
    ways, lines = cache
    assert 0 <= lru_hits(distance + more, ways, lines) <= lru_hits(distance, ways, lines) + 1e-12 <= 1 + 1e-12


@given(st.integers(1, 64), st.integers(0, 200))
def test_limits(lines, distance):
    """One set holds what is nearer than its lines; with one way each line in between must lie elsewhere."""
    assert lru_hits(distance, lines, lines) == (distance < lines)
    assert lru_hits(distance, 1, lines) == pytest.approx((1 - 1 / lines) ** distance)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((-1, 8, 512), "a reuse distance cannot be negative, it is -1"),
        ((1, 0, 512), "a whole number of ways, from 1 to 1,000,000, not 0"),
        ((1, 1.5, 512), "a whole number of ways"),
        ((1, 8, 4), "a cache of 4 lines cannot have 8 ways"),
    ],
)
def test_refused(args, message):
    with pytest.raises(DomainError, match=message):
        lru_hits(*args)
    assert math.isnan(numpy_lru_hits(numpy, *args))


# -- random replacement ----------------------------------------------------------------------------


def one_set(lines: int, seed: int, policy: str = "random") -> Hierarchy:
    return Hierarchy([Cache("C", lines * 64, None, policy=policy, seed=seed)])


def simulated(lines: int, references: list[int], warm_up: int) -> float:
    """The share of misses with random replacement in one set, behind a warm-up."""
    caches = one_set(lines, seed=1)
    for line in references[:warm_up]:
        caches.load(line * 64)
    before = caches.levels[0].counts.misses
    for line in references[warm_up:]:
        caches.load(line * 64)
    return (caches.levels[0].counts.misses - before) / (len(references) - warm_up)


@pytest.mark.parametrize(("lines", "loop"), [(8, 9), (32, 33), (32, 40), (32, 64), (64, 80), (64, 200)])
def test_loops_randomly_replaced(lines, loop):
    """All lines of the loop but one lie between. Evictions are taken to be independent, and the lines of a loop a
    little larger than the cache push each other out: two lines' worth of the cache is what that makes at most."""
    found = simulated(lines, [*range(loop)] * (60_000 // loop), 10_000)
    assert random_misses(lines, loop - 1, 1) == pytest.approx(found, abs=2 / lines)


def test_mixture_randomly_replaced():
    """Half of the references to a loop of 20 lines, half to one of 300."""
    near, far = [2 * k for k in range(20)], [2 * k + 1 for k in range(300)]
    references = [(near[k // 2 % 20], far[k // 2 % 300])[k % 2] for k in range(60_000)]
    expected = random_misses(128, 39, 0.5, 599, 0.5)
    assert expected == pytest.approx(simulated(128, references, 10_000), rel=0.03)


def test_what_fits_is_never_missed():
    """A loop as long as the cache stays once it is in."""
    assert random_misses(64, 63, 1) == pytest.approx(0, abs=1e-6)
    assert random_misses(64, 0, 1) == 0
    assert random_misses(64, 0, 0) == 1


@given(st.integers(1, 500), st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 10)), min_size=1, max_size=5))
def test_the_fixed_point_is_one(lines, weighted):
    """m = 1 - sum of P (1 - m/B)^d, put in; and no larger m is one."""
    whole = sum(weight for _, weight in weighted) or 1
    pairs = [(distance, weight / whole) for distance, weight in weighted]
    misses = random_misses(lines, *(part for pair in pairs for part in pair))

    def image(m):
        return 1 - sum(share * (1 - m / lines) ** distance for distance, share in pairs)

    assert image(misses) == pytest.approx(misses, abs=1e-6)
    assert all(image(m) <= m + 1e-9 for m in numpy.linspace(misses, 1, 9))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((64, 1), "takes pairs"),
        ((0, 1, 1), "at least one line, not 0"),
        ((64, -1, 1), "cannot be negative"),
        ((64, 1, 0.7, 2, 0.7), "add up to more than 1"),
    ],
)
def test_random_refused(args, message):
    with pytest.raises(DomainError, match=message):
        random_misses(*args)


# -- LRU against a simulator -----------------------------------------------------------------------


def zipf(objects: int, exponent: float, count: int, seed: int) -> list[int]:
    weights = [1 / rank**exponent for rank in range(1, objects + 1)]
    draws = Random(seed)
    places = [*range(objects)]
    draws.shuffle(places)
    return draws.choices(places, weights, k=count)


def distances(references: list[int]) -> list[int | None]:
    """Different lines since the last reference to the same one, by search in the stack; None for first ones."""
    stack: list[int] = []
    found: list[int | None] = []
    for line in references:
        found.append(stack.index(line) if line in stack else None)
        if line in stack:
            stack.remove(line)
        stack.insert(0, line)
    return found


@cache
def zipf_and_distances() -> tuple[list[int], list[int | None]]:
    references = zipf(2000, 0.8, 30_000, seed=3)
    return references, distances(references)


@pytest.mark.parametrize(
    ("sets", "simulation", "model"), [(25, 0.2704, 0.2758), (75, 0.4606, 0.46), (200, 0.6972, 0.6877)]
)
def test_zipf(sets, simulation, model):
    """The published check: 2000 objects, exponent 0.8, caches of 100, 300 and 800 lines in sets of 4."""
    references, behind = zipf_and_distances()
    hits = [lru_hits(d, 4, 4 * sets) for d in behind[10_000:] if d is not None]
    assert sum(map(float, hits)) / 20_000 == pytest.approx(model, abs=0.02)
    caches = Hierarchy([Cache("C", 4 * sets * 64, 4)])
    for line in references[:10_000]:
        caches.load(line * 64)
    before = caches.levels[0].counts.misses
    for line in references[10_000:]:
        caches.load(line * 64)
    assert 1 - (caches.levels[0].counts.misses - before) / 20_000 == pytest.approx(simulation, abs=0.02)


# -- sets with room --------------------------------------------------------------------------------

loads = st.lists(st.tuples(st.fractions(0, 5, max_denominator=8), st.fractions(0, 1, max_denominator=6)), max_size=4)


@given(st.integers(1, 9), st.fractions(Fraction(1, 8), 5, max_denominator=8), loads)
def test_lines_with_room_case_by_case(ways, own, parts):
    """All cases of each load: absent, rounded down, rounded up; of the own one, with as much weight as it has lines."""
    total = Fraction(0)
    for case in product((0, 1), *[(0, 1, 2)] * len(parts)):
        rest = own - math.floor(own)
        lines = math.floor(own) + case[0]
        weight = (1 - rest, rest)[case[0]] * lines / own
        for which, (load, chance) in zip(case[1:], parts, strict=True):
            rest = load - math.floor(load)
            weight *= (1 - chance, chance * (1 - rest), chance * rest)[which]
            lines += (0, math.floor(load), math.floor(load) + 1)[which]
        total += weight * (lines <= ways)
    flat = [float(own), *(float(part) for pair in parts for part in pair)]
    assert lines_with_room(ways, *flat) == pytest.approx(float(total), abs=1e-12)
    assert numpy_lines_with_room(numpy, ways, *flat) == pytest.approx(float(total), abs=1e-12)


def test_one_load_has_room_in_part_of_its_sets():
    """75 lines in 16 sets of 4: 11 sets have 5, and the 20 lines of the others stay. With another load on top, half
    of the sets have one line more than room."""
    assert lines_with_room(4, 75 / 16) == pytest.approx(20 / 75)
    assert lines_with_room(8, 4, 4.5, 1) == pytest.approx(0.5)
    assert lines_with_room(8, 4, 4.5, 0.5) == pytest.approx(0.75)
    with pytest.raises(DomainError, match="takes its own load"):
        lines_with_room(8, -1)


# -- sets that strides touch -----------------------------------------------------------------------


def touched(run, line, sets, *loops):
    """The sets, address by address, the lowest where a line begins."""
    strides, trips = [abs(stride) for stride in loops[::2]], loops[1::2]
    starts = (sum(s * k for s, k in zip(strides, ks, strict=True)) for ks in product(*map(range, trips)))
    return len({(start + byte) // line % sets for start in starts for byte in range(run)})


nests = st.lists(st.tuples(st.integers(-300, 600), st.integers(1, 12)), min_size=1, max_size=3)


@settings(max_examples=examples(200))
@given(st.sampled_from([16, 64, 24]), st.integers(1, 33), st.integers(1, 70), nests)
def test_sets_address_by_address(line, sets, run, loops):
    flat = [part for loop in loops for part in loop]
    assert sets_touched(run, line, sets, *flat) == touched(run, line, sets, *flat)


@pytest.mark.parametrize(("n", "sets"), [(128, 8), (256, 4), (144, 64), (512, 2)])
def test_columns_of_matrices(n, sets):
    """A column of n floats in a cache of 64 sets: rows of a power of two come back to the same few."""
    assert sets_touched(4, 64, 64, 4 * n, n) == sets


def test_divisors():
    assert greatest_divisor(-12, 18) == 6
    with pytest.raises(DomainError, match="is a whole number, not"):
        greatest_divisor(1.5, 3)


# -- the other forms -------------------------------------------------------------------------------

x = symbol("x")
FORMS = [
    ("lru_hits", lambda d: (d, 8, 512), [0, 7, 8, 100, 512, 513.5, 2000, 1e6, 1e12, -1]),
    ("lru_hits", lambda w: (600, w, 1200), [1, 2, 8, 600, 1200, 0, 1.5, 5000]),
    ("random_misses", lambda d: (64, d, 0.5, 100, 0.25), [0, 1, 63, 64, 500, 1e6, -2]),
    ("sets_touched", lambda s: (4, 64, 64, s, 100, 64, 3), [4, 64, 400, 512, 4096, -512, 0]),
    ("lines_with_room", lambda x: (8, 3.5, x, 0.5, 2.25, 0.75), [0, 1, 2.25, 2.5, 9, -1]),
    ("lines_with_room", lambda x: (8, x, 0.25, 1), [0, 1, 7.75, 8.5, -1]),
    (
        "share_kept",
        lambda s: (4, 64, 64, 1, 40, 1, 8, 0, s, 60, 8, 8, 0, 1, 8, 0, 8, 60, 0, s, 192),
        [8, 64, 400, 520, 4096, -512, 2.5],
    ),
    (
        "share_kept",
        lambda n: (
            2,
            64,
            32,
            2,
            n,
            9,
            2,
            8,
            1,
            480,
            n,
            8,
            60,
            0,
            0,
            8,
            0,
            8,
            0,
            480,
            60,
            8,
            8,
            0,
            0,
            1,
            8,
            0,
            0,
            1,
            8,
            8,
            0,
            0,
        ),
        [1, 7, 60],
    ),
    (
        "share_kept",
        lambda w: (w, 64, 16, 1, 5, 1, 8, 0, 8, 70, 560, 560, 0, 1, 600, 0, 0, 1, 600, 600, 0),
        [0, 1, 2, 2.7, 9, 40],
    ),
    (
        "share_kept",
        lambda p: (1, 64, 16, 1, 5, 1, 8, 0, 8, 70, 560, 560, 128, 1, 8, 0, 8, 70, 560, 560, p),
        [0, 64, 128, 160, 1000, 5000, -64, 0.5],
    ),
    (
        "share_kept",
        lambda b: (8, 64, 32, 0, *(1, 8192, 0, 0, 1, 0, 0), *(1, b, 0, 0, 1, 0, 0), *(1, 8192, 0, 0, 1, 0, 0)),
        [0, -1, 0.5, 64, 65, 2048, 1e6],
    ),
    (
        "share_kept",
        lambda t: (8, 64, 64, 0, *(1, 4, 0, 568, t, 0, 0), *(1, 4, 0, 568, t, 0, 0), *(1, 4, 1, 520, 90, 0, 1, 0, 0)),
        [16, 17, 130, 5000.5, 2037654.1],
    ),
    ("share_kept", lambda k: (2, 64, 16, k, 5, 1, 8, 0, 8, 70, 560, 560, 0), [-1, 0, 1, 2, 0.5]),
    ("gcd", lambda a: (a, 48), [1, 64, 36, 0, -32, 1.5]),
]


@pytest.mark.parametrize(("name", "arguments", "points"), FORMS)
def test_numpy_agrees(name, arguments, points):
    from aspenpy.expr.functions import FUNCTIONS

    row = FUNCTIONS[name]
    columns = [numpy.array(column, dtype=float) for column in zip(*map(arguments, points), strict=True)]
    assert row.numpy(numpy, *columns) == pytest.approx(expected(name, arguments, points), rel=1e-12, nan_ok=True)


def expected(name, arguments, points):
    from aspenpy.expr.functions import FUNCTIONS

    return [value_or_nan(FUNCTIONS[name].exact, arguments(point)) for point in points]


def value_or_nan(rule, arguments):
    try:
        return float(rule(*arguments))
    except DomainError:
        return math.nan


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")
def test_c_agrees(tmp_path):
    sources, mains, wanted = [], ["#include <stdio.h>"], []
    calls = []
    for number, (name, arguments, points) in enumerate(FORMS):
        file = tmp_path / f"f{number}.c"
        file.write_text(to_c(apply(name, *arguments(x)), [x], f"f{number}"), encoding="utf-8")
        sources.append(str(file))
        mains.append(f"double f{number}(double);")
        calls += [f'printf("%.17g\\n", f{number}({float(point)!r}));' for point in points]
        wanted += expected(name, arguments, points)
    (tmp_path / "main.c").write_text(
        "\n".join([*mains, f"int main(void) {{ {' '.join(calls)} return 0; }}", ""]), encoding="utf-8"
    )
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
    program = tmp_path / "program"
    subprocess.run(["gcc", *flags, *sources, str(tmp_path / "main.c"), "-o", str(program), "-lm"], check=True)
    printed = subprocess.run([program], capture_output=True, check=True, text=True).stdout
    assert [float(line) for line in printed.split()] == pytest.approx(wanted, rel=1e-11, nan_ok=True)


def test_by_point_is_once_for_each_different_point():
    asked = []

    def rule(point):
        asked.append(point)
        return point * 2

    assert apply_by_point(rule)(numpy, numpy.array([3.0, 1.0, 3.0])).tolist() == [6, 2, 6]
    assert sorted(asked) == [1, 3]
