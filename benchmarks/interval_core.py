"""IntervalCore: a small simulator of an out-of-order core whose loads do not block, which counts leading loads.

It schedules one instruction after the other: dispatch in order while the reorder buffer has room, begin when what it
depends on is complete, retire in order. A load that misses takes the same time at every clock, so that its cycles go
with the clock. What it counts are the counters of Rountree and others (2011): `leading_load_cycles` as in section IV
(a load that begins while no leading load is outstanding leads; those that begin before it is complete do not count),
`read_cycles` with one outstanding miss at least, `stall_cycles` in which nothing retires for a miss.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from aspenpy.record import NamedTuple, Record


class Instruction(NamedTuple):
    """Whether it is a load that misses, how many instructions before it the one stands that it waits for (0 for none),
    and its cycles if it is no miss."""

    misses: bool = False
    waits_for: int = 0
    cycles: int = 1


class IntervalCore(Record):
    """A core: instructions a cycle, entries of the reorder buffer, outstanding misses, seconds of a miss."""

    width: int = 4
    window: int = 128
    outstanding: int = 10
    miss_seconds: float = 80e-9

    def run(self, program: Sequence[Instruction], clock: float) -> dict[str, float]:
        """The counters of a run at a clock (Hz), by the names of columns."""
        latency = round(self.miss_seconds * clock)
        dispatched, complete, retired = [0], [0], [0]  # of each instruction, behind one that costs nothing
        reads: list[tuple[int, int]] = []
        ends: list[int] = []  # of reads, in order
        stalled = 0
        for place, item in enumerate(program, 1):
            narrow = max(place - self.width, 0)
            start = max(dispatched[-1], dispatched[narrow] + (narrow > 0), retired[max(place - self.window, 0)])
            dispatched.append(start)
            begin = max(start, complete[place - item.waits_for] if item.waits_for else 0)
            if item.misses:
                if len(ends) >= self.outstanding:
                    begin = max(begin, ends[-self.outstanding])
                reads.append((begin, begin + latency))
                insort(ends, begin + latency)
            complete.append(begin + (latency if item.misses else item.cycles))
            free = max(retired[-1], retired[narrow] + (narrow > 0))
            retired.append(max(free, complete[-1]))
            stalled += max(0, retired[-1] - max(free, begin)) if item.misses else 0
        return {
            "core_frequency": clock,
            "runtime": retired[-1] / clock,
            "instructions": len(program),
            "cycles": retired[-1],
            "llc_misses": len(reads),
            "bus_accesses": len(reads),
            "stall_cycles": stalled,
            "read_cycles": covered_cycles(reads),
            "leading_load_cycles": leading_cycles(reads),
        }


def leading_cycles(reads: Sequence[tuple[int, int]]) -> int:
    """Cycles of leading loads, of loads given by their first cycle and the one after their last (section IV)."""
    total = free = 0
    for begin, end in sorted(reads):
        if begin >= free:
            total, free = total + end - begin, end
    return total


def covered_cycles(reads: Sequence[tuple[int, int]]) -> int:
    """Cycles in which one is outstanding at least."""
    total = reached = 0
    for begin, end in sorted(reads):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total
