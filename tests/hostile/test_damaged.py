"""Damaged and misleading files that once broke a reader, hung it, or took gigabytes: each is refused in a sentence."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

import pytest

import aspenpy
from aspenpy import AspenError
from aspenpy.extract.compile_options import read_compile_options
from aspenpy.learn.estimators.model_files import KINDS, checksum, load_learnt
from aspenpy.shell.main import main
from tests.advice.test_system import CPUPOWER
from tests.hostile.damaged import changed_json, saved, texts
from tests.readers.test_readers import DCGM, NCU, NVPROF

Run = Callable[..., CompletedProcess[str]]


def test_what_is_damaged_can_be_written() -> None:
    """And is the same however many were before: nothing is put into itself, or into what others get."""
    first = [json.dumps(changed_json(Random(seed), {"a": [1, [2]], "b": {"c": 3}})) for seed in range(2_000)]
    assert first == [json.dumps(changed_json(Random(seed), {"a": [1, [2]], "b": {"c": 3}})) for seed in range(2_000)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"Metric Name","Avg"\n"x",1\n', "line 1 has no column `Device`"),
        ('"Metric Name","Metric Value"\n"x",1\n', "line 1 has no column `ID`"),
        (NVPROF.replace('"Kernel",', '"Core",'), "has no column `Kernel`"),
        (NCU.replace('"Metric Unit"', '"Unit"'), "has no column `Metric Unit`"),
        (DCGM.replace("GPU 0     250.1        1410         98", "GPU"), "line 3 is no sample of DCGM"),
        (DCGM.replace("POWER", "POWER POWER"), "line 3 is no sample of DCGM"),
    ],
)
def test_headings_with_other_words(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    assert main(["measure", "--read", str(tmp_path / "m.csv")]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "measure --read FILE",
        "empirical acee fit FILE",
        "empirical acee predict acee_example --model FILE",
        "advise configure stream --machine haswell --system FILE",
        "advise significance stream --machine haswell --counters FILE",
        "energy stream --machine haswell --measured FILE",
        "machine probe host --from FILE",
        "extract FILE",
        "rdd FILE",
        "fit matmul FILE --machine simple",
        "measure --read acee.csv --record FILE",
    ],
)
@pytest.mark.parametrize("kind", ["device", "folder", "pipe"])
def test_what_is_no_file_is_refused_at_once(line: str, kind: str, tmp_path: Path, run: Run) -> None:
    """A pipe is opened by `rdd` alone, as by `<(...)` of a shell; here nobody writes into it."""
    if kind == "pipe" and line.startswith("rdd"):
        pytest.skip("traces are read from pipes")
    (tmp_path / "acee.csv").write_text("application,energy [J]\na,1\n", encoding="utf-8")
    path = {"device": "/dev/zero", "folder": "folder.c", "pipe": "pipe.c"}[kind]
    if kind == "folder":
        (tmp_path / path).mkdir()
    if kind == "pipe":
        os.mkfifo(tmp_path / path)
    done = run(*(path if word == "FILE" else word for word in line.split()))
    assert done.returncode == 2
    if kind == "folder" and line.startswith("extract"):
        assert done.stderr.startswith("error: no source of C, C++, CUDA or Fortran below `folder.c`\n")
        return  # a folder is one of sources
    assert f"`{path}` is " in done.stderr or f"`{path}`: is a directory" in done.stderr


def test_half_a_megabyte_of_parquet_with_millions_of_zeros(tmp_path: Path, run: Run) -> None:
    """60 columns of 2 million; each run may take a gigabyte."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    zeros = pyarrow.array([0.0] * 250_000)
    parquet.write_table(pyarrow.table({f"c{number}": zeros for number in range(40)}), tmp_path / "z.parquet")
    assert (tmp_path / "z.parquet").stat().st_size < 200_000
    done = run("measure", "--read", "z.parquet")
    assert done.returncode == 2
    assert "`z.parquet` has 250,000 rows of 40 columns" in done.stderr


