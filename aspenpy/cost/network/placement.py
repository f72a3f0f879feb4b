"""Placement: which rank stands on which node.

Ranks form a Cartesian grid, numbered like the nodes of a mesh or torus, the last coordinate fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import floordiv, mod, sub
from typing import Literal

from aspenpy.cost.network.topology import NetworkError, Topology, constants, describe_topology
from aspenpy.record import Record

Order = Literal["block", "cyclic", "random", "aligned"]
ORDERS: tuple[Order, ...] = ("block", "cyclic", "random", "aligned")

MOST_COUNTED = 200_000
"""Ranks whose neighbours are looked at one by one, in some three seconds."""

Coordinates = tuple[int, ...]


class Placement(Record):
    """A grid of ranks on a mesh or torus, so many on each node.

    `block` fills a node before the next, `cyclic` gives every node one rank before any gets a second, `random` deals
    the ranks out by `seed`, and `aligned` lays the dimensions of the grid along those of the network: each node has
    a small grid of neighbours.
    """

    grid: Coordinates
    nodes: Coordinates
    wrapped: bool
    order: Order
    seed: int = 0

    @property
    def ranks(self) -> int:
        return prod(self.grid)

    @property
    def ranks_per_node(self) -> int:
        return self.ranks // prod(self.nodes)

    def all_nodes(self) -> Callable[[int], Coordinates]:
        """The coordinates of any rank's node. Raises NetworkError where `random` would have to deal out too many."""
        each = self.ranks_per_node
        if self.order == "aligned":
            lengths = list(map(floordiv, self.grid, self.nodes))
            return lambda rank: tuple(map(floordiv, coordinates(rank, self.grid), lengths))
        if self.order == "cyclic":
            count = prod(self.nodes)
            return lambda rank: coordinates(rank % count, self.nodes)
        if self.order == "random":
            check_counted(self)
            from random import Random

            dealt = list(range(self.ranks))
            Random(self.seed).shuffle(dealt)
            return lambda rank: coordinates(dealt[rank] // each, self.nodes)
        return lambda rank: coordinates(rank // each, self.nodes)

    def distance(self, first: Coordinates, second: Coordinates) -> int:
        """Hops between two nodes."""
        apart = [abs(here - there) for here, there in zip(first, second, strict=True)]
        return sum(map(min, apart, map(sub, self.nodes, apart))) if self.wrapped else sum(apart)


def place(
    topology: Topology, grid: Sequence[int], order: Order = "block", *, ranks_per_node: int = 1, seed: int = 0
) -> Placement:
    """The ranks of a grid on a mesh or torus. Raises NetworkError where they are more or fewer than the nodes take,
    where the grid does not align, and for other topologies."""
    if topology.kind not in ("mesh", "torus"):
        raise NetworkError(
            f"ranks have coordinates on a mesh or a torus, not on {describe_topology(topology)}", "topology"
        )
    nodes = constants(topology.parameters[0][1])
    if nodes is None:
        raise NetworkError(f"{describe_topology(topology)} has symbols for parameters", "dimensions")
    if "nodes_per_router" in dict(topology.parameters):
        raise NetworkError("ranks have coordinates where each router has one node", "nodes_per_router")
    if order not in ORDERS:
        raise NetworkError(f"unknown placement `{order}`", "order", f"there are {', '.join(ORDERS)}")
    if not grid or min(grid) < 1 or ranks_per_node < 1:
        raise NetworkError("a grid of ranks, and the ranks on a node, are whole numbers from 1 on", "grid")
    ranks, room = prod(grid), prod(nodes) * ranks_per_node
    shown = " x ".join(map(str, grid))
    if ranks != room:
        message = f"{shown} are {ranks:,} ranks, and {prod(nodes):,} nodes take {room:,}, {ranks_per_node} each"
        raise NetworkError(message, "grid")
    if order == "aligned" and (len(grid) != len(nodes) or any(map(mod, grid, nodes))):
        message = f"ranks of {shown} do not align with nodes of {' x '.join(map(str, nodes))}"
        raise NetworkError(message, "grid", "each length of the grid has to be a multiple of the network's")
    return Placement(tuple(grid), tuple(nodes), topology.kind == "torus", order, seed)


def coordinates(number: int, lengths: Sequence[int]) -> Coordinates:
    """The place of a number in a grid, the last coordinate fastest."""
    places = []
    for length in reversed(lengths):
        number, place = divmod(number, length)
        places.append(place)
    return tuple(reversed(places))


def check_counted(placement: Placement) -> None:
    """Raises NetworkError for a placement of more ranks than are looked at one by one."""
    if placement.ranks > MOST_COUNTED:
        raise NetworkError(
            f"{placement.ranks:,} ranks of a {placement.order} placement are more than the {MOST_COUNTED:,} that are "
            "looked at one by one",
            "grid",
            "`block`, `cyclic` and `aligned` have a closed form where the lengths of the grid and the network divide "
            "each other",
        )
