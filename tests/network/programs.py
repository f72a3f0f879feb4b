"""The collectives as programs of ranks, which the simulator runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.network.simulator import Rank, Step, size

Vector = list[int]
Place = tuple[int, ...]


def combined(left: Vector, right: Vector) -> Vector:
    return [a + b for a, b in zip(left, right, strict=True)]


def send(to: int, data: Any) -> Step:
    return Step(sends=((to, data),))


def receive(source: int, combines: int = 0) -> Step:
    return Step(receives=(source,), combines=combines)


def swap(to: int, data: Any, source: int, combines: int = 0) -> Step:
    return Step(((to, data),), (source,), combines)


def lowest_bit(rank: int) -> int:
    return rank & -rank


def tree_levels(ranks: int) -> list[int]:
    """1, 2, 4, ... below the number of ranks."""
    return [1 << j for j in range((ranks - 1).bit_length())]


# -- trees from and to rank 0 ----------------------------------------------------------------------


def flat_down(rank: int, ranks: int, data: Any) -> Rank:
    if rank:
        (data,) = yield receive(0)
        return data
    for other in range(1, ranks):
        yield send(other, data)
    return data


def binomial_down(rank: int, ranks: int, data: Any) -> Rank:
    """The farthest subtree first."""
    own = lowest_bit(rank) if rank else 1 << (ranks - 1).bit_length()
    if rank:
        (data,) = yield receive(rank - own)
    for level in reversed(tree_levels(ranks)):
        if level < own and rank + level < ranks:
            yield send(rank + level, data)
    return data


def scatter_down(rank: int, ranks: int, pieces: dict[int, Vector]) -> Rank:
    own = lowest_bit(rank) if rank else 1 << (ranks - 1).bit_length()
    if rank:
        (pieces,) = yield receive(rank - own)
    for level in reversed(tree_levels(ranks)):
        if level < own and rank + level < ranks:
            yield send(rank + level, {k: piece for k, piece in pieces.items() if k >= rank + level})
            pieces = {k: piece for k, piece in pieces.items() if k < rank + level}
    return pieces


def flat_up(rank: int, ranks: int, data: Vector) -> Rank:
    if rank:
        yield send(0, data)
        return None
    for other in range(1, ranks):
        (theirs,) = yield receive(other, combines=size(data))
        data = combined(data, theirs)
    return data


def binomial_up(rank: int, ranks: int, data: Vector) -> Rank:
    """The nearest subtree first."""
    for level in tree_levels(ranks):
        if rank & level:
            yield send(rank - level, data)
            return None
        if rank + level < ranks:
            (theirs,) = yield receive(rank + level, combines=size(data))
            data = combined(data, theirs)
    return data


# -- rings -----------------------------------------------------------------------------------------


def ring_round(rank: int, ranks: int, piece: Any, first: int) -> Rank:
    """Every rank's piece once round; the piece of this rank is number `first`."""
    pieces = {first: piece}
    for turn in range(ranks - 1):
        passed = (first - turn) % ranks
        (theirs,) = yield swap((rank + 1) % ranks, pieces[passed], (rank - 1) % ranks)
        pieces[(passed - 1) % ranks] = theirs
    return pieces


def ring_combined(rank: int, ranks: int, pieces: list[Vector]) -> Rank:
    """Ends with the piece number rank + 1, complete."""
    pieces = list(pieces)
    for turn in range(ranks - 1):
        passed, taken = (rank - turn) % ranks, (rank - turn - 1) % ranks
        (theirs,) = yield swap((rank + 1) % ranks, pieces[passed], (rank - 1) % ranks, size(pieces[taken]))
        pieces[taken] = combined(pieces[taken], theirs)
    return pieces[(rank + 1) % ranks]


# -- powers of two ---------------------------------------------------------------------------------


