"""Lines that each access has to fetch at one level, and the touches of lines that find them there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.affine import affine, first_touches
from aspenpy.cost.caches.around import AccessSurroundings
from aspenpy.cost.caches.interference import footprint, lines_by_share, sets_of, share_kept_in_sets
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest
from aspenpy.cost.caches.offsets import Walks, offsets
from aspenpy.cost.caches.patterns import Affine, Distances, Offsets, Scattered, Stencil
from aspenpy.cost.caches.policies import POLICIES, RARE, Touches, at_least_none, but_its_own
from aspenpy.cost.caches.warm import Last, Swept
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def stencil(access: Access, around: AccessSurroundings, level: Level) -> list[Touches]:
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
    sweep_lines = pattern.lines(level.line)
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
    return [*parts, *first_touches(access, nest, around, level, sweep_lines)]


def _layers_kept(pattern: Stencil, axis: int, lines: Expr, beside: list[Expr], level: Level) -> Expr:
    """The share of the lines that stay until the next layer across `axis` axes touches them, `lines` of the layers and
    those `beside` them in between.

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


def _words_kept(pattern: Stencil, around: AccessSurroundings, level: Level) -> Expr:
    """The share of the lines that stay while the stencil goes on along a row, of each row that it touches one."""
    walks = Walks(pattern.as_offsets, around, level)
    touched = [walks.lines_touched(run) for run in walks.runs]
    kept = (graph.mul(count, walks.share_of_next_word(run)) for count, run in zip(touched, walks.runs, strict=True))
    return graph.add(*kept) / graph.apply("max", 1, graph.add(*touched))


def _layers(pattern: Stencil, nest: AccessNest, axis: int, level: Level) -> Expr:
    """Lines of the layers across `axis` axes (2: planes, 1: rows, 0: points in a row) that a stencil touches at a
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


NEWTON_STEPS = 4
"""What it takes to come within 1 % of how long a line of a table stays."""


def random_touches(access: Access, around: AccessSurroundings, level: Level) -> list[Touches]:
    """Touches at random, each line as likely as any other: k accesses touch N (1 - (1 - 1/N)^k) different lines of N.
    Under any policy that does not look ahead the cache holds its share of them, where nothing else passes through it.
    What is drawn are sectors, where lines have them. Of a table that all instances draw from each has a part, as it has
    of a cache that they share: N/S lines in C/S are held for as many draws as N in C are for those of S instances."""
    pattern = access.pattern
    assert isinstance(pattern, Scattered)
    size = pattern.table / level.shares if access.loads_together else pattern.table
    lines = graph.apply("max", 1, size / level.line)
    before = graph.ZERO
    if around.before:
        before = graph.apply("min", 1, footprint(around.before, level) / lines)
    sectors = lines if level.sector is None else graph.apply("max", 1, size / level.sector)
    untouched = (1 - before) * (1 - 1 / sectors) ** around.drawn
    different = sectors * untouched * (1 - (1 - 1 / sectors) ** access.accesses)
    held, time = _share_held_of_table(access, around, lines, level)
    found = () if access.warm else around.last(access, level)
    cold, new = _cold_executions(found)
    is_cold = graph.compare(">", cold, 0)
    runs = graph.if_else(is_cold, 1 / cold, 1) if cold is not graph.ZERO else graph.ONE
    if cold is not graph.ZERO:  # so many executions of the block fill the caches together
        filled = _share_held_from_empty(held, time * lines, sectors, (access.accesses + around.drawn) * runs)
        held = graph.if_else(is_cold, filled, held)
    passing = graph.add(*around.nests.lines(level))
    everything = graph.add(lines, passing, *(table.lines(level) for table in around.nests.tables))
    held = graph.if_else(graph.compare("<=", everything, level.lines), 1, held)
    again = at_least_none(access.accesses - different)
    if access.warm or cold is graph.ONE:
        left = _share_left_by_sweep(access, lines, around, level)
        return [Touches(again, held, lines), Touches(different, left, graph.ZERO, warm=True)]
    first = graph.ZERO
    if cold is not graph.ZERO:
        touched = sectors * untouched * (1 - (1 - 1 / sectors) ** (access.accesses * runs)) / runs
        first = graph.if_else(is_cold, new * graph.apply("min", different, touched), 0)
    shares = [(last.share, last.swept) for last in found if last.swept is not None]
    drawn = (access.accesses + around.drawn) * runs
    kept = [share * _share_left_by_run(lines, swept, around, drawn, level) for share, swept in shares]
    known = graph.add(*(share for share, _ in shares))
    left = graph.add(*kept) / (known if graph.is_exact(known) and known.payload else graph.apply("max", RARE, known))
    return [
        Touches(again, held, lines),
        Touches(different - first, left, lines, warm=True),
        Touches(first, graph.ZERO, graph.ZERO),
    ]


def _cold_executions(found: Sequence[Last]) -> tuple[Expr, Expr]:
    """The share of a block's executions before which nothing has touched a table, and that of its lines of which it is
    so."""
    never = [last for last in found if last.swept is None]
    cold, new = graph.add(*(last.share for last in never)), never[0].part if len(never) == 1 else graph.ONE
    if new is graph.ONE:
        return cold, new
    return graph.if_else(graph.compare(">", new, 0), cold / new, 0), new


def _share_held_of_table(access: Access, around: AccessSurroundings, lines: Expr, level: Level) -> tuple[Expr, Expr]:
    """The share of a table's lines, or of their sectors, that a level holds beside all that passes through it, and how
    long a line stays, in draws for each of its lines."""
    held = graph.apply("min", 1, level.lines / lines)
    time = graph.apply("log", lines / graph.apply("max", RARE, lines - level.lines))
    nests = around.nests
    draws = graph.apply("max", 1, access.accesses + nests.draws)
    if nests.tables or graph.add(*nests.lines(level)) is not graph.ZERO:
        tables = [(table.lines(level), table.draws / draws) for table in nests.tables]
        walks = [
            [(start, slope / draws) for start, slope in lines_by_share(nest, level)]
            for others in nests.others
            for nest in others
        ]
        held, time = _share_held_beside(lines, walks, tables, level)
    return held if level.sector is None else _share_of_sectors(held, level.line / level.sector), time


def _share_held_beside(
    lines: Expr, walks: Sequence[Sequence[tuple[Expr, Expr]]], tables: Sequence[tuple[Expr, Expr]], level: Level
) -> tuple[Expr, Expr]:
    """The share of a table that is held beside others, and how long a line stays, in draws for each of its lines.

    Each of `walks` touches min(a + b t) lines in t draws, each of `tables` has its lines and its draws for each draw of
    this one. For x draws a line, until the N (1 - e^-x) lines of the table, M (1 - e^-(x N q/M)) of each of M lines
    with q draws, and those of the walks fill the cache (Che, Tung and Wang, JSAC 2002, equation 3, with one time for
    all). The left side is concave, so Newton's steps from below the root stay below it."""
    fastest = [graph.add(*(slope for _, slope in pieces)) for pieces in walks]
    time = level.lines / (lines * graph.add(graph.ONE, *fastest, *(draws for _, draws in tables)))
    for _ in range(NEWTON_STEPS):
        gone = graph.apply("exp", -time)
        filled, slope = lines * (1 - gone), lines * gone
        for others, draws in tables:
            left = graph.apply("exp", -time * lines * draws / others)
            filled, slope = filled + others * (1 - left), slope + lines * draws * left
        for pieces in walks:
            touched, pace = _least_with_slope(pieces, time * lines)
            filled, slope = filled + touched, slope + lines * pace
        time += (level.lines - filled) / graph.apply("max", RARE, slope)
    return graph.apply("min", 1, 1 - graph.apply("exp", -time)), time


