"""Known: the touches of lines in a run, worked out once for accesses that are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from aspenpy.allowance import allowance
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.around import AccessSurroundings
from aspenpy.cost.caches.hits import touches
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest
from aspenpy.cost.caches.patterns import Offsets, Stencil
from aspenpy.cost.caches.policies import POLICIES, Touches, at_least_none
from aspenpy.cost.caches.warm import Last
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record


class KnownTouches:
    """The touches of the accesses of all blocks at each level. Two that go alike through structures of their own,
    beside the same others and after the same past, have the same."""

    def __init__(self) -> None:
        self._known: dict[Hashable, list[Touches]] = {}
        self._apart: dict[int, LinesAnywhere] = {}

    def of(self, access: Access, around: AccessSurroundings, level: Level) -> list[Touches]:
        key = _describe(access, around, level)
        if key not in self._known:
            _charge(access, around)
            self._known[key] = _touches_of_one(access, around, level)
        return self._known[key]

    def anywhere(self, access: Access, found: list[Touches], level: Level) -> LinesAnywhere:
        """Number of an access's touches that miss or hit if lines lie anywhere."""
        if id(found) not in self._apart:
            self._apart[id(found)] = _if_lines_lay_anywhere(access, found, level)
        return self._apart[id(found)]


class LinesAnywhere(Record):
    """More misses (`missed`) and fewer (`found`) if lines lay anywhere, and whether the run left some of them."""

    missed: Expr
    found: Expr
    follows: bool


AS_COUNTED = LinesAnywhere(graph.ZERO, graph.ZERO, False)
"""Of what is no estimate."""


def _if_lines_lay_anywhere(access: Access, parts: Sequence[Touches], level: Level) -> LinesAnywhere:
    """Misses by the law of lines that lie anywhere (Hill and Smith, IEEE Transactions on Computers 38(12), 1989), of
    touches whose sets are estimated: walks at offsets, and what the run or another access has left. Both laws hold
    where the least recently used line goes."""
    if access.is_scattered:
        return AS_COUNTED
    walks = isinstance(access.pattern, Stencil | Offsets)
    estimated = [part for part in parts if (walks or part.warm or part.known) and not (part.near or part.first)]
    if "lru" not in (level.policy, POLICIES[level.policy].like):
        estimated = []
    apart = [(part.count, part.hits - level.holds(part.distance)) for part in estimated]
    return LinesAnywhere(
        graph.add(graph.ZERO, *(count * at_least_none(share) for count, share in apart)),
        graph.add(graph.ZERO, *(count * at_least_none(-share) for count, share in apart)),
        any(part.warm for part in parts),
    )


OF_A_LOOK = 10_000
"""Operations that it counts as to look at one nest beside another: some 0.02 ms, building formulas."""


def _charge(access: Access, around: AccessSurroundings) -> None:
    """Spends what the touches of an access at a level take to be worked out: for each of its loops, and of those of the
    others, all others are looked at, once for those that are alike. Raises AspenError beyond a command's allowance."""
    if access.nest is None:
        return
    beside = dict.fromkeys(nest for nests in (around.nests.siblings, *around.nests.others) for nest in nests)
    looks = sum(1 + len(nest.loops) for nest in (access.nest, *beside))
    if not allowance().spend(OF_A_LOOK * looks):
        message = "accesses of nested loops are too many: each meets all others of its block in each cache"
        hint = "put data that are accessed one after the other into blocks of their own, or leave out what is small"
        fail("too-much-work", message, access.requirement.span, hint=hint)


def _touches_of_one(access: Access, around: AccessSurroundings, level: Level) -> list[Touches]:
    """The touches of one of the instances that share a level. Of those that load the same lines side by side the first
    brings each for all: where that is all that the block touches (`readers`), all of them draw in one cache; beside
    data that each has of its own, a part of the cache is kept for a copy of each, but a table's, of which each has a
    part."""
    if level.readers is not graph.ONE:
        asking = access.replace(accesses=access.accesses * level.readers) if access.is_scattered else access
        return [part.replace(count=part.count / level.readers) for part in touches(asking, around, level)]
    found = touches(access, around, level)
    if not access.loads_together or access.is_scattered or level.shares is graph.ONE:
        return found
    return [part.replace(count=part.count / level.shares) for part in found]


def _describe(access: Access, around: AccessSurroundings, level: Level) -> Hashable:
    """A key of all that the touches of an access depend on: the access, the others in any order, and what touched their
    data before."""
    asked = access.requirement
    what = (access.pattern, access.word, access.accesses, asked.resource)
    own = (*what, access.warm, access.fresh, access.since, access.loads_together)
    nests = around.nests
    others = frozenset(Counter(nests.others).items())
    lasts = () if access.since is not None else around.last(access, level)
    past = tuple(_describe_past(last, around.names, nests.others) for last in lasts)
    beside = (nests.siblings, others, nests.tables, nests.draws, around.before, around.ahead, around.drawn)
    return (own, beside, past, around.stored, _describe_level(level))


def _describe_level(level: Level) -> Hashable:
    """A key of a level and of the part of it that an instance has, which differs from block to block."""
    size = (level.name, level.capacity, level.line, level.ways, level.policy, level.inclusion)
    part = (level.shares, level.readers, level.added, level.apart)
    return (size, part, level.prefetch, level.brought, level.reach, level.sector)


def _describe_past(last: Last, names: Sequence[str | None], nests: Sequence[tuple[AccessNest, ...]]) -> Hashable:
    swept = last.swept
    if swept is None:
        return (last.share, last.part)
    sweep = swept.sweep
    own, *others = (
        (swept.ages.get(name), swept.lines.get(name or ""), sweep.get(name or "") if sweep else None) for name in names
    )
    beside = frozenset(Counter(zip(nests, others, strict=True)).items())
    return (last.share, last.part, own, beside, sweep is None, swept.rest, swept.beside)
