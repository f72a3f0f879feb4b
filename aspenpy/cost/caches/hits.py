"""How many lines each access has to fetch at one level, and which of its touches of lines find them there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.cost.caches.access import Access, Affine, Distances, Scattered, Stencil
from aspenpy.cost.caches.interference import (
    RARE,
    Neighbours,
    Window,
    footprint,
    hits,
    kept,
    reuse,
    reuse_of_sibling,
    sets_of,
    window,
)
from aspenpy.cost.caches.level import POLICIES, Level
from aspenpy.cost.caches.loop import Loop
from aspenpy.cost.caches.nest import Nest, product
from aspenpy.cost.caches.siblings import Cover, apart, meets, together
from aspenpy.cost.caches.triangular import averages
from aspenpy.cost.caches.warm import Swept, missing_share
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

NEWTON_STEPS = 4
"""What it takes to come within 1 % of how long a line of a table stays."""


class Touches(Record):
    """So many touches of lines, of which the share `hits` finds its line; `distance` other lines were touched since.
    Those that are `near` go on with a line: they belong to the same visit of it. Those that are `known` are the first
    of their access, and another one has touched the data structure there before."""

    count: Expr
    hits: Expr
    distance: Expr
    near: bool = False
    known: bool = False

    @property
    def first(self) -> bool:
        """Whether nothing came before."""
        return self.hits is graph.ZERO


class Around(Record):
    """What else happens in a block: its other nests, those that have touched the same data structure `before`, the
    words that were `drawn` from it, and what was `swept` before the block. One is `ahead` that touches in a pass of
    some loops all that the access does. `names` are those of the data structure and of the others that nests touch."""

    nests: Neighbours
    before: tuple[Nest, ...]
    ahead: Cover | None
    drawn: Expr
    swept: Swept
    names: tuple[str | None, ...]

    @property
    def first_alone(self) -> Around:
        """As if nothing else had touched the data structure before."""
        return self.replace(before=(), ahead=None, drawn=graph.ZERO)

    def mean(self, nest: Nest, values: Sequence[Expr], depth: int = 1, weight: Expr = graph.ONE) -> list[Expr]:
        """The means of values over the passes of a nest's loops from `depth` outwards, where its block has loops that
        depend on each other."""
        if not (nest.depends or self.nests.depend):
            return list(values)
        nests = (nest, *self.nests.siblings, *(other for others in self.nests.others for other in others))
        return averages(values, weight, [other.loops for other in nests], depth)


def touches(access: Access, around: Around, level: Level) -> list[Touches]:
    """All touches of lines of one access, the shortest distance first, first touches included (their distance is what
    `warm` says)."""
    all_touches = _RULES[type(access.pattern)](access, around, level)
    if not access.is_scattered:  # that rule holds for any policy
        all_touches = LAWS[POLICIES[level.policy].law](all_touches, level)
    if access.fresh:  # a page is zeroed in the cache as it is first touched
        return [part.replace(hits=graph.ONE) if part.first else part for part in all_touches]
    return all_touches


def pages_first_touched(access: Access, around: Around, page: Level) -> Expr:
    """Pages of a data structure that an access touches first, with a `page` for a line."""
    parts = _RULES[type(access.pattern)](access, around.first_alone, page)
    return graph.add(*(part.count for part in parts if part.first))


def _affine(access: Access, around: Around, level: Level) -> list[Touches]:
    """What each loop repeats, from the innermost outwards: the lines within over all its passes, less those of all.
    How much of it finds its line is a mean over the passes where the trips of loops depend on counters of others."""
    assert isinstance(access.pattern, Affine)
    nest, others = access.pattern.nest, around.nests
    parts = list[Touches]()
    for depth, loop in enumerate(nest.loops, 1):
        if around.ahead is not None and around.ahead.depth < depth:
            return [*parts, *_behind(access, nest, around, level)]
        if loop.trips is graph.ONE:
            continue
        inner, all_lines = (nest.lines_of_all_passes(number, level.line) for number in (depth - 1, depth))
        again = _at_least_none(inner - all_lines)
        if nest.crosses(depth) and not (nest.depends or others.depend):
            moving = product(outer.trips for outer in nest.loops[depth:] if outer.moves)
            seams = graph.apply("min", again, nest.seams(depth, level.line) * moving)
            share, distance = hits(nest, others, Window(depth, depth, 0), level)
            parts.append(Touches(seams, share, _but_its_own(distance)))
            again = again - seams
        found = reuse(nest, others, depth, level)
        share, distance = around.mean(nest, found, depth, nest.lines(depth - 1, level.line))
        met = graph.apply("min", again, _met(nest, around, depth, found[0], level))
        parts.append(Touches(met, graph.ONE, graph.ZERO))
        again = again - met
        near = not any(inner_loop.moves for inner_loop in nest.loops[: depth - 1])
        parts.append(Touches(again, share, _but_its_own(distance), near))
    return [*parts, *_first(access, nest, around, level)]


def _met(nest: Nest, around: Around, depth: int, share: Expr, level: Level) -> Expr:
    """Of the lines that a loop touches again, and of which that share is found, those that are there because a sibling
    has found them in the same pass, as A[k][j] for j = i does those of A[k][i]."""
    for sibling in around.nests.siblings:
        words = meets(nest, sibling, depth)
        if words is not None:
            inner, all_lines = (sibling.lines_of_all_passes(number, level.line) for number in (depth - 1, depth))
            theirs, _ = reuse(sibling, around.nests.of(nest, sibling), depth, level)
            more = [_at_least_none(theirs - share)]
            (found,) = around.mean(sibling, more, depth, sibling.lines(depth - 1, level.line))
            return _at_least_none(inner - all_lines) * (1 - words * nest.word / level.line) * found
    return graph.ZERO


def _behind(access: Access, nest: Nest, around: Around, level: Level) -> list[Touches]:
    """The touches of lines that another nest of the structure has touched since, within a pass of some loops."""
    assert around.ahead is not None
    other, depth = around.ahead.nest, around.ahead.depth
    touched = nest.lines_of_all_passes(depth, level.line)
    first = list[Touches]()
    if around.ahead.to_a_word:
        touched, first = touched - nest.lines(len(nest.loops), level.line), _first(access, nest, around, level)
    share, distance = graph.ONE, graph.ZERO
    if not together(nest, other, depth):
        found = hits(other, around.nests.of(nest, other), window(other, depth + 1), level)
        share, distance = around.mean(nest, found, depth + 1, nest.lines(depth, level.line))
    return [Touches(_at_least_none(touched), share, _but_its_own(distance)), *first]


def _first(access: Access, nest: Nest, around: Around, level: Level) -> list[Touches]:
    """The first touches of lines: those that another nest of the same structure has touched before, and the others."""
    lines = nest.lines(len(nest.loops), level.line)
    known = []
    if around.before:
        again = _known(nest, around.before, lines, level)
        found = reuse_of_sibling(nest, around.before[0], around.nests, level)
        share, distance = around.mean(around.before[0], found)
        known, lines = [Touches(again, share, _but_its_own(distance), known=True)], lines - again
    if not access.warm:
        return [*known, Touches(lines, graph.ZERO, graph.ZERO)]
    if access.since is not None:
        distance = access.since / level.line
        stays = kept(graph.apply("max", 1, distance / level.sets), level)
        return [*known, Touches(lines, stays, _but_its_own(distance))]
    touched = [(nest, nest.lines(len(nest.loops), level.line))]
    touched += [(nests[0], footprint(nests, level)) for nests in around.nests.others]
    (gone,) = around.mean(nest, [missing_share(touched, around.names, around.swept, level)])
    return [*known, Touches(lines, 1 - gone, around.swept.of(around.names) / level.line)]


def _known(nest: Nest, before: Sequence[Nest], lines: Expr, level: Level) -> Expr:
    """Of the lines of a nest those that others of the structure touch. Of two that are on different sides of a diagonal
    only those on it: what both have more than a rectangle around them."""
    beside = [other for other in before if not apart(nest, other)]
    if beside:
        return graph.apply("min", lines, footprint(beside, level))
    around = graph.apply("max", *(other.lines_around(level.line) for other in (nest, *before)))
    return graph.apply("min", lines, _at_least_none(lines + footprint(before, level) - around))


def _but_its_own(lines: Expr) -> Expr:
    """The other lines among those between two touches of one."""
    return _at_least_none(lines - 1)


def _at_least_none(count: Expr) -> Expr:
    return graph.apply("max", 0, count)


def _stencil(access: Access, around: Around, level: Level) -> list[Touches]:
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
            share, distance = _rows_at_once(pattern, level), lines
        repeated = _at_least_none(all_layers - known) * sweeps
        parts.insert(0, Touches(repeated, share, _but_its_own(distance)))
        known = graph.apply("max", known, all_layers)
    words = access.accesses - known * sweeps
    parts.append(Touches(_at_least_none(words), graph.ONE, graph.ZERO, near=True))
    everything = graph.add(sweep_lines, *others)
    again = sweep_lines * _at_least_none(sweeps - 1)
    parts.append(Touches(again, kept(everything / level.sets, level), _but_its_own(everything)))
    return [*parts, *_first(access, nest, around, level)]


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
        return kept(graph.add(lines, *beside) / graph.apply("min", level.sets, graph.add(sets, *beside)), level)
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


def _rows_at_once(pattern: Stencil, level: Level) -> Expr:
    """The share of the lines that stay while the stencil goes on along a row, of each row that it touches one. Rows a
    period of the cache apart meet in one set; the arms of a star meet in that of its middle."""
    axes, points = len(pattern.extents), pattern.points_nest
    still = Loop(graph.ZERO, graph.ONE)

    def each(along: range) -> Expr:
        """Lines in a set, of the rows along some axes."""
        loops = tuple(loop if axis in along else still for axis, loop in enumerate(points.loops))
        rows = product(loop.trips for loop in loops)
        return rows / sets_of(points.replace(loops=loops), axes, rows, level)

    if not pattern.star:
        return kept(each(range(1, axes)), level)
    arms, thick = [each(range(axis, axis + 1)) for axis in range(1, axes)], 2 * pattern.radius + 1
    middle = graph.add(*arms) - len(arms) + 1
    apart = (graph.mul(thick - arm, kept(arm, level)) for arm in arms)
    return graph.add(graph.mul(middle, kept(middle, level)), *apart) / pattern.streams(axes - 1)


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


def _scattered(access: Access, around: Around, level: Level) -> list[Touches]:
    """Each line as likely as any other: k accesses touch N (1 - (1 - 1/N)^k) different lines of N. Under any policy
    that does not look ahead the cache holds its share of them, where nothing else passes through it."""
    pattern = access.pattern
    assert isinstance(pattern, Scattered)
    lines = graph.apply("max", 1, pattern.table / level.line)
    before = graph.ZERO
    if around.before:
        before = graph.apply("min", 1, footprint(around.before, level) / lines)
    untouched = (1 - before) * (1 - 1 / lines) ** around.drawn
    different = lines * untouched * (1 - (1 - 1 / lines) ** access.accesses)
    passing = graph.add(*around.nests.lines(level))
    held = graph.apply("min", 1, level.lines / lines)
    time = graph.apply("log", lines / graph.apply("max", RARE, lines - level.lines))
    if passing is not graph.ZERO:
        held, time = _held_beside(lines, passing / graph.apply("max", 1, access.accesses), passing, level)
    if not access.warm:
        held = _held_from_empty(held, time, lines, access.accesses + around.drawn)
    held = graph.if_else(graph.compare("<=", lines + passing, level.lines), 1, held)
    again = _at_least_none(access.accesses - different)
    return [Touches(again, held, lines), Touches(different, _swept_before(access, lines, around, level), graph.ZERO)]


def _held_beside(lines: Expr, pace: Expr, passing: Expr, level: Level) -> tuple[Expr, Expr]:
    """The share of a table that is held while other lines pass through, `pace` of them for each access, and how long a
    line stays: for x accesses a line of the table, until N (1 - e^-x) lines of it and N x pace others fill the cache
    (Che, Tung and Wang, JSAC 2002). The left side is concave, so Newton's steps from below the root stay below it."""
    time = level.lines / (lines * (1 + pace))
    for _ in range(NEWTON_STEPS):
        gone = graph.apply("exp", -time)
        time += (level.lines / lines - (1 - gone) - pace * time) / (gone + pace)
    return graph.apply("min", 1, 1 - graph.apply("exp", -time)), time


