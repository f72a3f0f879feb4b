"""Other memories and topologies: against machines whose text says the same, one prediction after the other."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from aspenpy.advice.advise import AdviceOptions, decide_case, scale_case, space_of
from aspenpy.advice.configuration import Budget, Configuration
from aspenpy.advice.decide import ChoiceOptions, Decided
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.prediction import predict
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.models.machine.model import Machine
from tests.thorough import some

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
    choices = decide_case(star, AdviceOptions(("topology", "nodes=1,8"))).choices[0]
    found = [choices.choice(row) for row in range(len(choices.points))]
    assert {it.configuration.parts["topology"]: it.outcome.runtime for it in found if it.nodes == 8} == pytest.approx(
        expected
    )
    scaled = scale_case(star, [Configuration({}, {"topology": "torus"})], AdviceOptions(nodes=8)).scalings[0]
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
    socket = SOCKET.read_text(encoding="utf-8").replace("ddr4_2133", "ddr5_4800_8_channels")
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


ENUMERATED = """
param nodes = 8
param speed = 2 GHz
param lanes = 4
MORE
machine m { node [nodes] one interconnect [nodes] net }
node one { socket chip property cost [PRICE] }
socket chip { core [CORES] unit static power [IDLE W] dynamic power [FULL W] }
core unit {
  property rank
  property clock [speed]
  property issue [1 flop]
  property simd_width [lanes]
  resource flops(x) [x/(clock*issue)] with simd [base/simd_width]
}
interconnect net {
  property topology [TOPOLOGY]
  property latency [1 us]
  property hop_latency [20 us]
  property bandwidth [1 GB/s]
  resource messages(volume) [latency + volume/bandwidth]
  dynamic power [3 W]
  property cost [7]
}
param sides[] = {2, 2, 2}
"""
WORK = """model work {
  param ranks = 1
  kernel main {
    execute [ranks] { flops [FLOPS/ranks] as simd }
    if (ranks > 1) { execute [ranks] { messages [VOLUME] as alltoall } }
  }
}"""


@pytest.mark.parametrize("seed", range(some(40, 4)))
def test_spaces_of_parts_and_whole_numbers_against_every_prediction(seed: int) -> None:
    """Topologies, nodes, cores and lanes drawn at random, within random budgets: the decision is the least of all
    machines whose texts say the same, and where none keeps to the budget that is said."""
    draw = random.Random(seed)
    text = ENUMERATED.replace("MORE", "")
    for name, values in {"PRICE": (3, 50), "CORES": (4, 4), "IDLE": (5, 40), "FULL": (10, 90)}.items():
        text = text.replace(name, str(draw.randint(*values)))
    work = WORK.replace("FLOPS", f"{draw.uniform(1e9, 1e11)}").replace("VOLUME", f"{draw.uniform(1e3, 1e6)}")
    shapes, cores = draw.sample(list(SHAPES), 2), sorted(draw.sample((1, 2, 3, 4, 6), 2))
    lanes = sorted(draw.sample((2, 4, 8), 2))
    every = {}
    for shape, nodes, count, lane in product(shapes, (1, 8), cores, lanes):
        machine = parse(text.replace("TOPOLOGY", SHAPES[shape]).replace("core [4]", f"core [{count}]"))
        one = Case(parse(work), machine).with_set({"nodes": 8, "lanes": lane, "ranks": nodes * count})
        if nodes == 1:  # shapes of eight nodes only are one node as a star
            one = one.changed(machine=parse(text.replace("TOPOLOGY", "star").replace("core [4]", f"core [{count}]")))
        one = one.with_set({"nodes": nodes})
        energy = predict_energy(one, options=EnergyOptions(charged="cores_used"))
        price = nodes * (int(text.split("property cost [")[1].split("]")[0]) + 7)
        every[shape, nodes, count, lane] = (energy.runtime, energy.value, energy.value / energy.runtime, price)
    limits = {
        name: draw.choice([*every.values()])[place] * draw.choice((1.001, 1.1, 0.999))
        for place, name in enumerate(("time", "energy", "power", "money"))
        if draw.random() < 0.4
    }
    objective = draw.choice(("runtime", "energy", "edp"))
    wanted = (
        f"topology={','.join(shapes)}",
        "nodes=1,8",
        f"cores={','.join(map(str, cores))}",
        f"simd_width={','.join(map(str, lanes))}",
    )
    base = Case(parse(work), parse(text.replace("TOPOLOGY", "star")))
    found = Decided(base, Budget(**limits), objective=objective, options=ChoiceOptions(wanted)).decisions[0]
    bounds = [limits.get(name, float("inf")) for name in ("time", "energy", "power", "money")]
    kept = [it for it in every.values() if all(value <= bound for value, bound in zip(it, bounds, strict=True))]
    assert (found.unmet is None) == bool(kept)
    if kept:
        power = {"runtime": (1, 0), "energy": (0, 1), "edp": (1, 1)}[objective]
        least = min(it[0] ** power[0] * it[1] ** power[1] for it in kept)
        assert found.choice.outcome.value_of(objective) == pytest.approx(least)
