"""Halos of a cube that is cut by its ranks, against the bricks of ranks that are played through one by one."""

from __future__ import annotations

from math import prod

import pytest

import aspenpy
from aspenpy.explore.scaling import scale
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_application, load_machine
from tests.network.grid_by_rank import cut_faces, most_even_grid, neighbours
from tests.network.test_paths import machine
from tests.timing import best_of_three

COUNTS = [2, 3, 4, 6, 8, 12, 13, 16, 24, 27, 30, 60, 61, 62, 64, 100]


def cut(ranks: int, dimensions: int, words: str = "") -> Application:
    text = f"model a {{ param P = {ranks} kernel main {{ execute [P] {{ messages [6e6] as halo({words}"
    found = aspenpy.parse(f'{text}"cut", {dimensions}) }} }} }}')
    assert isinstance(found, Application)
    return found


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("ranks", COUNTS)
def test_bytes_that_all_ranks_send(ranks: int, dimensions: int) -> None:
    """Each rank sends the faces of its brick to the neighbours that it has, of faces of 6e6/(2 d) bytes of a cube."""
    grid = most_even_grid(ranks, dimensions)
    faces = cut_faces(grid)
    played = sum(faces[axis] for rank in range(ranks) for axis, _ in neighbours(grid, rank))
    found = aspenpy.count(cut(ranks, dimensions), "messages")
    assert float(found) == pytest.approx(6e6 / (2 * dimensions) * played, rel=1e-12)


@pytest.mark.parametrize("ranks", COUNTS)
def test_time_on_one_node_by_hand(ranks: int) -> None:
    """On a switch two rounds for each dimension of several ranks, of one face each; or all faces of a rank at once."""
    on = machine(100, 1, network=False)
    grid = most_even_grid(ranks, 3)
    sides = [p / ranks ** (1 / 3) * 1e6 for p in grid if p > 1]
    rounds = sum(2 * (2e-6 + side / 100e9) for side in sides)
    assert aspenpy.predict(cut(ranks, 3), on).runtime == pytest.approx(rounds, rel=1e-12)
    at_once = aspenpy.predict(cut(ranks, 3, '"all_ports", '), on).runtime
    assert at_once == pytest.approx(2e-6 + 2 * sum(sides) / 100e9, rel=1e-12)


@pytest.mark.parametrize("name", ["hpcg", "lulesh", "comd_scaling"])
def test_a_row_of_ranks_is_no_faster(name: str) -> None:
    """1,021 is a prime number; 1,024 are 16 x 8 x 8. The whole problem is the same."""
    found = scale(load_application(name), load_machine("frontera"), [1, 1021, 1024])
    row, brick = found.points[1:]
    assert row.communication > 3 * brick.communication
    assert row.time > brick.time


def test_bricks_shrink_with_the_factors_of_the_grid() -> None:
    """Of 104^3 points; weak scaling leaves the brick as it is."""
    hpcg, frontera = load_application("hpcg"), load_machine("frontera")
    found = scale(hpcg, frontera, [1, 12, 1021, 1024])
    for ranks in found.ranks:
        grid = most_even_grid(ranks, 3) if ranks < 1000 else {1021: (1021, 1, 1), 1024: (16, 8, 8)}[ranks]
        assert found.sizes_at(ranks) == pytest.approx([104 / p for p in grid], rel=1e-12)
        assert prod(found.sizes_at(ranks)) * ranks == pytest.approx(104**3, rel=1e-12)
    assert scale(hpcg, frontera, [12, 1021], "weak").sizes_at(1021) == [104, 104, 104]


def test_a_million_ranks_cost_what_eight_do() -> None:
    on = machine(4, 250_000)
    few, many = (best_of_three(lambda ranks=ranks: aspenpy.predict(cut(ranks, 3), on).runtime) for ranks in (8, 10**6))
    assert many < 5 * few


@pytest.mark.parametrize(
    ("trait", "said"),
    [
        ('halo("cut", 4)', "a cube is cut in 1 to 3 dimensions"),
        ('halo("cut", 2, 2)', "a cube is cut in 1 to 3 dimensions"),
        ('halo("cut", 2), faces(1, 2)', "the faces of a cube that is cut follow from the grid"),
    ],
)
def test_mistakes(trait: str, said: str) -> None:
    app = aspenpy.parse(f"model a {{ kernel main {{ execute [4] {{ messages [8] as {trait} }} }} }}")
    with pytest.raises(AspenError, match=said):
        aspenpy.predict(app, machine())  # type: ignore[arg-type]  # it is an application
