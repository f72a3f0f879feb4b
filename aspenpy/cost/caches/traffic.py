"""Traffic: what the requirements of a block move between the levels of the memory hierarchy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from aspenpy.cost.caches import hits
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.around import AccessSurroundings
from aspenpy.cost.caches.block_loops import align_to_block_loops
from aspenpy.cost.caches.interference import DrawnTable, InterveningData, intervening_data
from aspenpy.cost.caches.known import AS_COUNTED, KnownTouches, LinesAnywhere
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest, product
from aspenpy.cost.caches.patterns import Affine, Offsets, Pattern, Scattered, Stencil
from aspenpy.cost.caches.policies import Touches, at_least_none
from aspenpy.cost.caches.siblings import Cover, find_cover
from aspenpy.cost.caches.warm import COLD, Memory
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.record import Record


class Structure(Record):
    """The accesses to one data structure, in groups that touch the same lines at the same time: the first of a group
    meets its misses. The groups that have been everywhere first come first."""

    groups: tuple[tuple[Access, ...], ...]

    @property
    def name(self) -> str | None:
        return self.groups[0][0].requirement.target

    @property
    def nests(self) -> tuple[AccessNest, ...]:
        return tuple(group[0].nest for group in self.groups if group[0].nest is not None)

    def neighbours(self, number: int, others: Sequence[Structure]) -> InterveningData:
        """Data touched between the touches of a group."""
        groups = (*self.groups[:number], *self.groups[number + 1 :])
        siblings = tuple(group[0].nest for group in groups if group[0].nest is not None)
        nests = (structure.nests for structure in others if structure is not self)
        tables = (structure.table for structure in others if structure is not self)
        return intervening_data(
            siblings,
            tuple(found for found in nests if found),
            tuple(table for table in tables if table is not None),
            graph.add(*(group[0].accesses for group in groups if group[0].is_scattered)),
        )

    @property
    def table(self) -> DrawnTable | None:
        """The table that all accesses together draw from; None where none draws."""
        drawing = [group[0] for group in self.groups if isinstance(group[0].pattern, Scattered)]
        if not drawing:
            return None
        sizes = list(dict.fromkeys(group.pattern.table for group in drawing if isinstance(group.pattern, Scattered)))
        size = graph.apply("max", *sizes) if len(sizes) > 1 else sizes[0]
        shared = all(access.loads_together for access in drawing)
        return DrawnTable(size, graph.add(*(access.accesses for access in drawing)), shared)

    def before(self, number: int) -> tuple[AccessNest, ...]:
        """The nests that have touched the structure before a group does."""
        return tuple(group[0].nest for group in self.groups[:number] if group[0].nest is not None)

    def ahead(self, number: int) -> Cover | None:
        """The one of those that touches, within the fewest loops, all that a group does."""
        own = self.groups[number][0]
        if not isinstance(own.pattern, Affine):
            return None
        earlier = (group[0].pattern for group in self.groups[:number])
        covers = (find_cover(own.pattern.nest, pattern.nest) for pattern in earlier if isinstance(pattern, Affine))
        return min((cover for cover in covers if cover is not None), key=lambda cover: cover.depth, default=None)

    def drawn(self, number: int) -> Expr:
        """The words that were drawn from it beside those of a group."""
        drawn = (group[0] for group in self.groups[:number])
        return graph.add(*(access.accesses for access in drawn if access.is_scattered))


def structures_of_block(accesses: Sequence[Access], allocates: bool) -> list[Structure]:
    """The data structures of a block. Accesses that do not name theirs have one of their own. Where a store `allocates`
    no line, loads that touch the same bring it."""
    stencils = {access.requirement.target: access for access in accesses if isinstance(access.pattern, Stencil)}
    spread = {access.requirement.target: access for access in accesses if isinstance(access.pattern, Offsets)}
    found: dict[object, dict[object, list[Access]]] = {}
    drawn = Counter[tuple[object, ...]]()
    for access in accesses:
        name, pattern = access.requirement.target, access.pattern
        place: object = access.requirement
        if name is not None and isinstance(pattern, Affine | Stencil) and name in stencils:
            place = stencils[name].pattern  # the point in the middle has just been touched, or a row beside it
        elif name is not None and name in spread and _goes_along(pattern, spread[name].pattern):
            place = spread[name].pattern
        elif name is not None and isinstance(pattern, Affine):
            loops = pattern.nest.loops
            place = tuple((loop.stride, loop.trips, loop.low) if loop.moves else None for loop in loops)
        elif name is not None and isinstance(pattern, Scattered):
            draw = (name, pattern, access.writes)
            place = pattern, drawn[draw]  # a store updates what a load has drawn; two loads draw apart
            drawn[draw] += 1
        found.setdefault(name or access.requirement, {}).setdefault(place, []).append(access)
    return [
        Structure(tuple(sorted((_put_leader_first(group, allocates) for group in groups.values()), key=_outermost)))
        for groups in found.values()
    ]


def _goes_along(pattern: Pattern, other: Pattern) -> bool:
    """Whether an access has the loops of one at offsets, so that the next word of each touches what that one does."""
    assert isinstance(other, Offsets)
    walk = pattern.walk if isinstance(pattern, Offsets) else pattern.nest if isinstance(pattern, Affine) else None
    return walk is not None and walk.loops == other.walk.loops


def _put_leader_first(members: list[Access], allocates: bool) -> tuple[Access, ...]:
    """Accesses, first the one that touches lines most often; of random accesses, and where no store `allocates`, loads
    come before stores."""

    def place(access: Access) -> tuple[bool, int, bool]:
        repeats = 0 if access.nest is None else sum(loop.repeats for loop in access.nest.loops)
        behind = access.writes and (access.is_scattered or not allocates)
        return not isinstance(access.pattern, Stencil | Offsets), -repeats, behind

    return tuple(sorted(members, key=place))


def _outermost(group: tuple[Access, ...]) -> tuple[float, int]:
    """The loop with which it has been everywhere, and that which it stands in; tables are touched all the time."""
    nest = group[0].nest
    if nest is None:
        return math.inf, 0
    return nest.outermost, next((place for place, loop in enumerate(nest.loops) if loop.trips is not graph.ONE), 0)


MOST_LAID = 48
"""Data structures of a block of which each has its own place in a cache; more of them begin at equal places, so that
those that are alike are worked out once."""


class LevelUse(Record):
    """One requirement at one level, per parallel instance: `accesses` that reach the level, of which `misses` do not
    find their line; lines `fetched` from the next level and `written_back` to it, in units of the level. Where that is
    a victim cache, or exclusive, it takes clean lines, too: `victims`. A share of what would be fetched is `evaded`.
    Units found there that were touched by the run before the block, and not by the block, are `warm`. Misses are
    `unsure` where only some touches of their kind are thought to find their line. Where that is estimated, of walks at
    offsets and of what the run left, there would be others if lines lay `anywhere`. Counts are the sum of so many
    `parts`, where each of a rank's cores has a cache of its own."""

    level: Level
    accesses: Expr
    misses: Expr
    fetched: Expr
    written_back: Expr
    victims: Expr = graph.ZERO
    evaded: Expr = graph.ZERO
    warm: Expr = graph.ZERO
    unsure: Expr = graph.ZERO
    anywhere: LinesAnywhere = AS_COUNTED
    parts: Expr = graph.ONE


