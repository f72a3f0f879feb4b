"""Placement: which rank stands on which node, and how far apart neighbouring ranks are.

Ranks form a Cartesian grid, numbered like the nodes of a mesh or torus, the last coordinate fastest. Where the lengths
of the grid of ranks and of the network divide each other, a rank's number has digits of which each belongs to one
dimension of the ranks and to one of the nodes (or to the place on a node). One rank further along a dimension changes
the same digits by the same amounts for all ranks whose digits carry alike, so that the average distance is a sum over a
few carries, whatever the number of ranks. Other placements are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from operator import floordiv, mod, sub
from typing import Literal

from aspenpy.cost.network.topology import NetworkError, Topology, describe_topology, known_sizes
from aspenpy.record import Record

Order = Literal["block", "cyclic", "random", "aligned"]
ORDERS: tuple[Order, ...] = ("block", "cyclic", "random", "aligned")

MOST_COUNTED = 200_000
"""Ranks whose neighbours are looked at one by one, in some three seconds."""

Coordinates = tuple[int, ...]


class GridPlacement(Record):
    """A grid of ranks on a mesh or torus, the same number on each node.

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
) -> GridPlacement:
    """The ranks of a grid on a mesh or torus. Raises NetworkError where they are more or fewer than the nodes take,
    where the grid does not align, and for other topologies."""
    if topology.kind not in ("mesh", "torus"):
        raise NetworkError(
            f"ranks have coordinates on a mesh or a torus, not on {describe_topology(topology)}", "topology"
        )
    nodes = known_sizes(topology.parameters[0][1])
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
    return GridPlacement(tuple(grid), tuple(nodes), topology.kind == "torus", order, seed)


def coordinates(number: int, lengths: Sequence[int]) -> Coordinates:
    """The place of a number in a grid, the last coordinate fastest."""
    places = []
    for length in reversed(lengths):
        number, place = divmod(number, length)
        places.append(place)
    return tuple(reversed(places))


def check_counted(placement: GridPlacement) -> None:
    """Raises NetworkError for a placement of more ranks than are looked at one by one."""
    if placement.ranks > MOST_COUNTED:
        raise NetworkError(
            f"{placement.ranks:,} ranks of a {placement.order} placement are more than the {MOST_COUNTED:,} that are "
            "looked at one by one",
            "grid",
            "`block`, `cyclic` and `aligned` have a closed form where the lengths of the grid and the network divide "
            "each other",
        )


Lengths = tuple[int | None, int]
"""An axis of the network, or None for the place on a node, and how long it is."""


def neighbour_distance(placement: GridPlacement, *, periodic: bool = True) -> Fraction:
    """The average hops between a rank and the next along each dimension that has a next, the last one's next being the
    first where the grid is `periodic`; 0 where there is one rank.

    Raises NetworkError for more than `MOST_COUNTED` ranks whose placement has no closed form.
    """
    if placement.order != "random" and (digits := _digits(placement)) is not None:
        each = ([digit for digit in digits if digit.dimension == number] for number in range(len(placement.grid)))
        sums = [_count_neighbour_hops(placement, mine, periodic) for mine in each]
        pairs, hops = (sum(column) for column in zip(*sums, strict=True))
        return Fraction(hops, pairs) if pairs else Fraction(0)
    return _count_by_rank(placement, periodic)


def mean_random_distance(topology: Topology, ranks_per_node: int = 1) -> Fraction:
    """The mean distance of `random` placements over all seeds, on any topology of known size: that of two nodes, but
    for the chance of (r-1)/(rN-1) to be on one."""
    figures = topology.figures()
    slots = figures["nodes"] * ranks_per_node
    if slots < 2:
        return Fraction(0)
    return Fraction(figures["average_distance"]) * Fraction(int(slots - ranks_per_node), int(slots - 1))


def _count_by_rank(placement: GridPlacement, periodic: bool) -> Fraction:
    """Rank by rank."""
    check_counted(placement)
    node_of = placement.all_nodes()
    nodes = [node_of(rank) for rank in range(placement.ranks)]
    strides = [prod(placement.grid[axis + 1 :]) for axis in range(len(placement.grid))]
    pairs = hops = 0
    for rank, where in enumerate(product(*map(range, placement.grid))):
        for length, stride, here in zip(placement.grid, strides, where, strict=True):
            last = here == length - 1
            if length > 1 and (periodic or not last):
                pairs += 1
                hops += placement.distance(nodes[rank], nodes[rank + stride - (length * stride if last else 0)])
    return Fraction(hops, pairs) if pairs else Fraction(0)


class _Digit(Record):
    """A digit of a rank's coordinate along `dimension`: its base, and by how much it moves the node along `axis`; no
    axis for the place on a node."""

    dimension: int
    base: int
    axis: int | None
    weight: int


def _digits(placement: GridPlacement) -> list[_Digit] | None:
    """Digits of a rank's number, lowest first; None where the lengths do not divide each other."""
    each = placement.ranks_per_node
    if placement.order == "aligned":
        lengths = enumerate(zip(placement.grid, placement.nodes, strict=True))
        pairs = (
            (_Digit(d, ranks // nodes, None, weight=0), _Digit(d, nodes, d, weight=1)) for d, (ranks, nodes) in lengths
        )
        return [digit for pair in pairs for digit in pair]
    axes: list[Lengths] = list(enumerate(placement.nodes))
    common = _common(
        list(enumerate(placement.grid)), [*axes, (None, each)] if placement.order == "block" else [(None, each), *axes]
    )
    if common is None:
        return None
    digits = []
    weights = dict.fromkeys([None, *range(len(placement.nodes))], 1)
    for dimension, axis, base in common:
        digits.append(_Digit(dimension, base, axis, weights[axis]))
        weights[axis] *= base
    return digits


def _common(left: list[tuple[int, int]], right: list[Lengths]) -> list[tuple[int, int | None, int]] | None:
    """The digits of two ways to count the same numbers, as (dimension, axis, base), from two lists whose last length is
    the lowest; None where the lengths do not divide each other."""
    digits: list[tuple[int, int | None, int]] = []
    while left and right:
        (dimension, ranks), (axis, nodes) = left.pop(), right.pop()
        base = min(ranks, nodes)
        if max(ranks, nodes) % base:
            return None
        if base > 1:
            digits.append((dimension, axis, base))
        if ranks > base:
            left.append((dimension, ranks // base))
        if nodes > base:
            right.append((axis, nodes // base))
    return digits


def _count_neighbour_hops(placement: GridPlacement, mine: Sequence[_Digit], periodic: bool) -> tuple[int, int]:
    """Pairs of neighbours along one dimension, and the hops between them: those at which `carry` digits fall from
    their last value to 0, and the next grows by 1."""
    length = prod(digit.base for digit in mine)
    others = placement.ranks // length
    pairs = hops = 0
    below = 1
    for carry in range(len(mine) + 1):
        wraps = carry == len(mine)
        if wraps and (not periodic or length == 1):
            break
        count = 1 if wraps else length // below - length // (below * mine[carry].base)
        moved = [0] * len(placement.nodes)
        for digit in mine[:carry]:
            if digit.axis is not None:
                moved[digit.axis] -= (digit.base - 1) * digit.weight
        if not wraps:
            axis = mine[carry].axis
            if axis is not None:
                moved[axis] += mine[carry].weight
            below *= mine[carry].base
        pairs += count * others
        hops += count * others * placement.distance(tuple(moved), (0,) * len(moved))
    return pairs, hops
