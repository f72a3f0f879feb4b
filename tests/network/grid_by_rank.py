"""A grid of ranks played through, one rank after the other: the oracle for halos and where their neighbours are.

The grid is found by trying all shapes, as the MPI standard says of `MPI_Dims_create` (MPI 4.1, section 8.5.2: "as close
to each other as possible", "in non-increasing order"); a cube is cut into bricks with its factors. Ranks are numbered
with the last coordinate fastest and dimensions are rings, as of a Cartesian communicator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from math import prod

Grid = tuple[int, ...]


def most_even_grid(ranks: int, dimensions: int) -> Grid:
    """Of all shapes with sides in non-increasing order that whose longest side is shortest, then the next one."""
    divisors = [each for each in range(1, ranks + 1) if ranks % each == 0]
    shapes = (shape for shape in product(divisors, repeat=dimensions) if prod(shape) == ranks)
    return min(shape for shape in shapes if tuple(sorted(shape, reverse=True)) == shape)


def cut_faces(grid: Grid) -> list[float]:
    """The faces of each rank's brick of a cube with an edge of 1, in units of the face of a cube of the same volume."""
    edges = [1 / length for length in grid]
    volume = prod(edges)
    return [volume / edge / volume ** (1 - 1 / len(grid)) for edge in edges]


def neighbours(grid: Grid, rank: int) -> list[tuple[int, int]]:
    """The dimension and the number of each neighbour of a rank, both ways, one dimension after the other."""
    found, here = [], coordinates(grid, rank)
    for axis, length in enumerate(grid):
        if length == 1:
            continue
        for step in (1, -1):
            other = list(here)
            other[axis] = (other[axis] + step) % length
            found.append((axis, number_of(grid, other)))
    return found


def coordinates(grid: Grid, rank: int) -> Grid:
    place = []
    for length in reversed(grid):
        place.append(rank % length)
        rank //= length
    return tuple(reversed(place))


def number_of(grid: Grid, place: Sequence[int]) -> int:
    number = 0
    for length, here in zip(grid, place, strict=True):
        number = number * length + here
    return number


def messages_by_node(grid: Grid, node_of: Callable[[int], int]) -> tuple[Counter[tuple[int, int]], Counter[int]]:
    """The messages that the ranks of each node send to other nodes, by node and dimension, and those inside of nodes by
    dimension; both ways."""
    outside: Counter[tuple[int, int]] = Counter()
    inside: Counter[int] = Counter()
    for rank in range(prod(grid)):
        for axis, other in neighbours(grid, rank):
            if node_of(rank) == node_of(other):
                inside[axis] += 1
            else:
                outside[node_of(rank), axis] += 1
    return outside, inside
