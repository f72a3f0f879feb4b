"""Neighbours of a grid that are in another container, against counting them."""

from __future__ import annotations

from math import prod

import pytest

from aspenpy.cost.network.shift import ranks_crossing, ranks_leaving
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate

GRIDS = [(6,), (4, 4), (2, 8), (8, 2), (3, 4), (4, 3), (2, 3, 4), (4, 2, 2), (2, 2, 2), (3, 3, 3), (5, 1, 4), (2, 6, 5)]


def neighbours(grid: tuple[int, ...], axis: int) -> tuple[int, dict[int, int]]:
    """The stride of an axis, and for each rank the next along it, round the ring."""
    stride = prod(grid[axis + 1 :])
    ring = stride * grid[axis]
    return stride, {rank: rank // ring * ring + (rank + stride) % ring for rank in range(prod(grid))}


def counted(beyond: dict[int, int], inner: int, outer: int) -> int:
    """Of the ranks of an inner container, those whose next is outside, but in the same outer one, where most are."""
    found: dict[int, int] = {}
    for rank, other in beyond.items():
        if rank // inner != other // inner and rank // outer == other // outer:
            found[rank // inner] = found.get(rank // inner, 0) + 1
    return max(found.values(), default=0)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_those_that_leave_a_node(grid: tuple[int, ...]) -> None:
    """Exact where the node and the ring divide each other; at most so many in others, and never none where some are."""
    ranks = prod(grid)
    for axis, length in enumerate(grid):
        stride, beyond = neighbours(grid, axis)
        for each in (1, 2, 3, 4, 5, 6, 8, 12, 17):
            window = min(each, ranks)
            found = evaluate(ranks_leaving(*map(graph.number, (window, stride, length, ranks))))
            exact = counted(beyond, window, ranks)
            ring = stride * length
            if ring % window == 0 or window % ring == 0:
                assert found == exact, (axis, each)
            assert found >= exact, (axis, each)
            assert (found > 0) == (exact > 0) or ranks % window, (axis, each)


@pytest.mark.parametrize("grid", [(4, 4), (2, 8), (4, 2, 2), (2, 2, 2), (8, 4, 2), (2, 2, 8)], ids=str)
def test_those_that_stay_in_the_node(grid: tuple[int, ...]) -> None:
    """Sockets of 1, 2 and 4 in nodes of 4 and 8."""
    ranks = prod(grid)
    for axis, length in enumerate(grid):
        stride, beyond = neighbours(grid, axis)
        for outer in (4, 8):
            for inner in (1, 2, 4):
                sizes = (min(inner, ranks), min(outer, ranks))
                found = evaluate(ranks_crossing(*map(graph.number, (*sizes, stride, length, ranks))))
                assert found == counted(beyond, *sizes), (axis, inner, outer)
