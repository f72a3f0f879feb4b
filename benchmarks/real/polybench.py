"""Programs of the tests of extraction, predicted from their sources on this computer, against their times.

    python -m benchmarks.real.polybench [--machine FILE] [--level o3]

Each is compiled without vectors (`-O2 -fno-tree-vectorize`), of which extracted models know nothing, and run as
`aspenpy validate` runs it, at sizes at which it is predicted to take some milliseconds to some tenths of a second.
Nothing is tuned for a program.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from pathlib import Path
from typing import get_args

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.answers.prediction import predict
from aspenpy.engine.shared_object import find_compiler
from aspenpy.extract.extraction import extract
from aspenpy.extract.registers import Level
from aspenpy.language.axis import parse_axis
from aspenpy.learn.measurements.measure import StoppingRule
from aspenpy.learn.model_validation import (
    NEAR_FACTOR,
    PROCESSOR,
    WALL,
    ValidationPoint,
    process_overhead,
    run_and_compare,
)
from aspenpy.probe.probe import probe
from aspenpy.tables.pages import render_text
from aspenpy.tables.table import Column, Report, make_table
from benchmarks.real.programs import BUILD

SOURCES = Path(__file__).parents[2] / "tests" / "extract" / "programs"
SIZES = (100, 200, 400, 700, 1000, 1500, 2000, 3000, 4500)
SHORTEST, LONGEST = 0.005, 0.3
"""Seconds of a prediction between which a size counts."""

SIZES_OF_EACH = 2
OPTIONS = ("-O2", "-fno-tree-vectorize")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", help="a machine that was probed before (default: probed now)")
    parser.add_argument("--level", choices=get_args(Level), default="o2")
    parser.add_argument("--wall", action="store_true", help="elapsed instead of processor time")
    parser.add_argument("names", nargs="*", help="programs (default: all)")
    options = parser.parse_args()
    found = aspenpy.load_machine(options.machine) if options.machine else aspenpy.parse(probe("host").text)
    assert isinstance(found, aspenpy.Machine)
    rows: list[tuple[str, ValidationPoint]] = []
    for source in sorted(SOURCES.glob("*.c")):
        if not options.names or source.stem in options.names:
            for point in points(source, found, options.level, WALL if options.wall else PROCESSOR):
                rows.append((source.stem, point))
                print(f"{source.stem} {dict(point.values)}: {point.ratio:.2f}", flush=True)
    print(render_text(report(rows).page))
    return 0


def points(source: Path, machine: aspenpy.Machine, level: Level, clock: str) -> tuple[ValidationPoint, ...]:
    """The largest sizes that do not take too long."""
    app = aspenpy.parse(extract(source, level=level, chains=True).text)
    assert isinstance(app, aspenpy.Application)
    if "N" not in app.declared:
        print(f"{source.stem} says its size by another name")
        return ()
    case = Case(app, machine, kernel="main")
    sizes = [size for size in SIZES if SHORTEST <= seconds(case.with_set({"N": size})) <= LONGEST][-SIZES_OF_EACH:]
    if not sizes:
        return ()
    for size in sizes:
        compiled(source, size)
    command = f"{BUILD / source.stem}_{{N}}"
    over = {"N": parse_axis(f"N={','.join(map(str, sizes))}")}
    return run_and_compare(case, command, over, StoppingRule(least=10, most=15), clock=clock).points


def seconds(case: Case) -> float:
    found = predict(case)
    return float(found.runtime) + process_overhead(found).total


MAIN = """\
#include <stdlib.h>
#include <string.h>

extern char __bss_start[], _end[];
void *__libc_malloc(size_t);
int of_program(void);

void *malloc(size_t bytes)
{
  void *found = __libc_malloc(bytes);
  return found ? memset(found, 0, bytes) : found;
}

void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }

int main(void)
{
  for (char *p = __bss_start; p < _end; p += 4096)
    *(volatile char *)p = *p;
  of_program();
  return 0;
}
"""
"""Calls the program and ends well whatever it computes. All data are written to first, as real programs fill their
arrays: pages that are only read are one page of zeros in the first cache."""


def compiled(source: Path, size: int) -> None:
    target, main = BUILD / f"{source.stem}_{size}", BUILD / "ends_well.c"
    BUILD.mkdir(parents=True, exist_ok=True)
    main.write_text(MAIN, encoding="utf-8")
    chosen, part = find_compiler() or "gcc", target.with_suffix(".o")
    subprocess.run(
        [chosen, *OPTIONS, f"-DN={size}", "-Dmain=of_program", "-c", str(source), "-o", str(part)], check=True
    )
    plain = ("-O1", "-fno-builtin", str(part), str(main), "-o", str(target), "-lm")
    subprocess.run([chosen, *plain], check=True)


COLUMNS = (
    Column("program", get=lambda row: row[0]),
    Column("N", "count", get=lambda row: row[1].values["N"]),
    Column("predicted", unit="s", get=lambda row: row[1].predicted),
    Column("measured", unit="s", get=lambda row: row[1].least),
    Column("predicted/measured", "{:.2f}".format, "right", get=lambda row: row[1].ratio),
    Column("bound by", get=lambda row: row[1].bound_by),
)


def report(rows: list[tuple[str, ValidationPoint]]) -> Report:
    """How close in all, and row by row, the worst first."""
    factors = [point.factor for _, point in rows]
    near = sum(factor <= NEAR_FACTOR for factor in factors)
    said = f"median error {statistics.median(factors) - 1:.0%}; {near} of {len(rows)} within {NEAR_FACTOR - 1:.0%}"
    return Report("", said, {}, (make_table(COLUMNS, sorted(rows, key=lambda row: -row[1].factor)),))


if __name__ == "__main__":
    raise SystemExit(main())
