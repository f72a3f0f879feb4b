"""Halos of a cube that is cut by the grid of its ranks: `messages [m] as halo("cut", 3)`.

P ranks in a grid of p_1 x ... x p_d, as `MPI_Dims_create` makes it, divide a cube with an edge of N. A rank's part is
N/p_1 x ... x N/p_d, and the one of an average rank a cube with the edge e = N/P^(1/d). The face across direction i has
e^d/(N/p_i) = e^(d-1) p_i/P^(1/d) points: p_i/P^(1/d) times that of the cube. The model states the 2 d faces of the
cube; those across a direction of one rank have no neighbour.
"""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow

CUT = "cut"
MOST_DIMENSIONS = 3


def write_out_cut(requirement: flow.Requirement, ranks: Expr) -> flow.Requirement:
    """The requirement with the grid and the faces of `ranks` ranks, and the bytes that one of them sends; unchanged
    where its halo is not said to be cut. Raises AspenError where the number of dimensions is not known."""
    cut = next((each for each in requirement.traits if each.name == "halo" and CUT in each.arguments), None)
    if cut is None:
        return requirement
    dimensions = _dimensions(cut, requirement)
    root = graph.power(ranks, graph.div(1, dimensions))
    lengths = [graph.apply("grid", ranks, dimensions, axis) for axis in range(dimensions)]
    faces = [graph.if_else(graph.compare(">", length, 1), length / root, 0) for length in lengths]
    words = tuple(word for word in cut.arguments if isinstance(word, str) and word != CUT)
    numbers = tuple(lengths) if dimensions > 1 else (graph.ONE,)
    traits = [each for each in requirement.traits if each is not cut]
    traits += [flow.Trait("halo", (*words, *numbers), cut.span), flow.Trait("faces", tuple(faces), cut.span)]
    share = graph.add(*faces) / dimensions
    return requirement.replace(
        quantity=requirement.quantity * share, amount=requirement.amount * share, traits=tuple(traits)
    )


def _dimensions(cut: flow.Trait, requirement: flow.Requirement) -> int:
    numbers = [each for each in cut.arguments if isinstance(each, Expr)]
    dimensions = graph.whole_number(numbers[0]) if len(numbers) == 1 else None
    if dimensions is None or not 1 <= dimensions <= MOST_DIMENSIONS:
        message = f"a cube is cut in 1 to {MOST_DIMENSIONS} dimensions"
        fail("bad-exchange", message, cut.span, hint='write their number, `as halo("cut", 3)`')
    stated = next((each for each in requirement.traits if each.name == "faces"), None)
    if stated is not None:
        message = "the faces of a cube that is cut follow from the grid of its ranks"
        fail("bad-exchange", message, stated.span, hint='leave `faces` out, or "cut"')
    return dimensions
