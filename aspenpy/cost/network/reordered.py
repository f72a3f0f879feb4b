"""Ranks renumbered so that those of a node are a brick of their grid.

A Cartesian communicator with `reorder`, and the orders that Cray's `grid_order` writes for `MPICH_RANK_REORDER_METHOD`
3, give each node a small grid of neighbours instead of a run of numbers (Gropp, "Using node information to implement
MPI Cartesian topologies", EuroMPI 2018: the grid of the nodes times that inside a node is the grid of the ranks). Of c
ranks a brick of b_1 x ... x b_d has c/b_i that leave it across direction i, unless it has the whole length.

The sides of a brick are near-equal factors of c in 1 to d dimensions, in any order, or one side after the other as much
of c as divides the length there. They have to divide the lengths of the grid, and of those that do the one with the
fewest bytes is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Brick(Record):
    """The ranks of a node along each dimension of the grid; all of that where no brick is `found`."""

    found: Expr
    sides: tuple[Expr, ...]


def brick_of(lengths: Sequence[Expr], faces: Sequence[Expr], per_node: Expr) -> Brick:
    """The brick of each node, for the bytes of a face across each dimension."""
    shapes = [*_even_shapes(per_node, len(lengths)), *_dividing_shapes(per_node, lengths)]
    fitting = [_fits(shape, lengths, per_node) for shape in shapes]
    sent = [
        graph.add(*(_share_leaving(*pair) * face for *pair, face in zip(lengths, shape, faces, strict=True)))
        for shape in shapes
    ]
    most = graph.add(*faces) + 1
    tried = [graph.if_else(fits, amount, most) for fits, amount in zip(fitting, sent, strict=True)]
    least = graph.apply("min", *tried) if tried[1:] else tried[0]
    sides = [graph.ONE] * len(lengths)
    for shape, amount in reversed(list(zip(shapes, tried, strict=True))):
        chosen = graph.compare("<=", amount, least)
        sides = [graph.if_else(chosen, side, other) for side, other in zip(shape, sides, strict=True)]
    return Brick(graph.compare("<", least, most), tuple(sides))


def _fits(shape: Sequence[Expr], lengths: Sequence[Expr], per_node: Expr) -> Expr:
    """Whether a brick has all ranks of a node, and bricks of this shape fill the grid."""
    whole = graph.compare("==", graph.mul(*shape), per_node)
    for side, length in zip(shape, lengths, strict=True):
        whole = graph.junction("and", whole, graph.compare("==", graph.apply("mod", length, side), 0))
    return whole


def _even_shapes(per_node: Expr, dimensions: int) -> list[tuple[Expr, ...]]:
    """Near-equal factors, in any order."""
    shapes: dict[tuple[Expr, ...], None] = {}
    for many in range(dimensions, 0, -1):
        factors = [graph.apply("grid", per_node, many, axis) for axis in range(many)]
        shapes.update(dict.fromkeys(permutations([*factors, *[graph.ONE] * (dimensions - many)])))
    return list(shapes)


def _dividing_shapes(per_node: Expr, lengths: Sequence[Expr]) -> list[tuple[Expr, ...]]:
    """Shapes of the ranks of a node, one for each order of the dimensions: each side is the largest number that divides
    both the length of its dimension and the ranks that are left."""
    shapes: dict[tuple[Expr, ...], None] = {}
    for order in permutations(range(len(lengths))):
        rest, sides = per_node, [graph.ONE] * len(lengths)
        for axis in order:
            sides[axis] = graph.apply("gcd", rest, lengths[axis])
            rest = rest / sides[axis]
        shapes[tuple(sides)] = None
    return list(shapes)


def _share_leaving(length: Expr, side: Expr) -> Expr:
    """The part of the ranks of a brick whose next along a dimension is outside."""
    return graph.if_else(graph.compare(">", length, side), 1 / side, 0)


def leaving_brick(length: Expr, side: Expr, per_node: Expr) -> Expr:
    """The ranks of a brick whose next along a dimension is outside."""
    return _share_leaving(length, side) * per_node
