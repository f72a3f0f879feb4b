"""Divided: the accesses of one of a rank's cores, which has caches of its own, as loops are shared out among cores.

    execute [ranks] of [n] { loads [n^2] of size [8] from a as nest(8, n, 8*n, n) }

Each of the p cores of a rank goes through n/p rows. Its caches meet these alone: what the loop that is shared out moves
is a part of its own for each core, what it repeats (a vector, a table) each core touches as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aspenpy.cost.caches.access import Access
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


def divide_accesses(accesses: Sequence[Access], cores: Expr) -> Division:
    """The accesses of one of `cores` cores, or of one pass where the shared loop has fewer passes. The shared loop is
    the outermost one that moves all stores, since cores do not store to the same words; in a block without stores, the
    outermost one that moves all loads. Triangles, whose rows differ, are not divided."""
    whole = tuple(accesses)
    if cores is graph.ONE or any(access.nest is not None and access.nest.is_triangular for access in whole):
        return Division(whole)
    depth = _find_shared_loop(whole)
    trips = [] if depth is None else [_trips_at(access, depth) for access in whole]
    least = [longest_trips(known for known in trips if known is not None)] if any(trips) else []
    parts = graph.apply("min", cores, *least) if least else cores
    return Division(tuple(_divide_one(access, depth, parts) for access in whole), parts)


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
    return pattern.nest.loops[depth].trips if own and isinstance(pattern, Affine) else None


def _divide_one(access: Access, depth: int | None, parts: Expr) -> Access:
    """Its accesses, and those of its data that lie in one part. A stream goes through its own part of the data, which
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
            loops[place] = loops[place].replace(trips=loops[place].trips / parts)
        pattern = pattern.replace(nest=pattern.nest.replace(loops=tuple(loops)))
    since = None if access.since is None else access.since / parts
    return access.replace(pattern=pattern, accesses=access.accesses / parts, since=since)


Parted = tuple[Mapping[flow.Requirement, RequirementTraffic], Expr]
"""The traffic of one of so many parts of a block."""


def join_levels(access: Access, by_level: Sequence[Parted], of_buffer: Parted) -> RequirementTraffic:
    """The traffic of a whole access: at each level, and in the translation buffer, that of a part as often as there are
    parts."""
    uses, asked = list[LevelUse](), None
    for number, (traffic, parts) in enumerate(by_level):
        use = _repeat(traffic[access.requirement].levels[number], parts)
        if asked is not None and use.misses is not graph.ZERO:
            fetched = graph.apply("min", use.fetched, asked * use.level.brought * (1 - use.evaded))
            fetched = graph.ZERO if use.fetched is graph.ZERO else fetched
            use = use.replace(misses=graph.apply("min", use.misses, asked), fetched=fetched)
        uses.append(use if asked is None else use.replace(accesses=asked))
        asked = use.misses
    traffic, parts = of_buffer
    return RequirementTraffic(access, tuple(uses), traffic[access.requirement].walks * parts)


def _repeat(use: LevelUse, parts: Expr) -> LevelUse:
    if parts is graph.ONE:
        return use
    counts = ("accesses", "misses", "fetched", "written_back", "victims", "warm", "unsure")
    other = use.anywhere
    anywhere = other.replace(missed=other.missed * parts, found=other.found * parts)
    return use.replace(anywhere=anywhere, parts=parts, **{name: getattr(use, name) * parts for name in counts})
