"""Runs until the mean is known: the interval against a table of Student's t, and what is told when it is not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.studies.readers.measure import Target, interval, measure
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]


def test_interval_is_that_of_student() -> None:
    """Five values with a standard deviation of 1: t(0.975, 4) = 2.776 of every table."""
    values = [9.0, 10.0, 10.0, 10.0, 11.0]
    deviation = (2 / 4) ** 0.5
    mean, half = interval(values, Target())
    assert (mean, half) == (10, pytest.approx(2.776 * deviation / 5**0.5, rel=1e-3))
    assert interval([10.0], Target())[1] == float("inf")
    assert interval([0.0, 10.0, 11.0, 9.0, 90.0], Target(trimmed=True))[0] == 10


def test_runs_until_the_target_is_met(tmp_path: Path) -> None:
    count = tmp_path / "count"
    command = [sys.executable, "-S", "-c", f"open({str(count)!r}, 'a').write('x')"]
    found = measure(command, Target(precision=1e9, least=3))
    assert (len(found.runs), found.met, len(count.read_text())) == (3, True, 3)
    found = measure(command, Target(precision=1e-9, least=2, most=4))
    assert (len(found.runs), found.met, len(count.read_text())) == (4, False, 7)
    assert all(run.seconds >= run.values["cpu_time [s]"] * 0.5 > 0 for run in found.runs)


@pytest.mark.parametrize(
    ("command", "message"),
    [(["/no/such/program"], "cannot be run"), (["false"], "ended with status 1"), ([], "there is no command")],
)
def test_commands_that_fail(command: list[str], message: str) -> None:
    with pytest.raises(AspenError, match=message):
        measure(command, Target())


def test_command_line(run: Runner, tmp_path: Path) -> None:
    store, rows = str(tmp_path / "runs.sqlite"), tmp_path / "rows.csv"
    asked = ["--precision", "1e9", "--least", "2", "--label", "application=nothing", "--record", store, "-o", str(rows)]
    outcome = run("measure", *asked, "--format", "json", "--", "sh", "-c", "exit 0")
    held = json.loads(outcome.out)
    assert (held["command"], len(held["runs"]), held["target_met"]) == (["sh", "-c", "exit 0"], 2, True)
    assert held["missing"], "no test machine counts everything"
    again = run("measure", "--read", store)
    assert again.out.count("nothing") == 2
    assert rows.read_text().startswith("application,run,runtime [s],cpu_time [s]")
    assert "behind --, or files" in run("measure").err
    assert "say what ran" in run("measure", "--record", store, "--least", "2", "--precision", "9", "--", "true").err
