"""Listing 3.2 of Umar's dissertation (2018), and the power of its machine."""

import pytest

import aspenpy
from aspenpy.answers.energy.account import Energy, predict_energy
from aspenpy.answers.energy.options import EnergyOptions
from tests.tiny import both

SOCKET = "intel_xeon_e5_2637_as_modelled"


@pytest.fixture
def listing() -> Energy:
    app, machine = aspenpy.load_application("matmul_listing32"), aspenpy.load_machine("vt_e5_2637_as_modelled")
    return predict_energy(app, machine, socket=SOCKET, set={"n": 8192, "nTimes": 5})


def test_listing_to_all_printed_digits(listing: Energy) -> None:
    assert f"{listing.value:.6g}" == "25623.3"
    main, matmul = listing.kernels
    assert (main.name, main.energy, matmul.name, matmul.calls) == ("main", 0, "matmul", 5)
    assert matmul.per_call is not None
    assert f"{matmul.per_call:.6g}" == "5124.65"


def test_listing_by_hand(listing: Energy) -> None:
    # One core of 3.5 GHz x 2 x 4 = 28 Gflop/s; three matrices of four bytes at 25.5 GB/s.
    seconds, busy = 2 * 8192**3 / 28e9, 3 * 4 * 8192**2 / 25.5e9
    assert listing.runtime == pytest.approx(5 * seconds, rel=1e-14)
    assert listing.value == pytest.approx(5 * (seconds * (10 + 0.5 + 120) + busy * 4.5), rel=1e-14)
    assert listing.power == pytest.approx(130.5 + 4.5 * busy / seconds, rel=1e-13)
    assert listing.components == {
        SOCKET: pytest.approx(5 * seconds * 130, rel=1e-14),
        "ddr3_1066": pytest.approx(5 * (seconds * 0.5 + busy * 4.5), rel=1e-14),
    }


STRIDED = """
machine m { node box }
node box { socket s }
socket s { core [4] c  memory d  static power [10 W]  dynamic power [120 W] }
core c { resource flops(x) [x/giga] with simd [base/4] }
memory d { resource loads(x) [x/giga] with stride(k) [base*k]  static power [1 W]  dynamic power [4 W] }
"""


def test_activity_is_of_one_core_and_of_plain_bytes() -> None:
    """One core at its peak charges its whole socket, and `stride` slows the memory but does not add to the bytes."""
    body = "model a { kernel main { execute { flops [8*giga] as simd  loads [giga] as stride(2) } } }"
    found = predict_energy(*both(body, STRIDED))
    assert found.runtime == 2
    assert found.value == pytest.approx(2 * (10 + 1) + 2 * 120 + 1 * 4, rel=1e-14)


@pytest.mark.parametrize(
    ("charged", "joules"),
    [
        ("socket", 2 * 11 + 2 * 120 + 4),
        ("cores_used", 2 * 11 + 2 * 120 / 4 + 4),
        ("machine", 2 * 11 + 2 * 120 / 4 + 4),
    ],
)
def test_charged(charged: str, joules: float) -> None:
    body = "model a { kernel main { execute { flops [8*giga] as simd  loads [giga] } } }"
    options = EnergyOptions(charged=charged)
    assert predict_energy(*both(body, STRIDED), options=options).value == pytest.approx(joules, rel=1e-14)
