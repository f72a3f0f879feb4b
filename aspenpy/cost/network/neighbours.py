"""How far apart neighbouring ranks are, by their placement.

Where the lengths of the grid of ranks and of the network divide each other, a rank's number has digits of which each
belongs to one dimension of the ranks and to one of the nodes (or to the place on a node). One rank further along a
dimension changes the same digits by the same amounts for all ranks whose digits carry alike, so that the average
distance is a sum over a few carries, whatever the number of ranks. Other placements are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

from aspenpy.cost.network.placement import Placement, check_counted
from aspenpy.cost.network.topology import Topology
from aspenpy.record import Record

Lengths = tuple[int | None, int]
"""An axis of the network, or None for the place on a node, and how long it is."""


def neighbour_distance(placement: Placement, *, periodic: bool = True) -> Fraction:
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
    """What `random` placements have on average over all seeds, on any topology of known size: that of two nodes, but
    for the chance of (r-1)/(rN-1) to be on one."""
    figures = topology.figures()
    slots = figures["nodes"] * ranks_per_node
    if slots < 2:
        return Fraction(0)
    return Fraction(figures["average_distance"]) * Fraction(int(slots - ranks_per_node), int(slots - 1))


def _count_by_rank(placement: Placement, periodic: bool) -> Fraction:
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


def _digits(placement: Placement) -> list[_Digit] | None:
    """Digits of a rank's number, lowest first; None where the lengths do not divide each other."""
    each = placement.ranks_per_node
    if placement.order == "aligned":
        lengths = enumerate(zip(placement.grid, placement.nodes, strict=True))
        pairs = ((_Digit(d, ranks // nodes, None, 0), _Digit(d, nodes, d, 1)) for d, (ranks, nodes) in lengths)
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


def _count_neighbour_hops(placement: Placement, mine: Sequence[_Digit], periodic: bool) -> tuple[int, int]:
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
