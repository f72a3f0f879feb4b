"""Cuts that an alltoall crosses, against links counted in graphs, and against the fullest link when every pair of nodes
sends along all shortest routes alike."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import pytest

import aspenpy
from aspenpy.cost.network.cuts import crossing_times, cuts
from aspenpy.cost.network.topologies import topology
from aspenpy.cost.network.topology import Topology
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from tests.network.graphs import graph_of
from tests.tiny import application

networkx = pytest.importorskip("networkx")

NETWORKS: dict[str, Topology] = {
    "fat tree": topology("fat_tree", arity=2, levels=3),
    "fat tree 2:1": topology("fat_tree", arity=2, levels=3, taper=2),
    "dragonfly": topology("dragonfly", nodes_per_router=2, routers=4, global_links=2),
    "dragonfly of fewer groups": topology("dragonfly", nodes_per_router=2, routers=4, global_links=2, groups=5),
    "aries": topology("aries", nodes_per_router=2, rows=2, columns=3, global_links=1, groups=4),
    "torus": topology("torus", dimensions=(4, 4)),
}


def seconds(network: Topology, *, ports: int = 1, ranks: int = 1, used: int | None = None) -> float:
    """Of one byte from each rank to each other one, over links of one byte a second."""
    nodes = network.nodes if used is None else graph.number(used)
    count = graph.number(ranks) * nodes
    times = crossing_times(network, nodes, graph.number(ports), count, graph.ONE, graph.ONE)
    return max(float(evaluate(time)) for time in times.values())


def fullest_link(network: Topology) -> float:
    """Bytes over the fullest link in one direction, where pairs use all of their shortest routes alike."""
    found: Any = graph_of(network)
    loads: dict[tuple[Any, Any], float] = {}
    for source, target in permutations([each for each in found if found.nodes[each]["nodes"]], 2):
        routes = list(networkx.all_shortest_paths(found, source, target))
        volume = found.nodes[source]["nodes"] * found.nodes[target]["nodes"] / len(routes)
        for route in routes:
            for link in pairwise(route):
                loads[link] = loads.get(link, 0) + volume
    return max(load / found.edges[link]["links"] for link, load in loads.items())


@pytest.mark.parametrize("name", NETWORKS)
def test_no_route_is_faster_than_its_cuts(name: str) -> None:
    assert 0 < seconds(NETWORKS[name]) <= fullest_link(NETWORKS[name]) * (1 + 1e-9)


def test_uplinks_of_a_leaf_switch_of_a_tapered_tree() -> None:
    """Four nodes and two uplinks a leaf switch, of 16 nodes: 4*12 bytes over two links; half of all, 8*8, over four."""
    network = NETWORKS["fat tree 2:1"]
    found = {cut.name: (evaluate(cut.inside), evaluate(cut.links)) for cut in cuts(network, network.nodes, graph.ONE)}
    assert found == {"bisection": (8, 4), "leaf": (4, 2)}
    assert seconds(network) == 4 * 12 / 2
    assert fullest_link(network) == pytest.approx(4 * 12 / 2)


@pytest.mark.parametrize("name", ["dragonfly", "dragonfly of fewer groups", "aries"])
def test_links_out_of_a_group_are_those_of_the_graph(name: str) -> None:
    network = NETWORKS[name]
    found: Any = graph_of(network)
    leaving = sum(
        links["links"] for first, second, links in found.edges(data=True) if (first[0] == 0) != (second[0] == 0)
    )
    inside = sum(nodes for router, nodes in found.nodes(data="nodes") if router[0] == 0)
    cut = next(cut for cut in cuts(network, network.nodes, graph.ONE) if cut.name == "group")
    assert (evaluate(cut.inside), evaluate(cut.links)) == (inside, leaving)


def test_ports_are_trees_of_their_own_and_no_more_links_of_a_torus() -> None:
    """Four ports a node are four fat trees; a torus has the links that it has."""
    tree, torus = NETWORKS["fat tree"], NETWORKS["torus"]
    assert seconds(tree, ports=4) == seconds(tree) / 4
    assert seconds(torus, ports=4) == seconds(torus) == 8 * 8 / 8
    assert seconds(torus, ranks=3) == 9 * seconds(torus)


def test_few_nodes_cross_what_they_have() -> None:
    """One node sends nothing; eight nodes stay in their group of eight."""
    assert seconds(NETWORKS["fat tree 2:1"], used=1) == 0
    cut = next(cut for cut in cuts(NETWORKS["dragonfly"], graph.number(8), graph.ONE) if cut.name == "group")
    assert evaluate(cut.links) == 0


@pytest.mark.parametrize(("links", "joining"), [(9, 3), (3, 1)])
def test_an_alltoall_on_frontier_takes_its_bisection(links: int, joining: int) -> None:
    """73,728 ranks on 72 groups of 128 nodes: half of them send to the others over 36*36 pairs of groups."""
    body = f"execute [73728] {{ messages [{64 * 1024}] as alltoall }}"
    settings = {"slingshot_11_global_links": links}
    frontier = aspenpy.load_machine("frontier")
    found = aspenpy.predict(application(body), frontier, socket="amd_mi250x", set=settings).runtime
    assert found == pytest.approx(36864**2 * 65536 / (joining * 36 * 36 * 25e9), rel=1e-9)
