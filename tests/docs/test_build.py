"""The documentation builds without a warning.

By default its pages are read and their references resolved, which is what warns; with `ASPENPY_THOROUGH=1` they are
written, too."""

import subprocess
import sys
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Error

from aspenpy.report.highlight import AspenLexer
from tests.docs.snippets import FENCED
from tests.thorough import THOROUGH, slow

ROOT = Path(__file__).parents[2]


@slow
def test_build(tmp_path: Path) -> None:
    pytest.importorskip("furo", reason="the extra `docs` is not installed")
    options = ["-W", "--keep-going", "-q", "-b", "html" if THOROUGH else "dummy", "-d", str(tmp_path / "trees")]
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ROOT / "docs", tmp_path / "html"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    if THOROUGH:
        assert "load_application" in (tmp_path / "html" / "api.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_what_is_fenced_is_highlighted(page: Path) -> None:
    """Writing the pages warns of text that its lexer does not know."""
    for block in FENCED.finditer(page.read_text(encoding="utf-8")):
        kind = "pycon" if block["kind"] == "python" else block["kind"]
        lexer = AspenLexer() if kind == "aspen" else get_lexer_by_name(kind)
        assert Error not in {token for token, _ in lexer.get_tokens(block["text"])}, block["text"]
