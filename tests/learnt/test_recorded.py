"""What was recorded of a run, beside its predicted energy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.estimators.training_rows import look_up_runs
from aspenpy.learn.measurements.records import RecordStore, RunRecord
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

LINES = """\
application,n,device,runtime [s],energy [J]
stream,1000,cpu,2,80
stream,1e3,cpu,4,100
stream,1000,gpu,1,120
stream,2000,gpu,1,1
md,1000,cpu,1,1
"""


def test_means_of_the_same_input(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(LINES, encoding="utf-8")
    found = look_up_runs(path, "stream", {"n": "1000"})
    assert [(item.device, item.energy, item.time, item.chosen) for item in found.devices] == [
        ("cpu", 90, 3, True),
        ("gpu", 120, 1, False),
    ]
    assert look_up_runs(path, "stream", {"n": 1000}, by="time").chosen.device == "gpu"
    assert look_up_runs(path, "stream", {}).runs == 4
    for application, settings, message in (
        ("steam", {}, "did you mean `stream`"),
        ("stream", {"n": 7}, "with n=7"),
        ("md", {"m": 1}, "with m=1"),
    ):
        with pytest.raises(AspenError) as caught:
            look_up_runs(path, application, settings)
        assert message in str(caught.value)


def test_beside_a_prediction(tmp_path: Path, run: Runner) -> None:
    path = tmp_path / "runs.sqlite"
    RecordStore(path).add([RunRecord("stream", "n=1e6, m=3", "pentium_m", "", 0.5, energy) for energy in (9.0, 11.0)])
    asked = ["energy", "stream", "--machine", "pentium_m", "--set", "n=1000000", "--measured", str(path)]
    held = json.loads(run(*asked, "--format", "json").out)
    assert held["record"] == {
        "device": "",
        "energy": {"value": 10.0, "unit": "J"},
        "time": {"value": 0.5, "unit": "s"},
        "runs": 2,
        "input": "n=1000000",
    }
    assert held["application"]["energy"]["value"] > 0
    assert "measured before (ACEE), the means of 2 runs" in run(*asked).out
