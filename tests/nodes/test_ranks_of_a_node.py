"""Published runs on one node whose ranks were varied, against the placement of as many on a sibling in the library:
how far more ranks help is decided by what they share. Nothing is fitted."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from statistics import median

import pytest

import aspenpy

SHARED = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared"))
CURVES = SHARED / "data" / "hardware" / "scaling.csv"
TRUST = Path(__file__).parents[2] / "docs" / "trust.md"

pytestmark = pytest.mark.skipif(
    not CURVES.exists(), reason="the measured data is not beside the checkout (see ASPENPY_SHARED)"
)

THREADRIPPER_3990X = {"ddr4_3200_rome_bandwidth": "102.4 GB/s", "epyc_7742_clock": "3.4 GHz"}
"""The same eight chiplets on four channels of DDR4-3200 (data sheet). Its memory and clock are not told: the fastest
that it takes, and the highest clock of the EPYC 7742."""

EPYC_7713 = {"epyc_7763_clock": "3.5 GHz"}
"""The same chip; its clock is not told: the highest of the EPYC 7763."""


def rows(application: str, system: str, unit: str) -> list[dict[str, str]]:
    found = [
        row
        for row in csv.DictReader(CURVES.read_text(encoding="utf-8").splitlines())
        if row["application"] == application
    ]
    return [row for row in found if system in row["system"] and row["unit"] == unit and row["ranks_or_gpus"].isdigit()]


REFERENCE_CODE = {"colours": 1, "first_sweep": 1}
"""HPCG as it is distributed: in the order of the rows, and the whole matrix in each sweep."""


def hpcg() -> dict[int, float]:
    """Predicted over measured Gflop/s by ranks of one node, each with the default grid of 104^3."""
    app, machine = aspenpy.load_application("hpcg"), aspenpy.load_machine("epyc_7742")
    found = {}
    for row in rows("HPCG", "Threadripper 3990X", "GFLOP/s"):
        ranks = int(row["ranks_or_gpus"])
        run = aspenpy.predict(app, machine, set={"ranks": ranks, **REFERENCE_CODE, **THREADRIPPER_3990X})
        rate = float(aspenpy.count(app, "flops", set={"ranks": ranks})) / float(run.runtime) / 1e9
        found[ranks] = rate / float(row["time_or_rate"])
    return found


def lulesh() -> dict[int, float]:
    """Measured over predicted time by ranks of one node, 30 elements along the edge of each."""
    app, machine = aspenpy.load_application("lulesh"), aspenpy.load_machine("epyc_7763")
    found = {}
    for row in rows("LULESH 2", "EPYC 7713", "s"):
        ranks, steps = int(row["ranks_or_gpus"]), int(row["problem"].split(" iterations")[0].split()[-1])
        run = aspenpy.predict(app, machine, set={"ranks": ranks, "steps": steps, **EPYC_7713})
        found[ranks] = float(row["time_or_rate"]) / float(run.runtime)
    return found


def test_a_memory_that_eight_ranks_saturate() -> None:
    ratios = hpcg()
    assert sorted(ratios) == [1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64]
    assert max(ratios.values()) < 1.34
    assert min(ratios.values()) > 1.05
    assert max(ratios[ranks] / ratios[1] for ranks in ratios) < 1.06  # as a speedup over one rank
    assert min(ratios[ranks] / ratios[1] for ranks in ratios) > 0.86


def test_ranks_that_compute_more_than_they_load() -> None:
    ratios = lulesh()
    assert sorted(ratios) == [1, 8, 27]
    assert min(ratios.values()) > 0.8
    assert max(ratios.values()) < 1.42


def test_the_page_has_their_figures() -> None:
    for ratios in (hpcg(), lulesh()):
        off = {ranks: max(ratio, 1 / ratio) for ranks, ratio in ratios.items()}
        worst = max(off, key=lambda ranks: off[ranks])
        wanted = f"{100 * (median(off.values()) - 1):.0f} % | factor {off[worst]:.2f}: {worst} ranks | afterwards |"
        assert wanted in TRUST.read_text(encoding="utf-8")
