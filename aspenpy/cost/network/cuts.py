"""Cuts of a network that an exchange of all with all has to cross: uplinks of a leaf switch, links out of a group, and
the bisection. Each holds by itself: what crosses it takes at least the volume over its links (a cut bounds any flow:
Ford and Fulkerson 1956).

Nodes may have several ports. The switches of a fat tree or a star are as many times as there are ports, one tree for
each; in other topologies the links are those that the machine states, however many ports hang on a router.
"""

from __future__ import annotations

from typing import NamedTuple

from aspenpy.cost.network.low_diameter import bisection_of_nodes, links_between_groups
from aspenpy.cost.network.topology import Topology, floor
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

ONE_FOR_EACH_PORT = ("star", "fat_tree", "fully_connected")
"""Topologies with as many networks side by side as a node has ports; others have their links once."""

OF_GROUPS = ("dragonfly", "aries")


class Cut(NamedTuple):
    """Links in one direction between `inside` of the nodes and the others."""

    name: str
    inside: Expr
    links: Expr


def cuts(network: Topology, nodes: Expr, ports: Expr) -> list[Cut]:
    """The cuts of a network, or of the part that a run on so many nodes has, with so many ports on a node."""
    half, sizes = floor(nodes / 2), dict(network.parameters)
    if network.kind in OF_GROUPS:
        joining, size = links_between_groups(network)
        groups = graph.apply("ceil", nodes / size)
        whole = graph.apply("min", size, nodes)
        return [
            Cut("bisection", half, bisection_of_nodes(network, nodes, ports)),
            Cut("group", whole, joining * (groups - 1)),
        ]
    if network.kind == "fat_tree":
        leaf = graph.apply("min", sizes["taper"] * sizes["arity"], nodes)
        return [Cut("bisection", half, ports * network.bisection), Cut("leaf", leaf, ports * sizes["arity"])]
    return [Cut("bisection", half, (ports if network.kind in ONE_FOR_EACH_PORT else graph.ONE) * network.bisection)]


def crossing_time(network: Topology, nodes: Expr, ports: Expr, ranks: Expr, size: Expr, link: Expr) -> Expr:
    """Seconds in which `size` bytes of each of some ranks for each other one, spread over so many nodes, cross the
    slowest cut, over links of so many bytes a second."""
    times = []
    for cut in cuts(network, nodes, ports):
        if cut.links is graph.ZERO:
            continue
        here = floor(ranks / 2) if cut.name == "bisection" else graph.apply("ceil", ranks * cut.inside / nodes)
        outside = ranks - here
        crossed = graph.junction("and", graph.compare(">", cut.links, 0), graph.compare(">", outside, 0))
        times.append(graph.if_else(crossed, here * outside * size / (cut.links * link), 0))
    return graph.apply("max", *times) if len(times) > 1 else times[0] if times else graph.ZERO
