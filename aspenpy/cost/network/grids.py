"""Grids: mesh, torus and hypercube, whose routers have one node, or several where a mesh or torus says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.cost.network.bisection import grid_bisection
from aspenpy.cost.network.topology import NetworkError, Size, Topology, average, floor, is_odd, whole
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

MOST_DIMENSIONS = 32


def mesh(dimensions: Sequence[Size], nodes_per_router: Size = 1) -> Topology:
    """A grid of so many routers along each dimension, each linked with the next.

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
    """Of 2^d nodes, each linked with those whose number differs in one bit. Distances from one node to all add to
    d 2^(d-1); 2^(d-1) links part one half from the other."""
    d = whole(dimension, "dimension", "the dimension of a hypercube", least=0)
    nodes = 2**d
    return Topology(
        kind="hypercube",
        parameters=(("dimension", d),),
        nodes=nodes,
        routers=nodes,
        radix=d,
        links=d * nodes / 2,
        diameter=d,
        average_distance=average(nodes * (d * nodes / 2), nodes),
        bisection=floor(nodes / 2),
    )


def _grid(dimensions: Sequence[Size], nodes_per_router: Size, *, wrapped: bool) -> Topology:
    if not 1 <= len(dimensions) <= MOST_DIMENSIONS:
        message = f"a grid has from 1 to {MOST_DIMENSIONS} dimensions, not {len(dimensions)}"
        raise NetworkError(message, "dimensions")
    sizes = tuple(whole(size, "dimensions", "the nodes along a dimension") for size in dimensions)
    p = whole(nodes_per_router, "nodes_per_router", "the nodes on a router")
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
        average_distance=average(graph.add(*(mean_along(size, wrapped=wrapped) for size in sizes)) * nodes**2, nodes),
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
