"""The line on a terminal that says how far a long command is."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from aspenpy.shell import progress as module
from aspenpy.shell.output import emit
from aspenpy.shell.progress import CLEAR, LONGEST, Progress, progress, report_activity, report_count
from tests.thorough import HANGS

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")

ROOT = Path(__file__).parents[2]
TRACE = b" L 1000,8\n L 1040,8\n L 1000,8\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch, patience: float = 0.001, every: float = 0.001) -> Terminal:
    """Standard error as a terminal. A test calls it itself: pytest puts its own in place after the fixtures."""
    found = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", found)
    monkeypatch.setattr(module, "PATIENCE", patience)
    monkeypatch.setattr(module, "EVERY", every)
    return found


def wait_for(terminal: Terminal, text: str) -> None:
    began = monotonic()
    while text not in terminal.getvalue():
        assert monotonic() - began < HANGS
        sleep(0.001)


def test_says_what_is_done_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with progress("aspenpy place"):
        wait_for(terminal, "aspenpy place, ")
        report_activity("crossovers over n", 0.25)
        wait_for(terminal, "[#####               ] 25 % crossovers over n, ")
    assert terminal.getvalue().endswith(CLEAR)


def test_makes_room_for_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is cleared before a report; both may be on one terminal."""
    terminal = watched(monkeypatch, every=HANGS)
    monkeypatch.setattr("sys.stdout", terminal)
    with progress("at work"):
        wait_for(terminal, "at work, ")
        emit("the report")
    assert terminal.getvalue().endswith(f" s{CLEAR}the report\n")


def test_nothing_of_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch, patience=HANGS)
    with progress("quick"):
        report_activity("quick", 1.0)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("environment", [{"FORCE_COLOR": "1"}, {"TERM": "dumb"}])
def test_nothing_where_a_line_cannot_be_replaced(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours that were asked for do not make a file a terminal."""
    terminal = watched(monkeypatch)
    stream = io.StringIO() if "FORCE_COLOR" in environment else terminal
    monkeypatch.setattr("sys.stderr", stream)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(module, "Progress", None)
    with progress("slow"):
        report_activity("slow")
    assert stream.getvalue() == ""


def test_line_fits() -> None:
    shown = Progress(Terminal(), "a" * 200)
    try:
        assert len(shown.line()) == LONGEST
        assert "aaa, " in shown.line()
    finally:
        shown.close()


def test_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with progress("aspenpy sweep"):
        seen = report_count(4000, "points by numpy")
        seen(1000)
        seen(2000)
        wait_for(terminal, "75 % points by numpy, 3,000 of 4,000, ")


def test_while_a_trace_comes_through_a_pipe() -> None:
    """What is left of it on the terminal at the end is nothing. The command waits for its trace, so that it is shown
    however quick the machine is."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "aspenpy", "rdd", "-"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    assert process.stdin is not None
    shown = b""
    while b"aspenpy rdd" not in shown:
        assert select.select([ours], [], [], HANGS)[0], shown
        shown += os.read(ours, 4096)
    answer, _ = process.communicate(TRACE, timeout=HANGS)
    while not shown.endswith(CLEAR.encode()):
        assert select.select([ours], [], [], HANGS)[0], shown
        shown += os.read(ours, 4096)
    os.close(ours)
    assert process.returncode == 0, shown
    assert answer.startswith(b"reuse distances of")


def test_nothing_into_a_pipe() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "aspenpy", "rdd", "-"], cwd=ROOT, input=TRACE, capture_output=True, timeout=HANGS
    )
    assert process.stderr == b""
