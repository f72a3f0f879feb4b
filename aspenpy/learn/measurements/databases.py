"""Databases: kernels in the SQLite files of Nsight Systems and rocprofv3.

`nsys export --type sqlite`: CUPTI_ACTIVITY_KIND_KERNEL with times in nanoseconds and names in StringIds, NVTX_EVENTS
where no kernel was traced (Nsight Systems user guide, "SQLite schema reference"). rocprofv3's `rocpd`: views
`rocpd_kernel_dispatch` and `rocpd_info_kernel_symbol` of tables with a run's identifier in their names
(ROCprofiler-SDK, "Using rocpd output format", and its schemas). A dispatch names its device and its times in schemas 3,
a track and time stamps in 4.0, a track and times in 4.1.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from aspenpy.language.diagnostics import fail
from aspenpy.language.opening import read_first_bytes
from aspenpy.learn.measurements.records import BEGINNING, ROLLBACK, open_database
from aspenpy.learn.measurements.sheet import MeasurementSheet, tabulate_rows
from aspenpy.record import Record

MOST_REGIONS = 10_000
MOST_STEPS, STRIDE = 20_000, 100_000
"""Most calls back from SQLite, and the number of its steps between two: after some two minutes a query is given up."""


class ProfileQuery(Record):
    """Tables of a profiler, and columns of its dispatches, by which its databases are known; what reads name, device,
    calls and nanoseconds."""

    name: str
    tables: frozenset[str]
    text: str


_LENGTHS = "count(*), sum({0}), min({0}), max({0})"
_TIMES = _LENGTHS.format("k.end - k.start")
_ORDER = f"group by 1, 2 order by 4 desc limit {MOST_REGIONS}"

DISPATCH = "rocpd_kernel_dispatch"
_SYMBOL = f"{DISPATCH} k join rocpd_info_kernel_symbol s on s.id = k.kernel_id and s.guid = k.guid"
_TRACK = "join rocpd_track t on t.id = k.track_id and t.guid = k.guid"
_STAMPS = " ".join(
    f"join rocpd_timestamp {name} on {name}.id = k.{column} and {name}.guid = k.guid"
    for name, column in (("start", "start_id"), ("stop", "end_id"))
)


def _rocpd_query(columns: str, device: str, times: str, joins: str = "") -> ProfileQuery:
    """The query of one of rocpd's schemas, known by the columns that a dispatch has."""
    text = f"select coalesce(s.display_name, s.kernel_name), {device}, {times} from {_SYMBOL} {joins} {_ORDER}"
    there = {"rocpd_info_kernel_symbol", *(f"{DISPATCH}.{column}" for column in columns.split())}
    return ProfileQuery("rocprofv3", frozenset(there), text)


QUERIES = (
    ProfileQuery(
        "Nsight Systems",
        frozenset({"CUPTI_ACTIVITY_KIND_KERNEL", "StringIds"}),
        f"select s.value, k.deviceId, {_TIMES} from CUPTI_ACTIVITY_KIND_KERNEL k"
        f" join StringIds s on s.id = k.demangledName {_ORDER}",
    ),
    _rocpd_query("agent_id start end", "k.agent_id", _TIMES),
    _rocpd_query("track_id start end", "t.agent_id", _TIMES, _TRACK),
    _rocpd_query(
        "track_id start_id end_id", "t.agent_id", _LENGTHS.format("stop.value - start.value"), f"{_TRACK} {_STAMPS}"
    ),
    ProfileQuery(
        "Nsight Systems",
        frozenset({"NVTX_EVENTS", "StringIds"}),
        f"select coalesce(k.text, s.value), '', {_TIMES} from NVTX_EVENTS k"
        f" left join StringIds s on s.id = k.textId where k.end is not null {_ORDER}",
    ),
)


def read_profile_database(path: Path) -> MeasurementSheet | None:
    """One row per kernel and device, with the seconds of all its launches; None where the file is no database of a
    profiler. Raises AspenError."""
    if read_first_bytes(path, len(BEGINNING) + 4)[len(BEGINNING) + 2 :] != ROLLBACK:
        hint = f"sqlite3 {path} 'pragma journal_mode = delete'"
        fail("no-profile", f"`{path}` has a write-ahead log, beside which a reader leaves files", hint=hint)
    steps = 0

    def count_steps() -> bool:
        nonlocal steps
        steps += 1
        return steps > MOST_STEPS

    try:
        with closing(open_database(path, "ro")) as connection:
            connection.set_progress_handler(count_steps, STRIDE)
            there = {name for (name,) in connection.execute("select name from sqlite_master")}
            of_dispatch = connection.execute(f"select name from pragma_table_info('{DISPATCH}')")
            there |= {f"{DISPATCH}.{name}" for (name,) in of_dispatch}
            query = next((item for item in QUERIES if item.tables <= there), None)
            if query is None:
                return None
            kernels = connection.execute(query.text).fetchall()
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
        fail("no-profile", f"`{path}` cannot be read as a database of a profiler: {error}")
    rows = [
        {"region": str(name), "device": str(device), "calls": calls, "runtime [s]": total / 1e9,
         "shortest [s]": least / 1e9, "longest [s]": most / 1e9}
        for name, device, calls, total, least, most in kernels
        if all(isinstance(value, int | float) for value in (calls, total, least, most)) and total > 0
    ]  # fmt: skip
    if not rows:
        fail("no-measurements", f"no kernel was traced in `{path}`, a database of {query.name}")
    return tabulate_rows(rows, MOST_REGIONS)
