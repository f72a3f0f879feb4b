"""Jobs: what a batch system and a framework of regression tests record of runs, and formats that are known by name
alone, each with the command that writes it as one of those that are read.

`sacct -P`: fields by their names between pipes (Slurm's manual page sacct(1), "Job accounting fields"). ReFrame's run
report: JSON with `session_info` and `runs` (reframe/schemas/runreport.json; `perfvars` up to version 3 of the data,
`perfvalues` from 4 on).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aspenpy.language.diagnostics import fail
from aspenpy.language.opening import read_first_bytes
from aspenpy.language.schema import parse_json
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.sheet import (
    Cell,
    MeasurementSheet,
    Row,
    normalise_cell,
    read_lines,
    refuse_line,
    require_width,
    tabulate_cells,
)
from aspenpy.record import Record

# -- Slurm -----------------------------------------------------------------------------------------

JOB = re.compile(r"(?=[^\n]*\bJobID\b)[^\n|]*\|[^\n]*(?:Elapsed|ConsumedEnergy)")
"""The header of `sacct -P` or `-p` with a job and its time or energy."""

ELAPSED = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,2}):)?(\d{1,2}):(\d{1,2}(?:\.\d{1,6})?)\Z")
"""`[days-]hours:minutes:seconds[.microseconds]`."""

KILO = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
"""Prefixes of `ConsumedEnergy`: powers of 1000 (Slurm's source, `src/sacct/print.c`)."""

OF_JOB = {"JobID": "run", "JobName": "application", "NTasks": "ranks", "NNodes": "nodes", "State": "state"}
REPEATED = (".batch", ".extern")
"""Ends of the names of steps that have the times of their jobs once more."""


def read_sacct(source: Source) -> MeasurementSheet:
    """One row per job and step, with seconds and joules; nothing where no energy was gathered, which Slurm writes as
    0. Steps `.batch` and `.extern` are left out."""
    header: list[str] = []
    rows: list[Row] = []
    for cells in read_lines(source.with_text(source.text.replace(",", " ").replace("|", ","))):
        texts = [str(cell.value) for cell in cells]
        if not header:
            header = texts
            continue
        require_width(cells, len(header), "each job has a value a field: `sacct -P --format=JobID,JobName,ElapsedRaw`")
        held = dict(zip(header, cells, strict=True))
        if str(held["JobID"].value).endswith(REPEATED):
            continue
        row: Row = {name: held[field] for field, name in OF_JOB.items() if field in held}
        row["runtime [s]"] = _elapsed_seconds(held)
        if "ConsumedEnergyRaw" in held or "ConsumedEnergy" in held:
            row["energy [J]"] = _consumed_joules(held)
        rows.append(row)
    return tabulate_cells(rows, source)


def _elapsed_seconds(held: Mapping[str, Cell]) -> Cell:
    if "ElapsedRaw" in held:
        return _blank_zero(held["ElapsedRaw"])
    if "Elapsed" not in held:
        return next(iter(held.values()))._replace(value="")
    cell = held["Elapsed"]
    match = ELAPSED.match(str(cell.value))
    if match is None:
        refuse_line([cell], f"has no time: `{cell.value}`", "it is [days-]hours:minutes:seconds")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return _blank_zero(cell._replace(value=((days * 24 + hours) * 60 + minutes) * 60 + seconds))


def _consumed_joules(held: Mapping[str, Cell]) -> Cell:
    if "ConsumedEnergyRaw" in held:
        return _blank_zero(held["ConsumedEnergyRaw"])
    cell = held["ConsumedEnergy"]
    text = str(cell.value)
    number = text.rstrip("KMG")
    try:
        return _blank_zero(cell._replace(value=float(number or 0) * KILO[text[len(number) :]]))
    except (ValueError, KeyError):
        refuse_line([cell], f"has no energy: `{text}`", "it is a number with K, M or G, or ConsumedEnergyRaw")


def _blank_zero(cell: Cell) -> Cell:
    return normalise_cell(cell._replace(value="" if str(cell.value) in ("0", "0.0", "") else cell.value))


# -- ReFrame ---------------------------------------------------------------------------------------

REPORT = re.compile(r'\s*+\{(?=[^\0]{0,2000}"session_info")')


def read_reframe(source: Source) -> MeasurementSheet:
    """One row per test case: its performance values with their units, and the seconds of its run."""
    whole = Span(source, 0, len(source.text.partition("\n")[0]))
    try:
        held = parse_json(source.text)
        cases = [case for run in held["runs"] for case in run["testcases"]]
        rows = [_read_case(case) for case in cases]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "it is written by `reframe -r --report-file=report.json`"
        fail("no-report", f"`{source.name}` is no run report of ReFrame: {type(error).__name__}", whole, hint=hint)
    return tabulate_cells(rows, source)


def _read_case(case: Mapping[str, Any]) -> Row:
    row: Row = {"application": Cell(str(case.get("display_name") or case["name"]), 1)}
    for field, name in (("system", "device"), ("environment", "environment"), ("result", "result")):
        if case.get(field):
            row[name] = Cell(str(case[field]), 1)
    values = dict(_performance_values(case))
    row |= {name: Cell("" if value is None else float(value), 1) for name, value in values.items()}
    timed = any(name.partition(" [")[0] in ("time", "runtime", "elapsed") for name in values)
    if isinstance(case.get("time_run"), int | float):
        row["time_run [s]" if timed else "runtime [s]"] = Cell(float(case["time_run"]), 1)
    return row


def _performance_values(case: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names with units, and values: of `perfvars` (a list of objects) or `perfvalues` (value, reference, limits and
    unit by `system:partition:name`)."""
    for item in case.get("perfvars") or ():
        yield _write_unit(str(item["name"]), item.get("unit")), item["value"]
    for name, item in (case.get("perfvalues") or {}).items():
        yield _write_unit(name.rpartition(":")[2], item[4]), item[0]


def _write_unit(name: str, unit: Any) -> str:
    return f"{name} [{unit}]" if unit else name


# -- formats that are not read ---------------------------------------------------------------------


class ForeignFormat(Record):
    """A format that is not read: its name, how its files begin and end, and what turns it into one that is."""

    name: str
    hint: str
    start: bytes = b""
    ends: tuple[str, ...] = ()


FOREIGN = (
    ForeignFormat("a recording of `perf record`", "`perf report --stdio -i FILE > report.txt`", b"PERFILE2"),
    ForeignFormat("a recording of gprof", "`gprof -b -p PROGRAM gmon.out > flat.txt`", b"gmon"),
    ForeignFormat("a report of Nsight Systems", "`nsys export --type sqlite FILE`", ends=(".nsys-rep", ".qdrep")),
    ForeignFormat("a report of Nsight Compute", "`ncu --import FILE --csv --page raw`", b"NVR\0", (".ncu-rep",)),
    ForeignFormat("a trace in OTF2", "a profile of it, such as Score-P's", ends=(".otf2",)),
    ForeignFormat("a profile of Caliper", "`cali-query -q 'select path,sum(time) group by path format json-split'`",
                  b"__rec=", (".cali",)),
    ForeignFormat("a database of HPCToolkit",
                  "hatchet: `GraphFrame.from_hpctoolkit_latest(DIR).dataframe.to_csv(FILE)`", b"HPCPROF"),
    ForeignFormat("a graph of gprof2dot, which has shares and no times", "`gprof -b -p PROGRAM gmon.out > flat.txt`",
                  ends=(".dot",)),
    ForeignFormat("a trace of PerfFlowAspect", "a table of its times", ends=(".pfw",)),
    ForeignFormat("a profile of Python's cProfile", "a table of its times", ends=(".pstats",)),
    ForeignFormat("a profile of timemory", "hatchet: `GraphFrame.from_timemory(FILE).dataframe.to_csv(OUT)`",
                  ends=(".tree.json",)),
    ForeignFormat("a file of HDF5", "its table as CSV or Parquet", b"\x89HDF"),
    ForeignFormat("a compressed file", "`gunzip FILE`", b"\x1f\x8b"),
    ForeignFormat("an archive", "the files that are in it", b"PK\3\4"),
)  # fmt: skip


FOLDERS = {
    "meta.db": (
        "a database of HPCToolkit",
        "hatchet: `GraphFrame.from_hpctoolkit_latest({0!r}).dataframe.to_csv(FILE)`",
    ),
    "experiment.xml": (
        "a database of HPCToolkit",
        "hatchet: `GraphFrame.from_hpctoolkit({0!r}).dataframe.to_csv(FILE)`",
    ),
    "*.hpcrun": ("measurements of HPCToolkit", "`hpcprof {0}`, and from its database hatchet"),
    "profile.cubex": ("an experiment of Score-P", "the file `{0}/profile.cubex`"),
    "profile.*.*.*": ("a profile of TAU", "one of its files, such as `{0}/profile.0.0.0`"),
}
"""Folders of profilers by a file that is in them: their names, and what is read instead."""


def refuse_foreign(path: Path) -> None:
    """Raises AspenError for a file of a format that is known by name alone, and for a folder of a profiler."""
    for pattern, (name, hint) in FOLDERS.items() if path.is_dir() else ():
        if next(path.glob(pattern), None) is not None:
            hint = f"what is read comes from: {hint.format(path.as_posix())}"
            fail("foreign-format", f"`{path}` is a folder, {name}, which is not read", hint=hint)
    begins = read_first_bytes(path, 8)
    for item in FOREIGN:
        if path.name.endswith(item.ends or ("\0",)) or (item.start and begins.startswith(item.start)):
            hint = f"what is read comes from: {item.hint}"
            fail("foreign-format", f"`{path}` is {item.name}, which is not read", hint=hint)
