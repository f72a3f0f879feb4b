"""The command, run on hostile models in a process that may not take more than a gigabyte nor long."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.thorough import HANGS

MOST_MEMORY = 2**30
MOST_SECONDS = 20
"""Of the processor: a few, with room for a slow machine. A command that takes more is killed."""

ROOT = Path(__file__).parents[2]
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


@pytest.fixture(scope="module", autouse=True)
def frozen() -> Iterator[None]:
    """What other tests have left is not looked through on the time of what is tried here: that takes seconds."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def limited() -> Iterator[subprocess.Popen[str]]:
    """A process that runs commands, each in a copy of it."""
    if not hasattr(os, "fork"):
        pytest.skip("commands run in copies of a process, which need fork")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    limits = map(str, (MOST_MEMORY, MOST_SECONDS, HANGS))
    command = [sys.executable, Path(__file__).with_name("limited.py"), *limits]
    with subprocess.Popen(command, env=environment, stdin=-1, stdout=-1, text=True) as process:
        yield process
        process.kill()


@pytest.fixture
def run(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, limited: subprocess.Popen[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `aspenpy` with some arguments in an empty folder; it may refuse, and never break down."""

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        told = tmp_path_factory.mktemp("told")
        assert limited.stdin is not None
        assert limited.stdout is not None
        print(
            json.dumps([str(tmp_path), str(told / "out"), str(told / "err"), arguments]), file=limited.stdin, flush=True
        )
        status = int(limited.stdout.readline())
        out, err = ((told / name).read_text(encoding="utf-8") for name in ("out", "err"))
        assert "Traceback" not in err, err[-2000:]
        assert status in (0, 1, 2), err[-2000:]
        assert len(err) < 20_000
        return subprocess.CompletedProcess(arguments, status, out, err)

    return command


@pytest.fixture
def evaluate(tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[str]]) -> Evaluate:
    """What `aspenpy eval` makes of an application on a machine, given as texts."""

    def outcome(application: str, machine: str = MACHINE) -> Outcome:
        (tmp_path / "a.aspen").write_text(application, encoding="utf-8")
        (tmp_path / "m.aspen").write_text(machine, encoding="utf-8")
        done = run("eval", "a.aspen", "--machine", "m.aspen", "--format", "json")
        if done.returncode != 0:
            assert done.stderr.startswith("error: ")
            return Outcome(None, done.stderr)
        return Outcome(json.loads(done.stdout)["runtime"]["value"], done.stderr)

    return outcome
