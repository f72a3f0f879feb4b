"""Reuse distances of a trace: what can be asked of them, in parts, by kind and from a sample."""

import tracemalloc
from itertools import pairwise
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aspenpy
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.source import Source
from aspenpy.traces import measure, stack
from aspenpy.traces.histogram import parse_histogram, read_histogram
from tests.reuse.simulation import histogram, stack_distances
from tests.thorough import slow

SMALL = [0, 64, 0, 64, 128, 0, 0]
"""Lines 0 1 0 1 2 0 0: first, first, 1, 1, first, 2, 0."""


def test_counts() -> None:
    found = aspenpy.reuse_distances(SMALL)
    assert (found.distances.tolist(), found.counts.tolist(), found.cold) == ([0, 1, 2], [1, 2, 1], 3)
    assert (found.references, found.line, found.source, found.name) == (7, 64, "<addresses>", None)
    assert repr(found) == "ReuseDistances('<addresses>', 7 references, 3 cold, lines of 64 B)"


def test_miss_ratio() -> None:
    found = aspenpy.reuse_distances(SMALL)
    assert [found.miss_ratio(lines) for lines in (0, 1, 2, 3, 100)] == pytest.approx([1, 6 / 7, 4 / 7, 3 / 7, 3 / 7])
    assert found.miss_ratio([1, 2]).tolist() == pytest.approx([6 / 7, 4 / 7])


@given(st.lists(st.integers(0, 12), min_size=1, max_size=150), st.integers(1, 14))
def test_miss_ratio_is_that_of_an_lru_cache(lines: list[int], capacity: int) -> None:
    """Which is simulated: a list of at most so many lines, the latest first."""
    cache: list[int] = []
    misses = 0
    for line in lines:
        if line in cache:
            cache.remove(line)
        else:
            misses += 1
        cache = [line, *cache][:capacity]
    assert aspenpy.reuse_distances(lines, line=1).miss_ratio(capacity) == pytest.approx(misses / len(lines))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=150), st.integers(0, 30), st.integers(1, 20))
def test_ranges_have_the_distances_of_the_whole_trace(lines: list[int], low: int, length: int) -> None:
    found = aspenpy.reuse_distances(lines, line=1, ranges={"in": (low, low + length), "all": (0, 2**64)})
    distances = [
        distance
        for line, distance in zip(lines, stack_distances(lines), strict=True)
        if low <= line < low + length and distance >= 0
    ]
    part = found.ranges["in"]
    assert np.repeat(part.distances, part.counts).tolist() == sorted(distances)
    assert part.references == sum(low <= line < low + length for line in lines)
    assert found.ranges["all"].to_json() | {"name": None, "low": None, "high": None} == found.to_json() | {"ranges": []}
    if not part.references:
        assert isnan(part.miss_ratio(4))


LACKEY = "I  00,4\n L 40,8\n S 80,8\n L 40,8\n S 80,8\n M 80,8\n"
"""Data lines 1 2 1 2 2 2: first, first, 1, 1, 0, 0; loads are the 1st, 3rd and 5th: 1 1 2."""


@pytest.mark.parametrize(
    ("options", "counts", "cold"),
    [
        ({}, {0: 2, 1: 2}, 2),
        ({"count": ["loads"]}, {0: 1, 1: 1}, 1),
        ({"count": ["stores"]}, {0: 1, 1: 1}, 1),
        ({"kinds": ["loads"]}, {0: 1}, 2),
        ({"kinds": ["loads", "stores", "instructions"]}, {0: 2, 1: 2}, 3),
        ({"ranges": {"a": (0x80, 0xC0)}, "count": ["loads"]}, {0: 1, 1: 1}, 1),
    ],
)
def test_kinds(tmp_path: Path, options: dict[str, Any], counts: dict[int, int], cold: int) -> None:
    (tmp_path / "trace").write_text(LACKEY, encoding="utf-8")
    found = aspenpy.reuse_distances(tmp_path / "trace", **options)
    assert (dict(zip(found.distances.tolist(), found.counts.tolist(), strict=True)), found.cold) == (counts, cold)
    for part in found.ranges.values():
        assert (part.distances.tolist(), part.counts.tolist(), part.cold) == ([0], [1], 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"line": 48}, "a line cannot have 48 bytes"),
        ({"line": 0}, "a line cannot have 0 bytes"),
        ({"sample": 1.5}, r"a sample cannot be 1\.5 of the lines"),
        ({"sample": 0.0}, "a sample cannot be 0 of the lines"),
        ({"ranges": {"a": (5, 5)}}, "the range `a` holds no 64-bit address"),
        ({"kinds": ["load"]}, "kinds: there are no references called `load`"),
        ({"count": ["loads"]}, "neither a format nor kinds"),
    ],
)
def test_options_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AspenError, match=message):
        aspenpy.reuse_distances(SMALL, **options)


@pytest.mark.parametrize("addresses", [[], [-1, 2], [0.5], [[1, 2]]])
def test_addresses_refused(addresses: Any) -> None:
    with pytest.raises(AspenError, match="addresses"):
        aspenpy.reuse_distances(addresses)


def test_binary_has_no_kinds(tmp_path: Path) -> None:
    np.array(SMALL, "<u8").tofile(tmp_path / "trace")
    for option in ("kinds", "count"):
        with pytest.raises(AspenError, match="holds addresses alone"):
            aspenpy.reuse_distances(tmp_path / "trace", **{option: ["loads"]})


