"""Reading: whatever file of measurements, by what its first lines look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.language.files import Reader
from aspenpy.language.opening import read_whole_file
from aspenpy.language.source import Source
from aspenpy.learn.measurements.cube import read_cubex
from aspenpy.learn.measurements.databases import read_profile_database
from aspenpy.learn.measurements.jobs import JOB, REPORT, read_reframe, read_sacct, refuse_foreign
from aspenpy.learn.measurements.profiles import GPROF, PERF_REPORT, read_gprof, read_perf_report
from aspenpy.learn.measurements.records import is_record_store, read_records
from aspenpy.learn.measurements.regions import CALIPER, PAPI, TAU, read_caliper, read_papi, read_tau
from aspenpy.learn.measurements.sheet import Data, MeasurementSheet, make_sheet, tabulate_rows
from aspenpy.learn.measurements.tools import (
    ADVISOR,
    ENTITIES,
    RAW,
    ROCPROF_STATS,
    SAMPLES,
    SUMMARY,
    is_likwid,
    is_perf,
    is_perf_json,
    is_rocprof_counters,
    is_rocprof_trace,
    read_advisor,
    read_dcgm,
    read_likwid,
    read_ncu,
    read_ncu_raw,
    read_nvprof,
    read_nvprof_summary,
    read_perf,
    read_perf_json,
    read_rocprof_counters,
    read_rocprof_stats,
    read_rocprof_trace,
    read_smi,
)
from aspenpy.record import Record

MOST_ROWS = 200_000
MOST_CELLS = 2_000_000  # of a Parquet file: a sheet holds each with its place, in some 150 bytes
MOST_BYTES = 64 * 2**20  # of a Parquet file, as it is and decompressed
HEAD = 4000  # characters by which a format is known


class ToolFormat(Record):
    """A tool's file format: name, recogniser of the first lines, reader, and whether rows are launches in one run."""

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[Source], MeasurementSheet]
    parts: bool = False


FORMATS = (
    ToolFormat("gprof", lambda head: GPROF.match(head) is not None, read_gprof),
    ToolFormat("perf report", lambda head: PERF_REPORT.match(head) is not None, read_perf_report),
    ToolFormat("Caliper", lambda head: CALIPER.match(head) is not None, read_caliper),
    ToolFormat("PAPI's reports", lambda head: PAPI.match(head) is not None, read_papi),
    ToolFormat("TAU", lambda head: TAU.match(head) is not None, read_tau),
    ToolFormat("sacct -P", lambda head: JOB.match(head) is not None, read_sacct),
    ToolFormat("ReFrame's reports", lambda head: REPORT.match(head) is not None, read_reframe),
    ToolFormat("Advisor's survey", lambda head: ADVISOR.match(head) is not None, read_advisor, True),
    ToolFormat("rocprof's traces", is_rocprof_trace, read_rocprof_trace, True),
    ToolFormat("rocprof's statistics", lambda head: ROCPROF_STATS.match(head) is not None, read_rocprof_stats),
    ToolFormat("rocprofv3's counters", is_rocprof_counters, read_rocprof_counters, True),
    ToolFormat("perf stat -j", is_perf_json, read_perf_json),
    ToolFormat("LIKWID", is_likwid, read_likwid),
    ToolFormat("ncu --csv", lambda head: '"Metric Name"' in head and '"Metric Value"' in head, read_ncu, True),
    ToolFormat("ncu --csv --page raw", lambda head: RAW.search(head) is not None, read_ncu_raw, True),
    ToolFormat("nvprof --csv", lambda head: '"Metric Name"' in head and '"Avg"' in head, read_nvprof),
    ToolFormat("nvprof --csv", lambda head: SUMMARY.search(head) is not None, read_nvprof_summary),
    ToolFormat("nvidia-smi --format=csv", lambda head: SAMPLES.match(head) is not None, read_smi),
    ToolFormat("dcgmi dmon", lambda head: ENTITIES.search(head) is not None, read_dcgm),
    ToolFormat("perf stat -x,", is_perf, read_perf),
)
"""Formats of tools; what is none of them is a table of comma-separated values."""


def recognise_format(text: str) -> ToolFormat | None:
    """The tool that wrote a text; None for a plain table."""
    return next((item for item in FORMATS if item.recognises(text[:HEAD])), None)


