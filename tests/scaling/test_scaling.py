"""Scaling, against times written out: n seconds of work shared by P ranks, and an allreduce among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import ceil, log2
from typing import Any

import pytest

import aspenpy
from aspenpy import Application, AspenError, Machine
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.explore.communication import communication_of
from aspenpy.explore.rank_search import doublings
from aspenpy.explore.scaling import Scaling, scale
from aspenpy.expr.evaluate import ExactEvaluation
from aspenpy.expr.node import topological_order
from aspenpy.models.application.total import Totaller
from aspenpy.sweeps.points import Points

CLUSTER = """
machine cluster { node [1048576] box  interconnect [1048576] net }
node box { socket cpu }
socket cpu { core [16] lane }
core lane { resource flops(n) [n/giga] }
interconnect net {
  property topology [star]
  property latency [1 us]
  property bandwidth [1 GB/s]
  resource messages(volume) [latency + volume/bandwidth]
}
"""

WORK = """
model work {
  param ranks = 1
  param n = 1e6  // flops
  kernel main {
    execute [ranks] { flops [n/ranks] }
    if (ranks > 1) { call talk }
  }
  kernel talk {
    execute [ranks] { messages [0] as allreduce("recursive_doubling") }
    execute { messages [1000] }
  }
}
"""
"""1 ms of work; log2(P) rounds of 1 us, and one message of 2 us."""


def models() -> tuple[Application, Machine]:
    app, machine = aspenpy.parse(WORK), aspenpy.parse(CLUSTER)
    assert isinstance(app, Application)
    assert isinstance(machine, Machine)
    return app, machine


def time(ranks: int, flops: float = 1e6) -> float:
    return flops / ranks / 1e9 + (rounds(ranks) * 1e-6 + 2e-6 if ranks > 1 else 0)


def rounds(ranks: int) -> int:
    """Of recursive doubling: two more where the ranks are no power of two."""
    return ceil(log2(ranks)) if ranks & (ranks - 1) == 0 else int(log2(ranks)) + 2


def test_strong_scaling() -> None:
    found = scale(*models(), [1, 2, 8, 100, 4096])
    for point in found.points:
        assert point.time == pytest.approx(time(point.ranks), rel=1e-12)
        assert point.speedup == pytest.approx(time(1) / time(point.ranks), rel=1e-12)
        assert point.efficiency == pytest.approx(time(1) / time(point.ranks) / point.ranks, rel=1e-12)
        talking = time(point.ranks) - 1e-3 / point.ranks
        assert point.communication == pytest.approx(talking, rel=1e-9, abs=1e-18)
        assert point.share == pytest.approx(talking / time(point.ranks), rel=1e-9, abs=1e-15)


def test_calls_that_talk_the_longest_first() -> None:
    found = scale(*models(), [1, 2, 64])
    first, second, last = found.points
    assert first.calls == ()
    assert dict(second.calls) == pytest.approx({"talk": 2e-6, "allreduce": 1e-6})
    assert [name for name, _ in last.calls] == ["allreduce", "talk"]
    assert dict(last.calls) == pytest.approx({"talk": 2e-6, "allreduce": 6e-6})
    assert found.calls == ("allreduce", "talk")


def test_the_fastest_number_of_ranks() -> None:
    """Work of 1 ms over P against a microsecond for each doubling: looked at one by one."""
    found = scale(*models(), doublings(1, 1024))
    best = min(range(1, 1025), key=time)
    assert best == 512  # 1.95 us of work and 9 rounds; twice as many ranks save 0.98 us and cost 1
    assert (found.fastest.ranks, found.fastest.time) == (best, pytest.approx(time(best), rel=1e-12))
    assert found.gets_slower


def test_the_fastest_beyond_those_looked_at_one_by_one() -> None:
    found = scale(*models(), doublings(1, 200_000), set={"n": 30e6})
    best = min((2**power for power in range(18)), key=lambda ranks: time(ranks, 30e6))
    assert best == 16384  # 1.83 us and 14 rounds; 32,768: 0.92 us and 15, 0.08 us more
    assert found.fastest.ranks == best
    small = scale(*models(), doublings(1, 64))
    assert (small.fastest.ranks, small.gets_slower) == (64, False)


@pytest.mark.parametrize("at_once", [2, 3, 9, 10])
@pytest.mark.parametrize("flops", [5e3, 2e5, 1e6, 1e9])
def test_the_fastest_where_few_are_looked_at_together(
    at_once: int, flops: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models whose loops are added pass by pass are asked for some counts only; of these times, with one valley among
    powers of two, the fastest is found all the same: at the first, in the middle and at the last."""
    monkeypatch.setattr("aspenpy.explore.rank_search.FEWEST_AT_ONCE", at_once)
    monkeypatch.setattr("aspenpy.explore.rank_search.MOST_AT_ONCE", at_once)
    found = scale(*models(), doublings(1, 512), set={"n": flops}, counts="power_of(2)")
    best = min((2**power for power in range(10)), key=lambda ranks: time(ranks, flops))
    assert best == {5e3: 1, 2e5: 128, 1e6: 512, 1e9: 512}[flops]
    assert found.fastest is not None
    assert (found.fastest.ranks, found.fastest.time) == (best, pytest.approx(time(best, flops), rel=1e-12))


