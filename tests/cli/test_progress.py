"""The line that says how far a long computation is."""

from __future__ import annotations

import io

import pytest

from aspenpy.shell import progress as module
from aspenpy.shell.progress import Progress


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
    with Progress() as progress:
        for time, text in ((0.5, "too early"), (1.1, "one"), (1.2, "too soon"), (1.4, "two")):
            clock[0] = time
            progress.say(text)
    assert terminal.getvalue() == "\r\x1b[Kone\r\x1b[Ktwo\r\x1b[K"


def test_nothing_of_what_is_quick(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with Progress() as progress:
        progress.say("quick")
    assert terminal.getvalue() == ""


def test_nothing_into_a_file(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    with Progress() as progress:
        clock[0] = 9.0
        progress.say("slow")
    assert file.getvalue() == ""
