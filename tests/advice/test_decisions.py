"""Decisions under budgets: against brute force in plain Python on random design spaces, and arithmetic by hand."""

from __future__ import annotations

import random
import re
from itertools import product

import numpy
import pytest

from aspenpy.advice import grouped
from aspenpy.advice.configuration import Budget, Objective
from aspenpy.advice.decide import ApplicationInput, ChoiceOptions, Decided
from aspenpy.advice.grouped import Grouped, Workload
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import predict_energy
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.report.advice.decision import report_decision
from aspenpy.tables import formats

APPLICATION = """model work {{
  param ranks = 1
  param rows = 64
  kernel main {{
    execute [ranks] of [rows/ranks] {{ flops [rows*1e9/ranks] }}
    if (ranks > 1) {{ execute [ranks] {{ messages [ranks*{volume!r}] }} }}
  }}
}}"""
MACHINE = """param boxes = 1 in 1 .. 64
param speed = 1e9 in 1e8 .. 1e10
machine cluster {{ node [boxes] box interconnect [boxes] port }}
node box {{ socket chip property cost [{price!r}] }}
socket chip {{ core [1] unit static power [{idle!r} W] dynamic power [{full!r} W] }}
core unit {{
  property rank property clock [speed] property issue [1 flop] resource flops(x) [x/(clock*issue)]
}}
interconnect port {{ resource messages(x) [x/64e9] dynamic power [0 W] property cost [0] }}
"""
CLOCKS, NODES = (5e8, 1e9, 2e9), (1, 2, 4, 8)
WANTED = ("clock=0.5GHz,1GHz,2GHz", "nodes=1,2,4,8")
PLAIN = {"volume": 1e9, "price": 10.0, "idle": 10.0, "full": 30.0}


def case(**values: float) -> Case:
    """rows/(nodes clock) s of flops, then nodes volume/64e9 s of messages, which all nodes send at once."""
    values = {**PLAIN, **values}
    return Case(parse(APPLICATION.format(**values)), parse(MACHINE.format(**values)))


def by_hand(rows: float, nodes: int, clock: float, **values: float) -> tuple[float, float, float, float]:
    """Runtime, energy, power and cost; idle power of the sockets at work for all of the run, the rest with flops."""
    at = {**PLAIN, **values}
    flops = rows * 1e9 / nodes / clock
    messages = nodes * at["volume"] / 64e9 if nodes > 1 else 0.0
    energy = nodes * (at["idle"] * (flops + messages) + at["full"] * flops)
    return flops + messages, energy, energy / (flops + messages), nodes * at["price"]


def test_what_a_combination_takes() -> None:
    choices = Decided(case(), Budget(), options=ChoiceOptions(WANTED)).choices[0]
    assert len(choices.points) == len(CLOCKS) * len(NODES)
    for row in range(len(choices.points)):
        choice = choices.choice(row)
        runtime, energy, _, cost = by_hand(64, choice.nodes, choice.configuration.values["clock"])
        assert choice.outcome.runtime == pytest.approx(runtime)
        assert choice.outcome.energy == pytest.approx(energy)
        assert choice.cost == pytest.approx(cost)


def test_rented_nodes_cost_their_hours() -> None:
    """Four nodes at 3.60 an hour for the seconds of the run; a node that is bought costs the same for any run."""
    text = MACHINE.replace("property cost [{price!r}]", "property hourly_price [3.6]").replace("property cost [0]", "")
    rented = Case(parse(APPLICATION.format(**PLAIN)), parse(text.format(**PLAIN)))
    choices = Decided(rented, Budget(), options=ChoiceOptions(WANTED)).choices[0]
    for row in range(len(choices.points)):
        choice = choices.choice(row)
        runtime = by_hand(64, choice.nodes, choice.configuration.values["clock"])[0]
        assert choice.cost == pytest.approx(3.6 * choice.nodes * runtime / 3600)
    # At 2 GHz one node takes 32 s, two 16.03125 s, four 8.0625 s: 0.032, 0.0320625, 0.03225
    found = Decided(rented, Budget(money=0.0321), options=ChoiceOptions(WANTED)).decisions[0]
    assert (found.choice.nodes, found.choice.cost) == (2, pytest.approx(0.0320625))


