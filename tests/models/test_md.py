"""md: pairs of the standard Lennard-Jones liquid, its flops, lists and ghosts."""

from collections.abc import Callable, Mapping
from math import pi

import pytest

import aspenpy

ATOMS = 8 * 32000
IN_LIST = 0.8442 * 4 / 3 * pi * 2.8**3 / 2
WITHIN_CUTOFF = 0.8442 * 4 / 3 * pi * 2.5**3 / 2


def count(resource: str, kernel: str, **values: float) -> float:
    return float(aspenpy.count(aspenpy.load_application("md"), resource, kernel=kernel, set={"atoms": ATOMS, **values}))


def test_neighbours_are_those_of_the_lammps_benchmark() -> None:
    # The log of LAMMPS' bench/in.lj (recalled): 1,202,833 pairs for 32,000 atoms. A uniform density has a little more
    # than a liquid whose atoms keep apart.
    pairs = count("stores", "rebuild_lists") / ATOMS / 4
    assert pairs == pytest.approx(IN_LIST, rel=1e-12)
    assert pairs == pytest.approx(1_202_833 / 32_000, rel=0.05)


def test_flops_of_a_force_by_hand() -> None:
    # 8 for a distance; 1 + 2 + 4 + 3 + 6 = 16 more within the cutoff.
    assert count("flops", "compute_force") == pytest.approx(ATOMS * (8 * IN_LIST + 16 * WITHIN_CUTOFF), rel=1e-12)


def test_traffic_of_a_force_by_hand() -> None:
    # 8 ranks with cubes of 32,000 atoms; ghosts as thick as the list's reach; positions in, forces out, 24 bytes each.
    edge = (32000 / 0.8442) ** (1 / 3)
    ghosts = 0.8442 * ((edge + 5.6) ** 3 - edge**3)
    by_hand = 8 * (32000 * IN_LIST * 4 + 2 * 24 * (32000 + ghosts))
    assert count("bytes", "compute_force", ranks=8) == pytest.approx(by_hand, rel=1e-12)


def test_ghosts_go_out_and_forces_come_back() -> None:
    edge = (32000 / 0.8442) ** (1 / 3)
    ghosts = 0.8442 * ((edge + 5.6) ** 3 - edge**3)
    assert count("messages", "timestep", ranks=8) == pytest.approx(8 * 2 * 24 * ghosts, rel=1e-12)


@pytest.mark.parametrize(("ranks", "grid"), [(2, (2, 1, 1)), (12, (3, 2, 2)), (61, (61, 1, 1))])
def test_ghosts_of_a_brick_by_hand(ranks: int, grid: tuple[int, int, int]) -> None:
    """Axis by axis, each face with what has come before; an axis with one rank sends nothing."""
    x, y, z = ((ATOMS / 0.8442) ** (1 / 3) / number for number in grid)
    faces = (y * z, (x + 5.6) * z, (x + 5.6) * (y + 5.6))
    sent = sum(2 * 2.8 * 0.8442 * face for face, number in zip(faces, grid, strict=True) if number > 1)
    assert count("messages", "timestep", ranks=ranks) == pytest.approx(ranks * 2 * 24 * sent, rel=1e-9)


def test_candidates_of_a_list_by_hand() -> None:
    # Half of a cube of 5 bins of 1.4: 7^3/2 * 0.8442 = 144.8 candidates of 8 flops; 6 flops for the bin, ghosts too.
    edge = (ATOMS / 0.8442) ** (1 / 3)
    by_hand = 6 * 0.8442 * (edge + 5.6) ** 3 + ATOMS * 8 * 0.8442 * 7**3 / 2
    assert count("flops", "rebuild_lists") == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(("steps", "lists"), [(1, 1), (20, 1), (21, 2), (100, 5)])
def test_lists_are_rebuilt_every_twenty_steps(steps: int, lists: int) -> None:
    total = count("flops", "main", steps=steps)
    by_parts = steps * count("flops", "timestep") + lists * count("flops", "rebuild_lists")
    assert total == pytest.approx(by_parts, rel=1e-12)


def test_the_integrator_takes_eighteen_flops_an_atom() -> None:
    halves = count("flops", "integrate_first_half") + count("flops", "integrate_second_half")
    assert halves == pytest.approx((12 + 6) * ATOMS, rel=1e-12)


@pytest.mark.parametrize(("ranks", "messages"), [(1, 0), (8, 5 + 100 * 2)])
def test_messages_of_a_run(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, messages: int
) -> None:
    assert messages_in_turn("md", "main", {"ranks": ranks}) == messages