class RequirementTraffic(Record):
    """A requirement at each level, the nearest to the core first. `walks` are the accesses whose page the core's
    translation buffer does not know."""

    access: Access
    levels: tuple[LevelUse, ...]
    walks: Expr = graph.ZERO

    @property
    def word_of_use(self) -> Expr:
        """Bytes of a word, or of its part in one line, of those that are counted at the first level."""
        return self.access.word / self.access.lines_of_word(self.levels[0].level.unit)

    @property
    def read_bytes(self) -> Expr:
        """Bytes that memory sends."""
        last = self.levels[-1]
        return last.fetched * last.level.unit

    @property
    def allocates(self) -> bool:
        """Whether it stores, and fetches lines from memory for that (write-allocate)."""
        return self.access.writes and self.levels[-1].fetched is not graph.ZERO

    @property
    def written_bytes(self) -> Expr:
        """Bytes that memory takes."""
        last = self.levels[-1]
        return last.written_back * last.level.unit

    @property
    def served(self) -> tuple[LevelTraffic, ...]:
        """Bytes that each level sends and takes: the first the words that the core loads and stores, each further one
        the lines that the one before it fetches and writes back."""
        asked = self.access.accesses * self.access.word
        first = (graph.ZERO, asked) if self.access.writes else (asked, graph.ZERO)
        lines = ((use.fetched * use.level.unit, use.written_back * use.level.unit) for use in self.levels[:-1])
        return tuple(LevelTraffic(use.level, *both) for use, both in zip(self.levels, (first, *lines), strict=True))


class LevelTraffic(Record):
    """Bytes that a level sends towards the core, and takes from there."""

    level: Level
    sent: Expr
    taken: Expr


