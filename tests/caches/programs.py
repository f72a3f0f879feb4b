"""Programs as the simulator sees them: the references of loops, written out one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from tests.cachesim import Cache, Counts, Hierarchy
from tests.tiny import application, machine

LINE = 64
PAGE = 4096

Reference = tuple[str, int, int]


class Walk(NamedTuple):
    """An access of a nest: `L` or `S`, words of so many bytes at a place, by strides (bytes) and trips from the
    innermost loop outwards. Loops of one trip inside: the access stands outside of them."""

    letter: str
    place: int
    word: int
    loops: tuple[tuple[int, int], ...]

    def trait(self) -> str:
        """As a model writes it."""
        return f"nest({', '.join(f'{stride}, {trips}' for stride, trips in self.loops)})"

    @property
    def accesses(self) -> int:
        count = 1
        for _, trips in self.loops:
            count *= trips
        return count


def nest(walks: Iterable[Walk]) -> Iterator[Reference]:
    """All references of a nest: at each level loads before the loops inside, stores behind them."""
    walks = list(walks)
    depth = len(walks[0].loops)
    trips = [max(walk.loops[level][1] for walk in walks) for level in range(depth)]
    level_of = {
        number: next((level for level in range(depth) if walk.loops[level][1] > 1), 0)
        for number, walk in enumerate(walks)
    }
    yield from _loop(walks, level_of, trips, depth - 1, [walk.place for walk in walks])


def _loop(
    walks: list[Walk], level_of: dict[int, int], trips: list[int], level: int, places: list[int]
) -> Iterator[Reference]:
    here = [number for number in level_of if level_of[number] == level]
    before = [number for number in here if level == 0 or walks[number].letter == "L"]
    behind = [number for number in here if number not in before]
    for trip in range(trips[level]):
        moved = [place + trip * walk.loops[level][0] for walk, place in zip(walks, places, strict=True)]
        for number in before:
            yield walks[number].letter, moved[number], walks[number].word
        if level:
            yield from _loop(walks, level_of, trips, level - 1, moved)
        for number in behind:
            yield walks[number].letter, moved[number], walks[number].word


def counted(caches: Hierarchy, references: Iterable[Reference], *, before: Iterable[Reference] = ()) -> list[Counts]:
    """What each level counts of the references, behind others that are not counted."""
    caches.run(before)
    for level in caches.levels:
        level.counts = Counts()
    caches.memory.lines_read = caches.memory.lines_written = 0
    caches.run(references)
    return [level.counts for level in caches.levels]


def swept(places: Iterable[int], size: int, word: int) -> Iterator[Reference]:
    """Arrays written side by side, from begin to end."""
    places = list(places)
    return (("S", place + offset, word) for offset in range(0, size, word) for place in places)


Shape = tuple[str, int, int]
"""A cache: its name, bytes and ways."""


def simulator(*shapes: Shape, policy: str = "lru", **options: Any) -> Hierarchy:
    return Hierarchy([Cache(name, size, ways, policy=policy, **options) for name, size, ways in shapes])


def machine_of(*shapes: Shape, policy: str = "lru", more: str = "", cores: int = 1) -> str:
    """A machine with such caches, all shared by its cores, and a memory; `more` stands in each cache."""
    kinds = [
        f"cache {name} {{ property capacity [{size}] property associativity [{ways}] property cacheline [{LINE}] "
        f"property policy [{policy}] {more} }}"
        for name, size, ways in shapes
    ]
    return f"""
machine M {{ node box }}
node box {{ socket chip }}
socket chip {{ core [{cores}] C {" ".join(f"cache {name}" for name, _, _ in shapes)} memory D }}
core C {{ resource flops(x) [x] }}
{" ".join(kinds)}
memory D {{ resource loads(x) [x] resource stores(x) [x] conflict loads, stores }}
"""


def modelled(requirements: str, declarations: str, machine_text: str, execute: str = "execute") -> Traffic:
    """The traffic of a block."""
    app = application(f"{execute} {{ {requirements} }}", declarations)
    return Traffic(predict(app, machine(machine_text)))


def modelled_nest(walks: Iterable[Walk], machine_text: str, suffix: str = "") -> Traffic:
    """The traffic of a nest; walks from the same place are on the same array."""
    walks = list(walks)
    names = {place: f"X{number}" for number, place in enumerate(dict.fromkeys(walk.place for walk in walks))}
    arrays = [f"data {name} [{_extent(walks, place)}]" for place, name in names.items()]
    requirements = [
        f"{'loads' if walk.letter == 'L' else 'stores'} [{walk.accesses}] of size [{walk.word}] "
        f"{'from' if walk.letter == 'L' else 'to'} {names[walk.place]} as {walk.trait()}{suffix}"
        for walk in walks
    ]
    return modelled(" ".join(requirements), " ".join(arrays), machine_text)


def _extent(walks: list[Walk], place: int) -> int:
    """Bytes of the array at a place."""
    ends = (walk.word + sum(s * (t - 1) for s, t in walk.loops) for walk in walks if walk.place == place)
    return max(ends)
