"""Somebody at a terminal: a mistake is told, and the session goes on; names are completed."""

from __future__ import annotations

import os
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import models, spawn
from tests.thorough import HANGS

__all__ = ["models", "spawn"]

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")

WITHOUT_PROMPT_TOOLKIT = """
import aspenpy.shell.commands.repl
aspenpy.shell.commands.repl.find_spec = lambda name: None
from aspenpy.shell.main import main
raise SystemExit(main())
"""
WITH_PROMPT_TOOLKIT = "from aspenpy.shell.main import main; raise SystemExit(main())"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
PROMPT = "axpy on Cluster>"


class Terminal:
    """What a person sees, who waits for words and then types."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self.process = process
        self.end = end
        self.shown = b""
        self.asked = 0
        self.read = 0

    def wait_for(self, words: str) -> str:
        """What was shown up to these words."""
        deadline = time.monotonic() + HANGS
        while words not in self.unread():
            assert time.monotonic() < deadline, self.unread()
            if select.select([self.end], [], [], 1)[0]:
                self.shown += os.read(self.end, 4096)
                self.tell_the_cursor()
        before = self.unread().partition(words)[0]
        self.read += len(before) + len(words)
        return before

    def unread(self) -> str:
        """What was shown since, without what moves the cursor; a sequence may come in two pieces."""
        return ESCAPE.sub("", self.shown.decode(errors="ignore")).replace("\r", "")[self.read :]

    def tell_the_cursor(self) -> None:
        """Answers when it is asked for where the cursor is."""
        for _ in range(self.shown.count(b"\x1b[6n") - self.asked):
            os.write(self.end, b"\x1b[1;1R")
            self.asked += 1

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())


@pytest.fixture(params=[WITH_PROMPT_TOOLKIT, WITHOUT_PROMPT_TOOLKIT], ids=["prompt_toolkit", "plain"])
def terminal(
    request: pytest.FixtureRequest, spawn: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> Iterator[Terminal]:
    if request.param is WITH_PROMPT_TOOLKIT:
        pytest.importorskip("prompt_toolkit", reason="the extra `repl` is not installed")
    ours, theirs = pty.openpty()
    process = spawn(
        *("repl", "axpy.aspen", "--machine", "cluster.aspen"),
        program=request.param,
        env={"TERM": "xterm-256color", "NO_COLOR": "1", "XDG_STATE_HOME": str(tmp_path / "state")},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    yield Terminal(process, ours)
    process.kill()
    process.wait()
    os.close(ours)


def test_conversation(terminal: Terminal) -> None:
    assert "axpy on Cluster: main" in terminal.wait_for(PROMPT)
    terminal.type("set clok=1\r")
    terminal.wait_for("did you mean `clock`?")
    terminal.wait_for(PROMPT)
    terminal.type("set n=20")
    terminal.type("00\r")
    terminal.wait_for("runtime 27 us, +80 % against baseline (15 us)")
    terminal.wait_for(PROMPT)
    terminal.type("quit\r")
    assert terminal.process.wait(timeout=HANGS) == 0


@pytest.mark.parametrize("terminal", [WITH_PROMPT_TOOLKIT], indirect=True)
def test_names_are_completed_and_lines_kept(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for(PROMPT)
    terminal.type("show runt\t")
    terminal.wait_for("ime")  # what is shown already may not be drawn again
    terminal.type("\r")
    terminal.wait_for("15 us")
    terminal.wait_for(PROMPT)
    terminal.type("quit\r")
    assert terminal.process.wait(timeout=HANGS) == 0
    assert "show runtime" in (tmp_path / "state" / "aspenpy" / "history").read_text(encoding="utf-8")


def test_end_of_input_ends_it(terminal: Terminal) -> None:
    terminal.wait_for(PROMPT)
    terminal.type("\x04")
    assert terminal.process.wait(timeout=HANGS) == 0
