"""Kernels by class that the pricing was not made with, as `gcc -O3` compiles them: `python -m benchmarks.real.classes`.

Their models were written from the source and the pages before any of them was timed. Half of them, by a hash of the
name, were timed when all work was done: `--held-back`. Others use the machine, so that each time is the least of many
short runs, spread over minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import aspenpy
from aspenpy.engine.shared_object import find_compiler
from aspenpy.probe.benchmark import compile_program, find_caches, run_benchmarks
from aspenpy.probe.probe import build_machine
from aspenpy.probe.topology import read_topology
from aspenpy.tables.pages import render_text
from benchmarks.real.kernels import Kernel, Size, bytes_of, grids, power, vectors
from benchmarks.real.programs import BUILD, CLASSES, compiled, printed
from benchmarks.real.validate import FAR, TOLERANCE, Case, report, row

IN_CACHES = ("L1", "L2", "L3")
OF_REGISTERS = ("L1",)
"""Kernels that hardly touch data."""

EVERYWHERE = (*IN_CACHES, "memory")


def of_bytes(count: float, multiple: int = 64, m: int = 0) -> Callable[[int], Size]:
    """So many bytes of data for each of n."""
    return lambda data: Size(max(multiple, int(data / count) // multiple * multiple), m)


def cubes(data: int) -> Size:
    return Size(max(4, round((data / 16) ** (1 / 3)) - 2))


def float_grids(data: int) -> Size:
    return Size(max(4, (round((data / 8) ** 0.5) - 2) // 4 * 4))


def powers_of_16(data: int) -> Size:
    keys = 16
    while keys * 16 <= data:
        keys *= 16
    return Size(keys, 512)


KERNELS = (
    Kernel("running_max", vectors(2), levels=IN_CACHES),
    Kernel("int_scan", of_bytes(8), levels=IN_CACHES),
    Kernel("histogram2d", of_bytes(2), levels=IN_CACHES),
    Kernel("weights", of_bytes(12), levels=IN_CACHES),
    Kernel("insertion", of_bytes(8), levels=IN_CACHES),
    Kernel("bitonic", of_bytes(4), levels=IN_CACHES),
    Kernel("radix_pass", of_bytes(8), levels=IN_CACHES),
    Kernel("lines", of_bytes(1), levels=EVERYWHERE),
    Kernel("words", of_bytes(1), levels=IN_CACHES),
    Kernel("agree", of_bytes(2), levels=IN_CACHES),
    Kernel("butterflies", of_bytes(20, 256), levels=IN_CACHES),
    Kernel("reversal", lambda data: Size(power(data / 20)), levels=IN_CACHES),
    Kernel("int8_matvec", of_bytes(516, 4), levels=IN_CACHES),
    Kernel("int8_filter", of_bytes(5), levels=IN_CACHES),
    Kernel("polynomial", vectors(2), levels=IN_CACHES),
    Kernel("quotient", vectors(2), levels=IN_CACHES),
    Kernel("mandelbrot", of_bytes(20), levels=("L1", "L2")),
    Kernel("collatz", of_bytes(4), levels=OF_REGISTERS),
    Kernel("particles_aos", of_bytes(64), levels=IN_CACHES),
    Kernel("particles_soa", of_bytes(48), levels=IN_CACHES),
    Kernel("box9", float_grids, levels=EVERYWHERE),
    Kernel("box27", cubes, levels=IN_CACHES),
    Kernel("sgemv_rows", of_bytes(1028, 4), levels=IN_CACHES),
    Kernel("sgemv_columns", of_bytes(1028, 4), levels=IN_CACHES),
    Kernel("copy", vectors(2), levels=EVERYWHERE),
    Kernel("unzip", of_bytes(24), levels=IN_CACHES),
    Kernel("jacobi", grids(2, 2), levels=IN_CACHES),
    Kernel("cg", vectors(4), levels=IN_CACHES),
    Kernel("solve_random", of_bytes(112), levels=IN_CACHES),
    Kernel("solve_band", vectors(4), levels=IN_CACHES),
    Kernel("list_sum", of_bytes(32), levels=EVERYWHERE),
    Kernel("heap_search", lambda data: Size(power(data / 8), 512), levels=IN_CACHES),
    Kernel("wide_tree", powers_of_16, levels=IN_CACHES),
)


LATER = (
    Kernel("prefix_floats", of_bytes(8), levels=IN_CACHES),
    Kernel("byte_counts", of_bytes(1), levels=IN_CACHES),
    Kernel("compact", of_bytes(8), levels=IN_CACHES),
    Kernel("radix4", of_bytes(16, 256), levels=IN_CACHES),
    Kernel("count_letter", of_bytes(1), levels=IN_CACHES),
    Kernel("differences", of_bytes(2), levels=IN_CACHES),
    Kernel("horner_floats", of_bytes(8), levels=IN_CACHES),
    Kernel("energies", of_bytes(32), levels=IN_CACHES),
    Kernel("box25", float_grids, levels=IN_CACHES),
    Kernel("solve_rows", of_bytes(32), levels=IN_CACHES),
    Kernel("eight_lists", of_bytes(64), levels=IN_CACHES),
    Kernel("key_tree", lambda data: Size(power(data / 32), 4096), levels=IN_CACHES),
)
"""Written when the others had been looked at."""

FRESH = (
    Kernel("segment_sums", of_bytes(24), levels=IN_CACHES),
    Kernel("float_bins", of_bytes(4), levels=IN_CACHES),
    Kernel("merge_ints", of_bytes(8), levels=IN_CACHES),
    Kernel("complex_stage", of_bytes(24), levels=IN_CACHES),
    Kernel("upper_case", of_bytes(2), levels=IN_CACHES),
    Kernel("int8_axpy", of_bytes(5), levels=IN_CACHES),
    Kernel("clenshaw", vectors(2), levels=IN_CACHES),
    Kernel("drift", of_bytes(64), levels=IN_CACHES),
    Kernel("laplace9", grids(2, 2), levels=IN_CACHES),
    Kernel("solve_near", of_bytes(64), levels=IN_CACHES),
    Kernel("chunks", of_bytes(256), levels=IN_CACHES),
    Kernel("rank_one", of_bytes(1028, 4), levels=IN_CACHES),
)
"""Written behind those, and looked at themselves."""

LAST = (
    Kernel("begins", of_bytes(5), levels=IN_CACHES),
    Kernel("colours", of_bytes(3), levels=IN_CACHES),
    Kernel("halves", of_bytes(8), levels=IN_CACHES),
    Kernel("pairs", vectors(2), levels=IN_CACHES),
    Kernel("alike", of_bytes(1), levels=IN_CACHES),
    Kernel("int8_rows", of_bytes(260, 4), levels=IN_CACHES),
    Kernel("rational", of_bytes(8), levels=IN_CACHES),
    Kernel("kick", of_bytes(28), levels=IN_CACHES),
    Kernel("interest", of_bytes(64), levels=IN_CACHES),
    Kernel("trie", lambda data: Size(power(data / 8), 4096), levels=IN_CACHES),
    Kernel("newton", vectors(2), levels=IN_CACHES),
    Kernel("power_method", vectors(3), levels=IN_CACHES),
)
"""Held back from those: timed when they were finished, and looked at afterwards."""

AGAIN = (
    Kernel("forgetting", vectors(2), levels=IN_CACHES),
    Kernel("digits", of_bytes(4), levels=IN_CACHES),
    Kernel("exchange", of_bytes(4), levels=IN_CACHES),
    Kernel("text_hash", of_bytes(1), levels=IN_CACHES),
    Kernel("brighter", of_bytes(3), levels=IN_CACHES),
    Kernel("kinetic", of_bytes(12), levels=IN_CACHES),
    Kernel("blur5", of_bytes(8), levels=IN_CACHES),
    Kernel("columns", lambda data: Size(round((data / 8) ** 0.5)), levels=IN_CACHES),
    Kernel("two_lists", of_bytes(64), levels=IN_CACHES),
    Kernel("add_columns", of_bytes(2052, 4), levels=IN_CACHES),
    Kernel("backwards", vectors(2), levels=IN_CACHES),
    Kernel("richardson", vectors(3), levels=IN_CACHES),
)
"""Held back from all others: timed once, when models and pricing were finished."""


def is_held_back(name: str) -> bool:
    return bool(hashlib.sha256(name.encode()).digest()[0] & 1)


def all_cases(part: str) -> list[Case]:
    """Kernels of one of the three parts, at each of their levels."""
    found = find_caches(read_topology())
    halves = [kernel for kernel in KERNELS if is_held_back(kernel.name) is (part == "held_back")]
    kernels = {"later": LATER, "fresh": FRESH, "last": LAST, "again": AGAIN}.get(part, halves)
    return [
        Case(kernel, level, kernel.size(bytes_of(level, found)), 1) for kernel in kernels for level in kernel.levels
    ]


def timed(case: Case, seconds: float, folder: Path = BUILD) -> float:
    """The least seconds of a run; fails where its result is wrong."""
    words = case.kernel.name, case.size.n, case.size.m, case.cores, seconds
    spent, wrong = map(float, printed(compiled(folder, program=CLASSES), *words).split())
    if not wrong <= TOLERANCE:
        raise ArithmeticError(f"{case.kernel.name} with n = {case.size.n} is wrong by {wrong}")
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-back", action="store_const", dest="part", const="held_back", help="the half left out")
    parser.add_argument("--later", action="store_const", dest="part", const="later", help="those written afterwards")
    parser.add_argument("--fresh", action="store_const", dest="part", const="fresh", help="those after them")
    parser.add_argument("--last", action="store_const", dest="part", const="last", help="those held back from these")
    parser.add_argument("--again", action="store_const", dest="part", const="again", help="those held back from all")
    parser.add_argument("--rounds", type=int, default=20, help="over all kernels (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.01, help="of a kernel in a round (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="compare with what was measured last")
    options = parser.parse_args()
    part = options.part or "seen"
    cases = all_cases(part)
    kept = BUILD / f"classes_{part}.json"
    if not options.keep:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(measure(cases, options.rounds, options.seconds)), encoding="utf-8")
    readings, times = json.loads(kept.read_text(encoding="utf-8"))
    machine = aspenpy.parse(build_machine("here", read_topology(), readings).text)
    assert isinstance(machine, aspenpy.Machine)
    rows = [row(case, times[case.name], machine) for case in cases]
    print(render_text(report(rows).page))
    factors = [one.factor for one in rows if one.case.level != "memory"]
    near = sum(factor <= FAR for factor in factors)
    print(f"in caches: median {statistics.median(factors):.2f}, {near} of {len(factors)} within {FAR - 1:.0%}")
    return 0


def measure(cases: list[Case], rounds: int, seconds: float) -> tuple[list[dict[str, float]], dict[str, list[float]]]:
    """Readings of the machine and times of the cases, in turn."""
    readings, times = list[dict[str, float]](), dict[str, list[float]]()
    for number in range(rounds):
        if number % 5 == 0:
            with compile_program(find_compiler() or "gcc") as target:
                readings += run_benchmarks(target, read_topology())
        for case in cases:
            times.setdefault(case.name, []).append(timed(case, seconds))
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return readings, times


if __name__ == "__main__":
    raise SystemExit(main())
