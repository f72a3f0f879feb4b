"""Random affine programs as a model writes them, and the references that they make: nests, tiles, sweeps, stencils,
tables, triangles; one to five arrays, updated in place or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from random import Random
from typing import NamedTuple

from tests.caches.programs import PAGE, Reference, Walk, nest

WORD = 8

CACHES = (("L1", 4096, 1), ("L1", 8192, 2), ("L1", 4096, 4), ("L1", 8192, 8), ("L1", 16384, 8), ("L1", 32768, 16))
"""Name, bytes and ways; in all of them arrays on pages of their own begin at equal places."""


class Program(NamedTuple):
    """A block of a model with its data, and all references that it makes."""

    family: str
    data: str
    requirements: str
    references: list[Reference]


class Layout:
    """Arrays on pages of their own, by name: where each begins, and its declaration."""

    def __init__(self) -> None:
        self.end = 0
        self.declared: list[str] = []

    def array(self, words: int) -> tuple[str, int]:
        name, place = f"X{len(self.declared)}", self.end
        self.declared.append(f"data {name} [{WORD * words}]")
        self.end += -(-WORD * words // PAGE) * PAGE
        return name, place

    @property
    def data(self) -> str:
        return " ".join(self.declared)


def access(letter: str, count: int, name: str, pattern: str) -> str:
    kind, side = ("loads", "from") if letter == "L" else ("stores", "to")
    return f"{kind} [{count}] of size [{WORD}] {side} {name} as {pattern}"


def in_place(draws: Random) -> str:
    """The letters of an access: a load, a store, or an update."""
    return draws.choice(["L", "L", "S", "LS"])


# -- loops -----------------------------------------------------------------------------------------


def _strides(draws: Random, axes: list[int], trips: list[int]) -> tuple[list[int], int]:
    """Words that each loop goes on by in an array with these axes as its indices, the fastest first, and its size;
    rows may be longer than what the loops touch."""
    strides, size = [0] * len(trips), 1
    for axis in axes:
        strides[axis] = size
        size *= trips[axis] + draws.choice([0, 0, 0, 1, 3])
    return strides, size


def _modelled_walks(family: str, named: list[tuple[str, Walk]], layout: Layout) -> Program:
    requirements = [access(walk.letter, walk.accesses, name, walk.trait()) for name, walk in named]
    return Program(family, layout.data, " ".join(requirements), list(nest(walk for _, walk in named)))


def loops(draws: Random, tiled: bool = False, shared: bool = False) -> Program:
    """Arrays with some of the loops as their indices, in any order. `tiled`: the loops in blocks; `shared`: two walks
    over one square array."""
    depth = draws.randint(2, 3) if tiled or shared else draws.randint(1, 4)
    longest = {1: 2000, 2: 90, 3: 20, 4: 9}[depth]
    trips = [draws.randint(2 + longest // 8, longest) for _ in range(depth)]
    tiles = [draws.choice([4, 8]) for _ in trips] if tiled else [1] * depth
    trips = [-(-count // tile) * tile for count, tile in zip(trips, tiles, strict=True)]
    if shared:
        trips = [trips[0]] * depth
    layout, named = Layout(), []
    for number in range(draws.randint(1, 5 if depth < 3 else 3)):
        axes = [axis for axis in range(depth) if draws.random() < 0.7] or [draws.randrange(depth)]
        orders = [axes]
        if shared and not number:
            orders = [list(axes) for axes in draws.sample([*product(range(depth), repeat=2)], 4) if axes[0] != axes[1]]
            orders = orders[:2]
        else:
            draws.shuffle(axes)
        strides = [_strides(draws if not shared else Random(0), order, trips) for order in orders]
        name, place = layout.array(max(size for _, size in strides))
        for words, _ in strides:
            hoisted = draws.random() < 0.5 and not tiled
            pairs = _blocked(words, trips, tiles)
            while hoisted and pairs[0][0] == 0 and len([1 for pair in pairs if pair[1] > 1]) > 1:
                first = next(k for k, pair in enumerate(pairs) if pair[1] > 1)
                if pairs[first][0]:
                    break
                pairs[first] = (0, 1)
            named += [(name, Walk(letter, place, WORD, tuple(pairs))) for letter in in_place(draws)]
    family = "tiles" if tiled else "two walks" if shared else f"nest of {depth}"
    return _modelled_walks(family, named, layout)


def _blocked(words: list[int], trips: list[int], tiles: list[int]) -> list[tuple[int, int]]:
    """Strides in bytes and trips: the loops, or those within tiles and over the tiles."""
    if max(tiles) == 1:
        return [(WORD * stride, count) for stride, count in zip(words, trips, strict=True)]
    inside = [(WORD * stride, tile) for stride, tile in zip(words, tiles, strict=True)]
    over = [(WORD * stride * tile, count // tile) for stride, count, tile in zip(words, trips, tiles, strict=True)]
    return inside + over


def triangle(draws: Random) -> Program:
    """Two or three loops over an index each, all of it or up to or from an outer one, and arrays with some of them as
    indices, some outside of the inner loops."""
    depth = draws.choice([2, 2, 3])
    size, layout = draws.randint(*((20, 140) if depth == 2 else (10, 36))), Layout()
    bounds: list[tuple[str, int]] = [("all", 0)]
    for place in reversed(range(depth - 1)):
        kind = draws.choice(["up to", "from", "all" if place else "up to"])
        bounds.insert(0, (kind, draws.randrange(place + 1, depth)))
    arrays = [_triangular_array(draws, layout, size, depth) for _ in range(draws.randint(1, 3))]
    references: list[Reference] = []

    def run(place: int, values: list[int]) -> None:
        kind, outer = bounds[place]
        first, last = values[outer] if kind == "from" else 0, values[outer] if kind == "up to" else size - 1
        for values[place] in range(first, last + 1):
            here = [item for item in arrays if item.level == place]
            made = [(letter, item.address(values), WORD) for item in here for letter in item.letters]
            references.extend(part for part in made if part[0] == "L" or not place)
            if place:
                run(place - 1, values)
                references.extend(part for part in made if part[0] == "S")

    run(depth - 1, [0] * depth)
    requirements = []
    for item in arrays:
        for letter in item.letters:
            count = sum(kind == letter and item.place <= at < item.end for kind, at, _ in references)
            requirements.append(access(letter, count, item.name, item.trait(bounds, size)))
    return Program("triangle", layout.data, " ".join(requirements), references)


class Triangular(NamedTuple):
    """An array between two addresses, in loops of which those below `level` are inside of its accesses; `steps` in
    bytes."""

    name: str
    place: int
    end: int
    letters: str
    level: int
    steps: list[int]

    def address(self, values: list[int]) -> int:
        return self.place + sum(step * value for step, value in zip(self.steps, values, strict=True))

    def trait(self, bounds: list[tuple[str, int]], size: int) -> str:
        parts = []
        for place, (step, (kind, outer)) in enumerate(zip(self.steps, bounds, strict=True)):
            ends = {"all": f"0 .. {size - 1}", "up to": f"0 .. c{outer}", "from": f"c{outer} .. {size - 1}"}
            parts.append(f"{step}, c{place} in {ends[kind]}" if place >= self.level else "0, 1")
        return f"nest({', '.join(parts)})"


def _triangular_array(draws: Random, layout: Layout, size: int, depth: int) -> Triangular:
    indices = draws.sample(range(depth), draws.randint(1, 2))
    pitch = size + draws.choice([0, 0, 2])
    steps = [WORD * pitch ** indices.index(place) if place in indices else 0 for place in range(depth)]
    name, place = layout.array(pitch ** len(indices))
    return Triangular(name, place, layout.end, in_place(draws), draws.choice([0, min(indices)]), steps)


# -- sweeps ----------------------------------------------------------------------------------------


def sweeps(draws: Random) -> Program:
    """Streams side by side, some of them short and swept again and again."""
    words, times, layout = draws.randint(50, 800), draws.choice([2, 5, 10]), Layout()
    total, made, requirements = words * times, [], []
    for _ in range(draws.randint(1, 5)):
        again = draws.random() < 0.5
        stride = draws.choice([1, 1, 1, 2, 8]) if again else 1
        name, place = layout.array(stride * (words if again else total))
        pattern = "stream" if stride == 1 else f"stride({WORD * stride})"
        for letter in in_place(draws):
            made.append((letter, place, WORD * stride, words if again else total))
            requirements.append(access(letter, total, name, pattern + (f", reuse({times})" if again else "")))
    references = [
        (letter, place + step * (turn % size), WORD) for turn in range(total) for letter, place, step, size in made
    ]
    return Program("sweeps", layout.data, " ".join(requirements), references)


def table(draws: Random) -> Program:
    """Any place of a table, read or updated, beside streams."""
    words, count, layout = draws.randint(300, 9000), draws.randint(2000, 7000), Layout()
    name, base = layout.array(words)
    letters = draws.choice(["L", "LS"])
    streams = [layout.array(count) for _ in range(draws.randint(0, 2))]
    requirements = [access(letter, count, name, "random") for letter in letters]
    requirements += [access("L", count, stream, "stream") for stream, _ in streams]
    references: list[Reference] = []
    for turn in range(count):
        place = base + WORD * draws.randrange(words)
        references += [("L", start + WORD * turn, WORD) for _, start in streams]
        references += [(letter, place, WORD) for letter in letters]
    return Program("table", layout.data, " ".join(requirements), references)


# -- stencils --------------------------------------------------------------------------------------


def stencil(draws: Random, updated: bool = False) -> Program:
    """A sweep over a grid with a rim, to another grid or in place (`updated`), coefficients beside it or not."""
    axes = draws.choice([2, 2, 3])
    star, radius = draws.choice([(True, 1), (False, 1), (False, 2)] if axes == 2 else [(True, 1), (True, 2)])
    extents = [draws.randint(8, 220), draws.randint(8, 24)] if axes == 2 else [draws.randint(6, 40) for _ in range(2)]
    extents += [draws.randint(4, 10)] * (axes - 2)
    sizes = [extent + 2 * radius for extent in extents]
    offsets = [
        offset
        for offset in product(range(-radius, radius + 1), repeat=axes)
        if not star or sum(part != 0 for part in offset) <= 1
    ]
    steps = [WORD * prod(sizes[:axis]) for axis in range(axes)]
    layout, points = Layout(), prod(extents)
    grid, base = layout.array(prod(sizes))
    pairs = ", ".join(f"{step}, {extent}" for step, extent in zip(steps, extents, strict=True))
    requirements = [
        access("L", len(offsets) * points, grid, f"stencil({len(offsets)}, {', '.join(map(str, extents))})")
    ]
    result, behind = (grid, base) if updated else layout.array(points)
    requirements.append(access("S", points, result, f"nest({pairs})" if updated else "stream"))
    beside = [layout.array(points) for _ in range(draws.choice([0, 0, 1]))]
    requirements += [access("L", points, name, "stream") for name, _ in beside]
    references: list[Reference] = []
    for number, point in enumerate(product(*map(range, reversed(extents)))):
        middle = base + sum((place + radius) * step for place, step in zip(reversed(point), steps, strict=True))
        for offset in offsets:
            references.append(("L", middle + sum(a * b for a, b in zip(offset, reversed(steps), strict=True)), WORD))
        references += [("L", start + WORD * number, WORD) for _, start in beside]
        references.append(("S", middle if updated else behind + WORD * number, WORD))
    return Program("stencil in place" if updated else "stencil", layout.data, " ".join(requirements), references)


FAMILIES: tuple[Callable[[Random], Program], ...] = (
    loops,
    loops,
    lambda draws: loops(draws, tiled=True),
    lambda draws: loops(draws, shared=True),
    triangle,
    sweeps,
    table,
    stencil,
    lambda draws: stencil(draws, updated=True),
)


def programs(seed: int, count: int) -> Iterator[Program]:
    """So many programs, one of each family after the other."""
    for number in range(count):
        yield FAMILIES[number % len(FAMILIES)](Random(1000 * seed + number))
