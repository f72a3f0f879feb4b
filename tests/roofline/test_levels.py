"""The ceilings of caches and kernels at each of them, worked out by hand.

`MACHINE` has 2 nodes of 4 cores at 1 Gflop/s each. A core has a cache of 4 KiB, 64 lines, at 100 GB/s; those of a node
share one of 64 KiB at 50 GB/s, and a memory of 10 GB/s: 8 Gflop/s, 800, 100 and 20 GB/s in all.

`SWEEPS` reads every second word of 128 lines ten times: 5120 words, which the first cache serves, 10*128 lines, none of
which it keeps for the next sweep, from the second, and 128 lines from memory.
"""

import csv
import io
import json
from pathlib import Path

import pytest

import aspenpy
from aspenpy import AspenError, predict, roofline
from aspenpy.answers.roofline_points import RooflinePoint
from aspenpy.answers.traffic import Traffic
from aspenpy.report.roofline_picture import label_turns
from tests.cli.conftest import Runner, models, run
from tests.tiny import application, codes, machine

__all__ = ["models", "run"]

MACHINE = """
param near = 100 GB/s
machine M { node [2] N }
node N { socket A }
socket A { core [4] C  cache L2  memory D }
core C { resource flops(x) [x/giga]  cache L1 }
cache L1 {
  property capacity [4096]  property cacheline [64]  property associativity [8]  property bandwidth [near]
}
cache L2 {
  property capacity [65536]  property cacheline [64]  property associativity [16]  property bandwidth [50 GB/s]
}
memory D {
  resource loads(x) [x/(10*giga)]
  resource stores(x) [x/(10*giga)]
  conflict loads, stores
}
"""

X = "data X [8192]"
SWEEPS = "flops [4096]  loads [5120] of size [8] from X as stride(16), reuse(10)"
AXPY = "execute { flops [4096]  loads [1e6] }"


def point(body: str, text: str = MACHINE, declarations: str = X) -> RooflinePoint:
    """The one kernel of an application."""
    (_, kernel) = roofline(machine(text), [application(body, declarations)]).points
    return kernel


def served(found: RooflinePoint) -> dict[str, float]:
    return {level.level: level.volume for level in found.levels}


# -- ceilings --------------------------------------------------------------------------------------


def test_a_ceiling_is_the_bandwidth_times_the_count() -> None:
    found = roofline(machine(MACHINE)).caches
    assert [(item.component, item.one, item.count, item.rate) for item in found] == [
        ("L1", 100e9, 8, 800e9),
        ("L2", 50e9, 2, 100e9),
    ]


def test_ridge_points() -> None:
    found = roofline(machine(MACHINE))
    (flops,) = found.compute
    assert [found.ridge(flops, item) for item in found.bandwidths] == pytest.approx([8 / 800, 8 / 100, 8 / 20])


def test_settings_move_them() -> None:
    found = roofline(machine(MACHINE), [application(AXPY)], set={"near": "300 GB/s"})
    assert found.caches[0].rate == 2400e9


def test_a_cache_without_bandwidth_has_no_ceiling() -> None:
    text = MACHINE.replace("  property bandwidth [near]", "")
    assert [item.component for item in roofline(machine(text)).caches] == ["L2"]
    assert served(point(f"execute {{ {SWEEPS} }}", text))["L1"] == 8 * 5120


def test_a_bandwidth_of_nothing() -> None:
    with pytest.raises(AspenError) as caught:
        print(roofline(machine(MACHINE), set={"near": 0}).caches)
    assert codes(caught.value) == ["incomplete-cache"]
    assert caught.value.diagnostics[0].message == "the `bandwidth` of the cache `L1` is not above 0"
    assert caught.value.diagnostics[0].span is not None


# -- kernels ---------------------------------------------------------------------------------------


