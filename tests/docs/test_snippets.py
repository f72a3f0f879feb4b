"""Every snippet of the documentation shows what it prints."""

import os
import sys
from pathlib import Path

import pytest

from tests.docs.snippets import refreshed

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An `aspenpy` on the path that is the one under test, and a terminal of a known width."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "aspenpy"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aspenpy "$@"\n')
    command.chmod(0o755)
    return {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page: Path, tmp_path: Path, environment: dict[str, str], update_pictures: bool) -> None:
    text = page.read_text()
    fresh = refreshed(text, tmp_path, environment)
    if update_pictures:
        page.write_text(fresh)
    else:
        assert fresh == text


def test_stale_output_is_seen(tmp_path: Path) -> None:
    page = "```console\n$ echo new\nold\n```\n\n```python\n>>> 1 + 1\n3\n>>> 1 / 0\n```\n"
    assert refreshed(page, tmp_path, {}) == (
        "```console\n$ echo new\nnew\n```\n\n"
        "```python\n>>> 1 + 1\n2\n>>> 1 / 0\n"
        "Traceback (most recent call last):\n  ...\nZeroDivisionError: division by zero\n```\n"
    )


def test_files_of_a_page_are_there_for_its_commands(tmp_path: Path) -> None:
    page = "```aspen\n// file: one.aspen\nmodel one\n```\n\n```console\n$ cat one.aspen\n```\n"
    assert "$ cat one.aspen\n// file: one.aspen\nmodel one\n```" in refreshed(page, tmp_path, {})
