"""Collectives as programs of ranks that have a link to each other one, over which they send at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.network.programs import Vector, combined, cut, joined, ring_allgather, ring_allreduce
from tests.network.simulator import Rank, Step, size


def rings(ranks: int) -> list[list[int]]:
    """Rings through all ranks, of which each link is in two, both ways counted apart: a zigzag through all but the last
    rank, turned as often as it has ranks and closed over the last one (Walecki), in both directions."""
    others = ranks - 1
    zigzag = [place // 2 + 1 if place % 2 else -place // 2 for place in range(others)]
    found = [[*((turn + step) % others for step in zigzag), others] for turn in range(others)]
    return [*found, *(list(reversed(ring)) for ring in found)]


def at_once(programs: Sequence[Rank]) -> Rank:
    """Programs of one rank that go step by step together; what goes to the same rank is one message."""
    received: list[Any] | None = None
    while True:
        steps: list[Step] = []
        results = []
        for number, program in enumerate(programs):
            try:
                steps.append(next(program) if received is None else program.send(received[number]))
            except StopIteration as end:
                results.append(end.value)
        if results:
            return results
        sent: dict[int, list[Any]] = {}
        awaited: dict[int, list[int]] = {}
        for number, step in enumerate(steps):
            for to, data in step.sends:
                sent.setdefault(to, []).append(data)
            for source in step.receives:
                awaited.setdefault(source, []).append(number)
        came = yield Step(tuple(sent.items()), tuple(awaited), sum(step.combines for step in steps))
        received = [[] for _ in programs]
        for numbers, data in zip(awaited.values(), came, strict=True):
            for number, part in zip(numbers, data, strict=True):
                received[number].append(part)


def along(ring: list[int], rank: int, program: Callable[[int, int, Any], Rank], data: Any) -> Rank:
    """A program for places along a ring, run by the rank at one of them."""
    inner = program(ring.index(rank), len(ring), data)
    received = None
    while True:
        try:
            step = next(inner) if received is None else inner.send(received)
        except StopIteration as end:
            return end.value
        sends = tuple((ring[to], part) for to, part in step.sends)
        received = yield Step(sends, tuple(ring[source] for source in step.receives), step.combines)


def striped(program: Callable[[int, int, Any], Rank]) -> Callable[[int, int, Any], Rank]:
    """A ring's program, with a part of the data on each of the rings."""

    def of_all(rank: int, ranks: int, data: Vector) -> Rank:
        if ranks == 1:
            return data
        paths = rings(ranks)
        parts = cut(data, len(paths))
        return (yield from at_once([along(*each, program, part) for *each, part in _mine(paths, rank, parts)]))

    return of_all


def _mine(paths: list[list[int]], rank: int, parts: list[Vector]) -> list[tuple[Any, ...]]:
    return [(path, rank, part) for path, part in zip(paths, parts, strict=True)]


def allreduce(rank: int, ranks: int, data: Vector) -> Rank:
    done = yield from striped(ring_allreduce)(rank, ranks, data)
    return data if ranks == 1 else [element for part in done for element in part]


def allgather(rank: int, ranks: int, data: Vector) -> Rank:
    """Each ring has the ranks in its own order."""
    done = yield from striped(ring_allgather)(rank, ranks, data)
    if ranks == 1:
        return data
    length = len(data) // len(done)
    pieces = [
        {ring[place]: part[place * length : (place + 1) * length] for place in range(ranks)}
        for ring, part in zip(rings(ranks), done, strict=True)
    ]
    return [element for source in range(ranks) for part in pieces for element in part[source]]


def slices(rank: int, ranks: int, pieces: list[Vector], combines: bool) -> Rank:
    """A slice of each piece to whom it is for, as many rounds as there are others; what came, by its source."""
    others = [other for other in range(ranks) if other != rank]
    came: dict[int, Vector] = {other: [] for other in others}
    cuts = {other: cut(pieces[other], len(others)) for other in others}
    for turn in range(len(others)):
        sends = tuple((other, cuts[other][turn]) for other in others)
        got = yield Step(sends, tuple(others), sum(size(data) for _, data in sends) if combines else 0)
        for other, data in zip(others, got, strict=True):
            came[other] += data
    return came


def reduce_scatter(rank: int, ranks: int, data: Vector) -> Rank:
    pieces = cut(data, ranks)
    came = yield from slices(rank, ranks, pieces, True)
    mine = pieces[rank]
    for piece in came.values():
        mine = combined(mine, piece)
    return mine


def alltoall(rank: int, ranks: int, blocks: list[Vector]) -> Rank:
    came = yield from slices(rank, ranks, blocks, False)
    return [*map({**came, rank: blocks[rank]}.__getitem__, range(ranks))]


# -- to all at once --------------------------------------------------------------------------------


def everyone(rank: int, ranks: int, data: dict[int, Any], combines: int = 0) -> Rank:
    """What there is for each other rank, to all at once."""
    others = [other for other in range(ranks) if other != rank]
    if not others:
        return {}
    got = yield Step(tuple((other, data[other]) for other in others), tuple(others), combines)
    return dict(zip(others, got, strict=True))


def direct_allgather(rank: int, ranks: int, data: Vector) -> Rank:
    came = yield from everyone(rank, ranks, dict.fromkeys(range(ranks), data))
    return joined({**came, rank: data})


def direct_reduce_scatter(rank: int, ranks: int, data: Vector) -> Rank:
    pieces = cut(data, ranks)
    came = yield from everyone(rank, ranks, dict(enumerate(pieces)), (ranks - 1) * len(pieces[rank]))
    mine = pieces[rank]
    for piece in came.values():
        mine = combined(mine, piece)
    return mine


def direct_allreduce(rank: int, ranks: int, data: Vector) -> Rank:
    mine = yield from direct_reduce_scatter(rank, ranks, data)
    return (yield from direct_allgather(rank, ranks, mine))


def direct_alltoall(rank: int, ranks: int, blocks: list[Vector]) -> Rank:
    came = yield from everyone(rank, ranks, dict(enumerate(blocks)))
    return [*map({**came, rank: blocks[rank]}.__getitem__, range(ranks))]


ON_A_MESH: dict[tuple[str, str], Callable[[int, int, Any], Rank]] = {
    ("allreduce", "ring"): allreduce,
    ("allgather", "ring"): allgather,
    ("reduce_scatter", "pairwise"): reduce_scatter,
    ("alltoall", "pairwise"): alltoall,
    ("allreduce", "all_pairs"): direct_allreduce,
    ("allgather", "all_pairs"): direct_allgather,
    ("reduce_scatter", "all_pairs"): direct_reduce_scatter,
    ("alltoall", "all_pairs"): direct_alltoall,
}
