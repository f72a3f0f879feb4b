"""Clock advice: the clock that `aspenpy energy --least` names for measured kernels, and what following it costs.

    python -m benchmarks.clock_advice DATA

DATA is a folder with `lulesh_icelake_kernels.csv` (LULESH-AD, RRZE), `gpu_dvfs_gtx1080ti.csv` (HKBU-HPML) and
`hardware/gpu_power.csv`. Kernels are drawn into two halves by a seed: rules were chosen with one in view, the other was
looked at afterwards. A kernel's model knows one measured run: its bytes, and the cycles of its cores.
"""

from __future__ import annotations

import csv
import random
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.answers.energy.optimum import optimum
from aspenpy.answers.prediction import predict
from aspenpy.record import Record

SEED = 30
THREADS = (1, 9, 18)  # of the kernels of LULESH on one NUMA domain of a Platinum 8360Y


class Advice(Record):
    """A workload's measured best clock and the one that is named (Hz), and what the latter costs: energy, and its
    product with time, over the least that was measured."""

    workload: str
    half: str
    best: float
    named: float
    energy: float
    product: float


class Run(Record):
    """Measured seconds and joules at a clock (Hz)."""

    clock: float
    seconds: float
    joules: float


def draw_half(names: Iterable[str]) -> set[str]:
    """The half of the names that rules may be chosen by."""
    drawn = sorted(set(names))
    random.Random(SEED).shuffle(drawn)
    return set(drawn[: len(drawn) // 2])


def judge(workload: str, half: str, runs: Sequence[Run], named: float) -> Advice:
    """What the run at the measured clock nearest to the named one costs."""
    best = min(runs, key=lambda run: run.joules)
    product = min(run.joules * run.seconds for run in runs)
    followed = min(runs, key=lambda run: abs(run.clock - named))
    lost = followed.joules / best.joules - 1
    return Advice(workload, half, best.clock, named, lost, followed.joules * followed.seconds / product - 1)


def name_clock(text: str, machine: str, parameter: str, runs: Sequence[Run], settings: Mapping[str, object]) -> float:
    """The clock at which the energy of a model is least, between the measured ends."""
    case = Case(aspenpy.parse(text), aspenpy.load_machine(machine)).with_set(settings)  # type: ignore[arg-type]
    ends = [run.clock for run in runs]
    return optimum(predict(case), parameter, min(ends), max(ends)).at


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# -- processors ----------------------------------------------------------------------------------------------------


def advise_ice_lake(data: Path, several: Sequence[int] = THREADS) -> list[Advice]:
    """LULESH's kernels: cycles of one thread at 1 GHz, where memory hardly counts, and the bytes of all of it."""
    rows = _rows(data / "lulesh_icelake_kernels.csv")
    for row in rows:
        row["region"] = row["region"].strip()
    fitted = draw_half(row["region"] for row in rows)
    found = []
    for region in sorted({row["region"] for row in rows}):
        own = [row for row in rows if row["region"] == region]
        alone = min((row for row in own if row["threads"] == "1"), key=lambda row: float(row["clock_MHz"]))
        for threads in several:
            at = [row for row in own if int(row["threads"]) == threads]
            runs = [
                Run(
                    1e6 * float(row["clock_MHz"]),
                    float(row["runtime_s"]),
                    (float(row["P_pkg_W"]) + float(row["P_dram_W"])) * float(row["runtime_s"]),
                )
                for row in at
            ]
            cycles = float(alone["runtime_s"]) * float(alone["clock_MHz"]) * 1e6
            loads = 1e9 * float(alone["mem_GB"])
            text = (
                f"model kernels {{ kernel main {{ execute [{threads}] "
                f"{{ chain [{int(cycles / threads)}] loads [{int(loads / threads)}] }} }} }}"
            )
            half = {"ddr4_3200_ice_lake_bandwidth": 102_400_000_000}  # four channels, as of one domain
            named = name_clock(text, "xeon_platinum_8360y", "platinum_8360y_clock", runs, half)
            found.append(judge(f"{region}, {threads}", "fitted" if region in fitted else "held back", runs, named))
    return found


# -- accelerators --------------------------------------------------------------------------------------------------

A100 = {"stream": "loads [8e9/108]  stores [4e9/108]", "pi": "flops [64e9/108] as sp, simd, fmad"}


def advise_a100(data: Path) -> list[Advice]:
    """BabelStream and a computation of pi on an A100 (PCIe, 80 GB), without a power cap in reach."""
    found = []
    for name, body in A100.items():
        runs = []
        for row in _rows(data / "hardware" / "gpu_power.csv"):
            words, title = row["workload"], {"stream": "babelstream", "pi": "pi-solver"}[name]
            if row["device"] != "A100_PCIe_80GB" or not words.startswith(title) or "cap 300 W" not in words:
                continue
            number, unit = re.search(r", ([\d.]+) (s|GB/s)", words).groups()  # type: ignore[union-attr]
            seconds = float(number) if unit == "s" else 1000 / float(number)
            runs.append(Run(1e6 * float(row["clock_MHz"]), seconds, seconds * float(row["power_W"])))
        text = f"model a {{ kernel main {{ execute [108] {{ {body} }} }} }}"
        named = name_clock(text, "a100_80gb", "a100_80gb_clock", runs, {})
        found.append(judge(f"A100: {name}", "fitted", runs, named))
    return found


GTX = """
param board_clock = 1.6 GHz in 1.6 GHz .. 2 GHz
machine board_alone {{ socket board }}
socket board {{
  core [28] multiprocessor
  memory gddr
  property idle_power [{constant} W]
  property active_core_power [{switched} W/28*voltage^2*board_clock/(1.6 GHz)]
  property voltage [1]  // its clock was offset, at one voltage
  property voltage_curve [measured]
  property energy_per_byte [{byte} nJ/B]
  property energy_per_flop [{instruction} nJ/flop]
}}
core multiprocessor {{
  property clock [board_clock]
  resource chain(n) [n/clock]
  resource flops(n) [n/(1e18*1 flop/s)]
}}
memory gddr {{ resource loads(volume) [volume/(401 GB/s)] }}
"""
BOUND = 0.75  # of the peak of its memory: kernels that draw more are bound by it


def advise_gtx(data: Path) -> list[Advice]:
    """Kernels of CUDA's and Rodinia's samples on a GTX 1080 Ti, 1.6 to 2 GHz. Its four constants are fitted to one half
    at the lowest clock and the highest; a kernel's model knows its run at 1.6 GHz: bytes, instructions, seconds."""
    import numpy

    rows = [row for row in _rows(data / "gpu_dvfs_gtx1080ti.csv") if row["memF"] == "5500"]
    fitted = draw_half(row["appName"] for row in rows)
    known = [row for row in rows if row["appName"] in fitted and row["coreF"] in ("1600", "2000")]
    columns = []
    for row in known:
        loads, instructions = _rates(row)
        columns.append((1.0, float(row["coreF"]) / 1600, loads / 1e9, instructions / 1e9))
    watts = numpy.array([float(row["power/W"]) for row in known])
    constants, *_ = numpy.linalg.lstsq(numpy.array(columns) / watts[:, None], numpy.ones(len(watts)), rcond=None)
    names = ("constant", "switched", "byte", "instruction")
    machine = aspenpy.parse(GTX.format(**{name: max(0.0, float(x)) for name, x in zip(names, constants, strict=True)}))
    found = []
    for name in sorted({row["appName"] for row in rows}):
        own = {row["coreF"]: row for row in rows if row["appName"] == name}
        runs = [
            Run(1e6 * float(clock), float(row["time/ms"]), float(row["time/ms"]) * float(row["power/W"]))
            for clock, row in own.items()
        ]
        loads, instructions = _rates(own["1600"])
        seconds = float(own["1600"]["time/ms"]) / 1e3
        chain = 0 if loads > BOUND * 484e9 else int(1.6e9 * seconds)
        body = f"chain [{chain}] loads [{int(loads * seconds / 28)}] flops [{int(instructions * seconds / 28)}]"
        case = Case(aspenpy.parse(f"model a {{ kernel main {{ execute [28] {{ {body} }} }} }}"), machine)
        named = optimum(predict(case), "board_clock", 1.6e9, 2e9).at
        found.append(judge(f"GTX 1080 Ti: {name}", "fitted" if name in fitted else "held back", runs, named))
    return found


def _rates(row: Mapping[str, str]) -> tuple[float, float]:
    """Bytes and warp instructions in a second."""
    seconds = float(row["time/ms"]) / 1e3
    bytes_moved = 32 * (float(row["dram_read_transactions"]) + float(row["dram_write_transactions"]))
    return bytes_moved / seconds, float(row["inst_executed"]) / seconds


COMPUTES: dict[str, Callable[[Path], list[Advice]]] = {
    "Platinum 8360Y": advise_ice_lake,
    "A100": advise_a100,
    "GTX 1080 Ti": advise_gtx,
}


def main() -> None:
    data = Path(sys.argv[1])
    for name, compute in COMPUTES.items():
        advice = compute(data)
        for one in sorted(advice, key=lambda each: (each.half, each.energy)):
            clocks = f"best {one.best / 1e9:.2f} GHz, named {one.named / 1e9:.2f} GHz"
            print(f"{one.half:10} {one.workload:36} {clocks}  {one.energy:6.1%} {one.product:6.1%}")
        for half in ("fitted", "held back"):
            some = [one for one in advice if one.half == half]
            if some:
                print(
                    f"{name}, {half}: {len(some)} rows, energy {mean(one.energy for one in some):.1%} more on average,"
                    f" {max(one.energy for one in some):.1%} at most, EDP {mean(one.product for one in some):.1%}"
                )


if __name__ == "__main__":
    main()