def test_a_budget_of_money_on_machines_of_the_library() -> None:
    """Where a machine states no cost, two are named that do: $7.20 and $98.32 are paid for an hour of their nodes."""
    stream = load_application("stream")
    with pytest.raises(AspenError) as refused:
        Decided(Case(stream, load_machine("haswell")), Budget(money=1.0))
    prices = {"aws_hpc7a": (7.2, None), "aws_p5": (98.32, "nvidia_h100")}
    assert re.findall(r"`(aws_\w+)`", str(refused.value)) == list(prices)
    for name, (price, socket) in prices.items():
        chosen = Decided(Case(stream, load_machine(name), socket=socket), Budget(money=1.0)).decisions[0].choice
        assert chosen.cost == pytest.approx(chosen.nodes * price * chosen.outcome.runtime / 3600)


def objective_of(name: Objective, runtime: float, energy: float) -> float:
    return {"runtime": runtime, "energy": energy, "edp": runtime * energy, "ed2p": runtime**2 * energy}[name]


NAMES = ("time", "energy", "power", "money")


def within(point: tuple[float, ...], limits: dict[str, float], but: str = "") -> bool:
    return all(point[NAMES.index(name)] <= bound for name, bound in limits.items() if name != but)


def least(points: list[tuple[float, float, float, float]], objective: Objective) -> float:
    return min(objective_of(objective, *point[:2]) for point in points)


@pytest.mark.parametrize("block", range(4))
def test_random_design_spaces_against_brute_force(block: int) -> None:
    """200 of them: the decision, each limit that binds, what the next bound buys, the front, and whether there is
    anything within the budget at all."""
    drawn = random.Random(block)
    for _ in range(50):
        values = {
            "volume": drawn.uniform(1e8, 4e9),
            "price": drawn.uniform(1, 100),
            "idle": drawn.uniform(1, 50),
            "full": drawn.uniform(1, 100),
        }
        rows = drawn.randint(8, 200)
        every = [by_hand(rows, nodes, clock, **values) for nodes, clock in product(NODES, CLOCKS)]
        limits = {
            name: drawn.choice([point[place] for point in every]) * drawn.uniform(1.01, 1.2)
            for place, name in enumerate(NAMES)
            if drawn.random() < 0.5
        }
        objective = drawn.choice(("runtime", "energy", "edp", "ed2p"))
        inputs = [ApplicationInput("", {"rows": rows})]
        found = Decided(case(**values), Budget(**limits), inputs, objective, ChoiceOptions(WANTED)).decisions[0]

        kept = [point for point in every if within(point, limits)]
        assert (found.unmet is not None) == (not kept)
        if not kept:
            continue
        assert found.choice.outcome.value_of(objective) == pytest.approx(least(kept, objective))
        better = {
            name: [
                point
                for point in every
                if within(point, limits, name) and least([point], objective) < least(kept, objective) * (1 - 1e-9)
            ]
            for name in limits
        }
        assert {item.limit for item in found.bindings} == {name for name in limits if better[name]}
        for item in found.bindings:
            following = min(point[NAMES.index(item.limit)] for point in better[item.limit])
            there = [point for point in better[item.limit] if point[NAMES.index(item.limit)] <= following * (1 + 1e-12)]
            assert item.next_bound == pytest.approx(following)
            assert item.next_value == pytest.approx(least(there, objective))
            assert item.without == pytest.approx(least(better[item.limit], objective))
            assert item.worth == pytest.approx(
                (least(there, objective) - least(kept, objective)) / (following - limits[item.limit])
            )
        undominated = {
            point
            for point in kept
            if not any(other[0] <= point[0] and other[1] <= point[1] and other[:2] != point[:2] for other in kept)
        }
        runtimes = sorted({round(point[0], 9) for point in undominated})
        assert [round(choice.outcome.runtime, 9) for choice in found.front] == pytest.approx(runtimes)


def test_nodes_that_no_network_joins_are_not_tried() -> None:
    """Ranks without messages would run on them, and take less."""
    alone = MACHINE.replace(" interconnect [boxes] port }}", " }}").format(**PLAIN)
    apart = Case(
        parse("model work { param ranks = 1 kernel main { execute [ranks] { flops [1e9/ranks] } } }"), parse(alone)
    )
    choices = Decided(apart, Budget(), options=ChoiceOptions(("clock=1GHz",))).choices[0]
    assert [item.component for item in choices.space.ranges] == ["clock"]


def test_a_budget_that_cannot_be_met() -> None:
    """The least power is that of one node at 500 MHz, 40 W as at any clock; the budget is 1 W."""
    decided = Decided(case(), Budget(power=1), options=ChoiceOptions(WANTED))
    with pytest.raises(AspenError, match="the power is 40 W, 39 W above 1 W") as refused:
        decided.require_met()
    assert "1 node" in (refused.value.diagnostics[0].hint or "")