def block_traffic(
    accesses: Sequence[Access],
    levels: Sequence[Level],
    memory: Memory,
    page: Expr,
    buffer: Level | None,
    touches: KnownTouches,
) -> dict[flow.Requirement, RequirementTraffic]:
    """The traffic of the requirements of a block that have a pattern of access. A `page` is in bytes, the translation
    `buffer` a cache of pages, `memory` says what the run touched before, and `touches` keeps what is worked out.

    Each line of a data structure is touched first once, whatever the patterns that touch it.
    """
    traffic = {access.requirement: _past_the_caches(access, levels) for access in accesses if access.streaming}
    cached = [access for access in accesses if not access.streaming]
    if len({access.requirement.target for access in cached}) > MOST_LAID:
        cached = [access.at_equal_places for access in cached]
    block = structures_of_block(align_to_block_loops(cached), levels[0].writes == "allocate")
    for structure in block:
        fresh = any(access.fresh for group in structure.groups for access in group)
        for number, group in enumerate(structure.groups):
            neighbours = structure.neighbours(number, block)
            before, ahead = structure.before(number), structure.ahead(number)
            names = (structure.name, *(other.name for other in block if other is not structure and other.nests))
            around = AccessSurroundings(neighbours, before, ahead, structure.drawn(number), memory, names)
            members = [access.replace(fresh=True) for access in group] if fresh else group
            fetching = [level.fetching_by(members[0].stride, page) for level in levels]
            found = _group_traffic(members, around, fetching, buffer, touches)
            if fresh and not before:
                found = _add_zeroed_pages(found, group[0], around, page)
            traffic |= found
    return {access.requirement: traffic[access.requirement] for access in accesses}


def _group_traffic(
    group: Sequence[Access],
    around: AccessSurroundings,
    levels: Sequence[Level],
    buffer: Level | None,
    touches: KnownTouches,
) -> dict[flow.Requirement, RequirementTraffic]:
    """The traffic of accesses that touch the same lines at the same time: the first of them meets the misses."""
    leader, *others = group
    asking = leader.replace(accesses=_most(group)) if leader.is_scattered else leader
    check = product(member.check for member in group)
    fetching = [level.by_misses for level in levels]
    found = first_found = [touches.of(asking, around, level) for level in fetching]
    misses = [missed * check for missed in _misses(asking, found)]
    warm, unsure = _found_warm(found), [graph.ZERO] * len(found)
    if not leader.is_scattered:  # of which some hit by nature
        unsure = [_unsure_misses(parts) for parts in found]
    stored = any(member.writes for member in group)
    lines = misses
    stores_differ = stored and _stores_differ(asking, around, levels[0])
    if stored and (fetching != [*levels] or around.before or stores_differ):
        if fetching != [*levels] or leader.is_scattered or around.ahead is not None or stores_differ:
            found = [touches.of(asking, around.first_alone.replace(stored=True), level) for level in levels]
        lines = _misses(asking, [list(map(_as_first, parts)) for parts in found])
    pages = graph.ZERO if buffer is None else _misses(asking, [touches.of(asking, around, buffer)])[0]
    walks = pages / leader.lines_of_entry
    full = leader.stored_in_full(levels[-1].unit) if all(member.writes for member in group) else None
    uses = _uses(leader, misses, lines if stored else None, levels, full)
    apart = [touches.anywhere(asking, parts, level) for parts, level in zip(first_found, fetching, strict=True)]
    uses = tuple(
        use.replace(warm=use.level.brought * kept, unsure=part, anywhere=other)
        for use, kept, part, other in zip(uses, warm, unsure, apart, strict=True)
    )
    first = RequirementTraffic(leader, uses, walks)
    none = [graph.ZERO] * len(levels)
    rest = {member.requirement: RequirementTraffic(member, _uses(member, none, None, levels)) for member in others}
    return {leader.requirement: first, **rest}


def _stores_differ(access: Access, around: AccessSurroundings, level: Level) -> bool:
    """Whether the structure was stored to at other times than it was touched: a line that is there may be clean."""
    if access.since is not None:
        return False
    return [*around.last(access, level)] != [*around.replace(stored=True).last(access, level)]


NOTHING = AccessSurroundings(InterveningData((), ()), (), None, graph.ZERO, lambda *_: (COLD,), (None,))
"""Of a block in which nothing else happens."""


def _past_the_caches(access: Access, levels: Sequence[Level]) -> RequirementTraffic:
    """A store that no cache takes. Words that go to one line in a row are gathered, and leave for memory when the
    stores go on to another (Intel's optimization manual, write combining): as often as they come to a line, it is
    written. Those of a whole grid meet in the cache that all instances share: a piece to which several store is
    written once."""
    gathered = levels[-1] if access.is_all else levels[0]
    parts = hits.touches(access.replace(warm=False), NOTHING, gathered)
    lines = graph.add(*(part.count for part in parts if not part.near and (part.first or not access.is_all)))
    lines = lines * access.check
    first, *others = levels
    uses = [LevelUse(first, access.accesses * access.lines_of_word(first.unit), lines, graph.ZERO, graph.ZERO)]
    uses += [LevelUse(level, graph.ZERO, graph.ZERO, graph.ZERO, graph.ZERO) for level in others]
    last = levels[-1].unit
    uses[-1] = uses[-1].replace(written_back=lines if last is gathered.unit else lines * gathered.unit / last)
    return RequirementTraffic(access, tuple(uses))