def test_weak_scaling() -> None:
    found = scale(*models(), [2, 8, 32], "weak", problem=["n"])
    for point in found.points:
        expected = time(point.ranks, 1e6 * point.ranks / 2)
        assert point.time == pytest.approx(expected, rel=1e-12)
        assert point.efficiency == pytest.approx(time(2) / expected, rel=1e-12)
        assert point.speedup == pytest.approx(point.ranks / 2 * time(2) / expected, rel=1e-12)


def test_isoefficiency() -> None:
    """n flops have the efficiency E on P ranks if n = E/(1-E) P T_comm: the overhead function of Grama et al."""
    found = scale(*models(), [1, 4, 256], isoefficiency=0.8, problem=["n"])
    for point in found.points[1:]:
        overhead = point.ranks * (rounds(point.ranks) * 1e-6 + 2e-6)
        expected = max(1.0, 4 * overhead * 1e9 / 1e6)
        assert point.growth == pytest.approx(expected, rel=1e-6)
    assert found.points[0].growth == 1


def test_energy() -> None:
    """One core of 16 at work for a second: 10 W idle and a sixteenth of 32 W; more ranks as their prediction has it."""
    app, _ = models()
    text = CLUSTER.replace("core [16] lane }", "core [16] lane static power [10 W] dynamic power [32 W] }")
    text = text.replace("property topology [star]", "property topology [star] dynamic power [5 W]")
    machine = aspenpy.parse(text)
    assert isinstance(machine, Machine)
    asked = EnergyOptions(charged="cores_used")
    found = scale(app, machine, [1, 16], energy=asked, set={"n": 1e9}, kernel="main")
    for point in found.points:
        alone = aspenpy.predict(app, machine, set={"n": 1e9, "ranks": point.ranks})
        assert point.energy == pytest.approx(Energy(alone, asked).value, rel=1e-9)
    assert found.points[0].energy == pytest.approx(1.0 * (10 + 32 / 16))
    assert scale(app, machine, [1]).points[0].energy is None


def test_messages_that_hide_behind_work_cost_nothing() -> None:
    app = aspenpy.parse("model a { kernel main { execute { flops [1e6] messages [0] } execute { messages [0] } } }")
    assert isinstance(app, Application)
    prediction = aspenpy.predict(app, models()[1])
    found = communication_of(prediction.tree)
    waited, sent = prediction.scope.values([found.waited, found.calls["main"]])
    assert (float(waited), float(sent)) == (pytest.approx(1e-6), pytest.approx(2e-6))


class Work(Counter[str]):
    """What a study costs: nodes computed for all points at once, and values by the exact rules."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        counted = {
            "nodes": (Points, "_compute"),
            "exact": (ExactEvaluation, "_evaluate_node"),
            "totals": (Totaller, "kernel"),
        }
        for name, (owner, method) in counted.items():
            monkeypatch.setattr(owner, method, self._counting(name, getattr(owner, method)))

    def _counting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any) -> Any:
            self[name] += 1
            return method(*arguments)

        return counting


def work(found: Scaling, monkeypatch: pytest.MonkeyPatch) -> Work:
    with monkeypatch.context() as patched:
        spent = Work(patched)
        _ = found.points, found.fastest, found.diagnostics
    return spent


def test_eight_million_ranks_cost_what_eight_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for two more rounds of the search, from one number of ranks to the next."""
    models_ = models()
    few, many = (work(scale(*models_, [ranks]), monkeypatch) for ranks in (8, 8_000_000))
    assert 0 < few["nodes"] <= many["nodes"] <= 1.5 * few["nodes"]
    assert many["exact"] <= 1.5 * few["exact"]


