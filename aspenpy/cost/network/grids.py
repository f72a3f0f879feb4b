"""Grids: mesh, torus and hypercube, whose routers have one node, or several where a mesh or torus says so; and their
bisection widths, with those that the dissertation takes for its comparison of topologies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from aspenpy.cost.network.topology import (
    Bound,
    NetworkError,
    Size,
    Topology,
    average_over_pairs,
    floor,
    is_odd,
    known_sizes,
    whole_size,
)
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def grid_bisection(dimensions: Sequence[Expr], *, wrapped: bool) -> tuple[Expr, Bound | None]:
    """The bisection of a mesh, or of a torus where `wrapped`, and which kind of bound that is, if it is one."""
    lengths = known_sizes(dimensions)
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
    """Links that cut a line, or a ring, of `length` nodes into halves."""
    return 2 if wrapped and length > 2 else 1


TABLE_3_5: dict[str, Callable[[Expr], Expr]] = {
    "torus": lambda processors: 2 * processors ** Fraction(2, 3),
    "mesh": lambda processors: processors ** Fraction(2, 3),
    "hypercube": lambda processors: processors / 2,
}
"""Links of the bisection by the number of processors P, as Table 3.5 has them: those of three-dimensional grids with
the cube root of P, whole or not, on each side."""


def table_3_5_time(topology: str, volume: Size, processors: Size, link_bandwidth: Size) -> Expr:
    """Seconds for `volume` bytes to cross the bisection, T = M / (bisection * B): Table 3.5 of the dissertation."""
    links = TABLE_3_5[topology](graph.to_expr(processors))
    return graph.to_expr(volume) / (links * link_bandwidth)


MOST_DIMENSIONS = 32


def mesh(dimensions: Sequence[Size], nodes_per_router: Size = 1) -> Topology:
    """A grid with `dimensions` routers along its axes, each linked with the next.

    Along a line of k routers the distances of all ordered pairs add to k(k^2-1)/3 (Dally and Towles, "Principles and
    practices of interconnection networks", 2004, section 5.2.2). Means along the dimensions add, as the coordinates of
    two nodes are independent.
    """
    return _grid(dimensions, nodes_per_router, wrapped=False)


def torus(dimensions: Sequence[Size], nodes_per_router: Size = 1) -> Topology:
    """A mesh whose ends are linked along each dimension; where that has two routers, they are linked once.

    On a ring of k routers the distances from one to all add to floor(k^2/4) (Dally and Towles, section 5.2.2).
    """
    return _grid(dimensions, nodes_per_router, wrapped=True)


def ring(nodes: Size) -> Topology:
    """A torus of one dimension."""
    return torus([nodes])


def hypercube(dimension: Size) -> Topology:
    """2^d nodes, each linked with those whose number differs in one bit. Distances from one node to all add to
    d 2^(d-1); 2^(d-1) links part one half from the other."""
    d = whole_size(dimension, "dimension", "the dimension of a hypercube", least=0)
    nodes = 2**d
    return Topology(
        kind="hypercube",
        parameters=(("dimension", d),),
        nodes=nodes,
        routers=nodes,
        radix=d,
        links=d * nodes / 2,
        diameter=d,
        average_distance=average_over_pairs(nodes * (d * nodes / 2), nodes),
        bisection=floor(nodes / 2),
    )


def _grid(dimensions: Sequence[Size], nodes_per_router: Size, *, wrapped: bool) -> Topology:
    if not 1 <= len(dimensions) <= MOST_DIMENSIONS:
        message = f"a grid has from 1 to {MOST_DIMENSIONS} dimensions, not {len(dimensions)}"
        raise NetworkError(message, "dimensions")
    sizes = tuple(whole_size(size, "dimensions", "the nodes along a dimension") for size in dimensions)
    p = whole_size(nodes_per_router, "nodes_per_router", "the nodes on a router")
    alone = p is graph.ONE
    routers = graph.mul(*sizes)
    nodes = p * routers
    width, bound = grid_bisection(sizes, wrapped=wrapped)
    if not alone:  # of an odd number of routers one is cut off from half of its nodes
        width, bound = graph.apply("min", width + is_odd(routers) * floor(p / 2), floor(nodes / 2)), "upper"
    parameters: tuple[tuple[str, Any], ...] = (("dimensions", sizes),)
    return Topology(
        kind="torus" if wrapped else "mesh",
        parameters=parameters if alone else (*parameters, ("nodes_per_router", p)),
        nodes=nodes,
        routers=routers,
        links=graph.add(*(_links(routers, size, wrapped) for size in sizes)),
        terminal_links=graph.ZERO if alone else nodes,
        radix=graph.add(*(graph.apply("min", size - 1, 2) for size in sizes), graph.ZERO if alone else p),
        diameter=graph.add(*(floor(size / 2) if wrapped else size - 1 for size in sizes)),
        average_distance=average_over_pairs(
            graph.add(*(mean_along(size, wrapped=wrapped) for size in sizes)) * nodes**2, nodes
        ),
        bisection=width,
        bounds=(("bisection", bound),) if bound else (),
        rings=(graph.TRUE if wrapped else graph.FALSE,) * len(sizes),
    )


def mean_along(size: Expr, *, wrapped: bool) -> Expr:
    """The average distance along a dimension of two routers of it, which may be one."""
    return floor(size**2 / 4) / size if wrapped else (size**2 - 1) / (3 * size)


def _links(routers: Expr, size: Expr, wrapped: bool) -> Expr:
    """Along one dimension; a ring of two routers has one link."""
    line = routers / size * (size - 1)
    return graph.if_else(graph.compare(">", size, 2), routers, line) if wrapped else line


def shared_by_shift(network: Topology, stride: Expr, length: Expr) -> Expr:
    """Messages on the fullest link of a mesh or torus while each router sends to the one `stride` further in rings of
    `length`, by the shortest route, routers being numbered along the last dimension first: a shift by j along one of k
    has j on a link, k - j the other way round, and half of a ring goes both ways. A lower bound: 1 where a shift goes
    on into the next dimension."""
    most, below = graph.ONE, graph.ONE
    for k, ring in reversed(list(zip(dict(network.parameters)["dimensions"], network.rings, strict=True))):
        j = graph.apply("mod", graph.apply("floor", stride / below), k)
        along = graph.apply("min", j, k - j)
        along = graph.if_else(graph.junction("and", ring, graph.compare("==", 2 * j, k)), k / 4, along)
        alone = graph.junction(
            "and",
            graph.compare("==", graph.apply("mod", stride, below), 0),
            graph.junction(
                "or", graph.compare("<=", length * j, k), graph.compare("==", graph.apply("mod", length * j, k), 0)
            ),
        )
        most = graph.apply("max", most, graph.if_else(alone, along, 1))
        below = below * k
    return most
