"""What ranks wait for the slowest of them: closed forms against integrals of the exact laws, against ranks that are
simulated, and in models. Points at which a form was chosen stand in `aspenpy.cost.slowest`; those here were held back,
but where a test says `seen`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aspenpy
from aspenpy.cost.slowest import expected_maximum, wait_for_neighbours, wait_for_slowest
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.language.diagnostics import AspenError
from tests.tiny import application
from tests.tiny import machine as read_machine

special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")


def value(expr: graph.Expr) -> float:
    return float(evaluate(expr))


# -- the largest of normal draws -------------------------------------------------------------------


def largest_normal(draws: float) -> float:
    """The integral of the distribution of the largest of so many standard normal draws."""
    x = np.linspace(-10, 12, 200_001)
    below = np.exp(draws * stats.norm.logcdf(x))
    return float(np.trapezoid(np.where(x > 0, 1 - below, -below), x))


@pytest.mark.parametrize("draws", [2, 5, 13, 50, 720, 33_000, 2_500_000, 70_000_000])
def test_the_largest_of_normal_draws(draws: int) -> None:
    assert value(expected_maximum(graph.number(draws))) == pytest.approx(largest_normal(draws), rel=0.004)


def test_one_draw_is_the_mean() -> None:
    assert value(expected_maximum(graph.ONE)) == 0


def test_two_draws_by_hand() -> None:
    assert value(expected_maximum(graph.number(2))) == pytest.approx(1 / np.pi**0.5, rel=0.004)


# -- interrupted ranks -----------------------------------------------------------------------------


def longest_delay(ranks: int, events: float) -> float:
    """The integral of the distribution of the largest of so many sums of a Poisson number of exponential times, less
    the mean of one."""
    most = int(events + 40 * events**0.5 + 60)
    counts = np.arange(1, most)
    chances = stats.poisson.pmf(counts, events)
    x = np.linspace(0, (events**0.5 + (np.log(ranks) + 20) ** 0.5) ** 2 + 20, 4001)
    beyond = np.array([np.sum(chances * special.gammaincc(counts, at)) for at in x])
    return float(np.trapezoid(-np.expm1(ranks * np.log1p(-np.minimum(beyond, 1 - 1e-15))), x) - events)


POINTS = [(60, 2e-5, 0.12), (90, 0.004, 0.12), (200, 0.7, 0.12), (20, 0.05, 0.12)] + [
    (ranks, events, 0.03)
    for ranks, events in ((700, 2e-3), (3_000, 5e-6), (20_000, 0.2), (300_000, 7.0), (5_000_000, 3e-4), (9_000_000, 30))
]


@pytest.mark.parametrize(("ranks", "events", "within"), POINTS)
def test_waiting_for_all(ranks: int, events: float, within: float) -> None:
    found = value(wait_for_slowest(graph.number(ranks), graph.number(events)))
    assert found == pytest.approx(longest_delay(ranks, events), rel=within)


def test_nothing_is_waited_for_without_noise_or_others() -> None:
    assert value(wait_for_slowest(graph.number(10**6), graph.ZERO)) == pytest.approx(0, abs=1e-5)
    assert value(wait_for_slowest(graph.ONE, graph.number(3))) == 0


def delays(random: Any, events: float, shape: tuple[int, ...]) -> Any:
    """The time in which each of some ranks is held up, in a step."""
    often = random.poisson(events, shape)
    return np.where(often > 0, random.gamma(np.maximum(often, 1)), 0)


def growth(dimensions: int, side: int, events: float, steps: int) -> float:
    """What a step takes in a grid of ranks of which each waits for its neighbours, less the mean delay."""
    random = np.random.default_rng(dimensions)
    clocks = np.zeros((side,) * dimensions)
    for step in range(steps):
        ready = clocks
        for axis in range(dimensions):
            ready = np.maximum(ready, np.maximum(np.roll(clocks, 1, axis), np.roll(clocks, -1, axis)))
        clocks = ready + delays(random, events, clocks.shape)
        if step == steps // 3:
            begin = clocks.mean()
    return float((clocks.mean() - begin) / (steps - 1 - steps // 3) - events)


@pytest.mark.parametrize(("dimensions", "side"), [(1, 10_000), (2, 120), (3, 30)])
@pytest.mark.parametrize("events", [0.003, 0.03, 0.3, 3.0])
def test_waiting_for_neighbours(dimensions: int, side: int, events: float) -> None:
    steps = int(max(150, 20 / events ** (1 / (dimensions + 1))))
    found = value(wait_for_neighbours(dimensions, graph.number(10**9), graph.number(events)))
    within = 0.16 if dimensions == 1 and events > 1 else 0.06
    assert found == pytest.approx(growth(dimensions, side, events, steps), rel=within)


def test_neighbours_are_never_waited_for_longer_than_all() -> None:
    for events in (1e-6, 0.01, 1.0):
        near, far = (
            value(each)
            for each in (
                wait_for_neighbours(3, graph.number(8), graph.number(events)),
                wait_for_slowest(graph.number(8), graph.number(events)),
            )
        )
        assert near <= far


# -- in a model ------------------------------------------------------------------------------------

NODES = """
machine plain {{ node [1e7] plain_node  interconnect [1e7] wire }}
interconnect wire {{
  property topology [star]  property latency [1e-12]  property bandwidth [1e15]
  resource messages(volume) [latency + volume/bandwidth]
}}
node plain_node {{ property rank {noise} socket [1] box }}
socket box {{ core [1] unit }}
core unit {{ resource flops(n) [1e-9*n] with dp [base] }}
"""


def plain_machine(noise: str = "") -> aspenpy.Machine:
    return read_machine(NODES.format(noise=noise))


def seconds(kernel: str, ranks: int, machine: aspenpy.Machine) -> float:
    model = application(kernel, "param ranks = 1")
    return aspenpy.predict(model, machine, set={"ranks": ranks}).runtime


@pytest.mark.parametrize("ranks", [2, 16, 1000, 100_000])
def test_a_block_ends_with_its_slowest_rank(ranks: int) -> None:
    """Drawn: the largest of so many amounts, in the mean over a thousand blocks or more."""
    found = seconds("execute [ranks] { flops [1e9] as dp, varies(0.1) }", ranks, plain_machine())
    random = np.random.default_rng(4)
    rounds = max(20, 2_000_000 // ranks)
    drawn = np.mean([random.normal(1, 0.1, ranks).max() for _ in range(min(rounds, 5000))])
    assert found == pytest.approx(drawn, rel=0.006)


def test_ranks_that_share_a_core_even_out() -> None:
    """Nine instances on each of four cores vary a third as much as one."""
    machine = read_machine(
        "machine m { socket [1] s } socket s { core [4] c } core c { resource flops(number) [number] }"
    )
    model = application("execute [36] { flops [1] as varies(0.3) }")
    random = np.random.default_rng(5)
    drawn = random.normal(1, 0.3, (40_000, 4, 9)).sum(axis=2).max(axis=1).mean()
    assert aspenpy.predict(model, machine).runtime == pytest.approx(drawn, rel=0.004)


CACHED = (
    NODES.format(noise="").replace("[1] unit", "[1] unit memory far").replace("[base] }", "[base] cache near }")
    + """
