"""A cache simulator, exact and slow: what models of caches are compared with.

    caches = Hierarchy([Cache("L1", 32 * 1024, 8), Cache("L2", 256 * 1024, 4, policy="plru")])
    caches.load(0x1000, 8)
    caches.store(0x2000, 8)
    caches.levels[0].counts.read_misses, caches.memory.lines_read

A reference that lies in several lines counts once for each. A miss is passed on to the next level and fills every level
on its way back; what is evicted stays in the others, unless a level is `inclusive`: then it leaves those before it. A
store makes the first level that has the line dirty (write-back). Where that level does not have it, it is
fetched first, or with `allocate=False` the store is passed on. A dirty line that is evicted is written to the next
level, which takes it whole, without a fetch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol


class Set(Protocol):
    """The lines of one set, and who of them goes next."""

    def touch(self, line: int) -> bool:
        """Notes a reference; whether the line is there."""

    def insert(self, line: int) -> int | None:
        """Takes a line that is not there, as touched, and returns the one that has to go."""

    def remove(self, line: int) -> None:
        """Gives up a line that may be there."""


class LruSet:
    """The line goes whose last reference is the longest ago."""

    def __init__(self, ways: int) -> None:
        self.ways = ways
        self.lines: dict[int, None] = {}

    def touch(self, line: int) -> bool:
        if line not in self.lines:
            return False
        del self.lines[line]
        self.lines[line] = None
        return True

    def insert(self, line: int) -> int | None:
        victim = None
        if len(self.lines) == self.ways:
            victim = next(iter(self.lines))
            del self.lines[victim]
        self.lines[line] = None
        return victim

    def remove(self, line: int) -> None:
        self.lines.pop(line, None)


class RandomSet:
    """Any line goes, all with the same probability; an empty place is taken first."""

    def __init__(self, ways: int, draws: Random) -> None:
        self.draws = draws
        self.places: list[int | None] = [None] * ways

    def touch(self, line: int) -> bool:
        return line in self.places

    def insert(self, line: int) -> int | None:
        place = self.places.index(None) if None in self.places else self.draws.randrange(len(self.places))
        victim, self.places[place] = self.places[place], line
        return victim

    def remove(self, line: int) -> None:
        if line in self.places:
            self.places[self.places.index(line)] = None


class PlruSet:
    """Tree-PLRU: each node of a binary tree over the places points to the half that was not touched last, and the line
    goes to which they lead. An empty place is taken first."""

    def __init__(self, ways: int) -> None:
        if ways & (ways - 1):
            raise ValueError(f"a tree of pointers needs a power of two of ways, not {ways}")
        self.places: list[int | None] = [None] * ways
        self.to_right = [False] * ways
        """Of the nodes 1, 2, ..., ways - 1; those below node i are 2 i and 2 i + 1."""

    def touch(self, line: int) -> bool:
        if line not in self.places:
            return False
        node = len(self.places) + self.places.index(line)
        while node > 1:
            self.to_right[node // 2] = node % 2 == 0
            node //= 2
        return True

    def insert(self, line: int) -> int | None:
        place = self.places.index(None) if None in self.places else self._next()
        victim, self.places[place] = self.places[place], line
        self.touch(line)
        return victim

    def _next(self) -> int:
        node = 1
        while node < len(self.places):
            node = 2 * node + self.to_right[node]
        return node - len(self.places)

    def remove(self, line: int) -> None:
        if line in self.places:
            self.places[self.places.index(line)] = None


@dataclass
class Counts:
    """What came to a level, by the kind of the program's reference, and what it sent on."""

    reads: int = 0
    writes: int = 0
    read_misses: int = 0
    write_misses: int = 0
    writes_back: int = 0
    """Dirty lines that it gave to the next level."""

    @property
    def misses(self) -> int:
        return self.read_misses + self.write_misses


@dataclass
class Memory:
    """What lies behind the last level."""

    lines_read: int = 0
    lines_written: int = 0
    """Dirty lines that came back, and stores that no level took."""


