"""Divided: the accesses of one of a rank's cores, which has caches of its own, as loops are shared out among cores.

    execute [ranks] of [n] { loads [n^2] of size [8] from a as nest(8, n, 8*n, n) }

Each of the p cores of a rank goes through n/p rows. Its caches meet these alone: what the loop that is shared out moves
is a part of its own for each core, what it repeats (a vector, a table) each core touches as a whole. Rows of triangles
differ: some parts of them stand for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.domain import StridedLoop
from aspenpy.cost.caches.nest import longest_trips
from aspenpy.cost.caches.patterns import Affine, Distances, Stencil
from aspenpy.cost.caches.traffic import LevelUse, RequirementTraffic
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.record import Record


class Division(Record):
    """The accesses of one of `parts` equal parts of a block."""

    accesses: tuple[Access, ...]
    parts: Expr = graph.ONE


MIDDLE = Fraction(1, 2)

MIDDLES = (Fraction(1, 8), Fraction(3, 8), Fraction(5, 8), Fraction(7, 8))
"""Where the parts of a triangle lie that stand for those of all cores, as shares of the passes that are shared out."""


def middles_of(accesses: Sequence[Access]) -> tuple[Fraction, ...]:
    """Where the parts lie that stand for all: rows of triangles differ."""
    return MIDDLES if any(access.nest is not None and access.nest.is_triangular for access in accesses) else (MIDDLE,)


def divide_accesses(accesses: Sequence[Access], cores: Expr, middle: Fraction = MIDDLE) -> Division:
    """The accesses of one of `cores` cores, or of one pass where the shared loop has fewer passes: of the one whose
    passes have their `middle` there. The shared loop is the outermost one that moves all stores, since cores do not
    store to the same words; in a block without stores, the outermost one that moves all loads."""
    whole = tuple(accesses)
    if cores is graph.ONE:
        return Division(whole)
    depth = _find_shared_loop(whole)
    trips = [] if depth is None else [_trips_at(access, depth) for access in whole]
    least = [longest_trips(known for known in trips if known is not None)] if any(trips) else []
    parts = graph.apply("min", cores, *least) if least else cores
    return Division(tuple(_divide_one(access, depth, parts, middle) for access in whole), parts)


def _find_shared_loop(accesses: Sequence[Access]) -> int | None:
    """The place of the loop that is shared out; None where the model writes no loops."""
    grids = [access.pattern for access in accesses if isinstance(access.pattern, Stencil)]
    if grids:
        return len(grids[0].extents) - 1
    written = [access for access in accesses if access.has_own_loops and access.nest is not None]
    stored = [access for access in written if access.writes]
    loops = [access.nest.loops for access in stored or written if access.nest is not None]
    depths = range(max(map(len, loops), default=0) - 1, -1, -1)
    for is_shared in (all, any):
        for depth in depths:
            if is_shared(depth < len(own) and own[depth].moves for own in loops):
                return depth
    return None


def _trips_at(access: Access, depth: int) -> Expr | None:
    pattern = access.pattern
    if isinstance(pattern, Stencil):
        return pattern.extents[-1]
    own = access.has_own_loops and isinstance(pattern, Affine) and depth < len(pattern.nest.loops)
    return pattern.nest.within(depth + 1)[depth].trips if own and isinstance(pattern, Affine) else None


def _divide_one(access: Access, depth: int | None, parts: Expr, middle: Fraction) -> Access:
    """An access of one part, to the data that lie in it. A stream goes through its own part of the data, which
    it sweeps as often as the whole."""
    pattern = access.pattern
    if isinstance(pattern, Stencil):
        *within, slowest = pattern.extents
        pattern = pattern.replace(extents=(*within, slowest / parts))
    elif isinstance(pattern, Distances):
        pattern = pattern.replace(structure=pattern.structure / parts)
    elif isinstance(pattern, Affine):
        loops = list(pattern.nest.loops)
        place = depth if access.has_own_loops else pattern.nest.outermost - 1
        if place is not None and 0 <= place < len(loops) and loops[place].trips is not graph.ONE:
            loops[place] = _part_of(loops[place], parts, middle if pattern.nest.is_triangular else None)
        pattern = pattern.replace(nest=pattern.nest.replace(loops=tuple(loops)))
    since = None if access.since is None else access.since / parts
    return access.replace(pattern=pattern, accesses=access.accesses / parts, since=since)


def _part_of(loop: StridedLoop, parts: Expr, middle: Fraction | None) -> StridedLoop:
    """One of equal parts of a loop's passes; the loops inside may follow the counter of one that has a `middle`."""
    trips = loop.trips / parts
    low = loop.low if middle is None else loop.low + loop.trips * middle - trips / 2
    return loop.replace(trips=trips, low=low)


Parted = tuple[Mapping[flow.Requirement, RequirementTraffic], Expr]
"""The traffic of one part of a block, and how many it stands for."""


def join_levels(
    access: Access, by_level: Sequence[Sequence[Parted]], of_buffer: Sequence[Parted]
) -> RequirementTraffic:
    """The traffic of a whole access: at each level, and in the translation buffer, that of all parts."""
    uses, asked = list[LevelUse](), None
    for number, parted in enumerate(by_level):
        use = _sum_uses([_repeat(traffic[access.requirement].levels[number], parts) for traffic, parts in parted])
        if asked is not None and use.misses is not graph.ZERO:
            before = uses[-1].level.unit
            most = asked if before is use.level.unit else asked * graph.apply("max", 1, before / use.level.unit)
            fetched = graph.apply("min", use.fetched, most * use.level.brought * (1 - use.evaded))
            fetched = graph.ZERO if use.fetched is graph.ZERO else fetched
            use = use.replace(misses=graph.apply("min", use.misses, most), fetched=fetched)
        uses.append(use if asked is None else use.replace(accesses=asked))
        asked = use.misses
    walks = graph.add(*(traffic[access.requirement].walks * parts for traffic, parts in of_buffer))
    return RequirementTraffic(access, tuple(uses), walks)


COUNTS = ("accesses", "misses", "fetched", "written_back", "victims", "warm", "unsure")


def _repeat(use: LevelUse, parts: Expr) -> LevelUse:
    if parts is graph.ONE:
        return use
    other = use.anywhere
    anywhere = other.replace(missed=other.missed * parts, found=other.found * parts)
    return use.replace(anywhere=anywhere, parts=parts, **{name: getattr(use, name) * parts for name in COUNTS})


def _sum_uses(uses: Sequence[LevelUse]) -> LevelUse:
    if len(uses) == 1:
        return uses[0]
    found = [use.anywhere for use in uses]
    missed, there = (graph.add(*(getattr(other, name) for other in found)) for name in ("missed", "found"))
    sums = {name: graph.add(*(getattr(use, name) for use in uses)) for name in (*COUNTS, "parts")}
    return uses[0].replace(anywhere=found[0].replace(missed=missed, found=there), **sums)
