"""RecordStore: measured runs and what was learnt of them, kept in SQLite (the record of Algorithm 1, Umar 2018)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn

from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.files import require_writable
from aspenpy.language.opening import read_first_bytes
from aspenpy.language.schema import AnyOf, find_mismatch, parse_json
from aspenpy.learn.measurements.sheet import MeasurementSheet, tabulate_rows
from aspenpy.record import Record

VERSION = 1
PATIENCE = 30.0  # seconds that one writer waits for others
MOST_BYTES = 64 * 2**20  # of a store that is read
COLUMNS = {
    "id": "integer primary key",
    **dict.fromkeys(("application", "input", "hardware", "device"), "text not null"),
    **dict.fromkeys(("runtime", "energy"), "real"),
    "counters": "text not null",
    "model": "text",
    "recorded": "text not null default current_timestamp",
}
SCHEMA = (
    f"create table runs ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})",
    "create index what on runs (application, input, hardware)",
)
PARTS = {("table", "runs"), ("index", "what")}
"""What a store consists of, and nothing else: a trigger would run when a row is added."""

BEGINNING = b"SQLite format 3\x00"
ROLLBACK = b"\1\1"  # versions of the format with a rollback journal, after two bytes for the size of a page
ROW = {
    **dict.fromkeys(("application", "input", "hardware", "device", "counters"), str),
    "runtime": AnyOf(float, None),
    "energy": AnyOf(float, None),
    "model": AnyOf(str, None),
}
COUNTERS = {str: AnyOf(float, str, None)}


class RunRecord(Record):
    """A run: what ran on what, runtime (s) and energy (J) where they were measured, counters by name, and the name of
    the model that was fitted with it."""

    application: str
    input: str
    hardware: str
    device: str
    runtime: float | None = None
    energy: float | None = None
    counters: Mapping[str, Any] = {}
    model: str | None = None


def open_database(path: Path, mode: str) -> sqlite3.Connection:
    """A database of SQLite whose schema may run nothing of its own; `mode` is `ro` for reading alone, or `rwc`."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, timeout=PATIENCE, isolation_level=None, uri=True)
    connection.text_factory = decode_text
    connection.execute("pragma trusted_schema = off")
    connection.execute("pragma cell_size_check = on")
    return connection