def _held_from_empty(held: Expr, time: Expr, lines: Expr, accesses: Expr) -> Expr:
    """The share of the touches of known lines that find them, where the cache was empty. Until it is full, as long as a
    line stays later, all do; then the share `held` of all accesses."""
    filling = graph.apply("min", accesses, time * lines)
    found = filling - lines * (1 - graph.apply("exp", -filling / lines)) + (accesses - filling) * held
    again = accesses - lines * (1 - graph.apply("exp", -accesses / lines))
    return graph.apply("min", 1, found / graph.apply("max", RARE, again))


def _swept_before(access: Access, lines: Expr, around: Around, level: Level) -> Expr:
    """The share of a table's lines that a sweep of all data structures left in the cache: the last of each."""
    if not access.warm:
        return graph.ZERO
    swept = around.swept.of(around.names) if access.since is None else access.since
    everything = graph.apply("max", lines, swept / level.line)
    return graph.apply("min", 1, level.lines / everything)


def _distances(access: Access, around: Around, level: Level) -> list[Touches]:
    """SDCM for each distance. Of a data structure that was not swept before, each line is touched first once."""
    pattern = access.pattern
    assert isinstance(pattern, Distances)
    cold = graph.ZERO if access.warm else graph.apply("min", access.accesses, pattern.structure / level.line)
    parts = []
    for distance, share in zip(pattern.distances, pattern.shares, strict=True):
        lines = distance * _lines_a_unit(pattern.unit, access, level)
        count = (access.accesses - cold) * share
        parts.append(Touches(count, level.holds(lines), lines))
    return [*parts, Touches(access.accesses * pattern.first + cold, graph.ZERO, graph.ZERO)]


