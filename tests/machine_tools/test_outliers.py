"""Machines that stand apart from the library's of their kind and years."""

from __future__ import annotations

from math import log
from pathlib import Path
from statistics import quantiles

import pytest

import aspenpy
from aspenpy.answers.checks.outliers import check_outliers, list_balances
from aspenpy.answers.figures import Figures, figures_of
from aspenpy.models.library import find_source, library_names
from aspenpy.models.machine.texts import read_header
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

SHEET = """
kind = "processor"
source = "a page"
name = "Box 64"
vendor = "Box"
year = 2023
cores = 64
core = "zen4"
clock = "2.4 GHz"
watts = "360 W"
[l1]
capacity = "32 KiB"
[memory]
kind = "ddr5"
bandwidth = "460 GB/s"
"""


SOCKET = "models/machines/parts/sockets/nvidia_h100_pcie.aspen"


def write_box(run: Runner, sheet: str = SHEET) -> None:
    Path("box.toml").write_text(sheet, encoding="utf-8")
    assert run("machine", "new", "box", "--from", "box.toml", "--replace").status == 0


def test_balances_by_hand() -> None:
    """100 GB/s beside 2 Tflop/s, 200 W, 50 GB of memory."""
    assert list_balances(Figures(2e12, 100e9, 50e9, 200.0, None)) == {
        "bandwidth of memory for each flop/s": 0.05,
        "power for each Gflop/s": pytest.approx(0.1),
        "power for each GB/s of memory": pytest.approx(2.0),
        "time to read its memory once": 0.5,
    }
    assert [*list_balances(Figures(None, 100e9, 50e9, 200.0, None))] == [
        "power for each GB/s of memory",
        "time to read its memory once",
    ]


def test_a_processor_of_its_year_is_none(run: Runner, models: Path) -> None:
    write_box(run)
    assert run("machine", "check", "box.aspen", "--strict") == (0, "no errors, no warnings\n", "")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("460 GB/s", "46 TB/s", "in `box` the bandwidth of memory for each flop/s is "),
        ("360 W", "18 kW", "in `box` the power for each Gflop/s is "),
        ("360 W", "36 W", "in `box` the power for each Gflop/s is "),
        ("2023", "1998", None),  # the library has no eight processors of those years
    ],
)
def test_a_slip_in_a_sheet_is_named(run: Runner, models: Path, right: str, wrong: str, said: str | None) -> None:
    write_box(run, SHEET.replace(right, wrong))
    outcome = run("machine", "check", "box.aspen")
    assert (said or "outlier") in outcome.err + outcome.out if said else "half of the library" not in outcome.err


def test_a_machine_without_a_header_is_not_compared() -> None:
    machine = aspenpy.load_machine("xeon_max_9480")
    assert [*check_outliers(machine, "machine m { }")] == []


@pytest.mark.parametrize(("name", "stands_apart"), [("xeon_max_9480", True), ("epyc_9654", False)])
def test_the_fence_is_three_interquartile_ranges_of_logarithms(name: str, stands_apart: bool) -> None:
    """Tukey's rule, worked out from the machines: 128 GB of HBM are read in a tenth of the time of others' memory."""

    def seconds(each: str) -> float:
        figures = figures_of(aspenpy.load_machine(each))
        return (figures.capacity or 0) / (figures.bandwidth or 0)

    of = {each: read_header(find_source("machines", each).text) for each in library_names("machines")}
    year = of[name].year or 0
    peers = [each for each in of if of[each].kind == "cpu" and abs((of[each].year or 0) - year) <= 3 and each != name]
    low, _, high = quantiles([log(seconds(each)) for each in peers], n=4)
    own = log(seconds(name))
    assert (own < low - 3 * (high - low) or own > high + 3 * (high - low)) is stands_apart
    found = [*check_outliers(aspenpy.load_machine(name), find_source("machines", name).text)]
    assert any("the time to read its memory once" in item.message for item in found) is stands_apart
    assert all(f"the library's {len(peers)} processors of {year - 3} to {year + 3}" in (i.hint or "") for i in found)


@pytest.mark.parametrize("factor", [0.1, 10])
def test_a_digit_too_many_or_too_few_in_watts_is_named(factor: float) -> None:
    """Boards differ by 24 times in watts for a flop of double precision, by 1.6 for a byte."""
    machine, text = aspenpy.load_machine("h100_pcie"), find_source("machines", "h100_pcie").text
    assert [*check_outliers(machine, text)] == []
    socket = (Path(aspenpy.__file__).parents[1] / SOCKET).read_text(encoding="utf-8")
    assert socket.count("350 W") > 3
    slip = text.replace("include parts/sockets/nvidia_h100_pcie.aspen", socket.replace("350 W", f"{350 * factor} W"))
    (found,) = check_outliers(aspenpy.parse(slip), text)
    assert found.message.startswith("in `h100_pcie` the power for each GB/s of memory is ")
