"""Runs until the mean is known: the interval against a table of Student's t, and what is told when it is not."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.measurements.measure import StoppingRule, confidence_interval, measure
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]


def test_interval_is_that_of_student() -> None:
    """Five values with a standard deviation of 1: t(0.975, 4) = 2.776 of every table."""
    values = [9.0, 10.0, 10.0, 10.0, 11.0]
    deviation = (2 / 4) ** 0.5
    mean, half = confidence_interval(values, StoppingRule())
    assert (mean, half) == (10, pytest.approx(2.776 * deviation / 5**0.5, rel=1e-3))
    assert confidence_interval([10.0], StoppingRule())[1] == float("inf")
    assert confidence_interval([0.0, 10.0, 11.0, 9.0, 90.0], StoppingRule(trimmed=True))[0] == 10


def test_runs_until_the_target_is_met(tmp_path: Path) -> None:
    count = tmp_path / "count"
    command = [sys.executable, "-S", "-c", f"open({str(count)!r}, 'a').write('x')"]
    found = measure(command, StoppingRule(precision=1e9, least=3))
    assert (len(found.runs), found.met, len(count.read_text(encoding="utf-8"))) == (3, True, 3)
    found = measure(command, StoppingRule(precision=1e-9, least=2, most=4))
    assert (len(found.runs), found.met, len(count.read_text(encoding="utf-8"))) == (4, False, 7)
    assert all(run.seconds >= run.values["cpu_time [s]"] * 0.5 > 0 for run in found.runs)


@pytest.mark.parametrize(
    ("command", "message"),
    [(["/no/such/program"], "cannot be run"), (["false"], "ended with status 1"), ([], "there is no command")],
)
def test_commands_that_fail(command: list[str], message: str) -> None:
    with pytest.raises(AspenError, match=message):
        measure(command, StoppingRule())


def test_command_line(run: Runner, tmp_path: Path) -> None:
    store, rows = str(tmp_path / "runs.sqlite"), tmp_path / "rows.csv"
    asked = [
        "--precision",
        "1e9",
        "--least-runs",
        "2",
        "--label",
        "application=nothing",
        "--record",
        store,
        "-o",
        str(rows),
    ]
    outcome = run("measure", *asked, "--format", "json", "--", "sh", "-c", "exit 0")
    held = json.loads(outcome.out)
    assert (held["command"], len(held["runs"]), held["target_met"]) == (["sh", "-c", "exit 0"], 2, True)
    assert held["missing"], "no test machine counts everything"
    again = run("measure", "--read", store)
    assert again.out.count("nothing") == 2
    assert rows.read_text(encoding="utf-8").startswith("application,run,runtime [s],cpu_time [s]")
    assert "behind --, or files" in run("measure").err
    assert (
        "say what ran" in run("measure", "--record", store, "--least-runs", "2", "--precision", "9", "--", "true").err
    )


def test_energy_and_events_where_the_machine_offers_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package whose counter wraps around during the run, and a perf that counts."""
    folder = tmp_path / "intel-rapl:0"
    folder.mkdir()
    (folder / "name").write_text("package-0\n", encoding="utf-8")
    (folder / "energy_uj").write_text("999000000", encoding="utf-8")
    (folder / "max_energy_range_uj").write_text("1000000000", encoding="utf-8")
    hidden = tmp_path / "intel-rapl:1"
    hidden.mkdir()
    program = tmp_path / "bin" / "perf"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in *" true") echo "5,,cycles,1,100.00,," >&2; exit 0;; esac\n'
        'shift 5; file="$1"; shift 2; echo "1234,,cycles:u,1,100.00,," > "$file"; exec "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setattr("aspenpy.learn.measurements.measure.POWERCAP", tmp_path)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    command = ["sh", "-c", f"echo 2000000 > {folder}/energy_uj"]
    found = measure(command, StoppingRule(precision=1e9, least=2, most=2))
    assert found.runs[0].values["energy_package-0_0 [J]"] == pytest.approx(3.0)
    assert found.runs[1].values["energy_package-0_0 [J]"] == 0
    assert [run.values["cycles"] for run in found.runs] == [1234, 1234]
    assert dict(found.missing)["energy of intel-rapl:1"].startswith("its counter cannot be read")
