"""Flows that share links, max-min fair: a fluid simulation of what crosses a network at the same time.

A flow has a volume and a route; each link divides its capacity so that no flow can have more without another, that has
no more, having less (Bertsekas and Gallager, Data Networks, section 6.5.2). Flows of one router's nodes are one flow of
a weight. When some are done, the rest share anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise, permutations
from typing import Any

import numpy as np

CLOSE = 1e-9


def rates_of_flows(crossed: Any, weights: Any, capacities: Any) -> Any:
    """The rate of each flow: all rise alike, in proportion to their weights, until a link of theirs is full. `crossed`
    has a row for each link and a column for each flow."""
    rates, left = np.zeros(len(weights)), capacities.astype(float)
    rising = np.ones(len(weights), bool)
    while rising.any():
        wanted = crossed @ (weights * rising)
        used = wanted > CLOSE
        rise = (left[used] / wanted[used]).min()
        rates[rising] += rise * weights[rising]
        left = left - rise * wanted
        full = used & (left <= CLOSE * capacities)
        rising &= ~(crossed[full].any(axis=0))
    return rates


def seconds_of_flows(crossed: Any, volumes: Any, weights: Any, capacities: Any) -> float:
    """Seconds until the last flow is done."""
    left, clock = volumes.astype(float), 0.0
    going = left > 0
    while going.any():
        rates = rates_of_flows(crossed[:, going], weights[going], capacities)
        step = (left[going] / rates).min()
        left[going] -= step * rates
        clock += step
        going &= left > CLOSE * volumes
    return clock


def seconds_of_exchanges(network: Any, exchanges: Iterable[dict[tuple[Any, Any], float]]) -> float:
    """Seconds of exchanges that begin together, each of them bytes by pairs of routers of a graph, over links of one
    byte a second in each direction. A pair uses all of its shortest routes alike."""
    import networkx

    directed = [link for pair in network.edges for link in (pair, pair[::-1])]
    places = {link: place for place, link in enumerate(directed)}
    columns, volumes = [], []
    for exchange in exchanges:
        for (source, target), volume in exchange.items():
            routes = list(networkx.all_shortest_paths(network, source, target))
            for route in routes:
                column = np.zeros(len(directed), bool)
                column[[places[link] for link in pairwise(route)]] = True
                columns.append(column)
                volumes.append(volume / len(routes))
    sizes = np.array(volumes)
    capacities = np.array([network.edges[link]["links"] for link in directed], float)
    return seconds_of_flows(np.array(columns).T, sizes, sizes, capacities)


def alltoall(network: Any) -> dict[tuple[Any, Any], float]:
    """One byte from each node to each other one, by routers."""
    counts = {router: nodes for router, nodes in network.nodes(data="nodes") if nodes}
    return {pair: float(counts[pair[0]] * counts[pair[1]]) for pair in permutations(counts, 2)}
