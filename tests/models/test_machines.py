"""The library's machines against table 3.4 of Umar's dissertation (2018) and round numbers."""

from collections.abc import Callable

import pytest

import aspenpy

Rate = Callable[..., float]
Seconds = Callable[..., float]

SOCKETS = {
    "intel_xeon_x5660": ("keeneland", 6, 90, 5),
    "nvidia_m2090": ("keeneland", 16, 250, 2),
    "intel_xeon_e5_2620_as_modelled": ("vt_e5_2620", 6, 95, 5),
    "nvidia_k20c_as_modelled": ("vt_e5_2620", 13, 225, 2),
}
"""Machine, cores, watts of the socket and of its memory, idle and dynamic together: table 3.4."""

SCALAR, SIMD, FUSED = (), ("simd",), ("simd", "fmad")
GFLOP_PER_JOULE = {
    "intel_xeon_x5660": {
        ("sp", SCALAR): 0.3733, ("sp", SIMD): 1.4933, ("sp", FUSED): 1.4933,
        ("dp", SCALAR): 0.1867, ("dp", SIMD): 0.7467, ("dp", FUSED): 0.7467,
    },
    "nvidia_m2090": {
        ("sp", SCALAR): 0.0832, ("sp", SIMD): 2.6624, ("sp", FUSED): 5.3248,
        ("dp", SCALAR): 0.0416, ("dp", SIMD): 1.3312, ("dp", FUSED): 2.6624,
    },
    "intel_xeon_e5_2620_as_modelled": {
        ("sp", SCALAR): 0.2526, ("sp", SIMD): 1.0105, ("sp", FUSED): 1.0105,
        ("dp", SCALAR): 0.1263, ("dp", SIMD): 0.5053, ("dp", FUSED): 0.5053,
    },
    "nvidia_k20c_as_modelled": {
        ("sp", SCALAR): 0.0408, ("sp", SIMD): 7.8319, ("sp", FUSED): 15.6638,
        ("dp", SCALAR): 0.0204, ("dp", SIMD): 3.9159, ("dp", FUSED): 7.8319,
    },
}  # fmt: skip
"""Figure 3.8, worked out from cores, clock, lanes and watts of table 3.4. As printed there the E5-2620 has the four
lanes of SSE and the K20c double precision at half of single (discrepancy D9 in docs/models/machines.md)."""

GBYTE_PER_JOULE = {
    "intel_xeon_x5660": 5.10, "nvidia_m2090": 88.5,
    "intel_xeon_e5_2620_as_modelled": 5.10, "nvidia_k20c_as_modelled": 104.0,
}  # fmt: skip
"""Figure 3.9: bandwidth over the watts of the memory."""


@pytest.mark.parametrize(
    ("socket", "precision", "traits", "printed"),
    [(socket, *kind, worth) for socket, row in GFLOP_PER_JOULE.items() for kind, worth in row.items()],
)
def test_flops_for_a_joule(rate: Rate, socket: str, precision: str, traits: tuple[str, ...], printed: float) -> None:
    machine, cores, watts, _ = SOCKETS[socket]
    found = cores * rate(machine, "flops", precision, *traits, socket=socket) / watts
    assert found == pytest.approx(printed * 1e9, rel=1e-3)


@pytest.mark.parametrize("resource", ["loads", "stores"])
@pytest.mark.parametrize("socket", SOCKETS)
def test_bytes_for_a_joule(rate: Rate, socket: str, resource: str) -> None:
    machine, _, _, watts = SOCKETS[socket]
    assert rate(machine, resource, socket=socket) / watts == pytest.approx(GBYTE_PER_JOULE[socket] * 1e9, rel=1e-3)


@pytest.mark.parametrize(
    ("socket", "single", "double"),
    [("intel_xeon_x5660", 134, 67), ("nvidia_m2090", 1331, 665), ("intel_xeon_e5_2620_as_modelled", 96, 48),
     ("nvidia_k20c_as_modelled", 3500, 1750)],
)  # fmt: skip
def test_printed_peaks(rate: Rate, socket: str, single: float, double: float) -> None:
    # Table 3.4 rounds: 3524 to 3500, 134.4 to 134.
    machine, cores, _, _ = SOCKETS[socket]
    for precision, printed in (("sp", single), ("dp", double)):
        found = cores * rate(machine, "flops", precision, "simd", "fmad", socket=socket)
        assert found == pytest.approx(printed * 1e9, rel=0.01)


WATTS = {
    "intel_xeon_x5660": ("keeneland", 10, 80, 0.5, 4.5),
    "nvidia_m2090": ("keeneland", 30, 220, 0.5, 1.5),
    "intel_xeon_e5_2620_as_modelled": ("vt_e5_2620", 10, 85, 0.5, 4.5),
    "nvidia_k20c_as_modelled": ("vt_e5_2620", 29, 196, 0.5, 1.5),
    "intel_xeon_haswell": ("haswell", 10, 135 - 10, 0.5, 4.5),
}
"""Machine, idle and dynamic watts of the socket and of its memory: table 3.4. Haswell: the thermal design power of the
E5-2637 v3 is 135 W."""


@pytest.mark.parametrize("socket", WATTS)
def test_declared_watts(socket: str) -> None:
    name, *watts = WATTS[socket]
    machine = aspenpy.load_machine(name)
    below = [place.component for place in machine.places(socket) if socket in place.path]
    of_socket, of_memory = (next(item for item in below if item.type == kind) for kind in ("socket", "memory"))
    declared = [item.power[kind].payload for item in (of_socket, of_memory) for kind in ("static", "dynamic")]
    assert declared == watts


