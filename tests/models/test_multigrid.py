"""multigrid: work of a V-cycle grid by grid, the bound of 8/7, faces by hand."""

from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest

import aspenpy

SMALL = {"n": 64, "levels": 4, "cycles": 1}
EDGES = [64, 32, 16]
"""Along an edge of each grid but the coarsest, which has 8."""


def count(resource: str, **values: float) -> float:
    return float(aspenpy.count(aspenpy.load_application("multigrid"), resource, set={**SMALL, **values}))


def test_flops_of_a_cycle_by_hand() -> None:
    # A fine point: three smoothings of 11, a residual of 9; an eighth of 30 to restrict and 34 to interpolate: 50 in
    # all.
    by_hand = sum((3 * 11 + 9 + (30 + 34) / 8) * edge**3 for edge in EDGES) + 20 * 11 * 8**3
    assert count("flops") == by_hand


def test_bytes_of_a_cycle_by_hand() -> None:
    # Numbers a fine point: three smoothings and a residual of 3, restriction 1 + 2/8, interpolation 2 + 1/8.
    by_hand = 8 * (sum((4 * 3 + 1.25 + 2.125) * edge**3 for edge in EDGES) + 20 * 3 * 8**3)
    assert count("bytes") == by_hand


def test_all_grids_cost_less_than_eight_sevenths_of_the_finest() -> None:
    finest = count("flops", levels=2, coarsest_sweeps=1) - 11 * 32**3
    whole = count("flops", levels=7, coarsest_sweeps=1)
    assert finest == 50 * 64**3
    assert 8 / 7 * (1 - 1e-4) < whole / finest < 8 / 7


@pytest.mark.parametrize(("down", "up"), [(0, 1), (1, 1), (3, 0)])
def test_smoothing_before_and_after(down: int, up: int) -> None:
    by_hand = sum(((down + up) * 11 + 9 + 8) * edge**3 for edge in EDGES) + 20 * 11 * 8**3
    assert count("flops", sweeps_down=down, sweeps_up=up) == by_hand


def test_faces_of_the_ranks_by_hand() -> None:
    # 8 ranks own cubes of 32, 16, 8 and 4 along an edge: four exchanges on each grid but the coarsest, with the coarser
    # layer one more for the interpolation; twenty on the coarsest.
    own = [32, 16, 8, 4]
    faces = sum(4 * fine**2 + coarse**2 for fine, coarse in pairwise(own)) + 20 * 4**2
    assert count("messages", ranks=8) == pytest.approx(8 * 6 * 8 * faces, rel=1e-12)


@pytest.mark.parametrize(("ranks", "messages"), [(1, 0), (8, 10 * (5 * 5 + 20))])
def test_messages_of_a_run(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, messages: int
) -> None:
    assert messages_in_turn("multigrid", "main", {"ranks": ranks}) == messages


def test_memory_holds_all_grids() -> None:
    multigrid = aspenpy.load_application("multigrid")
    prepared = aspenpy.predict(multigrid, aspenpy.load_machine("simple"), set=SMALL).scope
    (volume,) = prepared.values([multigrid.data["solution"].size])
    assert volume == pytest.approx(8 * (64**3 + 32**3 + 16**3 + 8**3), rel=1e-12)
