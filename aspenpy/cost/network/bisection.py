"""Bisection widths of grids, and those that the dissertation takes for its comparison of topologies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

from aspenpy.cost.network.topology import Bound, Size, constants
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def grid_bisection(dimensions: Sequence[Expr], *, wrapped: bool) -> tuple[Expr, Bound | None]:
    """The bisection of a mesh, or of a torus where `wrapped`, and which kind of bound that is, if it is one."""
    lengths = constants(dimensions)
    if lengths is None:
        return _of_symbols(dimensions, wrapped), "lower"
    width, exact = grid_width(lengths, wrapped=wrapped)
    return graph.number(width), None if exact else "upper"


def _of_symbols(dimensions: Sequence[Expr], wrapped: bool) -> Expr:
    """The cut across the longest dimension, in half if its length is even: N/k links of a mesh, 2N/k of a torus. An
    odd length needs a few more."""
    longest = graph.apply("max", *dimensions) if len(dimensions) > 1 else dimensions[0]
    width = graph.mul(*dimensions) / longest
    crossed = graph.if_else(graph.compare(">", longest, 2), 2, graph.apply("min", longest - 1, 1))
    return crossed * width if wrapped else graph.apply("min", longest - 1, 1) * width


def grid_width(lengths: Sequence[int], *, wrapped: bool) -> tuple[int, bool]:
    """Links cut, and whether no cut is smaller.

    A mesh of k1 >= k2 >= ...: the sum of C_i = k_(i+1) * k_(i+2) * ..., from C_1 to that of the first even k (Efe and
    Feng, "A proof for bisection width of grids", 2007); a torus has twice that (Aroca and Fernandez Anta, "Bisection
    (band)width of product networks", IEEE TPDS 25(3), 2014, theorem 4). There a length of 2 has two links, which here
    are one: with one of those the sum is a bound, but for an even longest dimension, across which no link is loaded
    less than evenly.
    """
    longest_first = sorted((length for length in lengths if length > 1), reverse=True)
    nodes = rest = prod(longest_first)
    width = 0
    for length in longest_first:
        rest //= length
        width += rest * _count_crossed_links(length, wrapped)
        if length % 2 == 0:
            break
    straight = [nodes // length * _count_crossed_links(length, wrapped) for length in longest_first if length % 2 == 0]
    exact = not wrapped or not longest_first or longest_first[0] % 2 == 0 or longest_first[-1] > 2
    return min([width, *straight]), exact


def _count_crossed_links(length: int, wrapped: bool) -> int:
    """Links that part a line, or a ring, of so many nodes."""
    return 2 if wrapped and length > 2 else 1


TABLE_3_5: dict[str, Callable[[Expr], Expr]] = {
    "torus": lambda processors: 2 * processors ** Fraction(2, 3),
    "mesh": lambda processors: processors ** Fraction(2, 3),
    "hypercube": lambda processors: processors / 2,
}
"""Links of the bisection by the number of processors P, as Table 3.5 has them: those of three-dimensional grids with
the cube root of P, whole or not, on each side."""


def table_3_5_time(topology: str, volume: Size, processors: Size, link_bandwidth: Size) -> Expr:
    """Seconds for so many bytes to cross the bisection, T = M / (bisection * B): Table 3.5 of the dissertation."""
    links = TABLE_3_5[topology](graph.to_expr(processors))
    return graph.to_expr(volume) / (links * link_bandwidth)
