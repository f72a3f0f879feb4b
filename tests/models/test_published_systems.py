"""Systems of the TOP500 and HPCG lists, and published scaling: what the library's applications reach on its machines.

Ranks and settings are the same by kind of machine: nodes of processors and devices, HPL 2.3 with look-ahead of one
panel, cubes of HPCG that fill a quarter of a rank's memory. The clocks are those with which the lists' peaks go.
"""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.record import Record
from tests.models.test_allreduce_training import DGX_A100

GHz = 1e9


class Linpack(Record):
    """A run of HPL: where its ranks are, the grid, block and order, R_max in Pflop/s and its list of the TOP500."""

    machine: str
    socket: str | None
    on: str | None
    grid: tuple[int, int]
    block: int
    n: int
    published: float
    date: str
    settings: dict[str, float] = {}  # noqa: RUF012


class Gradients(Record):
    """A run of HPCG: where its ranks are, how many and with how much memory, Tflop/s with the list's date."""

    machine: str
    socket: str | None
    on: str | None
    ranks: int
    memory: float
    published: float
    date: str
    settings: dict[str, float] = {}  # noqa: RUF012


PHASE_1 = {"perlmutter_gpu_nodes": 1424, "perlmutter_gpu_ports": 2, "slingshot_11_bandwidth": 12.5e9}
"""Perlmutter of June 2021: Slingshot-10, two ports of 100 Gbit/s a node."""

LINPACK = [
    Linpack("frontier", "amd_mi250x", None, (256, 288), 512, 24440832, 1194.0, "2023-06", {"mi250x_clock": 1.6 * GHz}),
    Linpack("fugaku", None, "node", (384, 414), 240, 21288960, 442.01, "2020-11", {"a64fx_clock": 2.2 * GHz}),
    Linpack("summit", "nvidia_v100", None, (144, 192), 768, 16473600, 148.6, "2019-06", {"v100_clock": 1.38 * GHz}),
    Linpack("sierra", "nvidia_v100", None, (120, 144), 768, 11902464, 94.64, "2018-11", {"v100_clock": 1.38 * GHz}),
    Linpack("perlmutter_gpu", "nvidia_a100_40gb", None, (64, 89), 384, 5382144, 64.59, "2021-06", PHASE_1),
    Linpack("frontera", None, "node", (88, 91), 384, 9262848, 23.5164, "2019-06"),
    Linpack("abci", "nvidia_v100", None, (64, 68), 384, 2918016, 19.88, "2018-11", {"v100_clock": 1.312 * GHz}),
    Linpack("sequoia", None, "node", (256, 384), 256, 12681215, 16.324751, "2012-06"),
    Linpack("trinity", None, "node", (96, 98), 192, 8847936, 8.1009, "2015-11", {"trinity_nodes": 9408}),
    Linpack("a64fx_prototype", None, "node", (24, 32), 240, 1576960, 1.9995, "2019-11"),
    Linpack("gordon", None, "node", (10, 101), 168, 2558976, 0.2858, "2012-06", {"gordon_nodes": 1010}),
    Linpack("keeneland_kids", "nvidia_m2070", None, (15, 23), 512, 472064, 0.1063, "2011-11"),
    Linpack("cori_knl", None, "node", (88, 104), 336, 6984960, 14.0147, "2016-11", {"cori_knl_nodes": 9152}),
]

GRADIENTS = [
    Gradients("frontier", "amd_mi250x", None, 73728, 64e9, 14050, "2022-11"),
    Gradients("fugaku", None, "node", 158976, 32e9, 16004.5, "2020-11", {"a64fx_clock": 2.2 * GHz}),
    Gradients("summit", "nvidia_v100", None, 27648, 16e9, 2925.75, "2018-06"),
    Gradients("sierra", "nvidia_v100", None, 17280, 16e9, 1795.67, "2018-06"),
    Gradients("abci", "nvidia_v100", None, 4352, 16e9, 508.854, "2018-11"),
    Gradients("sequoia", None, "node", 98304, 16e9, 330.373, "2019-06"),
    Gradients("trinity", None, "node", 9408, 128e9, 182.6, "2017-06", {"trinity_nodes": 9408}),
]
PERLMUTTER = Gradients("perlmutter_gpu", "nvidia_a100_40gb", None, 5696, 40e9, 1905.44, "2021-06", PHASE_1)
CORI_GRADIENTS = Gradients("cori_knl", None, "node", 9152, 16e9, 355.442, "2017-11", {"cori_knl_nodes": 9152})


def linpack(run: Linpack) -> float:
    """Pflop/s of a run, by HPL's own count."""
    rows, columns = run.grid
    problem = {"n": run.n, "block": run.block, "ranks": rows * columns, "grid_rows": rows, "swap": "spread_roll"}
    app, machine = aspenpy.load_application("hpl"), aspenpy.load_machine(run.machine)
    prediction = aspenpy.predict(app, machine, socket=run.socket, ranks_on=run.on, set={**problem, **run.settings})
    return (2 / 3 * run.n**3 + 3 / 2 * run.n**2) / prediction.runtime / 1e15


def gradients(run: Gradients) -> float:
    """Tflop/s of a run; a row of the matrix and its coarser grids takes some 450 bytes with the vectors."""
    edge = 8 * int((run.memory / 4 / 450) ** (1 / 3) / 8)
    problem = {"ranks": run.ranks, "local_x": edge, "local_y": edge, "local_z": edge}
    app, machine = aspenpy.load_application("hpcg"), aspenpy.load_machine(run.machine)
    prediction = aspenpy.predict(app, machine, socket=run.socket, ranks_on=run.on, set={**problem, **run.settings})
    return float(aspenpy.count(app, "flops", set=problem)) / prediction.runtime / 1e12


