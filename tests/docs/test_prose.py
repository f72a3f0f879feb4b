"""Pages, messages and help are spelt correctly and written in the words of docs/vocabulary.md."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.prose import PAGES, ROOT, VOCABULARY, findings, page, strings, vocabulary

BANNED = vocabulary(VOCABULARY.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_page(path: Path) -> None:
    assert not [*findings(page(path), BANNED)]


def test_messages_and_help() -> None:
    modules = sorted((ROOT / "aspenpy").rglob("*.py"))
    assert not [found for path in modules for found in findings(strings(path), BANNED)]


def test_a_planted_phrase_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "planted.md"
    planted.write_text(
        "One\n\n```sh\ntells more\n```\n\nThe `tells more` page\ntells\nmore, and the the caches too.\n",
        encoding="utf-8",
    )
    found = [(item.place, item.phrase) for item in findings(page(planted), BANNED)]
    assert found == [("planted.md:8", "tells more"), ("planted.md:9", "the the")]


def test_a_planted_message_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(
        '"""It tells more."""\n\nfail("code", f"nothing in `{name}` says what it is", hint="all is well")\n',
        encoding="utf-8",
    )
    (found,) = findings(strings(planted), BANNED)
    assert (found.place, found.phrase) == ("planted.py:3", "nothing in `{}` says")


@pytest.mark.parametrize(("text", "status"), [("the bandwidth of memory\n", 0), ("the bandwidht of memroy\n", 65)])
def test_spelling(text: str, status: int, tmp_path: Path) -> None:
    """The checker that `make test` runs on all files, with the project's words, on a file of its own."""
    pytest.importorskip("codespell_lib", reason="codespell is not installed")
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    options = ["--toml", ROOT / "pyproject.toml", tmp_path / "page.md"]
    ran = subprocess.run(
        [sys.executable, "-m", "codespell_lib", *options], cwd=tmp_path, capture_output=True, check=False
    )
    assert ran.returncode == status
