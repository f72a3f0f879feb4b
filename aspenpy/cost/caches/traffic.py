"""Traffic: what the requirements of a block move between the levels of the memory hierarchy."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.caches.access import Access, Affine, Stencil
from aspenpy.cost.caches.hits import Around, touches
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import Loop, Nest, product
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import term
from aspenpy.language.diagnostics import Related, fail
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

    Requirements on the same data with the same loops touch the same lines: the first of them meets the misses.
    """
    accesses = _in_the_same_loops(accesses)
    leaders = _leaders(accesses)
    fetching = [level.by_misses for level in levels]
    misses, lines, walks = {}, {}, {}
    for leader, members in leaders.items():
        around = Around(tuple(o.nest for o in leaders if o is not leader and o.nest is not None), all_bytes)
        check = product(member.check for member in members)
        misses[leader] = [missed * check for missed in _misses(leader, around, fetching)]
        lines[leader] = misses[leader] if fetching == [*levels] else _misses(leader, around, levels)
        walks[leader] = graph.ZERO if buffer is None else _misses(leader, around, [buffer])[0]
    stored = {leader: any(member.writes for member in members) for leader, members in leaders.items()}
    traffic = {}
    for leader, members in leaders.items():
        for access in members:
            if access is leader:
                uses = _uses(access, misses[leader], lines[leader] if stored[leader] else None, levels)
            else:
                uses = _uses(access, [graph.ZERO] * len(levels), None, levels)
            traffic[access.requirement] = Traffic(access, uses, walks[leader] if access is leader else graph.ZERO)
    return traffic


def _leaders(accesses: Sequence[Access]) -> dict[Access, list[Access]]:
    """The accesses that touch the same lines, by the first of them."""
    groups: dict[object, list[Access]] = {}
    for access in accesses:
        same: object = access.requirement
        if access.nest is not None and access.requirement.target is not None:
            same = access.requirement.target, access.nest
        groups.setdefault(same, []).append(access)
    return {members[0]: members for members in groups.values()}


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
    crossing = nest is not None and any(nest.crosses(depth) for depth in range(1, len(nest.loops) + 1))
    return crossing or isinstance(access.pattern, Stencil)


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


def _in_the_same_loops(accesses: Sequence[Access]) -> list[Access]:
    """Every nest of the block brought to the loops of the block."""
    _same_depth(accesses)
    patterns = [access.pattern for access in accesses]
    nests = [pattern.nest for pattern in patterns if isinstance(pattern, Affine) and pattern.own]
    models = [[loop.trips for loop in nest.loops] for nest in nests]
    models += [[*pattern.extents] for pattern in patterns if isinstance(pattern, Stencil)]
    if not models:
        models = [[loop.trips for loop in pattern.nest.loops] for pattern in patterns if isinstance(pattern, Affine)]
    depth = max(map(len, models), default=0)
    trips = [_longest([counts[at] for counts in models if at < len(counts)]) for at in range(depth)]
    return [_brought(access, trips) for access in accesses]


def _longest(trips: list[Expr]) -> Expr:
    """The trips of a loop, which arrays outside of it give as 1."""
    different = list(dict.fromkeys(count for count in trips if count is not graph.ONE)) or [graph.ONE]
    return graph.apply("max", *different) if len(different) > 1 else different[0]


def _same_depth(accesses: Sequence[Access]) -> None:
    written = [access for access in accesses if access.nest is not None and getattr(access.pattern, "own", True)]
    for access in written[1:]:
        first, here = written[0], access.requirement
        assert access.nest is not None
        assert first.nest is not None
        if len(access.nest.loops) != len(first.nest.loops):
            counts = f"{len(first.nest.loops)} and {len(access.nest.loops)}"
            message = f"the patterns of one block have the same loops, and these have {counts}"
            related, hint = (
                (Related(first.requirement.span, "the first"),),
                "give a loop outside of an access as `0, 1`",
            )
            fail("different-loops", message, here.span, related=related, hint=hint)


def _brought(access: Access, trips: list[Expr]) -> Access:
    """A stream goes on through all the loops of the block, by whole bytes a pass."""
    pattern = access.pattern
    if not isinstance(pattern, Affine) or pattern.own or len(pattern.nest.loops) == len(trips):
        return access
    sweep, *repeats = pattern.nest.loops
    if repeats:
        loops = (*pattern.nest.loops, *[Loop(graph.ZERO, graph.ONE)] * (len(trips) - 1 - len(repeats)))
        return _with_nest(access, Nest(access.word, loops))
    steps = access.accesses / product(trips)
    found = []
    for count in trips:
        found.append(Loop(sweep.stride * _whole(steps), count))
        steps *= count
    return _with_nest(access, Nest(access.word, tuple(found)))


def _whole(steps: Expr) -> Expr:
    """How many places a stream goes on in one pass of a loop, where it may stand still in most."""
    places = term(steps)
    whole = places.coefficient.denominator == 1 and all(exponent > 0 for _, exponent in places.powers)
    return places.expression() if whole else graph.apply("round", places.expression())


def _with_nest(access: Access, nest: Nest) -> Access:
    return access.replace(pattern=Affine(nest, own=False))
