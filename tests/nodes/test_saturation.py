"""Bandwidth against cores, as likwid-bench measured it (published with kerncraft): the law of shared
memories fitted at one core and at all, and the library's own numbers against the curves of loads."""

from __future__ import annotations

import csv
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

import aspenpy
from tests.tiny import both

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared"))
CURVES = SHARED / "data" / "hardware" / "bandwidth_saturation.csv"
PAGE = ROOT / "docs" / "nodes.md"

pytestmark = pytest.mark.skipif(
    not CURVES.exists(), reason="the measured data is not beside the checkout (see ASPENPY_SHARED)"
)

LOADS = """
model loads {
  param active = 1
  kernel main { execute [active] { loads [1e9] } }
}
"""
NODE = """
param cores = 1
param domains = 1
param one = 1e9
param every = 1e9
machine m { node n }
node n { socket s }
socket s { core [cores] c  memory [domains] mem  property affinity [compact] }
core c { resource flops(n) [n] }
memory mem {
  property attained_bandwidth [every/domains]
  property core_bandwidth [one]
  resource loads(volume) [volume/attained_bandwidth]
}
"""

DOMAINS = {
    "EPYC 7451": 4,  # four dies
    "EPYC 7452 (NPS4)": 4,
    "EPYC 7742 (NPS4; every second core)": 4,
    "Xeon E5-2695 v3 (CoD)": 2,
    "Xeon E5-2697 v4 (CoD)": 2,
    "Xeon Gold 6148 (SNC2)": 2,
    "Xeon Gold 6248 (SNC2)": 2,
    "Xeon Platinum 8360Y (SNC2)": 2,
    "Xeon Platinum 8470 (SNC4)": 4,
}
"""NUMA domains of a socket as it was measured; one on the others."""

CACHED = {("Xeon Platinum 8360Y (SNC2)", "copy")}
"""Partly cached: all cores together hold much of the 510 MB that one core streams, and its stores fetch nothing. What
they reach says nothing about the memory."""


class Curve(NamedTuple):
    """Of one kernel on one processor: GB/s by active cores."""

    processor: str
    kernel: str
    measured: dict[int, float]


@cache
def curves() -> tuple[Curve, ...]:
    found: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for row in csv.DictReader(CURVES.read_text(encoding="utf-8").splitlines()):
        kernel = row["kernel"].removeprefix("likwid-bench ")
        found[row["processor"], kernel][int(row["cores"])] = float(row["bandwidth_GBs"])
    return tuple(Curve(*key, measured) for key, measured in found.items() if key not in CACHED)


def errors(curve: Curve) -> tuple[tuple[int, float], ...]:
    """At each number of cores between one and all, with the two ends known."""
    return all_errors()[curve.processor, curve.kernel]


@cache
def all_errors() -> dict[tuple[str, str], tuple[tuple[int, float], ...]]:
    return {(curve.processor, curve.kernel): tuple(computed(curve)) for curve in curves()}


def computed(curve: Curve) -> Iterator[tuple[int, float]]:
    app, machine = both(LOADS, NODE)
    cores = max(curve.measured)
    ends = {"cores": cores, "one": curve.measured[1] * 1e9, "every": curve.measured[cores] * 1e9}
    values = ends | {"domains": DOMAINS.get(curve.processor, 1)}
    seconds = aspenpy.prepare(app, machine, ["active"], set=values)
    for active, measured in curve.measured.items():
        if 1 < active < cores:
            yield active, active / seconds(active) / measured - 1


def table() -> Iterator[str]:
    rows = []
    of_all: list[float] = []
    for processor in dict.fromkeys(curve.processor for curve in curves()):
        of_it = [
            (abs(error), active, curve.kernel)
            for curve in curves()
            if curve.processor == processor
            for active, error in errors(curve)
        ]
        worst, active, kernel = max(of_it)
        of_all += [error for error, *_ in of_it]
        rows.append((median(error for error, *_ in of_it), len(of_it), worst, f"{kernel}, {active} cores", processor))
    yield "| processor | points | median error | worst | at |"
    yield "|---|---:|---:|---:|---|"
    for middle, points, worst, where, processor in sorted(rows, reverse=True):
        yield f"| {processor} | {points} | {100 * middle:.1f} % | {100 * worst:.0f} % | {where} |"
    yield f"| all | {len(of_all)} | {100 * median(of_all):.1f} % | {100 * max(of_all):.0f} % | |"


