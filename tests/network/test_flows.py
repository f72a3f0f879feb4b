"""All-to-all over networks that are drawn, played through as flows that share links, max-min fair: never faster than
the cuts that a model counts."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import aspenpy
from aspenpy.cost.network.cuts import crossing_time
from aspenpy.cost.network.topologies import topology
from aspenpy.cost.network.topology import Topology
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from tests.network.flows import alltoall, rates_of_flows, seconds_of_exchanges
from tests.network.graphs import graph_of
from tests.tiny import application
from tests.tiny import machine as read_machine

pytest.importorskip("networkx")


def draw_network(kind: str, seed: int) -> Topology:
    drawn = random.Random(f"{kind} {seed}")
    if kind == "fat_tree":
        sizes: dict[str, Any] = {"arity": drawn.choice([2, 4]), "levels": 2, "taper": drawn.choice([1, 2, 3])}
        if sizes["arity"] == 2:
            sizes["levels"] = drawn.choice([2, 3])
    elif kind == "dragonfly":
        routers, links = drawn.choice([(2, 1), (3, 1), (4, 1), (4, 2)])
        sizes = {"nodes_per_router": drawn.randint(1, 3), "routers": routers, "global_links": links}
        sizes["groups"] = drawn.randint(3, min(5, routers * links + 1))
    else:
        sizes = {"dimensions": tuple(drawn.choice([2, 3, 4, 6]) for _ in range(drawn.choice([1, 2, 2, 3])))[:3]}
        if np.prod(sizes["dimensions"]) > 48:
            sizes["dimensions"] = sizes["dimensions"][:2]
    return topology(kind, **sizes)


def least_seconds(network: Topology) -> float:
    """What the cuts allow, of one byte from each node to each other one."""
    one = graph.ONE
    return float(evaluate(crossing_time(network, network.nodes, one, network.nodes, one, one)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["fat_tree", "dragonfly", "torus", "mesh"])
def test_flows_are_no_faster_than_the_cuts(kind: str, seed: int) -> None:
    network = draw_network(kind, seed)
    found: Any = graph_of(network)
    taken = seconds_of_exchanges(found, [alltoall(found)])
    assert taken >= least_seconds(network) * (1 - 1e-9)
    if kind == "fat_tree":
        assert taken == pytest.approx(least_seconds(network))


def test_links_are_shared_by_hand() -> None:
    """Two flows on a link of 1, one of them and a third on a link of 10: a half, a half, and nine and a half."""
    crossed = np.array([[True, True, False], [False, True, True]])
    rates = rates_of_flows(crossed, np.ones(3), np.array([1.0, 10.0]))
    assert rates.tolist() == pytest.approx([0.5, 0.5, 9.5])


@pytest.mark.parametrize("kind", ["fat_tree", "dragonfly", "torus"])
def test_two_exchanges_at_once_take_as_long_as_one_after_the_other(kind: str) -> None:
    """They share each link, so that `par` adds their times."""
    found: Any = graph_of(draw_network(kind, 3))
    once = alltoall(found)
    thrice = {pair: 2 * volume for pair, volume in once.items()}
    both = seconds_of_exchanges(found, [once, thrice])
    assert both == pytest.approx(3 * seconds_of_exchanges(found, [once]))
    ring = read_machine(
        "machine m { node [16] n  interconnect [16] w } node n { property rank  socket s } socket s { core c }"
        "core c { resource flops(n) [n] } interconnect w { property topology [torus]  property dimensions [16]"
        " property latency [0]  property bandwidth [1]  resource messages(v) [v/bandwidth] }"
    )
    one, two = "execute [16] { messages [1] as alltoall }", "execute [16] { messages [2] as alltoall }"
    times = [aspenpy.predict(application(body), ring).runtime for body in (one, f"par {{ {one} {two} }}")]
    assert times[1] == pytest.approx(3 * times[0])
