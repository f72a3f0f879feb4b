"""How a benchmark is described, and how it is measured."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]

Action = Callable[[], Any]


class Subject(NamedTuple):
    """What is measured: the thing itself, what it is compared with, and whether its result is right."""

    run: Action
    baseline: Action
    is_right: Callable[[Any], bool]


class Reading(NamedTuple):
    """The best of several measurements, both in the benchmark's unit."""

    value: float
    baseline: float

    @property
    def ratio(self) -> float:
        return self.value / self.baseline


class Benchmark(NamedTuple):
    """Something people wait for or pay for, with a limit on its ratio to a baseline of the same run.

    `subject` does what is not to be measured and hands over what is; `gauge` measures one action.
    """

    title: str
    baseline: str
    limit: float
    subject: Callable[[], Subject]
    gauge: Callable[[Action], float]
    unit: str = "s"


def measured(benchmark: Benchmark, runs: int) -> Reading:
    """Both are measured in turns. The best counts: what else the computer does can only add to a measurement."""
    subject = benchmark.subject()
    subject.run(), subject.baseline()
    pairs = [(benchmark.gauge(subject.run), benchmark.gauge(subject.baseline)) for _ in range(runs)]
    return Reading(*map(min, zip(*pairs, strict=True)))


def seconds(action: Action) -> float:
    """Wall-clock time; what is short is repeated until the caches of the processor are warm, as in a loop."""
    repeats = 1
    while True:
        start = time.perf_counter()
        for _ in range(repeats):
            action()
        spent = time.perf_counter() - start
        if spent > 0.02:
            return spent / repeats
        repeats *= 10


def python(*arguments: str) -> str:
    """What a fresh Python prints, with its bytecode kept as it usually is."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment).stdout


def bare_python() -> str:
    """The least a Python program takes."""
    return python("-c", "pass")


def aspenpy_command(*arguments: str) -> str:
    """What the command `aspenpy` prints, in a fresh process."""
    return python("-c", "from aspenpy.__main__ import main; raise SystemExit(main())", *arguments)
