"""Sockets with performance and efficiency cores, against arithmetic by hand and a dynamic schedule played through."""

import heapq

import pytest

import aspenpy
from aspenpy.answers.checks.files import check_source
from aspenpy.answers.explanation import explain
from aspenpy.language.source import Source
from aspenpy.models.application.flow import Schedule
from tests.tiny import application, machine

HYBRID = """
machine m { node n }
node n { socket [1] s }
socket s {
  RANK
  property schedule [balanced]
  core [8] p
  core [16] e
  memory ram
}
core p {
  resource flops(n) [n/4e9] with dp [base*2]
  resource chain(n) [n/1e9]
}
core e { resource flops(n) [n/1e9] with dp [base*4] E }
memory ram { resource loads(n) [n/1e11] }
"""


def hybrid(rank: str = "", extra: str = "resource chain(n) [n/5e8]") -> aspenpy.Machine:
    return machine(HYBRID.replace("RANK", rank).replace(" E }", f" {extra} }}"))


def seconds(body: str, rank: str = "") -> float:
    return float(aspenpy.predict(application(body), hybrid(rank)).runtime)


def scheduled(parts: int, kinds: list[tuple[int, float]]) -> float:
    """When the last of some equal parts is done, each on the core that would finish it first."""
    free = [(time, time) for count, time in kinds for _ in range(count)]
    heapq.heapify(free)
    last = 0.0
    for _ in range(parts):
        done, time = heapq.heappop(free)
        last = max(last, done)
        heapq.heappush(free, (done + time, time))
    return last


def test_rates_of_both_kinds_add() -> None:
    # 48,000 parts of 4e9 flops: 1 s on each of 8 cores, 4 s on each of 16, 8 + 4 parts a second
    assert seconds("execute [48000] { flops [4e9] }") == pytest.approx(48000 / (8 / 1 + 16 / 4), rel=1e-12)
    # in double precision 2 s and 16 s, 4 + 1 parts a second
    assert seconds("execute [48000] { flops [4e9] as dp }") == pytest.approx(48000 / (8 / 2 + 16 / 16), rel=1e-12)
    # another resource, other rates: 1 s and 2 s
    assert seconds("execute [48000] { chain [1e9] }") == pytest.approx(48000 / (8 / 1 + 16 / 2), rel=1e-12)


@pytest.mark.parametrize("parts", [1, 3, 8])
def test_few_parts_run_on_the_faster_kind(parts: int) -> None:
    assert seconds(f"execute [{parts}] {{ flops [4e9] }}") == 1
    assert scheduled(parts, [(8, 1.0), (16, 4.0)]) == 1


def test_no_parts_take_no_time() -> None:
    assert seconds("execute [0] { flops [4e9] }") == 0
    assert seconds("execute [24] { flops [0] }") == 0


@pytest.mark.parametrize("parts", [9, 24, 100, 1000, 10_007])
def test_a_schedule_played_through_is_at_most_a_part_longer(parts: int) -> None:
    model, played = seconds(f"execute [{parts}] {{ flops [4e9] }}"), scheduled(parts, [(8, 1.0), (16, 4.0)])
    assert model <= played <= model + 4


def test_the_order_in_which_they_are_written_does_not_count() -> None:
    turned = HYBRID.replace("core [8] p", "core [0] x").replace("core [16] e", "core [8] p").replace("[0] x", "[16] e")
    other = machine(turned.replace("RANK", "").replace(" E }", " resource chain(n) [n/5e8] }"))
    for parts in (1, 5, 1000):
        app = application(f"execute [{parts}] {{ flops [4e9] }}")
        assert aspenpy.predict(app, other).runtime == pytest.approx(aspenpy.predict(app, hybrid()).runtime, rel=1e-12)


def test_a_rank_on_a_socket_spreads_over_both_kinds() -> None:
    # 96 parts of one rank: 12 core seconds of the faster kind a second
    body = "execute [1] of [96] { flops [96*4e9] }"
    assert seconds(body, "property rank") == pytest.approx(96 / 12, rel=1e-12)
    assert seconds("execute [1] of [8] { flops [8*4e9] }", "property rank") == pytest.approx(1, rel=1e-12)
    assert seconds("execute [1] of [2] { flops [8*4e9] }", "property rank") == pytest.approx(4, rel=1e-12)


