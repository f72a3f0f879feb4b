"""`aspenpy fit`: its page, object, rows, picture, and the model it writes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import aspenpy
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

pytest.importorskip("scipy", reason="the extra `fit` is not installed")

MODEL = """\
// line: what it costs to draw one.
model line {
  param n = 10 in 1 .. 1e6
  param slope = 1 in 0 .. 10  // by the point
  param offset = 0 in 0 .. 1

  kernel main { execute { flops [slope*n + offset] } }
}
"""
MACHINES = {"one": "machine one { resource flops(n) [n] }", "ten": "machine ten { resource flops(n) [n/10] }"}
DATA = """\
machine,n,runtime [ms]
one.aspen,1,2500
one.aspen,3,6500
ten.aspen,1,250
ten.aspen,4,850
"""
"""Runtimes 2 n + 0.5, a tenth of it on `ten`."""

PAGE = """\
line: 2 parameters fitted to 4 measurements

parameter  before  fitted  95 % interval from   to  range
─────────  ──────  ──────  ──────────────────  ───  ───────
slope           1       2                   2    2  0 .. 10
offset          0     0.5                 0.5  0.5  0 .. 1

relative error
──────────────────
root mean square    0 %, before the fit 56.8 %
mean                0 %
largest             0 %
degrees of freedom  2

measurements
  row  machine  n  of       measured  predicted  error
  ───  ───────  ─  ───────  ────────  ─────────  ─────
    2  one      1  runtime    2.5 s      2.5 s     0 %
    3  one      3  runtime    6.5 s      6.5 s     0 %
    4  ten      1  runtime    250 ms     250 ms    0 %
    5  ten      4  runtime    850 ms     850 ms    0 %
