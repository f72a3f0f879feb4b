"""The abstract exascale machines, and the two models of CoMD, against the equations and tables of the dissertation."""

from __future__ import annotations

from itertools import pairwise
from math import log2, log10

import pytest

import aspenpy
from aspenpy.answers.peaks import combined_rate, peaks

RANKS = 8_000_000


def predicted(app: str, machine: str = "exascale_homogeneous", kernel: str = "main", **values: float | str) -> float:
    model, target = aspenpy.load_application(app), aspenpy.load_machine(machine)
    return aspenpy.predict(model, target, kernel=kernel, set=values).runtime


# -- the machines ----------------------------------------------------------------------------------


def test_peaks_of_table_5_2() -> None:
    """20,000,000 cores at 2.3 GHz, 16 flop a cycle in double precision."""
    found = peaks(aspenpy.load_machine("exascale_homogeneous"))
    assert combined_rate(found, "flops", "dp") == 20_000_000 * 2.3e9 * 16 == 0.736e18
    assert combined_rate(found, "flops", "sp") == 1.472e18


def test_micro_kernels_reach_the_peaks() -> None:
    cores, work = 20_000_000, 1e9
    assert cores * work / predicted("micro_kernels", kernel="sp_flops", ranks=cores) == pytest.approx(1.472e18)
    assert cores * work / predicted("micro_kernels", kernel="dp_flops", ranks=cores) == pytest.approx(0.736e18)
    bandwidth = cores * work / predicted("micro_kernels", kernel="memory_bandwidth", ranks=cores)
    assert bandwidth == pytest.approx(78125 * 1000e9)


@pytest.mark.parametrize("intensity", [0.1, 1, 9, 10, 100])
def test_micro_kernel_below_the_roof(intensity: float) -> None:
    """Equation 5.8: min(peak, bandwidth * intensity), of all nodes."""
    time = predicted("micro_kernels", kernel="roofline", ranks=20_000_000, intensity=intensity)
    assert 20_000_000 * 1e9 / time == pytest.approx(min(0.736e18, 78125 * 1000e9 * intensity), rel=1e-12)


def test_all_watts_are_the_twenty_megawatts_allowed() -> None:
    machine = aspenpy.load_machine("exascale_homogeneous")
    watts = 0.0
    for place in machine.places():
        for part in place.component.power.values():
            watts += float(part.payload) * 78125
    assert watts == pytest.approx(20e6)


@pytest.mark.parametrize(
    ("name", "teraflops", "nodes"),
    [("discrete", 8 + 4 * 4.096, 55_000), ("integrated", 30, 33_000), ("heterogeneous", 16, 62_500)],
)
def test_the_other_three_reach_an_exaflop(name: str, teraflops: float, nodes: int) -> None:
    found = peaks(aspenpy.load_machine(f"exascale_{name}"))
    assert combined_rate(found, "flops", "dp") == pytest.approx(teraflops * 1e12 * nodes)
    assert combined_rate(found, "flops", "dp") == pytest.approx(1e18, rel=0.35)


@pytest.mark.parametrize("nodes", [33_000, 125_000])
def test_the_dragonfly_holds_all_nodes_of_table_5_1(nodes: int) -> None:
    machine = aspenpy.load_machine("exascale_homogeneous")
    network = aspenpy.Network(machine, set={"exascale_nodes": nodes})
    assert (network.nodes, network.topology.figures()["nodes"]) == (nodes, 154_056)
    assert network.topology.figures()["diameter"] == 3


# -- CoMD, equation by equation --------------------------------------------------------------------

PEAK, BETA, LATENCY = 36.8e9, 1000e9, 0.5e-6
"""Of one core, one memory, one message on exascale_homogeneous."""


@pytest.mark.parametrize("ranks", [8, 4096, RANKS])
@pytest.mark.parametrize("mode", ["longest", "sum"])
def test_equations_5_1_to_5_7(ranks: int, mode: str) -> None:
    atoms_per_cell, cells = 8, 20**3
    flops = cells / ranks * log10(atoms_per_cell) / PEAK  # 5.3
    memory = cells / ranks * log10(atoms_per_cell) / BETA  # 5.4
    compute = max(flops, memory) if mode == "longest" else flops + memory  # 5.2
    intra = 2 ** (1 / (cells * atoms_per_cell)) * log10(atoms_per_cell) / BETA  # 5.6
    inter = LATENCY + intra  # 5.7
    found = predicted("comd_literal", ranks=ranks, mode=mode)
    assert found == pytest.approx(compute + intra + inter, rel=1e-12)  # 5.1, 5.5


