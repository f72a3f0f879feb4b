"""Traffic: what the requirements of a block move between the levels of the memory hierarchy."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.allowance import allowance
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.around import Around
from aspenpy.cost.caches.block_loops import in_the_same_loops
from aspenpy.cost.caches.hits import pages_first_touched, touches
from aspenpy.cost.caches.interference import Neighbours
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import product
from aspenpy.cost.caches.patterns import Affine, Stencil
from aspenpy.cost.caches.policies import Touches
from aspenpy.cost.caches.structures import structures
from aspenpy.cost.caches.warm import Swept
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow
from aspenpy.record import Record

OF_A_LOOK = 70_000
"""Operations that it counts as to look at one nest beside another: some 0.14 ms, building formulas."""


class LevelUse(Record):
    """One requirement at one level, per parallel instance: `accesses` that reach the level, of which `misses` do not
    find their line; lines `fetched` from the next level and `written_back` to it. Where that is a victim cache, or
    exclusive, it takes clean lines, too: `victims`."""

    level: Level
    accesses: Expr
    misses: Expr
    fetched: Expr
    written_back: Expr
    victims: Expr = graph.ZERO


class Traffic(Record):
    """A requirement at each level, the nearest to the core first. `walks` are the accesses whose page the core's
    translation buffer does not know."""

    access: Access
    levels: tuple[LevelUse, ...]
    walks: Expr = graph.ZERO

    @property
    def read_bytes(self) -> Expr:
        """What memory sends."""
        last = self.levels[-1]
        return last.fetched * last.level.line

    @property
    def allocates(self) -> bool:
        """Whether it stores, and fetches lines from memory for that (write-allocate)."""
        return self.access.writes and self.levels[-1].fetched is not graph.ZERO

    @property
    def written_bytes(self) -> Expr:
        """What memory takes."""
        last = self.levels[-1]
        return last.written_back * last.level.line

    @property
    def served(self) -> tuple[Served, ...]:
        """What each level sends and takes: the first the words that the core loads and stores, each further one the
        lines that the one before it fetches and writes back."""
        asked = self.access.accesses * self.access.word
        first = (graph.ZERO, asked) if self.access.writes else (asked, graph.ZERO)
        lines = ((use.fetched * use.level.line, use.written_back * use.level.line) for use in self.levels[:-1])
        return tuple(Served(use.level, *both) for use, both in zip(self.levels, (first, *lines), strict=True))


class Served(Record):
    """Bytes that a level sends towards the core, and takes from there."""

    level: Level
    sent: Expr
    taken: Expr


def block_traffic(
    accesses: Sequence[Access], levels: Sequence[Level], swept: Swept, page: Expr, buffer: Level | None = None
) -> dict[flow.Requirement, Traffic]:
    """The traffic of the requirements of a block that have a pattern of access. A `page` is in bytes, the translation
    `buffer` a cache of pages; data were `swept` before.

    Each line of a data structure is touched first once, whatever the patterns that touch it.
    """
    traffic = {access.requirement: _past_the_caches(access, levels) for access in accesses if access.streaming}
    _charge(accesses, levels)
    block = structures(in_the_same_loops([access for access in accesses if not access.streaming]))
    for structure in block:
        fresh = any(access.fresh for group in structure.groups for access in group)
        for number, group in enumerate(structure.groups):
            neighbours = structure.neighbours(number, block)
            before, ahead = structure.before(number), structure.ahead(number)
            names = (structure.name, *(other.name for other in block if other is not structure and other.nests))
            around = Around(neighbours, before, ahead, structure.drawn(number), swept, names)
            members = [access.replace(fresh=True) for access in group] if fresh else group
            fetching = [level.fetching_by(members[0].stride, page) for level in levels]
            found = _group_traffic(members, around, fetching, buffer)
            if fresh and not before:
                found = _add_zeroed_pages(found, group[0], around, page)
            traffic |= found
    return {access.requirement: traffic[access.requirement] for access in accesses}


def _charge(accesses: Sequence[Access], levels: Sequence[Level]) -> None:
    """Spends what the traffic of a block takes to be worked out: beside each nest, at each level and for each of its
    loops, all others are looked at. Raises AspenError where a command may not spend so much."""
    nests = [access.pattern.nest for access in accesses if isinstance(access.pattern, Affine)]
    looks = len(nests) * len(levels) * sum(1 + len(nest.loops) for nest in nests)
    if not allowance().spend(OF_A_LOOK * looks):
        message = (
            f"{len(nests)} accesses of nested loops are too many in one block: each meets all others in each cache"
        )
        hint = "put data that are accessed one after the other into blocks of their own, or leave out what is small"
        fail("too-much-work", message, accesses[0].requirement.span, hint=hint)


def _group_traffic(
    group: Sequence[Access], around: Around, levels: Sequence[Level], buffer: Level | None
) -> dict[flow.Requirement, Traffic]:
    """The traffic of accesses that touch the same lines at the same time: the first of them meets the misses."""
    leader, *others = group
    asking = leader.replace(accesses=_most(group)) if leader.is_scattered else leader
    check = product(member.check for member in group)
    fetching = [level.by_misses for level in levels]
    found = [touches(asking, around, level) for level in fetching]
    misses = [missed * check for missed in _misses(asking, found)]
    stored = any(member.writes for member in group)
    lines = misses
    if stored and (fetching != [*levels] or around.before):
        if fetching != [*levels] or leader.is_scattered or around.ahead is not None:
            found = [touches(asking, around.first_alone, level) for level in levels]
        lines = _misses(asking, [list(map(_as_first, parts)) for parts in found])
    walks = graph.ZERO if buffer is None else _misses(asking, [touches(asking, around, buffer)])[0]
    first = Traffic(leader, _uses(leader, misses, lines if stored else None, levels), walks)
    none = [graph.ZERO] * len(levels)
    rest = {member.requirement: Traffic(member, _uses(member, none, None, levels)) for member in others}
    return {leader.requirement: first, **rest}


NOTHING = Around(Neighbours((), ()), (), None, graph.ZERO, Swept({}, {None: 0}, ()), (None,))
"""Of a block in which nothing else happens."""


def _past_the_caches(access: Access, levels: Sequence[Level]) -> Traffic:
    """A store that no cache takes. Words that go to one line in a row are gathered, and leave for memory when the
    stores go on to another (Intel's optimization manual, write combining): as often as they come to a line, it is
    written."""
    parts = touches(access.replace(warm=False), NOTHING, levels[0])
    lines = graph.add(*(part.count for part in parts if not part.near)) * access.check
    first, *others = levels
    uses = [LevelUse(first, access.accesses, lines, graph.ZERO, graph.ZERO)]
    uses += [LevelUse(level, graph.ZERO, graph.ZERO, graph.ZERO, graph.ZERO) for level in others]
    uses[-1] = uses[-1].replace(written_back=lines)
    return Traffic(access, tuple(uses))


def _add_zeroed_pages(
    traffic: dict[flow.Requirement, Traffic], leader: Access, around: Around, page: Expr
) -> dict[flow.Requirement, Traffic]:
    """With the lines of the pages that the system zeroes as they are first touched: they leave each level dirty, those
    too that the program does not store to."""
    first = traffic[leader.requirement]
    pages = pages_first_touched(leader, around, first.levels[0].level.replace(line=page))
    levels = tuple(use.replace(written_back=use.written_back + pages * page / use.level.line) for use in first.levels)
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


def _estimates_touches(access: Access) -> bool:
    """Whether the touches of lines may be estimated to be more than the accesses."""
    nest = access.nest
    if nest is not None and (nest.depends or any(nest.crosses(depth) for depth in range(1, len(nest.loops) + 1))):
        return True
    return isinstance(access.pattern, Stencil)


def _uses(
    access: Access, misses: Sequence[Expr], written: Sequence[Expr] | None, levels: Sequence[Level]
) -> tuple[LevelUse, ...]:
    """Each level's part: it is asked for what the level before it has missed. `written` are the lines that leave each
    level dirty."""
    uses = []
    asked = access.accesses
    for place, (level, missed) in enumerate(zip(levels, misses, strict=True)):
        fetched = missed * level.prefetch
        written_back = graph.ZERO if written is None else written[place]
        if access.writes and missed is not graph.ZERO and level.writes != "allocate":
            fetched = graph.ZERO
            if level.writes == "no_allocate":  # no store brings the line for the next one; each word goes on by itself
                missed, written_back = asked, asked * access.word / level.line
        victims = graph.ZERO
        if place + 1 < len(levels) and levels[place + 1].adds:  # each line that came leaves again
            victims = graph.apply("max", 0, fetched - written_back)
        uses.append(LevelUse(level, asked, missed, fetched, written_back, victims))
        asked = missed
    return tuple(uses)
