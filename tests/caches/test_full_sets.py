"""Kernels that fill some sets of a cache and leave others, against the exact simulator."""

from __future__ import annotations

import pytest

from tests.caches.programs import PAGE, Shape, Walk, counted, machine_of, modelled_nest, nest, simulator
from tests.thorough import thorough

WORD = 4

D1: Shape = ("L1", 32768, 8)
FOUR: Shape = ("L1", 32768, 4)


def matrices(order: int) -> tuple[int, int, int]:
    """Where three of floats begin, on pages of their own."""
    size = -(-WORD * order * order // PAGE) * PAGE
    return 0, size, 2 * size


def transpose(order: int) -> list[Walk]:
    first, second, _ = matrices(order)
    row = WORD * order
    return [
        Walk("L", first, WORD, ((WORD, order), (row, order))),
        Walk("S", second, WORD, ((row, order), (WORD, order))),
    ]


def product(order: int) -> list[Walk]:
    first, second, third = matrices(order)
    row = WORD * order
    return [
        Walk("L", first, WORD, ((WORD, order), (0, order), (row, order))),
        Walk("L", second, WORD, ((row, order), (WORD, order), (0, order))),
        Walk("S", third, WORD, ((0, 1), (WORD, order), (row, order))),
    ]


def tiled_product(order: int, tile: int) -> list[Walk]:
    first, second, third = matrices(order)
    row, tiles = WORD * order, order // tile
    result = ((0, 1), (WORD, tile), (row, tile), (0, tiles), (WORD * tile, tiles), (row * tile, tiles))
    left = ((WORD, tile), (0, tile), (row, tile), (WORD * tile, tiles), (0, tiles), (row * tile, tiles))
    right = ((row, tile), (WORD, tile), (0, tile), (row * tile, tiles), (WORD * tile, tiles), (0, tiles))
    places = zip("LLLS", (third, first, second, third), (result, left, right, result), strict=True)
    return [Walk(letter, place, WORD, loops) for letter, place, loops in places]


CASES = [
    (transpose(171), D1, 0.06),  # 17 of the 26 sets of a column hold 8 lines; the mean is 6.6
    pytest.param(transpose(513), D1, 0.01, marks=thorough),  # a row leaves a set while another one enters it
    pytest.param(product(73), FOUR, 0.06, marks=thorough),
    pytest.param(product(96), FOUR, 0.06, marks=thorough),
    (tiled_product(60, 20), ("L1", 2048, 8), 0.1),  # a tile of 1,600 bytes
    pytest.param(tiled_product(80, 20), ("L1", 2048, 8), 0.1, marks=thorough),
    pytest.param(tiled_product(160, 40), ("L1", 8192, 8), 0.1, marks=thorough),
    (tiled_product(64, 16), ("L1", 4096, 1), 0.15),
    pytest.param(tiled_product(112, 16), ("L1", 4096, 1), 0.15, marks=thorough),
]


@pytest.mark.parametrize(("walks", "shape", "relative"), CASES)
def test_full_sets(walks: list[Walk], shape: Shape, relative: float) -> None:
    (found,) = counted(simulator(shape), nest(walks))
    (model,) = modelled_nest(walks, machine_of(shape)).totals
    assert model.read_misses + model.write_misses == pytest.approx(found.misses, rel=relative)
