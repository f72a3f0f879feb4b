"""Predictions of sixteen C kernels on this computer against their times: `make validate`.

Measures the machine, writes a model of it into `build/validate/here.aspen`, times each kernel at sizes for each level
of the memory hierarchy on one core and on all, and prints predicted over measured. Each core has a problem of its own;
data were touched before (warm); a time is the least of many runs.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import aspenpy
from aspenpy.tables.table import Column, Report, table
from aspenpy.tables.text import as_text
from benchmarks.real.kernels import KERNELS, Kernel, Size, bytes_of
from benchmarks.real.machine import here
from benchmarks.real.programs import BUILD, caches, compiled, printed

TOLERANCE = 1e-12
"""The largest relative error of a kernel's result."""

FAR = 1.3
"""A prediction is near where it is within this factor of the time, either way."""


class Row(NamedTuple):
    """A kernel at a size on so many cores: seconds measured and predicted, and what it is bound by."""

    kernel: str
    level: str
    cores: int
    size: Size
    measured: float
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
    parser.add_argument("--seconds", type=float, default=0.2, help="of measuring each number (default: %(default)s)")
    parser.add_argument("--cores", type=int, default=0, help="all cores (default: those this process may use)")
    parser.add_argument("--keep", action="store_true", help="take the machine as it was measured last")
    parser.add_argument("kernels", nargs="*", help="names of kernels (default: all)")
    options = parser.parse_args()
    cores = options.cores or usable_cores()
    path = BUILD / "here.aspen"
    if not (options.keep and path.exists()):
        text = here(cores, options.seconds)
        path.write_text(text)
    print(path.read_text())
    machine = aspenpy.load_machine(str(path))
    chosen = [kernel for kernel in KERNELS if not options.kernels or kernel.name in options.kernels]
    rows = []
    for row in compared(chosen, machine, cores, options.seconds):
        rows.append(row)
        print(f"{row.kernel:16} {row.level:7} {row.cores:3} {row.ratio:6.2f}", flush=True)
    print(as_text(report(rows).page))
    return 0


def usable_cores() -> int:
    import os

    return len(os.sched_getaffinity(0))


def compared(kernels: Sequence[Kernel], machine: aspenpy.Machine, cores: int, seconds: float) -> Iterator[Row]:
    found = caches()
    for kernel in kernels:
        application = aspenpy.parse(kernel.model)
        for level in kernel.levels:
            size = kernel.size(bytes_of(level, found))
            for active in dict.fromkeys((1, cores)):
                spent = timed(kernel, size, active, seconds)
                predicted = prediction(application, machine, size, active)
                yield Row(kernel.label, level, active, size, spent, predicted.runtime, bound(predicted))


def timed(kernel: Kernel, size: Size, cores: int, seconds: float) -> float:
    """The least seconds of a run; fails where its result is wrong."""
    spent, wrong = map(float, printed(compiled("kernels"), kernel.name, size.n, size.m, cores, seconds).split())
    if not wrong <= TOLERANCE:
        raise ArithmeticError(f"{kernel.name} with n = {size.n} is wrong by {wrong}")
    return spent


def prediction(
    application: aspenpy.Application, machine: aspenpy.Machine, size: Size, cores: int
) -> aspenpy.Prediction:
    values = {"n": size.n, "cores": cores} | ({"m": size.m} if size.m else {})
    return aspenpy.predict(application, machine, set=values)


def bound(predicted: aspenpy.Prediction) -> str:
    return predicted.bottleneck.resource if predicted.bottleneck else "nothing"


COLUMNS = (
    Column("kernel"),
    Column("data in", get="level"),
    Column("cores", "count"),
    Column("n", "count", get=lambda row: row.size.n),
    Column("predicted", unit="s"),
    Column("measured", unit="s"),
    Column("predicted/measured", "{:.2f}".format, "right", get="ratio"),
    Column("bound by", get="bound_by"),
)


def report(rows: Sequence[Row]) -> Report:
    """All rows, and how close the predictions are."""
    worst = sorted(rows, key=lambda row: -row.factor)[:10]
    near = sum(row.factor <= FAR for row in rows)
    median = statistics.median(row.factor for row in rows)
    said = f"median error {median - 1:.0%}; {near} of {len(rows)} within {FAR - 1:.0%}"
    return Report(said, {}, (table(COLUMNS, rows), table(COLUMNS, worst, title="worst rows")))


if __name__ == "__main__":
    raise SystemExit(main())
