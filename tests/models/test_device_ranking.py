"""What memory holds up runs on processors and accelerators in the order of the bandwidths that they attain."""

from __future__ import annotations

from functools import cache

import pytest

import aspenpy
from aspenpy.expr.evaluate import evaluate_many

MEMORIES = {
    "epyc_9654": "ddr5_4800_12_channels", "a100_80gb": "hbm2e_a100_80gb", "h100": "hbm3_h100", "mi300x": "hbm3_mi300x",
}  # fmt: skip
"""The memory of each, the slowest first."""

SIZES: dict[str, dict[str, object]] = {
    "stream": {"n": 10**8},
    "hpcg": {"local_x": 256, "local_y": 256, "local_z": 256, "ranks": 1},
    "lulesh": {"edge_elements": 200, "steps": 10, "ranks": 1},
    "cg": {"class": "D", "ranks": 1},
}
"""One rank with a whole socket or device, and problems so large that launches of kernels do not show. Much of LULESH is
scalar code, in which a processor holds its boost clock."""

BOOST = {"epyc_9654": {"epyc_9654_clock": "3.55 GHz"}}
"""Of all cores: AMD's product page."""


def attained(name: str) -> float:
    machine = aspenpy.load_machine(name)
    value = machine.components[MEMORIES[name]].value("attained_bandwidth")
    assert value is not None
    return float(evaluate_many([value], None, 0, machine.definitions)[0])


@cache
def seconds(app: str, name: str) -> float:
    machine = aspenpy.load_machine(name)
    settings = SIZES[app] | BOOST.get(name, {})
    return aspenpy.predict(aspenpy.load_application(app), machine, ranks_on="socket", set=settings).runtime


def test_bandwidths_as_they_were_measured() -> None:
    """STREAM's triad, GB/s, as the memories' files cite it."""
    assert [attained(name) / 1e9 for name in MEMORIES] == pytest.approx([375, 1793, 2971, 3864], rel=1e-3)


@pytest.mark.parametrize("app", SIZES)
def test_order_and_ratios_are_those_of_the_bandwidths(app: str) -> None:
    times = [seconds(app, name) for name in MEMORIES]
    assert times == sorted(times, reverse=True)
    for slow in MEMORIES:
        for fast in MEMORIES:
            ratio = seconds(app, slow) / seconds(app, fast)
            assert ratio == pytest.approx(attained(fast) / attained(slow), rel=0.3)
