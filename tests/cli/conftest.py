"""A small pair of models whose numbers can be worked out by hand, and ways to run the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from aspenpy.shell.main import main

ROOT = Path(__file__).parents[2]
PROGRAM = "from aspenpy.shell.main import main; raise SystemExit(main())"

AXPY = """\
// axpy: y = a*x + y, ten times.
model axpy {
  param n = 1000 in 1 .. 1000000
  data x as Array(n, 8)

  kernel axpy {
    execute [n] "y = a*x + y" {
      flops [2] as dp
      loads [16] from x
      stores [8]
    }
  }

  kernel main {
    iterate [10] {
      call axpy
    }
    execute {
      messages [1000]
    }
  }
}
"""

CLUSTER = """\
// cluster: two nodes of four cores.
param clock = 1 GHz in 1 GHz .. 2 GHz

machine Cluster {
  node [2] Node
  interconnect Fabric
}

node Node {
  socket Processor
}

socket Processor {
  core [4] Core
  memory Memory
  static power [10 W]
}

core Core {
  property speed [clock]
  resource flops(count) [count/(speed*1 flop)] with dp [base*2]
}

memory Memory {
  resource loads(volume) [volume/(10*giga)]
  resource stores(volume) [volume/(10*giga)]
  conflict loads, stores
}

interconnect Fabric {
  resource messages(volume) [2*micro + volume/giga]
}
"""
"""One pass of axpy: ceil(1000/8) * 2 * 2 ns = 500 ns of flops beside ceil(1000/2) * (1.6 + 0.8) ns = 1.2 us of
loads and stores, which conflict; ten passes are 12 us. The message takes 2 us + 1 us. 15 us in all."""


class Outcome(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


Runner = Callable[..., Outcome]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with `axpy.aspen` and `cluster.aspen` in it."""
    (tmp_path / "axpy.aspen").write_text(AXPY, encoding="utf-8")
    (tmp_path / "cluster.aspen").write_text(CLUSTER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(models: Path, capsys: pytest.CaptureFixture[str]) -> Runner:
    """Runs a command line in this process, beside the models."""

    def run(*arguments: str) -> Outcome:
        status = main(arguments)
        return Outcome(status, *capsys.readouterr())

    return run


def _interruptible() -> None:
    """Ctrl-C ends it, also where the tests run in the background, in which a shell has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def spawn(models: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Starts the command in a process of its own, beside the models."""

    def spawn(
        *arguments: str, program: str = PROGRAM, env: Mapping[str, str] = MappingProxyType({}), **options: Any
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            cwd=models,
            env={**os.environ, "PYTHONPATH": str(ROOT), **env},
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": _interruptible, **options},
        )

    return spawn