def _add_zeroed_pages(
    traffic: dict[flow.Requirement, RequirementTraffic], leader: Access, around: AccessSurroundings, page: Expr
) -> dict[flow.Requirement, RequirementTraffic]:
    """Adds the lines of pages that the system zeroes as they are first touched: all leave each level dirty, also those
    without stores."""
    first = traffic[leader.requirement]
    pages = hits.pages_first_touched(leader, around, first.levels[0].level.replace(line=page, sector=None))
    levels = tuple(use.replace(written_back=use.written_back + pages * page / use.level.unit) for use in first.levels)
    return {**traffic, leader.requirement: first.replace(levels=levels)}


def _most(group: Sequence[Access]) -> Expr:
    different = list(dict.fromkeys(member.accesses for member in group))
    return graph.apply("max", *different) if len(different) > 1 else different[0]


def _as_first(part: Touches) -> Touches:
    """As if nothing else had touched the data structure before."""
    return part.replace(hits=graph.ZERO) if part.known else part


def _misses(access: Access, found: Sequence[Sequence[Touches]]) -> list[Expr]:
    """Lines not found at each level, from the touches there. What a level does not find, those before it did not find
    either."""
    misses, missing_before = [], list[Expr]()
    for parts in found:
        missing = [1 - part.hits for part in parts]
        if missing_before:
            missing = [graph.apply("min", *pair) for pair in zip(missing, missing_before, strict=True)]
        missing_before = missing
        total = graph.add(*(part.count * share for part, share in zip(parts, missing, strict=True)))
        misses.append(graph.apply("min", access.accesses, total) if _estimates_touches(access) else total)
    return misses


def _found_warm(found: Sequence[Sequence[Touches]]) -> list[Expr]:
    """The touches at each level that find what the run has left there, and that no level before it has."""
    warm, held_before = [], graph.ZERO
    for parts in found:
        held = graph.add(*(part.count * part.hits for part in parts if part.warm))
        warm.append(held if held_before is graph.ZERO else at_least_none(held - held_before))
        held_before = held
    return warm


def _unsure_misses(parts: Sequence[Touches]) -> Expr:
    """Misses in doubt: of touches of which a share finds its line, the smaller part, found or missed; sets are nearly
    full then, and a line more or less turns them."""
    certain = (graph.ZERO, graph.ONE)
    doubtful = [part for part in parts if part.hits not in certain]
    return graph.add(graph.ZERO, *(part.count * graph.apply("min", part.hits, 1 - part.hits) for part in doubtful))


def _estimates_touches(access: Access) -> bool:
    """Whether the touches of lines may be estimated to be more than the accesses."""
    nest = access.nest
    if nest is not None and (nest.is_triangular or any(nest.crosses(depth) for depth in range(1, len(nest.loops) + 1))):
        return True
    return isinstance(access.pattern, Stencil | Offsets)


def _uses(
    access: Access,
    misses: Sequence[Expr],
    written: Sequence[Expr] | None,
    levels: Sequence[Level],
    full: Expr | None = None,
) -> tuple[LevelUse, ...]:
    """The use of each level, which is asked for what the level before it has missed. `written` are the lines that leave
    each level dirty; of those missed so large a share is stored in `full`."""
    uses = []
    lines = access.lines_of_word(levels[0].unit)
    asked, word = access.accesses * lines, access.word / lines
    for place, (level, missed) in enumerate(zip(levels, misses, strict=True)):
        evaded = graph.ZERO if full is None else level.evasion * full
        fetched = missed * level.brought * (1 - evaded)
        written_back = graph.ZERO if written is None else written[place]
        if access.writes and missed is not graph.ZERO and level.writes != "allocate":
            fetched = graph.ZERO
            if level.writes == "no_allocate":  # no store brings the line for the next one; each word goes on by itself
                missed, written_back = asked, asked * word / level.unit
        victims = graph.ZERO
        if place + 1 < len(levels) and levels[place + 1].adds:  # each line that came leaves again
            victims = graph.apply("max", 0, fetched - written_back)
        uses.append(LevelUse(level, asked, missed, fetched, written_back, victims, evaded))
        asked = missed
    return tuple(uses)
