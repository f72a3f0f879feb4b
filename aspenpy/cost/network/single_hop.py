"""Networks in which every node is next to every other: by links of their own, or by one switch."""

from __future__ import annotations

from aspenpy.cost.network.topology import Size, Topology, average, floor, on_routers, whole
from aspenpy.expr import graph


def fully_connected(nodes: Size) -> Topology:
    """Every node linked with every other."""
    n = whole(nodes, "nodes", "the number of nodes")
    return Topology(
        kind="fully_connected",
        parameters=(("nodes", n),),
        nodes=n,
        routers=n,
        links=n * (n - 1) / 2,
        radix=n - 1,
        diameter=graph.apply("min", n - 1, 1),
        average_distance=average(n * (n - 1), n),
        bisection=floor(n**2 / 4),
    )


def star(nodes: Size) -> Topology:
    """Every node on one switch, which is where its distances of no hop are from."""
    n = whole(nodes, "nodes", "the number of nodes")
    return Topology(
        kind="star",
        parameters=(("nodes", n),),
        nodes=n,
        routers=graph.ONE,
        links=graph.ZERO,
        **on_routers(n),
        radix=n,
        diameter=graph.ZERO,
        average_distance=graph.ZERO,
        bisection=floor(n / 2),
    )