def test_one_long_text_in_all_rows_of_parquet(tmp_path: Path, run: Run) -> None:
    """A tenth of a megabyte, written once and meant a thousand times."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"application": ["a" * 10**5] * 1_000}), tmp_path / "t.parquet")
    done = run("measure", "--read", "t.parquet")
    assert (done.returncode, done.stdout) == (2, "")
    assert "more than 64 MiB when all are written out" in done.stderr


@pytest.mark.parametrize("content", [{"l": [[1, 2], [3]]}, {"s": [{"a": 1}, {"a": 2}]}])
def test_nested_columns_of_parquet(content: dict[str, list[object]], tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(content), tmp_path / "n.parquet")
    with pytest.raises(AspenError, match="not one value in each row"):
        KINDS["acee"]().fit(tmp_path / "n.parquet")


def test_a_size_of_a_cache_that_is_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = next(text for text in texts("probe") if 'cache_size="' in text)
    (tmp_path / "h.xml").write_text(re.sub(r'cache_size="\d', 'cache_size="]', text), encoding="utf-8")
    line = ["machine", "probe", "host", "--from", str(tmp_path / "h.xml"), "-o", str(tmp_path / "host.aspen")]
    assert main(line) == 2
    told = capsys.readouterr().err
    assert "the size of a cache is a number of bytes, not `]" in told
    assert "h.xml:" in told


@pytest.mark.parametrize("clock", ["1.2.3", "1.20.", ".", "9" * 400])
def test_a_clock_that_is_no_number(clock: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.txt").write_text(CPUPOWER.replace("1.20", clock), encoding="utf-8")
    line = ["advise", "configure", "stream", "--machine", "haswell", "--system", str(tmp_path / "s.txt")]
    assert main(line) == 2
    assert "contains no range of a hardware component" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["x\0", "x\0.c", ""])
def test_sources_that_have_no_such_name(name: str) -> None:
    with pytest.raises(AspenError):
        aspenpy.extract_application(name)
    with pytest.raises(AspenError):
        aspenpy.extract_application([name])


@pytest.mark.parametrize("entry", ['"file": "a\\u0000.c"', '"file": "a.c", "command": "cc -DX=\\u0000 a.c"'])
def test_null_bytes_in_a_compilation_database(entry: str, tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text(f'[{{"directory": ".", {entry}}}]', encoding="utf-8")
    (tmp_path / "a.c").write_text("int a;\n", encoding="utf-8")
    with pytest.raises(AspenError, match="contains a null byte"):
        aspenpy.extract_application(tmp_path)


def test_a_null_byte_in_an_include_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b'#include "b\0.c"\nint main(void) { return 0; }\n')
    with pytest.raises(AspenError):
        aspenpy.extract_application(tmp_path)


DATABASES = ("{", "[1]", '[{"file": 3}]', '[{"directory": "/", "file": "a.c"}]', '{"a": 1}', 
             "[" * 100_000, '[{"directory": ".", "file": "a.c", "command": "cc \\""}]',
             '[{"directory": "\\u0000", "file": "a.c"}]')  # fmt: skip


@pytest.mark.parametrize("text", DATABASES)
def test_compile_commands_that_state_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text(text, encoding="utf-8")
    (tmp_path / "a.c").write_text("int a;\n", encoding="utf-8")
    assert read_compile_options(str(tmp_path / "a.c")).said_by.startswith("neither")


# -- saved models ----------------------------------------------------------------------------------


def _paths(content: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """The ways to all parts of a value of JSON, with at most two of the items of each list."""
    found = [path] if path else []
    items = (
        content.items() if isinstance(content, dict) else enumerate(content[:2]) if isinstance(content, list) else ()
    )
    for key, part in items:
        found += _paths(part, (*path, key))
    return found


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "cos-throttling"])
def test_every_part_of_a_saved_model_is_missed_and_checked(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left out, or of another type, with a checksum that fits: refused, or of no consequence where a list may have
    another length; never an exception of another kind."""
    monkeypatch.chdir(tmp_path)
    whole, file = saved(kind), tmp_path / "model.json"
    refused = 0
    for path in _paths(json.loads(whole)):
        for change in (None, {}, "text"):
            content = json.loads(whole)
            holder = content
            for key in path[:-1]:
                holder = holder[key]
            if change is None:
                del holder[path[-1]]
            else:
                holder[path[-1]] = change
            content.pop("checksum", None)
            file.write_text(json.dumps(content | {"checksum": checksum(content)}), encoding="utf-8")
            try:
                load_learnt(file)
            except AspenError:
                refused += 1
    assert refused > 1.8 * len(_paths(json.loads(whole)))


def test_versions_that_are_no_object(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text('{"format": "aspenpy learnt model", "format_version": 99, "versions": []}', encoding="utf-8")
    with pytest.raises(AspenError, match="is in version 99 of the format"):
        load_learnt(file)


def test_trees_that_lead_in_a_circle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk through them would not end."""
    monkeypatch.chdir(tmp_path)
    content = json.loads(saved("bandwidth"))
    content["state"]["trees"][0]["left"][1] = 0
    del content["checksum"]
    (tmp_path / "model.json").write_text(json.dumps(content | {"checksum": checksum(content)}), encoding="utf-8")
    with pytest.raises(AspenError, match="the nodes of a tree do not lead to its leaves"):
        load_learnt("model.json")
