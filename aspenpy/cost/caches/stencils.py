"""Which touches of lines of a stencil find them in a cache: layers, rows, points."""

from __future__ import annotations

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.affine import first_touches
from aspenpy.cost.caches.around import Around
from aspenpy.cost.caches.interference import sets_of, share_kept_in_sets
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import Nest
from aspenpy.cost.caches.offsets import Walks
from aspenpy.cost.caches.patterns import Stencil
from aspenpy.cost.caches.policies import Touches, at_least_none, but_its_own
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def stencil(access: Access, around: Around, level: Level) -> list[Touches]:
    """Layer conditions (Stengel, Treibig, Hager and Wellein, ICS 2015): a line is fetched once in a sweep if as many
    layers as the stencil is thick stay in the cache, else once for each layer; within a layer, the same of its rows.
    A part of a sweep is one over that part of the layers.
    """
    assert isinstance(access.pattern, Stencil)
    assert access.sweep is not None
    sweeps = access.accesses / access.sweep
    pattern = access.pattern.part(graph.apply("min", 1, sweeps))
    sweeps = graph.apply("max", 1, sweeps)
    nest, others = pattern.nest, around.nests.lines(level)
    sweep_lines = nest.lines(len(nest.loops), level.line)
    parts, known = list[Touches](), sweep_lines
    for axis in range(len(pattern.extents) - 1, -1, -1):
        lines = _layers(pattern, nest, axis, level)
        all_layers = graph.mul(lines, *pattern.extents[axis:])
        if axis:
            beside = [part / graph.mul(sweeps, *pattern.extents[axis:]) for part in others]
            share, distance = _layers_kept(pattern, axis, lines, beside, level), graph.add(lines, *beside)
        else:
            share, distance = _words_kept(pattern, around, level), lines
        repeated = at_least_none(all_layers - known) * sweeps
        parts.insert(0, Touches(repeated, share, but_its_own(distance)))
        known = graph.apply("max", known, all_layers)
    words = access.accesses - known * sweeps
    parts.append(Touches(at_least_none(words), graph.ONE, graph.ZERO, near=True))
    everything = graph.add(sweep_lines, *others)
    again = sweep_lines * at_least_none(sweeps - 1)
    parts.append(Touches(again, share_kept_in_sets(everything / level.sets, level), but_its_own(everything)))
    return [*parts, *first_touches(access, nest, around, level)]


def _layers_kept(pattern: Stencil, axis: int, lines: Expr, beside: list[Expr], level: Level) -> Expr:
    """The share of the lines that stay until the next layer across so many axes touches them, `lines` of the layers
    and those `beside` them in between.

    Along the slowest axis the layers follow each other in memory. Between two touches of a line, as the layer `far`
    ahead of the middle and as the one after, lie those from the last layer behind up to the next ahead, less the rows
    on which it is touched early or late; of these it shares its set with each a whole number of ways away.
    """
    radius = pattern.radius
    if axis < len(pattern.extents) - 1:
        sets = sets_of(pattern.points_nest, len(pattern.extents) + axis, lines, level)
        return share_kept_in_sets(
            graph.add(lines, *beside) / graph.apply("min", level.sets, graph.add(sets, *beside)), level
        )
    row, layer = (pattern.nest.loops[place].stride for place in (axis - 1, axis))
    within = lines / (pattern.streams(1) * pattern.nest.lines(axis, level.line))
    way, shares = level.line * level.sets, []
    for far in range(radius, -radius, -1):
        late = radius if not pattern.star or far == 0 else 0
        early = radius if not pattern.star or far == 1 else 0
        around = ((radius + far) * layer - late * row, (radius + 1 - far) * layer - early * row)
        in_set = graph.add(*(graph.apply("floor", graph.apply("max", 0, part) / way) for part in around))
        passed = graph.apply("max", 0, 1 - (late + early) * row / layer)
        loads = [part for lines in beside for part in (lines * passed / level.sets, graph.ONE)]
        shares.append(graph.apply("lines_with_room", level.room, 1 + in_set * within, *loads))
    return graph.add(*shares) / len(shares)


def _words_kept(pattern: Stencil, around: Around, level: Level) -> Expr:
    """The share of the lines that stay while the stencil goes on along a row, of each row that it touches one."""
    walks = Walks(pattern.as_offsets, around, level)
    touched = [walks.touched(run) for run in walks.runs]
    kept = (graph.mul(count, walks.share_of_next_word(run)) for count, run in zip(touched, walks.runs, strict=True))
    return graph.add(*kept) / graph.apply("max", 1, graph.add(*touched))


def _layers(pattern: Stencil, nest: Nest, axis: int, level: Level) -> Expr:
    """Lines of the layers across so many axes (2: planes, 1: rows, 0: points in a row) that a stencil touches at a
    point. Those of a star beside its middle have no rim, and a point of a row each."""
    if not axis:
        near = pattern.points_nest
        run = near.run_lines(near.loops[:1], near.loops[1:], level.line)
        rows = pattern.streams(len(pattern.extents)) // (2 * pattern.radius + 1)
        return rows * run if not pattern.star else pattern.streams(len(pattern.extents) - 1) - 1 + run
    full = nest.lines(axis, level.line)
    if not pattern.star:
        return pattern.streams(len(pattern.extents) - axis) * full
    beside = [extent / (extent + 2 * pattern.radius) for extent in pattern.extents[1:axis]]
    others = graph.number(pattern.streams(len(pattern.extents) - axis) - 1)
    return full + graph.mul(others, full, *beside)
