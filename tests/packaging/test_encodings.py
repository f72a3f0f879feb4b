"""No module and no test opens text in whatever encoding a system has: Windows may have another than UTF-8."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("aspenpy", "benchmarks", "docs", "integrations", "tests")

OPENS = {"open": 1, "io.open": 1, "os.fdopen": 1, "gzip.open": 1, "bz2.open": 1, "lzma.open": 1}
"""Functions that open files, and which of their arguments is the mode."""

OTHERS = ("os.open", "tarfile.open", "webbrowser.open", "Image.open", "zipfile.ZipFile.open")
"""Functions called `open` of files without an encoding."""


def opens_text_anyhow(call: ast.Call) -> bool:
    """Whether a call opens, reads or writes text and states no encoding."""
    name = ast.unparse(call.func)
    last = name.rpartition(".")[2]
    if any(keyword.arg in ("encoding", None) for keyword in call.keywords):
        return False
    if last in ("read_text", "write_text") and "." in name:
        return len(call.args) <= ("write" in last)
    if last not in ("open", "fdopen") or name in OTHERS:
        return False
    place = OPENS.get(name, 0)
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[place : place + 1]
    mode = modes[0] if modes else ast.Constant("rb" if name.startswith(("gzip", "bz2", "lzma")) else "r")
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and "b" not in mode.value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open(file)", True),
        ("open(file, 'rb')", False),
        ("open(file, mode='w')", True),
        ("path.open('a')", True),
        ("path.open(encoding='utf-8')", False),
        ("path.read_text()", True),
        ("path.write_text(text, encoding='utf-8')", False),
        ("path.write_text(text)", True),
        ("os.open(file, os.O_RDONLY)", False),
        ("gzip.open(file)", False),
    ],
)
def test_what_is_found(text: str, found: bool) -> None:
    (call,) = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert opens_text_anyhow(call) is found


@pytest.mark.parametrize("folder", FOLDERS)
def test_text_is_opened_with_an_encoding(folder: str) -> None:
    calls = [
        f"{file.relative_to(ROOT).as_posix()}:{node.lineno} {ast.unparse(node)[:80]}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and opens_text_anyhow(node)
    ]
    assert calls == []
