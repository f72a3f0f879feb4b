"""Assumed numbers that decide a runtime, against arithmetic by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import aspenpy
from aspenpy.models.machine.texts import standing_of
from aspenpy.shell.main import main

MACHINE = """
param rate = 100 GB/s in 10 GB/s .. 100 GB/s  // RATE
machine box { node [1] one_node }
node one_node { socket [1] chip }
socket chip { core [1] unit  memory store }
core unit {
  property clock [1 GHz]  // CLOCK
  property issue [1 flop]  // one a cycle
  resource flops(number) [number/(clock*issue)]
}
memory store {
  property bandwidth [rate]  // data sheet
  property attained_bandwidth [0.8*rate]  // ATTAINED
  resource loads(volume) [volume/attained_bandwidth]
  resource stores(volume) [volume/(2*attained_bandwidth)]
  conflict loads, stores
}
"""
LOADS = "model m { kernel main { execute { loads [8 GB] flops [FLOPS] } execute { flops [25e6] } } }"
"""0.1 s of memory beside the first flops, and then 0.025 s of the core."""


def machine(folder: Path, name: str = "box", **comments: str) -> aspenpy.Machine:
    text = MACHINE.replace("box", name)
    for mark in ("RATE", "CLOCK", "ATTAINED"):
        text = text.replace(mark, comments.get(mark.lower(), "data sheet"))
    path = folder / f"{name}.aspen"
    path.write_text(text, encoding="utf-8")
    return aspenpy.load_machine(path)


def sensitivities(app: str, box: aspenpy.Machine, **options: object) -> dict[str, float]:
    found = aspenpy.predict(aspenpy.parse(app), box, **options)  # type: ignore[arg-type]
    return {item.name: item.sensitivity for item in found.assumptions}


def test_the_sensitivity_is_the_part_of_the_runtime_that_the_number_bounds(tmp_path: Path) -> None:
    """T = 0.1 s * (a/a0)^-1 + 0.025 s: d ln T / d ln a is -0.1/0.125."""
    box = machine(tmp_path, attained="assumed: as most boards")
    assert sensitivities(LOADS.replace("FLOPS", "0"), box) == {"store.attained_bandwidth": pytest.approx(-0.8)}


def test_what_overlaps_and_does_not_bound_decides_nothing(tmp_path: Path) -> None:
    """Flops that take 0.2 s cover the 0.1 s of loads."""
    box = machine(tmp_path, attained="assumed: as most boards")
    assert sensitivities(LOADS.replace("FLOPS", "200e6"), box) == {}
    both = machine(tmp_path, "both", attained="assumed: as most", clock="assumed: the base clock")
    assert sensitivities(LOADS.replace("FLOPS", "200e6"), both) == {"unit.clock": pytest.approx(-1)}


def test_a_number_behind_another_decides_as_well(tmp_path: Path) -> None:
    """What is attained is a published part of an assumed peak."""
    box = machine(tmp_path, rate="assumed: recalled")
    assert sensitivities(LOADS.replace("FLOPS", "0"), box) == {"rate": pytest.approx(-0.8)}


def test_a_small_part_decides_nothing(tmp_path: Path) -> None:
    """Of T = 0.02 s * (a/a0)^-1 + 0.025 s memory bounds for 0.44; the core for the rest, and its clock is published."""
    box = machine(tmp_path, attained="assumed: as most boards")
    assert sensitivities(LOADS.replace("8 GB", "1.6 GB").replace("FLOPS", "0"), box) == {}


def test_a_law_that_takes_nothing_away_is_not_assumed(tmp_path: Path) -> None:
    """A part of the bandwidth that is the whole at this clock, and less at half of it."""
    box = machine(tmp_path)
    text = (tmp_path / "box.aspen").read_text(encoding="utf-8").replace("[0.8*rate]", "[0.8*rate*part]")
    (tmp_path / "box.aspen").write_text(
        text + "param pace = 1\nparam part = min(1, pace/0.75)  // assumed\n", encoding="utf-8"
    )
    box = aspenpy.load_machine(tmp_path / "box.aspen")
    assert sensitivities(LOADS.replace("FLOPS", "0"), box) == {}
    assert [*sensitivities(LOADS.replace("FLOPS", "0"), box, set={"pace": 0.5})] == ["part"]


def test_a_number_that_the_user_sets_is_not_assumed(tmp_path: Path) -> None:
    box = machine(tmp_path, attained="assumed: as most boards", rate="assumed: recalled")
    app = LOADS.replace("FLOPS", "0")
    assert sensitivities(app, box, set={"store.attained_bandwidth": 80e9}) == {}
    assert [*sensitivities(app, box)] == ["store.attained_bandwidth", "rate"]
    assert [*sensitivities(app, box, set={"rate": 90e9})] == ["store.attained_bandwidth"]


@pytest.mark.parametrize(
    "comment", ["TechPowerUp; the lower end assumed", "the lower end assumed; data sheet", "the lower end assumed"]
)
def test_an_assumed_end_of_a_range_is_no_assumed_number(tmp_path: Path, comment: str) -> None:
    assert standing_of(comment) == "published"
    assert standing_of(f"{comment}; assumed: recalled") == "assumed"
    assert sensitivities(LOADS.replace("FLOPS", "0"), machine(tmp_path, rate=comment)) == {}


def test_eval_says_it_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine(tmp_path, attained="data sheet; assumed: as most boards", rate="assumed: recalled")
    app = tmp_path / "app.aspen"
    app.write_text(LOADS.replace("FLOPS", "0"), encoding="utf-8")
    assert main(["eval", str(app), "--machine", str(tmp_path / "box.aspen")]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("assumed")]
    said = "attained_bandwidth of store (as most boards): 10 % in it changes the runtime by 8.0 %; so does another"
    assert line.split(maxsplit=1)[1] == said
    assert main(["eval", str(app), "--machine", str(tmp_path / "box.aspen"), "--format", "json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["assumed"]
    assert first == {
        "name": "store.attained_bandwidth",
        "reason": "as most boards",
        "sensitivity": pytest.approx(-0.8),
    }
    assert (second["name"], second["reason"]) == ("rate", "recalled")


def test_compare_names_the_machines(tmp_path: Path) -> None:
    boxes = [machine(tmp_path, attained="assumed: as most"), machine(tmp_path, "other")]
    found = aspenpy.compare(aspenpy.parse(LOADS.replace("FLOPS", "0")), boxes)
    assert "Assumed numbers decide on box (attained_bandwidth of store)." in str(found)
    assert [len(row["assumed"]) for row in found.to_json()["machines"]] == [1, 0]
    neither = [machine(tmp_path, "other"), machine(tmp_path, "third")]
    assert "Assumed" not in str(aspenpy.compare(aspenpy.parse(LOADS.replace("FLOPS", "0")), neither))


def test_a_number_of_the_family_decides_as_well(tmp_path: Path) -> None:
    """The core is `like` a general one: 25e6 flops at the issue of that take all of the time."""
    text = MACHINE.replace("core unit {", "core unit like general { property clock [1 GHz] }\ncore general {")
    path = tmp_path / "box.aspen"
    path.write_text(text.replace("// one a cycle", "// assumed: as most"), encoding="utf-8")
    app = "model m { kernel main { execute { flops [25e6] } } }"
    assert sensitivities(app, aspenpy.load_machine(path)) == {"unit.issue": pytest.approx(-1)}


def test_a_sweep_says_it_of_its_least_runtime(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine(tmp_path, attained="assumed: as most boards")
    app = tmp_path / "m.aspen"
    app.write_text("model m { param n = 1e9 in 1 .. 1e12 kernel main { execute { loads [n] } } }", encoding="utf-8")
    assert main(["sweep", str(app), "--machine", str(tmp_path / "box.aspen"), "--over", "n=1e9,2e9"]) == 0
    assert "for the least, attained_bandwidth of store (as most boards): 10 % in it" in capsys.readouterr().out
