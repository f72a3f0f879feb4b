"""The loops of a block: every pattern of its accesses brought to the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from aspenpy.cost.caches import triangular
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.loop import Loop
from aspenpy.cost.caches.nest import longest, product
from aspenpy.cost.caches.patterns import Affine, Stencil
from aspenpy.cost.caches.runs import at_offsets
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import as_term
from aspenpy.language.diagnostics import Related, fail


def in_the_same_loops(accesses: Sequence[Access]) -> list[Access]:
    """Every nest of the block brought to the loops of the block."""
    _same_depth(accesses)
    patterns = [access.pattern for access in accesses]
    affine = [pattern for pattern in patterns if isinstance(pattern, Affine)]
    models = [triangular.mean_trips(pattern.nest.loops) for pattern in affine if pattern.own]
    models += [pattern.trips for pattern in patterns if isinstance(pattern, Stencil)]
    if not models:
        models = [_refine_loops(affine)] if affine else []
    depth = max(map(len, models), default=0)
    trips = [longest([counts[at] for counts in models if at < len(counts)]) for at in range(depth)]
    brought = [_extend_through_block(access, trips) for access in accesses]
    depth = max((len(access.nest.loops) for access in brought if access.nest is not None), default=0)
    padded = [_pad_loops(access, depth) for access in brought]
    return [access.replace(pattern=at_offsets(access.pattern)) for access in padded]


def _refine_loops(patterns: Sequence[Affine]) -> list[Expr]:
    """The loops of streams alone, some of them swept again and again: those of the most sweeps lie innermost. A stream
    that is swept once goes through all of them."""
    swept = [pattern.nest.loops for pattern in patterns if len(pattern.nest.loops) == 2]
    blocked = [[loop.trips for loop in pattern.nest.loops] for pattern in patterns if len(pattern.nest.loops) > 2]
    counts = list(dict.fromkeys(sweeps.trips for _, sweeps in swept))
    if blocked or not counts:
        models = blocked or [[loop.trips for loop in pattern.nest.loops] for pattern in patterns]
        return [longest(list(trips)) for trips in zip(*models, strict=True)]
    if len(counts) > 1 and all(count.kind == "number" for count in counts):
        counts.sort(key=lambda count: -count.payload)
        first = longest([sweep.trips for sweep, sweeps in swept if sweeps.trips is counts[0]])
        return [first, *(many / few for many, few in pairwise(counts)), counts[-1]]
    return [longest([sweep.trips for sweep, _ in swept]), longest(counts)]


def _same_depth(accesses: Sequence[Access]) -> None:
    written = [access for access in accesses if access.nest is not None and getattr(access.pattern, "own", True)]
    for access in written[1:]:
        first, here = written[0], access.requirement
        assert access.nest is not None
        assert first.nest is not None
        if len(access.nest.loops) != len(first.nest.loops):
            counts = f"{len(first.nest.loops)} and {len(access.nest.loops)}"
            message = f"the patterns of one block have the same loops, and these have {counts}"
            related = (Related(first.requirement.span, "the first"),)
            hint = "give a loop outside of an access as `0, 1`; `reuse` is one more loop, of all of them or of none"
            fail("different-loops", message, here.span, related=related, hint=hint)


def _extend_through_block(access: Access, trips: list[Expr]) -> Access:
    """A stream goes on through the loops of the block, and one that is swept again through the inner ones, where its
    sweeps are theirs."""
    pattern = access.pattern
    if not isinstance(pattern, Affine) or pattern.own:
        return access
    sweep, *repeats = pattern.nest.loops
    if len(repeats) > 1 or not trips:
        return access
    times = repeats[0].trips if repeats else graph.ONE
    sizes = [as_term(product(trips[depth:]), all_positive=True) for depth in range(len(trips) + 1)]
    wanted = as_term(times, all_positive=True)
    if wanted not in sizes:
        return access
    moving = len(trips) - sizes[::-1].index(wanted)
    places = [graph.ONE]
    for depth in range(1, moving):
        places.append(_whole(access.accesses / (pattern.times * product(trips[depth:]))))
    places.append(sweep.trips)
    loops = [Loop(sweep.stride * inner, as_term(outer / inner).expression()) for inner, outer in pairwise(places)]
    still = [Loop(graph.ZERO, count) for count in trips[moving:]]
    return access.replace(pattern=pattern.replace(nest=pattern.nest.replace(loops=(*loops, *still))))


def _pad_loops(access: Access, depth: int) -> Access:
    """With loops of one trip around its own, up to those of the block."""
    pattern = access.pattern
    if not isinstance(pattern, Affine | Stencil) or len(pattern.nest.loops) == depth:
        return access
    outside = [Loop(graph.ZERO, graph.ONE)] * (depth - len(pattern.nest.loops))
    if isinstance(pattern, Stencil):
        return access.replace(pattern=pattern.replace(around=(*pattern.around, *outside)))
    loops = (*pattern.nest.loops, *outside)
    return access.replace(pattern=pattern.replace(nest=pattern.nest.replace(loops=loops)))


def _whole(steps: Expr) -> Expr:
    """How many places a stream reaches in some loops: one at least."""
    places = as_term(steps)
    if places.coefficient.denominator == 1 and all(exponent > 0 for _, exponent in places.powers):
        return places.expression()
    return graph.apply("max", 1, graph.apply("round", places.expression()))