def fold(rank: int, ranks: int, data: Vector, inner: Callable[[int, int, Vector], Rank]) -> Rank:
    """Runs `inner` among a power of two of ranks: the first 2r pair up, the even of a pair gives before and gets
    after."""
    core = 1 << (ranks.bit_length() - 1)
    paired = 2 * (ranks - core)
    if rank < paired and rank % 2 == 0:
        yield send(rank + 1, data)
        (result,) = yield receive(rank + 1)
        return result
    if rank < paired:
        (theirs,) = yield receive(rank - 1, combines=size(data))
        data = combined(data, theirs)
    renamed = _Renamed(inner(rank // 2 if rank < paired else rank - paired // 2, core, data), paired)
    result = yield from renamed.run()
    if rank < paired:
        yield send(rank - 1, result)
    return result


class _Renamed:
    """A program whose ranks are those of the core."""

    def __init__(self, inner: Rank, paired: int) -> None:
        self.inner, self.paired = inner, paired

    def name(self, rank: int) -> int:
        return 2 * rank + 1 if 2 * rank < self.paired else rank + self.paired // 2

    def run(self) -> Rank:
        received = None
        while True:
            try:
                step = next(self.inner) if received is None else self.inner.send(received)
            except StopIteration as end:
                return end.value
            sends = tuple((self.name(to), data) for to, data in step.sends)
            received = yield Step(sends, tuple(map(self.name, step.receives)), step.combines)


def doubling(rank: int, ranks: int, data: Vector) -> Rank:
    for level in tree_levels(ranks):
        (theirs,) = yield swap(rank ^ level, data, rank ^ level, size(data))
        data = combined(data, theirs)
    return data


def halving(rank: int, ranks: int, pieces: dict[int, Vector]) -> Rank:
    """Ends with the piece of this rank, complete."""
    for level in reversed(tree_levels(ranks)):
        other = rank ^ level
        given = {k: piece for k, piece in pieces.items() if bool(k & level) == bool(other & level)}
        kept = {k: piece for k, piece in pieces.items() if k not in given}
        (theirs,) = yield swap(other, given, other, size(kept))
        pieces = {k: combined(piece, theirs[k]) for k, piece in kept.items()}
    return pieces


def gathering(rank: int, ranks: int, pieces: dict[int, Any]) -> Rank:
    """Everyone's pieces, by recursive doubling."""
    for level in tree_levels(ranks):
        (theirs,) = yield swap(rank ^ level, pieces, rank ^ level)
        pieces = pieces | theirs
    return pieces


# -- whole collectives, as (rank, ranks, data) -----------------------------------------------------


def cut(data: Vector, parts: int) -> list[Vector]:
    length = len(data) // parts
    return [data[part * length : (part + 1) * length] for part in range(parts)]


def joined(pieces: dict[int, Vector]) -> Vector:
    return [element for k in sorted(pieces) for element in pieces[k]]


def scatter_allgather(rank: int, ranks: int, data: Vector) -> Rank:
    mine = yield from scatter_down(rank, ranks, dict(enumerate(cut(data, ranks))) if rank == 0 else {})
    return joined((yield from ring_round(rank, ranks, mine[rank], rank)))


def reduce_broadcast(rank: int, ranks: int, data: Vector) -> Rank:
    result = yield from binomial_up(rank, ranks, data)
    return (yield from binomial_down(rank, ranks, result))


def ring_allreduce(rank: int, ranks: int, data: Vector) -> Rank:
    piece = yield from ring_combined(rank, ranks, cut(data, ranks))
    return joined((yield from ring_round(rank, ranks, piece, (rank + 1) % ranks)))


def rabenseifner_core(rank: int, ranks: int, data: Vector) -> Rank:
    mine = yield from halving(rank, ranks, dict(enumerate(cut(data, ranks))))
    return joined((yield from gathering(rank, ranks, mine)))


def bruck_allgather(rank: int, ranks: int, data: Vector) -> Rank:
    """In the order rank, rank + 1, ..., of which each round gets as many more as there are."""
    have = [data]
    while len(have) < ranks:
        count = min(len(have), ranks - len(have))
        (theirs,) = yield swap((rank - len(have)) % ranks, have[:count], (rank + len(have)) % ranks)
        have = have + theirs
    return joined({(rank + k) % ranks: piece for k, piece in enumerate(have)})


def doubling_allgather(rank: int, ranks: int, data: Vector) -> Rank:
    return joined((yield from gathering(rank, ranks, {rank: data})))


def ring_allgather(rank: int, ranks: int, data: Vector) -> Rank:
    return joined((yield from ring_round(rank, ranks, data, rank)))


def pairwise_reduce_scatter(rank: int, ranks: int, data: Vector) -> Rank:
    pieces = cut(data, ranks)
    mine = pieces[rank]
    for turn in range(1, ranks):
        to = (rank + turn) % ranks
        (theirs,) = yield swap(to, pieces[to], (rank - turn) % ranks, size(mine))
        mine = combined(mine, theirs)
    return mine


def halving_reduce_scatter(rank: int, ranks: int, data: Vector) -> Rank:
    return (yield from halving(rank, ranks, dict(enumerate(cut(data, ranks)))))[rank]


def pairwise_alltoall(rank: int, ranks: int, blocks: list[Vector]) -> Rank:
    found = {rank: blocks[rank]}
    for turn in range(1, ranks):
        to, source = (rank + turn) % ranks, (rank - turn) % ranks
        (found[source],) = yield swap(to, blocks[to], source)
    return [found[source] for source in range(ranks)]


def bruck_alltoall(rank: int, ranks: int, blocks: list[Vector]) -> Rank:
    """Block k is on its way to the rank k further."""
    held = [blocks[(rank + k) % ranks] for k in range(ranks)]
    for level in tree_levels(ranks):
        moved = {k: held[k] for k in range(ranks) if k & level}
        (theirs,) = yield swap((rank + level) % ranks, moved, (rank - level) % ranks)
        for k, block in theirs.items():
            held[k] = block
    return [held[(rank - source) % ranks] for source in range(ranks)]


# -- barriers: what a rank knows of is who has arrived ---------------------------------------------


def dissemination(rank: int, ranks: int, arrived: frozenset[int]) -> Rank:
    for level in tree_levels(ranks):
        (theirs,) = yield swap((rank + level) % ranks, arrived, (rank - level) % ranks)
        arrived |= theirs
    return arrived


def tree_barrier(rank: int, ranks: int, arrived: frozenset[int]) -> Rank:
    for level in tree_levels(ranks):
        if rank & level:
            yield send(rank - level, arrived)
            break
        if rank + level < ranks:
            (theirs,) = yield receive(rank + level)
            arrived |= theirs
    return (yield from binomial_down(rank, ranks, arrived))


def flat_barrier(rank: int, ranks: int, arrived: frozenset[int]) -> Rank:
    if rank:
        yield send(0, arrived)
    for other in range(1, ranks) if rank == 0 else ():
        (theirs,) = yield receive(other)
        arrived |= theirs
    return (yield from flat_down(rank, ranks, arrived))


def doubling_barrier(rank: int, ranks: int, arrived: frozenset[int]) -> Rank:
    core = 1 << (ranks.bit_length() - 1)
    if rank >= core:
        yield send(rank - core, arrived)
        (arrived,) = yield receive(rank - core)
        return arrived
    if rank + core < ranks:
        (theirs,) = yield receive(rank + core)
        arrived |= theirs
    for level in tree_levels(core):
        (theirs,) = yield swap(rank ^ level, arrived, rank ^ level)
        arrived |= theirs
    if rank + core < ranks:
        yield send(rank + core, arrived)
    return arrived


# -- halo ------------------------------------------------------------------------------------------


def halo_exchange(
    place: dict[int, tuple[int, ...]], grid: tuple[int, ...], faces: tuple[int, ...], periodic: bool
) -> Any:
    """A program of a rank that exchanges its faces, dimension by dimension: around a ring all shift one way and then
    the other; between open ends the pairs (0, 1), (2, 3), ... exchange and then the others. It returns what came, by
    the way it went."""
    numbers = {where: rank for rank, where in place.items()}

    def neighbour(rank: int, axis: int, step: int) -> int | None:
        where = list(place[rank])
        where[axis] += step
        if periodic:
            where[axis] %= grid[axis]
        return numbers.get(tuple(where))

    def program(rank: int, _: int) -> Rank:
        came = {}
        for axis, length in enumerate(grid):
            for step in (1, -1) if length > 1 else ():
                if periodic:
                    to, source = neighbour(rank, axis, step), neighbour(rank, axis, -step)
                else:
                    step *= 1 if place[rank][axis] % 2 else -1
                    to = source = neighbour(rank, axis, -step)
                face = [rank] * faces[axis]
                got = yield Step(() if to is None else ((to, face),), () if source is None else (source,))
                came[axis, step] = got[0] if got else None
        return came

    return program


PROGRAMS: dict[tuple[str, str], Callable[[int, int, Any], Rank]] = {
    ("broadcast", "flat"): flat_down,
    ("broadcast", "binomial"): binomial_down,
    ("broadcast", "scatter_allgather"): scatter_allgather,
    ("reduce", "flat"): flat_up,
    ("reduce", "binomial"): binomial_up,
    ("allreduce", "reduce_broadcast"): reduce_broadcast,
    ("allreduce", "recursive_doubling"): lambda rank, ranks, data: fold(rank, ranks, data, doubling),
    ("allreduce", "ring"): ring_allreduce,
    ("allreduce", "rabenseifner"): lambda rank, ranks, data: fold(rank, ranks, data, rabenseifner_core),
    ("allgather", "ring"): ring_allgather,
    ("allgather", "recursive_doubling"): doubling_allgather,
    ("allgather", "bruck"): bruck_allgather,
    ("reduce_scatter", "pairwise"): pairwise_reduce_scatter,
    ("reduce_scatter", "recursive_halving"): halving_reduce_scatter,
    ("alltoall", "pairwise"): pairwise_alltoall,
    ("alltoall", "bruck"): bruck_alltoall,
    ("barrier", "dissemination"): dissemination,
    ("barrier", "recursive_doubling"): doubling_barrier,
    ("barrier", "binomial"): tree_barrier,
    ("barrier", "flat"): flat_barrier,
}


def gathered_up(rank: int, ranks: int, data: dict[int, Vector]) -> Rank:
    """The pieces of all ranks at rank 0: the nearest subtree first."""
    for level in tree_levels(ranks):
        if rank & level:
            yield send(rank - level, data)
            return None
        if rank + level < ranks:
            (theirs,) = yield receive(rank + level)
            data = data | theirs
    return data
