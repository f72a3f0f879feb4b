"""Systems of the lists: what HPL and HPCG reach on the library's systems from data sheets, beside TOP500 and HPCG.

    python -m benchmarks.listed_systems DATA

DATA is a folder with `hardware/machines_today.csv`. All systems run with the options of
docs/systems.md: HPL 2.3 with look-ahead of one panel, a nearly square grid, a matrix in 80 % of the memory of what
computes; cubes of HPCG that fill a quarter of it. One rank for each device, or node of processors. Systems are
divided into two halves by a hash of their names, before any was run.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from collections.abc import Iterator, Mapping
from math import isqrt
from pathlib import Path
from statistics import median

import aspenpy
from aspenpy.record import Record


class Listed(Record):
    """How a system of the library ran: its name in the tables, the socket that computes, nodes, ranks of a node, bytes
    of memory of a rank, block, settings, and nodes of HPCG where others ran. Without a socket, a node is a rank."""

    system: str
    socket: str | None
    nodes: int
    ranks: int
    memory: float
    block: int
    settings: Mapping[str, float] = {}
    gradient_nodes: int | None = None


class Reached(Record):
    """What a system reached by the model and by the list, of Linpack (Pflop/s) or HPCG (Tflop/s)."""

    machine: str
    benchmark: str
    model: float
    published: float
    known: str
    held_back: bool

    @property
    def ratio(self) -> float:
        return self.model / self.published


GHz = 1e9
GH200, A100, A100_80 = "nvidia_gh200", "nvidia_a100_40gb", "nvidia_a100_80gb"
SYSTEMS = {
    "titan": Listed("Titan", "nvidia_k20x", 18688, 1, 6e9, 512),
    "piz_daint": Listed("Piz Daint", "nvidia_p100", 5704, 1, 16e9, 512, {"p100_clock": 1.329 * GHz}),
    "taihulight": Listed("Sunway TaihuLight", None, 40960, 1, 32e9, 256),
    "juwels_booster": Listed("JUWELS Booster", A100, 936, 4, 40e9, 384),
    "hawk": Listed("Hawk", None, 5460, 1, 256e9, 192),
    "selene": Listed("NVIDIA Selene", A100_80, 560, 8, 80e9, 384),
    "wisteria": Listed("Wisteria-Odyssey", None, 7680, 1, 32e9, 240, {"a64fx_clock": 2.2 * GHz}),
    "archer2": Listed("ARCHER2", None, 5860, 1, 256e9, 192),
    "lumi_c": Listed("LUMI-C", None, 1536, 1, 256e9, 192),
    "lumi_g": Listed("LUMI-G", "amd_mi250x", 2916, 8, 64e9, 512, {"mi250x_clock": 1.6 * GHz}),
    "leonardo": Listed("Leonardo Booster", "nvidia_a100_64gb", 3456, 4, 64e9, 384),
    "polaris": Listed("Polaris", A100, 560, 4, 40e9, 384),
    # 87 % of the nodes, and 39 % of 10,624 in HPCG: Argonne, of the lists of June 2024
    "aurora": Listed("Aurora", "intel_max_1550", 9234, 6, 128e9, 384, gradient_nodes=4143),
    # 485,888 cores of the list (recalled) over 2 x 56 + 8 x 132 of a node
    "eos": Listed("NVIDIA Eos", "nvidia_h100", 416, 8, 80e9, 512),
    "marenostrum_5_acc": Listed("MareNostrum 5 ACC", "nvidia_h100_64gb", 1120, 4, 64e9, 512),
    "marenostrum_5_gpp": Listed("MareNostrum 5 GPP", None, 6408, 1, 256e9, 384),
    "alps": Listed("Alps", GH200, 2600, 4, 96e9, 512),
    "vista": Listed("Vista", GH200, 600, 1, 96e9, 512),
    "el_capitan": Listed("El Capitan", "amd_mi300a", 11136, 4, 128e9, 512),
    "isambard_ai": Listed("Isambard-AI", GH200, 1260, 4, 96e9, 512),
    "jupiter": Listed("JUPITER Booster", GH200, 5884, 4, 96e9, 512),
}


def is_held_back(name: str) -> bool:
    """Whether the system of a name belongs to the half that is not looked at."""
    return hashlib.sha256(name.removeprefix("NVIDIA ").encode()).digest()[0] % 2 == 1


def published(data: Path) -> dict[tuple[str, str], tuple[float, str]]:
    """R_max and HPCG in Pflop/s by system, with how each is known."""
    found = {}
    with (data / "hardware" / "machines_today.csv").open() as file:
        for row in csv.DictReader(file):
            if row["quantity"] in ("rmax", "hpcg"):
                found[row["machine"], row["quantity"]] = float(row["value"]), row["kind"]
    return found


def grid_rows(ranks: int) -> int:
    """The smaller of the two nearest factors of a number of ranks."""
    return next(rows for rows in range(isqrt(ranks), 0, -1) if ranks % rows == 0)


def run_linpack(name: str, run: Listed) -> float:
    """Pflop/s of HPL, by its own count."""
    ranks = run.nodes * run.ranks
    order = int((0.8 * ranks * run.memory / 8) ** 0.5)
    problem = {"n": order, "block": run.block, "ranks": ranks, "grid_rows": grid_rows(ranks)}
    found = predict(name, run, "hpl", {**problem, **run.settings})
    return (2 / 3 * order**3 + 3 / 2 * order**2) / found / 1e15


def run_gradients(name: str, run: Listed) -> float:
    """Pflop/s of HPCG; a row of the matrix takes some 450 bytes with the vectors and its coarser grids."""
    edge = 8 * int((run.memory / 4 / 450) ** (1 / 3) / 8)
    problem = {
        "ranks": (run.gradient_nodes or run.nodes) * run.ranks,
        "local_x": edge,
        "local_y": edge,
        "local_z": edge,
    }
    found = predict(name, run, "hpcg", {**problem, **run.settings})
    return float(aspenpy.count(aspenpy.load_application("hpcg"), "flops", set=problem)) / found / 1e15


def predict(name: str, run: Listed, application: str, values: Mapping[str, float]) -> float:
    """Seconds of an application on as many nodes as were listed."""
    machine = aspenpy.load_machine(name)
    app = aspenpy.load_application(application)
    bind = None if run.socket else "node"
    return aspenpy.predict(app, machine, socket=run.socket, bind=bind, set=dict(values)).runtime


def compare(data: Path) -> Iterator[Reached]:
    """A row for each system and benchmark with a published value."""
    known = published(data)
    for name, run in SYSTEMS.items():
        for benchmark, runner in (("rmax", run_linpack), ("hpcg", run_gradients)):
            if (run.system, benchmark) in known:
                value, standing = known[run.system, benchmark]
                yield Reached(name, benchmark, runner(name, run), value, standing, is_held_back(run.system))


def summarise(rows: list[Reached], benchmark: str, held_back: bool) -> str:
    """The median and the worst factor by which the rows of a half are off."""
    off = {row.machine: max(row.ratio, 1 / row.ratio) for row in rows if row.benchmark == benchmark}
    chosen = {row.machine for row in rows if row.held_back == held_back}
    factors = {name: factor for name, factor in off.items() if name in chosen}
    if not factors:
        return "none"
    worst = max(factors, key=lambda name: factors[name])
    return f"{len(factors)} systems, median {median(factors.values()):.2f}, worst {factors[worst]:.2f} ({worst})"


def write_table(rows: list[Reached]) -> Iterator[str]:
    """The rows as a table of a page, the worst of each benchmark first."""
    yield "| system | benchmark | predicted | published | ratio | known | half |"
    yield "|---|---|---:|---:|---:|---|---|"
    for row in sort_by_error(rows):
        name = {"rmax": "Linpack", "hpcg": "HPCG"}[row.benchmark]
        numbers = f"{row.model:.4g} | {row.published:.4g} | {row.ratio:.2f}"
        yield f"| `{row.machine}` | {name} | {numbers} | {row.known} | {'held back' if row.held_back else 'seen'} |"


def sort_by_error(rows: list[Reached]) -> list[Reached]:
    """Linpack before HPCG, and the worst first."""
    return sorted(rows, key=lambda row: (row.benchmark != "rmax", -max(row.ratio, 1 / row.ratio)))


def main(data: Path, halves: tuple[bool, ...]) -> None:
    rows = [row for row in compare(data) if row.held_back in halves]
    print(f"{'system':20} {'':6} {'model':>9} {'listed':>9} {'ratio':>6}  known      half, in Pflop/s")
    for row in sort_by_error(rows):
        half = "held back" if row.held_back else "seen"
        numbers = f"{row.model:9.4g} {row.published:9.4g} {row.ratio:6.2f}"
        print(f"{row.machine:20} {row.benchmark:6} {numbers}  {row.known:9}  {half}")
    for benchmark in ("rmax", "hpcg"):
        for held_back in halves:
            half = "held back" if held_back else "seen"
            print(f"{benchmark}, {half}: {summarise(rows, benchmark, held_back)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), (False,) if "--seen" in sys.argv else (False, True))
