"""RecordStore: measured runs and what was learnt of them, kept in SQLite (the record of Algorithm 1, Umar 2018)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from aspenpy.language.diagnostics import fail
from aspenpy.record import Record
from aspenpy.studies.empirical.sheet import Sheet, sheet_of_rows

VERSION = 1
PATIENCE = 30.0  # seconds that one writer waits for others
SCHEMA = """
create table if not exists runs (
  id integer primary key, application text not null, input text not null, hardware text not null, device text not null,
  runtime real, energy real, counters text not null, model text, recorded text not null default current_timestamp
);
create index if not exists what on runs (application, input, hardware);
"""


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


class RecordStore:
    """Runs in a file. Several processes may write: each addition is one transaction, and waits for the others."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._open() as connection:
            found = connection.execute("pragma user_version").fetchone()[0]
            if found not in (0, VERSION):
                fail(
                    "store-version", f"`{path}` is a record store of version {found}, and this aspenpy reads {VERSION}"
                )
            connection.executescript(SCHEMA)
            connection.execute(f"pragma user_version = {VERSION}")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)) as connection:
                yield connection
        except sqlite3.Error as error:
            fail("no-store", f"`{self.path}` cannot be used as a record store: {error}")

    def add(self, records: Sequence[RunRecord]) -> None:
        """Adds runs, all or none."""
        rows = [
            (*(getattr(item, name) for name in ("application", "input", "hardware", "device", "runtime", "energy")),
             json.dumps(dict(item.counters), allow_nan=False), item.model)
            for item in records
        ]  # fmt: skip
        with self._open() as connection:
            connection.execute("begin immediate")
            connection.executemany(
                "insert into runs (application, input, hardware, device, runtime, energy, counters, model)"
                " values (?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            connection.execute("commit")

    def learnt(self, model: str, rows: Sequence[int]) -> None:
        """Names the model that was fitted with some runs, by their numbers from 1 on in the order of addition."""
        with self._open() as connection:
            connection.execute("begin immediate")
            known = [item[0] for item in connection.execute("select id from runs order by id")]
            named = [(model, known[row - 1]) for row in rows]
            connection.executemany("update runs set model = ? where id = ?", named)
            connection.execute("commit")

    def find(self, **what: str) -> tuple[RunRecord, ...]:
        """The runs that have these values, such as `application="comd"`."""
        unknown = what.keys() - {"application", "input", "hardware", "device"}
        if unknown:
            fail(
                "unknown-option", f"runs are found by application, input, hardware and device, not {', '.join(unknown)}"
            )
        where = " and ".join(f"{name} = ?" for name in what) or "1"
        with self._open() as connection:
            rows = connection.execute(
                "select application, input, hardware, device, runtime, energy, counters, model"
                f" from runs where {where} order by id",
                list(what.values()),
            ).fetchall()
        return tuple(
            RunRecord(**dict(zip(RunRecord._fields, (*row[:6], json.loads(row[6]), row[7]), strict=True)))
            for row in rows
        )


def is_record_store(path: Path) -> bool:
    """Whether a file is one of SQLite."""
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\x00"
    except OSError:
        return False


def records_sheet(path: Path) -> Sheet:
    """All runs of a store as a tidy sheet."""
    found = RecordStore(path).find()
    if not found:
        fail("no-measurements", f"there are no runs in `{path}`")
    names = list(dict.fromkeys(name for item in found for name in item.counters))
    rows = [
        {"application": item.application, "input": item.input, "hardware": item.hardware, "device": item.device,
         "runtime [s]": _or_blank(item.runtime), "energy [J]": _or_blank(item.energy)}
        | {name: item.counters.get(name, "") for name in names}
        for item in found
    ]  # fmt: skip
    return sheet_of_rows(rows, 10**6)


def _or_blank(value: float | None) -> Any:
    return "" if value is None else value