@pytest.mark.parametrize(("machine", "watts"), [("keeneland", 9.69), ("haswell", 3)])
def test_declared_watts_of_a_port(machine: str, watts: float) -> None:
    places = aspenpy.load_machine(machine).places()
    port = next(place.component for place in places if place.component.type == "interconnect")
    assert float(port.power["dynamic"].payload) == watts


CORES = {
    ("simple", "simple_socket"): 4,
    ("haswell", "intel_xeon_haswell"): 16 * 8,
    ("keeneland", "intel_xeon_x5660"): 120 * 2 * 6,
    ("keeneland", "nvidia_m2090"): 120 * 3 * 16,
    ("vt_e5_2620", "intel_xeon_e5_2620_as_modelled"): 2 * 6,
    ("vt_e5_2620", "nvidia_k20c_as_modelled"): 13,
}
"""Of one kind in the whole machine: nodes, sockets, cores."""


@pytest.mark.parametrize(("machine", "socket", "cores"), [(*where, cores) for where, cores in CORES.items()])
def test_cores_of_a_machine(seconds: Seconds, machine: str, socket: str, cores: int) -> None:
    # So many parallel instances run at once; one more needs a second round.
    one, full, more = (seconds(machine, "flops [1e12]", parallelism, socket) for parallelism in (1, cores, cores + 1))
    assert (full, more) == (one, 2 * one)


def test_efficiency_of_accelerators_over_processors(rate: Rate) -> None:
    # Flop for a joule, single precision: 3.58 on Keeneland, 15.4 (with the printed peaks) on the local node.
    peaks = {}
    for socket, (machine, cores, watts, _) in SOCKETS.items():
        peaks[socket] = cores * rate(machine, "flops", "sp", "simd", "fmad", socket=socket) / watts
    assert peaks["nvidia_m2090"] / peaks["intel_xeon_x5660"] == pytest.approx(3.58, rel=5e-3)
    assert peaks["nvidia_k20c_as_modelled"] / peaks["intel_xeon_e5_2620_as_modelled"] == pytest.approx(15.4, rel=1e-2)


def test_haswell_peaks(rate: Rate) -> None:
    # AVX2 with two fused multiply-add units: 16 double-precision flops a cycle and core at 3.5 GHz.
    assert rate("haswell", "flops", "dp", "simd", "fmad") == pytest.approx(16 * 3.5e9, rel=1e-12)
    assert rate("haswell", "flops", "sp", "simd", "fmad") == pytest.approx(32 * 3.5e9, rel=1e-12)
    assert rate("haswell", "loads") == pytest.approx(68e9, rel=1e-12)


def test_the_order_of_traits_does_not_matter(rate: Rate) -> None:
    one, other = (rate("haswell", "flops", *traits) for traits in (("dp", "simd", "fmad"), ("fmad", "simd", "dp")))
    assert one == pytest.approx(other, rel=1e-15)


@pytest.mark.parametrize(
    ("machine", "socket", "latency", "bandwidth"),
    [("simple", None, 1e-6, 1e9), ("haswell", None, 1.5e-6, 6.8e9), ("keeneland", "intel_xeon_x5660", 1.07e-6, 4e9)],
)
def test_a_message_takes_latency_and_volume_over_bandwidth(
    seconds: Seconds, machine: str, socket: str | None, latency: float, bandwidth: float
) -> None:
    for volume in (0, 10**9):
        found = seconds(machine, f"messages [{volume}]", socket=socket)
        assert found == pytest.approx(latency + volume / bandwidth, rel=1e-12)


LINKS = {
    ("simple", "simple_socket"): (1e-6, 10e9),
    ("haswell", "intel_xeon_haswell"): (1e-6, 9.6e9 * 2),
    ("keeneland", "intel_xeon_x5660"): (1e-6, 6.4e9 * 2),
    ("keeneland", "nvidia_m2090"): (15e-6, 6e9),
    ("vt_e5_2620", "intel_xeon_e5_2620_as_modelled"): (1e-6, 7.2e9 * 2),
    ("vt_e5_2620", "nvidia_k20c_as_modelled"): (15e-6, 6e9),
}
"""Seconds and bytes per second: QPI carries 2 bytes a transfer; PCI Express 2.0 is as attained."""


@pytest.mark.parametrize(("where", "latency", "bandwidth"), [(where, *rates) for where, rates in LINKS.items()])
def test_a_transfer_takes_latency_and_volume_over_bandwidth(
    seconds: Seconds, where: tuple[str, str], latency: float, bandwidth: float
) -> None:
    machine, socket = where
    for volume in (0, 10**9):
        found = seconds(machine, f"intracomm [{volume}]", socket=socket)
        assert found == pytest.approx(latency + volume / bandwidth, rel=1e-12)


def test_parameters_scale_the_rates(rate: Rate) -> None:
    assert rate("haswell", "flops", haswell_clock=1.75e9) == pytest.approx(rate("haswell", "flops") / 2, rel=1e-12)
    half = rate("haswell", "loads", ddr4_2133_bandwidth=34e9)
    assert half == pytest.approx(rate("haswell", "loads") / 2, rel=1e-12)