def test_intensity_at_each_level() -> None:
    found = point(f"execute {{ {SWEEPS} }}")
    assert served(found) == {"L1": 8 * 5120, "L2": 1280 * 64, "D": 128 * 64}
    assert [level.intensity for level in found.levels] == [4096 / 40960, 4096 / 81920, 4096 / 8192]
    assert (found.volume, found.intensity) == (128 * 64, 4096 / 8192)


def test_one_instance_stands_below_the_roof_of_one_core() -> None:
    """4096 flops take 4096 ns on one core, which the memories of the other seven do not change."""
    found = point(f"execute {{ {SWEEPS} }}")
    assert (found.attainable, found.predicted) == (pytest.approx(1e9), pytest.approx(1e9))
    assert (found.bound_by, found.bottleneck) == (("flops",), "flops")


def test_the_level_with_the_lowest_roof_bounds() -> None:
    """On all components 4096 ns of flops, 409.6 ns, 6553.6 ns and 3276.8 ns."""
    found = point(f"execute [8] {{ {SWEEPS} }}")
    assert found.attainable == pytest.approx(8 * 4096 / 6553.6e-9) == pytest.approx(4096 / 81920 * 100e9)
    assert found.bound_by == ("L2",)


def test_levels_in_turn_add() -> None:
    """As in the execution-cache-memory model."""
    found = point(f"execute [8] {{ {SWEEPS} }}", MACHINE.replace("socket A {", "socket A { property serial [1] "))
    assert found.attainable == pytest.approx(8 * 4096 / (409.6e-9 + 6553.6e-9 + 3276.8e-9))
    assert sorted(found.bound_by) == ["L1", "L2", "loads"]


def test_a_store_is_fetched_and_written_back() -> None:
    """1024 words in 128 lines, which cross every bus below the first cache twice; each of eight instances has its."""
    found = point("execute [8] { flops [4096]  stores [1024] of size [8] to X as stream }")
    assert served(found) == {"L1": 8 * 8192, "L2": 8 * 2 * 8192, "D": 8 * 2 * 8192}
    assert found.attainable == pytest.approx(4096 / (2 * 8192 / 20e9))
    assert found.bound_by == ("stores",)


def test_what_has_no_pattern_goes_past_the_caches() -> None:
    found = point(f"execute {{ {SWEEPS}  loads [1000] }}")
    assert served(found) == {"L1": 40960, "L2": 81920, "D": 8192 + 1000}
    assert found.intensity == 4096 / 9192


def test_instances_and_loops_count() -> None:
    """Eight instances have a core each; four share the second cache, in which four times 8 KiB find room. They take
    turns there: 4*1638.4 ns, which is the roof."""
    found = point(f"iterate [3] {{ execute [8] {{ {SWEEPS} }} }}")
    assert served(found) == {"L1": 24 * 40960, "L2": 24 * 81920, "D": 8 * 8192}  # the first of three passes
    assert found.predicted == pytest.approx(8 * 4096 / 6553.6e-9) == pytest.approx(found.attainable)
    assert found.bottleneck == "L2"


def test_without_patterns_there_are_no_levels() -> None:
    found = point(AXPY)
    assert found.levels == ()
    assert (found.volume, found.bound_by) == (1e6, ("loads",))


def test_what_stays_in_the_caches_has_a_place_all_the_same() -> None:
    found = point("execute { flops [4096]  loads [1024] of size [8] from X as stream, warm }")
    assert served(found) == {"L1": 8192, "L2": 8192, "D": 0}
    assert (found.intensity, found.place) == (None, 0.5)