def _least_with_slope(pieces: Sequence[tuple[Expr, Expr]], draws: Expr) -> tuple[Expr, Expr]:
    """The least a + b t of the pieces at t = `draws`, and its slope b."""
    (start, pace), *others = pieces
    least = start + pace * draws
    for first, slope in others:
        value = first + slope * draws
        is_less = graph.compare("<", value, least)
        least, pace = graph.apply("min", least, value), graph.if_else(is_less, slope, pace)
    return least, pace


def _share_of_sectors(held: Expr, number: Expr) -> Expr:
    """The share of the sectors held of lines of which so large a share is held: those drawn since their line came. The
    last draw of a line was of the same of its k sectors, or of another one and found the line in its turn, so that
    p = h (1/k + (1 - 1/k) p)."""
    return held / (number - (number - 1) * held)


def _share_held_from_empty(held: Expr, time: Expr, lines: Expr, accesses: Expr) -> Expr:
    """The share of the touches of known lines, or sectors, that find them, where the cache was empty. Until it is full,
    for the draws of the `time` that a line stays later, all do; then the share `held` of all accesses."""
    filling = graph.apply("min", accesses, time)
    found = filling - lines * (1 - graph.apply("exp", -filling / lines)) + (accesses - filling) * held
    again = accesses - lines * (1 - graph.apply("exp", -accesses / lines))
    return graph.apply("min", 1, found / graph.apply("max", RARE, again))


def _share_left_by_sweep(access: Access, lines: Expr, around: AccessSurroundings, level: Level) -> Expr:
    """The share of a table's lines that a sweep of all data structures left in the cache: the last of each."""
    if not access.warm:
        return graph.ZERO
    swept = access.since / level.line if access.since is not None else lines
    for last in around.last(access, level):
        swept = last.swept.of(around.names) if last.swept is not None else swept
    return _share_left(lines, swept, level)