def test_long_arrays_are_taken_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, "LEAST_CHUNK", 50)
    monkeypatch.setattr(measure, "PIECE", 20)
    lines = np.random.default_rng(3).integers(0, 90, 1000)
    found = aspenpy.reuse_distances(lines, line=1)
    assert (dict(zip(found.distances.tolist(), found.counts.tolist(), strict=True)), found.cold) == histogram(lines)


# -- the file --------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 60), min_size=1, max_size=150), st.sampled_from(["exact", "log"]))
def test_file_is_read_back(lines: list[int], bins: Any) -> None:
    found = aspenpy.reuse_distances(lines, line=1)
    read = parse_histogram(Source(found.to_csv(bins)))
    assert read.line_bytes == 1
    assert read.cold == pytest.approx(found.cold / len(lines))
    # Cumulative shares are exact at each distance of the file, also where rows are drawn together.
    assert list(read.cumulative) == pytest.approx([1 - found.miss_ratio(distance + 1) for distance in read.distances])
    if bins == "exact":
        assert list(read.distances) == found.distances.tolist()


def test_log_bins() -> None:
    """Distances 0 to 999, once each: at most 8 rows an octave, and the sum is kept."""
    n = 1000
    found = aspenpy.reuse_distances([*range(n), *reversed(range(n))], line=1)
    distances, counts = found.bin_counts("log")
    assert (counts.sum(), distances[-1]) == (n, n - 1)
    assert len(distances) <= 8 * 10 + 2
    assert distances[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert max(later / earlier for earlier, later in pairwise(distances[20:])) < 2 ** (2 / 8)


def test_written_whole_or_not_at_all(tmp_path: Path) -> None:
    found = aspenpy.reuse_distances(SMALL)
    found.write(tmp_path / "rdd.csv")
    assert read_histogram(tmp_path / "rdd.csv").distances == (0, 1, 2)
    with pytest.raises(AspenError, match=r"cannot write `.*none/rdd\.csv`: no such file or directory"):
        found.write(tmp_path / "none" / "rdd.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["rdd.csv"]


# -- samples ---------------------------------------------------------------------------------------


def test_sample_of_all_but_nothing_is_exact_where_it_must_be() -> None:
    """A cyclic sweep of n lines: every reuse is at n - 1, estimated with the error of a binomial number."""
    n, rounds, rate = 20_000, 20, 0.05
    found = aspenpy.reuse_distances(np.tile(np.arange(n), rounds), line=1, sample=rate)
    assert found.references == n * rounds
    (distance,) = found.distances[found.counts > 0.01 * found.references].tolist()
    assert abs(distance - (n - 1)) < 4 * found.distance_error(n - 1)
    assert found.distance_error(n - 1) == pytest.approx(sqrt((n - 1) * 0.95 / 0.05))
    assert aspenpy.reuse_distances(SMALL).distance_error(7) == 0


@pytest.mark.parametrize("seed", range(4))
def test_error_of_a_sample(seed: int) -> None:
    """Skewed references to many lines: misses are within four standard errors at every size."""
    draws = np.random.default_rng(seed)
    lines = (draws.pareto(0.6, 200_000) * 50).astype(np.int64) % 100_000
    exact = aspenpy.reuse_distances(lines, line=1)
    estimate = aspenpy.reuse_distances(lines, line=1, sample=0.05)
    for size in (2**exponent for exponent in range(8, 17)):
        off = abs(estimate.miss_ratio(size) - exact.miss_ratio(size))
        # The error of a distance moves along the curve: what the exact one changes by within four of them.
        beside = 4 * estimate.distance_error(size)
        slack = exact.miss_ratio(max(size - beside, 0)) - exact.miss_ratio(size + beside)
        assert off <= 4 * estimate.miss_ratio_error(size) + slack
    assert estimate.miss_ratio_error(2**16) < 0.01
    assert exact.miss_ratio_error(2**16) == 0
    assert estimate.miss_ratio(0) == pytest.approx(1)


def test_error_falls_with_the_rate() -> None:
    lines = np.random.default_rng(0).integers(0, 30_000, 300_000)
    few, many = (aspenpy.reuse_distances(lines, line=1, sample=rate).miss_ratio_error(10_000) for rate in (0.01, 0.3))
    assert few > 2 * many > 0


def test_sample_of_nothing() -> None:
    """One line that is not in the sample: all that is known is how many references there were."""
    found = next(
        found for line in range(100) if not (found := aspenpy.reuse_distances([line] * 5, line=1, sample=0.5)).cold
    )
    assert (found.references, found.distances.tolist(), found.counts.tolist()) == (5, [0], [5])


def peak_mebibytes(path: Path) -> float:
    tracemalloc.start()
    aspenpy.reuse_distances(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


@slow
def test_memory_is_that_of_the_lines(tmp_path: Path) -> None:
    """A trace four times as long, of 8 and 32 MiB, takes no more."""
    lines = np.random.default_rng(5).integers(0, 64 * 5000, 1_000_000, dtype="<u8")
    lines.tofile(tmp_path / "short")
    np.tile(lines, 4).tofile(tmp_path / "long")
    assert peak_mebibytes(tmp_path / "long") < 1.1 * peak_mebibytes(tmp_path / "short") + 1