@pytest.mark.parametrize("name", ["cache_mm_reg", "cache_triad", "cache_transpose", "cache_jacobi5"])
@pytest.mark.parametrize("n", [64, 300, 2500])
def test_nothing_is_above_a_roof(name: str, n: int) -> None:
    """What a level serves is what `traffic` says is moved below the one before it."""
    app, haswell = aspenpy.load_application(name), aspenpy.load_machine("haswell")
    found = roofline(haswell, [app], set={"n": n})
    rates = {item.component: item.rate for item in found.bandwidths}
    moved = [level.bytes for level in Traffic(predict(app, haswell, set={"n": n})).totals]
    for kernel in found.points:
        assert [level.volume for level in kernel.levels[1:]] == pytest.approx(moved)
        assert kernel.predicted <= kernel.attainable * (1 + 1e-9)
        for level in kernel.levels:
            if level.intensity is not None:
                assert kernel.attainable <= level.intensity * rates[level.level] * (1 + 1e-9)


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def on(models: Path) -> tuple[str, ...]:
    (models / "cached.aspen").write_text(MACHINE, encoding="utf-8")
    (models / "sweeps.aspen").write_text(
        f"model sweeps {{ {X} kernel main {{ execute [8] {{ {SWEEPS} }} }} }}", encoding="utf-8"
    )
    return "roofline", "sweeps.aspen", "--machine", "cached.aspen"


def test_page(run: Runner, on: tuple[str, ...]) -> None:
    out = run(*on).out
    assert "  L1      loads, stores      100 GB/s  800 GB/s\n  L2      loads, stores       50 GB/s  100 GB/s\n" in out
    assert out.endswith(
        "\nflop/B at each level\n"
        "  kernel   L1    L2    D\n"
        "  ──────  ───  ────  ───\n"
        "  sweeps  0.1  0.05  0.5\n"
        "    main  0.1  0.05  0.5\n"
    )


def test_json(run: Runner, on: tuple[str, ...]) -> None:
    found = json.loads(run(*on, "--format", "json").out)
    assert [(item["component"], item["rate"], item["unit"]) for item in found["caches"]] == [
        ("M/N/A/C/L1", 800e9, "B/s"),
        ("M/N/A/L2", 100e9, "B/s"),
    ]
    assert found["compute"][0]["ridges"] == pytest.approx({"L1": 0.01, "L2": 0.08, "D": 0.4})
    assert found["points"][1]["levels"] == [
        {"name": "L1", "bytes": 8 * 40960, "intensity": 0.1},
        {"name": "L2", "bytes": 8 * 81920, "intensity": 0.05},
        {"name": "D", "bytes": 8 * 8192, "intensity": 0.5},
    ]


def test_csv(run: Runner, on: tuple[str, ...]) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*on, "--format", "csv").out)))
    assert [(row["kind"], row["name"]) for row in rows[1:4]] == [("cache", "L1"), ("cache", "L2"), ("memory", "D")]


def test_picture(run: Runner, on: tuple[str, ...], models: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    assert run(*on, "--picture", "roof.svg").status == 0
    drawn = (models / "roof.svg").read_text(encoding="utf-8")
    assert all(text in drawn for text in ("L1: 800 GB/s", "L2: 100 GB/s", "D: 20 GB/s", "at L1", "at L2"))


def test_names_of_close_roofs_stand_behind_each_other() -> None:
    assert label_turns([3.0, 2.9, 2.8, 1.0, 0.5]) == [0, 1, 2, 0, 0]
    assert label_turns([1.0, 1.4, 1.2]) == [0, 0, 1]


# -- the level that bounds, elsewhere --------------------------------------------------------------


def test_profile_names_the_level_that_bounds(run: Runner, on: tuple[str, ...]) -> None:
    """4096 ns of flops, 6553.6 ns in the second cache, 3276.8 ns in memory."""
    arguments = ("profile", "sweeps.aspen", "--machine", "cached.aspen")
    head, _, row = run(*arguments).out.splitlines()[2:]
    assert head.split("  ")[-2:] == ["bound by", "kernel"]
    assert row.split()[-2:] == ["L2", "main"]
    assert json.loads(run(*arguments, "--format", "json").out)["kernels"][0]["bound_by"] == "L2"
    (row,) = csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").out))
    assert row["bound_by"] == "L2"