def read_measurements(data: Data, columns: Mapping[str, str] | None = None) -> MeasurementSheet:
    """The sheet of measurements of any tool: a path (also of a Parquet file or a record store), a text, rows. `columns`
    renames columns of a plain table and leaves out all others. Raises AspenError."""
    if isinstance(data, str | Path):
        path = Path(data)
        if path.suffix in (".parquet", ".pq"):
            return read_parquet(path, columns)
        if path.suffix == ".cubex":
            return read_cubex(path)
        if is_record_store(path):
            found_in_profile = read_profile_database(path)
            return read_records(path) if found_in_profile is None else found_in_profile
        refuse_foreign(path)
        data = Reader().read(path)
    if isinstance(data, Source):
        tool_format = recognise_format(data.text)
        if tool_format is not None:
            if columns:
                fail("no-columns", f"--column renames columns of a table, and this is a file of {tool_format.name}")
            return tool_format.read(data)._replace(parts=tool_format.parts)
        if "," not in data.text.partition("\n")[0] and len(data.text.split("\n", 1)[0].split()) > 1:
            data = data.with_text("\n".join(",".join(line.split()) for line in data.text.split("\n")))
    return make_sheet(data, columns, MOST_ROWS, index="run")


def read_parquet(path: Path, columns: Mapping[str, str] | None) -> MeasurementSheet:
    """The rows of a Parquet file. What it says of its size is read before anything is decompressed: half a megabyte
    may hold millions of zeros, and a text that all rows repeat is held once."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        fail("no-pyarrow", "Parquet needs pyarrow", hint="pip install 'aspenpy[data]'")
    content = read_whole_file(path, MOST_BYTES)
    try:
        file = parquet.ParquetFile(BytesIO(content))
        names = _require_small(file, path)
        wanted = list(columns.values()) if columns else names
        if missing := [name for name in wanted if name not in names]:
            hint = suggest_nearest(missing[0], names)
            fail("unknown-column", f"there is no column `{missing[0]}` in `{path}`", hint=hint)
        texts = [name for name in wanted if physical_type(file, names.index(name)) == TEXT]
        table = parquet.ParquetFile(BytesIO(content), read_dictionary=texts).read(wanted, use_threads=False)
        held = {asked: read_column(table.column(name)) for asked, name in zip(columns or wanted, wanted, strict=True)}
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        fail("no-table", f"`{path}` cannot be read as Parquet: {(str(error).splitlines() or ['damaged'])[0]}")
    return tabulate_rows((dict(zip(held, row, strict=True)) for row in zip(*held.values(), strict=True)), MOST_ROWS)


def _require_small(file: Any, path: Path) -> list[str]:
    """The names of the columns, all of which hold one value in each row. Raises AspenError for a table that is larger
    than what is read."""
    held = file.metadata
    cells, size = held.num_rows * held.num_columns, 0
    if held.num_rows > MOST_ROWS or cells > MOST_CELLS:
        message = f"`{path}` has {held.num_rows:,} rows of {held.num_columns:,} columns"
        hint = f"at most {MOST_ROWS:,} rows and {MOST_CELLS:,} values are read: keep a sample of the rows"
        fail("too-many-rows", message, hint=hint)
    for group in range(held.num_row_groups):
        size += held.row_group(group).total_byte_size
    if size > MOST_BYTES:
        fail("too-large", f"`{path}` holds more than {MOST_BYTES // 2**20} MiB when it is decompressed")
    names = []
    for index in range(held.num_columns):
        column = file.schema.column(index)
        if column.max_repetition_level or column.path != column.name:
            fail("no-table", f"`{column.path.split('.')[0]}` in `{path}` has lists or parts, not one value in each row")
        names.append(column.name)
    return names


TEXT = "BYTE_ARRAY"


def physical_type(file: Any, index: int) -> str:
    return str(file.schema.column(index).physical_type)


def read_column(column: Any) -> list[Any]:
    """Values of a column; repeated texts are one object. Raises ValueError where the texts are too long."""
    values: list[Any] = []
    for chunk in column.chunks:
        if not hasattr(chunk, "dictionary"):
            values += chunk.to_pylist()
            continue
        texts = [text if isinstance(text, str) else str(text) for text in chunk.dictionary.to_pylist()]
        indices = chunk.indices.to_pylist()
        if sum(len(texts[index]) for index in indices if index is not None) > MOST_BYTES:
            raise ValueError(f"its texts have more than {MOST_BYTES // 2**20} MiB when all are written out")
        values += [None if index is None else texts[index] for index in indices]
    return values


def require_library(name: str, what: str) -> None:
    """Raises AspenError where a library of the extra `empirical` is not installed."""
    try:
        import_module(name)
    except ImportError:
        fail("missing-library", f"{what} needs {name}: pip install 'aspenpy[empirical]'")
