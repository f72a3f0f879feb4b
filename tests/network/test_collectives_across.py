"""Collectives across the links that nodes share, against algorithms played message by message as flows that are max-min
fair: on tapered trees as long as they take, on dragonflies and trees that are drawn never longer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import aspenpy
from aspenpy.cost.network.topologies import topology
from aspenpy.cost.network.topology import Topology
from tests.network.flows import seconds_of_exchanges
from tests.network.graphs import graph_of
from tests.tiny import application
from tests.tiny import machine as read_machine

pytest.importorskip("networkx")

Round = dict[tuple[int, int], float]
"""Bytes from a node to another one."""

SIZE = 96.0


def pairs(nodes: int, distance: int, volume: float) -> Round:
    return {(node, node ^ distance): volume for node in range(nodes)}


def shift(nodes: int, distance: int, volume: float) -> Round:
    return {(node, (node + distance) % nodes): volume for node in range(nodes)}


def rounds_of(collective: str, algorithm: str, nodes: int) -> Iterator[Round]:
    """The rounds of an algorithm among a power of two of nodes, as Thakur, Rabenseifner and Gropp 2005 have them."""
    distances = [2**step for step in range(nodes.bit_length() - 1)]
    if (collective, algorithm) == ("allreduce", "recursive_doubling"):
        yield from (pairs(nodes, distance, SIZE) for distance in distances)
    elif algorithm == "rabenseifner":
        yield from (pairs(nodes, distance, SIZE / 2 / distance) for distance in [*distances, *reversed(distances)])
    elif (collective, algorithm) == ("allgather", "recursive_doubling"):
        yield from (pairs(nodes, distance, SIZE * distance) for distance in distances)
    elif algorithm == "bruck":
        yield from (shift(nodes, distance, SIZE * distance) for distance in distances)
    elif algorithm == "recursive_halving":
        yield from (pairs(nodes, distance, SIZE * distance / nodes) for distance in reversed(distances))
    elif algorithm == "pairwise":
        yield from (shift(nodes, distance, SIZE / nodes) for distance in range(1, nodes))
    else:
        times = 2 if collective == "allreduce" else 1
        piece = SIZE / nodes if collective == "allreduce" else SIZE
        yield from (shift(nodes, 1, piece) for _ in range(times * (nodes - 1)))


OF_PAIRS = [
    ("allreduce", "recursive_doubling"),
    ("allreduce", "rabenseifner"),
    ("allreduce", "ring"),
    ("allgather", "recursive_doubling"),
    ("allgather", "ring"),
    ("reduce_scatter", "recursive_halving"),
]
OF_SHIFTS = [("allgather", "bruck"), ("reduce_scatter", "pairwise")]


def played(network: Topology, rounds: Iterator[Round]) -> float:
    """Seconds over ports and links of a byte a second, each round when the one before is over."""
    found: Any = graph_of(network)
    order = [router for router, nodes in sorted(found.nodes(data="nodes")) for _ in range(nodes)]
    taken: dict[tuple[tuple[int, int], ...], float] = {}
    seconds = 0.0
    for each in rounds:
        shape = tuple(each)
        if shape not in taken:  # all messages of a round are alike
            flows: dict[tuple[Any, Any], float] = {}
            for source, target in each:
                pair = order[source], order[target]
                if pair[0] != pair[1]:
                    flows[pair] = flows.get(pair, 0) + 1
            taken[shape] = max(1.0, seconds_of_exchanges(found, [flows]) if flows else 0)
        seconds += taken[shape] * max(each.values())
    return seconds


def runtime_of(network: Topology, message: str, words: str = "") -> float:
    """Seconds of a message among all nodes, which take a second for a byte and none to begin."""
    stated = " ".join(f"property {name} [{value}]" for name, value in network.parameters)
    nodes = int(network.figures()["nodes"])
    text = f"""
    machine m {{ node [{nodes}] n  interconnect [{nodes}] w }}
    node n {{ property rank  socket s }} socket s {{ core c }}
    core c {{ resource flops(n) [n] }}
    interconnect w {{
      property topology [{network.kind}] {stated} property latency [0] property bandwidth [1] {words}
      resource messages(v) [v]
    }}
    """
    body = f"execute [{nodes}] {{ messages {message} }}"
    return aspenpy.predict(application(body), read_machine(text)).runtime


def priced(network: Topology, collective: str, algorithm: str, words: str = "") -> float:
    return runtime_of(network, f'[{SIZE}] as {collective}("{algorithm}")', words)


@pytest.mark.parametrize(("collective", "algorithm"), OF_PAIRS)
@pytest.mark.parametrize(("arity", "levels", "taper"), [(4, 2, 1), (2, 3, 2), (2, 2, 4), (4, 2, 2), (2, 4, 1)])
def test_trees_take_what_flows_take(arity: int, levels: int, taper: int, collective: str, algorithm: str) -> None:
    network = topology("fat_tree", arity=arity, levels=levels, taper=taper)
    nodes = int(network.figures()["nodes"])
    found = priced(network, collective, algorithm)
    assert found == pytest.approx(played(network, rounds_of(collective, algorithm, nodes)), rel=1e-9)


@pytest.mark.parametrize(("collective", "algorithm"), OF_SHIFTS)
@pytest.mark.parametrize(("levels", "taper"), [(3, 2), (3, 4), (4, 4)])
def test_shifts_on_trees_take_a_little_longer(levels: int, taper: int, collective: str, algorithm: str) -> None:
    """Of the first and the last rounds, in which a part of a leaf's nodes sends out, the model has those of a port."""
    network = topology("fat_tree", arity=2, levels=levels, taper=taper)
    nodes = int(network.figures()["nodes"])
    simulated = played(network, rounds_of(collective, algorithm, nodes))
    assert simulated / 1.5 < priced(network, collective, algorithm) <= simulated * (1 + 1e-9)


DRAGONFLIES = [(p, a, h, g) for p in (1, 2, 4) for a in (2, 4) for h in (1, 2) for g in (2, 4, 8) if h < g <= a * h + 1]


@pytest.mark.parametrize(("collective", "algorithm"), [*OF_PAIRS, *OF_SHIFTS])
def test_dragonflies_take_no_longer_than_flows(collective: str, algorithm: str) -> None:
    """Routes of the flows are shortest; the model takes all links of a group, as adaptive ones do."""
    slowed = 0
    for p, a, h, g in random.Random(f"{collective} {algorithm}").sample(DRAGONFLIES, 6):
        network = topology("dragonfly", nodes_per_router=p, routers=a, global_links=h, groups=g)
        found = priced(network, collective, algorithm)
        assert found <= played(network, rounds_of(collective, algorithm, p * a * g)) * (1 + 1e-9)
        wide = priced(network, collective, algorithm, "property link_bandwidth [1000]")
        assert found >= wide * (1 - 1e-9)
        slowed += found > wide * 1.01
    assert slowed or algorithm in ("ring", "rabenseifner")


@pytest.mark.parametrize("library", ["open_mpi", "mpich"])
def test_what_a_library_chooses_shares_the_uplinks(library: str) -> None:
    """64 nodes, a tree with leaves of eight and two uplinks: 100 bytes each, gathered by recursive doubling."""
    network = topology("fat_tree", arity=2, levels=4, taper=4)
    simulated = played(network, rounds_of("allgather", "recursive_doubling", 64)) / SIZE
    found = runtime_of(network, "[100] as allgather", f"property mpi [{library}]") / 100
    assert found == pytest.approx(simulated, rel=1e-9)