class RecordStore:
    """Runs in a file. Several processes may write: each addition is one transaction, and waits for the others. A
    database of SQLite that is no record store is refused, and stays as it is."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if os.path.exists(self.path) and self._read_beginning():
            with self._open_for_reading():
                pass

    def _read_beginning(self) -> bytes:
        """The first bytes of the file; none where it is empty. Raises AspenError where it is no ordinary file, none of
        SQLite, or one with a write-ahead log, which no store has: beside one even a reader leaves files."""
        beginning = read_first_bytes(self.path, len(BEGINNING) + 4)
        if beginning and (not beginning.startswith(BEGINNING) or beginning[len(BEGINNING) + 2 :] != ROLLBACK):
            self._refuse("it is not a database of this program, and stays as it is")
        return beginning

    @contextmanager
    def _open_for_reading(self) -> Iterator[sqlite3.Connection]:
        """Opens the store for reading only."""
        if not self._read_beginning() or self.path.stat().st_size > MOST_BYTES:
            self._refuse(f"it is empty, or larger than {MOST_BYTES // 2**20} MiB")
        with self._report_errors(), closing(open_database(self.path, "ro")) as connection:
            self._require_own(connection)
            yield connection

    @contextmanager
    def _open_for_writing(self) -> Iterator[sqlite3.Connection]:
        """Opens the store for writing, and creates it where there is none or the file is empty. The block is one
        transaction."""
        require_writable(self.path)
        if os.path.exists(self.path):
            self._read_beginning()
        with self._report_errors(), closing(open_database(self.path, "rwc")) as connection:
            connection.execute("begin immediate")
            if not connection.execute("select count(*) from sqlite_master").fetchone()[0]:
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute(f"pragma user_version = {VERSION}")
            self._require_own(connection)
            yield connection
            connection.execute("commit")

    def _require_own(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("pragma user_version").fetchone()[0]
        columns = [row[1] for row in connection.execute("pragma table_xinfo(runs)")]
        if version > VERSION and columns[: len(COLUMNS)] == list(COLUMNS):
            message = f"`{self.path}` is a record store of version {version}, and this aspenpy reads {VERSION}"
            fail("store-version", message)
        parts = {*connection.execute("select type, name from sqlite_master")}
        if version != VERSION or parts != PARTS or columns != list(COLUMNS):
            self._refuse("it is a database of another program, and stays as it is")

    @contextmanager
    def _report_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:  # names of columns, too, are decoded
            self._refuse(str(error))

    def _refuse(self, reason: str) -> NoReturn:
        hint = "`aspenpy measure --record STORE` makes one"
        fail("no-store", f"`{self.path}` cannot be used as a record store: {reason}", hint=hint)

    def add(self, records: Sequence[RunRecord]) -> None:
        """Adds runs, all or none. Raises AspenError for a number that is not finite, which JSON has not."""
        for item in records:
            if (problem := find_mismatch(dict(item.counters), COUNTERS)) is not None:
                fail("bad-counter", f"a run of {item.application} cannot be recorded: {problem}")
        rows = [
            (*(getattr(item, name) for name in ("application", "input", "hardware", "device", "runtime", "energy")),
             json.dumps(dict(item.counters), allow_nan=False), item.model)
            for item in records
        ]  # fmt: skip
        with self._open_for_writing() as connection:
            connection.executemany(
                "insert into runs (application, input, hardware, device, runtime, energy, counters, model)"
                " values (?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def name_model(self, model: str, rows: Sequence[int]) -> None:
        """Names the model that was fitted with some runs, by their numbers from 1 on in the order of addition."""
        with self._open_for_writing() as connection:
            runs = [item[0] for item in connection.execute("select id from runs order by id")]
            named = [(model, runs[row - 1]) for row in rows]
            connection.executemany("update runs set model = ? where id = ?", named)

    def find(self, **what: str) -> tuple[RunRecord, ...]:
        """The runs that have these values, such as `application="comd"`."""
        unknown = what.keys() - {"application", "input", "hardware", "device"}
        if unknown:
            fail(
                "unknown-option", f"runs are found by application, input, hardware and device, not {', '.join(unknown)}"
            )
        where = " and ".join(f"{name} = ?" for name in what) or "1"
        with self._open_for_reading() as connection:
            rows = connection.execute(
                "select id, application, input, hardware, device, runtime, energy, counters, model"
                f" from runs where {where} order by id",
                list(what.values()),
            ).fetchall()
        return tuple(self._make_record(row[0], dict(zip(RunRecord._fields, row[1:], strict=True))) for row in rows)

    def _make_record(self, number: int, row: dict[str, Any]) -> RunRecord:
        """A row, which may hold anything: SQLite does not keep to the types of columns."""
        problem = find_mismatch(row, ROW)
        if problem is None:
            try:
                row["counters"] = parse_json(row["counters"])
                problem = find_mismatch(row["counters"], COUNTERS, "counters")
            except ValueError:
                problem = "its counters are not JSON"
        if problem is not None:
            fail("bad-record", f"run {number} in `{self.path}` is damaged: {problem}")
        return RunRecord(**row)


def decode_text(content: bytes) -> str | bytes:
    """A text of a database; the bytes where they are none, which no shape takes for a text."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def is_record_store(path: Path) -> bool:
    """Whether a file is one of SQLite."""
    try:
        return read_first_bytes(path, len(BEGINNING)) == BEGINNING
    except AspenError:
        return False


def read_records(path: Path) -> MeasurementSheet:
    """All runs of a store as a tidy sheet."""
    records = RecordStore(path).find()
    if not records:
        fail("no-measurements", f"there are no runs in `{path}`")
    names = list(dict.fromkeys(name for item in records for name in item.counters))
    rows = [
        {"application": item.application, "input": item.input, "hardware": item.hardware, "device": item.device,
         "runtime [s]": blank_if_none(item.runtime), "energy [J]": blank_if_none(item.energy)}
        | {name: item.counters.get(name, "") for name in names}
        for item in records
    ]  # fmt: skip
    return tabulate_rows(rows, 10**6)


def blank_if_none(value: float | None) -> Any:
    return "" if value is None else value
