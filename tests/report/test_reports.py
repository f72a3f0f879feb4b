"""Every command's JSON and CSV name the units of their numbers, as the text does."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from aspenpy.shell.main import main

Told = Callable[..., str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """What a command writes to standard output."""

    def run(line: str) -> str:
        assert main(line.split()) == 0
        return capsys.readouterr().out

    return run


def objects(told: Told, line: str) -> Any:
    return json.loads(told(f"{line} --format json"))


def rows(told: Told, line: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(told(f"{line} --format csv"))))


def test_scale(told: Told) -> None:
    line = "scale comd --machine haswell --ranks 1,8"
    found = objects(told, line)["units"]
    assert (found["optimal_time"], found["points"]["time"], found["points"]["communication"]) == ("s", "s", "s")
    assert found["points"]["energy"] == "J"
    assert {row["time_unit"] for row in rows(told, line)} == {"s"}


def test_traffic(told: Told) -> None:
    line = "traffic cache_triad --machine haswell"
    found = objects(told, line)["units"]
    assert found == {
        "levels": {"bytes": "B"},
        "accesses": {"fetched": "B", "written_back": "B", "victims": "B", "warm": "B"},
    }
    assert {(row["fetched_unit"], row["written_back_unit"]) for row in rows(told, line)} == {("B", "B")}


def test_sensitivity(told: Told) -> None:
    line = "sensitivity comd --machine haswell --method normalised --vary nx=10..20"
    assert objects(told, line)["units"]["effects"] == {"least": "s", "most": "s"}
    (row,) = rows(told, line)
    assert (row["parameter"], row["least_unit"], row["most_unit"]) == ("nx", "s", "s")


def test_axes_of_a_sweep(told: Told) -> None:
    """`clock` is declared in hertz, `nx` is a plain number."""
    line = "sweep comd --machine haswell --over nx=10,20 --over haswell_clock=1e9,2e9"
    assert objects(told, line)["units"] == {"axes": {"haswell_clock": "Hz"}}


def test_a_memory_of_its_own(told: Told) -> None:
    """The second memory of the exascale node serves bytes a second, too."""
    found = [
        it for it in objects(told, "show exascale_integrated")["peaks"]["resources"] if it["resource"] == "dram_loads"
    ]
    assert {it["unit"] for it in found} == {"B/s"}
    assert "/s" in told("show exascale_integrated")
    assert " 1/s" not in told("show exascale_integrated")
