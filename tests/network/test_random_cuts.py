"""All-to-all on machines that are drawn, against every cut that a search finds in the graph of their network, and
against flows that share its links, max-min fair: never faster than a cut allows, and no slower than the flows."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy.cost.network.topologies import topology
from aspenpy.cost.network.topology import NetworkError, Topology
from tests.network.flows import alltoall, seconds_of_exchanges
from tests.network.graphs import graph_of
from tests.tiny import application
from tests.tiny import machine as read_machine

pytest.importorskip("networkx")

TREES = st.fixed_dictionaries(
    {"arity": st.integers(2, 4), "levels": st.integers(2, 3), "taper": st.sampled_from([1, 2, 3, 4])}
)
DRAGONFLIES = st.fixed_dictionaries(
    {
        "nodes_per_router": st.integers(1, 4),
        "routers": st.integers(1, 4),
        "global_links": st.integers(1, 4),
        "groups": st.integers(2, 5),
    }
)
GRIDS = st.fixed_dictionaries(
    {
        "dimensions": st.lists(st.integers(2, 7), min_size=1, max_size=3).map(tuple),
        "nodes_per_router": st.sampled_from([1, 1, 2, 4]),
    }
)
SIZES: dict[str, Any] = {"fat_tree": TREES, "dragonfly": DRAGONFLIES, "torus": GRIDS, "mesh": GRIDS}

GRIDS_OF_NODES = ("mesh", "torus")

MOST = 36  # nodes, so that all shortest routes are listed within a moment


def make(kind: str, sizes: dict[str, Any]) -> Topology:
    try:
        made = topology(kind, **sizes)
        assume(2 <= made.figures()["nodes"] <= MOST)
    except NetworkError:
        assume(False)
        raise
    return made


def machine_of(kind: str, sizes: dict[str, Any], nodes: int, link: float) -> Any:
    lengths = sizes.get("dimensions", ())
    stated = " ".join(f"property {name} [{value}]" for name, value in sizes.items() if name != "dimensions")
    stated += " property dimensions [lengths]" if lengths else ""
    return read_machine(
        (f"param lengths[] = {{{', '.join(map(str, lengths))}}} " if lengths else "")
        + f"machine m {{ node [{nodes}] n  interconnect [{nodes}] w }} node n {{ property rank  socket s }}"
        "socket s { core c } core c { resource flops(n) [n/(1e9)] }"
        f"interconnect w {{ property topology [{kind}] {stated} property latency [0] property bandwidth [1]"
        f" property link_bandwidth [{link}] resource messages(v) [v/bandwidth] }}"
    )


def crossing(found: Any, side: frozenset[Any]) -> float:
    """Bytes from a set of routers to all others, over the links between them."""
    counts = dict(found.nodes(data="nodes"))
    inside = sum(counts[router] for router in side)
    links = sum(data["links"] for one, other, data in found.edges(data=True) if (one in side) != (other in side))
    return inside * (sum(counts.values()) - inside) / links if links else 0.0


def slowest_cut(found: Any, seed: int, grouped: bool) -> float:
    """The slowest cut that a search finds: from each router alone, and from halves that are drawn, moves of one router
    to the other side as long as one makes the cut slower. Groups of a dragonfly move as a whole, or a single router: on
    which routers their links are differs from system to system, and no model states it."""
    drawn, routers = random.Random(seed), sorted(found.nodes, key=str)
    parts = [frozenset({router}) for router in routers]
    moved = [frozenset(each for each in routers if each[0] == group) for group in {r[0] for r in routers}]
    moved = moved if grouped else parts
    halves = [frozenset[Any]().union(*drawn.sample(moved, len(moved) // 2)) for _ in range(4)]
    slowest = max(crossing(found, part) for part in parts)
    for side in [*moved, *halves]:
        value = crossing(found, side)
        while (best := max((side ^ part for part in moved), key=lambda other: crossing(found, other))) != side:
            if crossing(found, best) <= value * (1 + 1e-12):
                break
            side, value = best, crossing(found, best)
        slowest = max(slowest, value)
    return slowest


@settings(
    max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), phases=(Phase.explicit, Phase.generate)
)
@given(data=st.data(), kind=st.sampled_from(sorted(SIZES)), link=st.sampled_from([0.25, 1, 3]), seed=st.integers(0, 99))
def test_an_alltoall_is_no_faster_than_any_cut_and_no_slower_than_flows(
    data: st.DataObject, kind: str, link: float, seed: int
) -> None:
    sizes = data.draw(SIZES[kind])
    network = make(kind, sizes)
    nodes = int(network.figures()["nodes"])
    found: Any = graph_of(network)
    predicted = aspenpy.predict(
        application(f"execute [{nodes}] {{ messages [1] as alltoall }}"), machine_of(kind, sizes, nodes, link)
    ).runtime
    assert predicted >= slowest_cut(found, seed, kind == "dragonfly") / link * (1 - 1e-9)
    through_port = (nodes - 1) / min(1, link)
    assert predicted >= through_port * (1 - 1e-9)
    if kind not in GRIDS_OF_NODES or sizes["nodes_per_router"] == 1:  # others share the links of a router in each round
        taken = max(through_port, seconds_of_exchanges(found, [alltoall(found)]) / link)
        assert predicted <= taken * (1 + 1e-9)
