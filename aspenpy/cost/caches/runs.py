"""The runs of an access at offsets: words that lie side by side, in the order in which they come to a line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from aspenpy.cost.caches.domain import exact
from aspenpy.cost.caches.loop import Loop
from aspenpy.cost.caches.nest import Nest
from aspenpy.cost.caches.patterns import Affine, Offsets, Pattern, Run
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

NEAR = 64
"""Bytes that words lie apart, at most, to be of one run."""


def at_offsets(pattern: Pattern) -> Pattern:
    """A nest at offsets as runs; any other pattern as it is."""
    if not isinstance(pattern, Affine) or not pattern.offsets:
        return pattern
    walk = pattern.nest
    found = [_run(walk, place, length) for place, length in _join_words(pattern.offsets, walk.word)]
    runs = tuple(_in_order(found, walk))
    first = graph.apply("min", graph.ZERO, *(run.place for run in runs))
    ranges = [
        _range([run.steps[depth] for run in runs], loop, depth + 1 == walk.outermost)
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


def _range(steps: Sequence[Expr], loop: Loop, outermost: bool) -> Expr:
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
        terms = exact(offset).terms
        rest = frozenset((monomial, factor) for monomial, factor in terms.items() if monomial)
        constant = sum(float(factor) for monomial, factor in terms.items() if not monomial)
        groups.setdefault(rest, []).append((constant, offset))
    runs = list[tuple[Expr, Expr]]()
    for members in groups.values():
        members.sort(key=lambda member: member[0])
        begin, last = members[0], members[0][0]
        for constant, offset in [*members[1:], (float("inf"), graph.ZERO)]:
            if constant - last >= NEAR:
                runs.append((begin[1], word + graph.number(int(last - begin[0]))))
                begin = constant, offset
            last = constant
    return runs


def _run(walk: Nest, place: Expr, length: Expr) -> Run:
    """A run with the steps of the loops that lead to it, those of the longest strides first."""
    steps, rest = [graph.ZERO] * len(walk.loops), place
    order = walk.order(len(walk.loops))
    for depth in reversed(order):
        stride = walk.loops[depth].stride
        steps[depth] = rest / stride if depth == order[0] else graph.apply("round", rest / stride)
        rest = rest - steps[depth] * stride
    return Run(place, length, tuple(steps))


def _in_order(runs: Sequence[Run], walk: Nest) -> list[Run]:
    """The runs by the time at which they come to a place, the last first, sorted by exchanging neighbours."""
    sorted_runs = [(_time(run, walk.loops), run) for run in runs]
    for end in range(len(runs) - 1, 0, -1):
        for place in range(end):
            (early, first), (late, second) = sorted_runs[place : place + 2]
            swap = graph.compare(">", early, late)
            if swap is graph.ZERO or getattr(swap, "payload", None) is False:
                continue
            sorted_runs[place : place + 2] = [
                (graph.if_else(swap, late, early), _choose(swap, second, first)),
                (graph.if_else(swap, early, late), _choose(swap, first, second)),
            ]
    return [run for _, run in sorted_runs]


def _choose(condition: Expr, first: Run, second: Run) -> Run:
    steps = (graph.if_else(condition, *pair) for pair in zip(first.steps, second.steps, strict=True))
    return Run(
        graph.if_else(condition, first.place, second.place),
        graph.if_else(condition, first.bytes, second.bytes),
        tuple(steps),
    )


def _time(run: Run, loops: Sequence[Loop]) -> Expr:
    """Passes of the innermost loop between a place and a run beside it."""
    passes, time = graph.ONE, graph.ZERO
    for step, loop in zip(run.steps, loops, strict=True):
        time += step * passes
        passes = passes * loop.trips
    return time
