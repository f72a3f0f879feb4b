"""Boards with two devices: ranks that share a device share its half of the board's flops, bandwidth and watts."""

from __future__ import annotations

import pytest

import aspenpy
from tests.tiny import application

WORK = "execute [P] of [110] {{ {} }}"
LAUNCH = 1e-3
"""More than the part of a launch in these blocks."""

FLOPS, LOADS = "flops [1e13/P] as dp, simd, fmad", "loads [1e12/P] from x"


def run(need: str, ranks: int, **placement: object) -> aspenpy.Prediction:
    app = application(WORK.format(need), f"param P = {ranks} data x as Array(8e9, 8)")
    return aspenpy.predict(app, aspenpy.load_machine("frontier"), socket="amd_mi250x", **placement)  # type: ignore[arg-type]


@pytest.mark.parametrize("need", [FLOPS, LOADS])
@pytest.mark.parametrize("sharers", [1, 2, 4])
def test_a_node_takes_as_long_however_many_ranks_share_its_devices(need: str, sharers: int) -> None:
    """Four boards of two dies: eight devices, all of the node's work."""
    alone = run(need, 8)
    shared = run(need, 8 * sharers, ranks_per_device=sharers)
    assert shared.runtime == pytest.approx(alone.runtime, rel=LAUNCH)
    energies = [aspenpy.energy(each.case) for each in (alone, shared)]
    assert energies[1].value == pytest.approx(energies[0].value, rel=LAUNCH)


@pytest.mark.parametrize("need", [FLOPS, LOADS])
def test_one_device_has_half_of_its_board(need: str) -> None:
    """Two ranks on one die take twice as long as two on the two dies of a board: half the flops and the bandwidth."""
    assert run(need, 2, ranks_per_device=2).runtime == pytest.approx(2 * run(need, 2).runtime, rel=LAUNCH)
    assert run(need, 2, bind="socket", ranks_per_socket=2).runtime == pytest.approx(run(need, 2).runtime, rel=LAUNCH)


def test_the_peak_of_a_die_by_hand() -> None:
    """110 units with 128 flops a cycle at 1.7 GHz, below what a board's cap lets through."""
    assert run(FLOPS, 1, ranks_per_device=1).runtime == pytest.approx(1e13 / (110 * 128 * 1.7e9), rel=LAUNCH)
