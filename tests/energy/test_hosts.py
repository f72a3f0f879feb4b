"""A node with accelerators, its processor, its board and its supply, by hand."""

from typing import Literal

import pytest

import aspenpy

MACHINE = """
machine m { node [3] box  interconnect [6] port }
node box { socket [4] device  socket [2] host  static power [50 W]  property efficiency [0.8] }
socket device {
  property rank
  core [10] unit
  memory stacked
  static power [20 W]
  property idle_power [30 W]
  property energy_per_flop_dp [10 J/flop]
  property energy_per_flop_tensor [1 J/flop]
  property energy_per_flop_tensor_dp [4 J/flop]
}
core unit {
  property simt
  property clock [1 Hz]
  property simd_width [2]
  property fma_dp_simd_rate [2]
  property tensor_fp16_rate [16]
  resource flops(x) [x/(1 Hz*1 flop)] with sp [base], dp [base*2], simd [base/2], fmad [base/2]
}
memory stacked { resource loads(x) [x/(1 GB/s)]  resource stores(x) [x/(1 GB/s)]  conflict loads, stores }
socket host {
  core [8] ordinary
  static power [9 W]
  property idle_power [40 W]
  property uncore_power [10 W]
  property active_core_power [3 W]
  property efficiency [0.5]
}
core ordinary { resource flops(x) [x/(1 Hz*1 flop)] }
interconnect port { resource messages(x) [1 + x/7]  static power [15 W]  dynamic power [10 W] }
"""

WORK = "model work { param ranks = 4 kernel main { execute [ranks] of [10] { flops [20] as %s } } }"


def energy_of(traits: str, charged: Literal["cores_used", "nodes_used", "machine"], ranks: int = 4) -> aspenpy.Energy:
    return aspenpy.energy(
        aspenpy.parse(WORK % traits),
        aspenpy.parse(MACHINE),
        socket="device",
        set={"ranks": ranks},
        options=aspenpy.EnergyOptions(charged=charged),
    )


@pytest.mark.parametrize(
    ("traits", "joules"),
    [("dp, simd, fmad", 10), ("tensor, dp, simd, fmad", 4), ("tensor, fp16", 1)],
)
def test_products_on_lanes_take_what_is_stated_for_them(traits: str, joules: float) -> None:
    """Four devices, 20 flops each; products in double precision run on lanes, those in half on units of their own."""
    energy = energy_of(traits, "cores_used")
    assert energy.value == pytest.approx(4 * 30 * energy.runtime + 4 * 20 * joules)


def test_a_node_as_a_meter_has_it() -> None:
    """One of three nodes works. Two cores are at work on each of its two hosts, for the ranks of four devices."""
    energy = energy_of("tensor, dp, simd, fmad", "machine")
    devices = 4 * 30 * energy.runtime + 4 * 20 * 4
    hosts = 2 * (40 + 10 + 2 * 3) * energy.runtime
    asleep = 4 * 9 * energy.runtime  # hosts of the other two nodes
    others = (3 * 50 + 8 * 20) * energy.runtime  # boards, devices of the other two nodes
    ports = 6 * 15 * energy.runtime
    by_hand = (devices + (hosts + asleep) / 0.5 + others) / 0.8 + ports
    assert energy.value == pytest.approx(by_hand)


def test_hosts_on_the_nodes_that_are_used() -> None:
    energy = energy_of("tensor, dp, simd, fmad", "nodes_used", ranks=5)
    joules = {use.key: use.energy for use in energy.terms}
    assert joules["hosts", "host"] == pytest.approx(2 * 2 * (40 + 10 + 2 * 3) * energy.runtime)
    assert joules["idle partners", "host"] == pytest.approx(0)
    assert joules["idle partners", "device"] == pytest.approx(3 * 20 * energy.runtime)


def test_a_processor_that_computes_has_no_hosts() -> None:
    app = aspenpy.parse("model work { kernel main { execute [4] { flops [20] } } }")
    energy = aspenpy.energy(
        app, aspenpy.parse(MACHINE), socket="host", options=aspenpy.EnergyOptions(charged="nodes_used")
    )
    assert "hosts" not in {use.key.cause for use in energy.terms}
