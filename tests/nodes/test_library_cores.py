"""Cores of the library's processors: cycles that InstLatx64 and makers publish, at the clock of each."""

from __future__ import annotations

import pytest

import aspenpy
from tests.tiny import application


def cycles(machine: str, body: str, gigahertz: float) -> float:
    found = aspenpy.predict(application(f"execute {{ {body} }}"), aspenpy.load_machine(machine))
    return float(found.runtime) * gigahertz * 1e9


@pytest.mark.parametrize(
    ("machine", "gigahertz", "requirement", "expected"),
    [
        ("xeon_gold_6148", 2.4, "flops [1000] as add, dp", 1000 / 2),
        ("xeon_gold_6148", 2.4, "flops [1600] as add, dp, simd", 1600 / 16),
        ("xeon_gold_6148", 2.4, "flops [3200] as fma, dp, simd", 3200 / 32),
        ("xeon_gold_6148", 2.4, "flops [1000] as divide, dp", 4 * 1000),
        ("xeon_gold_6148", 2.4, "flops [800] as divide, dp, simd", 16 * 100),
        ("xeon_gold_6148", 2.4, "flops [100] as square_root, dp", 6 * 100),
        ("xeon_gold_6148", 2.4, "chain [1000] as add", 4 * 1000),
        ("xeon_gold_6148", 2.4, "chain [12e6] as integer", 12e6),
        ("xeon_e5_2670", 2.6, "chain [1000] as add", 3 * 1000),
        ("xeon_e5_2670", 2.6, "flops [100] as divide, dp", 22 * 100),
        ("xeon_e5_2698_v3", 2.3, "chain [1000] as fma", 5 * 1000),
        ("xeon_platinum_8360y", 2.4, "flops [3200] as fma, dp, simd", 3200 / 32),
        ("epyc_7742", 2.25, "chain [1000] as fma", 5 * 1000),
        ("epyc_7763", 2.45, "chain [1000] as fma", 4 * 1000),
        ("epyc_7763", 2.45, "flops [100] as divide, dp", 4.5 * 100),
        ("epyc_9654", 2.4, "flops [1600] as fma, dp, simd", 1600 / 16),
        ("a64fx", 2.0, "chain [1000] as fma", 9 * 1000),
        ("a64fx", 2.0, "flops [800] as divide, dp, simd", 154 * 100),
        ("grace", 3.1, "flops [1600] as fma, dp, simd", 1600 / 16),
        ("xeon_gold_6148", 2.4, "branches [1000] as mispredicted(0.1)", 1000 + 14 * 100),
        ("xeon_gold_6148", 2.4, "barriers [3]", 3 * 2576.5),
    ],
)
def test_operations_take_their_cycles(machine: str, gigahertz: float, requirement: str, expected: float) -> None:
    assert cycles(machine, requirement, gigahertz) == pytest.approx(expected, rel=1e-9)


def test_a_branch_that_is_foreseen_takes_a_cycle() -> None:
    assert cycles("xeon_gold_6148", "branches [1e6]", 2.4) == pytest.approx(1e6, rel=1e-9)


def test_an_ordered_sum_waits_for_each_addition() -> None:
    """Beside the loads of its data from memory: four cycles each, and not the half that two adders take."""
    body = "flops [1e6] as add, dp  chain [1e6] as add  loads [8e6]"
    assert cycles("xeon_gold_6148", body, 2.4) == pytest.approx(4e6, rel=1e-9)


def test_data_of_the_other_socket_come_over_the_links() -> None:
    """Three UPI links of 20.8 GB/s, of which 0.8 are attained."""
    body = "execute [20] { loads [1e9] as remote }"
    found = aspenpy.predict(application(body), aspenpy.load_machine("xeon_gold_6148")).runtime
    assert float(found) == pytest.approx(20 / (0.8 * 3 * 20.8), rel=1e-9)


@pytest.mark.parametrize(("cores", "gigabytes"), [(4, 4 * 21.8), (64, 0.714 * 204.8)])
def test_domains_of_a_socket_are_memories_of_their_own(cores: int, gigabytes: float) -> None:
    """A core on each of four quarters of a Rome's memory has its own rate; all have what they have without."""
    app = application(f"execute [{cores}] {{ loads [1e9] }}")
    found = aspenpy.predict(app, aspenpy.load_machine("epyc_7742"), set={"ddr4_3200_rome_domains": 4}).runtime
    assert cores / float(found) == pytest.approx(gigabytes, rel=1e-9)
