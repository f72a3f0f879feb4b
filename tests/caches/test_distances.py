"""Reuse distances in a model: traits of single distances, distributions in arrays, histograms in files."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import pytest

import aspenpy
from aspenpy import AspenError, load_application
from aspenpy.answers.traffic import Traffic, traffic
from aspenpy.expr.cache_laws import lru_hits
from aspenpy.models.library import load_machine
from tests.caches.programs import counted, machine_of, modelled, simulator
from tests.thorough import slow
from tests.tiny import codes, machine

L1 = ("L1", 32768, 8)
L2 = ("L2", 2097152, 16)
BOTH = machine_of(L1, L2)

DISTRIBUTION = "param n = 1000 param rddCDF[] = {0.5, 0.75, 1.0} param rddVals[] = {2, 2*n, n^2 + n}"


def missed(found: Traffic) -> list[float]:
    return [level.read_misses + level.write_misses for level in found.totals]


def binomial(distance: int, shape: tuple[str, int, int]) -> float:
    return float(lru_hits(distance, shape[2], shape[1] // 64))


def test_single_distances() -> None:
    """SDCM for each level, of all accesses: the second cache holds what is as far away as that."""
    found = missed(modelled("loads [1000] of size [4] as rd(2000)", "", BOTH))
    assert found == pytest.approx([1000 * (1 - binomial(2000, L1)), 1000 * (1 - binomial(2000, L2))], abs=1e-9)


@pytest.mark.parametrize(("unit", "distance"), [("line", 300), ("word", 300 * 16), ("byte", 300 * 64)])
def test_units(unit: str, distance: int) -> None:
    """300 lines are as many words of 4 bytes as 16 in a line make, and as many bytes as 64 make."""
    found = missed(modelled(f"loads [1000] of size [4] as rd({distance}, {unit})", "", BOTH))
    assert found[0] == pytest.approx(1000 * (1 - binomial(300, L1)))


def test_unit_words_are_no_parameters() -> None:
    """The word of the unit is one whatever a parameter of that name is."""
    found = missed(modelled("loads [1000] of size [4] as rd(4800, word)", "param word = 7 param line = 3", BOTH))
    assert found[0] == pytest.approx(1000 * (1 - binomial(300, L1)))


@pytest.mark.parametrize("n", [100, 300, 1000, 3000])
def test_traits_and_distribution_agree(n: int) -> None:
    """A matrix product: C is loaded (n^3 - n^2) and stored (n^3), B and A are loaded n^3 times. The distribution gives
    them 1/2, 1/4 and 1/4 of 4 n^3 accesses, which is what they have but for n^2: the routes differ by 1/n at most."""
    one_by_one = missed(
        modelled(
            "loads [n^3 - n^2] of size [4] as rd(2) stores [n^3] of size [4] as rd(2) "
            "loads [n^3] of size [4] as rd(2*n) loads [n^3] of size [4] as rd(n^2 + n)",
            f"param n = {n}",
            BOTH,
        )
    )
    requirement = "loads [4*n^3 - n^2] of size [4] as rdd"
    together = missed(modelled(requirement, DISTRIBUTION.replace("1000", str(n), 1), BOTH))
    for apart, joint in zip(one_by_one, together, strict=True):
        assert joint == pytest.approx(apart, rel=1 / n, abs=n**2 * 1e-3)


def test_hits_of_the_published_example() -> None:
    """n = 1000, 32 KiB with 8 ways: distance 2 always hits, 2000 and beyond never: half of the accesses miss."""
    found = modelled("loads [1e6] of size [4] as rdd", DISTRIBUTION, BOTH)
    assert missed(found)[0] == pytest.approx(5e5, abs=0.1)


def test_distribution_of_the_kernel_before_that_of_the_model() -> None:
    app = aspenpy.parse(
        "model m { param rddCDF[] = {1.0} param rddVals[] = {1e9} kernel main { call own call model_s }"
        " kernel own { param rddCDF[] = {1.0} param rddVals[] = {0} execute { loads [100] of size [8] as rdd } }"
        " kernel model_s { execute { loads [100] of size [8] as rdd } } }"
    )
    assert isinstance(app, aspenpy.Application)
    uses = [use for use in traffic(app, machine(BOTH)).uses if use.level == "L1"]
    assert {use.kernel: use.misses for use in uses} == pytest.approx({"own": 0, "model_s": 100})


MODEL = 'model traced { kernel main { execute { loads [1000] of size [8] as rdd("FILE") } } }'


def traced(folder: Path, file: str, **options: bool) -> Traffic:
    (folder / "traced.aspen").write_text(MODEL.replace("FILE", file), encoding="utf-8")
    return traffic(load_application(folder / "traced.aspen", **options), load_machine("cachegrind"))


def test_histogram_beside_the_model(tmp_path: Path) -> None:
    """First touches miss everywhere; the others by their distance."""
    (tmp_path / "h.csv").write_text("distance,count,cumulative\n2,50,0.5\n1000,40,0.9\ninf,10,1\n", encoding="utf-8")
    found = missed(traced(tmp_path, "h.csv"))
    assert found[0] == pytest.approx(100 + 400 * (1 - binomial(1000, L1)))
    assert found[1] == pytest.approx(100)


def test_histogram_of_a_simulated_trace(tmp_path: Path) -> None:
    """A loop over 100 lines, ten times: distances of 99 and 100 first touches, as `aspenpy rdd` would tell."""
    (tmp_path / "h.csv").write_text("distance,cumulative\n99,0.9\ninf,1\n", encoding="utf-8")
    (cache,) = counted(simulator(("L1", 32768, 8)), (("L", 64 * (k % 100), 8) for k in range(1000)))
    assert missed(traced(tmp_path, "h.csv"))[0] == pytest.approx(cache.misses, abs=0.5)


def test_histogram_elsewhere_needs_leave(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "h.csv").write_text("distance,cumulative\n0,1\n", encoding="utf-8")
    with pytest.raises(AspenError) as refusal:
        traced(tmp_path / "models", "../h.csv")
    assert codes(refusal.value) == ["outside"]
    assert missed(traced(tmp_path / "models", "../h.csv", allow_outside=True)) == [0, 0]


def test_exact_sum_of_a_distribution() -> None:
    """A direct-mapped cache of 4 lines: (3/4)^D."""
    found = modelled(
        "loads [256] of size [8] as rdd(shares, distances)",
        "param shares[] = {0.25, 1} param distances[] = {1, 3}",
        machine_of(("L1", 256, 1)),
    )
    expected = 256 * (1 - Fraction(1, 4) * Fraction(3, 4) - Fraction(3, 4) * Fraction(27, 64))
    assert missed(found) == pytest.approx([float(expected)])


def zipf(count: int, exponent: float, draws: int) -> list[int]:
    """References to so many lines, the k-th as likely as 1/k^exponent, numbered in no order."""
    generator = Random(7)
    lines = generator.sample(range(count), count)
    return generator.choices(lines, [1 / (k + 1) ** exponent for k in range(count)], k=draws)


def stack_distances(references: list[int], warm_up: int) -> Counter[int]:
    """How often each number of other lines lies between two references to a line, behind a warm-up."""
    stack: list[int] = []
    found: Counter[int] = Counter()
    for number, line in enumerate(references):
        if line in stack:
            if number >= warm_up:
                found[stack.index(line)] += 1
            stack.remove(line)
        stack.insert(0, line)
    return found


@cache
def zipf_of_lines() -> tuple[list[int], int, dict[int, int]]:
    """References, how many of them warm up, and the stack distances of the others."""
    references, warm_up = zipf(2000, 0.8, 60_000), 20_000
    return references, warm_up, stack_distances(references, warm_up)


@pytest.mark.parametrize("lines", [100, 300, 800])
@slow
def test_zipf_randomly_replaced(lines: int) -> None:
    """4 ways, a random line replaced. Distances count lines, and an eviction comes with a reference: what is far away
    in lines is much further in references where a few lines have most of them."""
    references, warm_up, seen = zipf_of_lines()
    count = sum(seen.values())
    distances = sorted(seen)
    steps = [Fraction(sum(seen[near] for near in distances[: place + 1]), count) for place in range(len(distances))]
    arrays = f"param cdf[] = {{{', '.join(f'{s.numerator}/{s.denominator}' for s in steps)}}} "
    arrays += f"param values[] = {{{', '.join(map(str, distances))}}}"
    shape = ("L1", 64 * lines, 4)
    model = modelled("loads [1e6] of size [8] as rdd(cdf, values)", arrays, machine_of(shape, policy="random"))
    loads = [("L", 64 * line, 8) for line in references]
    (simulated,) = counted(simulator(shape, policy="random"), loads[warm_up:], before=loads[:warm_up])
    assert missed(model)[0] / 1e6 == pytest.approx(simulated.misses / (len(loads) - warm_up), abs=0.015)
