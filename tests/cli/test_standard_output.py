"""`-o -` writes to standard output, and what else is said goes to standard error; hard links; folders of the user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aspenpy.language.files import user_folder, write_whole
from aspenpy.shell.main import main

TRACE = " L 10,8\n L 50,8\n L 10,8\n"


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        ("extract f.c -o -", "//"),
        ("expr matmul --metric flops -o -", "2147483648"),
        ("mpi comd -o -", "/*"),
        ("machine new mine -o -", "//"),
        ("eval matmul --machine simple -o -", "matmul"),
        ("page matmul --machine simple -o -", "<!"),
        ("measure --read m.csv -o -", "application,energy [J]\na,1"),
        ("empirical leading-loads fit leading_loads_example -o -", "{"),
        ("rdd t.txt -o -", ""),
        ("sweep matmul --machine simple --over n=16,32 -o -", "n,runtime [s],reason\n16,"),
        ("sweep matmul --machine simple --over n=16,32 -o - --format json", "{"),
        ("fit stream fit.csv --machine simple --vary repetitions -o -", "//"),
        ("advise stream --machine simple --most-nodes 4 -o -", "# stream on simple: "),
        ("advise stream --machine simple --most-nodes 4 -o - --format json", '{\n  "command": "aspenpy advise stream '),
    ],
)
def test_a_dash_is_standard_output(
    line: str, begins: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text(
        "void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= 2; }\n", encoding="utf-8"
    )
    (tmp_path / "m.csv").write_text("application,energy [J]\na,1\n", encoding="utf-8")
    (tmp_path / "t.txt").write_text(TRACE, encoding="utf-8")
    (tmp_path / "fit.csv").write_text("n,runtime [ms]\n1e6,62\n4e6,251\n", encoding="utf-8")
    before = sorted(os.listdir())
    assert main(line.split()) == 0
    told = capsys.readouterr()
    assert told.out.startswith(begins)
    assert "output is written" not in told.out
    assert "- is written" not in told.err
    assert sorted(os.listdir()) == before


def test_other_names_of_a_file_have_the_new_content(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("a long old text\n", encoding="utf-8")
    os.link(tmp_path / "one", tmp_path / "other")
    write_whole(tmp_path / "one", "new\n")
    assert (tmp_path / "one").read_text(encoding="utf-8") == (tmp_path / "other").read_text(encoding="utf-8") == "new\n"
    assert (tmp_path / "one").samefile(tmp_path / "other")
    assert sorted(os.listdir(tmp_path)) == ["one", "other"]


@pytest.mark.parametrize("value", ["", "cache", "./cache", "../cache"])
def test_relative_folders_of_the_user_are_ignored(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG Base Directory Specification: paths in these variables must be absolute, others should be ignored."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    assert user_folder("XDG_CACHE_HOME", ".cache") == str(tmp_path / ".cache")
    monkeypatch.setenv("XDG_CACHE_HOME", "/absolute")
    assert user_folder("XDG_CACHE_HOME", ".cache") == "/absolute"


def test_points_of_a_sweep_are_those_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["sweep", "matmul", "--machine", "simple", "--over", "n=16,32,48", "-o"]
    assert main([*line, "p.csv"]) == main([*line, "p.json"]) == 0
    summary = capsys.readouterr().out
    for form in ("csv", "json"):
        assert main([*line, "-", "--format", form]) == 0
        told = capsys.readouterr()
        assert told.out == Path(f"p.{form}").read_text(encoding="utf-8")
        assert summary.startswith(told.err)
    assert main([*line, "-", "--resume"]) == 2
    assert "standard output has no beginning" in capsys.readouterr().err
