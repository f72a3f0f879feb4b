"""Where ranks are, and how far from each other: closed forms against a walk over all ranks."""

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import networkx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aspenpy.cost.network.grids import mesh, torus
from aspenpy.cost.network.placement import GridPlacement, mean_random_distance, neighbour_distance, place
from aspenpy.cost.network.topologies import topology
from aspenpy.cost.network.topology import NetworkError
from tests.network.graphs import graph_of
from tests.thorough import examples


def walked(placement: GridPlacement, periodic: bool) -> Fraction:
    """The average over a graph of the nodes, from the documented order of ranks."""
    make = torus if placement.wrapped else mesh
    hops = dict(networkx.all_pairs_shortest_path_length(graph_of(make(placement.nodes))))
    places = list(product(*map(range, placement.grid)))
    numbers = {where: rank for rank, where in enumerate(places)}
    found = []
    node_of = placement.all_nodes()
    for rank, where in enumerate(places):
        for axis, length in enumerate(placement.grid):
            following = where[axis] + 1
            if length > 1 and (periodic or following < length):
                other = numbers[*where[:axis], following % length, *where[axis + 1 :]]
                found.append(hops[node_of(rank)][node_of(other)])
    return Fraction(sum(found), len(found)) if found else Fraction(0)


CASES = [
    ((4, 4), (4, 4), 1), ((4, 4), (2, 2), 4), ((8, 2), (4, 4), 1), ((2, 2, 4), (4, 2), 2), ((4, 6), (2, 3), 4),
    ((6, 4), (3, 4), 2), ((5, 3), (5, 3), 1), ((3, 5), (5, 3), 1), ((16,), (4, 4), 1), ((1, 1), (1, 1), 1),
    ((4, 2, 2), (2, 2, 2), 2), ((9, 4), (3, 6), 2), ((2, 3, 4), (4, 3, 2), 1),
]  # fmt: skip


@pytest.mark.parametrize(("grid", "nodes", "each"), CASES)
@pytest.mark.parametrize("make", [mesh, torus])
def test_neighbours_are_as_far_as_a_walk_finds(grid: Any, nodes: Any, each: int, make: Any) -> None:
    for order in ("block", "cyclic", "random", "aligned"):
        if order == "aligned" and (len(grid) != len(nodes) or any(a % b for a, b in zip(grid, nodes, strict=True))):
            continue
        placement = place(make(nodes), grid, order, ranks_per_node=each, seed=3)
        for periodic in (True, False):
            assert neighbour_distance(placement, periodic=periodic) == walked(placement, periodic), order


@given(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=3), st.data())
@settings(max_examples=examples(40))
def test_any_grid_on_any_torus(nodes: list[int], data: st.DataObject) -> None:
    assume(prod(nodes) <= 48)
    each = data.draw(st.sampled_from([1, 2, 3, 4]))
    ranks = prod(nodes) * each
    first = data.draw(st.sampled_from([n for n in range(1, ranks + 1) if ranks % n == 0]))
    order = data.draw(st.sampled_from(["block", "cyclic", "random"]))
    placement = place(torus(nodes), (first, ranks // first), order, ranks_per_node=each)
    periodic = data.draw(st.booleans())
    assert neighbour_distance(placement, periodic=periodic) == walked(placement, periodic)
    where = list(map(placement.all_nodes(), range(ranks)))
    assert all(where.count(node) == each for node in where)


def test_aligned_neighbours_by_hand() -> None:
    """Blocks of 2 x 2 x 2 ranks on each node of a torus: half of the next ranks are on the same node, half one hop
    away. A row-major block of 8 shares a node along the last dimension only."""
    network = torus((8, 8, 8))
    grid = (16, 16, 16)
    assert neighbour_distance(place(network, grid, "aligned", ranks_per_node=8)) == Fraction(1, 2)
    assert neighbour_distance(place(network, grid, "block", ranks_per_node=8)) > 1


def test_eight_million_ranks() -> None:
    network = torus((64, 64, 128))
    grid = (128, 256, 256)
    assert neighbour_distance(place(network, grid, "aligned", ranks_per_node=16)) == Fraction(1, 3) * (
        Fraction(1, 2) + Fraction(1, 4) + Fraction(1, 2)
    )
    assert neighbour_distance(place(network, grid, "cyclic", ranks_per_node=16)) >= Fraction(1, 2)


@pytest.mark.parametrize(("nodes", "each"), [((4, 4), 1), ((3, 2), 4)])
def test_random_placements_tend_to_what_is_expected(nodes: Any, each: int) -> None:
    """The average over 400 seeds of 32 or more distances: three digits or so."""
    network = torus(nodes)
    grid = (prod(nodes), each)
    found = [neighbour_distance(place(network, grid, "random", ranks_per_node=each, seed=seed)) for seed in range(400)]
    expected = mean_random_distance(network, each)
    assert float(sum(found) / len(found)) == pytest.approx(float(expected), rel=0.02)
    assert mean_random_distance(torus((1,))) == 0


MISTAKES = [
    (lambda: place(torus((4, 4)), (4, 8)), "grid", "4 x 8 are 32 ranks, and 16 nodes take 16, 1 each"),
    (lambda: place(torus((4, 4)), (2, 8), "aligned"), "grid", "ranks of 2 x 8 do not align with nodes of 4 x 4"),
    (lambda: place(topology("star", nodes=4), (4,)), "topology",
     "ranks have coordinates on a mesh or a torus, not on star (nodes 4)"),
    (lambda: place(torus((4,)), (4,), "blok"), "order", "unknown placement `blok`"),  # type: ignore[arg-type]
    (lambda: place(torus((4,)), ()), "grid", "a grid of ranks, and the ranks on a node, are whole numbers from 1 on"),
    (lambda: neighbour_distance(place(torus((1000, 1000)), (1000, 1000), "random")), "grid",
     "1,000,000 ranks of a random placement are more than the 200,000 that are looked at one by one"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "parameter", "message"), MISTAKES)
def test_mistakes(mistake: Any, parameter: str, message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        mistake()
    assert (caught.value.parameter, caught.value.message) == (parameter, message)
