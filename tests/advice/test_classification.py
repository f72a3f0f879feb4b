"""Classes: shares of time and energy and both balance points, by hand."""

from __future__ import annotations

import pytest

from aspenpy.advice.advise import AS_IT_IS, classify_case
from aspenpy.advice.classification import Classification, Classified
from aspenpy.answers.case import Case
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import find_source, load_application, load_machine, parse

APPLICATION = """model work {
  kernel arithmetic { execute [1] { flops [3e9] loads [1e9] } }
  kernel streaming { execute [1] { flops [1e9] loads [6e9] } }
  kernel talking { execute [1] { messages [1e9] } }
  kernel main { call arithmetic call streaming call talking }
}"""
MACHINE = """machine box { node [2] box_node interconnect port }
node box_node { socket chip }
socket chip {
  core unit
  memory ram
  property energy_per_flop [2]
  property energy_per_byte [3]
  property constant_power [1e9]
}
core unit { resource flops(x) [x/1e9] }
memory ram { property bandwidth [2e9] resource loads(x) [x/bandwidth] }
interconnect port {
  property latency [1]
  dynamic power [1e6]
  property bandwidth [1e9]
  resource messages(x) [latency + x/bandwidth]
}"""


@pytest.fixture
def found() -> dict[str | None, Classification]:
    classified = Classified(Case(parse(APPLICATION), parse(MACHINE)), EnergyOptions(law="roofline"))
    return {item.kernel: item for item in classified.classifications}


def test_shares_of_time(found: dict[str | None, Classification]) -> None:
    """3 s of flops, 3 s of loads, 1 s of a message's bytes and 1 s of its latency."""
    whole = {(share.bound, share.component): share.time for share in found[None].shares}
    expected = {("arithmetic", "unit"): 3, ("memory", "ram"): 3, ("network", "port"): 1, ("latency", "port"): 1}
    assert {place: 8 * share for place, share in whole.items() if share} == pytest.approx(expected)
    assert [found[name].bound for name in ("arithmetic", "streaming")] == ["arithmetic", "memory"]
    assert {share.bound: share.time for share in found["talking"].shares if share.time} == pytest.approx(
        {"network": 0.5, "latency": 0.5}
    )


def test_shares_of_energy(found: dict[str | None, Classification]) -> None:
    """2 J a flop, 3 J a byte, and 1e9 W for as long as it takes, of what limits it: 9e9 J for 3e9 flops and 1e9
    bytes; 2e9 + 18e9 for the other; 3e9, 3e9 and 2e9 of constant power."""
    assert found["arithmetic"].energy == pytest.approx((6 + 3 + 3) * 1e9)
    assert found["streaming"].energy == pytest.approx((2 + 18 + 3) * 1e9)
    shares: dict[str, float] = {}
    for share in found[None].shares:
        shares[share.bound] = shares.get(share.bound, 0.0) + (share.energy or 0.0)
    total = 12 + 23 + 2 + 0.001  # 1e6 W of the port, while 1 s of bytes go through
    by_hand = {"arithmetic": 6 + 3 + 2, "memory": 3 + 18 + 3, "network": 1 + 0.001, "latency": 1}
    assert shares == pytest.approx({name: joules / total for name, joules in by_hand.items()})
    assert (found["arithmetic"].energy_bound, found[None].energy_bound) == ("arithmetic", "memory")


def test_balance_points(found: dict[str | None, Classification]) -> None:
    """1e9 flop/s over 2e9 B/s; 3 J a byte over 2 J a flop (Choi 2013)."""
    row = found["arithmetic"]
    assert (row.intensity, row.time_balance, row.energy_balance) == pytest.approx((3, 0.5, 1.5))
    assert (row.time_distance, row.energy_distance) == pytest.approx((6, 2))
    assert found["streaming"].time_distance == pytest.approx(1 / 3)


def test_without_power_there_are_shares_of_time() -> None:
    plain = MACHINE.replace("property energy_per_flop [2]", "").replace("property constant_power [1e9]", "")
    classified = Classified(Case(parse(APPLICATION), parse(plain)))
    assert classified.powerless is not None
    assert classified.classifications[0].energy is None
    assert classified.classifications[0].shares[0].time == pytest.approx(3 / 8)


def test_branches_that_run_at_once_are_bound_by_what_they_wait_for_together() -> None:
    """3 s of flops beside 0.5 s of loads: the kernels share 3 s, in which both wait for flops."""
    text = APPLICATION.replace("call arithmetic call streaming call talking", "par { call sums call reads }").replace(
        "kernel talking",
        "kernel sums { execute [1] { flops [3e9] } } kernel reads { execute [1] { loads [1e9] } } kernel talking",
    )
    classified = Classified(Case(parse(text), parse(MACHINE), overlap=True), EnergyOptions(law="roofline"))
    whole, *kernels = classified.classifications
    assert whole.time == pytest.approx(3)
    assert {(item.kernel, item.bound) for item in kernels} == {("sums", "arithmetic"), ("reads", "arithmetic")}
    assert sum(item.time for item in kernels) == pytest.approx(3)


def test_what_is_chosen_so_that_ranks_fill_a_node_stands_in_the_headline() -> None:
    classified = classify_case(Case(load_application("comd"), load_machine("haswell"), set={"steps": 10}), AS_IT_IS)
    assert classified.choices == {"haswell_nodes": 1, "ranks": 8}
    assert "comd on haswell, with haswell_nodes = 1, ranks = 8: " in str(classified)


def test_a_machine_that_is_too_large_for_the_problem_is_named() -> None:
    """Sequoia has so many cores that a rank's part is no box, of a CoMD that does not say how many ranks it takes."""
    text = find_source("apps", "comd").text.replace(" with at_most(most_x*most_y*most_z)", "")
    case = Case(parse(text), load_machine("sequoia"), set={"steps": 10})
    with pytest.raises(AspenError) as raised:
        classify_case(case, AS_IT_IS)
    assert raised.value.diagnostics[0].parents[0] == "while filling `sequoia` with ranks (ranks chosen)"