def test_between_one_core_and_all() -> None:
    found = [abs(error) for curve in curves() for _, error in errors(curve)]
    assert len(found) > 1400
    assert median(found) < 0.08
    assert max(found) < 0.25


def test_no_processor_is_off_by_much() -> None:
    for curve in curves():
        assert median(abs(error) for _, error in errors(curve)) < 0.14, curve[:2]  # loads on an E5-2630 v4


def test_the_table_of_the_page_is_current(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(r"(<!-- saturation -->\n).*?(<!-- end of saturation -->)", re.DOTALL)
    fresh = pattern.sub(lambda found: "\n".join([found[1], *table(), "", found[2]]), text)
    assert pattern.search(text)
    if request.config.getoption("--update-pictures"):
        PAGE.write_text(fresh, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == fresh


class Own(NamedTuple):
    """A processor of the library and the curve of its own or of a sibling: of `part` of its sockets' memories, with so
    large a difference at most."""

    machine: str
    processor: str
    part: int
    most: float


OWN = (
    Own("xeon_gold_6148", "Xeon Gold 6148", 1, 0.12),
    Own("xeon_e5_2670", "Xeon E5-2680", 1, 0.14),
    Own("a64fx", "A64FX (one CMG)", 4, 0.16),
    Own("xeon_e5_2698_v3", "Xeon E5-2695 v3", 1, 0.15),
    Own("xeon_platinum_8180", "Xeon Platinum 8174", 1, 0.21),  # its own all cores read 108 GB/s, those of the 8174 120
)


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.machine)
def test_the_numbers_of_the_library_are_the_curve_of_loads(own: Own) -> None:
    (curve,) = (curve for curve in curves() if (curve.processor, curve.kernel) == (own.processor, "load"))
    model = aspenpy.parse(LOADS)
    assert isinstance(model, aspenpy.Application)
    seconds = aspenpy.prepare(model, aspenpy.load_machine(own.machine), ["active"])
    found = {active: active / seconds(own.part * active) / measured - 1 for active, measured in curve.measured.items()}
    assert abs(found[1]) < 0.02
    assert max(map(abs, found.values())) < own.most


@pytest.mark.parametrize(
    ("machine", "cores", "gigabytes"),
    [
        ("xeon_gold_6148", 20, 117.8),  # kerncraft
        ("xeon_platinum_8180", 28, 107.95),  # Memory Latency Checker
        ("xeon_platinum_8360y", 36, 175.7),  # Memory Latency Checker; kerncraft's 195 are partly cached
        ("xeon_platinum_8280", 28, 125.2),  # Gold 6248, kerncraft
        ("xeon_platinum_8470", 52, 237),  # McCalpin, TACC; kerncraft's 305 are partly cached
        ("a64fx", 48, 4 * 227.5),  # FX700, kerncraft
    ],
)
def test_all_cores_together_attain_what_is_measured(machine: str, cores: int, gigabytes: float) -> None:
    model = aspenpy.parse(LOADS)
    assert isinstance(model, aspenpy.Application)
    seconds = float(aspenpy.predict(model, aspenpy.load_machine(machine), set={"active": cores}).runtime)
    assert cores / seconds == pytest.approx(gigabytes, rel=0.01)


@pytest.mark.parametrize(
    ("active", "milliseconds"),
    [(1, 86), (20, 14)],  # 1.2 GB loaded, the lines that are written among them, and 0.4 GB written back
)
def test_triad_on_a_gold_6148(active: int, milliseconds: float) -> None:
    triad = f"model t {{ kernel main {{ execute [{active}] {{ loads [1.2e9/{active}] stores [0.4e9/{active}] }} }} }}"
    model = aspenpy.parse(triad)
    assert isinstance(model, aspenpy.Application)
    found = aspenpy.predict(model, aspenpy.load_machine("xeon_gold_6148")).runtime
    assert 1e3 * found == pytest.approx(milliseconds, rel=0.08)