"""
"""Before: 1/2.5, 3/6.5, 1/2.5 and 4/8.5 of the runtimes, errors -0.6, -0.538, -0.6 and -0.529;
the mean of their squares is 0.3226."""


@pytest.fixture
def line(models: Path) -> Path:
    (models / "line.aspen").write_text(MODEL, encoding="utf-8")
    (models / "data.csv").write_text(DATA, encoding="utf-8")
    for name, text in MACHINES.items():
        (models / f"{name}.aspen").write_text(text, encoding="utf-8")
    return models


def test_page(run: Runner, line: Path) -> None:
    assert run("fit", "line.aspen", "data.csv") == (0, PAGE, "")


def test_json(run: Runner, line: Path) -> None:
    found = json.loads(run("fit", "line.aspen", "data.csv", "--format", "json").out)
    assert {item["name"]: item["value"] for item in found["parameters"]} == pytest.approx({"slope": 2, "offset": 0.5})
    assert [item["measured"] for item in found["measurements"]] == pytest.approx([2.5, 6.5, 0.25, 0.85])
    assert found["measurements"][3]["settings"] == {"n": 4}
    assert (found["degrees_of_freedom"], found["confidence"], found["has_steps"]) == (2, 0.95, False)


def test_csv(run: Runner, line: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("fit", "line.aspen", "data.csv", "--format", "csv").out)))
    assert [row["kind"] for row in rows] == ["parameter"] * 2 + ["measurement"] * 4
    assert float(rows[0]["value"]) == pytest.approx(2, rel=1e-12)
    assert (rows[-1]["settings"], float(rows[-1]["predicted"])) == ("n=4", pytest.approx(0.85, rel=1e-12))


def test_fitted_model_is_written(run: Runner, line: Path) -> None:
    assert run("fit", "line.aspen", "data.csv", "--set", "offset=0.25", "-o", "fitted.aspen").status == 0
    text = (line / "fitted.aspen").read_text(encoding="utf-8")
    before, after = MODEL.splitlines(), text.splitlines()
    assert [new for old, new in zip(before, after, strict=True) if old != new] == [after[3]]
    assert after[3].endswith(" in 0 .. 10  // by the point; fitted to data.csv")
    again = run("fit", "line.aspen", "data.csv", "--set", "offset=0.25", "--format", "json").out
    slope = json.loads(again)["parameters"][0]
    fitted, one = aspenpy.load_application("fitted.aspen"), aspenpy.load_machine("one.aspen")
    written = aspenpy.predict(fitted, one, set={"n": 3}).runtime / 3
    assert abs(written - slope["value"]) <= slope["deviation"] / 100  # as many digits as the interval supports
    assert aspenpy.load_application("line.aspen").to_aspen() != fitted.to_aspen()


def test_model_may_be_replaced(run: Runner, line: Path) -> None:
    (line / "line.aspen").chmod(0o640)
    assert run("fit", "line.aspen", "data.csv", "-o", "line.aspen").status == 0
    assert (line / "line.aspen").stat().st_mode & 0o777 == 0o640
    assert run("fit", "line.aspen", "data.csv").out.count("before the fit 0 %") == 1


def test_columns_of_others(run: Runner, line: Path) -> None:
    (line / "theirs.csv").write_text('points,"time/ms",host,note\n1,2500,a,"x, y"\n3,6500,b,z\n', encoding="utf-8")
    columns = ("--column", "n=points", "--column", "runtime [ms]=time/ms")
    found = json.loads(
        run("fit", "line.aspen", "theirs.csv", "--machine", "one.aspen", *columns, "--format", "json").out
    )
    assert {item["name"]: item["value"] for item in found["parameters"]} == pytest.approx({"slope": 2, "offset": 0.5})


def test_many_measurements_are_cut_short(run: Runner, line: Path) -> None:
    rows = "".join(f"{n},{2 * n + 0.5 + 0.001 * (n % 7)}\n" for n in range(1, 101))
    (line / "many.csv").write_text(f"n,runtime\n{rows}", encoding="utf-8")
    out = run("fit", "line.aspen", "many.csv", "--machine", "one.aspen").out
    assert "the 30 measurements with the largest errors, of 100" in out


@pytest.mark.parametrize(("suffix", "begins"), [(".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_picture(run: Runner, line: Path, suffix: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    assert run("fit", "line.aspen", "data.csv", "--picture", f"errors{suffix}").status == 0
    drawn = (line / f"errors{suffix}").read_bytes()
    assert drawn.startswith(begins)
    if suffix == ".svg":
        assert all(text in drawn for text in (b"runtime, measured", b"root mean square", b">ten<"))


def test_scipy_is_missing(run: Runner, line: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    outcome = run("fit", "line.aspen", "data.csv")
    assert (outcome.status, outcome.err) == (2, "error: a fit needs SciPy\n  = hint: pip install 'aspenpy[fit]'\n")


def test_what_a_sweep_writes_is_read(run: Runner, models: Path) -> None:
    """The column `reason` is no parameter, and points without a value are no measurements: 9 of 12 are left, of a slope
    of 3. A metric that is not fitted is told, with the options that leave it out."""
    Path("line.aspen").write_text(
        MODEL.replace("[slope*n + offset]", "[slope*n + 0*sqrt(n - 2) + offset]"), encoding="utf-8"
    )
    Path("one.aspen").write_text(MACHINES["one"] + " param q = 1", encoding="utf-8")
    line = ("line.aspen", "--machine", "one.aspen")
    over = ("--over", "n=1..4:lin:4", "--over", "offset=1..3:lin:3")
    assert run("sweep", *line, *over, "--set", "slope=3", "-o", "swept.csv").status == 0
    assert Path("swept.csv").read_text(encoding="utf-8").startswith("n,offset,runtime [s],reason\n1,1,,")
    fitted = run("fit", "line.aspen", "swept.csv", "--machine", "one.aspen", "--vary", "slope", "--format", "json")
    found = json.loads(fitted.out)
    assert [item["value"] for item in found["parameters"]] == [pytest.approx(3)]
    assert len(found["measurements"]) == 9
    Path("swept.csv").write_text("n,runtime [s],energy [J],reason\n2,6,5,\n", encoding="utf-8")
    refused = run("fit", "line.aspen", "swept.csv", "--machine", "one.aspen")
    assert refused.status == 2
    assert "column `energy` is neither" in refused.err
    assert "`--column n=n --column runtime=runtime` takes the other columns" in refused.err
