"""Windows of the executed path: laps of a loop one behind the other, with those of the loops inside.

Iterations of a short loop overlap in the reorder buffer with those of the next row, so that a body alone says too much
(or, where a core waits at the end, too little). What a lap takes is the difference of a window of some laps and one of
twice as many, which leaves out how both begin and end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

from aspenpy.assembly.forwarding import HandedOn, read_entry
from aspenpy.assembly.library_calls import is_opaque_call, write_out_calls
from aspenpy.assembly.listing import Instruction
from aspenpy.assembly.loops import NaturalLoop
from aspenpy.assembly.mending import mend
from aspenpy.record import Record

WINDOW = 800
"""Instructions of a window at least: three times the reorder buffer of the largest cores (512 entries)."""

LONGEST = 12_000
"""Instructions of a window at most."""

Trips = Mapping[int, int]
"""Laps of inner loops each time they are entered, by the block where they are."""


class LoopWalk:
    """A walk through a loop by its blocks, with inner loops so often as `trips` says; loops without are left out.

    At a branch the way is taken that leads to such a loop, else one that leads to no block of `avoided` and none that
    calls a function, as what compilers put aside for errors does; one on data goes either way, by a generator that
    begins with the same seed each time, and never out of a loop before its laps are done.
    """

    def __init__(self, loop: NaturalLoop, trips: Trips, avoided: frozenset[int] = frozenset()) -> None:
        self.loop, self.trips = loop, trips
        self.random = Random(1)
        self.code = loop.function.blocks
        calling = (block.number for block in self.code if any(map(is_opaque_call, block.instructions)))
        self.avoided = avoided.union(calling)

    def run(self, laps: int) -> list[Instruction]:
        """The instructions of `laps` laps."""
        found: list[Instruction] = []
        for _ in range(laps):
            self._run_lap(self.loop, found)
            if len(found) > LONGEST:
                break
        return found

    def _run_lap(self, loop: NaturalLoop, found: list[Instruction]) -> None:
        """One lap: from the header along blocks of the loop, back to it."""
        number, left = loop.header, {inner.header for inner in loop.inner if self.trips.get(inner.header)}
        inside = {inner.header: inner for inner in loop.inner}
        steps = 0
        while steps <= len(loop.blocks):
            steps += 1
            if number in inside:
                inner = inside[number]
                if number in left:
                    self._run_inner(inner, found)
                left.discard(number)
                exits = [next for block in inner.blocks for next in self.code[block].successors]
                following = [next for next in exits if next in loop.blocks and next not in inner.blocks]
                number = self._choose(following, loop, left)
            else:
                found.extend(write_out_calls(self.code[number].instructions))
                following = [next for next in self.code[number].successors if next in loop.blocks]
                number = self._choose(following, loop, left)
            if number in (loop.header, -1) or len(found) > LONGEST:
                return

    def _run_inner(self, loop: NaturalLoop, found: list[Instruction]) -> None:
        for _ in range(self.trips[loop.header]):
            self._run_lap(loop, found)
            if len(found) > LONGEST:
                return

    def _choose(self, following: list[int], loop: NaturalLoop, left: set[int]) -> int:
        """The block that follows within a loop, -1 where none does."""
        following = list(dict.fromkeys(following))
        if len(following) < 2:
            return following[0] if following else -1
        reached = [len(left & self._reachable_blocks(next, loop)) for next in following]
        if len(set(reached)) > 1:
            return following[reached.index(max(reached))]
        following = [next for next in following if next not in self.avoided] or following
        return self.random.choice(following)

    def _reachable_blocks(self, start: int, loop: NaturalLoop) -> set[int]:
        """The blocks of a loop that can follow before its header comes again."""
        seen, waiting = set[int](), [start]
        while waiting:
            number = waiting.pop()
            if number not in seen and number in loop.blocks and number != loop.header:
                seen.add(number)
                waiting.extend(self.code[number].successors)
        return seen


class SimulationWindow(Record):
    """Two stretches of a path, the second with twice the `laps` of the first. Where branches are guessed wrongly,
    `pieces` are what says so, of each part of the second between two wrong guesses, which have `laps_of_pieces`."""

    laps: int
    first: tuple[str, ...]
    second: tuple[str, ...]
    pieces: tuple[tuple[str, ...], ...] = ()
    laps_of_pieces: Fraction = Fraction(1)


def make_window(
    loop: NaturalLoop, trips: Trips, avoided: frozenset[int] = frozenset(), handed: Sequence[HandedOn] = ()
) -> SimulationWindow | None:
    """A window of a loop's path; None where one lap is too long, or calls a function."""
    lap = LoopWalk(loop, trips, avoided).run(1)
    if not lap or len(lap) > LONGEST // 2 or any(one.is_call for one in lap):
        return None
    laps = max(1, min(-(-WINDOW // len(lap)), LONGEST // (2 * len(lap))))
    stretches = (LoopWalk(loop, trips, avoided).run(times) for times in (laps, 2 * laps))
    entry = read_entry(loop)
    first, second = (mend(stretch, entry, handed) for stretch in stretches)
    return SimulationWindow(laps, first, second)
