"""On a terminal: colours, the terminal's width, and the wish for no colours."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.thorough import HANGS

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")

Spawn = Callable[..., subprocess.Popen[bytes]]

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
COLOR = re.compile(r"\x1b\[(?:[0-9;]*;)?3[0-7]m")
EVAL = ("eval", "axpy.aspen", "--machine", "cluster.aspen", "--set", "n=2000")


@pytest.fixture
def watch(spawn: Spawn) -> Callable[..., str]:
    """What a terminal shows for a command line."""

    def watch(*arguments: str, **environment: str) -> str:
        ours, theirs = pty.openpty()
        settings = {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": ""} | environment
        process = spawn(*arguments, stdout=theirs, stderr=theirs, env=settings)
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        process.wait(timeout=HANGS)
        return shown.decode().replace("\r\n", "\n")

    return watch


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end was closed
        return b""


def test_colors(watch: Callable[..., str]) -> None:
    shown = watch(*EVAL)
    assert COLOR.search(shown)
    assert "\x1b[1maxpy on Cluster: main takes 27 us\x1b[0m\n" in shown
    words = ESCAPE.sub("", shown)
    assert re.search(r"^axpy +10 +24 us +24 us +88\.9 % +loads \+ stores on Memory *$", words, re.M)
    assert re.search(r"^set\n  n  2000$", words, re.M)


def test_no_color(watch: Callable[..., str]) -> None:
    assert not COLOR.search(watch(*EVAL, NO_COLOR="1"))


def test_terminal_without_capabilities(watch: Callable[..., str]) -> None:
    assert "\x1b" not in watch(*EVAL, TERM="dumb")


def test_width(watch: Callable[..., str]) -> None:
    shown = ESCAPE.sub("", watch(*EVAL, COLUMNS="60"))
    assert max(map(len, shown.splitlines())) <= 60
    assert "Cluster/Node/Processor/Memory" in re.sub(r"\s", "", shown)


def test_reports(watch: Callable[..., str], models: Path) -> None:
    (models / "wrong.aspen").write_text("model wrong {\n  kernel main {\n    call nothing\n  }\n}\n", encoding="utf-8")
    shown = watch("check", "wrong.aspen")
    assert "\x1b[1;31merror: unknown kernel `nothing`\x1b[0m\n" in shown
    assert ESCAPE.sub("", shown) == (
        "error: unknown kernel `nothing`\n --> wrong.aspen:3:10\n3 |     call nothing\n  |          ^^^^^^^\n"
        "  = hint: the kernels are main\n\n1 error, no warnings\n"
    )


def test_source(watch: Callable[..., str], models: Path) -> None:
    """Its words in colour, and nothing but its words."""
    shown = watch("show", "axpy.aspen", "--source")
    assert "\x1b[94;49mkernel\x1b[0m" in shown
    assert ESCAPE.sub("", shown) == (models / "axpy.aspen").read_text(encoding="utf-8")
    assert not COLOR.search(watch("show", "axpy.aspen", "--source", NO_COLOR="1"))
