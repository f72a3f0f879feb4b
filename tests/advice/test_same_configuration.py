"""One configuration by every command: the same seconds and joules as a prediction whose settings are written out."""

from __future__ import annotations

import pytest

from aspenpy.advice.advise import AdviceOptions, decide_case, on_one_node, scale_case, space_of
from aspenpy.advice.configuration import Configuration
from aspenpy.advice.throttled import Throttled
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.prediction import predict
from aspenpy.models.library import load_application, load_machine

CLOCK, CORES = 2.4e9, 6
HARDWARE = {"haswell_clock": CLOCK, "haswell_cores": CORES}
EDGE = {"lulesh": 30, "coevp": 20}  # of each of the eight ranks of a node of `haswell`
ACCEPTED = {"comd": (6, 24), "cg": (4, 16), "lulesh": (1, 8), "coevp": (1, 8)}
"""Ranks on the cores of one node and of four: the most that the program takes, any, powers of two or cubes."""

VARIED = ("clock=2.4GHz,3.5GHz", "cores=6,8")


@pytest.mark.parametrize("name", ["lulesh", "comd", "cg", "coevp"])
def test_the_same_configuration_takes_as_long_by_every_command(name: str) -> None:
    """The ranks on six cores or 24 share what eight have as the machine stands: of `edge_elements`^3 each 8/ranks."""
    case = Case(load_application(name), load_machine("haswell"))
    expected = {}
    for nodes, ranks in zip((1, 4), ACCEPTED[name], strict=True):
        edge = {"edge_elements": EDGE[name] * (8 / ranks) ** (1 / 3)} if name in EDGE else {}
        by_hand = case.with_set({**HARDWARE, "haswell_nodes": nodes, "ranks": ranks, **edge}).changed(ranks_on="core")
        expected[nodes] = pytest.approx((predict(by_hand).runtime, predict_energy(by_hand).value))

    space = space_of(case, AdviceOptions(VARIED))
    box = space.boxes[-1]
    row = next(place for place, point in enumerate(box.points.tolist()) if sorted(point) == [CORES, CLOCK])
    assert tuple(values[row] for values in box.values) == expected[1]

    set_ = case.with_set(HARDWARE)
    base = space_of(set_, AdviceOptions(("memory_bandwidth",))).base
    assert (base.runtime, base.energy) == expected[1]

    scaled = scale_case(case, [Configuration({"clock": CLOCK, "cores": CORES})], AdviceOptions(nodes=4)).scalings[0]
    points = {point.ranks: point for point in scaled.points}
    for nodes, ranks in zip((1, 4), ACCEPTED[name], strict=True):
        assert (points[ranks].time, points[ranks].energy) == expected[nodes]

    choices = decide_case(case, AdviceOptions((*VARIED, "nodes=1,4"))).choices[0]
    for nodes in (1, 4):
        found = [choices.choice(row) for row in range(len(choices.points))]
        one = next(it for it in found if (it.nodes, *it.configuration.values.values()) in _named(nodes))
        assert (one.outcome.runtime, one.outcome.energy) == expected[nodes]

    if name == "cg":
        throttled = Throttled(on_one_node(set_, AdviceOptions())).restrictions[0]
        assert (throttled.runtimes[0], throttled.energies[0]) == expected[1]


def _named(nodes: int) -> tuple[tuple[float, ...], ...]:
    """Clock and cores in either order."""
    return ((nodes, CLOCK, CORES), (nodes, CORES, CLOCK))
