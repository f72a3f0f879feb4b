"""The distance to the rank that is so many further, against all ranks looked at one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from aspenpy.cost.network.shift import off_node
from aspenpy.cost.network.topologies import mean_distance, topology
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import number, symbol

SHAPES: dict[str, dict[str, Any]] = {
    "torus": {"dimensions": (4, 3, 5)},
    "mesh": {"dimensions": (3, 4, 2)},
    "torus of several nodes on a router": {"dimensions": (4, 3, 2), "nodes_per_router": 2},
    "mesh of several nodes on a router": {"dimensions": (3, 2, 4), "nodes_per_router": 3},
    "hypercube": {"dimension": 4},
    "star": {"nodes": 6},
}


def counted(kind: str, shape: dict[str, Any], shift: int, ranks_per_node: int) -> tuple[Fraction, Fraction]:
    """Hops and the part of the ranks that go to another node, rank by rank."""
    lengths = {"hypercube": (2,) * shape.get("dimension", 0), "star": (shape.get("nodes", 1),)}.get(kind)
    lengths = lengths or shape["dimensions"]
    nodes_per_router = shape.get("nodes_per_router", 1)
    places = [place for place in product(*map(range, lengths)) for _ in range(nodes_per_router)]
    ranks = len(places) * ranks_per_node
    hops = other = 0
    for rank in range(ranks):
        here, there = rank // ranks_per_node, (rank + shift) % ranks // ranks_per_node
        other += here != there
        for first, second, length in zip(places[here], places[there], lengths, strict=True):
            apart = abs(first - second)
            if kind != "star":
                hops += min(apart, length - apart) if kind in ("torus", "hypercube") else apart
    return Fraction(hops, ranks), Fraction(other, ranks)


@pytest.mark.parametrize("ranks_per_node", [1, 2, 3])
@pytest.mark.parametrize("named", sorted(SHAPES))
def test_against_every_rank(named: str, ranks_per_node: int) -> None:
    """Shifts below, at and above a node, each stride of a dimension, half of all ranks and all of them."""
    shape, kind = SHAPES[named], named.partition(" ")[0]
    network = topology(kind, **shape)
    ranks = int(evaluate(network.nodes)) * ranks_per_node
    steps = {2**bit * ranks_per_node for bit in range(5)} | {3 * ranks_per_node, ranks // 2, ranks}
    for shift in sorted({max(0, step + more) for step in steps for more in (-1, 0, 1)} | {ranks + 5, 7 * ranks}):
        hops, other = counted(kind, shape, shift % ranks, ranks_per_node)
        assert evaluate(mean_distance(network, shift, ranks_per_node)) == hops, shift
        assert evaluate(off_node(shift, ranks_per_node, network.nodes)) == other, shift


@pytest.mark.parametrize(("arity", "levels", "taper"), [(2, 3, 1), (3, 2, 1), (2, 3, 2), (2, 1, 1)])
@pytest.mark.parametrize("shift", [0, 1, 3, 5, 7])
def test_fat_tree(arity: int, levels: int, taper: int, shift: int) -> None:
    """Two nodes are twice as many hops apart as there are levels up to the switch that both are below."""
    network = topology("fat_tree", arity=arity, levels=levels, taper=taper)
    nodes = taper * arity**levels

    def up(node: int, level: int) -> int:
        return node // (taper * arity ** (level + 1))

    hops = sum(
        2 * sum(up(node, level) != up((node + shift) % nodes, level) for level in range(levels - 1))
        for node in range(nodes)
    )
    assert evaluate(mean_distance(network, shift)) == Fraction(hops, nodes)


def test_routers_and_groups_of_a_dragonfly() -> None:
    """Two nodes a router, eight a group; routers of two groups are 5/2 hops apart. Three nodes further 3/8 leave the
    group, the others the router; of four ranks a node the next is on another router for 1/8, in another group for 1/32.
    """
    network = topology("dragonfly", nodes_per_router=2, routers=4, global_links=2)
    assert evaluate(mean_distance(network, 3, 1)) == Fraction(5, 8) + Fraction(3, 8) * Fraction(5, 2)
    assert evaluate(mean_distance(network, 1, 4)) == Fraction(1, 8) - Fraction(1, 32) + Fraction(1, 32) * Fraction(5, 2)


def test_every_size_may_be_a_symbol() -> None:
    k, s, r = symbol("k"), symbol("s"), symbol("r")
    network = topology("torus", dimensions=(k, k))
    formula = mean_distance(network, s, r)
    for values in ((4, 3, 2), (5, 7, 1), (3, 11, 3)):
        bound = dict(zip((k, s, r), values, strict=True))
        known = topology("torus", dimensions=(values[0], values[0]))
        assert evaluate(formula, bound) == evaluate(mean_distance(known, number(values[1]), values[2]))


def test_the_average_over_all_shifts_is_the_average_distance() -> None:
    """On a network that is alike everywhere: shifts 1 to N - 1 are all other nodes."""
    network = topology("torus", dimensions=(4, 3, 2))
    total = sum(Fraction(evaluate(mean_distance(network, shift))) for shift in range(1, 24))
    assert total / 23 == evaluate(network.average_distance)
