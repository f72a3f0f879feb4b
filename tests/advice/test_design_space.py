"""Components alone and in pairs: against runtimes and energies written out by hand, and predictions one by one."""

from __future__ import annotations

import random
from itertools import product

import pytest

from aspenpy.advice.advise import EVERY, AdviceOptions, space_of
from aspenpy.advice.configurable import make_configurable
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.system_ranges import SystemRange
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.energy.options import LITERAL
from aspenpy.answers.prediction import predict, prepare
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.report.advice.design_space import _is_better
from tests.thorough import some

APPLICATION = """model work {{
  param n = {n}
  kernel main {{
    execute [1] {{ flops [n] }}
    execute [1] {{ loads [{bytes}] }}
  }}
}}"""
MACHINE = """param rate = 2 GHz in 1 GHz .. 4 GHz
machine box {{ node box_node }}
node box_node {{ socket [1] chip }}
socket chip {{
  core [4] unit
  memory ram
  static power [{idle} W]
  dynamic power [{busy} W]
}}
core unit {{ property clock [rate] property issue [1 flop] resource flops(x) [x/(clock*issue)] }}
memory ram {{
  property ddr
  property channels [4]
  property channel_bandwidth [{channel}]
  property bandwidth [{bandwidth}]
  property attained_bandwidth [{attained}]
  resource loads(x) [x/attained_bandwidth]
  static power [1 W]
  dynamic power [2 W]
}}"""
USUAL = {"idle": 10, "busy": 40, "channel": "16e9", "bandwidth": "64e9", "attained": "32e9"}


def case(n: float = 4e9, moved: float = 32e9, **machine: object) -> Case:
    return Case(parse(APPLICATION.format(n=n, bytes=moved)), parse(MACHINE.format(**USUAL | machine)))


def test_each_component_alone_and_both_together_by_hand() -> None:
    """Runtime n/clock + bytes/attained = 2 s + 1 s. Clock 1 .. 4 GHz: 5 s .. 2 s, sensitivity 3/3. Memory clock, half
    to twice 1 GHz (16 GB/s over 2 x 8 B): 2 s .. 4 s with 0.5 s .. 2 s of it memory: 2.5 s .. 4 s, 1.5/3. Both: 1.5 s
    .. 6 s, 4.5/3."""
    space = DesignSpace(case(), ["clock", "memory_clock=0.5GHz..2GHz"])
    assert space.base.runtime == pytest.approx(3)
    found = {effect.parameters: effect for effect in (*space.runtime_effects.singles, *space.runtime_effects.pairs)}
    expected = {("clock",): (2, 5), ("memory_clock",): (2.5, 4), ("clock", "memory_clock"): (1.5, 6)}
    for names, (least, most) in expected.items():
        effect = found[names]
        assert (effect.least, effect.most) == pytest.approx((least, most))
        assert effect.sensitivity == pytest.approx((most - least) / 3)
        assert effect.normalised == pytest.approx((most - least) / 4.5)
    assert space.configurations == 10 + 10 + 100


def test_memory_bandwidth_and_memory_clock_multiply() -> None:
    """Section 4.4.2: bandwidth = memory clock x data rate x bus width x interfaces; what is attained goes with both."""
    space = DesignSpace(case(), ["memory_clock=0.5GHz,2GHz", "memory_bandwidth=32e9,128e9"], levels=2)
    pair = space.runtime_effects.pairs[0]
    assert (pair.least, pair.most) == pytest.approx((2 + 1 / 4, 2 + 4))


def test_energy_and_its_products_are_those_of_the_prediction() -> None:
    space = DesignSpace(case(), ["clock"], options=LITERAL)
    for found in space.near_optimal:
        clock = found.configuration.values["clock"]
        energy = predict_energy(case().with_set({"rate": clock}), options=LITERAL)
        assert (found.outcome.runtime, found.outcome.energy) == pytest.approx((energy.runtime, energy.value))
        assert (found.outcome.edp, found.outcome.ed2p) == pytest.approx((energy.edp, energy.ed2p))


