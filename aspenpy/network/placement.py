"""Placement: which rank stands on which node, and how far its neighbours are from it.

Ranks form a Cartesian grid, numbered like the nodes of a mesh or torus with the last coordinate fastest. Where the
lengths of both divide each other, a rank's number has digits of which each belongs to one dimension of the ranks and to
one of the nodes (or to the place on a node). One rank further along a dimension changes the same digits by the same
amounts for all ranks whose digits carry alike, so that the average distance is a sum over a few carries, whatever the
number of ranks. Other placements are counted, up to `MOST_COUNTED` ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Literal

from aspenpy.network.topology import NetworkError, Topology, constants, described
from aspenpy.record import Record

Order = Literal["block", "cyclic", "random", "aligned"]
ORDERS: tuple[Order, ...] = ("block", "cyclic", "random", "aligned")

MOST_COUNTED = 200_000
"""Ranks whose neighbours are looked at one by one, in about a second."""

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

    def node_of(self, rank: int) -> Coordinates:
        """The coordinates of a rank's node."""
        return self._node_of()(rank)

    def _node_of(self) -> Callable[[int], Coordinates]:
        each = self.ranks_per_node
        if self.order == "aligned":
            lengths = [ranks // nodes for ranks, nodes in zip(self.grid, self.nodes, strict=True)]
            return lambda rank: tuple(
                place // length for place, length in zip(coordinates(rank, self.grid), lengths, strict=True)
            )
        if self.order == "cyclic":
            count = prod(self.nodes)
            return lambda rank: coordinates(rank % count, self.nodes)
        if self.order == "random":
            _check_counted(self)
            dealt = list(range(self.ranks))
            Random(self.seed).shuffle(dealt)
            return lambda rank: coordinates(dealt[rank] // each, self.nodes)
        return lambda rank: coordinates(rank // each, self.nodes)

    def distance(self, first: Coordinates, second: Coordinates) -> int:
        """Hops between two nodes."""
        return sum(map(self._hops, first, second, self.nodes))

    def _hops(self, first: int, second: int, length: int) -> int:
        apart = abs(first - second)
        return min(apart, length - apart) if self.wrapped else apart


def place(
    topology: Topology, grid: Sequence[int], order: Order = "block", *, ranks_per_node: int = 1, seed: int = 0
) -> Placement:
    """The ranks of a grid on a mesh or torus. Raises NetworkError where they are more or fewer than the nodes take,
    where the grid does not align, and for other topologies."""
    if topology.kind not in ("mesh", "torus"):
        raise NetworkError(f"ranks have coordinates on a mesh or a torus, not on {described(topology)}", "topology")
    nodes = constants(topology.parameters[0][1])
    if nodes is None:
        raise NetworkError(f"{described(topology)} has symbols for parameters", "dimensions")
    if order not in ORDERS:
        raise NetworkError(f"unknown placement `{order}`", "order", f"there are {', '.join(ORDERS)}")
    if not grid or min(grid) < 1 or ranks_per_node < 1:
        raise NetworkError("a grid of ranks, and the ranks on a node, are whole numbers from 1 on", "grid")
    ranks, room = prod(grid), prod(nodes) * ranks_per_node
    if ranks != room:
        shown = " x ".join(map(str, grid))
        message = f"{shown} are {ranks:,} ranks, and {prod(nodes):,} nodes of {ranks_per_node} ranks have {room:,}"
        raise NetworkError(message, "grid")
    if order == "aligned" and not (
        len(grid) == len(nodes) and all(a % b == 0 for a, b in zip(grid, nodes, strict=True))
    ):
        shown, there = (" x ".join(map(str, lengths)) for lengths in (grid, nodes))
        raise NetworkError(
            f"ranks of {shown} do not align with nodes of {there}",
            "grid",
            "each length of the grid has to be a multiple of the network's",
        )
    return Placement(tuple(grid), tuple(nodes), topology.kind == "torus", order, seed)


def coordinates(number: int, lengths: Sequence[int]) -> Coordinates:
    """The place of a number in a grid, the last coordinate fastest."""
    found = []
    for length in reversed(lengths):
        number, place = divmod(number, length)
        found.append(place)
    return tuple(reversed(found))


# -- distances between neighbours ------------------------------------------------------------------


def neighbour_distance(placement: Placement, *, periodic: bool = True) -> Fraction:
    """The average hops between a rank and the next along each dimension that has a next, the last one's next being the
    first where the grid is `periodic`; 0 where there is one rank.

    Raises NetworkError for more than `MOST_COUNTED` ranks whose placement has no closed form.
    """
    if placement.order != "random" and (digits := _digits(placement)) is not None:
        sums = [_carried(placement, mine, digits, periodic) for mine in _by_dimension(placement, digits)]
        pairs, hops = (sum(column) for column in zip(*sums, strict=True))
        return Fraction(hops, pairs) if pairs else Fraction(0)
    return _counted(placement, periodic)


def expected_random_distance(topology: Topology, ranks_per_node: int = 1) -> Fraction:
    """What `random` placements have on average over all seeds, on any topology of known size: that of two nodes, but
    for the chance of (r-1)/(rN-1) to be on one."""
    figures = topology.figures()
    slots = figures["nodes"] * ranks_per_node
    if slots < 2:
        return Fraction(0)
    return Fraction(figures["average_distance"]) * Fraction(int(slots - ranks_per_node), int(slots - 1))


def _check_counted(placement: Placement) -> None:
    if placement.ranks > MOST_COUNTED:
        raise NetworkError(
            f"{placement.ranks:,} ranks of a {placement.order} placement are more than the {MOST_COUNTED:,} that are "
            "looked at one by one",
            "grid",
            "`block`, `cyclic` and `aligned` have a closed form where the lengths of the grid and the network divide "
            "each other",
        )


def _counted(placement: Placement, periodic: bool) -> Fraction:
    """Rank by rank."""
    _check_counted(placement)
    node_of = placement._node_of()
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


def _digits(placement: Placement) -> list[_Digit] | None:
    """Those of a rank's number, lowest first; None where the lengths do not divide each other."""
    each = placement.ranks_per_node
    if placement.order == "aligned":
        lengths = enumerate(zip(placement.grid, placement.nodes, strict=True))
        pairs = ((_Digit(d, ranks // nodes, None, 0), _Digit(d, nodes, d, 1)) for d, (ranks, nodes) in lengths)
        return [digit for pair in pairs for digit in pair]
    axes = [(axis, placement.nodes[axis]) for axis in reversed(range(len(placement.nodes)))]
    targets: list[tuple[int | None, int]] = (
        [(None, each), *axes] if placement.order == "block" else [*axes, (None, each)]
    )
    grid = [(dimension, placement.grid[dimension]) for dimension in reversed(range(len(placement.grid)))]
    found = []
    weights = dict.fromkeys([None, *range(len(placement.nodes))], 1)
    pieces = _common(grid, targets)
    for piece in pieces:
        if piece is None:
            return None
        dimension, axis, base = piece
        found.append(_Digit(dimension, base, axis, weights[axis]))
        weights[axis] *= base
    return found


def _common(
    grid: Sequence[tuple[int, int]], targets: Sequence[tuple[int | None, int]]
) -> Iterator[tuple[int, int | None, int] | None]:
    """The digits of two ways to count the same numbers, as (dimension, axis, base); None where there are none."""
    left, right = list(reversed(grid)), list(reversed(targets))
    while left and right:
        (dimension, ranks), (axis, nodes) = left.pop(), right.pop()
        base = min(ranks, nodes)
        if max(ranks, nodes) % base:
            yield None
            return
        if base > 1:
            yield dimension, axis, base
        if ranks > base:
            left.append((dimension, ranks // base))
        if nodes > base:
            right.append((axis, nodes // base))


def _by_dimension(placement: Placement, digits: Sequence[_Digit]) -> list[list[_Digit]]:
    return [[digit for digit in digits if digit.dimension == number] for number in range(len(placement.grid))]


def _carried(placement: Placement, mine: Sequence[_Digit], digits: Sequence[_Digit], periodic: bool) -> tuple[int, int]:
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
