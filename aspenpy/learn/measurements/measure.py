"""Measuring: a command run again and again, until the mean of its runtime is known well enough, with what the machine
offers to count."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Source
from aspenpy.learn.measurements.read import require_library
from aspenpy.learn.measurements.tools import read_perf
from aspenpy.record import Record
from aspenpy.tables.result import Result

POWERCAP = Path("/sys/class/powercap")
EVENTS = "instructions,cycles,cache-misses,stalled-cycles-backend"
LONGEST_MESSAGE = 200


class StoppingRule(Record):
    """When enough runs are done: half the confidence interval of the mean runtime, relative to it, or the most runs.
    `trimmed` leaves out the shortest and the longest (Tiwari and others 2014, section 3.1)."""

    precision: float = 0.05
    confidence: float = 0.95
    least: int = 5
    most: int = 50
    trimmed: bool = False


class MeasuredRun(Record):
    """Times and counts of one run, by column with its unit."""

    values: Mapping[str, float]

    @property
    def seconds(self) -> float:
        return self.values["runtime [s]"]


class Measured(Record, Result):
    """Runs of a command, the mean of their runtimes with half its confidence interval, whether that met the target, and
    what could not be collected, with the reason."""

    command: tuple[str, ...]
    runs: tuple[MeasuredRun, ...]
    mean: float
    half: float
    met: bool
    target: StoppingRule
    missing: tuple[tuple[str, str], ...]


def measure(
    command: Sequence[str], target: StoppingRule, watch: Callable[[int, float], None] | None = None
) -> Measured:
    """Runs a command, its output discarded, until its target is met. Raises AspenError where it cannot be run, or ends
    with an error."""
    counters, missing = find_counters(command)
    runs: list[MeasuredRun] = []
    while True:
        runs.append(run_once(command, counters))
        mean, half = confidence_interval([run.seconds for run in runs], target)
        if watch is not None:
            watch(len(runs), half / mean)
        met = len(runs) >= target.least and half <= target.precision * mean
        if met or len(runs) >= target.most:
            return Measured(
                tuple(command), tuple(runs), mean, half=half, met=met, target=target, missing=tuple(missing)
            )


def confidence_interval(values: Sequence[float], target: StoppingRule) -> tuple[float, float]:
    """The mean, and half its confidence interval by Student's t; infinite for fewer than two values."""
    require_library("scipy", "a confidence interval")
    from scipy.stats import t

    used = sorted(values)[1:-1] if target.trimmed and len(values) > 3 else list(values)
    if len(used) < 2:
        return fmean(used), float("inf")
    quantile = float(t.ppf((1 + target.confidence) / 2, len(used) - 1))
    return fmean(used), quantile * stdev(used) / len(used) ** 0.5


# -- a run -----------------------------------------------------------------------------------------


class CounterSources(Record):
    """Counters read besides times: RAPL energy by column, and the program perf if it counts events."""

    energies: tuple[tuple[str, Path], ...]
    perf: str | None


def run_once(command: Sequence[str], counters: CounterSources) -> MeasuredRun:
    """Runs a command and measures its time, events and energies. Raises AspenError where it fails."""
    with count_events(command, counters) as (line, events):
        before = {name: read_microjoules(path) for name, path in counters.energies}
        began = perf_counter()
        try:
            process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        except OSError as error:
            fail("no-command", f"`{command[0]}` cannot be run: {error.strerror}")
        with process:
            message = process.stderr.read() if process.stderr is not None else b""
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = perf_counter() - began
        if process.returncode:
            said = message.decode("utf-8", "replace").strip()[-LONGEST_MESSAGE:]
            ended = f"`{' '.join(command)}` ended with status {process.returncode}"
            fail("command-failed", ended, hint=said.splitlines()[-1] if said else None)
        values = {"runtime [s]": seconds, "cpu_time [s]": used.ru_utime + used.ru_stime}
        for name, path in counters.energies:
            values[name] = energy_difference(before[name], read_microjoules(path), path) / 1e6
        return MeasuredRun(values | events())


@contextmanager
def count_events(
    command: Sequence[str], counters: CounterSources
) -> Iterator[tuple[list[str], Callable[[], dict[str, float]]]]:
    """The command line, inside perf where perf counts, and a function that reads the counts."""
    if counters.perf is None:
        yield list(command), dict
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "perf.csv"

        def read() -> dict[str, float]:
            (row,) = read_perf(Source(file.read_text(encoding="utf-8"), str(file))).rows
            return {name: float(cell.value) for name, cell in row.items() if cell.value != ""}

        yield [counters.perf, "stat", "-x,", "-e", EVENTS, "-o", str(file), "--", *command], read


def read_microjoules(path: Path) -> int:
    return int(path.read_text(encoding="utf-8"))


def energy_difference(before: int, after: int, path: Path) -> float:
    """Energy between two readings (microjoules); counters wrap at their maximum."""
    if after >= before:
        return after - before
    return after - before + int((path.parent / "max_energy_range_uj").read_text(encoding="utf-8"))


# -- what the machine offers -----------------------------------------------------------------------


def find_counters(command: Sequence[str]) -> tuple[CounterSources, list[tuple[str, str]]]:
    """Counters available on this machine, and missing ones with the reason."""
    if not command:
        fail("no-command", "there is no command to measure", hint="aspenpy measure -- COMMAND ...")
    missing: list[tuple[str, str]] = []
    energies = []
    for folder in sorted(POWERCAP.glob("intel-rapl:*")) if POWERCAP.is_dir() else []:
        try:
            name = (folder / "name").read_text(encoding="utf-8").strip()
            read_microjoules(folder / "energy_uj")
        except (OSError, ValueError):
            missing.append((f"energy of {folder.name}", "its counter cannot be read: the kernel lets only root do so"))
            continue
        socket = folder.name.removeprefix("intel-rapl:").replace(":", "_")
        energies.append((f"energy_{name}_{socket} [J]", folder / "energy_uj"))
    if not energies and not missing:
        missing.append(("energy", f"there are no RAPL counters in {POWERCAP}"))
    perf, why = find_perf()
    if why is not None:
        missing.append(("hardware counters", why))
    if shutil.which("nvidia-smi") is None:
        missing.append(("energy of GPUs", "there is no nvidia-smi"))
    else:
        missing.append(("energy of GPUs", "read a log of `nvidia-smi --query-gpu=... --format=csv` with --read"))
    return CounterSources(tuple(energies), perf), missing


def find_perf() -> tuple[str | None, str | None]:
    """Path of perf if it counts events here, otherwise the reason why not."""
    program = shutil.which("perf")
    if program is None:
        return None, "there is no program perf"
    tried = subprocess.run(
        [program, "stat", "-x,", "-e", EVENTS, "true"], capture_output=True, text=True, check=False, timeout=60
    )
    counted = [line for line in tried.stderr.splitlines() if line[:1].isdigit()]
    return (program, None) if counted else (None, "perf counts no events here: they are not supported or not allowed")


def tabulate_runs(measured: Measured, labels: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The runs as rows of a tidy table."""
    return [dict(labels) | {"run": number} | dict(run.values) for number, run in enumerate(measured.runs, 1)]