def spaces(count: int) -> list[tuple[Case, list[str], dict[str, list[float]]]]:
    """Small design spaces: machines, applications and levels drawn at random."""
    draw = random.Random(17)
    found = []
    for _ in range(count):
        levels = {
            "clock": sorted(draw.sample([1e9, 1.5e9, 2e9, 2.5e9, 3e9, 4e9], draw.choice([2, 3]))),
            "memory_clock": sorted(draw.sample([0.6e9, 0.8e9, 1.1e9, 1.6e9], 2)),
            "cores": [float(value) for value in sorted(draw.sample(range(1, 9), 2))],
        }
        drawn = case(
            draw.uniform(1e8, 1e10),
            draw.uniform(1e8, 1e11),
            idle=draw.randrange(1, 100),
            busy=draw.randrange(1, 200),
            attained=f"{draw.uniform(1e10, 6e10)}",
        )
        found.append((drawn, [f"{name}={','.join(map(str, values))}" for name, values in levels.items()], levels))
    return found


def test_optima_of_random_small_spaces_are_those_of_every_prediction() -> None:
    """With each configuration computed by itself; the search along pairs finds the best, too."""
    for one, wanted, levels in spaces(some(200, 30)):
        space = DesignSpace(one, wanted, options=LITERAL, levels=4)
        sets = {item.component: item.sets for item in space.ranges}
        free = [sets[name] for name in levels]
        runtime, energy = (prepare(space.case, free=free, metric=name) for name in ("runtime", "energy"))
        outcomes = [(runtime(*values), energy(*values)) for values in product(*levels.values())]
        base = (space.base.runtime, space.base.energy or 0.0)
        for found in space.near_optimal:
            every = [*outcomes, base]
            worth = {
                "runtime": min(time for time, _ in every),
                "energy": min(joules for _, joules in every),
                "edp": min(time * joules for time, joules in every),
                "ed2p": min(time**2 * joules for time, joules in every),
            }
            assert found.outcome.value_of(found.objective) <= worth[found.objective] * (1 + 1e-9)
            assert found.gap == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["haswell", "xeon_platinum_8360y", "h100", "simple", "frontier"])
def test_a_configurable_machine_takes_as_long(name: str) -> None:
    """Numbers that became parameters change nothing."""
    machine = load_machine(name)
    socket = machine.sockets[0]
    application = load_application("lulesh")
    changed = make_configurable(machine, socket).machine
    assert predict(application, changed, socket=socket).runtime == predict(application, machine, socket=socket).runtime


def test_ranks_follow_the_cores_and_the_problem_stays() -> None:
    """LULESH's size is that of a rank: eight times the cores take an eighth of the elements each."""
    machine = load_machine("haswell")
    flops = []
    for cores in (1, 8):
        space = DesignSpace(Case(load_application("lulesh"), machine, set={"haswell_nodes": 1}), ["cores=1..8"])
        there = predict(space.case.with_set({"haswell_cores": cores}))
        flops.append(there.resources["flops"].amount)
        assert there.parameters["ranks"].value == cores
    assert flops[0] == pytest.approx(flops[1], rel=1e-3)  # sums over the nodes of faces differ


@pytest.mark.parametrize("wanted", [[], ["clock"]])
def test_a_clock_whose_range_nobody_states_is_only_turned_down(wanted: list[str]) -> None:
    """DDR4-3200 at 1.6 GHz has no 3.2 GHz, and a core no clock above the one that its machine states."""
    machine = parse(MACHINE.replace("2 GHz in 1 GHz .. 4 GHz", "3.4 GHz").format(**USUAL))
    space = DesignSpace(case().changed(machine=machine), wanted)
    found = next(item for item in space.ranges if item.component == "clock")
    assert (found.variable.low, found.variable.high, found.source) == (1.7e9, pytest.approx(3.4e9), "vendor")
    assert found.origin.endswith("assumed")


