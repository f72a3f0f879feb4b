"""Parts of networks: the nodes of a run enumerated, and their distances counted along the links that they have."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import ceil, prod
from typing import Any

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import Application, AspenError, Machine
from aspenpy.cost.network.topologies import TOPOLOGIES, mean_distance, part_of, topology
from aspenpy.cost.network.topology import Topology
from aspenpy.cost.placement_options import PlacementOptions
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from tests.network.counting import bisection, distances
from tests.network.graphs import graph_of
from tests.thorough import examples

USED, ALL = graph.symbol("used"), graph.symbol("all")


def part(network: Topology, used: int) -> dict[str, Any]:
    """The figures of a part whose number of nodes is a symbol."""
    values = {USED: used, ALL: evaluate(network.nodes)}
    found = part_of(network, USED, ALL)
    return {name: evaluate(getattr(found, name), values) for name in FIGURES_OF_PART}


FIGURES_OF_PART = ("nodes", "diameter", "average_distance", "bisection")


def farthest(network: Any, nodes: list[Any]) -> int:
    """The links between the two of the nodes that are farthest apart, each given by its router."""
    routers = set(nodes)
    return max(distances(network, router)[other] for router in routers for other in routers)


def mean(network: Any, nodes: list[Any]) -> Fraction:
    """The average distance between two of the nodes, each given by its router."""
    total = 0
    for router in set(nodes):
        hops = distances(network, router)
        total += nodes.count(router) * sum(hops[other] for other in nodes)
    return Fraction(total, len(nodes) * (len(nodes) - 1))


# -- meshes and tori -------------------------------------------------------------------------------


def sides_of(dimensions: list[int], routers: int) -> list[int]:
    """The sides of a cuboid by whole numbers alone, the longest dimension first."""
    found: list[int] = []
    for place, longest in enumerate(sorted(dimensions)):
        left = len(dimensions) - place
        root = next(side for side in range(1, routers + 1) if prod(found) * side**left >= routers)
        found.append(min(longest, root))
    return found[::-1]


def cuboid(dimensions: list[int], routers: int, *, wrapped: bool, nodes_per_router: int = 1) -> Any:
    """Its routers and the links between them: a side as long as the dimension of a torus is a ring."""
    sides, longest = sides_of(dimensions, routers), sorted(dimensions, reverse=True)
    found = networkx.Graph()
    for place in product(*map(range, sides)):
        found.add_node(place, nodes=nodes_per_router)
        for axis, (side, length) in enumerate(zip(sides, longest, strict=True)):
            following = place[axis] + 1
            if following < side or (wrapped and side == length > 2):
                other = (*place[:axis], following % side, *place[axis + 1 :])
                found.add_edge(place, other, links=1, between_groups=False)
    return found


@settings(max_examples=examples(60))
@given(
    dimensions=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    kind=st.sampled_from(["torus", "mesh"]),
    nodes_per_router=st.integers(1, 3),
    share=st.floats(0, 0.999),
)
def test_a_part_of_a_grid(dimensions: list[int], kind: str, nodes_per_router: int, share: float) -> None:
    more = {"nodes_per_router": nodes_per_router} if nodes_per_router > 1 else {}
    network = topology(kind, dimensions=dimensions, **more)
    places = prod(dimensions) * nodes_per_router
    used = 1 + int(share * (places - 1))
    walked = cuboid(
        dimensions, ceil(used / nodes_per_router), wrapped=kind == "torus", nodes_per_router=nodes_per_router
    )
    assert used <= len(walked) * nodes_per_router
    found = part(network, used)
    assert found["nodes"] == used
    nodes = [router for router in walked for _ in range(nodes_per_router)]
    if used < places:
        assert found["diameter"] == farthest(walked, nodes)
    if used < places and len(nodes) > 1:
        assert found["average_distance"] == pytest.approx(float(mean(walked, nodes)), rel=1e-12)


@pytest.mark.parametrize(
    ("dimensions", "used"), [([4, 4], 4), ([8, 8], 16), ([5, 3, 2], 8), ([6, 2], 8), ([4, 2], 6), ([4, 3], 8), ([7], 5)]
)
@pytest.mark.parametrize("kind", ["torus", "mesh"])
def test_the_bisection_of_a_part_of_a_grid(kind: str, dimensions: list[int], used: int) -> None:
    """Across a side of even length the cut is the smallest there is; others need more links than the bound says."""
    walked = cuboid(dimensions, used, wrapped=kind == "torus")
    found, least = part(topology(kind, dimensions=dimensions), used)["bisection"], bisection(walked, direct=True)
    longest = max(sides_of(dimensions, used))
    assert found == least if longest % 2 == 0 else found <= least


@pytest.mark.parametrize("side", range(1, 60))
def test_roots_of_whole_cubes_are_whole(side: int) -> None:
    """Floating-point roots such as that of 3^5 are a little more than they should be."""
    for power in (2, 3, 5):
        found = part_of(topology("torus", dimensions=(64,) * power), USED, ALL)
        lengths = [
            evaluate(length, {USED: side**power, ALL: 64**power}) for length in dict(found.parameters)["dimensions"]
        ]
        assert lengths == [side] * power


@settings(max_examples=examples(40))
@given(used=st.integers(1, 47), shift=st.integers(0, 100), ranks_per_node=st.integers(1, 3))
def test_a_neighbour_on_a_part_of_a_torus(used: int, shift: int, ranks_per_node: int) -> None:
    """Ranks are numbered along the shortest dimension first; behind the last node of the cuboid comes the first."""
    dimensions = [3, 4, 4]
    network, walked = topology("torus", dimensions=dimensions), cuboid(dimensions, used, wrapped=True)
    places = list(product(*map(range, sides_of(dimensions, used))))
    hops = {router: distances(walked, router) for router in walked}
    ranks = len(places) * ranks_per_node
    shift %= ranks
    total = sum(
        hops[places[rank // ranks_per_node]][places[(rank + shift) % ranks // ranks_per_node]] for rank in range(ranks)
    )
    found = mean_distance(part_of(network, USED, ALL), shift, ranks_per_node)
    assert evaluate(found, {USED: used, ALL: 48}) == pytest.approx(total / ranks, rel=1e-12, abs=1e-12)


# -- others ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(2, 4, 1), (3, 3, 2), (4, 2, 1), (3, 1, 1)], ids=str)
def test_a_part_of_a_fat_tree(sizes: tuple[int, int, int]) -> None:
    network = topology("fat_tree", arity=sizes[0], levels=sizes[1], taper=sizes[2])
    walked = graph_of(network)
    leaves = sorted((router for router in walked if router[0] == 0), key=lambda router: router[1][::-1])
    nodes = [router for router in leaves for _ in range(sizes[0] * sizes[2])]
    for used in range(2, len(nodes)):
        found = part(network, used)
        assert found["average_distance"] == mean(walked, nodes[:used])
        assert found["diameter"] == farthest(walked, nodes[:used])


@pytest.mark.parametrize("dimension", [1, 3, 5])
def test_a_part_of_a_hypercube(dimension: int) -> None:
    network = topology("hypercube", dimension=dimension)
    walked = graph_of(network)
    for used in range(2, 2**dimension):
        inside = walked.subgraph(range(used))
        found = part(network, used)
        assert found["average_distance"] == mean(inside, list(range(used)))
        assert found["diameter"] == farthest(inside, list(range(used)))


@pytest.mark.parametrize("kind", ["dragonfly", "aries"])
def test_a_part_of_a_dragonfly(kind: str) -> None:
    """Exact for whole groups; routers of one that is not full are taken to be as far apart as those of a full one."""
    shape = {"nodes_per_router": 2, "global_links": 1, "groups": 5}
    shape |= {"routers": 4} if kind == "dragonfly" else {"rows": 2, "columns": 2}
    network = topology(kind, **shape)
    walked = graph_of(network)
    nodes = [router for router, count in walked.nodes(data="nodes") for _ in range(count)]
    for used in range(2, len(nodes)):
        found, counted = part(network, used)["average_distance"], mean(walked, nodes[:used])
        within = used <= 8 and kind == "dragonfly"
        assert part(network, used)["diameter"] >= farthest(walked, nodes[:used])
        assert found == (counted if used % 8 == 0 or within else pytest.approx(float(counted), abs=0.4))


@pytest.mark.parametrize(("rows", "columns", "row_links", "column_links"), [(2, 4, 1, 3), (3, 3, 2, 1), (1, 6, 1, 1)])
def test_links_between_halves_of_the_first_routers_of_a_grid(
    rows: int, columns: int, row_links: int, column_links: int
) -> None:
    """Of the links that these have with each other, as many as in an average halving, all halvings tried; no number of
    nodes is without."""
    per_router = 2
    links = {"row_links": row_links, "column_links": column_links}
    shape = {"nodes_per_router": per_router, "rows": rows, "columns": columns, "global_links": 1, "groups": 3, **links}
    network = topology("aries", **shape)
    walked = graph_of(network)
    for routers in range(2, rows * columns + 1, 2):
        inside = walked.subgraph((0, router) for router in range(routers))
        halvings = list(combinations(inside, routers // 2))
        cut = sum(networkx.cut_size(inside, half, weight="links") for half in halvings)
        average = cut // len(halvings)
        assert part(network, routers * per_router)["bisection"] == min(average, routers * per_router // 2) > 0


def test_a_part_of_a_slim_fly() -> None:
    network = topology("slim_fly", order=3)
    per_router = int(evaluate(dict(network.parameters)["nodes_per_router"]))
    assert part(network, per_router)["average_distance"] == part(network, per_router)["diameter"] == 0
    figures = network.figures()
    routers = Fraction(figures["average_distance"]) * (figures["nodes"] - 1) / (figures["nodes"] - per_router)
    assert part(network, 2 * per_router)["average_distance"] * (2 * per_router - 1) == routers * per_router


WHOLE: dict[str, dict[str, Any]] = {
    "torus": {"dimensions": (5, 3, 4)},
    "mesh": {"dimensions": (5, 3, 4)},
    "hypercube": {"dimension": 4},
    "fat_tree": {"arity": 3, "levels": 3},
    "dragonfly": {"nodes_per_router": 2, "routers": 4, "global_links": 2},
    "aries": {"nodes_per_router": 2, "rows": 2, "columns": 2, "global_links": 2, "groups": 9},
    "slim_fly": {"order": 3},
    "star": {"nodes": 9},
    "fully_connected": {"nodes": 9},
}


@pytest.mark.parametrize("kind", WHOLE)
def test_all_nodes_have_the_whole_network(kind: str) -> None:
    network = topology(kind, **WHOLE[kind])
    figures = network.figures()
    assert part_of(network, ALL, ALL) is network
    expected = {name: figures[name] for name in FIGURES_OF_PART}
    assert part(network, int(figures["nodes"])) == expected
    if TOPOLOGIES[kind].part is not None:  # the last node more or less is no step, but for the least of roundings
        nearly = part(network, int(figures["nodes"]) - 1)["average_distance"]
        assert float(nearly) == pytest.approx(float(figures["average_distance"]), rel=0.05)


# -- runs ------------------------------------------------------------------------------------------


def machine(nodes: int = 48, *, net: str = "property dimensions [lengths]", inner: bool = True) -> Machine:
    found = aspenpy.parse(
        f"""
        param lengths[] = {{3, 4, 4}}
        machine m {{ node [{nodes}] box interconnect net }}
        node box {{ socket [2] cpu {"interconnect bus" if inner else ""} }}
        socket cpu {{ property rank core c }}
        core c {{ resource flops(x) [x/giga] }}
        interconnect bus {{
          property latency [1 us]
          property bandwidth [100 GB/s]
          resource messages(volume) [latency + volume/bandwidth]
        }}
        interconnect net {{
          property topology [torus]
          {net}
          property latency [2 us]
          property hop_latency [1 us]
          property bandwidth [10 GB/s]
          property link_bandwidth [4 GB/s]
          resource messages(volume) [latency + volume/bandwidth]
        }}
        """
    )
    assert isinstance(found, Machine)
    return found


def seconds(requirement: str, ranks: int, on: Machine, **asked: Any) -> float:
    app = aspenpy.parse(f"model a {{ kernel main {{ execute [{ranks}] {{ messages {requirement} }} }} }}")
    assert isinstance(app, Application)
    return aspenpy.predict(app, on, placement=PlacementOptions(**asked)).runtime


@pytest.mark.parametrize("used", [2, 7, 16, 40, 47])
@pytest.mark.parametrize("stated", [True, False])
def test_messages_of_a_run_go_as_far_as_its_nodes(used: int, stated: bool) -> None:
    """Whether the number of nodes is asked for, or follows from the ranks that fill them."""
    walked = cuboid([3, 4, 4], used, wrapped=True)
    hops = float(mean(walked, list(walked)))
    found = seconds("[0]", 2 * used, machine(), **({"nodes": used} if stated else {}))
    assert found == pytest.approx(2e-6 + hops * 1e-6, rel=1e-12)


@pytest.mark.parametrize("inner", [True, False])
def test_a_run_on_all_nodes_goes_as_far_as_any_two(inner: bool) -> None:
    whole = float(topology("torus", dimensions=(3, 4, 4)).figures()["average_distance"])
    apart = 1.0 if inner else 1 - 1 / 95
    found = seconds("[0] as barrier", 96, machine(inner=inner))
    if inner:
        found = seconds("[0]", 96, machine(inner=inner))
        assert found == pytest.approx(2e-6 + whole * apart * 1e-6, rel=1e-12)
    else:
        assert found == pytest.approx(7 * (2e-6 + whole * apart * 1e-6), rel=1e-12)


def test_an_alltoall_crosses_the_links_of_the_part() -> None:
    """Of 16 nodes, in a box of 3 by 3 by 2, the cut is that of the box and not of the whole torus."""
    used, size = 16, 1e6
    half = used  # of two ranks a node
    links = part(topology("torus", dimensions=(3, 4, 4)), used)["bisection"]
    crossing = half * half * size / (float(links) * 4e9)
    assert seconds(f"[{size}] as alltoall", 2 * used, machine(), nodes=used) == pytest.approx(crossing, rel=1e-12)


# -- several nodes on a router ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["torus", "mesh"])
@pytest.mark.parametrize(("dimensions", "each"), [((3, 2), 2), ((4,), 2), ((5,), 3), ((2, 2, 2), 2), ((1,), 4)])
def test_routers_of_several_nodes(kind: str, dimensions: tuple[int, ...], each: int) -> None:
    """All halves of the nodes are tried, as on networks whose nodes hang on routers."""
    network = topology(kind, dimensions=dimensions, nodes_per_router=each)
    walked = graph_of(topology(kind, dimensions=dimensions))
    networkx.set_node_attributes(walked, each, "nodes")
    nodes = [router for router in walked for _ in range(each)]
    figures = network.figures()
    assert (figures["nodes"], figures["routers"], figures["links"]) == (len(nodes), len(walked), walked.size())
    assert figures["average_distance"] == mean(walked, nodes)
    assert (figures["terminal_links"], figures["terminal_hops"]) == (len(nodes), 0)
    if len(nodes) <= 12:
        least = bisection(walked, direct=False)
        assert least <= figures["bisection"]
        assert figures["bisection"] == least or len(walked) % 2
    assert network.bound("bisection") == "upper"


TWO = "property dimensions [lengths] property nodes_per_router [2]"


def test_nodes_on_a_router_are_no_hops_apart_and_share_its_links() -> None:
    on = machine(96, net=TWO)
    assert seconds("[0]", 4, on) == pytest.approx(2e-6, rel=1e-12)
    # two ranks share the port of a node, and two nodes the links of a router
    assert seconds("[1e6]", 4, on) == pytest.approx(2e-6 + 1e6 * 2 / 4e9, rel=1e-12)
    whole = float(topology("torus", dimensions=(3, 4, 4), nodes_per_router=2).figures()["average_distance"])
    assert seconds("[0]", 192, on) == pytest.approx(2e-6 + whole * 1e-6, rel=1e-12)


@pytest.mark.parametrize("nodes", [90, 96])
def test_places_on_routers_may_stay_free(nodes: int) -> None:
    assert seconds("[0]", 2 * nodes, machine(nodes, net=TWO)) > 0


def test_more_nodes_than_places_on_routers_are_refused() -> None:
    with pytest.raises(AspenError, match="not for so many nodes") as caught:
        seconds("[0] as barrier", 194, machine(97, net=TWO))
    assert caught.value.diagnostics[0].hint == (
        "its dimensions, times `nodes_per_router`, have to multiply to the nodes or more of the machine"
    )
