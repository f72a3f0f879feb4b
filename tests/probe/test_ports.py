"""Ports of loads and stores on a probed machine, where a block does not ask for accesses itself: by hand."""

from __future__ import annotations

import pytest

import aspenpy
from tests.probe import hosts
from tests.probe.hosts import CLOCK, LANES
from tests.tiny import application

WARM = "from A as stream, warm"


@pytest.fixture(scope="module")
def machine() -> aspenpy.Machine:
    return hosts.machine(hosts.text())


@pytest.mark.parametrize(
    ("block", "cycles"),
    [
        (f"loads [1000] of size [8] {WARM}", 1000 / 2),  # two ports
        (f"loads [1000] of size [8] {WARM}  loads [500] of size [8] {WARM}", 1500 / 2),
        ("stores [1000] of size [8] to A as stream, warm", 1000),  # one port, beside that of loads
        (f"loads [1000] of size [8] {WARM}  stores [100] of size [8] to A as stream, warm", 1000 / 2),
        (f"loads [1000] of size [8] {WARM}  flops [8] as add, dp, simd", 1000 / 2 / LANES),
        (f"loads [1000] of size [4] {WARM}  flops [8] as add, sp, simd", 1000 / 2 / 2 / LANES),
        (f"loads [1000] of size [8] {WARM}  accesses [300] as load", 300 / 2),  # what it asks for itself
    ],
)
def test_words_occupy_ports(block: str, cycles: float, machine: aspenpy.Machine) -> None:
    app = application(f"execute {{ {block} }}", declarations="data A as Array(1000, 8)")
    assert float(aspenpy.predict(app, machine).runtime) * CLOCK == pytest.approx(cycles, rel=1e-6)


def test_a_machine_without_accesses_has_no_ports() -> None:
    text = hosts.text()
    line = next(line for line in text.splitlines() if "resource accesses" in line)
    without = hosts.machine(text.replace(line + "\n", "").replace("conflict accesses, loads", "conflict tlb, loads"))
    app = application(f"execute {{ loads [1000] of size [8] {WARM} }}", declarations="data A as Array(1000, 8)")
    assert float(aspenpy.predict(app, without).runtime) == 0
