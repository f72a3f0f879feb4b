"""Grids: mesh, torus and hypercube, in which each node is its own router."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.cost.network.bisection import grid_bisection
from aspenpy.cost.network.topology import NetworkError, Size, Topology, average, floor, whole
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

MOST_DIMENSIONS = 32


def mesh(dimensions: Sequence[Size]) -> Topology:
    """A grid of so many nodes along each dimension, each linked with the next.

    Along a line of k nodes the distances of all ordered pairs add to k(k^2-1)/3 (Dally and Towles, "Principles and
    practices of interconnection networks", 2004, section 5.2.2).
    """
    sizes = _sizes(dimensions)
    nodes = graph.mul(*sizes)
    width, bound = grid_bisection(sizes, wrapped=False)
    return Topology(
        kind="mesh",
        parameters=(("dimensions", sizes),),
        links=graph.add(*(nodes / size * (size - 1) for size in sizes)),
        diameter=graph.add(*(size - 1 for size in sizes)),
        average_distance=_average(sizes, [(size**2 - 1) / (3 * size) for size in sizes]),
        bisection=width,
        bounds=(("bisection", bound),) if bound else (),
        **_direct(nodes, _ports(sizes)),
    )


def torus(dimensions: Sequence[Size]) -> Topology:
    """A mesh whose ends are linked along each dimension; where that has two nodes, they are linked once.

    On a ring of k nodes the distances from one to all add to floor(k^2/4) (Dally and Towles, section 5.2.2).
    """
    sizes = _sizes(dimensions)
    nodes = graph.mul(*sizes)
    width, bound = grid_bisection(sizes, wrapped=True)
    return Topology(
        kind="torus",
        parameters=(("dimensions", sizes),),
        links=graph.add(*(_ring_links(nodes, size) for size in sizes)),
        diameter=graph.add(*(floor(size / 2) for size in sizes)),
        average_distance=_average(sizes, [floor(size**2 / 4) / size for size in sizes]),
        bisection=width,
        bounds=(("bisection", bound),) if bound else (),
        **_direct(nodes, _ports(sizes)),
    )


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
        links=d * nodes / 2,
        diameter=d,
        average_distance=average(nodes * (d * nodes / 2), nodes),
        bisection=floor(nodes / 2),
        **_direct(nodes, d),
    )


def _sizes(dimensions: Sequence[Size]) -> tuple[Expr, ...]:
    if not 1 <= len(dimensions) <= MOST_DIMENSIONS:
        message = f"a grid has from 1 to {MOST_DIMENSIONS} dimensions, not {len(dimensions)}"
        raise NetworkError(message, "dimensions")
    return tuple(whole(size, "dimensions", "the nodes along a dimension") for size in dimensions)


def _direct(nodes: Expr, radix: Expr) -> dict[str, Any]:
    """The figures of a network without routers of their own."""
    return {
        "nodes": nodes, "routers": nodes, "terminal_links": graph.ZERO, "terminal_hops": graph.ZERO, "radix": radix
    }  # fmt: skip


def _ports(sizes: Sequence[Expr]) -> Expr:
    """Two along each dimension, one where that has two nodes."""
    return graph.add(*(graph.apply("min", size - 1, 2) for size in sizes))


def _ring_links(nodes: Expr, size: Expr) -> Expr:
    return graph.if_else(graph.compare(">", size, 2), nodes, nodes / size * (size - 1))


def _average(sizes: Sequence[Expr], means: Sequence[Expr]) -> Expr:
    """Between distinct nodes, from the means over all pairs along each dimension: they add, as the coordinates of two
    nodes are independent."""
    nodes = graph.mul(*sizes)
    return average(graph.add(*means) * nodes**2, nodes)
