"""The documentation builds without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_build(tmp_path: Path) -> None:
    pytest.importorskip("furo", reason="the extra `docs` is not installed")
    options = ["-W", "--keep-going", "-q", "-d", str(tmp_path / "trees")]
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ROOT / "docs", tmp_path / "html"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert "load_application" in (tmp_path / "html" / "api.html").read_text()
