"""Paths between ranks of the library's machines, against what was measured on them: OSU's benchmarks and NCCL's."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import aspenpy
from aspenpy import Application
from tests.tiny import application


def seconds(requirement: str, ranks: int, machine: str, **options: object) -> float:
    app = aspenpy.parse(f"model a {{ kernel main {{ execute [{ranks}] {{ messages {requirement} }} }} }}")
    assert isinstance(app, Application)
    return aspenpy.predict(app, aspenpy.load_machine(machine), **options).runtime  # type: ignore[arg-type]


# -- two ranks -------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """A message from one rank to another: so many bytes, and microseconds by osu_latency or the bytes over what osu_bw
    attains. Of the socket named, or `apart`, one rank a node or a socket."""

    machine: str
    socket: str | None
    size: int
    microseconds: float
    apart: str = ""
    settings: tuple[tuple[str, object], ...] = ()


KIB, MIB = 1024, 1024 * 1024

TOFU = (("fugaku_nodes", 2), ("tofu_d_dimensions", "{2, 1, 1, 1, 1, 1}"))
"""Two neighbours."""

NETWORKS = (
    # Lassen, converged-computing/metrics-operator-experiments, means of 20 runs
    Measured("sierra", "ibm_power9", 8, 1.148, "node"),
    Measured("sierra", "ibm_power9", KIB, 1.9605, "node"),
    Measured("sierra", "ibm_power9", 8 * KIB, 4.912, "node"),
    Measured("sierra", "ibm_power9", 64 * KIB, 12.059, "node"),
    Measured("sierra", "ibm_power9", MIB, 82.04, "node"),
    Measured("sierra", "ibm_power9", 4 * MIB, 308.4, "node"),
    # an EDR port of CSCS's tsa and arolla, 12,240 MB/s: reframe-hpc/reframe, osu_tests.py
    Measured("summit", "ibm_power9", 4 * MIB, 4 * MIB / 12.240e3, "node", (("infiniband_edr_rails", 1),)),
    # 100 Gbit/s, gist.github.com/jfgrimm/3af692a5475bdd4ed836b5a18197a209
    Measured("frontera", None, 8, 0.90, "node"),
    Measured("frontera", None, 16 * KIB, 7.08, "node"),
    Measured("frontera", None, 32 * KIB, 9.14, "node"),
    Measured("frontera", None, 64 * KIB, 12.62, "node"),
    # XC40 with Haswell, over libfabric, gist.github.com/hppritcha/6a3acd0c192fcfd082bd543fc98e6fe6
    Measured("trinity", None, 8, 1.46, "node"),
    Measured("trinity", None, KIB, 1.76, "node"),
    Measured("trinity", None, 16 * KIB, 10.42, "node"),
    Measured("trinity", None, 64 * KIB, 15.40, "node"),
    Measured("trinity", None, 256 * KIB, 35.07, "node"),
    Measured("trinity", None, MIB, 114.18, "node"),
    Measured("trinity", None, 4 * MIB, 434.2, "node"),
    # Alps, references of eth-cscs/cscs-reframe-tests, osu_run.py
    Measured("frontier", "amd_epyc_7a53", 256, 2.3, "node"),
    Measured("perlmutter_cpu", None, 4 * MIB, 180.0, "node"),
    # Fugaku user guide, Performance of MPI (RIKEN)
    Measured("fugaku", None, 8, 1.05, "node", TOFU),
    Measured("fugaku", None, 16 * KIB, 7.27, "node", TOFU),
    Measured("fugaku", None, 64 * KIB, 17.1, "node", TOFU),
    Measured("fugaku", None, 256 * KIB, 48.3, "node", TOFU),
    Measured("fugaku", None, 4 * MIB, 668.0, "node", TOFU),
)
"""Sizes on both sides of the switch from eager messages to those by rendezvous. Nobody's measurement was found of Blue
Gene/Q, QDR and FDR InfiniBand and Fast Ethernet: theirs are recalled, or Aspen's own."""

INSIDE = (
    # E5-2699 v3, Open MPI 3.0.1: open-mpi/ompi issues 5490 and 5488, the last between two sockets
    Measured("trinity", None, 8, 0.63),
    Measured("trinity", None, 64 * KIB, 8.33),
    Measured("trinity", None, 8, 0.90, "socket"),
    # Skylake, ofiwg/libfabric pull request 8582; 11,173.7 MB/s of 16 KiB: openucx/ucx issue 1831
    Measured("frontera", None, 8, 0.26),
    Measured("frontera", None, 64 * KIB, 4.91),
    # Milan, ofiwg/libfabric pull request 8808; Frontier, pmodels/mpich issue 7723
    Measured("perlmutter_cpu", None, 0, 0.18),
    Measured("frontier", "amd_epyc_7a53", 64 * KIB, 64 * KIB / 20.88419e3),
    # two EPYC 7742, 16 to 17 GB/s both ways: openucx/ucx issue 8210
    Measured("epyc_7742", None, 4 * MIB, 4 * MIB / 8.2e3, "socket", (("epyc_7742_sockets", 2),)),
    # A100 with four links a pair, 93,130.52 MB/s: EESSI/software-layer pull request 716
    Measured("perlmutter_gpu", "nvidia_a100_40gb", 32 * MIB, 32 * MIB / 93.13052e3),
    # two dies of a board of LUMI-G, 150 GB/s
    Measured("frontier", "amd_mi250x", 32 * MIB, 32 * MIB / 150e3),
)


