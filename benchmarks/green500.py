"""Green500: power of whole systems under Linpack, as `aspenpy energy --charged machine` predicts it, beside the lists.

    python -m benchmarks.green500 DATA

DATA is a folder with `hardware/green500.csv`, rows of TOP500 and Green500. Systems of the library are run with the
options of models/published/results.csv; those that it lacks are put together here from its sockets, classes of nodes
and networks.
Systems were divided into two halves by a seed before anything was fitted; `HELD_BACK` names one of them.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator, Mapping
from math import isqrt
from pathlib import Path
from statistics import median

import aspenpy
from aspenpy.answers.published import published_results
from aspenpy.record import Record

LIBRARY = (
    "a64fx_prototype", "abci", "cori_knl", "frontier", "fugaku", "gordon", "keeneland_kids", "perlmutter", "sequoia",
    "sierra", "summit", "trinity",
)  # fmt: skip
"""Systems of the library that have a row with a power."""

SEED = 30


class System(Record):
    """How a system that the library lacks runs Linpack: the text of its machine, the socket that computes, cores of a
    node by the list, ranks of a node, equations for a node to the power of one half, and block."""

    machine: str
    cores: int
    equations: float
    socket: str
    ranks: int = 1
    block: int = 384


class Row(Record):
    """Power of a system in kW, as predicted and as published; Linpack in Tflop/s, as predicted and as published."""

    system: str
    date: str
    power: float
    published_power: float
    rate: float
    published_rate: float
    held_back: bool

    @property
    def ratio(self) -> float:
        return self.power / self.published_power


def fill_memory(gigabytes: float) -> float:
    """Equations, for the square root of a number of nodes, whose matrix fills 80 % of so many GB of a node."""
    return float((0.8 * gigabytes * 1e9 / 8) ** 0.5)


ON_LIBRARY = {
    **{name: name for name in LIBRARY}, "frontier_tds": "frontier", "perlmutter": "perlmutter_gpu"
}  # fmt: skip
"""Their machines; how they ran stands in models/published/results.csv."""
RUNS = {(run.machine, round(run.value / 1e3, 1)): run for run in published_results() if run.what == "power"}
"""Runs by machine and kW."""

NETWORKS = {
    "infiniband_edr": "param infiniband_edr_taper = 1\nparam infiniband_edr_rails = 1",
    "infiniband_hdr100": "param infiniband_hdr100_bandwidth = 25 GB/s",
    "slingshot_11": (
        "param slingshot_11_groups = 64\nparam slingshot_11_nodes = 4\n"
        "param slingshot_11_routers = 32\nparam slingshot_11_global_links = 10"
    ),
    "aries": "param aries_groups = 34",
    "tofu_d": "param tofu_d_dimensions[] = {8, 10, 8, 2, 3, 2}",
    "bluegene_q_torus": "param bluegene_q_torus_dimensions[] = {8, 12, 16, 16, 2}",
}


def describe_machine(node: str, network: str, ports: int, **sockets: int) -> str:
    """The text of a system of nodes of a class with so many of each socket, and ports of a network."""
    parts = [f"nodes/{node}", f"interconnects/{network}", *(f"sockets/{name}" for name in sockets)]
    lines = [f"include parts/{part}.aspen" for part in parts]
    lines += [NETWORKS.get(network, ""), "param system_nodes = 1"]
    lines += ["param gpu_baseboard_boards = 8"] if node == "gpu_baseboard" else []
    lines += [f"machine system {{ node [system_nodes] system_node interconnect [{ports}*system_nodes] {network} }}"]
    inside = " ".join(f"socket [{number}] {name}" for name, number in sockets.items())
    return "\n".join([*lines, f"node system_node like {node} {{ {inside} }}", ""])


def compose(
    node: str, network: str, ports: int, cores: int, gigabytes: float, ranks: int = 1, **sockets: int
) -> System:
    """A system that the library lacks: the first socket computes, the others are its hosts. `gigabytes` of a node are
    what its matrix may fill."""
    first = next(iter(sockets))
    block = 384 if ranks > 1 or len(sockets) > 1 else 192
    text = describe_machine(node, network, ports, **sockets)
    return System(text, cores, fill_memory(gigabytes), first, ranks, block)


AIR, LIQUID, BASEBOARD, XC = "air_cooled_server", "liquid_cooled_blade", "gpu_baseboard", "cray_xc_blade"
HDR, EDR, SLINGSHOT = "infiniband_hdr100", "infiniband_edr", "slingshot_11"
A100, A100_80 = "nvidia_a100_40gb", "nvidia_a100_80gb"
COMPOSED = {
    "alex A100 80GB": compose(BASEBOARD, HDR, 2, 992, 640, 8, nvidia_a100_80gb=8, amd_epyc_7763=2),
    "alpha_centauri A100 40GB": compose(BASEBOARD, HDR, 2, 912, 320, 8, nvidia_a100_40gb=8, amd_epyc_7742=2),
    "alps 2020 EPYC 7742": compose(LIQUID, SLINGSHOT, 1, 128, 256, amd_epyc_7742=2),
    "alps GH200": compose(LIQUID, SLINGSHOT, 4, 816, 384, 4, nvidia_gh200=4, nvidia_grace=4),
    "barnard SPR 8470": compose(LIQUID, HDR, 1, 104, 512, intel_xeon_platinum_8470=2),
    "conesus SPR 8480+": compose(AIR, HDR, 1, 112, 512, intel_xeon_platinum_8480plus=2),
    "el_capitan MI300A": compose(LIQUID, SLINGSHOT, 4, 1008, 512, 4, amd_mi300a=4),
    "grete A100 80GB": compose(AIR, HDR, 2, 496, 160, 4, nvidia_a100_40gb=4, amd_epyc_7763=2),
    "hawk EPYC 7742": compose(LIQUID, HDR, 1, 128, 256, amd_epyc_7742=2),
    "isambard_ai_1 GH200": compose(LIQUID, SLINGSHOT, 4, 816, 384, 4, nvidia_gh200=4, nvidia_grace=4),
    "jedi GH200": compose(LIQUID, HDR, 4, 816, 384, 4, nvidia_gh200=4, nvidia_grace=4),
    "juwels_booster A100": compose(LIQUID, HDR, 4, 480, 160, 4, nvidia_a100_40gb=4, amd_epyc_7742=2),
    "juwels_cluster 8168": compose(LIQUID, EDR, 1, 48, 96, intel_xeon_platinum_8180=2),
    "lumi_c EPYC 7763": compose(LIQUID, SLINGSHOT, 1, 128, 256, amd_epyc_7763=2),
    "lumi_g MI250X": compose(LIQUID, SLINGSHOT, 4, 944, 512, 8, amd_mi250x=4, amd_epyc_7a53=1),
    "marconi_100 V100": compose("power_ac922", EDR, 2, 352, 256, 4, nvidia_v100=4, ibm_power9=2),
    "marenostrum5_acc H100": compose(LIQUID, HDR, 4, 592, 256, 4, nvidia_h100=4, intel_xeon_platinum_8480plus=2),
    "marenostrum5_gpp SPR": compose(LIQUID, HDR, 1, 112, 256, intel_xeon_platinum_8480plus=2),
    "mira BG/Q": compose("integrated_node", "bluegene_q_torus", 10, 16, 16, ibm_bluegene_q=1),
    "piz_daint K20x": compose(XC, "aries", 1, 22, 32, nvidia_k20x=1, intel_xeon_e5_2670=1),
    "piz_daint P100": compose(XC, "aries", 1, 68, 16, nvidia_p100=1, intel_xeon_e5_2698_v3=1),
    "selene A100": compose(BASEBOARD, HDR, 8, 992, 640, 8, nvidia_a100_80gb=8, amd_epyc_7742=2),
    "setonix_gpu MI250X": compose(LIQUID, SLINGSHOT, 4, 944, 512, 8, amd_mi250x=4, amd_epyc_7a53=1),
    "shaheen3_cpu EPYC 9654": compose(LIQUID, SLINGSHOT, 1, 192, 384, amd_epyc_9654=2),
    "stampede2 KNL 7250": compose(AIR, HDR, 1, 68, 96, intel_xeon_phi_7250=1),
    "stampede_knl KNL 7250": compose(AIR, HDR, 1, 68, 96, intel_xeon_phi_7250=1),
    "theta KNL 7230": compose(XC, "aries", 1, 64, 192, intel_xeon_phi_7250=1),
    "titan K20x": compose(XC, "aries", 1, 30, 32, nvidia_k20x=1, intel_xeon_e5_2670=1),
    "tuolumne MI300A": compose(LIQUID, SLINGSHOT, 4, 1008, 512, 4, amd_mi300a=4),
    "venado GH200": compose(LIQUID, SLINGSHOT, 4, 816, 384, 4, nvidia_gh200=4, nvidia_grace=4),
    "wisteria_aquarius A100 8360Y": compose(
        BASEBOARD, HDR, 4, 936, 320, 8, nvidia_a100_40gb=8, intel_xeon_platinum_8360y=2
    ),
    "wisteria_odyssey A64FX": compose("integrated_node", "tofu_d", 6, 48, 32, fujitsu_a64fx=1),
}
LEFT_OUT = {
    "abci_2": "two kinds of nodes in one run",
    "amplitude H100 PCIe": "no such socket in the library",
    "crossroads SPR HBM": "no such socket in the library",
    "henri H100 PCIe": "no such socket in the library",
}
MIXED = {("trinity", "2017-11"), ("trinity", "2018-11")}
"""Rows of other nodes than those that the library has: Knights Landing, and both kinds."""


def published(data: Path) -> list[dict[str, str]]:
    """Rows of the lists with a power and a rate."""
    with (data / "hardware" / "green500.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["power_kW"] and row["Rmax_TF"]]
    return [{**row, "system": row["system"].removeprefix("(related) ")} for row in rows]


def held_back(rows: list[dict[str, str]]) -> set[str]:
    """Half of the systems of the library, and half of the others, drawn by the seed."""
    generator = random.Random(SEED)
    others = sorted({row["system"] for row in rows} - {*LIBRARY, "frontier_tds"})
    library = sorted(LIBRARY)
    generator.shuffle(library)
    generator.shuffle(others)
    drawn = {*library[: len(library) // 2], *others[: len(others) // 2]}
    return drawn | ({"frontier_tds"} if "frontier" in drawn else set())


def predict_power(name: str, cores: int) -> tuple[float, float]:
    """Watts under Linpack on so many cores of a system that the library lacks, and its rate in flop/s."""
    system = COMPOSED[name]
    nodes = cores // system.cores
    ranks = nodes * system.ranks
    rows = isqrt(ranks)
    n = int(system.equations * nodes**0.5)
    sizes = {"n": n, "block": system.block, "ranks": rows * (ranks // rows), "grid_rows": rows, "system_nodes": nodes}
    machine = aspenpy.parse(system.machine)
    assert isinstance(machine, aspenpy.Machine)
    bind = None if system.ranks > 1 or system.socket in ACCELERATORS else "node"
    return run_linpack(machine, system.socket, bind, {**sizes, "swap": "spread_roll"})


def run_linpack(
    machine: aspenpy.Machine, socket: str | None, bind: str | None, values: Mapping[str, int | str]
) -> tuple[float, float]:
    """Watts of a machine, and flop/s."""
    options = aspenpy.EnergyOptions(charged="machine")
    app = aspenpy.load_application("hpl")
    energy = aspenpy.energy(app, machine, socket=socket, bind=bind, set=dict(values), options=options)
    n = int(values["n"])
    return energy.power or 0.0, (2 / 3 * n**3 + 3 / 2 * n**2) / energy.capped_runtime


ACCELERATORS = ("nvidia_k20x", "nvidia_p100")
"""Of which a node has one."""


def compare(data: Path, *, halves: tuple[bool, ...] = (False, True)) -> Iterator[Row]:
    """A row for each system and number of cores with a published power, of one half or both."""
    rows = published(data)
    held = held_back(rows)
    seen = set()
    for row in rows:
        name, cores, watts = row["system"], row["cores"], row["power_kW"]
        if name in LEFT_OUT or (name, row["list"]) in MIXED or (name, cores, watts) in seen:
            continue
        seen.add((name, cores, watts))
        if (name in held) not in halves:
            continue
        if name in ON_LIBRARY:
            run = RUNS[ON_LIBRARY[name], round(float(watts), 1)]
            power, rate = run_linpack(aspenpy.load_machine(run.machine), run.socket, run.bind, run.settings)
        else:
            power, rate = predict_power(name, int(cores))
        known = float(watts), float(row["Rmax_TF"])
        yield Row(name, row["list"], power / 1e3, known[0], rate / 1e12, known[1], name in held)


def main(arguments: list[str]) -> None:
    shown = []
    only = arguments[1:]  # `fit`: without what was held back
    for row in compare(Path(arguments[0]), halves=(False,) if only else (False, True)):
        shown.append(row)
        mark = "held back" if row.held_back else ""
        print(
            f"{row.system:30} {row.date}  {row.power:9.1f} {row.published_power:9.1f} {row.ratio:5.2f}"
            f"  {row.rate / row.published_rate:5.2f}  {mark}"
        )
    for kind in (False, True):
        for library in (True, False):
            errors = [
                abs(row.ratio - 1) for row in shown if row.held_back is kind and (row.system in ON_LIBRARY) is library
            ]
            if errors:
                print(kind, library, len(errors), round(median(errors), 3), round(max(errors), 3))


if __name__ == "__main__":
    main(sys.argv[1:])
