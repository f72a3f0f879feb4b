"""Blocks in numbers, as simulated caches play them: bounds of loops, and the places that each access touches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.domain import COUNTERS, StridedLoop
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.patterns import Affine, Distances, Offsets, Scattered, Stencil
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow
from aspenpy.record import Record
from aspenpy.traces import hierarchy
from aspenpy.traces.hierarchy import (
    DRAWN,
    IN_STEP,
    MOST_LOOPS,
    MOST_OWNERS,
    PACED,
    SEED,
    CacheShape,
    PlayedAccess,
    PlayedBlock,
)


class LaidOutAccess(Record):
    """An access in numbers, and the bytes from the first that it touches to the end of the last; of a stencil also
    those from the begin of the grid to its first point, `rim`. `filled` bytes of the extent hold words, in runs of
    `run` bytes that are `gap` apart, and the same goes on after `span` bytes. Data that are `warm` were touched
    before."""

    played: PlayedAccess
    requirement: flow.Requirement
    name: str | None
    is_placed: bool
    extent: int
    filled: int
    run: int
    gap: int
    span: int
    rim: int = 0
    warm: bool = False


def level_exprs(level: Level) -> list[Expr]:
    """The expressions of a level that `shape_of` reads. Sectors are played as lines of their own."""
    reach = graph.ZERO if level.reach is None else level.reach
    fine = level.of_sectors
    return [fine.whole_sets, fine.room, fine.line, fine.added, fine.prefetch, reach]


def shape_of(level: Level, values: Sequence[Any], page: Any) -> CacheShape:
    """A cache as one instance has it: of a shared one its part of the ways, or of the sets where that is no whole
    number of ways. Without a tree over its ways, one with the policy `plru` has `lru`. Raises AspenError for a policy
    that is not simulated."""
    if level.policy not in hierarchy.POLICIES:
        stated, message = level.place.component.properties["policy"], f"no simulation knows `{level.policy}`"
        fail("policy-simulation", message, stated.span, hint="leave --simulate out: formulas know its law")
    sets, room, line, added, together, reach = values
    lines, ways = sets * room - added * level.adds, max(1, math.ceil(room - added / sets))
    sets = max(1, round(lines / ways))
    near = int(page) if level.reach is None else int(reach)
    policy = "lru" if level.policy == "plru" and ways not in hierarchy.WAYS_OF_TREES else level.policy
    return CacheShape(
        int(sets),
        int(ways),
        int(line),
        policy=policy,
        adds=level.adds,
        writes=level.writes,
        together=int(together),
        reach=near,
    )


def access_exprs(access: Access) -> list[Expr]:
    """Expressions of an access: its word, count and check, then those of its pattern: the table, or its place,
    `_loop_exprs` of each loop and its offsets."""
    first = [access.word * access.lines_of_entry, access.accesses / access.lines_of_entry, access.check]
    pattern = access.pattern
    if isinstance(pattern, Scattered):
        return [*first, pattern.table]
    if isinstance(pattern, Distances):
        return first
    place = graph.ZERO if pattern.nest.place is None else pattern.nest.place
    loops = _loops(access)
    points = pattern.offsets if isinstance(pattern, Offsets) else ()
    return [*first, place, *(value for loop in loops for value in _loop_exprs(loop, len(loops))), *points]


def _loops(access: Access) -> tuple[StridedLoop, ...]:
    """The loops of a pattern; of a stencil those over its points, without the rim."""
    pattern = access.pattern
    assert isinstance(pattern, Affine | Stencil | Offsets)
    if isinstance(pattern, Affine | Offsets):
        return pattern.nest.loops if isinstance(pattern, Affine) else pattern.walk.loops
    return tuple(loop.replace(trips=trips) for loop, trips in zip(pattern.nest.loops, pattern.trips, strict=True))


def _loop_exprs(loop: StridedLoop, depth: int) -> list[Expr]:
    """Expressions of a loop: its stride, then its lower and its upper bound where all counters are 0 and where each in
    turn is 1."""
    origin = dict.fromkeys(COUNTERS[:depth], graph.ZERO)
    moved = [origin, *({**origin, counter: graph.ONE} for counter in COUNTERS[:depth])]
    bounds = [graph.substitute([loop.low, loop.high], place) for place in moved]
    return [loop.stride, *(low for low, _ in bounds), *(high for _, high in bounds)]


def _rows_of_loops(
    pattern: Affine | Stencil | Offsets, values: Sequence[Any]
) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Stride and factors of the bounds of each loop, from the values of `access_exprs`."""
    points = len(pattern.offsets) if isinstance(pattern, Offsets) else 0
    rest = list(values[4 : len(values) - points])
    depth = int((math.isqrt(9 + 8 * len(rest)) - 3) // 4)
    found, width = [], 2 * (depth + 1) + 1
    for index in range(depth):
        stride, *bounds = (round(value) for value in rest[index * width : (index + 1) * width])
        low, high = bounds[: depth + 1], bounds[depth + 1 :]
        rows = [(row[0], *(value - row[0] for value in row[1:])) for row in (low, high)]
        found.append((stride, rows[0], rows[1]))
    return found


def _is_once(row: tuple[int, tuple[int, ...], tuple[int, ...]]) -> bool:
    return row[1] == row[2]


Rows = tuple[tuple[int, ...], ...]


def common_loops(accesses: Sequence[Access], values: Sequence[Sequence[Any]]) -> tuple[Rows, Rows]:
    """Bounds of the loops of a block: of each loop those of an access that takes part in it.
    Where nothing has loops, there is one pass for each word of the access with the most."""
    walks = [
        _rows_of_loops(access.pattern, row)
        for access, row in zip(accesses, values, strict=True)
        if isinstance(access.pattern, Affine | Stencil | Offsets) and not access.streaming
    ]
    if not walks:
        passes = max(round(row[1]) for row in values)
        return ((0, 0),), ((passes - 1, 0),)
    depth = max(map(len, walks))
    low, high = [], []
    for index in range(depth):
        rows = [walk[index] for walk in walks if index < len(walk)]
        row = next((row for row in rows if not _is_once(row)), rows[0])
        low.append(row[1])
        high.append(row[2])
    return tuple(low), tuple(high)


def part_of(
    access: Access, values: Sequence[Any], owner: int, low: Rows, high: Rows, drawn: dict[tuple[Any, ...], int]
) -> LaidOutAccess:
    """An access as it is played among such loops. Loads draw apart from each other, and a store draws what the load of
    the same table has drawn."""
    requirement, pattern = access.requirement, access.pattern
    if isinstance(pattern, Distances):
        message = "reuse distances have no addresses that could be simulated"
        fail("no-addresses", message, requirement.span, hint="state the loops as a `nest`, or leave --simulate out")
    if isinstance(pattern, Scattered):
        return _draw_words(access, values, owner, drawn)
    word, count = round(values[0]), round(values[1])
    assert isinstance(pattern, Affine | Stencil | Offsets)
    rows = _rows_of_loops(pattern, values)
    strides = tuple(row[0] for row in rows)
    trips = tuple(1 if _is_once(row) else row[2][0] - row[1][0] + 1 for row in rows)
    offsets, rim = _points(pattern, strides, values)
    follows = (
        not access.streaming
        and len(rows) == len(low)
        and all(
            _is_once(row) or (row[1], row[2]) == both
            for row, both in zip(rows, zip(low, high, strict=True), strict=True)
        )
    )
    place = round(values[3])
    moving = next((stride for stride, row in zip(strides, rows, strict=True) if stride and not _is_once(row)), word)
    loops = sorted((abs(stride), _longest(row, high)) for stride, row in zip(strides, rows, strict=True))
    extent = word + sum(stride * (longest - 1) for stride, longest in loops) + max(offsets) - min(offsets)
    run, filled, gap = _find_runs(word, loops) if len(offsets) == 1 else (extent, extent, extent)
    kind, count = (IN_STEP, count) if follows else (PACED, count // len(offsets))
    # In step, 1 means outside of a loop; a loop of one pass that the block has moves nothing either way.
    own = tuple(1 if _is_once(row) else 2 for row in rows) if follows else trips
    played = PlayedAccess(
        kind,
        access.writes,
        access.streaming,
        owner=owner,
        base=place + rim,
        word=word,
        stride=moving,
        steps=strides,
        trips=own,
        offsets=offsets,
        count=count,
    )
    if len(rows) > MOST_LOOPS:
        fail("too-deep", f"a simulation follows {MOST_LOOPS} nested loops at most", requirement.span)
    return LaidOutAccess(
        played,
        requirement,
        requirement.target,
        is_placed=pattern.nest.place is not None,
        extent=extent,
        filled=filled,
        run=run,
        gap=gap,
        span=next((stride * longest for stride, longest in reversed(loops) if stride), extent),
        rim=rim,
        warm=access.warm,
    )


def _draw_words(access: Access, values: Sequence[Any], owner: int, drawn: dict[tuple[Any, ...], int]) -> LaidOutAccess:
    """An access to words of a table that are drawn, each as likely."""
    requirement = access.requirement
    word, count = round(values[0]), round(values[1])
    table = max(1, round(values[3]) // word)
    draw = (requirement.target, access.pattern, access.writes)
    drawn[draw] = drawn.get(draw, 0) + 1
    played = PlayedAccess(
        DRAWN,
        access.writes,
        access.streaming,
        owner=owner,
        base=0,
        word=word,
        stride=1 << 62,
        steps=(),
        trips=(),
        count=count,
        places=table,
        seed=SEED + 2 * drawn[draw],
    )
    size, name = table * word, requirement.target
    return LaidOutAccess(
        played,
        requirement,
        name,
        is_placed=False,
        extent=size,
        filled=size,
        run=size,
        gap=size,
        span=size,
        warm=access.warm,
    )


def _find_runs(word: int, loops: Sequence[tuple[int, int]]) -> tuple[int, int, int]:
    """Bytes of a run of words side by side, of all words that loops touch, the shortest stride first, and from one run
    to the next."""
    run, filled, gap = word, word, 0
    for stride, trips in loops:
        if trips == 1 or not stride:
            continue
        if filled == run and stride <= run:
            run = filled = run + stride * (trips - 1)
        else:
            gap = gap or stride
            filled *= trips
    return run, filled, gap or run


def centre_on_stencils(parts: Sequence[LaidOutAccess]) -> tuple[LaidOutAccess, ...]:
    """The parts of a block with those moved that go along with a stencil over the same grid: to its first point."""
    rims = {part.name: part.rim for part in parts if part.rim and part.name is not None}
    return tuple(
        part
        if part.rim or part.played.kind == DRAWN
        else part.replace(played=part.played.replace(base=part.played.base + rims.get(part.name or "", 0)))
        for part in parts
    )


def sweep_side_by_side(begins: Mapping[int, int], line: int) -> PlayedBlock:
    """Loads of every line of some structures, a place of each at a time, whose counts nobody reads: from where each
    begins, with its bytes."""
    counts = {begin: max(1, -(-size // line)) for begin, size in begins.items()}
    accesses = (
        PlayedAccess(
            PACED, False, False, MOST_OWNERS - 1, begin, word=1, stride=line, steps=(line,), trips=(count,), count=count
        )
        for begin, count in counts.items()
    )
    passes = max(counts.values())
    return PlayedBlock(((0, 0),), ((passes - 1, 0),), tuple(accesses))


def _longest(row: tuple[int, tuple[int, ...], tuple[int, ...]], high: Rows) -> int:
    """The most trips of a loop, with the outer counters at either end."""
    _, first, last = row
    ends = [(0, bound[0]) for bound in high]
    spans = [
        (b - a) * end for a, b, pair in zip(first[1:], last[1:], ends, strict=False) for end in [max(pair)] if b > a
    ]
    return last[0] - first[0] + 1 + sum(spans)


def _points(
    pattern: Affine | Stencil | Offsets, strides: Sequence[int], values: Sequence[Any]
) -> tuple[tuple[int, ...], int]:
    """Bytes from a place to each that is touched there, and from the first of all to the first place."""
    if isinstance(pattern, Stencil):
        return _offsets(pattern, strides)
    if isinstance(pattern, Affine):
        return (0,), 0
    offsets = tuple(map(round, values[len(values) - len(pattern.offsets) :]))
    return offsets, max(0, -min(offsets))


def _offsets(pattern: Stencil, strides: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Bytes from a point to each that it touches, and from the begin of the grid to the first point."""
    axes, radius = len(pattern.extents), pattern.radius
    shifts = product(range(-radius, radius + 1), repeat=axes)
    kept = (
        shift
        for shift in shifts
        if (not pattern.star or sum(part != 0 for part in shift) <= 1) and (any(shift) or not pattern.hollow)
    )
    offsets = tuple(sum(part * stride for part, stride in zip(shift, strides, strict=False)) for shift in kept)
    return tuple(sorted(offsets)), radius * sum(strides[:axes])
