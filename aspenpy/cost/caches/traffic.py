"""Traffic: what the requirements of a block move between the levels of the memory hierarchy."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.caches.access import Access, Stencil
from aspenpy.cost.caches.block_loops import in_the_same_loops
from aspenpy.cost.caches.hits import Around, touches
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import product
from aspenpy.cost.caches.structures import structures
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.record import Record


class LevelUse(Record):
    """One requirement at one level, per parallel instance: `accesses` that reach the level, of which `misses` do not
    find their line; lines `fetched` from the next level and `written_back` to it."""

    level: Level
    accesses: Expr
    misses: Expr
    fetched: Expr
    written_back: Expr


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
    accesses: Sequence[Access], levels: Sequence[Level], all_bytes: Expr, buffer: Level | None = None
) -> dict[flow.Requirement, Traffic]:
    """The traffic of the requirements of a block that have a pattern of access. The translation `buffer` is a cache of
    pages.

    Each line of a data structure is touched first once, whatever the patterns that touch it.
    """
    block = structures(in_the_same_loops(accesses))
    traffic = dict[flow.Requirement, Traffic]()
    for structure in block:
        for number, group in enumerate(structure.groups):
            neighbours = structure.neighbours(number, block)
            before, ahead = structure.before(number), structure.ahead(number)
            around = Around(neighbours, before, ahead, structure.drawn(number), all_bytes)
            traffic |= _group_traffic(group, around, levels, buffer)
    return {access.requirement: traffic[access.requirement] for access in accesses}


def _group_traffic(
    group: tuple[Access, ...], around: Around, levels: Sequence[Level], buffer: Level | None
) -> dict[flow.Requirement, Traffic]:
    """The traffic of accesses that touch the same lines at the same time: the first of them meets the misses."""
    leader, *others = group
    asking = leader.replace(accesses=_most(group)) if leader.is_scattered else leader
    check = product(member.check for member in group)
    fetching = [level.by_misses for level in levels]
    misses = [missed * check for missed in _misses(asking, around, fetching)]
    stored = any(member.writes for member in group)
    lines = misses
    if stored and (fetching != [*levels] or around.before):
        lines = _misses(asking, around.first_alone, levels)
    walks = graph.ZERO if buffer is None else _misses(asking, around, [buffer])[0]
    first = Traffic(leader, _uses(leader, misses, lines if stored else None, levels), walks)
    none = [graph.ZERO] * len(levels)
    rest = {member.requirement: Traffic(member, _uses(member, none, None, levels)) for member in others}
    return {leader.requirement: first, **rest}


def _most(group: Sequence[Access]) -> Expr:
    different = list(dict.fromkeys(member.accesses for member in group))
    return graph.apply("max", *different) if len(different) > 1 else different[0]


def _misses(access: Access, around: Around, levels: Sequence[Level]) -> list[Expr]:
    """Lines not found at each level. What a level does not find, those before it did not find either."""
    misses, missing_before = [], list[Expr]()
    for level in levels:
        parts = touches(access, around, level)
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
        writes = "streaming" if access.streaming else level.writes
        if access.writes and missed is not graph.ZERO and writes != "allocate":
            fetched = graph.ZERO
            if writes == "no_allocate":  # no store brings the line for the next one; each word goes on by itself
                missed, written_back = asked, asked * access.word / level.line
        uses.append(LevelUse(level, asked, missed, fetched, written_back))
        asked = missed
    return tuple(uses)
