"""References to one array at constant offsets, alone and beside others, against the exact simulator."""

from __future__ import annotations

from math import prod
from random import Random

import pytest

from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from aspenpy.language.diagnostics import AspenError
from tests.caches.programs import PAGE, Reference, Shape, counted, machine_of, simulator
from tests.caches.random_programs import WORD, Layout, Program, access
from tests.thorough import some
from tests.tiny import application, machine

SHAPES = (("L1", 8192, 8), ("L1", 16384, 8), ("L1", 32768, 8), ("L1", 32768, 16), ("L1", 49152, 12), ("L1", 65536, 16))

Loops = list[tuple[int, int]]


def nest(loops: Loops) -> str:
    return f"nest({', '.join(f'{stride}, {trips}' for stride, trips in loops)})"


def misses(program: Program, shape: Shape, simulated: bool = False) -> float:
    app = application(f"execute {{ {program.requirements} }}", program.data)
    (total,) = Traffic(predict(app, machine(machine_of(shape))), simulated).totals
    return total.read_misses + total.write_misses


def size(draws: Random, powers: list[int]) -> int:
    power = draws.choice(powers)
    return power + draws.choice([0, 0, 0, -2, 2, -1, 1, draws.randint(-power // 4, power // 4)])


def walk(draws: Random) -> tuple[Loops, list[int]]:
    """Loops over a part of an array, and offsets that may be: along rows, across rows and planes, and far away."""
    kind, rim = draws.choice(["row", "rows", "rows", "planes", "tile", "fields", "columns"]), draws.choice([0, 2])
    if kind == "row":
        offsets = [WORD * draws.randint(-600, 600) for _ in range(4)] + [0, 8, -8, 16, 64 * draws.randint(1, 40)]
        return [(WORD, draws.randint(2000, 20000))], offsets
    if kind == "fields":
        trips = draws.randint(2000, 8000)
        apart = WORD * trips + draws.choice([0, 64, PAGE - WORD * trips % PAGE])
        return [(WORD, trips)], [apart * field + far for field in range(5) for far in (0, WORD)]
    row, rows = size(draws, [32, 64, 128, 256, 512]), draws.randint(12, 60)
    if kind == "columns":
        return [(WORD * rows, row), (WORD, rows - 4)], [
            WORD * (rows * i + j) for i in range(-2, 3) for j in range(-2, 3)
        ]
    pitch = WORD * (row + (rim if kind != "tile" else draws.choice([row, 2 * row, 512])))
    near = [i * pitch + j * WORD for i in range(-2, 3) for j in range(-2, 3)]
    if kind != "planes":
        return [(WORD, row), (pitch, rows)], near
    rows = draws.randint(8, 32)
    return [(WORD, row), (pitch, rows), (pitch * (rows + rim), draws.randint(6, 12))], [
        i * pitch * (rows + rim) + j * pitch + k * WORD for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)
    ]


def beside(draws: Random, layout: Layout, loops: Loops, most: int) -> list[str]:
    """Other arrays, in step with a walk or as streams."""
    words, requirements = prod(trips for _, trips in loops), list[str]()
    for _ in range(draws.randint(most > 3, most)):
        pattern = draws.choice([nest(loops), nest(loops), "stream"])
        span = sum(stride * (trips - 1) for stride, trips in loops) // WORD + 1
        name, _ = layout.array(words if pattern == "stream" else span)
        requirements += [access(letter, words, name, pattern) for letter in draws.choice(["L", "L", "S", "LS"])]
    return requirements


def offsets_program(draws: Random) -> Program:
    loops, possible = walk(draws)
    offsets = sorted({*draws.sample(possible, draws.randint(2, 6)), 0})
    layout, words = Layout(), prod(trips for _, trips in loops)
    span = max(offsets) - min(offsets) + WORD + sum(stride * (trips - 1) for stride, trips in loops)
    name, _ = layout.array(span // WORD)
    pattern = f"{nest(loops)}, offsets({', '.join(map(str, offsets))})"
    requirements = [access("L", len(offsets) * words, name, pattern), *beside(draws, layout, loops, 3)]
    return Program("offsets", layout.data, " ".join(requirements), [])


def stencil_program(draws: Random) -> Program:
    """A stencil on planes of powers of two or nearly, beside one to four other arrays."""
    axes = draws.choice([2, 3])
    points, radius = draws.choice([(5, 1), (9, 1), (25, 2)] if axes == 2 else [(7, 1), (27, 1), (13, 2)])
    sizes = [size(draws, [64, 128, 256, 512, 1024] if axes == 2 else [16, 32, 64, 256, 512]) for _ in range(axes)]
    while prod(sizes) > 90000:
        longest = max(range(1, axes), key=sizes.__getitem__)
        if sizes[longest] > 2 * radius + 8:
            sizes[longest] //= 2
        else:
            sizes[0] //= 2
    sizes = [max(part, 2 * radius + 4) for part in sizes]
    extents = [part - 2 * radius for part in sizes]
    loops = [(WORD * prod(sizes[:axis]), extent) for axis, extent in enumerate(extents)]
    layout = Layout()
    name, _ = layout.array(prod(sizes))
    pattern = f"stencil({points}, {', '.join(map(str, extents))})"
    requirements = [access("L", points * prod(extents), name, pattern), *beside(draws, layout, loops, 4)]
    return Program("stencil", layout.data, " ".join(requirements), [])


def errors(family: int, count: int) -> list[float]:
    """Of the misses by formulas, as a share of those simulated; of few lines, of 60."""
    found = list[float]()
    for number in range(count):
        draws = Random(10_000 * family + number)
        program, shape = (stencil_program if family % 2 else offsets_program)(draws), draws.choice(SHAPES)
        exact = misses(program, shape, simulated=True)
        found.append(abs(misses(program, shape) - exact) / max(exact, 60))
    return sorted(found)


@pytest.mark.parametrize("family", [0, 1], ids=["offsets", "stencils beside streams"])
def test_random_programs(family: int) -> None:
    found = errors(family, some(300, 60))
    assert found[len(found) // 2] <= 0.005
    assert sum(part <= 0.05 for part in found) >= 0.85 * len(found)
    assert sum(part <= 0.15 for part in found) >= 0.9 * len(found)


def test_a_star_of_five_points_is_its_stencil() -> None:
    """Three rows of 2 kB stay in 8 kB of 16 ways, and in 4 kB do not; each way of writing has the same misses."""
    row, rows = 254, 62
    points, stride = row * rows, WORD * (row + 2)
    data = f"data U [{stride * (rows + 2)}]"
    walked = f"nest({WORD}, {row}, {stride}, {rows}), offsets({-stride}, -8, 0, 8, {stride})"
    for shape in (("L1", 8192, 16), ("L1", 4096, 16)):
        both = [
            misses(Program("", data, access("L", 5 * points, "U", pattern), []), shape)
            for pattern in (f"stencil(5, {row}, {rows})", walked)
        ]
        assert both[0] == pytest.approx(both[1], rel=0.03)


def test_the_simulated_references_are_those_of_the_offsets() -> None:
    """The references written out, in the test's own simulator."""
    trips, offsets, shape = 900, (-800, 0, 8, 4096), ("L1", 8192, 2)
    program = Program("", "data A [13000]", access("L", 4 * trips, "A", "stream, offsets(-800, 0, 8, 4096)"), [])
    references: list[Reference] = [("L", 800 + WORD * turn + far, WORD) for turn in range(trips) for far in offsets]
    (found,) = counted(simulator(shape), references)
    assert misses(program, shape, simulated=True) == found.misses


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        (
            "loads [3000] of size [8] from A as random, offsets(0, 8)",
            "are those of a walk by loops, and `random` is none",
        ),
        ("loads [3000] of size [8] from A as stream, offsets(8, 8)", "`offsets` is written"),
        ("stores [3000] of size [8] to A as stream, streaming, offsets(0, 8)", "a `streaming` store goes past them"),
    ],
)
def test_offsets_without_sense(requirement: str, words: str) -> None:
    with pytest.raises(AspenError, match=words):
        misses(Program("", "data A [24000]", requirement, []), ("L1", 8192, 8))
