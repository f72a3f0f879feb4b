"""The loops of a `nest` that name their counters, from the arguments of the trait."""

from __future__ import annotations

from aspenpy.cost.caches import triangular
from aspenpy.cost.caches.domain import CrookedBound, gather_terms
from aspenpy.cost.caches.loop import COUNTERS, Loop
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow

NEST = "nest(stride, trips, stride, trips, ...)"


def counted_loops(trait: flow.Trait) -> list[Loop]:
    """The loops, from the innermost outwards; strides as they are written. Counters become those of the block."""
    names, loops = dict[Expr, Expr](), list[Loop]()
    pairs = zip(trait.arguments[::2], trait.arguments[1::2], strict=True)
    for depth, (stride, trips) in reversed([*enumerate(pairs)]):
        if not isinstance(stride, Expr) or isinstance(trips, str):
            hint = "the stride in bytes comes before the trips: `nest(8, j in 0 .. i, 8*n, i in 0 .. n - 1)`"
            fail("wrong-arguments", f"`nest` is written `{NEST}`", trait.span, hint=hint)
        ends = [trips.low, trips.high] if isinstance(trips, flow.Counted) else [graph.ZERO, trips - 1]
        low, high = graph.substitute(ends, names)
        if isinstance(trips, flow.Counted):
            names[trips.counter] = COUNTERS[depth]
        loops.insert(0, Loop(stride, gather_terms(high - low + 1), gather_terms(low)))
    try:
        triangular.accesses(tuple(loops))
    except CrookedBound:
        message = "the bounds of a loop must be sums of the outer counters, each times a number"
        hint = "such as `j in i + 1 .. n - 1` or `j in 0 .. 2*i`; a size may stand beside a counter, not as its factor"
        fail("wrong-arguments", message, trait.span, hint=hint)
    return loops
