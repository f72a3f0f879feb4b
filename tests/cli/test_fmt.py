"""`aspenpy fmt`: which files it changes, how, and what it never does."""

import io
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aspenpy.language.files import replace_file
from tests.cli.conftest import AXPY, Runner

MESSY = "model m {\n param   n=2*kilo\n  kernel main { execute { flops [n] } }\n}\n"
TIDY = "model m {\n  param n = 2*kilo\n  kernel main { execute { flops [n] } }\n}\n"


@pytest.fixture
def messy(models: Path) -> Path:
    path = models / "messy.aspen"
    path.write_text(MESSY, encoding="utf-8")
    return path


def test_in_place(run: Runner, messy: Path) -> None:
    assert run("fmt", "messy.aspen", "axpy.aspen") == (0, "messy.aspen changed\n", "")
    assert messy.read_text(encoding="utf-8") == TIDY
    assert run("fmt", "messy.aspen") == (0, "", "")


def test_folder(run: Runner, messy: Path) -> None:
    assert run("fmt", ".") == (0, "messy.aspen changed\n", "")


def test_mode_and_links_stay(run: Runner, models: Path, messy: Path) -> None:
    messy.chmod(0o640)
    (models / "link.aspen").symlink_to(messy)
    assert run("fmt", "link.aspen").status == 0
    assert stat.S_IMODE(messy.stat().st_mode) == 0o640
    assert (models / "link.aspen").is_symlink()
    assert messy.read_text(encoding="utf-8") == TIDY


def test_check(run: Runner, messy: Path) -> None:
    assert run("fmt", "--check", "messy.aspen", "axpy.aspen") == (1, "messy.aspen would be changed\n", "")
    assert run("fmt", "--check", "axpy.aspen") == (0, "", "")
    assert messy.read_text(encoding="utf-8") == MESSY


def test_diff(run: Runner, messy: Path) -> None:
    outcome = run("fmt", "--diff", "messy.aspen")
    assert outcome.status == 1
    assert outcome.out == (
        "--- messy.aspen\n+++ messy.aspen (formatted)\n@@ -1,4 +1,4 @@\n model m {\n"
        "- param   n=2*kilo\n+  param n = 2*kilo\n"
        "   kernel main { execute { flops [n] } }\n }\n"
    )
    assert messy.read_text(encoding="utf-8") == MESSY


@pytest.mark.parametrize(("text", "laid_out"), [(MESSY, TIDY), (TIDY, TIDY), ("", ""), (AXPY, AXPY)])
def test_standard_input(run: Runner, monkeypatch: pytest.MonkeyPatch, text: str, laid_out: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    assert run("fmt", "-") == (0, laid_out, "")


def test_standard_input_that_is_no_text(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff"), encoding="utf-8"))
    assert run("fmt", "-") == (
        2,
        "",
        "error: `<standard input>` is not UTF-8: byte 0 (line 1) is 0xff\n  = hint: save it as UTF-8\n",
    )


@pytest.mark.parametrize("line", [("fmt", "-"), ("empirical", "acee", "fit", "-"), ("fit", "axpy.aspen", "-")])
def test_standard_input_without_an_end(run: Runner, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]) -> None:
    """Read as far as a file would be."""
    stream = io.BytesIO(b"a" * (9 * 2**20))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8"))
    more = ("--machine", "cluster.aspen") if line[0] == "fit" else ()
    outcome = run(*line, *more)
    assert (outcome.status, outcome.out) == (2, "")
    assert "standard input is too large: it has at most 8 MiB" in outcome.err


def test_file_with_a_mistake_is_left_and_the_others_are_not(run: Runner, models: Path, messy: Path) -> None:
    (models / "wrong.aspen").write_text("model w { param  n == }", encoding="utf-8")
    outcome = run("fmt", "wrong.aspen", "messy.aspen")
    assert (outcome.status, outcome.out) == (2, "messy.aspen changed\n")
    assert outcome.err.startswith("error: ")
    assert (models / "wrong.aspen").read_text(encoding="utf-8") == "model w { param  n == }"


def test_interrupted_replacement_leaves_the_file(
    run: Runner, models: Path, messy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*paths: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert run("fmt", "messy.aspen") == (2, "", "aspenpy: cannot write messy.aspen: No space left on device\n")
    assert messy.read_text(encoding="utf-8") == MESSY
    assert sorted(path.name for path in models.iterdir()) == ["axpy.aspen", "cluster.aspen", "messy.aspen"]


@pytest.mark.skipif(os.name == "nt", reason="what a process there left is not told from what one is writing")
def test_what_a_killed_writer_left_is_removed(models: Path) -> None:
    """Nothing else is: neither what a live process writes, nor another machine's, nor a file that looks like one."""
    program = (
        "import os, signal, sys\n"
        "from aspenpy.language.files import replace_file\n"
        "with replace_file(sys.argv[1]) as unfinished:\n"
        "    unfinished.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    target = models / "out.csv"
    killed = subprocess.run([sys.executable, "-c", program, str(target)])
    assert killed.returncode == -signal.SIGKILL
    (left,) = (path for path in models.iterdir() if path.name.startswith(".out.csv."))
    assert left.read_text(encoding="utf-8") == "half"
    name, dead, rest = re.split(r"(?<=-)(\d+)(?=-)", left.name, maxsplit=1)
    others = {name + str(os.getppid()) + rest, f".out.csv.00000000-{dead}-abc", ".out.csv.abc", ".out.csv.12-34-56"}
    for other in others:
        (models / other).touch()
    with replace_file(target) as unfinished:
        unfinished.write_text("whole", encoding="utf-8")
    assert target.read_text(encoding="utf-8") == "whole"
    assert {path.name for path in models.iterdir() if ".out.csv." in path.name} == others


def test_file_that_may_not_be_written(run: Runner, messy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write anything, so the answer of the operating system is put in.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert run("fmt", "messy.aspen") == (2, "", "aspenpy: cannot write messy.aspen: permission denied\n")
    assert messy.read_text(encoding="utf-8") == MESSY