@pytest.mark.parametrize("run", LINPACK, ids=lambda run: run.machine)
def test_linpack(run: Linpack) -> None:
    assert 0.8 <= linpack(run) / run.published <= 1.25


ROME = """
include parts/sockets/amd_epyc_7742.aspen
include parts/interconnects/infiniband_hdr100.aspen
machine rome { node [NODES] rome_node  interconnect [NODES] infiniband_hdr100 }
node rome_node { socket [2] amd_epyc_7742 }
"""


@pytest.mark.parametrize(
    ("nodes", "grid", "published"), [(1000, (25, 40), 3.0886), (5460, (70, 78), 19.334)], ids=["alps", "hawk"]
)
def test_linpack_on_epyc_7742(tmp_path: Path, nodes: int, grid: tuple[int, int], published: float) -> None:
    """Alps and Hawk in the list of November 2020. n fills 80 % of 256 GB a node; one port of 100 Gbit/s a node."""
    (tmp_path / "rome.aspen").write_text(ROME.replace("NODES", str(nodes)), encoding="utf-8")
    run = Linpack(
        str(tmp_path / "rome.aspen"),
        None,
        "node",
        grid,
        192,
        int((0.8 * nodes * 256e9 / 8) ** 0.5),
        published,
        "2020-11",
    )
    assert linpack(run) / published == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("run", GRADIENTS, ids=lambda run: run.machine)
def test_conjugate_gradients(run: Gradients) -> None:
    assert 0.6 <= gradients(run) / run.published <= 1.6


def test_knights_landing_is_too_fast() -> None:
    """A miss, as the page on systems has it: STREAM's triad attains 447 GB/s, reads alone 350 (Xeon Phi 7210,
    Chips and Cheese), with which it is within the bounds."""
    assert 1.5 < gradients(CORI_GRADIENTS) / CORI_GRADIENTS.published < 1.9
    reads = {**CORI_GRADIENTS.settings, "mcdram_7250_attained": 350 / 480}
    assert 1.2 < gradients(CORI_GRADIENTS.replace(settings=reads)) / CORI_GRADIENTS.published < 1.6


def test_a_code_that_computes_columns_is_faster() -> None:
    """The published rate needs 1.3 times the memory's peak at 12 bytes a nonzero: a miss with them, none without."""
    assert 0.5 < gradients(PERLMUTTER) / PERLMUTTER.published < 0.6
    without = {**PHASE_1, "index": 0}
    assert 0.65 < gradients(PERLMUTTER.replace(settings=without)) / PERLMUTTER.published < 0.95


def test_kernels_of_a_long_run_add_up() -> None:
    """24,122 panels, in each of which the slowest resource is told: none of them has to be looked into exactly."""
    run = next(run for run in LINPACK if run.machine == "frontera")
    rows, columns = run.grid
    values = {"n": run.n, "block": run.block, "ranks": rows * columns, "grid_rows": rows, "swap": "spread_roll"}
    app, machine = aspenpy.load_application("hpl"), aspenpy.load_machine("frontera")
    prediction = aspenpy.predict(app, machine, ranks_on="node", set=values)
    assert sum(use.exclusive for use in prediction.kernels) == pytest.approx(prediction.runtime, rel=1e-9)


def test_strong_scaling_of_training(tmp_path: Path) -> None:
    """530 billion parameters on 2240 to 3360 A100, seconds of a step: Smith et al., arXiv 2201.11990, section 3.3
    (recalled). The curve to 5 %, the steps to a quarter."""
    (tmp_path / "dgx.aspen").write_text(DGX_A100, encoding="utf-8")
    app, machine = aspenpy.load_application("allreduce_training"), aspenpy.load_machine(tmp_path / "dgx.aspen")
    network = {"hidden": 20480, "layers": 105, "heads": 128, "sequence": 2048, "vocabulary": 51200}
    spread = {"tensor": 8, "pipeline": 35, "batch": 1920, "micro_batch": 1, "recomputation": "full"}
    published = {2240: 60.1, 2800: 50.2, 3360: 44.4}
    steps = {
        ranks: aspenpy.predict(app, machine, set={**network, **spread, "ranks": ranks}).runtime for ranks in published
    }
    for ranks, seconds in published.items():
        assert steps[ranks] == pytest.approx(seconds, rel=0.25)
        assert steps[2240] / steps[ranks] == pytest.approx(published[2240] / seconds, rel=0.05)


@pytest.mark.parametrize("name", ["eos", "dgx_h100", "dgx_b200", "selene", "juwels_booster", "marenostrum_5_acc"])
def test_messages_of_boards_take_the_links_between_boards(name: str) -> None:
    machine = aspenpy.load_machine(name)
    *_, boards = machine.sockets
    text = "model m { param ranks = 2 kernel main { execute [ranks] { messages [1 MB] as allreduce } } }"
    at = {
        socket: aspenpy.predict(aspenpy.parse(text), machine, socket=socket, bind="socket")
        for socket in machine.sockets
    }
    used = {socket: found.resources["messages"].component for socket, found in at.items()}
    assert used[boards].endswith(f"/{name}_boards")
    assert all("/sockets_" in path for socket, path in used.items() if socket != boards)
