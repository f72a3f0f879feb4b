"""All-to-all over networks that are drawn, played through as flows that share links, max-min fair: never faster than
the cuts that a model counts."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import aspenpy
from aspenpy.cost.network.cuts import crossing_times
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
    times = crossing_times(network, network.nodes, one, network.nodes, one, one)
    return max(float(evaluate(time)) for time in times.values())


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


TREE = """
machine m { node [16] n  interconnect [16] w } node n { property rank  socket s } socket s { core c  memory d }
core c { resource flops(n) [n/(1e9)] } memory d { resource loads(v) [v/(1e9)] }
interconnect w {
  property topology [fat_tree]  property arity [2]  property levels [3]  property taper [2]
  property latency [0]  property bandwidth [1e9]  MORE
  resource messages(v) [v/bandwidth]
}
"""
"""Sixteen nodes, four a leaf switch with two uplinks."""


def seconds_on_tree(body: str, more: str = "") -> float:
    return aspenpy.predict(application(body), read_machine(TREE.replace("MORE", more))).runtime


def test_other_jobs_leave_what_flows_share() -> None:
    """Three flows of a run and one of another job, of the same weight, share an uplink: the run has three quarters."""
    ours = rates_of_flows(np.ones((1, 4), bool), np.ones(4), np.array([1.0]))[:3].sum()
    body = "execute [16] { messages [1e6] as alltoall }"
    across = 4 * 12 * 1e6 / (2 * 1e9)  # bytes out of a leaf switch, over its uplinks
    assert seconds_on_tree(body) == pytest.approx(across)
    assert seconds_on_tree(body, "property other_traffic [0.25]") == pytest.approx(across / ours)


def test_ports_of_a_run_are_its_own() -> None:
    """Links of 4 GB/s of which other jobs take half are still faster than ports of 1."""
    body = 'execute [16] { messages [1e6] as broadcast(16, "binomial") }'  # four rounds
    assert seconds_on_tree(body, "property link_bandwidth [4e9] property other_traffic [0.5]") == pytest.approx(4e-3)
    assert seconds_on_tree(body, "property link_bandwidth [4e9] property other_traffic [0.9]") == pytest.approx(10e-3)


@pytest.mark.parametrize("part", ["1", "-0.1", "30"])
def test_other_jobs_cannot_take_all(part: str) -> None:
    with pytest.raises(aspenpy.AspenError, match="other jobs take no such part of the links"):
        seconds_on_tree("execute [16] { messages [1e6] as alltoall }", f"property other_traffic [{part}]")


IN_CALLS = "property progress [in_calls]"


def test_messages_that_go_on_in_calls_add_to_what_else_a_block_does() -> None:
    """2 ms of messages beside 5 ms of flops and 3 of loads: these overlap with each other all the same."""
    body = "execute [16] { messages [2e6]  flops [5e6]  loads [3e6] }"
    assert seconds_on_tree(body) == pytest.approx(5e-3)
    assert seconds_on_tree(body, "property progress [asynchronous]") == pytest.approx(5e-3)
    assert seconds_on_tree(body, IN_CALLS) == pytest.approx(7e-3)


@pytest.mark.parametrize("label", ["overlap", "concurrent"])
def test_messages_that_go_on_in_calls_hide_behind_no_branch(label: str) -> None:
    both = "execute [16] { messages [2e6] } execute [16] { flops [5e6] }"
    assert seconds_on_tree(f'par "{label}" {{ {both} }}') == pytest.approx(5e-3)
    assert seconds_on_tree(f'par "{label}" {{ {both} }}', IN_CALLS) == pytest.approx(7e-3)
    assert seconds_on_tree("execute [16] { messages [2e6] }", IN_CALLS) == pytest.approx(2e-3)
    with pytest.raises(aspenpy.AspenError, match="progress"):
        seconds_on_tree(both, "property progress [sometimes]")


def test_where_messages_go_on_in_calls_tables_add_up() -> None:
    """What bounds a block is one of the resources of its longest group, for all of its time."""
    machine = read_machine(TREE.replace("MORE", IN_CALLS))
    found = aspenpy.predict(application("execute [16] { messages [2e6]  flops [5e6]  loads [3e6] }"), machine)
    assert sum(use.exclusive for use in found.kernels) == pytest.approx(found.runtime) == pytest.approx(7e-3)
    assert {use.bound_by for use in found.kernels} == {"flops"}


Pairs = dict[tuple[Any, Any], float]


def flows_of_shift(network: Any, stride: int, length: int) -> Pairs:
    """A byte from each node to the one `stride` further in its ring of `length`, by routers, as they are numbered."""
    order = [router for router, nodes in sorted(network.nodes(data="nodes")) for _ in range(nodes)]
    ring = stride * length
    flows: Pairs = {}
    for place, router in enumerate(order):
        pair = router, order[place // ring * ring + (place % ring + stride) % ring]
        if pair[0] != pair[1]:
            flows[pair] = flows.get(pair, 0) + 1
    return flows


def shifts_of_grid(network: Any, lengths: tuple[int, ...]) -> list[Pairs]:
    """The shifts of a halo, one way along each dimension; the other way has the same flows turned round."""
    strides = [int(np.prod(lengths[axis + 1 :])) for axis in range(len(lengths))]
    return [flows_of_shift(network, *each) for each in zip(strides, lengths, strict=True)]


def seconds_of_halo(network: Topology, lengths: tuple[int, ...], words: str = "") -> float:
    """Of a byte across each face, over ports and links of a byte a second."""
    stated = " ".join(f"property {name} [{value}]" for name, value in network.parameters)
    nodes = int(network.figures()["nodes"])
    text = TREE.replace("[16]", f"[{nodes}]").replace("[1e9]  MORE", "[1]").replace("fat_tree", network.kind)
    text = text.replace("property arity [2]  property levels [3]  property taper [2]", stated)
    grid = "1" if len(lengths) == 1 else ", ".join(map(str, lengths))
    body = f"execute [{nodes}] {{ messages [{2 * len(lengths)}] as halo({words}{grid}) }}"
    return aspenpy.predict(application(body), read_machine(text)).runtime


@pytest.mark.parametrize("lengths", [(16,), (4, 4), (8, 2), (2, 8), (2, 2, 4), (4, 2, 2)])
@pytest.mark.parametrize(("arity", "levels", "taper"), [(4, 2, 1), (2, 3, 2), (2, 2, 4)])
def test_halos_share_the_uplinks_of_a_leaf(lengths: tuple[int, ...], arity: int, levels: int, taper: int) -> None:
    """On trees with all nodes in use, ranks in their order: one way after the other, and all faces at once."""
    network = topology("fat_tree", arity=arity, levels=levels, taper=taper)
    found: Any = graph_of(network)
    shifts = shifts_of_grid(found, lengths)
    in_turn = sum(2 * max(1.0, seconds_of_exchanges(found, [flows]) if flows else 0) for flows in shifts)
    assert seconds_of_halo(network, lengths) == pytest.approx(in_turn)
    both_ways = [flows for one in shifts if one for flows in (one, {pair[::-1]: size for pair, size in one.items()})]
    at_once = max(1.0, seconds_of_exchanges(found, both_ways))  # a port for each face
    assert seconds_of_halo(network, lengths, '"all_ports", ') == pytest.approx(at_once)


@pytest.mark.parametrize("words", ["", '"all_ports", '])
@pytest.mark.parametrize(("sizes", "lengths"), [
    ((2, 4, 1, 4), (8, 4)), ((2, 4, 2, 8), (16, 4)), ((4, 4, 1, 4), (8, 8)), ((4, 2, 1, 2), (4, 4)),
    ((4, 4, 2, 4), (4, 4, 4)), ((1, 4, 2, 4), (2, 8)), ((4, 4, 1, 4), (64,)),
])  # fmt: skip
def test_halos_on_dragonflies_take_no_longer_than_flows(
    sizes: tuple[int, ...], lengths: tuple[int, ...], words: str
) -> None:
    """Flows take shortest routes, the model all links of a group; where a group is narrow, it is slower than ports."""
    names = ("nodes_per_router", "routers", "global_links", "groups")
    network = topology("dragonfly", **dict(zip(names, sizes, strict=True)))
    found: Any = graph_of(network)
    shifts = shifts_of_grid(found, lengths)
    ways = [[one, {pair[::-1]: size for pair, size in one.items()}] for one in shifts]
    if words:
        simulated = max(1.0, seconds_of_exchanges(found, [each for way in ways for each in way if each]))
    else:
        simulated = sum(max(1.0, seconds_of_exchanges(found, [each]) if each else 0) for way in ways for each in way)
    assert seconds_of_halo(network, lengths, words) <= simulated * (1 + 1e-9)
    if sizes == (4, 4, 1, 4) and len(lengths) == 2:  # 16 nodes on 3 links, of which the rank of each row sends on
        assert seconds_of_halo(network, lengths) > 2 * len(lengths) * 1.5


def seconds_on_grid(kind: str, dimensions: tuple[int, ...], lengths: tuple[int, ...]) -> float:
    """Like `seconds_of_halo`, on a mesh or torus, one dimension after the other."""
    nodes = int(np.prod(dimensions))
    text = TREE.replace("[16]", f"[{nodes}]").replace("[1e9]  MORE", "[1]").replace("fat_tree", kind)
    text = text.replace("property arity [2]  property levels [3]  property taper [2]", "property dimensions [sides]")
    sides = ", ".join(map(str, dimensions))
    body = f"execute [{nodes}] {{ messages [{2 * len(lengths)}] as halo({', '.join(map(str, lengths))}) }}"
    return aspenpy.predict(application(body), read_machine(f"param sides[] = {{{sides}}}\n{text}")).runtime


@pytest.mark.parametrize("kind", ["torus", "mesh"])
@pytest.mark.parametrize("dimensions", [(8, 8), (16, 4), (2, 8, 4), (6, 4), (5, 6), (3, 4, 4), (10, 3)])
def test_halos_on_grids_share_links_along_their_routes(kind: str, dimensions: tuple[int, ...]) -> None:
    """Never longer than flows on shortest routes; on a torus of powers of two at least 0.9 of it, where ports alone
    take 0.3 of it, 0.44 at worst on others."""
    network = topology(kind, dimensions=dimensions)
    found: Any = graph_of(network)
    nodes = int(np.prod(dimensions))
    grids: list[tuple[int, ...]] = [(a, nodes // a) for a in range(2, nodes) if nodes % a == 0]
    grids += [
        (a, b, nodes // a // b) for a in (2, 3, 4) for b in (2, 4, 5) if nodes % (a * b) == 0 < nodes // a // b - 1
    ]
    for lengths in random.Random(f"{kind} {dimensions}").sample(grids, min(len(grids), 6)):
        shifts = shifts_of_grid(found, lengths)
        both_ways = [flows for one in shifts for flows in (one, {pair[::-1]: size for pair, size in one.items()})]
        simulated = sum(max(1.0, seconds_of_exchanges(found, [flows]) if flows else 0) for flows in both_ways)
        part = seconds_on_grid(kind, dimensions, lengths) / simulated
        least = 0.9 if kind == "torus" and all(side & (side - 1) == 0 for side in dimensions) else 0.35
        assert least < part <= 1 + 1e-9


INNER = """
machine m { node [16] n  interconnect [16] w } node n { socket [2] s  interconnect [2] fast }
socket s { property rank  core c } core c { resource flops(n) [n/(1e9)] }
interconnect fast { property latency [0]  property bandwidth [1e9]  resource messages(v) [v/bandwidth] }
interconnect w {
  property topology [fat_tree]  property arity [2]  property levels [3]  property taper [2]
  property latency [0]  property bandwidth [1]  resource messages(v) [v/bandwidth]
}
"""


@pytest.mark.parametrize(("words", "seconds"), [("", 2 * 4 + 2 * 1), ('"all_ports", ', 2 * 4 + 2 * 0.5)])
def test_ranks_of_a_leaf_share_its_uplinks(words: str, seconds: float) -> None:
    """Rows of 16 ranks, two a node: all eight ranks of a leaf send over its two uplinks to the other row, one along its
    own, whose byte goes through its port of a byte a second."""
    body = f"execute [32] {{ messages [4] as halo({words}2, 16) }}"
    assert aspenpy.predict(application(body), read_machine(INNER)).runtime == pytest.approx(seconds, rel=1e-6)
