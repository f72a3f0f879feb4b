"""The record store: what is put in comes out, from several processes at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import models_folder
from aspenpy.learn.estimators.acee import Acee
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.learn.measurements.records import RecordStore, RunRecord
from aspenpy.shell.main import main

MEASURED = Path(models_folder(), "measurements", "acee_example.csv")

WRITER = """
import sys
from aspenpy.learn.measurements.records import RecordStore, RunRecord
store = RecordStore(sys.argv[1])
for number in range(25):
    store.add([RunRecord("fft", f"n={number}", "node", sys.argv[2], 1.0, 2.0, {"number": number})] * 2)
"""


def test_what_is_put_in_comes_out(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "runs.sqlite")
    one = RunRecord("fft", "n=8", "node", "cpu", 1.5, None, {"cycles": 7, "unit [GB/s]": 2.5}, "acee.json")
    other = RunRecord("md", "", "node", "gpu", None, 3.0)
    store.add([one, other])
    assert store.find() == (one, other)
    assert store.find(application="md", hardware="node") == (other,)
    assert store.find(application="md", device="cpu") == ()
    sheet = read_measurements(tmp_path / "runs.sqlite")
    assert [row["energy"].value for row in sheet.rows] == ["", 3.0]
    with pytest.raises(AspenError, match="not colour"):
        store.find(colour="red")


def test_all_of_an_addition_or_nothing(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "runs.sqlite")
    store.add([RunRecord("c", "", "", "")])
    with pytest.raises(AspenError, match="a run of b cannot be recorded: `x` is NaN, not a finite number"):
        store.add([RunRecord("a", "", "", ""), RunRecord("b", "", "", "", counters={"x": float("nan")})])
    assert [item.application for item in store.find()] == ["c"]


def test_several_writers(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(number)]) for number in range(4)]
    assert [writer.wait(600) for writer in writers] == [0, 0, 0, 0]
    found = RecordStore(path).find()
    assert len(found) == 200
    assert {(item.device, item.counters["number"]) for item in found} == {
        (str(a), b) for a in range(4) for b in range(25)
    }


def test_files_that_are_no_store(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello " * 100, encoding="utf-8")
    with pytest.raises(AspenError, match="cannot be used as a record store"):
        RecordStore(tmp_path / "text")
    RecordStore(tmp_path / "later.sqlite").add([RunRecord("a", "", "", "")])
    with sqlite3.connect(tmp_path / "later.sqlite") as connection:
        connection.execute("pragma user_version = 9")
    with pytest.raises(AspenError, match="record store of version 9, and this aspenpy reads 1"):
        RecordStore(tmp_path / "later.sqlite")


OTHERS = (
    "create table x (y)",
    "create table runs (application text)",
    "pragma user_version = 1; create table runs (application text); create index what on runs (application)",
    "pragma journal_mode = wal; create table x (y)",
)


@pytest.mark.parametrize("script", OTHERS)
def test_a_database_of_another_program_stays_as_it_is(script: str, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    before, files = path.read_bytes(), sorted(tmp_path.iterdir())
    for arguments in (
        ["measure", "--read", str(path)],
        ["measure", "--read", str(MEASURED), "--label", "application=a", "--record", str(path)],
    ):
        assert main(arguments) == 2
        assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (before, files)


def test_reading_a_store_does_not_change_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    RecordStore(path).add([RunRecord("a", "", "", "", 1.0)])
    before = path.read_bytes()
    path.chmod(0o444)
    assert main(["measure", "--read", str(path)]) == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize("trigger", [False, True])
def test_a_store_to_which_somebody_added_a_trigger_is_refused(trigger: bool, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    RecordStore(path).add([RunRecord("a", "", "", "", 1.0)])
    if trigger:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("create trigger t after insert on runs begin delete from runs; end")
    line = ["measure", "--read", str(MEASURED), "--label", "application=a", "--record", str(path)]
    assert main(line) == (2 if trigger else 0)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("counters", "[1]", "`counters` is a list, not an object"),
        ("counters", "{", "its counters are not JSON"),
        ("counters", '{"x": NaN}', "its counters are not JSON"),
        ("counters", "[" * 100_000, "its counters are not JSON"),
        ("counters", '{"x": [1]}', "`counters.x` is a list, not a finite number or a text or null"),
        ("runtime", "soon", '`runtime` is "soon", not a finite number or null'),
        ("application", b"\xff", "is damaged"),
        ("energy", float("inf"), "is damaged"),
    ],
)
def test_a_store_with_damaged_rows(column: str, value: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    RecordStore(path).add([RunRecord("a", "", "", "", 1.0)])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"update runs set {column} = ?", [value])
    with pytest.raises(AspenError) as caught:
        read_measurements(path)
    assert "run 1 in" in str(caught.value)
    assert message in str(caught.value)


def test_models_learn_from_a_store(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "runs.sqlite")
    store.add([RunRecord("a", str(x), "node", "cpu", 1.0, 10.0 + 3 * x, {"c": x}) for x in range(8)])
    model = Acee(predictors=("c",), direction="none").fit(tmp_path / "runs.sqlite")
    assert model.predict(tmp_path / "runs.sqlite") == pytest.approx([10.0 + 3 * x for x in range(8)])
