"""Neighbours in a grid of ranks inside a node and elsewhere, for each distribution, against ranks placed one by one."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import pytest

import aspenpy
from aspenpy.cost.network.topologies import mean_distance, topology
from aspenpy.expr.evaluate import evaluate
from aspenpy.language.diagnostics import AspenError
from tests.network.grid_by_rank import Grid, coordinates, messages_by_node, most_even_grid, number_of
from tests.network.test_paths import FAST, INNER, OUTER, SLOW, machine
from tests.nodes.rank_by_rank import Cluster, Request, place_ranks

BYTES = 1e6
"""Of a face."""


def play(grid: Grid, node_of: list[int]) -> tuple[float, Counter[tuple[int, int]]]:
    """Seconds of a halo, one dimension after the other, from the messages of the busiest node each way; and all that
    leave a node."""
    outside, inside = messages_by_node(grid, node_of.__getitem__)
    seconds = 0.0
    for axis in range(len(grid)):
        leaving = max((count for (_, each), count in outside.items() if each == axis), default=0) / 2
        times = [OUTER + max(leaving, 1) * BYTES * SLOW] if leaving else []
        times += [INNER + BYTES * FAST] if inside[axis] else []
        seconds += 2 * max(times, default=0.0)
    return seconds, outside


def predicted(grid: Grid, per_node: int, nodes: int, distribution: str) -> float:
    lengths = ", ".join(map(str, grid)) if len(grid) > 1 else "1"
    sent = f"messages [{2 * len(grid) * BYTES}] as halo({lengths})"
    text = f"model a {{ kernel main {{ execute [{prod(grid)}] {{ {sent} }} }} }}"
    app, on = aspenpy.parse(text), machine(per_node, nodes)
    return aspenpy.predict(app, on, nodes=nodes, distribution=distribution).runtime  # type: ignore[arg-type]


def nodes_of(ranks: int, per_node: int, nodes: int, distribution: str) -> list[int]:
    homes = place_ranks(Cluster(nodes, sockets=per_node), Request(nodes=nodes, distribution=distribution), ranks)
    return [home.node for home in homes]


DEALT = [
    (grid, per_node, distribution)
    for grid in [(16,), (4, 4), (8, 4), (4, 8), (2, 8), (4, 4, 4), (8, 2, 4), (2, 2, 16), (3, 4, 4), (6, 8)]
    for per_node in (2, 4, 8)
    for distribution in ("block", "cyclic", "plane=2", "plane=4")
    if prod(grid) % per_node == 0 and prod(grid) > per_node
]


@pytest.mark.parametrize(("grid", "per_node", "distribution"), DEALT, ids=str)
def test_time_is_that_of_the_busiest_node(grid: Grid, per_node: int, distribution: str) -> None:
    """Exact where rings, planes and nodes divide each other."""
    nodes = prod(grid) // per_node
    played, _ = play(grid, nodes_of(prod(grid), per_node, nodes, distribution))
    found = predicted(grid, per_node, nodes, distribution)
    size = {"block": per_node, "cyclic": 1}.get(distribution) or int(distribution.removeprefix("plane="))
    rings = [prod(grid[axis:]) for axis in range(len(grid))]
    if all(ring % size == 0 or size % ring == 0 for ring in rings) and per_node % size == 0:
        assert found == pytest.approx(played, rel=1e-12)


UNEVEN = [
    (grid, per_node, distribution)
    for grid in [(30,), (5, 6), (7, 9), (5, 4, 3), (11, 6), (9, 2, 3)]
    for per_node in (3, 4, 7)
    for distribution in ("cyclic", "plane=2", "plane=3", "plane=5")
]


@pytest.mark.parametrize(("grid", "per_node", "distribution"), UNEVEN, ids=str)
def test_uneven_grids(grid: Grid, per_node: int, distribution: str) -> None:
    ranks = prod(grid)
    nodes = -(-ranks // per_node)
    played, _ = play(grid, nodes_of(ranks, per_node, nodes, distribution))
    assert 0.85 < predicted(grid, per_node, nodes, distribution) / played < 1.2


# -- ranks renumbered ------------------------------------------------------------------------------


def bricks(grid: Grid, per_node: int) -> list[Grid]:
    """All bricks of so many ranks whose sides divide the lengths of a grid."""
    divisors = ([side for side in range(1, length + 1) if length % side == 0] for length in grid)
    return [brick for brick in product(*divisors) if prod(brick) == per_node]


def nodes_of_bricks(grid: Grid, brick: Grid) -> list[int]:
    """The node of each rank, the nodes numbered in the grid of the bricks."""
    around = tuple(length // side for length, side in zip(grid, brick, strict=True))
    places = (coordinates(grid, rank) for rank in range(prod(grid)))
    return [number_of(around, [here // side for here, side in zip(place, brick, strict=True)]) for place in places]


@pytest.mark.parametrize("distribution", ["compact", "block", "cyclic", "plane=2"])
@pytest.mark.parametrize(
    ("grid", "per_node"),
    [((4, 4, 4), 8), ((8, 4, 4), 32), ((16, 8, 8), 32), ((6, 5, 4), 12), ((8, 8), 16), ((12,), 4), ((5, 5, 5), 25),
     ((6, 4, 4), 24), ((10, 10), 20), ((9, 6, 2), 12), ((4, 8), 4)],
)  # fmt: skip
def test_reordered_ranks_are_in_the_best_brick(grid: Grid, per_node: int, distribution: str) -> None:
    """Of all bricks that fill the grid that with the fewest messages between nodes, played through rank by rank."""
    nodes = prod(grid) // per_node
    played = {brick: play(grid, nodes_of_bricks(grid, brick)) for brick in bricks(grid, per_node)}
    fewest = min(sum(outside.values()) for _, outside in played.values())
    best = [seconds for seconds, outside in played.values() if sum(outside.values()) == fewest]
    found = predicted(grid, per_node, nodes, f"{distribution},reorder")
    assert any(found == pytest.approx(seconds, rel=1e-12) for seconds in best)
    if distribution == "block":
        assert found <= predicted(grid, per_node, nodes, "block") * (1 + 1e-12)


def test_without_a_brick_ranks_keep_their_order() -> None:
    """No ten ranks fill 5 x 5."""
    assert predicted((5, 5), 10, 3, "compact,reorder") == predicted((5, 5), 10, 3, "compact")


def test_hops_between_bricks() -> None:
    """Ranks of 8 x 8 on a ring of 16 nodes, a microsecond a hop: bricks of 2 x 2 in a grid of 4 x 4. The next brick
    along the last dimension is a node further, that along the first one four."""
    ring = "property topology [torus] property dimensions [16] property hop_latency [1 us]"
    on = machine(4, 16, outer=ring)
    app = aspenpy.parse("model a { kernel main { execute [64] { messages [0] as halo(8, 8) } } }")
    time = aspenpy.predict(app, on, nodes=16, distribution="block,reorder").runtime  # type: ignore[arg-type]
    assert time == pytest.approx(4 * OUTER + 2 * (1 + 4) * 1e-6, rel=1e-12)


@pytest.mark.parametrize("distribution", ["compact,reordered", "block,", "block,NoPack"])
def test_an_unknown_word_behind_a_distribution(distribution: str) -> None:
    with pytest.raises(AspenError, match="unknown word"):
        predicted((4, 4), 4, 4, distribution)


def test_a_million_ranks() -> None:
    """100 x 100 x 100 ranks, 40 on a node: bricks of 5 x 4 x 2."""
    grid = most_even_grid(1000, 3)
    assert grid == (10, 10, 10)
    found = predicted((100, 100, 100), 40, 25_000, "block,reorder")
    assert found == pytest.approx(sum(2 * (OUTER + 40 / side * BYTES * SLOW) for side in (5, 4, 2)), rel=1e-12)


# -- containers of a network -----------------------------------------------------------------------


@pytest.mark.parametrize("shift", [1, 2, 3, 5, 8, 12, 31, 32, 100])
@pytest.mark.parametrize("per_node", [1, 4])
def test_neighbours_on_the_same_switch(shift: int, per_node: int) -> None:
    """A dragonfly of 4 nodes on each of 4 routers in 9 groups: ranks on a router are 0 hops apart, in a group 1, in two
    groups as many as two routers of two groups are on average."""
    network = topology("dragonfly", nodes_per_router=4, routers=4, global_links=2)
    ranks = int(evaluate(network.nodes)) * per_node
    far = float(evaluate(network.nested[-1][1]))
    played = 0.0
    for rank in range(ranks):
        here, there = rank // per_node, (rank + shift) % ranks // per_node
        played += 0 if here // 4 == there // 4 else 1 if here // 16 == there // 16 else far
    assert float(evaluate(mean_distance(network, shift, per_node))) == pytest.approx(played / ranks, rel=1e-12)
