"""`aspenpy empirical`: its page, object, rows and picture."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import aspenpy
from aspenpy.learn.measurements.records import RecordStore, RunRecord
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

LINES = {
    "acee": ("acee_example", "--leave-out", "application"),
    "cos": ("cos_example", "--train", "threads in (2, 4)"),
    "leading-loads": ("leading_loads_example", "--test", "application == mixed"),
    "power-aware": ("power_aware_example",),
    "bandwidth": ("bandwidth_example", "--leave-out", "application", "--option", "trees=20"),
}
ERRORS = ["n", "mean_error_percent", "median_error_percent", "std_error_percent", "max_error_percent"]


@pytest.mark.parametrize("kind", LINES)
def test_one_object_with_train_and_test(kind: str, run: Runner) -> None:
    held = json.loads(run("empirical", kind, "report", *LINES[kind], "--format", "json").out)
    assert held["model"] == kind
    assert list(held["train"]) == list(held["test"]) == ERRORS
    asked = [row for row in held["predictions"] if not row["trained"]]
    assert held["test"]["n"] == len(asked)
    if asked:
        mean = sum(100 * abs(row["predicted"] / row["measured"] - 1) for row in asked) / len(asked)
        assert held["test"]["mean_error_percent"] == pytest.approx(mean)


@pytest.mark.parametrize("kind", LINES)
def test_page_rows_and_picture(kind: str, run: Runner, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    picture = tmp_path / "picture.svg"
    page = run("empirical", kind, "report", *LINES[kind], "--picture", str(picture))
    assert page.status == 0
    assert f"{kind}: " in page.out
    assert "predicted against measured" in picture.read_text(encoding="utf-8")
    assert ("QQ plot" in picture.read_text(encoding="utf-8")) == (kind == "acee")
    assert ("speedup of lu" in picture.read_text(encoding="utf-8")) == (kind == "power-aware")
    rows = list(csv.DictReader(io.StringIO(run("empirical", kind, "fit", *LINES[kind], "--format", "csv").out)))
    assert {"row", "measured", "measured_unit", "predicted", "error", "trained"} <= rows[0].keys()


def test_a_model_that_was_saved(run: Runner, tmp_path: Path) -> None:
    path = str(tmp_path / "cos.json")
    assert run("empirical", "cos", "fit", "cos_example", "--train", "threads in (2, 4)", "-o", path).status == 0
    held = json.loads(run("empirical", "cos", "predict", "cos_example", "--model", path, "--format", "json").out)
    assert (held["train"]["n"], held["test"]["n"], held["given"]) == (0, 24, 8)
    for line, message in (
        (("cos", "predict", "cos_example"), "predict needs a model"),
        (("acee", "predict", "acee_example", "--model", path), "holds a model `cos`, not `acee`"),
        (("cos", "fit", "cos_example", "--model", path), "--model belongs to predict and report"),
        (("cos", "report", "cos_example", "--model", path, "--option", "form=stall"), "--option belongs to fit"),
        (("cos", "report", "cos_example", "-o", path), "--output belongs to fit"),
        (("cos", "fit", "cos_example", "--option", "intercept=perhaps"), "expected yes or no"),
        (("bandwidth", "fit", "bandwidth_example", "--option", "trees=many"), "expected a number"),
        (("cos", "fit", "cos_example", "--predictors", "threads"), "`cos` takes none"),
        (("cos", "fit", "cos_example", "--confidence", "95"), "between 0 and 1"),
    ):
        assert message in run("empirical", *line).err


def test_training_plans(run: Runner, tmp_path: Path) -> None:
    """Tables 2 and 3 of the paper; and the same space from a file: 16 core clocks, 3 memory clocks, 7 counts."""
    counts = {"training": 111, "space": 336, "tests": 225}
    held = json.loads(run("empirical", "cos", "plan", "--format", "json").out)
    assert {name: held[name] for name in counts} == counts
    assert len(held["configurations"]) == 111
    rows = [f"{1200 + 100 * step},{1333 + step % 3},{4 + 2 * (step % 7)}" for step in range(16)]
    (tmp_path / "space.csv").write_text(
        "\n".join(["core_frequency [MHz],memory_frequency [MHz],threads", *rows]), encoding="utf-8"
    )
    asked = ("empirical", "cos", "plan", str(tmp_path / "space.csv"), "--train", "threads in (4, 6)")
    held = json.loads(run(*asked, "--format", "json").out)
    assert {name: held[name] for name in counts} == counts
    held = json.loads(run("empirical", "cos-throttling", "plan", "--format", "json").out)
    assert [row["configurations"] for row in held["plans"]] == [127 * 16, 27 * 14, 16 * 10, 11 * 12, 16 * 9, 11 * 11]
    for line, message in (
        (("acee", "plan"), "plan belongs to cos"),
        (("cos", "plan", "cos_example"), "plan needs --train"),
        (("cos", "plan", "-o", "x"), "--output does not belong to plan"),
        (("cos", "fit"), "fit needs DATA"),
    ):
        assert message in run("empirical", *line).err


def test_traces_of_busy_intervals(run: Runner, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    picture = tmp_path / "picture.svg"
    line = ("empirical", "cos", "trace", "cos_trace_example", "--picture", str(picture), "--format", "json")
    held = json.loads(run(*line).out)["traces"]
    assert [row["stages"] for row in held] == [9, 3, 4]
    assert [row["compute"] + row["overlap"] + row["stall"] for row in held] == pytest.approx([12e-6, 6e-6, 4.75e-6])
    assert "overlap (To)" in picture.read_text(encoding="utf-8")
    fitted = ("empirical", "cos", "fit", "cos_example", "--picture", str(picture))
    assert run(*fitted).status == 0
    assert "Tos + Ts" in picture.read_text(encoding="utf-8")
    data = tmp_path / "busy.csv"
    for rows, message in (
        ("disk,0,1", "`disk` is neither `core` nor `memory`"),
        ("core,2,1", "an interval ends behind its beginning"),
    ):
        data.write_text(f"busy,begin [s],end [s]\n{rows}\n", encoding="utf-8")
        assert message in run("empirical", "cos", "trace", str(data)).err
    assert "trace belongs to cos" in run("empirical", "acee", "trace", str(data)).err
    assert "--train does not belong to trace" in run("empirical", "cos", "trace", str(data), "--train", "n > 1").err


def test_a_prediction_is_split(run: Runner, tmp_path: Path) -> None:
    """Of stream all waits for the memory: no clock changes its time. Of matmul all goes with the clock."""
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    picture = tmp_path / "picture.svg"
    asked = ("empirical", "power-aware", "predict")
    line = ("matmul", "--machine", "pentium_m", "--clocks", "700MHz,1.4GHz", "--processors", "1,4")
    held = json.loads(run(*asked, *line, "--picture", str(picture), "--format", "json").out)
    assert [row["speedup"] for row in held["spots"]] == pytest.approx([1, 2, 4, 8])
    assert held["off_chip"] == 0
    matmul, pentium_m = aspenpy.load_application("matmul"), aspenpy.load_machine("pentium_m")
    energies = [aspenpy.energy(matmul, pentium_m, set={"pentium_m_clock": clock}).value for clock in (7e8, 1.4e9)]
    assert held["spots"][0]["energy"] == pytest.approx(energies[0] / energies[1], rel=1e-3)
    assert "speedup of matmul" in picture.read_text(encoding="utf-8")
    held = json.loads(run(*asked, "stream", "--machine", "pentium_m", "--format", "json").out)
    assert [row["speedup"] for row in held["spots"][:5]] == pytest.approx([1] * 5)
    for words, message in (
        (("acee", "predict", "matmul", "--machine", "pentium_m"), "--machine belongs to power-aware predict"),
        (("power-aware", "report", "power_aware_example", "--clocks", "1GHz"), "--clocks needs --machine"),
        (("power-aware", "predict", "matmul", "--machine", "pentium_m", "--processors", "0"), "from 1 on"),
        (("power-aware", "predict", "matmul", "--machine", "pentium_m", "--train", "n > 1"), "about measurements"),
    ):
        assert message in run("empirical", *words).err


def test_options_of_a_prediction(run: Runner) -> None:
    """Power is V² f: at half the voltage and half the clock it is an eighth, for twice as long."""
    asked = ("empirical", "power-aware", "predict", "matmul", "--machine", "pentium_m", "--kernel", "main")
    line = (*asked, "--clocks", "700MHz,1.4GHz", "--volts", "0.7,1.4", "--processors", "1", "--format", "json")
    spots = json.loads(run(*line).out)["spots"]
    assert [(row["energy"], row["energy_delay"]) for row in spots] == [
        (pytest.approx(0.25), pytest.approx(0.5)),
        (1, 1),
    ]
    for words, message in (
        ((*asked, "--clocks", "1GHz", "--volts", "1,2"), "2 voltages for 1 clocks"),
        ((*asked, "--volts", "0"), "expected numbers above zero"),
        ((*asked, "--factors", "0.5"), "--factors belongs to bandwidth"),
        ((*asked[:4], "--kernel", "main", "--train", "n > 1"), "--kernel needs --machine M"),
        ((*asked, "--kernel", "mian"), "mian"),
    ):
        assert message in run(*words).err


def test_less_bandwidth_of_a_prediction_and_the_fastest_there(run: Runner) -> None:
    """All of stream waits for memory: 1/F of the bandwidth takes F as long."""
    line = ("empirical", "bandwidth", "predict", "stream", "--machine", "haswell", "--factors", "0.5,0.25")
    held = json.loads(run(*line, "--format", "json").out)
    assert [row["slowdown"] for row in held["slowdowns"]] == pytest.approx([2, 4], rel=0.01)
    shares = {row["predictor"]: row["value"] for row in held["signature"]}
    assert shares["loads"] + shares["stores"] + shares["fops_ins"] == pytest.approx(1)
    line = (
        "empirical",
        "bandwidth",
        "report",
        "bandwidth_example",
        "--option",
        "trees=20",
        "--choose",
        "--format",
        "json",
    )
    found = json.loads(run(*line).out)["choices"]
    assert len(found) == 36
    assert sum(row["is_fastest"] for row in found) == 3
    assert "--choose belongs to bandwidth" in run("empirical", "cos", "report", "cos_example", "--choose").err


def test_runs_of_a_table_and_their_model_in_a_store(run: Runner, tmp_path: Path) -> None:
    data, store, model = (str(tmp_path / name) for name in ("runs.csv", "runs.sqlite", "model.json"))
    rows = [f"app{place % 2},n={place},{place + 1},{10 + 3 * place},{place}" for place in range(8)]
    Path(data).write_text("\n".join(["application,input,runtime [ms],energy [kJ],c [MB]", *rows]), encoding="utf-8")
    fit = ("empirical", "acee", "fit", data, "--predictors", "c", "--option", "direction=none", "-o", model)
    assert run(*fit).status == 0
    assert run("measure", "--read", data, "--record", store, "--model", model).status == 0
    found = RecordStore(store).find(application="app1")
    assert [(item.input, item.runtime, item.energy) for item in found[:2]] == [
        ("n=1", pytest.approx(2e-3), pytest.approx(13e3)),
        ("n=3", pytest.approx(4e-3), pytest.approx(19e3)),
    ]
    assert found[0].counters == {"c [MB]": "1"}
    assert found[0].model == "acee " + json.loads(Path(model).read_text(encoding="utf-8"))["training"]["data_hash"][:12]
    assert "--record STORE" in run("measure", "--read", data, "--model", model).err


def test_a_store_says_what_was_learnt_from_its_runs(run: Runner, tmp_path: Path) -> None:
    path, model = tmp_path / "runs.sqlite", tmp_path / "model.json"
    store = RecordStore(path)
    store.add([RunRecord("a", str(x), "node", "cpu", 1.0, 10.0 + 3 * x, {"c": x}) for x in range(8)])
    asked = ("acee", "fit", str(path), "--predictors", "c", "--option", "direction=none", "--test", "c in (2, 5)")
    assert run("empirical", *asked, "--record-model", "-o", str(model)).status == 0
    name = "acee " + json.loads(model.read_text(encoding="utf-8"))["training"]["data_hash"][:12]
    assert [item.model for item in store.find()] == [None if x in (2, 5) else name for x in range(8)]
    assert "DATA is then a record store" in run("empirical", "acee", "fit", "acee_example", "--record-model").err


def test_energies_from_power_and_time(run: Runner, tmp_path: Path) -> None:
    lines = [f"{x},{2 + x},{30 + 4 * x}" for x in range(12)]
    (tmp_path / "data.csv").write_text("\n".join(["c,time/ms,watts", *lines]), encoding="utf-8")
    asked = ("acee", "fit", str(tmp_path / "data.csv"), "--predictors", "c", "--option", "direction=none")
    held = json.loads(run("empirical", *asked, "--format", "json").out)
    assert held["train"]["max_error_percent"] == pytest.approx(0, abs=1e-9)
    assert held["predictions"][3]["measured"] == pytest.approx(42 * 0.005)