class Cache:
    """One level: `capacity` in bytes, `ways` of each set (None: fully associative), lines of `line` bytes. `policy` is
    `lru`, `random` (with a seed) or `plru`. The set of a line is its number modulo that of the sets."""

    def __init__(
        self,
        name: str,
        capacity: int,
        ways: int | None,
        *,
        line: int = 64,
        policy: str = "lru",
        seed: int = 0,
        allocate: bool = True,
        inclusive: bool = False,
    ) -> None:
        lines = capacity // line
        ways = ways or lines
        if lines * line != capacity or lines % ways:
            raise ValueError(f"{capacity} bytes are no whole number of sets of {ways} lines of {line} bytes")
        self.name = name
        self.line = line
        self.allocate = allocate
        self.inclusive = inclusive
        draws = Random(seed)
        make = {"lru": LruSet, "plru": PlruSet, "random": lambda ways: RandomSet(ways, draws)}[policy]
        self.sets: list[Set] = [make(ways) for _ in range(lines // ways)]
        self.present: set[int] = set()
        self.dirty: set[int] = set()
        self.counts = Counts()

    def touch(self, line: int) -> bool:
        return self.sets[line % len(self.sets)].touch(line)

    def insert(self, line: int) -> int | None:
        """Takes a line, and returns the one that had to go."""
        victim = self.sets[line % len(self.sets)].insert(line)
        self.present.add(line)
        if victim is not None:
            self.present.remove(victim)
        return victim

    def remove(self, line: int) -> bool:
        """Gives up a line that may be there; whether it was dirty."""
        self.sets[line % len(self.sets)].remove(line)
        self.present.discard(line)
        was_dirty = line in self.dirty
        self.dirty.discard(line)
        return was_dirty


@dataclass
class Hierarchy:
    """Levels of one line size, the first next to the core."""

    levels: Sequence[Cache]
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        if len({level.line for level in self.levels}) != 1:
            raise ValueError("all levels have lines of one size")
        self.line = self.levels[0].line

    def load(self, address: int, size: int = 1) -> None:
        for line in self._lines(address, size):
            self._fetch(0, line, is_write=False)

    def store(self, address: int, size: int = 1) -> None:
        for line in self._lines(address, size):
            self._store(line)

    def run(self, references: Iterable[tuple[str, int, int]]) -> Hierarchy:
        """Loads (`L`) and stores (`S`) of bytes at addresses."""
        for letter, address, size in references:
            {"L": self.load, "S": self.store}[letter](address, size)
        return self

    def flush(self) -> None:
        """Writes all dirty lines to memory, each once."""
        self.memory.lines_written += len(set().union(*(level.dirty for level in self.levels)))
        for level in self.levels:
            level.dirty.clear()

    def _lines(self, address: int, size: int) -> range:
        return range(address // self.line, (address + size - 1) // self.line + 1)

    def _store(self, line: int) -> None:
        """Into the first level that takes it."""
        for number, level in enumerate(self.levels):
            if level.allocate:
                self._fetch(number, line, is_write=True)
                level.dirty.add(line)
                return
            level.counts.writes += 1
            if level.touch(line):
                level.dirty.add(line)
                return
            level.counts.write_misses += 1
        self.memory.lines_written += 1

    def _fetch(self, number: int, line: int, *, is_write: bool) -> None:
        """Makes a line present in a level, from the next one that has it."""
        if number == len(self.levels):
            self.memory.lines_read += 1
            return
        level = self.levels[number]
        if is_write:
            level.counts.writes += 1
        else:
            level.counts.reads += 1
        if level.touch(line):
            return
        if is_write:
            level.counts.write_misses += 1
        else:
            level.counts.read_misses += 1
        self._fetch(number + 1, line, is_write=is_write)
        self._insert(number, line)

    def _insert(self, number: int, line: int) -> None:
        level = self.levels[number]
        victim = level.insert(line)
        if victim is None:
            return
        is_dirty = victim in level.dirty
        level.dirty.discard(victim)
        if level.inclusive:
            for inner in self.levels[:number]:
                is_dirty = inner.remove(victim) or is_dirty
        if is_dirty:
            level.counts.writes_back += 1
            self._write_back(number + 1, victim)

    def _write_back(self, number: int, line: int) -> None:
        """Gives a level a whole dirty line."""
        if number == len(self.levels):
            self.memory.lines_written += 1
            return
        level = self.levels[number]
        if not level.touch(line):
            self._insert(number, line)
        level.dirty.add(line)