def test_other_readings_of_the_equations() -> None:
    natural = predicted("comd_literal", ranks=8, log_base=2, flops_per_atom=100, mode="sum", t=2)
    compute = 1000 * log2(8) * (100 / PEAK + 1 / BETA)
    exchanged = 2 * 2 ** (1 / 64000) * log10(8) / BETA
    assert natural == pytest.approx(compute + 2 * exchanged + LATENCY, rel=1e-12)


# -- CoMD, physically ------------------------------------------------------------------------------


def test_one_rank_computes_as_the_flops_say() -> None:
    """Boxes as wide as the cutoff hold 4 (5.7875/3.615)^3 = 16.41 atoms; 27 boxes of candidates, 0.155 of them near."""
    in_box = 4 * (5.7875 / 3.615) ** 3
    pairs = 27 * in_box * (11 + 0.155 * 21)
    atoms = 4 * 64**3
    force = atoms * pairs / 4.6e9 * 2  # a scalar core: 2.3 GHz, 2 a cycle, double precision takes twice as long
    assert predicted("comd_scaling", ranks=1, kernel="force") == pytest.approx(force, rel=1e-12)


def test_a_halo_exchange_on_one_rank_a_node() -> None:
    """Six messages of the average face, over the hops to the neighbours in a grid of 16^3 ranks, node by node: routers
    have 14 nodes and groups 28 routers; two groups are 41/14 hops apart on average, and terminal links add 2. The model
    counts pairs over the ends of rows as well, which changes the hops by 0.6 %."""
    ranks = 4096
    in_box = 4 * (5.7875 / 3.615) ** 3
    edge = (4 * 64**3 / ranks / in_box) ** (1 / 3)
    face = in_box * (edge**2 + edge * (edge + 2) + (edge + 2) ** 2) / 3 * 56

    def distance(first: int, second: int) -> float:
        if first // 14 == second // 14:
            return 0
        return 1 if first // 392 == second // 392 else 41 / 14

    along = [
        [distance(rank, rank + stride) for rank in range(ranks) if rank // stride % 16 < 15] for stride in (1, 16, 256)
    ]
    hops = sum(sum(each) / len(each) for each in along) / 3 + 2
    expected = 6 * (0.5e-6 + hops * 100e-9 + face / 25e9)
    assert predicted("comd_scaling", ranks=ranks, kernel="exchange_atoms") == pytest.approx(expected, rel=1e-3)


def test_faces_are_those_of_comd() -> None:
    """Of 12 boxes an edge: 144, 168 and 196 boxes, as CoMD has them for 20^3 unit cells."""
    edge = 12
    assert (edge**2, edge * (edge + 2), (edge + 2) ** 2) == (144, 168, 196)
    model = aspenpy.load_application("comd_scaling")
    settings = {"edge": 12, "atoms_per_box": 18.52, "ranks": 8}
    volume = float(aspenpy.count(model, "messages", kernel="exchange_atoms", set=settings)) / 8
    assert volume == pytest.approx(2 * (144 + 168 + 196) * 18.52 * 56, rel=1e-12)


def test_strong_scaling_has_its_best_and_weak_scaling_does_not_get_faster() -> None:
    """From cube to cube; between them ranks have bricks with larger faces."""
    model, machine = aspenpy.load_application("comd_scaling"), aspenpy.load_machine("exascale_homogeneous")
    ranks = [2**power for power in range(23)] + [RANKS]
    strong = aspenpy.scale(model, machine, ranks)
    assert strong.gets_slower
    assert strong.fastest is not None
    assert 1 < strong.fastest.ranks < RANKS
    cubes = [8**power for power in range(1, 8)]
    weak = aspenpy.scale(model, machine, cubes, "weak", set={"nx": 20, "ny": 20, "nz": 20})
    times = [point.time for point in weak.points]
    assert all(later >= earlier * (1 - 1e-12) for earlier, later in pairwise(times))
    assert set(weak.calls) == {"halo", "allreduce", "broadcast", "barrier"}


@pytest.mark.parametrize(("regions", "ratio", "slower"), [(64, 1.5, 95.5 / 64), (1, 4, 1.0), (4, 2, 7 / 4)])
def test_scattered_data_come_from_all_regions(regions: int, ratio: float, slower: float) -> None:
    """Of R regions one is the core's own, and the others take longer: (1 + (R - 1) ratio)/R."""
    machine = aspenpy.load_machine("exascale_homogeneous")

    def seconds(traits: str) -> float:
        app = aspenpy.parse(f"model a {{ kernel main {{ execute {{ loads [1e12] {traits} }} }} }}")
        assert isinstance(app, aspenpy.Application)
        values = {"exascale_numa_regions": regions, "exascale_numa_ratio": ratio}
        return aspenpy.predict(app, machine, set=values).runtime

    assert seconds("") == 1
    assert seconds("as scattered") == pytest.approx(slower, rel=1e-15)
