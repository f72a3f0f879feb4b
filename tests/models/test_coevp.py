"""coevp: the coarse scale is lulesh, the fine scale by hand."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy

ELEMENTS = 20**3
TREE = 12 * 3 * 17
"""Flops of a search: 12 branches on each of ceil(log12(1000)) = 3 levels, distances of 6 numbers."""
KRIGING = 6 * (17 + 20) + 2 * 6 * 6 * 7 + 2 * 6**2
"""Six points: distances and exponentials; six numbers with six derivatives each; the error."""
NEWTON = 12 * (20 + 20 + 2 * 5**2) + 2 / 3 * 5**3 + 2 * 5**2
"""Twelve slip systems, then five equations."""


def count(resource: str, kernel: str, **values: float) -> float:
    return float(aspenpy.count(aspenpy.load_application("coevp"), resource, kernel=kernel, set=values))


@pytest.mark.parametrize("share", [0, 0.05, 1])
def test_flops_of_the_fine_scale_by_hand(share: float) -> None:
    solved = 10 * NEWTON + TREE + 6**3 / 3
    by_hand = ELEMENTS * (TREE + 4 * KRIGING + share * solved)
    assert count("flops", "update_stresses", solved_share=share) == pytest.approx(by_hand, rel=1e-12)


def test_traffic_of_the_fine_scale_by_hand() -> None:
    # Numbers: a state, the tree; 4 models of 6 points with 6 + 6 * 7; a result. Solved: 17 in and out, a result, a
    # point.
    by_hand = 6 + 12 * 3 * 6 + 4 * 6 * 48 + 6 + 0.05 * (17 + 17 + 6 + 48)
    assert count("bytes", "update_stresses") == pytest.approx(8 * ELEMENTS * by_hand, rel=1e-12)


@pytest.mark.parametrize("resource", ["flops", "loads", "stores"])
def test_the_coarse_scale_is_lulesh_with_one_region(resource: str) -> None:
    lulesh = aspenpy.load_application("lulesh")
    values = {"edge_elements": 20, "regions": 1, "balance": 0, "cost": 0, "steps": 500}
    coarse = float(aspenpy.count(lulesh, resource, set=values))
    assert count(resource, "main") - 500 * count(resource, "update_stresses") == pytest.approx(coarse, rel=1e-9)


@pytest.mark.parametrize("ranks", [1, 8])
def test_only_the_coarse_scale_sends(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int
) -> None:
    lulesh = messages_in_turn("lulesh", "main", {"ranks": ranks, "steps": 500})
    assert messages_in_turn("coevp", "main", {"ranks": ranks}) == pytest.approx(lulesh, rel=1e-12)


def test_grains_multiply_the_solution() -> None:
    extra = count("flops", "solve_fine_scale", grains=8) - count("flops", "solve_fine_scale")
    assert extra == pytest.approx(7 * ELEMENTS * 10 * NEWTON, rel=1e-12)
