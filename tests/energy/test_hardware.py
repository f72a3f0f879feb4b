"""Flops and bytes for a joule: figures 3.8 and 3.9 of Umar's dissertation (2018), derived from its table 3.4."""

import pytest

import aspenpy
from aspenpy.answers.energy.hardware import HardwarePeak, hardware_peaks
from tests.tiny import application

GFLOP = {
    "intel_xeon_x5660": (0.3733, 1.4933, 1.4933, 0.1867, 0.7467, 0.7467),
    "nvidia_m2090": (0.0832, 2.6624, 5.3248, 0.0416, 1.3312, 2.6624),
    "intel_xeon_e5_2620_as_modelled": (0.2526, 1.0105, 1.0105, 0.1263, 0.5053, 0.5053),
    "nvidia_k20c_as_modelled": (0.0408, 7.8319, 15.6638, 0.0204, 3.9159, 7.8319),
}
"""Single precision scalar, SIMD, SIMD and fused; double precision the same: peak over idle and dynamic watts."""

GBYTE = {
    "intel_xeon_x5660": 5.10, "nvidia_m2090": 88.5, "intel_xeon_e5_2620_as_modelled": 5.10,
    "nvidia_k20c_as_modelled": 104.0,
}  # fmt: skip
"""Bandwidth over idle and dynamic watts of the memory."""

TRAITS = [(precision, *more) for precision in ("sp", "dp") for more in ((), ("simd",), ("simd", "fmad"))]


def machine_of(socket: str) -> str:
    return "keeneland" if socket in ("intel_xeon_x5660", "nvidia_m2090") else "vt_e5_2620"


def peaks(machine: str, socket: str, **settings: float) -> dict[tuple[str, ...], HardwarePeak]:
    app = application("execute { flops [1] }")
    found = aspenpy.predict(app, aspenpy.load_machine(machine), socket=socket, set=settings)
    return {(*peak.resources, *peak.traits): peak for peak in hardware_peaks(found)}


@pytest.mark.parametrize("socket", GFLOP)
def test_table(socket: str) -> None:
    found = peaks(machine_of(socket), socket)
    for traits, expected in zip(TRAITS, GFLOP[socket], strict=True):
        assert found["flops", *traits].per_joule == pytest.approx(expected * 1e9, rel=1e-3)
    assert found["loads", "stores"].per_joule == pytest.approx(GBYTE[socket] * 1e9, rel=1e-3)


@pytest.mark.parametrize(
    ("socket", "cores", "clock", "issue", "lanes", "gain", "factor", "watts"),
    [
        ("intel_xeon_x5660", 6, 2.8e9, 2, 4, 1, 2, 90),
        ("nvidia_m2090", 16, 1.3e9, 1, 32, 2, 2, 250),
        ("intel_xeon_e5_2620_as_modelled", 6, 2e9, 2, 4, 1, 2, 95),
        ("nvidia_k20c_as_modelled", 13, 0.706e9, 1, 192, 2, 2, 225),
    ],
)
def test_table_by_hand(
    socket: str, cores: int, clock: float, issue: int, lanes: int, gain: int, factor: int, watts: int
) -> None:
    found = peaks(machine_of(socket), socket)
    for traits in TRAITS:
        rate = cores * clock * issue / (factor if "dp" in traits else 1)
        rate *= (lanes if "simd" in traits else 1) * (gain if "fmad" in traits else 1)
        assert found["flops", *traits].rate == pytest.approx(rate, rel=1e-12)
        assert found["flops", *traits].per_joule == pytest.approx(rate / watts, rel=1e-12)


def test_accelerators_gain() -> None:
    # 3.58 on Keeneland and 15.4, with the printed 3500 Gflop/s, on the local node; bytes 17.4 and 20.4.
    best = {socket: peaks(machine_of(socket), socket)["flops", "sp", "simd", "fmad"] for socket in GFLOP}
    flops = {socket: peak.per_joule or 0 for socket, peak in best.items()}
    assert flops["nvidia_m2090"] / flops["intel_xeon_x5660"] == pytest.approx(3.566, rel=1e-3)
    local = flops["nvidia_k20c_as_modelled"] / flops["intel_xeon_e5_2620_as_modelled"] * 3500 / 3524
    assert local == pytest.approx(15.4, rel=2e-3)


def test_a_board_draws_for_its_memory() -> None:
    peak = peaks("a100_40gb", "nvidia_a100_40gb")["loads", "stores"]
    assert (peak.component, peak.power) == ("nvidia_a100_40gb", 400)


def test_settings_of_the_machine() -> None:
    slow = peaks("keeneland", "intel_xeon_x5660", x5660_clock=1.4e9)["flops", "sp", "simd", "fmad"]
    assert slow.rate == pytest.approx(67.2e9)