def test_what_both_do_is_explained() -> None:
    explanation = explain(aspenpy.predict(application("execute [48] { flops [4e9] }"), hybrid()))
    (step,) = explanation.steps
    assert step.component == "m/n/s/p"
    assert step.beside == ("m/n/s/e",)
    assert "m/n/s/e, as parts become free" in str(explanation)


def test_peaks_have_both_kinds() -> None:
    found = [peak for peak in aspenpy.peaks(hybrid()) if peak.resource == "flops" and not peak.traits]
    assert {peak.path[-1]: peak.of_all for peak in found} == {"p": 8 * 4e9, "e": 16 * 1e9}


def test_without_a_schedule_the_first_kind_works_alone_and_it_is_told() -> None:
    """The reference's rule: the first component that offers a resource takes it, depth first."""
    plain = HYBRID.replace("RANK", "").replace("property schedule [balanced]", "").replace(" E }", " }")
    prediction = aspenpy.predict(application("execute [24] { flops [4e9] }"), machine(plain))
    assert prediction.runtime == 3
    told = ["core `e` stands idle: `p` serves all of `flops`"]
    assert told[0] in [each.message for each in prediction.diagnostics]
    assert [each.message for each in check_source(Source(plain, "m.aspen"))] == told


def test_a_kind_that_does_not_offer_what_the_first_does_is_told() -> None:
    told = ["core `e` does not offer `chain`: `p` works alone on it"]
    prediction = aspenpy.predict(application("execute [24] { chain [1e9] }"), hybrid(extra=""))
    assert prediction.runtime == 3
    assert [each.message for each in prediction.diagnostics] == told
    assert not aspenpy.predict(application("execute [24] { chain [1e9] }"), hybrid()).diagnostics


def test_an_unknown_schedule_is_refused() -> None:
    text = HYBRID.replace("RANK", "").replace("[balanced]", "[even]").replace(" E }", " }")
    with pytest.raises(aspenpy.AspenError, match="unknown schedule `even`"):
        aspenpy.predict(application("execute [24] { flops [1] }"), machine(text)).runtime  # noqa: B018


def roofs(body: str, rank: str = "", schedule: Schedule | None = None) -> list[tuple[float, float]]:
    """What is attainable and what is predicted, in Gflop/s, of the application."""
    points = aspenpy.roofline(hybrid(rank), [application(body)], schedule=schedule).points
    return [(point.attainable / 1e9, point.predicted / 1e9) for point in points if point.kernel is None]


def test_both_kinds_hold_up_the_roof() -> None:
    # 8 cores of 4 Gflop/s and 16 of 1; in double precision 2 and 1/4; dealt out as cores become free, all of it is done
    assert roofs("execute [48000] { flops [4e9] }") == [pytest.approx((48, 48))]
    assert roofs("execute [48000] { flops [4e9] as dp }") == [pytest.approx((20, 20))]
    # a single instance, or a single part of a rank, is done by one core, of the faster kind
    assert roofs("execute [1] { flops [4e9] }") == [pytest.approx((4, 4))]
    assert roofs("execute [1] { flops [4e9] }", "property rank") == [pytest.approx((4, 4))]
    # parts of a rank
    assert roofs("execute [1] of [4800] { flops [4e9] }", "property rank") == [pytest.approx((48, 48))]
    # as many parts on each core: 200 on each of 24, of which the slow ones take 200 s
    assert roofs("execute [4800] { flops [1e9] }", schedule="static") == [pytest.approx((48, 24))]
    # no instance asks for anything, and another block does
    assert roofs("execute [0] { flops [4e9] }\n execute [48000] { flops [4e9] }") == [pytest.approx((48, 48))]


@pytest.mark.parametrize(("parts", "at_work"), [(4, 4), (8, 8), (48_000, 24)])
def test_cores_of_both_kinds_draw_their_watts(parts: int, at_work: int) -> None:
    """5 W of each core at work, 10 W of the socket, 1 W of the memory; few parts run on the faster kind alone."""
    powered = HYBRID.replace("RANK", "property idle_power [10 W] property active_core_power [5 W]").replace(
        " E }", " }"
    )
    powered = powered.replace("memory ram {", "memory ram { static power [1 W]")
    found = aspenpy.energy(application(f"execute [{parts}] {{ flops [4e9] }}"), machine(powered))
    assert found.value == pytest.approx((10 + 1 + 5 * at_work) * found.runtime)