def test_what_nobody_turns_is_varied_only_where_named() -> None:
    """Of Frontera: caches, lanes, prefetchers and latencies are part of what was bought; less of an uncore's clock
    would always look better, since the models know what it draws alone."""
    here = Case(load_application("hpcg"), load_machine("frontera"), set={"frontera_nodes": 1})
    turned = {item.component: item for item in DesignSpace(here).ranges}
    assert {*turned} == {"clock", "cores", "smt", "memory_bandwidth", "memory_clock", "sockets", "network_bandwidth"}
    assert turned["memory_clock"].variable.high == pytest.approx(23.464e9 / 16)  # DDR4-2933, 8 B twice a cycle
    assert (turned["cores"].variable.low, turned["cores"].variable.high) == (14, 28)
    assert turned["sockets"].variable.high == 2
    every = {item.component for item in DesignSpace(here, EVERY).ranges}
    assert every - {*turned} >= {"uncore_clock", "prefetch", "l1_capacity", "simd_width", "memory_latency"}
    assert {item.component for item in DesignSpace(here, ["prefetch"]).ranges} == {"prefetch"}


@pytest.mark.parametrize("name", ["h100", "mi300x", "a64fx"])
def test_memory_on_the_package_is_not_turned(name: str) -> None:
    found = {item.component for item in DesignSpace(Case(load_application("stream"), load_machine(name))).ranges}
    assert not found & {"memory_clock", "memory_bandwidth"}


def test_ranges_in_the_order_of_who_states_them() -> None:
    told = [SystemRange("clock", 1.5e9, 3e9, "cpupower"), SystemRange("cores", 1, 2, "lscpu")]
    ranges = {
        item.component: item for item in DesignSpace(case(), ["clock", "cores=1..3", "memory_clock"], told).ranges
    }
    assert {name: item.source for name, item in ranges.items()} == {
        "clock": "system",
        "cores": "user",
        "memory_clock": "vendor",
    }
    assert (ranges["clock"].variable.low, ranges["clock"].variable.high) == (1.5e9, 3e9)
    assert DesignSpace(case(), ["clock"]).ranges[0].source == "machine"


def test_components_that_are_not_significant_are_left_out_and_said() -> None:
    """Shares of a hundredth of both metrics, by arithmetic on the sensitivities of all components that are stated."""
    case = Case(load_application("lulesh"), load_machine("haswell"))
    every = DesignSpace(case.with_set({"haswell_nodes": 1}))
    chosen = space_of(case, AdviceOptions())
    kept, left = {item.component for item in chosen.ranges}, {item.component: item for item in chosen.left_out}
    assert kept | {*left} == {item.component for item in every.ranges}
    for effects, metric in ((every.runtime_effects, "runtime"), (every.energy_effects, "energy")):
        assert effects is not None
        total = sum(item.sensitivity for item in effects.singles)
        for item in effects.singles:
            share = item.sensitivity / total
            if item.parameters[0] in left:
                assert share < 0.01
                assert getattr(left[item.parameters[0]], metric) == pytest.approx(share)
            elif share >= 0.01:
                assert item.parameters[0] in kept
    assert {"clock", "cores", "memory_bandwidth"} <= kept
    assert not {"l1_capacity", "prefetch"} & (kept | {*left})


@pytest.mark.parametrize(("pattern", "said"), [("", True), (" as stride(64)", False)])
def test_caches_that_nothing_can_be_said_of(pattern: str, said: bool) -> None:
    """The loads come from memory whatever caches there are, unless it is stated how they go through it."""
    machine = load_machine("haswell")
    work = parse(f"model work {{ kernel main {{ execute [8] {{ loads [1e6] of size [8]{pattern} }} }} }}")
    space = DesignSpace(Case(work, machine, ranks_on="core"), ["l3_capacity", "clock"], levels=2)
    note = "l3_capacity changes nothing: `work` states no access patterns (docs/caches.md)."
    assert (note in "\n".join(map(str, space.report().parts))) == said


@pytest.mark.parametrize(
    ("component", "value", "better"),
    [
        ("memory_latency", 80e-9, True),
        ("memory_latency", 90e-9, False),
        ("memory_latency", 100e-9, False),
        ("clock", 3e9, True),
        ("clock", 2.5e9, False),
        ("clock", 2e9, False),
    ],
)
def test_better_is_more_but_for_latencies(component: str, value: float, better: bool) -> None:
    """The machine has 90 ns and 2.5 GHz; what it has is no better than what it has."""
    base = {"memory_latency": 90e-9, "clock": 2.5e9}[component]
    assert _is_better(component, value, base) is better
