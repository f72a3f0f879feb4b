"""Predictions of C kernels on this computer against their times: `make validate`.

Measures the machine, writes a model of it into `build/validate/here.aspen`, times each kernel at sizes for each level
of the memory hierarchy on one core and on all, and prints predicted over measured. Each core has a problem of its own;
data were touched before (warm); a time is the least of many runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import aspenpy
from aspenpy.engine.shared_object import find_compiler
from aspenpy.probe.benchmark import compile_program, find_caches, run_benchmarks
from aspenpy.probe.probe import build_machine
from aspenpy.probe.topology import read_topology
from aspenpy.tables.pages import render_text
from aspenpy.tables.table import Column, Report, Table, make_table
from benchmarks.real.kernels import KERNELS, Kernel, Size, bytes_of
from benchmarks.real.programs import BUILD, compiled, printed

TOLERANCE = 1e-12
"""The largest relative error of a kernel's result."""

SHORT = 4
"""Measurements in a pass, beside one of each case, of what lies in caches: they are short, and disturbed as often."""

FAR = 1.3
"""A prediction is near where it is within this factor of the time, either way."""


class Case(NamedTuple):
    """A kernel at a size, on so many cores."""

    kernel: Kernel
    level: str
    size: Size
    cores: int

    @property
    def name(self) -> str:
        return f"{self.kernel.label}, {self.level}, {self.cores}"


class Row(NamedTuple):
    """A case: the least seconds measured, the median of the passes over that, seconds predicted, and what it is bound
    by."""

    case: Case
    measured: float
    spread: float
    predicted: float
    bound_by: str

    @property
    def ratio(self) -> float:
        return self.predicted / self.measured

    @property
    def factor(self) -> float:
        """How far off, whichever way."""
        return max(self.ratio, 1 / self.ratio)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.1, help="of measuring each number (default: %(default)s)")
    parser.add_argument("--passes", type=int, default=3, help="over all measurements, the best of which counts")
    parser.add_argument("--cores", type=int, default=0, help="all cores (default: those this process may use)")
    parser.add_argument("--keep", action="store_true", help="compare with what was measured last")
    parser.add_argument("kernels", nargs="*", help="names of kernels (default: all)")
    options = parser.parse_args()
    cores = options.cores or len(os.sched_getaffinity(0))
    cases = [case for case in all_cases(cores) if not options.kernels or case.kernel.name in options.kernels]
    kept = BUILD / "measured.json"
    if not options.keep:
        kept.write_text(json.dumps(measurements(cases, cores, options.passes, options.seconds)), encoding="utf-8")
    readings, found = json.loads(kept.read_text(encoding="utf-8"))
    times = [found[case.name] for case in cases]
    path = BUILD / "here.aspen"
    path.write_text(build_machine("here", read_topology(), readings).text, encoding="utf-8")
    machine = aspenpy.load_machine(str(path))
    print(path.read_text(encoding="utf-8"))
    page = render_text(report([row(case, spent, machine) for case, spent in zip(cases, times, strict=True)]).page)
    (BUILD / "table.txt").write_text(page + "\n", encoding="utf-8")
    print(page)
    return 0


def measurements(
    cases: Sequence[Case], cores: int, passes: int, seconds: float
) -> tuple[list[dict[str, float]], dict[str, list[float]]]:
    """The machine's readings and the times of each case, by its name, of several passes over all of them: a disturbance
    of some seconds meets one pass of each."""
    readings, times = [], dict[str, list[float]]()
    for number in range(passes):
        with compile_program(find_compiler() or "gcc") as target:
            readings += run_benchmarks(target, read_topology())
        for case in [case for case in cases if case.level != "memory"] * SHORT + cases:
            times.setdefault(case.name, []).append(timed(case, seconds))
        print(f"pass {number + 1} of {passes}", file=sys.stderr)
    return readings, times


def all_cases(cores: int) -> list[Case]:
    found = find_caches(read_topology())
    return [
        Case(kernel, level, kernel.size(bytes_of(level, found)), active)
        for kernel in KERNELS
        for level in kernel.levels
        for active in dict.fromkeys((1, cores))
    ]


def timed(case: Case, seconds: float, folder: Path = BUILD) -> float:
    """The least seconds of a run; fails where its result is wrong."""
    words = case.kernel.name, case.size.n, case.size.m, case.cores, seconds
    spent, wrong = map(float, printed(compiled(folder), *words).split())
    if not wrong <= TOLERANCE:
        raise ArithmeticError(f"{case.kernel.name} with n = {case.size.n} is wrong by {wrong}")
    return spent


@cache
def application(text: str) -> aspenpy.Application:
    """The model of a kernel, read and mapped once for all its sizes."""
    found = aspenpy.parse(text)
    assert isinstance(found, aspenpy.Application)
    return found


def row(case: Case, times: Sequence[float], machine: aspenpy.Machine) -> Row:
    """The best of several times against the prediction."""
    values = {"n": case.size.n, "cores": case.cores} | ({"m": case.size.m} if case.size.m else {})
    predicted = aspenpy.predict(application(case.kernel.model), machine, set=values)
    waits = predicted.bottleneck.resource if predicted.bottleneck else "nothing"
    return Row(case, min(times), statistics.median(times) / min(times), predicted.runtime, waits)


COLUMNS = (
    Column("kernel", get="case.kernel.label"),
    Column("data in", get="case.level"),
    Column("cores", "count", get="case.cores"),
    Column("n", "count", get="case.size.n"),
    Column("predicted", unit="s"),
    Column("measured", unit="s"),
    Column("spread", "{:.2f}".format, "right"),
    Column("predicted/measured", "{:.2f}".format, "right", get="ratio"),
    Column("bound by", get="bound_by"),
)


def report(rows: Sequence[Row]) -> Report:
    """How close the predictions are, in all, by kernel and level, and row by row."""
    worst = sorted(rows, key=lambda row: -row.factor)[:10]
    near = sum(row.factor <= FAR for row in rows)
    median = statistics.median(row.factor for row in rows)
    said = f"median error {median - 1:.0%}; {near} of {len(rows)} within {FAR - 1:.0%}"
    parts = (
        overview(rows),
        make_table(COLUMNS, worst, title="worst rows"),
        make_table(COLUMNS, rows, title="all rows"),
    )
    return Report("", said, {}, parts)


def overview(rows: Sequence[Row]) -> Table:
    """Predicted over measured: a line for each kernel, a column for each level and number of cores."""
    places = list(dict.fromkeys((row.case.level, row.case.cores) for row in rows))
    ratios = {(row.case.kernel.label, row.case.level, row.case.cores): row.ratio for row in rows}
    names = dict.fromkeys(row.case.kernel.label for row in rows)
    heads = [Column(f"{level}, {cores}", "{:.2f}".format, "right") for level, cores in places]
    cells = tuple((name, *(ratios.get((name, *place)) for place in places)) for name in names)
    return Table((Column("kernel"), *heads), cells, title="predicted over measured, by where data lie and cores")


if __name__ == "__main__":
    raise SystemExit(main())
