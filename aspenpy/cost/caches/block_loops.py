"""The loops of a block: each pattern of its accesses extended to the same ones, words at offsets to runs of lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from aspenpy.cost.caches import triangular
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.domain import StridedLoop
from aspenpy.cost.caches.nest import AccessNest, longest_trips, product
from aspenpy.cost.caches.patterns import Affine, ContiguousWords, Offsets, Pattern, Stencil
from aspenpy.expr import graph
from aspenpy.expr.expansion import multiply_out
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import as_term
from aspenpy.language.diagnostics import Related, fail

RUN_GAP = 64
"""Words that lie fewer bytes apart belong to one run: the bytes of the usual line, since they may share one."""


def runs_of_offsets(pattern: Pattern) -> Pattern:
    """A nest at offsets as runs; any other pattern as it is."""
    if not isinstance(pattern, Affine) or not pattern.offsets:
        return pattern
    walk = pattern.nest
    found = [_run_with_steps(walk, place, length) for place, length in _join_words(pattern.offsets, walk.word)]
    runs = tuple(_in_order(found, walk))
    first = graph.apply("min", graph.ZERO, *(run.place for run in runs))
    ranges = [
        _extra_trips([run.steps[depth] for run in runs], loop, depth + 1 == walk.outermost)
        for depth, loop in enumerate(walk.loops)
    ]
    loops = [
        loop.replace(trips=loop.trips + wider) if loop.moves and len(runs) > 1 else loop
        for loop, wider in zip(walk.loops, ranges, strict=True)
    ]
    longest = graph.apply("max", *(run.bytes for run in runs)) if len(runs) > 1 else runs[0].bytes
    rim = graph.ZERO - first
    places = tuple((run.place + rim, run.bytes) for run in runs)
    nest = walk.replace(loops=tuple(loops), word=longest, runs=places)
    return Offsets(walk, pattern.offsets, runs, nest, rim)


def _extra_trips(steps: Sequence[Expr], loop: StridedLoop, outermost: bool) -> Expr:
    """Trips by which the places of all runs are more than those of one, in a loop; runs that lie further apart than the
    loop goes have none in between. By the outermost loop they are in order."""
    if outermost:
        gaps = (graph.apply("max", 0, after - before) for before, after in pairwise(steps))
        return graph.add(graph.ZERO, *(graph.apply("min", gap, loop.trips) for gap in gaps))
    if len(steps) == 1:
        return graph.ZERO
    across = graph.apply("max", *steps) - graph.apply("min", *steps)
    return graph.apply("min", across, loop.trips * (len(steps) - 1))


def _join_words(offsets: Sequence[Expr], word: Expr) -> list[tuple[Expr, Expr]]:
    """Runs of words that certainly lie side by side: where they begin, and their bytes."""
    groups: dict[object, list[tuple[float, Expr]]] = {}
    for offset in offsets:
        terms = multiply_out(offset).terms
        rest = frozenset((monomial, factor) for monomial, factor in terms.items() if monomial)
        constant = sum(float(factor) for monomial, factor in terms.items() if not monomial)
        groups.setdefault(rest, []).append((constant, offset))
    runs = list[tuple[Expr, Expr]]()
    for members in groups.values():
        members.sort(key=lambda member: member[0])
        begin, last = members[0], members[0][0]
        for constant, offset in [*members[1:], (float("inf"), graph.ZERO)]:
            if constant - last >= RUN_GAP:
                runs.append((begin[1], word + graph.number(int(last - begin[0]))))
                begin = constant, offset
            last = constant
    return runs


def _run_with_steps(walk: AccessNest, place: Expr, length: Expr) -> ContiguousWords:
    """A run with the steps of the loops that lead to it, those of the longest strides first."""
    steps, rest = [graph.ZERO] * len(walk.loops), place
    order = walk.order(len(walk.loops))
    for depth in reversed(order):
        stride = walk.loops[depth].stride
        steps[depth] = rest / stride if depth == order[0] else graph.apply("round", rest / stride)
        rest = rest - steps[depth] * stride
    return ContiguousWords(place, length, tuple(steps))


def _in_order(runs: Sequence[ContiguousWords], walk: AccessNest) -> list[ContiguousWords]:
    """The runs by how far ahead they are in time, the rearmost first, sorted by exchanging neighbours."""
    sorted_runs = [(time_ahead(run.steps, walk), run) for run in runs]
    for end in range(len(runs) - 1, 0, -1):
        for index in range(end):
            (ahead_of_first, first), (ahead_of_second, second) = sorted_runs[index : index + 2]
            swap = graph.compare(">", ahead_of_first, ahead_of_second)
            if swap is graph.FALSE:
                continue
            sorted_runs[index : index + 2] = [
                (graph.if_else(swap, ahead_of_second, ahead_of_first), _choose(swap, second, first)),
                (graph.if_else(swap, ahead_of_first, ahead_of_second), _choose(swap, first, second)),
            ]
    return [run for _, run in sorted_runs]


def _choose(condition: Expr, first: ContiguousWords, second: ContiguousWords) -> ContiguousWords:
    steps = (graph.if_else(condition, *pair) for pair in zip(first.steps, second.steps, strict=True))
    return ContiguousWords(
        graph.if_else(condition, first.place, second.place),
        graph.if_else(condition, first.bytes, second.bytes),
        tuple(steps),
    )


def time_ahead(steps: Sequence[Expr], walk: AccessNest) -> Expr:
    """Passes of the innermost loop in which a walk comes to the line that lies `steps` ahead. Steps along the line take
    no time: the line is the same, or one that the walk comes back to."""
    passes, time, along = graph.ONE, graph.ZERO, walk.along_line
    for depth, (step, loop) in enumerate(zip(steps, walk.loops, strict=True)):
        if depth != along:
            time += step * passes
        passes = passes * loop.trips
    return time


def align_to_block_loops(accesses: Sequence[Access]) -> list[Access]:
    """The nests of the block, each written over the loops of the block."""
    require_same_depth(accesses)
    patterns = [access.pattern for access in accesses]
    affine = [pattern for pattern in patterns if isinstance(pattern, Affine)]
    models = [triangular.mean_trips(pattern.nest.loops) for pattern in affine if pattern.has_own_loops]
    models += [pattern.trips for pattern in patterns if isinstance(pattern, Stencil)]
    if not models:
        models = [_trips_of_streams(affine)] if affine else []
    depth = max(map(len, models), default=0)
    trips = [longest_trips([counts[at] for counts in models if at < len(counts)]) for at in range(depth)]
    extended = [_extend_through_block(access, trips) for access in accesses]
    depth = max((len(access.nest.loops) for access in extended if access.nest is not None), default=0)
    aligned = [_pad_loops(access, depth) for access in extended]
    return [access.replace(pattern=runs_of_offsets(access.pattern)) for access in aligned]


def _trips_of_streams(patterns: Sequence[Affine]) -> list[Expr]:
    """The loops of streams alone, some of them swept again and again: those of the most sweeps lie innermost. A stream
    that is swept once goes through all of them."""
    swept = [pattern.nest.loops for pattern in patterns if len(pattern.nest.loops) == 2]
    blocked = [[loop.trips for loop in pattern.nest.loops] for pattern in patterns if len(pattern.nest.loops) > 2]
    counts = list(dict.fromkeys(sweeps.trips for _, sweeps in swept))
    if blocked or not counts:
        models = blocked or [[loop.trips for loop in pattern.nest.loops] for pattern in patterns]
        return [longest_trips(list(trips)) for trips in zip(*models, strict=True)]
    if len(counts) > 1 and all(count.kind == "number" for count in counts):
        counts.sort(key=lambda count: -count.payload)
        first = longest_trips([sweep.trips for sweep, sweeps in swept if sweeps.trips is counts[0]])
        return [first, *(many / few for many, few in pairwise(counts)), counts[-1]]
    return [longest_trips([sweep.trips for sweep, _ in swept]), longest_trips(counts)]


def require_same_depth(accesses: Sequence[Access]) -> None:
    """Refuses a block whose patterns write different numbers of loops."""
    written = [(access.requirement, access.nest.loops) for access in accesses if access.nest and access.has_own_loops]
    for here, loops in written[1:]:
        first, others = written[0]
        if len(loops) != len(others):
            counts = f"{len(others)} and {len(loops)}"
            message = f"the patterns of one block have the same loops, and these have {counts}"
            related = (Related(first.span, "the first"),)
            hint = "give a loop outside of an access as `0, 1`; `reuse` is one more loop, of all of them or of none"
            fail("different-loops", message, here.span, related=related, hint=hint)


def _extend_through_block(access: Access, trips: list[Expr]) -> Access:
    """A stream goes on through the loops of the block, and one that is swept again through the inner ones, where its
    sweeps are theirs."""
    pattern = access.pattern
    if not isinstance(pattern, Affine) or pattern.has_own_loops:
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
        places.append(_whole_positions(access.accesses / (pattern.times * product(trips[depth:]))))
    places.append(sweep.trips)
    loops = [
        StridedLoop(sweep.stride * inner, as_term(outer / inner).expression()) for inner, outer in pairwise(places)
    ]
    repeating = [StridedLoop(graph.ZERO, count) for count in trips[moving:]]
    return access.replace(pattern=pattern.replace(nest=pattern.nest.replace(loops=(*loops, *repeating))))


def _pad_loops(access: Access, depth: int) -> Access:
    """The access with loops of one trip put around its own, until it has as many as the block."""
    pattern = access.pattern
    if not isinstance(pattern, Affine | Stencil) or len(pattern.nest.loops) == depth:
        return access
    outside = [StridedLoop(graph.ZERO, graph.ONE)] * (depth - len(pattern.nest.loops))
    if isinstance(pattern, Stencil):
        return access.replace(pattern=pattern.replace(around=(*pattern.around, *outside)))
    loops = (*pattern.nest.loops, *outside)
    return access.replace(pattern=pattern.replace(nest=pattern.nest.replace(loops=loops)))


def _whole_positions(steps: Expr) -> Expr:
    """Number of positions that a stream reaches in some loops, at least 1; a product of names is taken for whole."""
    places = as_term(steps)
    is_product = all(base.kind == "symbol" and exponent > 0 for base, exponent in places.powers)
    if places.coefficient.denominator == 1 and is_product:
        return places.expression()
    return graph.apply("max", 1, graph.apply("round", places.expression()))
