"""hpcg: flops of the benchmark's own report, bytes of a code by colours, its halo by hand."""

from collections.abc import Callable, Mapping
from math import prod

import pytest

import aspenpy

EDGE, RANKS, ITERATIONS = 32, 27, 50
AXES = ("local_x", "local_y", "local_z")
WHOLE = {**dict.fromkeys(AXES, EDGE), "ranks": RANKS, "iterations": ITERATIONS}


def grids(edge: int, ranks_edge: int, levels: int) -> list[tuple[int, int]]:
    """Rows and nonzeros of each grid: a point has as many neighbours on each axis as exist, 2 or 3, itself included."""
    edges = [edge * ranks_edge // 2**level for level in range(levels)]
    return [(n**3, sum(2 if i in (0, n - 1) else 3 for i in range(n)) ** 3) for n in edges]


def test_flops_are_those_of_the_report() -> None:
    # ReportResults.cpp, one set: 3 dot products and 3 sums an iteration and one each before, 2 flops a row; a product
    # an iteration and one before; sweeps of 4 flops a nonzero before and after, a residual of 2; the coarsest once.
    (rows, nonzeros), *_ = levels = grids(EDGE, 3, 4)
    by_hand = 2 * (3 * ITERATIONS + 1) * 2 * rows + (ITERATIONS + 1) * 2 * nonzeros
    by_hand += ITERATIONS * sum((4 + 2 + 4) * count for _, count in levels[:-1]) + ITERATIONS * 4 * levels[-1][1]
    assert aspenpy.count(aspenpy.load_application("hpcg"), "flops", set=WHOLE) == pytest.approx(by_hand, rel=1e-9)


def words_of(rows: int, nonzeros: int, index: int, colours: int, start: float) -> float:
    """Bytes of a V-cycle's two smoothings and residual on one grid: 4 sweeps, the first of which needs `start` of the
    matrix and of the vector; each reads the vector once for each colour and the right-hand side, and writes the vector.
    """
    sweep, vector = (8 + index) * nonzeros, 8 * colours * rows
    return (3 + start) * (sweep + vector) + 4 * (8 + 8) * rows + sweep + vector + 8 * rows


@pytest.mark.parametrize(
    ("colours", "start", "index"), [(8, 0.5, 4), (1, 1, 4), (8, 0.5, 0)], ids=["default", "reference", "no-index"]
)
def test_bytes_are_those_of_the_code(colours: int, start: float, index: int) -> None:
    """A nonzero costs its value and index, dot products read two vectors, sums read two and write one."""
    (rows, nonzeros), *_ = levels = grids(EDGE, 3, 4)
    product = (8 + index) * nonzeros + 8 * (colours + 1) * rows
    by_hand = (3 * ITERATIONS + 1) * (2 + 3) * 8 * rows + (ITERATIONS + 1) * product
    by_hand += ITERATIONS * sum(words_of(*level, index, colours, start) for level in levels[:-1])
    last_rows, last_nonzeros = levels[-1]
    coarsest = (1 + start) * ((8 + index) * last_nonzeros + 8 * colours * last_rows) + 2 * 16 * last_rows
    values = {**WHOLE, "colours": colours, "first_sweep": start, "index": index}
    found = aspenpy.count(aspenpy.load_application("hpcg"), "bytes", set=values)
    assert found == pytest.approx(by_hand + ITERATIONS * coarsest, rel=1e-9)


def test_more_colours_than_neighbours_read_no_more() -> None:
    """27 points have 27 neighbours: with 64 colours each reads less than the whole vector."""
    app = aspenpy.load_application("hpcg")
    reads = [aspenpy.count(app, "loads", set={**WHOLE, "colours": colours}) for colours in (27, 64)]
    assert reads[0] == pytest.approx(reads[1], rel=1e-12)


@pytest.mark.parametrize("ranks", [27, 1000])
def test_a_halo_is_the_shell_of_the_cube(ranks: int) -> None:
    # 16^3 points: the 18^3 - 16^3 points around them, from 26 neighbours.
    hpcg = aspenpy.load_application("hpcg")
    values = {**dict.fromkeys(AXES, 16), "ranks": ranks, "levels": 1, "iterations": 1}
    products = aspenpy.count(hpcg, "messages", kernel="precondition", set=values)
    assert products / ranks == pytest.approx(8 * (18**3 - 16**3), rel=1e-9)


@pytest.mark.parametrize(
    ("ranks", "sides"), [(2, (1, 0, 0)), (7, (2, 0, 0)), (12, (2, 1, 1)), (61, (2, 0, 0)), (100, (2, 2, 2))]
)
def test_a_halo_has_the_sides_of_the_grid(ranks: int, sides: tuple[int, int, int]) -> None:
    """Bricks of 16 x 24 x 32 points in grids of 2 x 1 x 1, 7 x 1 x 1, 3 x 2 x 2, 61 x 1 x 1 and 5 x 5 x 4 ranks."""
    hpcg, edges = aspenpy.load_application("hpcg"), (16, 24, 32)
    values = {**dict(zip(AXES, edges, strict=True)), "ranks": ranks, "levels": 1, "iterations": 1}
    shell = prod(edge + side for edge, side in zip(edges, sides, strict=True)) - prod(edges)
    products = aspenpy.count(hpcg, "messages", kernel="precondition", set=values)
    assert products / ranks == pytest.approx(8 * shell, rel=1e-9)


@pytest.mark.parametrize("ranks", [1, 8, 27])
def test_exchanges_of_an_iteration(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int
) -> None:
    # Halos: three on each of three grids, one on the coarsest, one for the product; sums of three dot products.
    expected = 0 if ranks == 1 else 3 * 3 + 1 + 1 + 3
    assert messages_in_turn("hpcg", "iteration", {"ranks": ranks}) == pytest.approx(expected, rel=1e-9)


def test_sets_repeat_the_solution() -> None:
    hpcg = aspenpy.load_application("hpcg")
    once = aspenpy.count(hpcg, "bytes", kernel="solve")
    assert aspenpy.count(hpcg, "bytes", set={"sets": 7}) == pytest.approx(7 * once, rel=1e-12)


def test_intensity_is_below_a_quarter() -> None:
    # 2 flops for 12 bytes of the matrix: a sixth, less with the vectors that each colour reads.
    hpcg = aspenpy.load_application("hpcg")
    assert 0.14 < aspenpy.count(hpcg, "flops") / aspenpy.count(hpcg, "bytes") < 1 / 6