def test_two_limits_that_bind_together() -> None:
    """Of 1 and 2 nodes the second is faster; 2 nodes break both limits, so that either alone buys nothing."""
    options = ChoiceOptions(("clock=1GHz,1.001GHz", "nodes=1,2"))
    one, two = (by_hand(64, nodes, 1.001e9) for nodes in (1, 2))
    budget = Budget(power=(one[2] + two[2]) / 2, money=15)
    found = Decided(case(), budget, options=options).decisions[0]
    assert (found.choice.nodes, found.bindings, found.jointly) == (1, (), ("power", "money"))


@pytest.mark.parametrize("seed", range(6))
def test_groups_against_brute_force(seed: int) -> None:
    """Two and three applications on up to 8 nodes: each way to group them with each choice for each group."""
    drawn = random.Random(seed)
    volumes = [drawn.uniform(1e8, 2e10) for _ in range(2 + seed % 2)]
    rows = [drawn.randint(8, 200) for _ in volumes]
    cases = [case(volume=volume) for volume in volumes]
    machine = cases[0].machine
    workloads = [
        Workload(
            each.changed(machine=machine), ApplicationInput(str(place), {"rows": rows[place]}), drawn.randint(1, 5)
        )
        for place, each in enumerate(cases)
    ]
    power = drawn.choice((150.0, 300.0))
    found = Grouped(workloads, Budget(power=power), "edp", 2, ChoiceOptions(WANTED, nodes=8))
    best = float("inf")
    for sides in product((0, 1), repeat=len(volumes)):
        groups = [[place for place, side in enumerate(sides) if side == number] for number in (0, 1)]
        groups = [group for group in groups if group]
        for choices in product(product(NODES, CLOCKS), repeat=len(groups)):
            runs = [
                [(workloads[place].runs, by_hand(rows[place], *choice, volume=volumes[place])) for place in group]
                for group, choice in zip(groups, choices, strict=True)
            ]
            watts = sum(max(taken[2] for _, taken in group) for group in runs)
            if sum(choice[0] for choice in choices) > 8 or watts > power:
                continue
            time = max(sum(count * taken[0] for count, taken in group) for group in runs)
            energy = sum(count * taken[1] for group in runs for count, taken in group)
            best = min(best, time * energy)
    assert found.best.outcome.edp == pytest.approx(best)


@pytest.mark.parametrize(("limit", "bound"), [("power", 100.0), ("energy", 70.0)])
def test_what_one_more_unit_buys_against_finite_differences(limit: str, bound: float) -> None:
    """CoMD on one node over 400 clocks: from the decision to what the next bound buys it goes along the curve of
    predictions, whose slope is that of two predictions a MHz apart; the worth is counted from the bound on. A socket
    that draws nothing while idle has less energy below its highest clock."""
    values = {"haswell_nodes": 1} | ({"cpu_idle_share": 0} if limit == "energy" else {})
    one = Case(load_application("comd"), load_machine("haswell"), set=values)
    objective: Objective = "energy" if limit == "time" else "runtime"
    options = ChoiceOptions(("clock",), levels=400)
    decided = Decided(one, Budget(**{limit: bound}), objective=objective, options=options)
    found = decided.decisions[0]
    clock = found.choice.configuration.values["clock"]

    def at(hertz: float) -> dict[str, float]:
        energy = predict_energy(one.with_set({"haswell_clock": hertz, "ranks": 8}).changed(ranks_on="core"))
        return {
            "power": energy.value / energy.runtime,
            "energy": energy.value,
            "time": energy.runtime,
            "runtime": energy.runtime,
        }

    low, high = at(clock - 5e5), at(clock + 5e5)
    slope = (high[objective] - low[objective]) / (high[limit] - low[limit])
    assert [item.limit for item in found.bindings] == [limit]
    binds = found.bindings[0]
    gain = binds.next_value - binds.value
    assert gain / (binds.next_bound - getattr(found.choice.outcome, binds.limit)) == pytest.approx(slope, rel=0.02)
    assert binds.worth == pytest.approx(gain / (binds.next_bound - bound))
    assert slope < 0
    (row,) = formats.build_json(report_decision(decided))["bindings"]
    assert (row["limit"], row["bound"], row["next_bound"]) == (limit, bound, binds.next_bound)
    assert (row["without"], row["next_value"], row["worth"]) == (binds.without, binds.next_value, binds.worth)


