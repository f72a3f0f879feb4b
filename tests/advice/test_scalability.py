"""Scaling over nodes: knees and thresholds by hand, and what the dissertation says of its applications."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.advice.configuration import Configuration
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.scalability import Scaled, knee, node_counts
from aspenpy.answers.case import Case
from aspenpy.answers.energy.options import LITERAL
from aspenpy.explore.sensitivity import Effects
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.report.advice.scalability import draw

MODELS = Path(__file__).parents[2] / "models"
APPLICATION = """model work {
  param ranks = 1
  param rows = 64
  kernel main {
    execute [ranks] of [rows/ranks] { flops [rows*1e9/ranks] }
    if (ranks > 1) { execute [ranks] { messages [ranks*1e9] } }
  }
}"""
MACHINE = """param boxes = 4 in 1 .. 64
machine cluster { node [boxes] box interconnect [boxes] port }
node box { socket chip }
socket chip { core [2] unit static power [10 W] dynamic power [30 W] }
core unit { property rank property clock [1e9] resource flops(x) [x/1e9] }
interconnect port { resource messages(x) [x/64e9] dynamic power [0 W] }
"""


def test_time_over_nodes_by_hand() -> None:
    """Two ranks a node: 64/(2n) s of flops, and twice 2n/64 s of messages through the port that both share: least at n
    = sqrt(32 x 16), 23 of the whole numbers."""
    found = Scaled(Case(parse(APPLICATION), parse(MACHINE)), [Configuration({})], most=64).scalings[0]
    times = {nodes: point.time for nodes, point in zip(found.nodes, found.points, strict=True)}
    assert times == pytest.approx({nodes: 32 / nodes + nodes / 16 for nodes in range(1, 65)})
    assert (found.fastest, found.turns) == (23, True)
    efficient = [nodes for nodes in times if (32 + 1 / 16) / nodes / (32 / nodes + nodes / 16) >= 0.5]
    assert found.worthwhile == max(efficient)


@pytest.mark.parametrize("threshold", [1, 0.7, 0.5, 1e-9])
def test_nodes_are_worth_it_down_to_the_threshold(threshold: float) -> None:
    """Of (32 + 1/16)/(32 + n^2/16); an efficiency of 1 has one node, and just that of 17 nodes reaches 17 of them."""
    by_hand = {nodes: (32 + 1 / 16) / (32 + nodes**2 / 16) for nodes in range(1, 65)}
    case = Case(parse(APPLICATION), parse(MACHINE))
    found = Scaled(case, [Configuration({})], most=64, threshold=threshold).scalings[0]
    assert found.worthwhile == max(nodes for nodes, share in by_hand.items() if share >= threshold - 1e-12)
    for nodes, point in zip(found.nodes, found.points, strict=True):
        assert point.efficiency == pytest.approx(by_hand[nodes])
    exact = found.points[16].efficiency
    for barely, most in ((exact, 17), (exact * (1 + 1e-9), 16)):
        again = Scaled(case, [Configuration({})], most=64, threshold=barely).scalings[0]
        assert (again.nodes[16], again.worthwhile) == (17, most)


def test_the_edge_of_the_search_is_no_limit() -> None:
    """Of 32/n + n/16 the efficiency is above a half up to 16 nodes and a few: of 8 looked at, all are worth it."""
    case = Case(parse(APPLICATION), parse(MACHINE))
    few, many = (Scaled(case, [Configuration({})], most=most) for most in (8, 64))
    assert (few.scalings[0].worthwhile, few.scalings[0].turned_down) == (8, False)
    assert many.scalings[0].turned_down
    assert "the most that were looked at" in few.report().headline
    assert "the most that were looked at" not in many.report().headline


def test_clocks_and_nodes_of_a_configuration_hold() -> None:
    clocked = MACHINE.replace("property clock [1e9]", "property clock [2e9] property issue [1 flop]")
    machine = parse(clocked.replace("[x/1e9]", "[x/(clock*issue)]"))
    slow, fast = Scaled(
        Case(parse(APPLICATION), machine), [Configuration({"clock": 1e9}), Configuration({})], most=2
    ).scalings[::2]
    assert slow.points[0].time - fast.points[0].time == pytest.approx(16)


def test_the_knee_is_farthest_below_the_line_between_the_ends() -> None:
    """Of 1/n from 1 to N, 1 - x - y is greatest at n = sqrt(N)."""
    assert knee(range(1, 101), [1 / n for n in range(1, 101)]) == 10
    assert knee(range(1, 11), [float(n) for n in range(1, 11)]) is None


def test_the_picture_has_the_times_and_the_knee() -> None:
    """A panel for each mode, a line for each configuration, and a dot on the line at its knee."""
    pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'aspenpy[plot]'")
    found = Scaled(Case(parse(APPLICATION), parse(MACHINE)), [Configuration({})], most=64, size=("rows",))
    figure = draw(found)
    assert [axes.get_title("left") for axes in figure.axes] == ["strong scaling", "weak scaling"]
    for axes, item in zip(figure.axes, found.scalings, strict=True):
        assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "nodes")
        curve, *dots = axes.lines
        assert list(curve.get_xdata()) == list(item.nodes)
        assert list(curve.get_ydata()) == [point.time for point in item.points]
        assert [(dot.get_xdata()[0], dot.get_ydata()[0]) for dot in dots] == [
            (item.knee, item.points[item.nodes.index(item.knee)].time) for _ in range(1) if item.knee is not None
        ]
    strong = figure.axes[0].lines[0]
    assert dict(zip(strong.get_xdata(), strong.get_ydata(), strict=True)) == pytest.approx(
        {nodes: 32 / nodes + nodes / 16 for nodes in range(1, 65)}
    )


def test_looked_at() -> None:
    assert node_counts(64) == [*range(1, 65)]
    assert node_counts(100)[-10:] == [64, 68, 72, 76, 80, 84, 88, 92, 96, 100]


# -- what the dissertation says, sections 4.4.2 and 4.5 --------------------------------------------

COMPONENTS = ["clock", "cores=1..8", "memory_bandwidth"]


def effects(name: str) -> tuple[Effects, Effects]:
    """Of runtime and energy on its abstract Haswell node, energy as its chapter 3 counts."""
    case = Case(load_application(name), load_machine("haswell"), set={"haswell_nodes": 1})
    space = DesignSpace(case, COMPONENTS, options=LITERAL)
    assert space.energy_effects is not None
    return space.runtime_effects, space.energy_effects


def order(found: Effects, pairs: bool = False) -> list[frozenset[str]]:
    return [frozenset(effect.parameters) for effect in (found.pairs if pairs else found.singles)]


def test_lulesh_moves_most_with_clock_and_cores() -> None:
    runtime, energy = effects("lulesh")
    for found in (runtime, energy):
        assert {*order(found)[:2]} == {frozenset({"cores"}), frozenset({"clock"})}
        assert order(found, pairs=True)[0] == {"clock", "cores"}


def test_comd_moves_most_with_cores() -> None:
    runtime, _ = effects("comd")
    assert order(runtime)[0] == {"cores"}


@pytest.mark.parametrize("name", ["coevp", "cg"])
def test_coevp_and_cg_move_more_with_bandwidth_than_with_the_clock(name: str) -> None:
    """And with both more than with either."""
    runtime, _ = effects(name)
    singles, pairs = order(runtime), {frozenset(pair.parameters): pair for pair in runtime.pairs}
    assert singles.index(frozenset({"memory_bandwidth"})) < singles.index(frozenset({"clock"}))
    assert (pairs[frozenset({"clock", "memory_bandwidth"})].beyond or 0) > 0


@pytest.mark.parametrize(("name", "most"), [("lulesh", 5632), ("coevp", 5632), ("cg", 256)])
def test_strong_scaling_has_a_minimum_and_weak_scaling_does_not_fall(name: str, most: int) -> None:
    strong, weak = Scaled(
        Case(load_application(name), load_machine("haswell")), [Configuration({})], most=most
    ).scalings
    assert strong.turns
    assert 1 < strong.fastest < strong.nodes[-1]
    assert min(point.time for point in weak.points) >= weak.points[0].time * (1 - 1e-9)


def test_what_comd_would_need_for_its_memory_to_matter() -> None:
    """The text has "much memory access"; with each candidate's position from memory bandwidth comes before the clock in
    energy, and the memory clock after it; where positions stay in cache the memory has half a percent of the energy."""
    text = (MODELS / "apps" / "comd.aspen").read_text(encoding="utf-8")
    cached = "loads [3*(atoms + halo_atoms)] of size [real] from position"
    assert text.count(cached) == 3
    machine = load_machine("haswell")
    for streams, expected in ((True, (2.64, 1.68, 0.80, 0.40)), (False, (2.78, 0.05, 0.84, 0.02))):
        application = parse(
            text.replace(cached, "loads [3*atoms*candidates] of size [real] from position", int(streams))
        )
        space = DesignSpace(
            Case(application, machine, set={"haswell_nodes": 1}),
            ["clock", "cores=1..8", "memory_clock=0.53325GHz..2.133GHz", "memory_bandwidth"],
        )
        assert space.energy_effects is not None
        found = {effect.parameters[0]: effect.sensitivity for effect in space.energy_effects.singles}
        names = ("cores", "memory_bandwidth", "clock", "memory_clock")
        assert [found[name] for name in names] == pytest.approx(expected, abs=0.006)
