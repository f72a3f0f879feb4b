"""Stencils whose rows meet in few sets, and stencils near a layer condition, against the exact simulator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import pytest

from tests.caches.programs import PAGE, Reference, Shape, counted, machine_of, modelled, simulator
from tests.caches.random_programs import access
from tests.caches.test_patterns import WORD, Offsets, box, star
from tests.thorough import thorough


def swept(offsets: Offsets, extents: tuple[int, ...], radius: int) -> Iterator[Reference]:
    """Loads of the neighbours of each point of a grid, and a store to one like it; the fastest index first."""
    sizes = [extent + 2 * radius for extent in extents]
    steps = [WORD * prod(sizes[:axis]) for axis in range(len(sizes))]
    away = [sum(part * step for part, step in zip(reversed(offset), steps, strict=True)) for offset in offsets]
    result = -(-WORD * prod(sizes) // PAGE) * PAGE
    for point in product(*map(range, reversed(extents))):
        at = sum((place + radius) * step for place, step in zip(reversed(point), steps, strict=True))
        for far in away:
            yield "L", at + far, WORD
        yield "S", result + at, WORD


def assert_as_simulated(offsets: Offsets, extents: tuple[int, ...], radius: int, shape: Shape, relative: float) -> None:
    (found,) = counted(simulator(shape), swept(offsets, extents, radius))
    sizes, points = [extent + 2 * radius for extent in extents], prod(extents)
    steps = [WORD * prod(sizes[:axis]) for axis in range(len(sizes))]
    pairs = ", ".join(f"{step}, {extent}" for step, extent in zip(steps, extents, strict=True))
    requirements = [
        access("L", len(offsets) * points, "U", f"stencil({len(offsets)}, {', '.join(map(str, extents))})"),
        access("S", points, "V", f"nest({pairs})"),
    ]
    size = WORD * prod(sizes)
    (model,) = modelled(" ".join(requirements), f"data U [{size}] data V [{size}]", machine_of(shape)).totals
    assert model.read_misses + model.write_misses == pytest.approx(found.misses, rel=relative)


IN_FEW_SETS = [
    (box(3, 1), (510, 3, 3), 1, ("L1", 32768, 8), 0.1),  # nine rows of 4 KiB, a line of each in one set of 8
    (star(2, 1), (2046, 8), 1, ("L1", 16384, 2), 0.2),  # three rows of 16 KiB
    (star(2, 1), (2020, 8), 1, ("L1", 16384, 2), 0.1),  # and three that are not
    (box(2, 1), (510, 12), 1, ("L1", 8192, 2), 0.25),
    pytest.param(star(3, 4), (504, 6, 4), 4, ("L1", 32768, 8), 0.1, marks=thorough),
    pytest.param(star(3, 4), (248, 12, 6), 4, ("L1", 32768, 8), 0.1, marks=thorough),
    pytest.param(star(3, 4), (248, 12, 6), 4, ("L1", 16384, 2), 0.25, marks=thorough),
    pytest.param(star(3, 4), (250, 12, 6), 4, ("L1", 32768, 8), 0.25, marks=thorough),
]


@pytest.mark.parametrize(("offsets", "extents", "radius", "shape", "relative"), IN_FEW_SETS)
def test_rows_in_few_sets(
    offsets: Offsets, extents: tuple[int, ...], radius: int, shape: Shape, relative: float
) -> None:
    assert_as_simulated(offsets, extents, radius, shape, relative)


@pytest.mark.parametrize(
    "row", [980, 1022, 1060, *(pytest.param(row, marks=thorough) for row in (900, 1004, 1030, 1080, 1100, 1140, 1400))]
)
def test_near_a_layer_condition(row: int) -> None:
    """Three rows of U and one of V: 1024 words each fill 32 KiB; a few words more, and nothing stays. Within 5 %."""
    assert_as_simulated(star(2, 1), (row - 2, 12), 1, ("L1", 32768, 8), 0.05)


@pytest.mark.parametrize("shape", [("L1", 16384, 8), pytest.param(("L1", 16384, 16), marks=thorough)])
@pytest.mark.parametrize("row", [300, pytest.param(320, marks=thorough), 440, pytest.param(500, marks=thorough)])
def test_thick_boxes_beside_a_layer_condition(row: int, shape: Shape) -> None:
    """Five rows of U and one of V: 341 words each fill 16 KiB. Within 5 % on both sides."""
    assert_as_simulated(box(2, 2), (row - 4, 12), 2, shape, 0.05)
