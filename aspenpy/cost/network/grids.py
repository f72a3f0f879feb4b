"""Grids: mesh, torus and hypercube, in which each node is its own router."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.network.bisection import grid_bisection
from aspenpy.cost.network.topology import NetworkError, Size, Topology, average, floor, whole
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

MOST_DIMENSIONS = 32


def mesh(dimensions: Sequence[Size]) -> Topology:
    """A grid of so many nodes along each dimension, each linked with the next.

    Along a line of k nodes the distances of all ordered pairs add to k(k^2-1)/3 (Dally and Towles, "Principles and
    practices of interconnection networks", 2004, section 5.2.2). Means along the dimensions add, as the coordinates of
    two nodes are independent.
    """
    return _grid(dimensions, wrapped=False)


def torus(dimensions: Sequence[Size]) -> Topology:
    """A mesh whose ends are linked along each dimension; where that has two nodes, they are linked once.

    On a ring of k nodes the distances from one to all add to floor(k^2/4) (Dally and Towles, section 5.2.2).
    """
    return _grid(dimensions, wrapped=True)


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


def _grid(dimensions: Sequence[Size], *, wrapped: bool) -> Topology:
    if not 1 <= len(dimensions) <= MOST_DIMENSIONS:
        message = f"a grid has from 1 to {MOST_DIMENSIONS} dimensions, not {len(dimensions)}"
        raise NetworkError(message, "dimensions")
    sizes = tuple(whole(size, "dimensions", "the nodes along a dimension") for size in dimensions)
    nodes = graph.mul(*sizes)
    width, bound = grid_bisection(sizes, wrapped=wrapped)
    means = (floor(size**2 / 4) / size if wrapped else (size**2 - 1) / (3 * size) for size in sizes)
    return Topology(
        kind="torus" if wrapped else "mesh",
        parameters=(("dimensions", sizes),),
        nodes=nodes,
        routers=nodes,
        links=graph.add(*(_links(nodes, size, wrapped) for size in sizes)),
        radix=graph.add(*(graph.apply("min", size - 1, 2) for size in sizes)),
        diameter=graph.add(*(floor(size / 2) if wrapped else size - 1 for size in sizes)),
        average_distance=average(graph.add(*means) * nodes**2, nodes),
        bisection=width,
        bounds=(("bisection", bound),) if bound else (),
    )


def _links(nodes: Expr, size: Expr, wrapped: bool) -> Expr:
    """Along one dimension; a ring of two nodes has one link."""
    line = nodes / size * (size - 1)
    return graph.if_else(graph.compare(">", size, 2), nodes, line) if wrapped else line
