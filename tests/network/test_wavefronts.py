"""Sweeps and pipelines against ranks that are played through, step by step and message by message."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

import aspenpy
from aspenpy.language.diagnostics import AspenError
from tests.tiny import application
from tests.tiny import machine as read_machine

MACHINE = read_machine("""
machine row { node [1e6] box  interconnect [1e6] wire }
interconnect wire {
  property topology [star]  property latency [0.25]  property bandwidth [1]
  resource messages(volume) [latency + volume/bandwidth]
}
node box { property rank  socket cpu }
socket cpu { core unit }
core unit { resource flops(n) [n] with dp [base] }
""")


def play_through(stages: int, lengths: tuple[int, ...], step: float, message: float, *, asynchronous: bool) -> float:
    """Seconds until the last rank is done. Each waits for a message along every dimension, computes a step, and sends
    one to each rank behind it, one after the other; it goes on behind that, or at once."""
    arrived: dict[tuple[tuple[int, ...], int, int], float] = {}
    last = 0.0
    for rank in product(*(range(length) for length in lengths)):
        free = port = 0.0
        for stage in range(stages):
            ready = max((arrived[rank, axis, stage] for axis, place in enumerate(rank) if place), default=0.0)
            done = max(free, ready) + step
            port = max(port, done)
            for axis, place in enumerate(rank):
                if place + 1 < lengths[axis]:
                    port += message
                    behind = (*rank[:axis], place + 1, *rank[axis + 1 :])
                    arrived[behind, axis, stage] = port
            free = done if asynchronous else port
            last = max(last, done)
    return last


def sweep(stages: int, lengths: tuple[int, ...], step: float, volume: float, *, asynchronous: bool) -> float:
    word = ', "asynchronous"' if asynchronous else ""
    written = f"sweep({stages}, {', '.join(map(str, lengths))}{word})"
    active = sum(length > 1 for length in lengths)
    body = (
        f"execute [{prod(lengths)}] {{ flops [{stages * step}]  messages [{volume * stages * active}] as {written} }}"
    )
    return aspenpy.predict(application(body), MACHINE).runtime


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("stages", "lengths"),
    [
        (1, (1,)),
        (5, (4,)),
        (16, (8,)),
        (3, (5, 4)),
        (10, (1, 6)),
        (7, (6, 1)),
        (1, (3, 3)),
        (4, (2, 3, 4)),
        (6, (3, 1, 2)),
    ],
)
@pytest.mark.parametrize(("step", "volume"), [(2.0, 0.5), (1.0, 0.75), (0.5, 3.0)])
def test_the_last_rank_is_done_when_it_is_in_a_run(
    stages: int, lengths: tuple[int, ...], step: float, volume: float, asynchronous: bool
) -> None:
    found = sweep(stages, lengths, step, volume, asynchronous=asynchronous)
    assert found == pytest.approx(
        play_through(stages, lengths, step, 0.25 + volume, asynchronous=asynchronous), rel=1e-12
    )


@pytest.mark.parametrize(("batches", "devices"), [(8, 4), (32, 8), (1, 16)])
def test_the_bubble_of_a_pipeline(batches: int, devices: int) -> None:
    """(p - 1)/(m + p - 1) of the time: GPipe, section 2.3."""
    machine = read_machine(
        "machine m { node [64] n  interconnect [64] w } interconnect w { property topology [star]  property latency [0]"
        " property bandwidth [1e30]  resource messages(v) [v/bandwidth] }"
        "node n { property rank  socket s } socket s { core c } core c { resource flops(n) [n] }"
    )
    body = f"execute [{devices}] {{ flops [{batches}]  messages [1] as sweep({batches}, {devices}) }}"
    found = aspenpy.predict(application(body), machine)
    assert found.lost["fill"] / found.runtime == pytest.approx((devices - 1) / (batches + devices - 1), rel=1e-9)


def test_a_sweep_of_a_million_ranks_scales_in_closed_form() -> None:
    body = "execute [ranks] { flops [1000]  messages [100] as sweep(100, grid(ranks, 2, 0), grid(ranks, 2, 1)) }"
    model = application(body, "param ranks = 1")
    points = aspenpy.scale(model, MACHINE, [1, 100, 10_000, 10**6]).points
    for point, side in zip(points, (1, 10, 100, 1000), strict=True):
        step, message = 10.0, 0.25 + 1 / (2 if side > 1 else 1)
        active = 2 if side > 1 else 0
        fill = (side - 1) * (2 * step + 3 * message)
        assert point.time == pytest.approx(1000 + 99 * active * message + fill, rel=1e-12)
        assert point.lost == pytest.approx(fill)
        assert point.communication == pytest.approx(99 * active * message + (side - 1) * 3 * message)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("sweep", "a sweep has stages and 1 to 3 dimensions"),
        ("sweep(4)", "a sweep has stages"),
        ("sweep(4, 2, 2, 2, 2)", "a sweep has stages"),
        ("sweep(0, 4)", "must be 1 or more"),
        ("sweep(4, 8)", "more ranks in the grid"),
        ('sweep(4, 2, "asynchron")', "unknown word `asynchron` of a sweep"),
    ],
)
def test_what_makes_no_sweep_is_refused(written: str, said: str) -> None:
    with pytest.raises(AspenError, match=said):
        _ = aspenpy.predict(application(f"execute [4] {{ flops [1]  messages [1] as {written} }}"), MACHINE).runtime
