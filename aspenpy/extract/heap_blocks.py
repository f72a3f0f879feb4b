"""Blocks of the heap that pointers of a counted program point into: how large they are, and which pointers share them.

The counted program has `malloc` and its relatives of its own, which call those of the GNU C library and keep the blocks
in a tree by address (a treap: Seidel and Aragon, Algorithmica 16, 1996). Each pointer that is recorded is looked up
there. A block that is freed and allocated again at its old place is the same data. Elsewhere nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.record import Record

POINTER = "aspenpy_pointer"
"""The function that a counted program calls with a number and the pointer that it records under that."""


class Pointed(Record):
    """Memory that the pointers of one expression pointed into during a run: the `mean` bytes of the block, weighted by
    how often it was pointed into, and bytes by set of blocks. All blocks of a set were pointed into from the same
    places."""

    mean: float
    sets: Mapping[tuple[int, ...], float]

    @property
    def total(self) -> float:
        """Bytes of all blocks."""
        return sum(self.sets.values())

    def has_blocks_of(self, other: Pointed) -> bool:
        """Whether the blocks are those of another expression, but for one part in twenty of their bytes."""
        common = sum(size for key, size in self.sets.items() if key in other.sets)
        return common > 0 and common >= 0.95 * max(self.total, other.total)


def read_pointed(text: str) -> dict[int, Pointed]:
    """The memory behind each number, in the mean of all processes that wrote."""
    processes = 0
    means: dict[int, list[float]] = {}
    sets: dict[tuple[int, ...], float] = {}
    for line in text.splitlines():
        word, *fields = line.split()
        processes += word == "process"
        if word == "mean":
            means.setdefault(int(fields[0]), []).append(float(fields[1]))
        elif word == "block":
            key = tuple(map(int, fields[1:]))
            sets[key] = sets.get(key, 0.0) + float(fields[0])
    of_place: dict[int, dict[tuple[int, ...], float]] = {}
    for key, size in sets.items():
        for place in key:
            of_place.setdefault(place, {})[key] = size / processes
    return {place: Pointed(sum(sizes) / len(sizes), of_place[place]) for place, sizes in means.items()}
