"""The figures of a network counted on its graph: searches from every router, and all halves tried."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx

from aspenpy.expr.arithmetic import Number


def distances(network: Any, start: Any) -> dict[Any, int]:
    """Hops to every router along routes with at most one link between groups."""
    best: dict[Any, int] = {}
    waiting = deque([(start, False, 0)])
    seen = {(start, False)}
    while waiting:
        router, used, hops = waiting.popleft()
        best.setdefault(router, hops)
        for following, link in network.adj[router].items():
            apart = link["between_groups"]
            state = (following, used or apart)
            if not (apart and used) and state not in seen:
                seen.add(state)
                waiting.append((*state, hops + 1))
    return best


def counted(network: Any, *, direct: bool) -> dict[str, Number]:
    """All figures but the bisection; `direct` says that each node is its own router."""
    nodes_on = dict(network.nodes(data="nodes"))
    nodes = sum(nodes_on.values())
    farthest = total = 0
    for start, here in nodes_on.items():
        if here:
            for router, hops in distances(network, start).items():
                total += hops * here * nodes_on[router]
                farthest = max(farthest, hops if nodes_on[router] else 0)
    ports = dict(network.degree(weight="links"))
    return {
        "nodes": nodes,
        "routers": len(network),
        "links": network.size(weight="links"),
        "terminal_links": 0 if direct else nodes,
        "terminal_hops": 0 if direct else 2,
        "radix": max(ports[router] + (0 if direct else nodes_on[router]) for router in network),
        "diameter": farthest,
        "average_distance": Fraction(total, nodes * (nodes - 1)) if nodes > 1 else 0,
    }


def bisection(network: Any, *, direct: bool) -> int:
    """The smallest cut over all halves of the nodes, each with its routers placed by a maximum flow."""
    if direct:
        links = [(first, second, link["links"]) for first, second, link in network.edges(data=True)]
        return min(
            sum(count for first, second, count in links if (first in half) != (second in half))
            for half in map(set, combinations(network, len(network) // 2))
        )
    nodes = [(router, number) for router, count in network.nodes(data="nodes") for number in range(count)]
    flows = networkx.DiGraph()
    for first, second, count in network.edges(data="links"):
        flows.add_edge(first, second, capacity=count)
        flows.add_edge(second, first, capacity=count)
    return min(_cut(flows, nodes, set(half)) for half in combinations(nodes, len(nodes) // 2))


def _cut(flows: Any, nodes: list[Any], half: set[Any]) -> int:
    """Nodes of the half feed their routers, the others drain theirs, one link each."""
    divided = flows.copy()
    for router in {router for router, _ in nodes}:
        sides = [(node in half) for node in nodes if node[0] == router]
        divided.add_edge("source", router, capacity=sum(sides))
        divided.add_edge(router, "sink", capacity=len(sides) - sum(sides))
    return int(networkx.maximum_flow_value(divided, "source", "sink"))