def _share_left_by_run(lines: Expr, swept: Swept, around: AccessSurroundings, drawn: Expr, level: Level) -> Expr:
    """The share of a table's lines that the run has left: of all that was swept since, the last.

    Where each pass of a loop draws some of them, most were last touched many passes ago: they stay beside all that the
    passes touch, as those of a table that a block draws from, of a run that has `drawn` from the table. What a pass
    touches of a table, N (1 - e^(-k/N)), gives its draws k. What one pass sweeps has room, too."""
    since = swept.of(around.names)
    if swept.each is None:
        return _share_left(lines, since, level)
    own, others, still, moving = swept.each.own, swept.each.tables, swept.each.still, swept.each.moving
    draws = graph.apply("max", RARE, _draws_touching(own, lines))
    tables = [(size, _draws_touching(part, size) / draws) for part, size in others]
    walks = [[(graph.ZERO, still / draws), (still, graph.ZERO)], [(graph.ZERO, moving / draws)]]
    held, time = _share_held_beside(lines, walks, tables, level)
    sectors = graph.ONE if level.sector is None else level.line / level.sector
    held = held if sectors is graph.ONE else _share_of_sectors(held, sectors)
    filled = _share_held_from_empty(held, time * lines, lines * sectors, drawn)
    return graph.apply("min", filled, level.lines / graph.apply("max", 1, since))


def _draws_touching(part: Expr, lines: Expr) -> Expr:
    """The random draws that touch a part of a table's lines."""
    return -lines * graph.apply("log", graph.apply("max", RARE, 1 - part / lines))


def _share_left(lines: Expr, swept: Expr, level: Level) -> Expr:
    """The share of a table's lines that a cache holds, the last ones, after `swept` lines of all data were swept."""
    return graph.apply("min", 1, level.lines / graph.apply("max", lines, swept))


def touches(access: Access, around: AccessSurroundings, level: Level) -> list[Touches]:
    """All touches of lines of one access, the shortest distance first, first touches included (their distance is what
    `warm` says)."""
    rule = _RULES[type(access.pattern)]
    all_touches = rule(access, around, level)
    if level.sector is not None and not access.is_scattered:  # sectors, which are there where their line has stayed
        counted = rule(access, around, level.of_sectors)
        all_touches = [lines.replace(count=part.count) for lines, part in zip(all_touches, counted, strict=True)]
    if not access.is_scattered:  # that rule holds for any policy
        all_touches = [*POLICIES[level.policy].law(all_touches, level.lines)]
    if access.fresh:  # a page is zeroed in the cache as it is first touched
        return [part.replace(hits=graph.ONE) if part.first else part for part in all_touches]
    return all_touches


def pages_first_touched(access: Access, around: AccessSurroundings, page: Level) -> Expr:
    """Pages of a data structure that an access touches first, with a `page` for a line."""
    parts = _RULES[type(access.pattern)](access, around.first_alone, page)
    return graph.add(*(part.count for part in parts if part.first))


def _distances(access: Access, around: AccessSurroundings, level: Level) -> list[Touches]:
    """SDCM for each distance. Of a data structure that was not swept before, each line is touched first once."""
    pattern = access.pattern
    assert isinstance(pattern, Distances)
    cold = graph.ZERO if access.warm else graph.apply("min", access.accesses, pattern.structure / level.line)
    parts = []
    for distance, share in zip(pattern.distances, pattern.shares, strict=True):
        lines = distance * _lines_a_unit(pattern.unit, access, level)
        count = (access.accesses - cold) * share
        parts.append(Touches(count, level.holds(lines), lines))
    found = () if access.warm else around.last(access, level)
    if any(last.swept is not None for last in found):
        swept = [(last.share, last.swept.of(around.names)) for last in found if last.swept is not None]
        parts += [Touches(cold * share, level.holds(lines), lines, warm=True) for share, lines in swept]
        cold = cold * graph.add(*(last.share for last in found if last.swept is None))
    return [*parts, Touches(access.accesses * pattern.first + cold, graph.ZERO, graph.ZERO)]


def _lines_a_unit(unit: str, access: Access, level: Level) -> Expr:
    """Lines that a distance of one covers: of words and bytes side by side, a line holds many (decision D12)."""
    if unit == "line":
        return graph.ONE
    return (access.word if unit == "word" else graph.ONE) / level.line


_RULES: dict[type, Callable[[Access, AccessSurroundings, Level], list[Touches]]] = {
    Affine: affine,
    Stencil: stencil,
    Offsets: offsets,
    Scattered: random_touches,
    Distances: _distances,
}
