"""The command, run on hostile models in a process that may not take more than a gigabyte nor long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.thorough import HANGS

MOST_MEMORY = 2**30
MOST_SECONDS = 20
"""Of the processor: a few, with room for a slow machine. A command that takes more is killed."""

ROOT = Path(__file__).parents[2]
PROGRAM = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MOST_MEMORY}, {MOST_MEMORY}))
resource.setrlimit(resource.RLIMIT_CPU, ({MOST_SECONDS}, {MOST_SECONDS}))
from aspenpy.shell.main import main
raise SystemExit(main())
"""

MACHINE = """
machine plain { node [1] box }
node box { socket [1] cpu }
socket cpu { resource flops(n) [n] resource loads(n) [n] }
"""


class Outcome(NamedTuple):
    """What the command answered; `runtime` is None where it refused."""

    runtime: float | None
    report: str


Evaluate = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `aspenpy` with some arguments in an empty folder; it may refuse, and never break down."""

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=HANGS,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr[-2000:]
        assert done.returncode in (0, 1, 2), done.stderr[-2000:]
        assert len(done.stderr) < 20_000
        return done

    return command


@pytest.fixture
def evaluate(tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[str]]) -> Evaluate:
    """What `aspenpy eval` makes of an application on a machine, given as texts."""

    def outcome(application: str, machine: str = MACHINE) -> Outcome:
        (tmp_path / "a.aspen").write_text(application)
        (tmp_path / "m.aspen").write_text(machine)
        done = run("eval", "a.aspen", "--machine", "m.aspen", "--format", "json")
        if done.returncode != 0:
            assert done.stderr.startswith("error: ")
            return Outcome(None, done.stderr)
        return Outcome(json.loads(done.stdout)["runtime"]["value"], done.stderr)

    return outcome