def _lines_a_unit(unit: str, access: Access, level: Level) -> Expr:
    """Lines that a distance of one covers: of words and bytes side by side, a line holds many (decision D12)."""
    if unit == "line":
        return graph.ONE
    return (access.word if unit == "word" else graph.ONE) / level.line


def _randomly_replaced(found: list[Touches], level: Level) -> list[Touches]:
    """The hits where a random line is replaced: (1 - m/B)^t with t visits between, where the share m of the visits of
    lines misses. First touches fill the cache before they replace anything, and the visits that do so are not among
    them."""
    visits = [part for part in found if not part.near]
    first = graph.add(*(part.count for part in visits if part.first))
    filling = graph.apply("min", first, level.lines)
    count = graph.apply("max", 1, graph.add(*(part.count for part in visits)) - filling)
    again = [part for part in visits if not part.first]
    shares = [part.count / count for part in again]
    between = dict(zip(again, _visits_between([part.distance for part in again], shares), strict=True))
    pairs = [value for part, share in zip(again, shares, strict=True) for value in (between[part], share)]
    misses = graph.apply("random_misses", level.lines, *(pairs or [graph.ZERO, graph.ZERO]))
    stays = 1 - misses / level.lines
    hits = [stays ** between.get(part, part.distance) for part in found]
    return [part.replace(hits=hit * _has_distance(part)) for part, hit in zip(found, hits, strict=True)]


