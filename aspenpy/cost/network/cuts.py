"""Cuts of a network that an exchange of all with all has to cross: uplinks of a leaf switch, links out of a group or a
router, between planes of a grid, and the bisection. Each holds by itself: what crosses it takes at least the volume
over its links (a cut bounds any flow: Ford and Fulkerson 1956).

Nodes may have several ports. The switches of a fat tree or a star are as many times as there are ports, one tree for
each; in other topologies the links are those that the machine states, however many ports hang on a router.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from aspenpy.cost.network.low_diameter import bisection_of_nodes, links_between_groups, links_of_router
from aspenpy.cost.network.topologies import TOPOLOGIES
from aspenpy.cost.network.topology import Topology, floor
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


class Cut(NamedTuple):
    """Links in one direction between `inside` of the nodes and the others."""

    name: str
    inside: Expr
    links: Expr


def cuts(network: Topology, nodes: Expr, ports: Expr) -> list[Cut]:
    """The cuts of a network, or of its part with the nodes of a run. A node has `ports` ports."""
    half, sizes, family = floor(nodes / 2), dict(network.parameters), TOPOLOGIES[network.kind]
    if family.cuts == "groups":
        joining, size = links_between_groups(network)
        groups = graph.apply("ceil", nodes / size)
        whole = graph.apply("min", size, nodes)
        router, leaving = graph.apply("min", sizes["nodes_per_router"], nodes), links_of_router(network)
        return [
            Cut("bisection", half, bisection_of_nodes(network, nodes, ports)),
            Cut("group", whole, joining * (groups - 1)),
            Cut("router", router, graph.if_else(graph.compare("<=", ports, 1), leaving, 0)),  # ports may be on several
        ]
    if family.cuts == "leaves":
        leaf = graph.apply("min", sizes["taper"] * sizes["arity"], nodes)
        return [Cut("bisection", half, ports * network.bisection), Cut("leaf", leaf, ports * sizes["arity"])]
    if family.cuts == "planes":
        return [Cut("bisection", half, network.bisection), *_planes(network, nodes)]
    return [Cut("bisection", half, (ports if family.ports_multiply_links else graph.ONE) * network.bisection)]


def container_of(network: Topology, ports: Expr) -> Cut | None:
    """The nodes that a run fills first and in their order, a leaf switch of a tapered tree or a group, and their links
    to all others: adaptive routes take those to any group. None where nodes cannot send more than the links take."""
    sizes, family = dict(network.parameters), TOPOLOGIES[network.kind]
    if family.cuts == "groups":
        joining, inside = links_between_groups(network)
        return Cut("group", inside, joining * (sizes["groups"] - 1))
    if family.cuts == "leaves" and sizes["taper"] is not graph.ONE:
        return Cut("leaf", sizes["taper"] * sizes["arity"], ports * sizes["arity"])
    return None


def _planes(network: Topology, nodes: Expr) -> Iterator[Cut]:
    """Cuts of a whole grid between its planes across each dimension, of an odd length not in halves."""
    sizes = dict(network.parameters)
    filled = graph.compare(">=", nodes, network.nodes)
    for length in sizes["dimensions"]:
        lines = network.routers / length
        crossed = graph.apply("min", length - 1, 1)
        if network.kind == "torus":
            crossed = graph.if_else(graph.compare(">", length, 2), 2, crossed)
        inside = network.nodes / length * floor(length / 2)
        yield Cut("plane", inside, graph.if_else(filled, crossed * lines, 0))


def crossing_times(network: Topology, nodes: Expr, ports: Expr, ranks: Expr, size: Expr, link: Expr) -> dict[str, Expr]:
    """Seconds in which an all-to-all of `size` bytes per pair of ranks, spread over `nodes` nodes, crosses each cut,
    over links of `link` bytes per second."""
    times: dict[str, Expr] = {}
    for cut in cuts(network, nodes, ports):
        if cut.links is graph.ZERO:
            continue
        here = floor(ranks / 2) if cut.name == "bisection" else graph.apply("ceil", ranks * cut.inside / nodes)
        outside = ranks - here
        crossed = graph.junction("and", graph.compare(">", cut.links, 0), graph.compare(">", outside, 0))
        seconds = graph.if_else(crossed, here * outside * size / (cut.links * link), 0)
        times[cut.name] = graph.apply("max", times[cut.name], seconds) if cut.name in times else seconds
    return times