FULL = """
param side[] = {128, 128, 64}
machine full { node [1048576] box  interconnect [1048576] net }
node box { socket [2] cpu }
socket cpu { core [4] lane  memory ram }
core lane { property rank resource flops(n) [n/giga] }
memory ram { resource loads(bytes) [bytes/100e9] }
interconnect net {
  property topology [torus]
  property dimensions [side]
  property latency [1 us]
  property bandwidth [10 GB/s]
  resource messages(volume) [latency + volume/bandwidth]
}
"""
"""A million nodes with two sockets of four cores: 8,388,608 places."""
HALVES = """
model halves {
  param ranks = 8
  kernel main {
    execute [ranks] { flops [1e9/ranks] loads [8e9/ranks] }
    execute [ranks] { messages [6e6] as halo(3) }
    execute [ranks] { messages [8] as allreduce }
    execute [ranks] { messages [8] as alltoall }
  }
}
"""
DISTRIBUTIONS = ("compact", "scatter", "block", "cyclic", "plane=4", "block:cyclic", "plane=4:cyclic")


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_full_machine_costs_what_eight_ranks_do(distribution: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One formula for all; at most three quarters as many nodes more are computed, of branches between nodes."""
    app, machine = aspenpy.parse(HALVES), aspenpy.parse(FULL)
    assert isinstance(app, Application)
    assert isinstance(machine, Machine)
    sizes, exact, nodes = [], [], []
    for ranks in (8, 8_388_608):
        with monkeypatch.context() as patched:
            spent = Work(patched)
            found = aspenpy.predict(app, machine, set={"ranks": ranks}, distribution=distribution)
            assert found.runtime > 0
        sizes.append(len(topological_order(found.formula("runtime", ["ranks"]))))
        exact.append(spent["exact"])
        nodes.append(work(scale(app, machine, [ranks], distribution=distribution), monkeypatch)["nodes"])
    assert 100 < sizes[0] == sizes[1]
    assert 0 < exact[1] <= 1.75 * exact[0]
    assert 0 < nodes[1] <= 1.75 * nodes[0]


@pytest.mark.parametrize("name", ["hpcg", "hpl", "comd"])
def test_twenty_points_cost_what_two_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Frontier: totals are made once, formulas computed for all points together, the fastest number of ranks looked
    for in a few more rounds; only warnings are looked at point by point."""
    app, frontier = aspenpy.load_application(name), aspenpy.load_machine("frontier")
    edges = {"comd": ("nx", "ny", "nz"), "hpcg": ("local_x", "local_y", "local_z")}
    problem = {"n": 8192} if name == "hpl" else dict.fromkeys(edges[name], 2000 if name == "comd" else 416)
    spent = {}
    for count in (2, 20):
        ranks = [8 + 2040 * place // (count - 1) for place in range(count)]
        case = Case(app, frontier, socket="amd_mi250x", set=problem)
        _ = case.tree
        spent[count] = work(Scaling(case, ranks), monkeypatch)
    assert spent[20]["totals"] <= spent[2]["totals"]
    assert spent[20]["nodes"] <= 1.2 * spent[2]["nodes"]
    assert spent[20]["exact"] - spent[2]["exact"] < 18 * 4000


def test_mistakes() -> None:
    app, machine = models()
    with pytest.raises(AspenError, match="more ranks in `allreduce` than machine `cluster` has cores"):
        _ = scale(app, machine, [8, 32_000_000]).points
    with pytest.raises(AspenError, match="cannot tell the problem size of `work`"):
        scale(app, machine, [8], "weak")
    with pytest.raises(AspenError, match="unknown parameter `m`"):
        scale(app, machine, [8], "weak", problem=["m"])
    with pytest.raises(AspenError, match="unknown parameter `processes`"):
        scale(app, machine, [8], parameter="processes")
    with pytest.raises(AspenError, match="a number of ranks is 1 or more"):
        scale(app, machine, [0])
    alone = aspenpy.parse("model alone { param n = 1 kernel main { execute { flops [n] } } }")
    assert isinstance(alone, Application)
    with pytest.raises(AspenError, match="has no `ranks` for the number of ranks"):
        scale(alone, machine, [1])


def test_doublings() -> None:
    assert doublings(1, 8) == [1, 2, 4, 8]
    assert doublings(3, 20) == [3, 6, 12, 20]
    assert doublings(5, 5) == [5]


GRID = """
model grid {
  param px = 1 param py = 1 param ranks = px*py
  param n = 1e6
  kernel main { execute [ranks] { flops [n/ranks] } EDGE }
}
"""


def test_ranks_that_are_derived_are_not_set_by_themselves() -> None:
    """With ranks = 4 and px = py = 1 there is no such grid; ranks whose parts nothing else uses may be set."""
    _, machine = models()
    used = aspenpy.parse(GRID.replace("EDGE", "execute { flops [px + py] }"))
    unused = aspenpy.parse(GRID.replace("EDGE", ""))
    assert isinstance(used, Application)
    assert isinstance(unused, Application)
    with pytest.raises(AspenError, match="derives it from `px` and `py`, which would stay as they are") as error:
        scale(used, machine, [1, 4])
    assert error.value.diagnostics[0].code == "derived-parameter"
    assert error.value.diagnostics[0].span is not None
    found = scale(used, machine, [1, 4], parameter="px")
    assert found.points[1].time == pytest.approx(1e6 / 4 / 1e9 + 5 / 1e9)
    assert scale(unused, machine, [1, 4]).points[1].time == pytest.approx(1e6 / 4 / 1e9)


def test_a_number_of_ranks_without_a_runtime_is_named_where_the_model_fails() -> None:
    """Boxes of three cells are used up on 4 of the ranks 1, 2, 4: the parameter that divides by them is the place."""
    text = """model m {
  param ranks = 1
  param boxes = floor(9/ranks/3)
  param each = 9/boxes
  kernel main { execute [ranks] { flops [each] } }
}"""
    _, machine = models()
    app = aspenpy.parse(text)
    assert isinstance(app, Application)
    assert scale(app, machine, [1, 2]).points[1].time == pytest.approx(9e-9)
    with pytest.raises(AspenError, match="division by zero") as error:
        scale(app, machine, [1, 2, 4]).points  # noqa: B018
    (found,) = error.value.diagnostics
    assert found.parents == ("on 4 ranks",)
    assert found.span is not None
    assert text[found.span.start : found.span.end] == "9/boxes"
