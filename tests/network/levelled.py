"""Ranks in nodes, event by event: messages take the path of their ends, and those that start together share ports.

What is sent takes alpha, and beta for each byte; between nodes beta times the messages of the same node that started at
the same time, which share its port. Inside a node every rank has a port of its own, and on a mesh a link to each other
one. Phases follow one another: in each, groups of ranks run a program of `programs.py`, the fastest of those that there
are for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from aspenpy.cost.network.collectives import ALGORITHMS
from tests.network.meshes import ON_A_MESH
from tests.network.programs import PROGRAMS, gathered_up, scatter_down
from tests.network.simulator import Rank, Step, size


class Path(NamedTuple):
    """On a mesh, beta is that of a link, and `port` what each byte takes of all that leave a rank."""

    alpha: Fraction
    beta: Fraction
    gamma: Fraction = Fraction(0)
    mesh: bool = False
    port: Fraction = Fraction(0)


class Member(NamedTuple):
    """Who takes part in a group: a rank, and where it is; several members may be of one rank."""

    node: int
    rank: int


Group = Sequence[Member]


class Message(NamedTuple):
    start: Fraction
    group: int
    source: int
    to: int
    data: Any


def run(groups: Sequence[Group], programs: Sequence[Callable[[int], Rank]], inside: Path, across: Path) -> Any:
    """Runs all groups at the same time; returns what each member has at the end, and the time of the last."""
    keys = [(number, place) for number, group in enumerate(groups) for place in range(len(group))]
    running = {(number, place): programs[number](place) for number, place in keys}
    clocks = dict.fromkeys(keys, Fraction(0))
    results: dict[Hashable, Any] = {}
    steps: dict[Hashable, Step] = {}
    offered: dict[Any, list[tuple[Fraction, Any]]] = {}
    wanted: dict[Any, list[Fraction]] = {}
    ended: dict[Any, list[tuple[Fraction, Any]]] = {}
    counts = {"s": {}, "r": {}}  # type: ignore[var-annotated]

    def resume(key: Any, received: list[Any] | None) -> None:
        try:
            step = next(running[key]) if received is None else running[key].send(received)
        except StopIteration as end:
            results[key] = end.value
            steps.pop(key, None)
            return
        steps[key] = step
        number, place = key
        for to, data in step.sends:
            offered.setdefault((number, place, to), []).append((clocks[key], data))
        for source in step.receives:
            wanted.setdefault((number, source, place), []).append(clocks[key])

    def start_next() -> None:
        """Times the messages that start next, all of the same time."""
        ready = []
        for pair, sent in offered.items():
            at = len(ended.get(pair, ()))
            if at < len(sent) and at < len(wanted.get(pair, ())):
                ready.append(Message(max(sent[at][0], wanted[pair][at]), *pair, sent[at][1]))
        assert ready, "deadlock"
        first = min(message.start for message in ready)
        now = [message for message in ready if message.start == first]
        ends = [(groups[m.group][m.source], groups[m.group][m.to]) for m in now]
        leaving = Counter(source.node for source, to in ends if source.node != to.node)
        staying = Counter(source for source, to in ends if source.node == to.node)
        for message, (source, to) in zip(now, ends, strict=True):
            crosses = source.node != to.node
            path = across if crosses else inside
            rate = path.beta * leaving[source.node] if crosses else max(path.beta, path.port * staying[source])
            end = first + path.alpha + rate * size(message.data)
            ended.setdefault(message[1:4], []).append((end, message.data))

    def over(key: Any) -> bool:
        """Whether a member's step is over; it goes on then."""
        number, place = key
        step = steps[key]
        sides = [("s", (number, place, to)) for to, _ in step.sends]
        sides += [("r", (number, source, place)) for source in step.receives]
        used = {side: dict(known) for side, known in counts.items()}
        times, received = [clocks[key]], []
        for side, pair in sides:
            at = used[side].get((pair, key), 0)
            used[side][pair, key] = at + 1
            if at >= len(ended.get(pair, ())):
                return False
            end, data = ended[pair][at]
            times.append(end)
            if side == "r":
                received.append(data)
        counts.update(used)
        clocks[key] = max(times) + inside.gamma * step.combines
        resume(key, received)
        return True

    for key in keys:
        resume(key, None)
    while steps:
        if not any(over(key) for key in list(steps)):
            start_next()
    return [[results[number, place] for place in range(len(group))] for number, group in enumerate(groups)], max(
        clocks.values(), default=Fraction(0)
    )


def names(collective: str, ranks: int) -> list[str]:
    """The algorithms of a collective among so many ranks, but for those that send to all at once."""
    if collective in ("gather", "scatter"):
        return ["binomial"]
    power = ranks & (ranks - 1) == 0
    known = {name: each for (of, name), each in ALGORITHMS.items() if of == collective and not each.all_pairs}
    return [name for name, each in known.items() if power or not each.power_of_two]


def phase(
    collective: str, groups: Sequence[Group], data: Sequence[Sequence[Any]], inside: Path, across: Path
) -> tuple[list[list[Any]], Fraction]:
    """All groups of a phase, those of each number of members by the algorithm that is the fastest for them."""
    results: list[list[Any]] = [[] for _ in groups]
    longest = Fraction(0)
    for members in {len(group) for group in groups}:
        chosen = [number for number, group in enumerate(groups) if len(group) == members]
        tries = []
        within = inside.mesh and all(len({member.node for member in groups[number]}) == 1 for number in chosen)
        for name in names(collective, members):
            program = OTHERS.get(collective) or PROGRAMS[collective, name]
            if within:
                program = ON_A_MESH.get((collective, name), program)
            starts = [
                (lambda place, number=number, program=program: program(place, members, data[number][place]))  # noqa: B023
                for number in chosen
            ]
            tries.append(run([groups[number] for number in chosen], starts, inside, across))
        found, time = min(tries, key=lambda each: each[1])
        longest = max(longest, time)
        for number, result in zip(chosen, found, strict=True):
            results[number] = result
    return results, longest


OTHERS: dict[str, Callable[[int, int, Any], Rank]] = {"gather": gathered_up, "scatter": scatter_down}
