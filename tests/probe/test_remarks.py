"""Remarks of a probe on what it measured: the words by hand, at both sides of each threshold."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aspenpy.probe import probe
from aspenpy.probe.assumed import choose_hashed_ways, choose_ways
from aspenpy.probe.number import Number
from aspenpy.probe.quantity import Quantity, combine_passes
from tests.probe.hosts import HOST


def quantities(**values: float) -> dict[str, Quantity]:
    return {name: Quantity(value, 0.0) for name, value in values.items()}


def test_the_best_of_passes_and_how_far_their_median_is_from_it() -> None:
    passes = [{"ring_latency": 4.0, "rate": 8.0}, {"ring_latency": 2.0, "rate": 10.0}, {"ring_latency": 3.0, "a": 0.0}]
    found = combine_passes(passes)
    assert list(found) == ["ring_latency", "rate", "a"]
    assert [(item.value, item.spread) for item in found.values()] == [
        (2.0, 0.5),  # the median is 3
        (10.0, pytest.approx(0.1)),  # 9
        (0.0, 0.0),
    ]


@pytest.mark.parametrize(("lines", "ways"), [(1, 1), (7, 7), (4096, 4096), (8192, 4096), (8194, 482), (12288, 4096)])
def test_ways_of_a_hashed_cache_divide_its_lines(lines: int, ways: int) -> None:
    assert choose_hashed_ways(lines * 64, 64).value == ways


@pytest.mark.parametrize(
    ("capacity", "stated", "ways", "source"),
    [
        (48 * 1024, 12, 12, "lscpu"),
        (48 * 1024, 9, 8, "assumed: 8 ways"),  # 768 lines make no 9 ways
        (48 * 1024, None, 8, "assumed: 8 ways"),
        (48 * 1024, 0, 8, "assumed: 8 ways"),
        (12 * 64, None, 12, "assumed: as many as make whole sets"),
    ],
)
def test_ways_that_make_whole_sets(capacity: int, stated: int | None, ways: int, source: str) -> None:
    assert choose_ways(capacity, 64, stated, "lscpu") == Number(ways, "", source)


@pytest.mark.parametrize(
    ("both", "verb", "share"),
    [
        (4.0, "overlap", "100%"),  # 4 s beside 2 s
        (3.5, "overlap", "100%"),  # more than all of it is noise
        (4.98, "overlap", "51%"),
        (5.0, "add to", "50%"),
        (6.0, "add to", "0%"),
        (6.5, "add to", "0%"),
    ],
)
def test_overlaps(both: float, verb: str, share: str) -> None:
    results = quantities(overlap_memory_far_latency=4.0, overlap_memory_near_latency=2.0)
    assert list(probe._describe_overlaps(results)) == []
    results |= quantities(overlap_memory_both_latency=both)
    assert list(probe._describe_overlaps(results)) == [
        f"Loads from memory {verb} those from the first cache: {share} of the shorter time is hidden."
    ]


def test_outstanding_misses() -> None:
    """40 ns for one load at a time, 5 ns with the chains that serve it best."""
    results = quantities(second_latency=4e-8, second_chains_4_latency=1e-8, second_chains_16_latency=5e-9)
    assert list(probe._describe_outstanding_lines(results)) == ["Outstanding misses of the second cache: 8."]
    results.pop("second_latency")
    assert list(probe._describe_outstanding_lines(results)) == []


@pytest.mark.parametrize(
    ("cores", "names", "said"),
    [
        (1, ["core", "all"], None),
        (2, ["core", "all"], "1: 1, 2: 2"),
        (4, ["core", "on_2", "all"], "1: 1, 2: 2, 4: 3"),
        (6, ["core", "on_2", "on_4", "all"], "1: 1, 2: 2, 4: 3, 6: 4"),
        (6, ["core", "on_2", "all"], None),
    ],
)
def test_saturation(cores: int, names: list[str], said: str | None) -> None:
    results = quantities(**{f"memory_load_{name}": 1e9 * (place + 1) for place, name in enumerate(names)})
    expected = [] if said is None else [f"Loads from memory by the number of cores, GB/s: {said}."]
    assert list(probe._describe_saturation(results, cores)) == expected


@pytest.mark.parametrize(
    ("together", "sharing", "is_private"), [(0.75, 2, True), (0.74, 2, False), (1.0, 1, False), (None, 2, False)]
)
def test_parts_of_a_shared_cache(
    together: float | None, sharing: int, is_private: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 8 << 20
    turns = {(2, ""): float(size), (2, "ring_all_"): None if together is None else together * size}
    monkeypatch.setattr(probe, "find_cache_turn", lambda results, index, prefix="": turns[index, prefix])
    host: Any = SimpleNamespace(cache={3: SimpleNamespace(sharing=sharing)}.get)
    expected = ["Cores that share the third cache find 6 MiB of it each at once, as much as one alone."]
    assert list(probe._describe_private_caches({}, host)) == (expected if is_private else [])


def test_uncertain_measurements_are_counted() -> None:
    limit = probe.UNCERTAIN
    results = {"a": Quantity(1.0, limit), "b": Quantity(1.0, 1.01 * limit), "c": Quantity(1.0, 0.0)}
    assert list(probe.describe_measurements(results, HOST)) == [
        f"1 of 3 measurements spread by over {limit:.0%}: others use this host."
    ]
    assert list(probe.describe_measurements({"a": results["a"]}, HOST)) == []


def test_power_of_packages() -> None:
    """6 J and half a joule in 4 s; of a counter that stands still or began again nothing is said."""
    before = {"d": 9, "c": 7, "b": 1_000_000, "a": 5, "gone": 1}
    after = {"a": 6_000_005, "b": 1_500_000, "c": 7, "d": 8, "new": 3}
    assert list(probe.describe_power(before, after, 4.0)) == [
        "Power of a while measuring: 1.5 W (RAPL).",
        "Power of b while measuring: 0.125 W (RAPL).",
    ]


def test_gpus_that_a_tool_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    monkeypatch.setattr(probe.shutil, "which", lambda name: str(tool) if name == "nvidia-smi" else None)
    assert list(probe.describe_gpus()) == []  # it cannot be run
    tool.write_text(
        '#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do echo " GPU $i, $2 "; done\n',
        encoding="utf-8",
    )
    tool.chmod(0o755)
    found = list(probe.describe_gpus())
    assert found[0] == "GPU: GPU 1, --format=csv,noheader (nvidia-smi)."
    assert len(found) == 16
    tool.write_text("#!/bin/sh\necho a\nexit 1\n", encoding="utf-8")
    assert list(probe.describe_gpus()) == []
    monkeypatch.setattr(probe.shutil, "which", lambda name: None)
    assert list(probe.describe_gpus()) == []


def test_energies_of_packages_are_read(tmp_path: Path) -> None:
    for folder, name, energy in (("0", "package-0", "12"), ("1", "dram", "5"), ("2", "package-1", "x")):
        place = tmp_path / "sys/class/powercap" / f"intel-rapl:{folder}"
        place.mkdir(parents=True)
        (place / "name").write_text(name, encoding="utf-8")
        (place / "energy_uj").write_text(energy, encoding="utf-8")
    (tmp_path / "sys/class/powercap/intel-rapl:3").mkdir()
    assert probe.read_package_energies(tmp_path) == {"intel-rapl:0": 12}
