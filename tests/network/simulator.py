"""A machine of ranks that send each other lists, event by event.

A rank is a generator. It yields `Step`s and is sent back what it received. A message starts when both ends have come to
it, and takes alpha and beta for each element; a step of several messages is over when the last of them is. What a
rank combines takes gamma for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from fractions import Fraction
from typing import Any, NamedTuple

Data = Any


class Step(NamedTuple):
    """Messages to other ranks and the ranks messages are expected from, all at once, then elements combined."""

    sends: tuple[tuple[int, Data], ...] = ()
    receives: tuple[int, ...] = ()
    combines: int = 0


Rank = Generator[Step, list[Data], Data]


class Outcome(NamedTuple):
    results: list[Data]
    time: Fraction
    messages: int
    traffic: int
    most_messages: int
    most_traffic: int


def size(data: Data) -> int:
    """Elements, through lists and dictionaries of pieces."""
    if isinstance(data, dict):
        return sum(map(size, data.values()))
    return sum(map(size, data)) if isinstance(data, list) else int(data is not None)


def simulate(program: Callable[[int, int], Rank], ranks: int, alpha: Any, beta: Any, gamma: Any = 0) -> Outcome:
    """Runs the program of each rank until all have returned."""
    running = [program(rank, ranks) for rank in range(ranks)]
    clocks, results = [Fraction(0)] * ranks, [None] * ranks
    waiting: dict[int, Step] = {}
    offers: dict[tuple[int, int], list[tuple[Fraction, Data]]] = {}
    wants: dict[tuple[int, int], list[Fraction]] = {}
    sent: list[list[int]] = [[] for _ in range(ranks)]

    def resume(rank: int, received: list[Data] | None) -> None:
        try:
            step = next(running[rank]) if received is None else running[rank].send(received)
        except StopIteration as end:
            results[rank] = end.value
            return
        waiting[rank] = step
        for to, data in step.sends:
            offers.setdefault((rank, to), []).append((clocks[rank], data))
            sent[rank].append(size(data))
        for source in step.receives:
            wants.setdefault((source, rank), []).append(clocks[rank])

    def finished(rank: int, positions: dict[tuple[int, int, str], int]) -> tuple[Fraction, list[Data]] | None:
        """When the step is over and what it received, once both ends of all its messages are there."""
        step, ends, received = waiting[rank], [clocks[rank]], []
        pairs = [(rank, to) for to, _ in step.sends] + [(source, rank) for source in step.receives]
        used = dict(positions)
        for side, pair in zip("s" * len(step.sends) + "r" * len(step.receives), pairs, strict=True):
            at = used.get((*pair, side), 0)
            used[*pair, side] = at + 1
            if len(offers.get(pair, ())) <= at or len(wants.get(pair, ())) <= at:
                return None
            offered, data = offers[pair][at]
            ends.append(max(offered, wants[pair][at]) + alpha + beta * size(data))
            if side == "r":
                received.append(data)
        positions.update(used)
        return max(ends) + gamma * step.combines, received

    positions: dict[tuple[int, int, str], int] = {}
    for rank in range(ranks):
        resume(rank, None)
    while waiting:
        for rank in list(waiting):
            if (over := finished(rank, positions)) is not None:
                del waiting[rank]
                clocks[rank] = over[0]
                resume(rank, over[1])
                break
        else:
            raise AssertionError(f"deadlock among ranks {sorted(waiting)}")
    return Outcome(
        results, max(clocks), sum(map(len, sent)), sum(map(sum, sent)), max(map(len, sent)), max(map(sum, sent))
    )
