"""Other memories and topologies: against machines whose text says the same, one prediction after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.advice.advise import AdviceOptions, decided_of, scaled_of, space_of
from aspenpy.advice.configuration import Configuration
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.prediction import predict
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.models.machine.model import Machine

SOCKET = Path(__file__).parents[2] / "models" / "machines" / "parts" / "sockets" / "intel_xeon_haswell.aspen"
APPLICATION = """model work {
  param ranks = 1
  kernel main {
    execute [ranks] { loads [64e9/ranks] }
    execute [ranks] { messages [1 MB] as alltoall }
  }
}"""
HASWELL = """
param nodes = 8
param sides[] = {2, 2, 2}
include parts/sockets/intel_xeon_haswell.aspen
MORE
machine m { node [nodes] one interconnect [nodes] net }
node one { socket intel_xeon_haswell }
interconnect net {
  property topology [TOPOLOGY]
  property latency [1 us]
  property hop_latency [0.5 us]
  property bandwidth [1 GB/s]
  resource messages(volume) [latency + volume/bandwidth]
  dynamic power [3 W]
}
"""
STAR = HASWELL.replace("MORE", "")
SHAPES = {
    "star": "star",
    "torus": "torus] property dimensions [sides",
    "hypercube": "hypercube] property dimension [3",
    "fat_tree": "fat_tree] property arity [18] property levels [1",
    "dragonfly": "dragonfly] property nodes_per_router [9] property routers [18] property global_links [9]"
    " property groups [10",
    "fully_connected": "fully_connected",
}


def case(machine: Machine, **changes: object) -> Case:
    return Case(parse(APPLICATION), machine, **changes)  # type: ignore[arg-type]


def test_topologies_on_eight_nodes() -> None:
    """Each as a machine of its own that states it; by decisions, and by scaling."""
    expected = {
        name: predict(case(parse(STAR.replace("TOPOLOGY", text)), set={"ranks": 64}, ranks_on="core")).runtime
        for name, text in SHAPES.items()
    }
    assert len({*expected.values()}) > 3
    star = case(parse(STAR.replace("TOPOLOGY", "star")))
    choices = decided_of(star, AdviceOptions(("topology", "nodes=1,8"))).choices[0]
    found = [choices.choice(row) for row in range(len(choices.points))]
    assert {it.configuration.parts["topology"]: it.outcome.runtime for it in found if it.nodes == 8} == pytest.approx(
        expected
    )
    scaled = scaled_of(star, [Configuration({}, {"topology": "torus"})], AdviceOptions(nodes=8)).scalings[0]
    assert scaled.points[scaled.nodes.index(8)].time == pytest.approx(expected["torus"])


def test_kinds_of_memory() -> None:
    """Bytes at the rate of 8 cores, 14.5 GB/s each, which that part states, and a message to each other rank; joules of
    a machine whose text has the part."""
    text = STAR.replace("TOPOLOGY", "star").replace("nodes = 8", "nodes = 1")
    space = space_of(case(parse(text)), AdviceOptions(("memory_kind=ddr4_2133,ddr5_4800_8_channels", "clock")))
    messages = 7 * (1e-6 + 1e6 / 1e9)
    assert space.base.runtime == pytest.approx(64 / 68 + messages)
    best = space.near_optimal[0]
    assert best.configuration.parts == {"memory_kind": "ddr5_4800_8_channels"}
    assert best.outcome.runtime == pytest.approx(64 / (8 * 14.5) + messages)
    socket = SOCKET.read_text().replace("ddr4_2133", "ddr5_4800_8_channels")
    text = text.replace("include parts/sockets/intel_xeon_haswell.aspen", socket)
    by_hand = case(parse(text), set={"ranks": 8}, ranks_on="core")
    energy = predict_energy(by_hand.with_set({"haswell_clock": best.configuration.values.get("clock", 3.5e9)}))
    assert best.outcome.energy == pytest.approx(energy.value)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["topology=ring"], "the library has no topology `ring`"),
        (["memory_kind=ddr9"], "the library has no memory_kind `ddr9`"),
        (["memory_kind", "memory_bandwidth"], "`memory_kind` and `memory_bandwidth` cannot be varied together"),
    ],
)
def test_refused(wanted: list[str], message: str) -> None:
    with pytest.raises(AspenError, match=message):
        space_of(Case(load_application("cg"), load_machine("haswell")), AdviceOptions(tuple(wanted)))