cache near {
  property capacity [4096] property associativity [4] property cacheline [64] property bandwidth [1000]
}
memory far { resource loads(x) [x/1e6] resource stores(x) [x/1e6] }
"""
)


@pytest.mark.parametrize("ranks", [1, 2, 16, 1000])
def test_a_cache_waits_for_what_varies_most(ranks: int) -> None:
    """Accesses that a cache answers take as long as those of the slowest rank, and of two that vary as those that vary
    more."""

    def seconds(kernel: str) -> float:
        model = application(f"execute [ranks] {{ {kernel} }}", "param ranks = 1 data X [2000] data Y [2000]")
        return aspenpy.predict(model, read_machine(CACHED), set={"ranks": ranks}).runtime

    swept = "[{}] of size [8] {} as stream, reuse(10)"
    plain = seconds("loads " + swept.format(20_000, "from X"))
    assert plain == pytest.approx(160)  # 160,000 bytes at 1,000 a second
    slower = largest_normal(ranks)
    once = seconds("loads " + swept.format(20_000, "from X") + ", varies(0.1)")
    assert once == pytest.approx(160 * (1 + 0.1 * slower), rel=0.002)
    loads = "loads " + swept.format(10_000, "from X") + ", varies(0.1) "
    stores = " stores " + swept.format(10_000, "to Y") + ", varies(0.2) "
    for kernel in (loads + stores, stores + loads):
        assert seconds(kernel) == pytest.approx(160 * (1 + 0.2 * slower), rel=0.002)


def step_with_collective(ranks: int, events: float, length: float) -> float:
    """Seconds of steps of one second, at whose end all ranks wait for each other, less one."""
    random = np.random.default_rng(6)
    return length * float(np.mean([delays(random, events, (ranks,)).max() for _ in range(8_000)]))


@pytest.mark.parametrize(("ranks", "interval", "length"), [(256, 50.0, 0.01), (1000, 0.5, 0.001), (64, 80.0, 0.3)])
def test_a_collective_waits_for_ranks_that_are_interrupted(ranks: int, interval: float, length: float) -> None:
    machine = plain_machine(f"property noise_interval [{interval}] property noise_length [{length}]")
    kernel = "iterate [50] { execute [ranks] { flops [1e9] } execute [ranks] { messages [8] as allreduce } }"
    lost = seconds(kernel, ranks, machine) / 50 - 1
    drawn = step_with_collective(ranks, 1 / interval, length) - length / interval
    assert lost == pytest.approx(drawn, rel=0.08)


@pytest.mark.parametrize("between", [1, 8])
def test_steps_of_a_grid_between_collectives(between: int) -> None:
    """A hundred collectives with so many halos before each, played through by ranks on a grid of 20 by 20."""
    side, interval, length = 20, 20.0, 0.01
    machine = plain_machine(f"property noise_interval [{interval}] property noise_length [{length}]")
    step = "execute [ranks] { flops [1e9] } execute [ranks] { messages [8] as halo(2) }"
    kernel = f"iterate [100] {{ iterate [{between}] {{ {step} }} execute [ranks] {{ messages [8] as allreduce }} }}"
    lost = seconds(kernel, side**2, machine) - 100 * between
    random = np.random.default_rng(8)
    clocks = np.zeros((side, side))
    for _ in range(600):
        for _ in range(between):
            clocks = clocks + delays(random, 1 / interval, clocks.shape)
            near = [np.roll(clocks, way, axis) for way in (1, -1) for axis in (0, 1)]
            clocks = np.maximum.reduce([clocks, *near])
        clocks = np.full_like(clocks, clocks.max())
    drawn = length * (clocks.max() / 6 - 100 * between / interval)
    assert lost == pytest.approx(drawn, rel=0.35)


def test_the_part_of_a_run_is_told() -> None:
    machine = plain_machine("property noise_interval [10] property noise_length [0.01]")
    kernel = "execute [ranks] { flops [1e9] as varies(0.1) } execute [ranks] { messages [8] as allreduce }"
    model = application(kernel, "param ranks = 1")
    found = aspenpy.predict(model, machine, set={"ranks": 1000})
    without = seconds(
        "execute [ranks] { flops [1e9] } execute [ranks] { messages [8] as allreduce }", 1000, plain_machine()
    )
    assert set(found.lost) == {"imbalance", "noise"}
    assert found.runtime - sum(found.lost.values()) == pytest.approx(without, rel=1e-9)
    assert found.resources["noise"].amount == 1
    points = aspenpy.scale(model, machine, [1, 1000, 10**6]).points
    assert [round(point.lost or 0, 6) for point in points][:2] == [0, pytest.approx(sum(found.lost.values()), abs=1e-5)]
    assert (points[2].lost or 0) > (points[1].lost or 0)


@pytest.mark.parametrize("written", ["varies", "varies(1, 2)", "varies(-0.1)"])
def test_a_deviation_is_one_number_from_zero_on(written: str) -> None:
    with pytest.raises(AspenError, match=r"varies|must be 0 or more"):
        seconds(f"execute [ranks] {{ flops [1] as {written} }}", 4, plain_machine())


def test_a_sweep_to_a_million_ranks_is_that_of_single_points() -> None:
    machine = plain_machine("property noise_interval [10] property noise_length [0.01]")
    kernel = "execute [ranks] { flops [1e9] as varies(0.1) } execute [ranks] { messages [8] as halo(3) }"
    model = application(kernel, "param ranks = 1")
    counts = [1, 7, 4096, 10**6]
    expected = [aspenpy.predict(model, machine, set={"ranks": each}).runtime for each in counts]
    for backend in ("numpy", "llvm", "c"):
        found = aspenpy.sweep(model, machine, over={"ranks": counts}, backend=backend)["runtime"]
        assert [float(each) for each in np.ravel(found)] == pytest.approx(expected, rel=1e-12)


def test_kernels_are_placed_on_a_machine_with_noise() -> None:
    text = NODES.format(noise="property noise_interval [10] property noise_length [0.01]")
    text = text.replace("socket [1] box }", "socket [1] box  socket [1] other  link [1] wires }")
    text += """
    socket other { core [1] quick }
    core quick { resource flops(n) [1e-10*n] with dp [base] }
    link wires { property bandwidth [1e9]  resource intracomm(volume) [volume/bandwidth] }
    """
    text = text.replace("core [1] unit }", "core [1] unit  memory main }") + "memory main { property capacity [1e12] }"
    text = (
        text.replace("core [1] quick }", "core [1] quick  memory near }") + "memory near { property capacity [1e12] }"
    )
    model = application("execute [8] { flops [1e9] } execute [8] { messages [8] as allreduce }")
    assert aspenpy.place(model, read_machine(text)).runtime > 0.1
