"""The record store: what is put in comes out, from several processes at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.studies.learnt.acee import Acee
from aspenpy.studies.readers.read import measured
from aspenpy.studies.readers.records import RecordStore, RunRecord

WRITER = """
import sys
from aspenpy.studies.readers.records import RecordStore, RunRecord
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
    sheet = measured(tmp_path / "runs.sqlite")
    assert [row["energy"].value for row in sheet.rows] == ["", 3.0]
    with pytest.raises(AspenError, match="not colour"):
        store.find(colour="red")


def test_all_of_an_addition_or_nothing(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "runs.sqlite")
    with pytest.raises(ValueError, match="JSON compliant"):
        store.add([RunRecord("a", "", "", ""), RunRecord("b", "", "", "", counters={"x": float("nan")})])
    assert store.find() == ()


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
    (tmp_path / "text").write_text("hello " * 100)
    with pytest.raises(AspenError, match="cannot be used as a record store"):
        RecordStore(tmp_path / "text")
    with sqlite3.connect(tmp_path / "later.sqlite") as connection:
        connection.execute("pragma user_version = 9")
        connection.execute("create table x (y)")
    with pytest.raises(AspenError, match="record store of version 9, and this aspenpy reads 1"):
        RecordStore(tmp_path / "later.sqlite")


def test_models_learn_from_a_store(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "runs.sqlite")
    store.add([RunRecord("a", str(x), "node", "cpu", 1.0, 10.0 + 3 * x, {"c": x}) for x in range(8)])
    model = Acee(predictors=("c",), direction="none").fit(tmp_path / "runs.sqlite")
    assert model.predict(tmp_path / "runs.sqlite") == pytest.approx([10.0 + 3 * x for x in range(8)])
