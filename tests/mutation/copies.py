"""Copies of the checkout: what is changed is a copy, so that the working tree is never touched."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy_checkout(folder: Path) -> Path:
    """What git tracks, and what it would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in os.fsdecode(listed.stdout).split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """For tests of the copy: its package comes before the installed one, its caches are its own, and no test is left
    out for its length."""
    shared = os.environ.get("ASPENPY_SHARED", str(ROOT.parent / "shared"))
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MUTATION_") and name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
    }
    return {
        **inherited,
        "PYTHONPATH": str(folder),
        "ASPENPY_SHARED": shared,
        "XDG_CACHE_HOME": str(folder / ".cache"),
        "CI": "true",
        **variables,
    }


def pytest_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-p", "tests.mutation.plugin", "-q", "--tb=no", *arguments]


def end_group(leader: int) -> None:
    """Ends what is left of a process and its children."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