@pytest.mark.parametrize("row", [*NETWORKS, *INSIDE], ids=lambda row: f"{row.machine}-{row.size}-{row.apart}")
def test_a_message_takes_what_was_measured(row: Measured) -> None:
    """Within 25 %. From 2 to 8 KiB, where libraries change from one protocol to the next by and by, messages take up to
    twice as long as here."""
    options: dict[str, object] = {"socket": row.socket, "set": dict(row.settings)}
    if row.apart == "node":
        options["ranks_per_node"] = 1
    elif row.apart:
        options["ranks_on"] = row.apart
    found = seconds(f"[{row.size}]", 2, row.machine, **options)
    assert found * 1e6 == pytest.approx(row.microseconds, rel=0.25)


# -- eight devices ---------------------------------------------------------------------------------

A100 = {
    10: 44.8, 12: 42.16, 14: 42.79, 16: 42.48, 17: 44.54, 18: 45.38, 19: 47.69, 20: 50.66, 21: 68.55, 22: 102.76,
    23: 163.13, 24: 268.82, 25: 442.27, 26: 704.8, 27: 1348.5, 28: 2196.48, 29: 4240.11, 30: 8237.83,
}  # fmt: skip
H100 = {
    10: 25.6, 12: 26.55, 14: 30.18, 15: 33.53, 16: 42.16, 17: 42.48, 18: 42.24, 19: 42.97, 20: 41.99, 21: 44.79,
    22: 57.02, 23: 85.28, 24: 125.23, 25: 198.69, 26: 324.62, 27: 586.31, 28: 1109.55, 29: 2142.78, 30: 4029.27,
}  # fmt: skip
"""Microseconds of an all-reduce over eight boards by the logarithm of its bytes: Azure/AI-benchmarking-guide, ND A100
v4 and ND H100 v5 with NCCL 2.18.5, bus bandwidth in place. On the H100 the switches reduce, which is left out."""


@pytest.mark.parametrize(
    ("name", "size", "microseconds"),
    [(name, size, time) for name, curve in (("a100_80gb", A100), ("h100", H100)) for size, time in curve.items()],
)
def test_bus_bandwidth_of_an_allreduce(name: str, size: int, microseconds: float) -> None:
    found = seconds(f"[{2**size}] as allreduce", 8, name, set={f"{name}_boards": 8})
    assert microseconds / (found * 1e6) == pytest.approx(1, rel=0.3)


def test_rings_without_the_switches() -> None:
    """365.6 GB/s of 8 GiB over eight H200 with NVLS off: stas00/ml-engineering, network/README.md."""
    found = seconds(f'[{8 * 2**30}] as allreduce("ring")', 8, "h200", set={"h200_boards": 8})
    assert 2 * 7 / 8 * 8 * 2**30 / found == pytest.approx(365.6e9, rel=0.03)


def test_a_gigabyte_over_nvlink_takes_eight_milliseconds() -> None:
    assert seconds("[1e9] as allreduce", 8, "a100_80gb", set={"a100_80gb_boards": 8}) == pytest.approx(8e-3, rel=0.1)


@pytest.mark.parametrize("machine", ["haswell", "perlmutter_cpu", "sequoia", "frontera"])
def test_a_rate_of_zero_has_a_place(machine: str) -> None:
    """A quotient that the mapping makes is written nowhere: its divisor is."""
    app, model = aspenpy.load_application("hpcg"), aspenpy.load_machine(machine)
    (rate,) = {str(item.name) for item in model.parameters} & RATES
    with pytest.raises(aspenpy.AspenError) as caught:
        aspenpy.predict(app, model, set={"ranks": 4096 if machine == "frontera" else 64, rate: 0})
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.text() == "bandwidth"


RATES = {
    "infiniband_fdr_bandwidth",
    "slingshot_11_bandwidth",
    "bluegene_q_torus_bandwidth",
    "infiniband_hdr100_bandwidth",
}


def test_one_large_message_takes_both_ports_of_a_summit_node() -> None:
    """A gigabyte between two nodes over two ports of 12.5 GB/s; one of Sierra's takes one."""
    body = application("execute [2] { messages [1e9] }")
    found = {
        name: aspenpy.predict(body, aspenpy.load_machine(name), socket="ibm_power9", ranks_per_node=1).runtime
        for name in ("summit", "sierra")
    }
    assert found["summit"] == pytest.approx(1e9 / 25e9, rel=1e-3)
    assert found["sierra"] == pytest.approx(1e9 / 12.5e9, rel=1e-3)