def _visits_between(distances: list[Expr], shares: list[Expr]) -> list[Expr]:
    """The visits between two touches of a line, from the other lines between them (shortest distance first) and the
    share of the visits at each distance.

    Of c lines already met, only a visit at a distance of c or more meets one more: the footprint of t visits grows by
    P(D >= c) each (Xiang, Bao, Ding and Gao, ASPLOS 2013), so that t is the sum of 1 / P(D >= c) over c below D.
    """
    visits, met, further = graph.ZERO, graph.ZERO, graph.ONE
    between = []
    for distance, share in zip(distances, shares, strict=True):
        visits = visits + _at_least_none(distance - met) / further
        between.append(visits)
        met = graph.apply("max", met, distance)
        further = graph.apply("max", RARE, further - share)
    return between


def _has_distance(part: Touches) -> Expr:
    """0 for first touches, which nothing came before."""
    return graph.ZERO if part.first else graph.ONE


LAWS: dict[str, Callable[[list[Touches], Level], list[Touches]]] = {
    "lru": lambda found, level: found,
    "random": _randomly_replaced,
}
"""The hits under a replacement policy, from those of the least recently used."""

_RULES: dict[type, Callable[[Access, Around, Level], list[Touches]]] = {
    Affine: _affine,
    Stencil: _stencil,
    Scattered: _scattered,
    Distances: _distances,
}