@pytest.mark.parametrize("seed", range(3))
def test_three_groups_within_money_and_energy_against_brute_force(seed: int) -> None:
    """Three applications, each run so often, in up to three groups: every assignment with every choice of each."""
    drawn = random.Random(100 + seed)
    volumes = [drawn.uniform(1e8, 2e10) for _ in range(3)]
    rows = [drawn.randint(8, 200) for _ in volumes]
    machine = case().machine
    workloads = [
        Workload(
            case(volume=volume).changed(machine=machine), ApplicationInput(str(place), {"rows": rows[place]}), runs
        )
        for place, (volume, runs) in enumerate(zip(volumes, (1, drawn.randint(2, 9), 0.5), strict=True))
    ]
    objective: Objective = ("runtime", "energy", "ed2p")[seed]
    budget = Budget(money=drawn.choice((40.0, 80.0)), energy=drawn.uniform(4e4, 2e5))
    best = float("inf")
    points = list(product(NODES[:3], CLOCKS))
    taken = [[by_hand(rows[place], *point, volume=volume) for point in points] for place, volume in enumerate(volumes)]
    for sides in product(range(3), repeat=3):
        used = sorted({*sides})
        for chosen in product(range(len(points)), repeat=len(used)):
            at = dict(zip(used, chosen, strict=True))
            if sum(points[row][0] for row in chosen) > 8:
                continue
            times = dict.fromkeys(used, 0.0)
            for place, side in enumerate(sides):
                times[side] += workloads[place].runs * taken[place][at[side]][0]
            energy = sum(workloads[place].runs * taken[place][at[side]][1] for place, side in enumerate(sides))
            money = sum(10.0 * points[row][0] for row in chosen)
            if money <= (budget.money or 0) and energy <= (budget.energy or 0):
                best = min(best, objective_of(objective, max(times.values()), energy))
    options = ChoiceOptions(("clock=0.5GHz,1GHz,2GHz", "nodes=1,2,4"), nodes=8)
    if best == float("inf"):
        with pytest.raises(AspenError, match="no cluster"):
            Grouped(workloads, budget, objective, 3, options)
        return
    found = Grouped(workloads, budget, objective, 3, options)
    assert found.best.outcome.value_of(objective) == pytest.approx(best)


def test_ways_to_make_groups() -> None:
    """Sums of Stirling's numbers of the second kind; each thing is in one group, and no way comes twice."""
    counts = ((1, 1, 1), (3, 1, 1), (3, 2, 4), (4, 2, 8), (4, 3, 14), (4, 4, 15), (4, 9, 15), (6, 6, 203))
    for count, groups, ways in counts:
        found = list(grouped._partitions(count, groups))
        assert len({frozenset(map(frozenset, parts)) for parts in found}) == len(found) == ways
        assert all(sorted(one for part in parts for one in part) == list(range(count)) for parts in found)
        assert all(len(parts) <= groups for parts in found)


def test_limits_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many applications and combinations as are looked at, and one more; none that suits all; none in the budget."""
    machine = case().machine
    two = [
        Workload(case(volume=volume).changed(machine=machine), ApplicationInput(str(volume), {"rows": 64}))
        for volume in (1e9, 2e9)
    ]
    options = ChoiceOptions(("clock=1GHz,2GHz", "nodes=1,2"), nodes=2)

    def refused(workloads: list[Workload], watts: float | None = None) -> list[tuple[str, str]]:
        try:
            Grouped(workloads, Budget(power=watts), options=options)
        except AspenError as error:
            return [(each.code, each.message) for each in error.diagnostics]
        return []

    monkeypatch.setattr(grouped, "MOST_APPLICATIONS", 2)
    assert refused(two) == []
    assert refused([*two, two[0]]) == [("too-many-applications", "3 applications are more than the 2 that are grouped")]
    assert refused(two, 1.0) == [("budget-not-met", "no cluster of up to 2 nodes stays within the budget")]
    monkeypatch.setattr(grouped, "MOST_TOGETHER", 0)
    assert refused(two) == [("too-many-choices", "groups have more combinations than are looked at together")]


def test_a_price_of_nodes_is_a_budget_of_money() -> None:
    """At 5,000 a node 20,000 buys four; a machine that states no cost is refused without a price."""
    case = Case(load_application("comd"), load_machine("haswell"))
    options = ChoiceOptions(("clock",), nodes=16, price=5000)
    found = Decided(case, Budget(money=20_000), options=options)
    choices = found.choices[0]
    assert choices.cost.max() == 16 * 5000
    kept = choices.find_affordable(Budget(money=20_000))
    assert {choices.choice(int(row)).nodes for row in numpy.flatnonzero(kept)} == {1, 2, 3, 4}
    assert found.decisions[0].choice.cost == 5000 * found.decisions[0].choice.nodes
    with pytest.raises(AspenError, match="states no cost") as raised:
        Decided(case, Budget(money=20_000), options=options.replace(price=None))
    assert "--price" in (raised.value.diagnostics[0].hint or "")
