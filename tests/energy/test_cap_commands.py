"""A run into the power cap of a library machine has one runtime and one energy, whatever gives them. The oracle is
arithmetic with the watts and rates that the machine files state."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import aspenpy
from aspenpy.shell.main import main

HOT = """model hot {
  param tiles = 1056 in 132 .. 1056
  kernel main { execute [tiles] { flops [4e10] as tensor, fp16  loads [1e8] of size [1] } }
}"""
"""Products and streams at once."""

WARM = """model warm {
  param tiles = 22 in 1 .. 22
  kernel main { execute [tiles] { flops [4e8] as dp, simd, fmad } }
}"""


class Run(NamedTuple):
    """A model on a machine with a clock, its seconds, those under the cap, and joules, by hand."""

    model: str
    machine: str
    clock: str
    hertz: float
    runtime: float
    capped_runtime: float
    energy: float


def on_h200() -> Run:
    """132 multiprocessors attain 0.768 of 4096 flop a cycle at 1.83 GHz in half precision, a launch in front. Products
    take 0.92 of 700 W less 105.4 W where they attain 0.766 of the peak, a byte 122 pJ, and the cores 105.4 W less the
    75 W of an idle board, for as long as they work: E/(700 W - 75 W) is longer than that."""
    runtime = 1056 / 132 * 4e10 / (1.83e9 * 4096 * 0.768) + 2.7e-6
    products = (0.92 * 700 - 105.4) / (0.766 * 132 * 1.83e9 * 4096)
    work = 1056 * (4e10 * products + 1e8 * 122e-12) + (105.4 - 75) * runtime
    capped = work / (700 - 75)
    return Run(HOT, "h200", "h200_clock", 1.98e9, runtime, capped, work + 75 * capped)


def on_power9() -> Run:
    """Two pipes of four lanes of fused operations at 3.8 GHz, two in double precision for each of single: 22 cores of
    15.4 W within 250 W, less 56.8 W idle and 23.5 W of the nest; the 21 W of the memory stand beside the cap."""
    runtime = 4e8 / (3.8e9 * 2 * 4 * 2 / 2)
    work = 22 * 15.4 * runtime
    capped = work / (250 - 56.8 - 23.5)
    return Run(WARM, "power9", "power9_clock", 3.8e9, runtime, capped, work + (56.8 + 23.5 + 21) * capped)


@pytest.fixture(params=[on_h200, on_power9])
def run(request: pytest.FixtureRequest) -> Run:
    found: Run = request.param()
    assert found.capped_runtime > 1.2 * found.runtime
    return found


def test_every_function_gives_the_same(run: Run) -> None:
    application, machine = aspenpy.parse(run.model), aspenpy.load_machine(run.machine)
    values = {run.clock: run.hertz}
    energy = aspenpy.energy(application, machine, set=values)
    assert energy.runtime == pytest.approx(run.runtime)
    assert energy.capped_runtime == pytest.approx(run.capped_runtime)
    assert energy.value == pytest.approx(run.energy)
    assert energy.power == pytest.approx(run.energy / run.capped_runtime)
    prediction = aspenpy.predict(application, machine, set=values)
    assert prediction.runtime == prediction.explain().runtime == pytest.approx(run.runtime)
    metrics = {"runtime": run.runtime, "capped_runtime": run.capped_runtime, "energy": run.energy}
    swept = aspenpy.sweep(application, machine, over={run.clock: [run.hertz]}, metric=list(metrics))
    for metric, wanted in metrics.items():
        assert float(swept[metric].values[0]) == pytest.approx(wanted)
        prepared = aspenpy.prepare(application, machine, free=[run.clock], metric=metric)
        assert float(prepared(run.hertz)) == pytest.approx(wanted)


def test_every_command_gives_the_same(run: Run, tmp_path: Path) -> None:
    """Those that give `runtime` leave the cap out and say what it makes of it; `capped_runtime` has it."""
    model = tmp_path / "model.aspen"
    model.write_text(run.model, encoding="utf-8")
    stated = run.machine == "h200"  # at the clock that it has
    on = [str(model), *([] if stated else ["--set", f"{run.clock}={run.hertz}"]), "--machine"]
    metrics = "runtime,capped_runtime,energy"
    found = shell("eval", *on, run.machine, "--metric", metrics)
    assert list(numbers(found, metrics.split(","))) == pytest.approx([run.runtime, run.capped_runtime, run.energy])
    application = shell("energy", *on, run.machine)["application"]
    assert list(numbers(application, metrics.split(","))) == pytest.approx(
        [run.runtime, run.capped_runtime, run.energy]
    )
    for command in ("eval", "explain", "profile", "place"):
        found = shell(command, *on, run.machine)
        assert found["runtime"]["value"] == pytest.approx(run.runtime)
        assert warned(found), command
    if stated:
        compared = shell("compare", *on, "h200,h100")
        assert compared["machines"][0]["runtime"]["value"] == pytest.approx(run.runtime)
        assert warned(compared)
    tiles = "1056" if stated else "22"
    scaled = shell("scale", *on, run.machine, "--parameter", "tiles", "--ranks", tiles, "--energy")
    assert scaled["points"][0]["time"] == pytest.approx(run.runtime)
    assert scaled["points"][0]["capped_runtime"] == scaled["optimal_time"] == pytest.approx(run.capped_runtime)
    assert scaled["points"][0]["energy"] == pytest.approx(run.energy)
    advised = shell("advise", "configure", *on, run.machine)
    assert advised["base"]["capped_runtime"] == pytest.approx(run.capped_runtime)  # what is ranked holds the cap
    assert advised["base"]["energy"] == pytest.approx(run.energy)


def numbers(found: dict[str, Any], metrics: list[str]) -> Iterator[float]:
    values = found.get("metrics", found)
    for metric in metrics:
        value = values[metric]
        yield value["value"] if isinstance(value, dict) else value


def warned(found: dict[str, Any]) -> bool:
    return [item["code"] for item in found["diagnostics"]].count("power-cap") >= 1


def shell(*words: str) -> dict[str, Any]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main([*words, "--format", "json"]) == 0, words
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_the_first_line_has_the_time_under_the_cap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """700 W make 71.3 ms of 55.6, by hand in `on_h200`; a run that no cap makes longer has one time."""
    model, run = tmp_path / "model.aspen", on_h200()
    model.write_text(run.model, encoding="utf-8")
    capped, alone = (f"{time * 1e3:.1f} ms" for time in (run.capped_runtime, run.runtime))
    wanted = f"{capped}{{}} under the power cap of nvidia_h200, {alone} without it"
    for command, whole in (("eval", ""), ("profile", ""), ("explain", " in all")):
        found = shell(command, str(model), "--machine", "h200")
        assert found["capped_runtime"]["value"] == pytest.approx(run.capped_runtime)
        capsys.readouterr()
        assert main([command, str(model), "--machine", "h200"]) == 0
        first, *_ = capsys.readouterr().out.splitlines()
        assert first.endswith(wanted.format(whole))
    model.write_text(run.model.replace("4e10", "4e8"), encoding="utf-8")
    found = shell("eval", str(model), "--machine", "h200")
    assert found["capped_runtime"] == found["runtime"]
    assert main(["eval", str(model), "--machine", "h200"]) == 0
    assert "cap" not in capsys.readouterr().out.splitlines()[0]


def test_compare_has_both_times(tmp_path: Path) -> None:
    model, run = tmp_path / "model.aspen", on_h200()
    model.write_text(run.model, encoding="utf-8")
    first, _ = shell("compare", str(model), "--machine", "h200,h100")["machines"]
    assert first["capped_runtime"]["value"] == pytest.approx(run.capped_runtime)
    assert first["runtime"]["value"] == pytest.approx(run.runtime)


def test_scale_ranks_by_the_time_under_the_cap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each core has 22/P + P/22 of the work, which is least on 22 of them. 15.4 W a core fit into 250 W less 80.3 W on
    11; on more of them the run takes P*15.4/169.7 of the time, and longer the more there are."""
    model = tmp_path / "model.aspen"
    model.write_text(WARM.replace("[4e8]", "[4e8*(22/tiles + tiles/22)]"), encoding="utf-8")
    words = ("scale", str(model), "--machine", "power9", "--set", "power9_clock=3.8e9", "--parameter", "tiles")
    words = (*words, "--ranks", "1,11,16,22")
    found = shell(*words)
    alone = {cores: 4e8 * (22 / cores + cores / 22) / (3.8e9 * 2 * 4 * 2 / 2) for cores in (1, 11, 16, 22)}
    capped = {cores: time * max(1, cores * 15.4 / (250 - 56.8 - 23.5)) for cores, time in alone.items()}
    for point in found["points"]:
        cores = point["ranks"]
        assert point["time"] == pytest.approx(alone[cores])
        assert point["capped_runtime"] == pytest.approx(capped[cores])
        assert point["efficiency"] == pytest.approx(capped[1] / cores / capped[cores])
        assert point["speedup"] == pytest.approx(capped[1] / capped[cores])
    assert found["optimal_ranks"] == 11
    assert found["optimal_time"] == pytest.approx(capped[11])
    assert found["turns"]
    capsys.readouterr()
    assert main([*words]) == 0
    out = capsys.readouterr().out
    assert f"11 ranks, {capped[11] * 1e3:.3g} ms; more of them take longer" in out
    assert "under power caps" in out
    assert main([*words[:-1], "1,11"]) == 0  # no cap is reached
    assert "under power caps" not in capsys.readouterr().out
