"""Writes the small measurements in `models/measurements`, which the examples of `aspenpy empirical` run on: nobody
measured them, they follow the laws stated here.

    python -m benchmarks.example_measurements

cos_example            two codes, 2 to 8 threads, four clocks: T = c I/(t f) + k V (1 + t/16), of which 30 % of the
                       memory's time is hidden behind computation at the lowest clock
leading_loads_example  five programs on the interval simulator (benchmarks.interval_core)
acee_example           five codes on two devices: P = idle + per thread + per GB/s + per Gflop/s, and 1 % noise
power_aware_example    LU of Ge and Cameron (2007), Tables 5 and 6, with an overhead of 4 s times log2 N;
                       10 W and 20 W V^2 f (Table 2) a processor
cos_trace_example      a code at three clocks: 12 steps of computation, an access of 1 us after each second step up to
                       the eighth, one after the other, and the last step needs them all
bandwidth_example      twelve loops at three memory clocks: the slower of computing and memory, a quarter of the other
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aspenpy.learn.estimators.speedup import PERFECT, ParallelWork, PowerAware, relative_power
from benchmarks.interval_core import Instruction, IntervalCore

FOLDER = Path(__file__).parents[1] / "models" / "measurements"
Rows = Iterator[dict[str, Any]]


def cos() -> Rows:
    for code, instructions, volume in (("stencil", 4e11, 3e11), ("particles", 9e11, 6e10)):
        for threads in (2, 4, 6, 8):
            memory = volume / 20e9 * (1 + threads / 16) / math.sqrt(threads)
            for clock in (1.2, 1.6, 2.0, 2.4):
                compute = 0.5 * instructions / (threads * clock * 1e9)
                hidden = 0.3 * min(memory, compute)
                yield {
                    "application": code,
                    "threads": threads,
                    "core_frequency [GHz]": clock,
                    "runtime [s]": compute + memory - hidden,
                    "stall_time [s]": memory - hidden,
                    "instructions": instructions,
                    "llc_misses": volume / 64,
                }


def program(misses: float, chained: float, seed: int) -> list[Instruction]:
    """4,000 instructions, of which a part misses, each of those waiting for the last one with some probability."""
    draw, last, made = random.Random(seed), None, []
    for place in range(4000):
        if draw.random() < misses:
            waits = place - last if last is not None and draw.random() < chained else 0
            made.append(Instruction(True, waits))
            last = place
        else:
            near = last is not None and place - last < 100 and draw.random() < 0.05
            made.append(Instruction(False, place - (last or 0) if near else min(place, draw.choice((0, 0, 1)))))
    return made


def leading_loads() -> Rows:
    cases = {
        "compute": (0.001, 0.5),
        "chase": (0.02, 1.0),
        "stream": (0.04, 0.0),
        "mixed": (0.01, 0.5),
        "graph": (0.02, 0.7),
    }
    for number, (name, (misses, chained)) in enumerate(cases.items()):
        for clock in (2.8e9, 2.4e9, 2.0e9, 1.4e9):
            counters = IntervalCore().run(program(misses, chained, number), clock)
            yield {
                "application": name,
                "core_frequency [GHz]": clock / 1e9,
                "runtime [us]": 1e6 * counters["runtime"],
            } | {key: value for key, value in counters.items() if key not in ("core_frequency", "runtime")}


def acee() -> Rows:
    draw = random.Random(7)
    devices = {"cpu": (60.0, 3.0, 0.25, 0.02, 1.0), "gpu": (55.0, 0.1, 0.12, 0.012, 0.22)}
    codes = {"fft": (40, 90), "md": (300, 15), "matmul": (600, 8), "jacobi": (25, 110), "hydro": (120, 60)}
    for device, (idle, per_thread, per_byte, per_flop, scale) in devices.items():
        for code, (flops, bandwidth) in codes.items():
            for size in (1, 2, 4):
                for threads in (4, 8, 16):
                    part = threads / 16
                    rate, traffic = flops * part, bandwidth * min(1.0, 2 * part)
                    power = idle + per_thread * threads + per_byte * traffic + per_flop * rate
                    runtime = 40 * size / part * scale * draw.gauss(1, 0.01)
                    yield {
                        "application": code,
                        "input": size,
                        "device": device,
                        "threads": threads,
                        "runtime [s]": runtime,
                        "energy [J]": power * runtime * draw.gauss(1, 0.01),
                        "flop_rate [Gflop/s]": rate,
                        "memory_bandwidth [GB/s]": traffic,
                        "branch_misses": draw.random() * 1e9,
                        "cores_in_node": 16,
                    }


def power_aware() -> Rows:
    # Instructions by the level that serves them, of 328.68e9 in all, 183.68e9 accesses, 8.68e9 and 3.97e9 misses.
    counts = {"registers": 145e9, "l1": 175e9, "l2": 4.71e9, "memory": 3.97e9}
    for megahertz, on, off, volts in (
        (600, 3.65, 140, 0.956),
        (800, 2.74, 140, 1.180),
        (1000, 2.19, 110, 1.308),
        (1200, 1.83, 110, 1.436),
        (1400, 1.56, 110, 1.484),
    ):
        on_chip = (counts["registers"] + counts["l1"] + counts["l2"]) * on * 1e-9
        work = ParallelWork(PERFECT, on_chip, counts["memory"] * off * 1e-9)
        workload = PowerAware(megahertz * 1e6, (work,))
        for processors in (1, 2, 4, 8, 16):
            time = workload.time(processors, megahertz * 1e6) + 4 * math.log2(processors)
            watts = processors * (10 + 20 * relative_power(volts, megahertz, 1.484, 1400))
            yield {
                "application": "lu", "threads": processors, "core_frequency [MHz]": megahertz, "runtime [s]": time,
                "power [W]": watts,
            }  # fmt: skip


def bandwidth() -> Rows:
    draw = random.Random(3)
    for number in range(12):
        loads, stores, flops = draw.uniform(0.1, 0.4), draw.uniform(0.02, 0.15), draw.uniform(0.05, 0.6)
        missing = draw.uniform(0.0, 0.05)
        counted = {
            "d1m": 0.9 * (loads + stores), "d2m": 0.06 * (loads + stores), "d3m": 0.04 * (loads + stores),
            "dmm": missing,
            "loads": loads, "stores": stores, "int_ops": draw.uniform(0.1, 0.3), "branch_ops": draw.uniform(0.02, 0.1),
            "fprat": flops / (loads + stores), "fops_ins": flops,
            "int_dud": draw.uniform(1, 6), "fp_dud": draw.uniform(1, 9),
        }  # fmt: skip
        for clock in (666.5, 533.5, 400.0):
            compute, memory = 0.35, 64 * missing / (2 * clock * 1e6 * 16 / 16e9)
            time = max(compute, memory) + 0.25 * min(compute, memory)
            yield {"application": f"loop{number}", "memory_frequency [MHz]": clock, "runtime [s]": time} | counted


def cos_trace() -> Rows:
    for gigahertz in (1.0, 2.0, 4.0):
        step, free = 1 / gigahertz, 0.0
        busy: list[list[float]] = []
        for place in (2, 4, 6, 8):
            begin = max(place * step, free)
            free = begin + 1.0
            if busy and busy[-1][1] == begin:
                busy[-1][1] = free
            else:
                busy.append([begin, free])
        first, last = 11 * step, max(11 * step, free)
        core = [[0.0, 12 * step]] if first == last else [[0.0, first], [last, last + step]]
        for name, intervals in (("core", core), ("memory", busy)):
            for begin, end in intervals:
                yield {"core_frequency [GHz]": gigahertz, "busy": name, "begin [us]": begin, "end [us]": end}


EXAMPLES = {
    "cos_trace_example": cos_trace,
    "cos_example": cos,
    "leading_loads_example": leading_loads,
    "acee_example": acee,
    "power_aware_example": power_aware,
    "bandwidth_example": bandwidth,
}


def text_of(name: str) -> list[list[str]]:
    """The lines of an example, numbers to six digits."""
    rows = list(EXAMPLES[name]())
    cells = [[f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
    return [list(rows[0]), *cells]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in EXAMPLES:
        with open(FOLDER / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(text_of(name))


if __name__ == "__main__":
    main()
