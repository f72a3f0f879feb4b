"""Copies of the checkout, and processes that run tests there: what is changed is a copy, never the working tree, and
each change is tried in a child of a process that has imported everything."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[2]
OPTIONS = ("-q", "--tb=no", "-p", "no:cacheprovider")


def copy_checkout(folder: Path) -> Path:
    """What git tracks, and what it would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    for name in os.fsdecode(listed.stdout).split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def start(root: Path, module: str, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
    """Runs a module of the tests in a copy: its package comes before the installed one, its caches and temporary files
    are its own, and no test is left out for its length."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    (root / ".tmp").mkdir()
    own = {
        "PYTHONPATH": str(root),
        "ASPENPY_SHARED": os.environ.get("ASPENPY_SHARED", str(ROOT.parent / "shared")),
        "XDG_CACHE_HOME": str(root / ".cache"),
        "TMPDIR": str(root / ".tmp"),
        "CI": "true",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(
        command, cwd=root, env=inherited | own | variables, stdout=subprocess.DEVNULL, start_new_session=True
    )


def end(running: list[subprocess.Popen[bytes]]) -> None:
    """Ends what is left of processes and their children."""
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_forked(work: Callable[[], bool], seconds: float) -> bool:
    """Whether some work ended well in a child, within seconds of the clock; what it leaves running is ended."""
    child = os.fork()
    if child == 0:
        _work(work)
    end = time.monotonic() + seconds
    status = None
    try:
        while time.monotonic() < end:
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                break
            status = None
            time.sleep(0.01)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        if status is None:
            os.waitpid(child, 0)
    return status == 0


def _work(work: Callable[[], bool]) -> NoReturn:
    status = 1
    try:
        os.setsid()
        status = 0 if work() else 1
    finally:
        os._exit(status)


def run_pytest(plugin: object, *tests: str) -> int:
    return int(pytest.main([*OPTIONS, *tests], plugins=[plugin]))
