"""Reading: whatever file of measurements, by what its first lines look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from aspenpy.language.diagnostics import fail
from aspenpy.language.files import Reader
from aspenpy.language.source import Source
from aspenpy.record import Record
from aspenpy.studies.empirical.sheet import Data, Sheet, sheet_of, sheet_of_rows
from aspenpy.studies.readers.likwid import is_likwid, read_likwid
from aspenpy.studies.readers.nvidia import (
    is_dcgm,
    is_ncu,
    is_ncu_raw,
    is_nvprof,
    is_smi,
    read_dcgm,
    read_ncu,
    read_ncu_raw,
    read_nvprof,
    read_smi,
)
from aspenpy.studies.readers.perf import is_perf, is_perf_json, read_perf, read_perf_json
from aspenpy.studies.readers.records import is_record_store, records_sheet

MOST_ROWS = 200_000
HEAD = 4000  # characters by which a format is known


class Format(Record):
    """What tool writes it, how it is known, and how it is read."""

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[Source], Sheet]


FORMATS = (
    Format("perf stat -j", is_perf_json, read_perf_json),
    Format("LIKWID", is_likwid, read_likwid),
    Format("ncu --csv", is_ncu, read_ncu),
    Format("ncu --csv --page raw", is_ncu_raw, read_ncu_raw),
    Format("nvprof --csv", is_nvprof, read_nvprof),
    Format("nvidia-smi --format=csv", is_smi, read_smi),
    Format("dcgmi dmon", is_dcgm, read_dcgm),
    Format("perf stat -x,", is_perf, read_perf),
)
"""Formats of tools; what is none of them is a table of comma-separated values."""


def format_of(text: str) -> Format | None:
    """The tool that wrote a text; None for a plain table."""
    return next((item for item in FORMATS if item.recognises(text[:HEAD])), None)


def measured(data: Data, columns: Mapping[str, str] | None = None) -> Sheet:
    """The sheet of measurements of any tool: a path (also of a Parquet file or a record store), a text, rows. `columns`
    renames columns of a plain table and leaves out all others. Raises AspenError."""
    if isinstance(data, str | Path):
        path = Path(data)
        if path.suffix in (".parquet", ".pq"):
            return _parquet(path, columns)
        if is_record_store(path):
            return records_sheet(path)
        data = Reader().read(path)
    if isinstance(data, Source):
        found = format_of(data.text)
        if found is not None:
            if columns:
                fail("no-columns", f"--column renames columns of a table, and this is a file of {found.name}")
            return found.read(data)
        if "," not in data.text.partition("\n")[0] and len(data.text.split("\n", 1)[0].split()) > 1:
            data = data.with_text("\n".join(",".join(line.split()) for line in data.text.split("\n")))
    return sheet_of(data, columns, MOST_ROWS, index="run")


def _parquet(path: Path, columns: Mapping[str, str] | None) -> Sheet:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        fail("no-pyarrow", "Parquet needs pyarrow", hint="pip install 'aspenpy[data]'")
    try:
        table = parquet.read_table(path)
    except FileNotFoundError:
        fail("no-file", f"file not found: `{path}`")
    except (ArrowException, OSError) as error:
        fail("no-table", f"`{path}` cannot be read as Parquet: {str(error).splitlines()[0]}")
    if columns:
        missing = [old for old in columns.values() if old not in table.column_names]
        if missing:
            fail("unknown-column", f"there is no column `{missing[0]}` in `{path}`")
        table = table.select(list(columns.values())).rename_columns(list(columns))
    return sheet_of_rows(table.to_pylist(), MOST_ROWS)
