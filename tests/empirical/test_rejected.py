"""Each file of measurements in the folder `rejected` is refused with exactly the report in the text file of its name.

`pytest --update-pictures` writes the reports anew; whoever does that reads the difference: is each enough to mend the
file?
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

HERE = Path(__file__).parent / "rejected"
ON_SECONDS = ("--machine", "seconds.aspen")
TWO = ("--vary", "slope,offset")

ASKED: dict[str, tuple[str, ...]] = {
    "no_machine": TWO,
    "all_given": (*ON_SECONDS, "--set", "moving=2"),
    "unknown_parameter": (*ON_SECONDS, "--vary", "slop"),
    "no_range": (*ON_SECONDS, "--vary", "fixed"),
    "not_free": (*ON_SECONDS, "--vary", "n"),
    "no_influence": (*ON_SECONDS, "--vary", "idle"),
    "moving_range": (*ON_SECONDS, "--vary", "moving"),
    "column_missing": (*ON_SECONDS, *TWO, "--column", "runtime=runtme"),
    "column_without_header": (*ON_SECONDS, "--column", "runtime"),
    "bad_confidence": (*ON_SECONDS, "--confidence", "95"),
    "cannot_write": (*ON_SECONDS, *TWO, "--output", "none/fitted.aspen"),
    "no_file": (*ON_SECONDS,),
    "power_in_joules": (*ON_SECONDS, *TWO, "--metric", "power"),
    "no_power_column": (*ON_SECONDS, *TWO, "--metric", "power"),
}
"""What is asked where it is not `--machine seconds.aspen --vary slope,offset`; without a file of its own, of `good`."""

NAMES = sorted({*ASKED, *(file.stem for file in HERE.glob("*.csv"))} - {"good"})


@pytest.mark.parametrize("name", NAMES)
def test_report_is_as_pictured(name: str, run: Runner, monkeypatch: pytest.MonkeyPatch, update_pictures: bool) -> None:
    monkeypatch.chdir(HERE)
    file = name if name == "no_file" or (HERE / f"{name}.csv").exists() else "good"
    outcome = run("fit", "model.aspen", f"{file}.csv", *ASKED.get(name, (*ON_SECONDS, *TWO)))
    assert (outcome.status, outcome.out) == (2, "")
    picture = HERE / f"{name}.txt"
    if update_pictures:
        picture.write_text(outcome.err, encoding="utf-8")
    assert outcome.err == picture.read_text(encoding="utf-8")


def test_every_picture_is_of_something() -> None:
    assert sorted(file.stem for file in HERE.glob("*.txt")) == NAMES
