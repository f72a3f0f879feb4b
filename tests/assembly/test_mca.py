"""Cycles by llvm-mca against latencies and ports of data sheets."""

import pytest

from aspenpy.assembly.mca import Simulator, find_simulator, simulate

needs_simulator = pytest.mark.skipif(find_simulator() is None, reason="llvm-mca is not installed")


def simulator() -> Simulator:
    found = find_simulator()
    assert found is not None
    return found


@needs_simulator
def test_additions_in_turn_take_their_latency() -> None:
    """Three cycles each on Haswell (Fog, instruction tables)."""
    few, many = simulate(simulator(), "haswell", [["addsd %xmm1, %xmm0"] * 100, ["addsd %xmm1, %xmm0"] * 200]) or [0, 0]
    assert many - few == 300


@needs_simulator
def test_independent_products_take_two_ports() -> None:
    """Haswell multiplies on ports 0 and 1."""
    code = [f"vmulsd %xmm15, %xmm15, %xmm{number % 12}" for number in range(240)]
    few, many = simulate(simulator(), "haswell", [code, code * 2]) or [0, 0]
    assert many - few == 120


@needs_simulator
def test_an_unknown_processor_has_no_cycles() -> None:
    assert simulate(simulator(), "nonesuch", [["incq %rax"]]) is None


def test_no_windows_take_no_program() -> None:
    assert simulate(Simulator("/nonexistent", "0", "none"), "none", []) == []
    assert simulate(Simulator("/nonexistent", "0", "none"), "none", [["nop"]]) is None
