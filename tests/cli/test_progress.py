"""The line that says how far a long computation is."""

from __future__ import annotations

import io

import pytest

from aspenpy.cli import progress as module
from aspenpy.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the time is; a test moves it."""
    now = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    return now


def test_appears_after_a_second_and_goes(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress() as say:
        for time, text in ((0.5, "too early"), (1.1, "one"), (1.15, "too soon"), (1.3, "two")):
            clock[0] = time
            say(text)
    assert terminal.getvalue() == "\r\x1b[2Kone\r\x1b[2Ktwo\r\x1b[2K"


def test_nothing_of_what_is_quick(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress() as say:
        say("quick")
    assert terminal.getvalue() == ""


def test_nothing_into_a_file(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    with progress() as say:
        clock[0] = 9.0
        say("slow")
    assert file.getvalue() == ""
