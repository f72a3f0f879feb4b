"""Which touches of lines of a nest find them in a cache, by the loop that repeats them."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.around import AccessSurroundings
from aspenpy.cost.caches.interference import (
    ReuseWindow,
    footprint,
    reuse,
    reuse_of_sibling,
    reuse_window,
    share_found,
    share_kept_in_sets,
)
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest, product
from aspenpy.cost.caches.patterns import Affine
from aspenpy.cost.caches.policies import Touches, at_least_none, but_its_own
from aspenpy.cost.caches.siblings import are_across_diagonal, touches_the_same, words_met
from aspenpy.cost.caches.warm import missing_share
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def affine(access: Access, around: AccessSurroundings, level: Level) -> list[Touches]:
    """Touches that each loop repeats, from the innermost outwards: the lines within over all its passes, less those of
    all. How much of it finds its line is a mean over the passes where the trips of loops depend on counters of others.
    """
    assert isinstance(access.pattern, Affine)
    nest, others = access.pattern.nest, around.nests
    parts = list[Touches]()
    for depth, loop in enumerate(nest.loops, 1):
        if around.ahead is not None and around.ahead.depth < depth:
            return [*parts, *_behind(access, nest, around, level)]
        if loop.trips is graph.ONE:
            continue
        inner, all_lines = (nest.lines_of_all_passes(number, level.line) for number in (depth - 1, depth))
        again = at_least_none(inner - all_lines)
        if nest.crosses(depth) and not (nest.is_triangular or others.any_triangular):
            moving = product(outer.trips for outer in nest.loops[depth:] if outer.moves)
            seams = graph.apply("min", again, nest.seams(depth, level.line) * moving)
            share, distance = share_found(nest, others, ReuseWindow(depth, depth, 0), level)
            parts.append(Touches(seams, share, but_its_own(distance)))
            again = again - seams
        found = reuse(nest, others, depth, level)
        share, distance = around.mean(nest, found, depth, nest.lines(depth - 1, level.line))
        met = graph.apply("min", again, _lines_met_again(nest, around, depth, found[0], level))
        parts.append(Touches(met, graph.ONE, graph.ZERO))
        again = again - met
        near = not any(inner_loop.moves for inner_loop in nest.loops[: depth - 1])
        parts.append(Touches(again, share, but_its_own(distance), near))
    return [*parts, *first_touches(access, nest, around, level)]


def _lines_met_again(nest: AccessNest, around: AccessSurroundings, depth: int, share: Expr, level: Level) -> Expr:
    """Lines, among those that a loop touches again and of which that share is found, that are there because a sibling
    has found them in the same pass, as A[k][j] for j = i does those of A[k][i]."""
    for sibling in around.nests.siblings:
        words = words_met(nest, sibling, depth)
        if words is not None:
            inner, all_lines = (sibling.lines_of_all_passes(number, level.line) for number in (depth - 1, depth))
            theirs, _ = reuse(sibling, around.nests.of(nest, sibling), depth, level)
            more = [at_least_none(theirs - share)]
            carrier = sibling if sibling.is_triangular or around.nests.any_triangular else nest
            (found,) = around.mean(carrier, more, depth, sibling.lines(depth - 1, level.line))
            return at_least_none(inner - all_lines) * (1 - words * nest.word / level.line) * found
    return graph.ZERO


def _behind(access: Access, nest: AccessNest, around: AccessSurroundings, level: Level) -> list[Touches]:
    """The touches of lines that another nest of the structure has touched since, within a pass of some loops."""
    assert around.ahead is not None
    other, depth = around.ahead.nest, around.ahead.depth
    touched = nest.lines_of_all_passes(depth, level.line)
    first = list[Touches]()
    if around.ahead.to_a_word:
        touched, first = touched - nest.lines(len(nest.loops), level.line), first_touches(access, nest, around, level)
    share, distance = graph.ONE, graph.ZERO
    if not touches_the_same(nest, other, depth):
        found = share_found(other, around.nests.of(nest, other), reuse_window(other, depth + 1), level)
        share, distance = around.mean(nest, found, depth + 1, nest.lines(depth, level.line))
    return [Touches(at_least_none(touched), share, but_its_own(distance)), *first]


def first_touches(
    access: Access, nest: AccessNest, around: AccessSurroundings, level: Level, lines: Expr | None = None
) -> list[Touches]:
    """The first touches of `lines` lines, or of all lines of a nest: lines that another access to the structure has
    touched before, and new ones."""
    lines = nest.lines(len(nest.loops), level.line) if lines is None else lines
    known = []
    if around.before:
        again = _lines_touched_by_others(nest, around.before, lines, level)
        found = reuse_of_sibling(nest, around.before[0], around.nests, level)
        share, distance = around.mean(around.before[0], found)
        known, lines = [Touches(again, share, but_its_own(distance), known=True)], lines - again
    if access.since is not None:
        distance = access.since / level.line
        stays = share_kept_in_sets(graph.apply("max", 1, distance / level.sets), level)
        return [*known, Touches(lines, stays, but_its_own(distance), warm=True)]
    touched = [(nest, nest.lines(len(nest.loops), level.line))]
    touched += [(nests[0], footprint(nests, level)) for nests in around.nests.others]
    for last in around.last(access, level):
        if last.swept is None:
            known.append(Touches(lines * last.share, graph.ZERO, graph.ZERO))
        else:
            (gone,) = around.mean(nest, [missing_share(touched, around.names, last.swept, level)])
            known.append(Touches(lines * last.share, 1 - gone, last.swept.of(around.names), warm=True))
    return known


def _lines_touched_by_others(nest: AccessNest, before: Sequence[AccessNest], lines: Expr, level: Level) -> Expr:
    """The lines of a nest that others of the structure touch. Of two that are on different sides of a diagonal
    only those on it: what both have more than a rectangle around them."""
    beside = [other for other in before if not are_across_diagonal(nest, other)]
    if beside:
        return graph.apply("min", lines, footprint(beside, level))
    around = graph.apply("max", *(other.lines_around(level.line) for other in (nest, *before)))
    return graph.apply("min", lines, at_least_none(lines + footprint(before, level) - around))
