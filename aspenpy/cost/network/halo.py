"""Halo exchange: each rank of a grid sends the data on its faces to its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.network.collectives import Cost, check_ranks
from aspenpy.cost.network.topology import NetworkError, Size
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

MOST_DIMENSIONS = 3


def halo(grid: Sequence[Size], faces: Sequence[Size], *, periodic: bool = True, all_ports: bool = False) -> Cost:
    """The exchange in a grid of ranks of 1 to 3 dimensions, `faces` being the bytes of one face across each.

    One dimension after the other. Periodic, all ranks shift one way and then the other: two rounds where there is more
    than one rank. Where the grid is not periodic the outermost ranks have no neighbour beyond, and pairs of neighbours
    exchange: two ranks are done in one round. With `all_ports` every rank sends all its faces at once, as on a torus of
    its own links: one round of the largest. Raises NetworkError for other dimensions.
    """
    if not 1 <= len(grid) <= MOST_DIMENSIONS or len(faces) != len(grid):
        message = f"a halo is exchanged in 1 to {MOST_DIMENSIONS} dimensions, with a face for each"
        raise NetworkError(f"{message}, not in {len(grid)} with {len(faces)}", "grid")
    sizes = [check_ranks(size) for size in grid]
    divided = [graph.apply("min", size - 1, 1) for size in sizes]
    volumes = [split * face for split, face in zip(divided, faces, strict=True)]
    ranks = graph.mul(*sizes)
    senders = [ranks if periodic else ranks / size * (size - 1) for size in sizes]
    most = [
        2 * split if periodic else graph.apply("min", size - 1, 2) for size, split in zip(sizes, divided, strict=True)
    ]
    return Cost(
        rounds=_largest(divided) if all_ports else graph.add(*most),
        volume=_largest(volumes) if all_ports else graph.add(*map(graph.mul, most, faces)),
        combined=graph.ZERO,
        messages=2 * graph.add(*map(graph.mul, senders, divided)),
        traffic=2 * graph.add(*map(graph.mul, senders, volumes)),
        most_messages=graph.add(*most),
        most_traffic=graph.add(*map(graph.mul, most, faces)),
    )


def _largest(values: Sequence[Expr]) -> Expr:
    return graph.apply("max", *values) if len(values) > 1 else values[0]
