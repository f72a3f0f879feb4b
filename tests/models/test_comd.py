"""CoMD: flops, boxes and messages against its algorithm, Aspen's own model of it and a measurement."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy

ATOMS = 4 * 20**3
TWELVE_BOXES: dict[str, float] = {"nx": 40, "ny": 40, "nz": 40, "ranks": 8}
"""A rank with 20 x 20 x 20 unit cells: 72.3 angstrom, 12 boxes of at least 5.7875 along each edge."""
EMBEDDED_ATOM = 1


def flops_of_an_atom(kernel: str, **values: float) -> float:
    return float(aspenpy.count(aspenpy.load_application("comd"), "flops", kernel=kernel, set=values)) / ATOMS


def test_lennard_jones_flops_are_those_of_aspens_own_model() -> None:
    # 27 * 4 candidates, 11 flops each; 0.155 of them within the cutoff, 21 flops each: 108 * (11 + 3.255).
    assert flops_of_an_atom("lennard_jones_force", atoms_per_box=4) == pytest.approx(1539.54, rel=1e-12)


def test_embedded_atom_flops_by_hand() -> None:
    # 108 candidates in two passes of 11, 16.74 pairs of 50 and 30, 20 an atom.
    by_hand = 108 * (11 + 11) + 108 * 0.155 * (50 + 30) + 20
    assert flops_of_an_atom("embedded_atom_force", atoms_per_box=4) == pytest.approx(by_hand, rel=1e-12)


def test_a_choice_of_pair_flops_meets_the_total_of_aspens_own_model() -> None:
    # It has 4915.52 flops an atom; 22 a candidate, 118 + 30 a pair and 62 an atom is one way to get there.
    found = flops_of_an_atom("embedded_atom_force", atoms_per_box=4, density_pair_flops=118, embedding_flops=62)
    assert found == pytest.approx(4915.52, rel=1e-12)


def test_boxes_follow_from_cutoff_and_lattice() -> None:
    # 32,000 atoms in 12^3 boxes: 18.52 in each, so 27 * 32000/1728 = 500 candidates.
    comd = aspenpy.load_application("comd")
    flops = aspenpy.count(comd, "flops", kernel="lennard_jones_force", set=TWELVE_BOXES)
    assert flops / (8 * ATOMS) == pytest.approx(500 * (11 + 0.155 * 21), rel=1e-12)


def test_a_halo_exchange_fills_every_halo_box_once() -> None:
    # 14^3 - 12^3 = 1016 boxes around a rank's 12^3, 32000/1728 atoms in each, 8 ranks; an atom has number and species,
    # 4 bytes each, and 6 reals.
    comd = aspenpy.load_application("comd")
    volume = aspenpy.count(comd, "messages", kernel="redistribute", set=TWELVE_BOXES)
    assert volume == pytest.approx(8 * (14**3 - 12**3) * 32000 / 1728 * (2 * 4 + 6 * 8), rel=1e-12)


def test_embedded_atom_sends_a_real_an_atom() -> None:
    # 14^3 boxes of at least 4.95 angstrom in 72.3, 16^3 - 14^3 = 1352 halo boxes: 126,134 bytes a rank.
    comd = aspenpy.load_application("comd")
    values = TWELVE_BOXES | {"potential": EMBEDDED_ATOM}
    volume = aspenpy.count(comd, "messages", kernel="embedded_atom_force", set=values)
    assert volume / 8 == pytest.approx(126_134, abs=0.5)


LENNARD_JONES_HALO = ((14 / 12) ** 3 - 1) * 3
"""Reals read from the halo for an atom of a rank with 12^3 boxes: three coordinates."""
EMBEDDED_ATOM_HALO = ((16 / 14) ** 3 - 1) * (3 + 4)
"""The same with 14^3 boxes: three coordinates in the first pass; these and a slope in the second."""
TRAFFIC = {
    "advance_velocity": (3 + 3, 3, 0),
    "advance_position": (3 + 3, 3, 4),
    "update_boxes": (3, 0, 0),
    "report": (3, 0, 0),
    "clear_force": (0, 3 + 1, 0),
    "lennard_jones_force": (3 + 3 + 1 + LENNARD_JONES_HALO, 3 + 1, 0),
    "embedded_atom_force": (3 + 3 + 1 + 1 + 1 + 3 + 1 + 3 + EMBEDDED_ATOM_HALO, 3 + 1 + 1 + 1 + 1 + 3, 0),
}
"""Reals loaded, reals stored and bytes of integers loaded for an atom, pass by pass."""


@pytest.mark.parametrize(("kernel", "loaded", "stored", "integers"), [(name, *row) for name, row in TRAFFIC.items()])
def test_traffic_of_an_atom(kernel: str, loaded: float, stored: float, integers: float) -> None:
    comd = aspenpy.load_application("comd")
    values = TWELVE_BOXES | {"potential": EMBEDDED_ATOM if kernel.startswith("embedded") else 0}
    volume = aspenpy.count(comd, "bytes", kernel=kernel, set=values)
    assert volume / (8 * ATOMS) == pytest.approx(8 * (loaded + stored) + integers, rel=1e-12)


@pytest.mark.parametrize("potential", [0, EMBEDDED_ATOM])
def test_all_arithmetic_is_double_and_only_the_updates_are_vectors(potential: int) -> None:
    comd, values = aspenpy.load_application("comd"), {"potential": potential}
    flops = aspenpy.count(comd, "flops", set=values)
    assert aspenpy.count(comd, "flops", set=values, traits=["dp"]) == flops
    vectors = aspenpy.count(comd, "flops", set=values, traits=["simd"])
    assert vectors == pytest.approx(ATOMS * 100 * (2 * 6 + 10), rel=1e-12)


Messages = Callable[[str, str, Mapping[str, float]], float]


def test_six_messages_a_step(messages_in_turn: Messages) -> None:
    assert messages_in_turn("comd", "timestep", {}) == 6
    assert messages_in_turn("comd", "timestep", {"potential": EMBEDDED_ATOM}) == 12


def test_one_rank_sends_nothing(messages_in_turn: Messages) -> None:
    assert messages_in_turn("comd", "main", {"ranks": 1}) == 0


def test_two_ranks_send(messages_in_turn: Messages) -> None:
    assert messages_in_turn("comd", "timestep", {"ranks": 2, "ranks_x": 2, "ranks_y": 1}) == 6


def test_a_report_sums_the_atoms_and_two_energies() -> None:
    # log2(8) = 3 rounds, 8 ranks, an integer and two reals.
    assert aspenpy.count(aspenpy.load_application("comd"), "messages", kernel="report") == 3 * 8 * (4 + 2 * 8)


def test_messages_of_a_run(messages_in_turn: Messages) -> None:
    # 101 exchanges of six, 11 reports of two sums in log2(8) = 3 rounds.
    assert messages_in_turn("comd", "main", {}) == 101 * 6 + 11 * 2 * 3


def test_flops_of_a_run() -> None:
    # 101 forces and box updates, 100 positions, 200 half steps of the velocity, 11 reports. Eight ranks of 10^3 cells
    # have 6^3 boxes each (36.15/5.7875 = 6.2), so 27 * 4000/216 = 500 candidates.
    force = 500 * (11 + 0.155 * 21)
    by_hand = ATOMS * (101 * (force + 6) + 100 * 10 + 200 * 6 + 11 * 8)
    assert aspenpy.count(aspenpy.load_application("comd"), "flops") == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("measured", [1.750e12, 1.843e12], ids=["hardware counters", "instruction emulator"])
def test_a_measured_run_within_ten_percent(measured: float) -> None:
    # ECP proxy applications, assessment of CoMD: -x 128 -y 128 -z 50, 100 steps, Lennard-Jones. Counters of
    # arithmetic leave comparisons out: 9 flops a candidate. The measurements differ by 5 % from each other.
    values = {"nx": 128, "ny": 128, "nz": 50, "ranks": 1, "candidate_flops": 9}
    found = aspenpy.count(aspenpy.load_application("comd"), "flops", set=values)
    assert found == pytest.approx(measured, rel=0.1)


@pytest.mark.parametrize("brick", [{}, {"ranks_x": 8, "ranks_y": 8}, {"ranks_x": 1, "ranks_y": 4}])
def test_any_brick_of_ranks_has_all_atoms(brick: dict[str, float]) -> None:
    # The half step of the velocity takes 6 flops an atom, however the crystal is cut.
    values = {"nx": 64, "ny": 64, "nz": 64, "ranks": 64} | brick
    flops = aspenpy.count(aspenpy.load_application("comd"), "flops", kernel="advance_velocity", set=values)
    assert flops == pytest.approx(6 * 4 * 64**3, rel=1e-12)
