"""Messages between processes of this host: a ping-pong, where there are an MPI and its compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from aspenpy.probe.number import Number, Numbers, make_number
from aspenpy.probe.quantity import Quantities, combine_passes
from aspenpy.probe.topology import HostTopology
from aspenpy.record import Record

SOURCE = Path(__file__).parent / "messages.c"
OPTIONS = ("-std=gnu11", "-O2")
COMPILER, LAUNCHER = "mpicc", "mpirun"
MOST_RANKS = 16
PASSES = 6
LIMIT = 30.0
"""Seconds after which compiling, or running, is given up."""

NOTHING: Quantities = {}

OF_PAIR, OF_ALL = "message_", "message_of_all_"


class MessageTimes(Record):
    """Times of messages, by name, and how many processes sent at once; a remark where nothing was measured, and why.
    Both are empty on a host without MPI."""

    found: Quantities = NOTHING
    ranks: int = 0
    remark: str = ""


NO_MESSAGES = MessageTimes()


class Line(Record):
    """T(m) = latency + m/bandwidth (Hockney, Parallel Computing 20(3), 1994, eq. 1), and `rendezvous` more beyond
    `threshold` bytes: seconds and bytes a second. `worst` is its largest error, as a share of what was measured."""

    latency: float
    bandwidth: float
    worst: float
    rendezvous: float = 0.0
    threshold: int = 0


def measure_messages(host: HostTopology) -> MessageTimes:
    """Measures with the compiler and the launcher that are on the path, with no options but the number of processes.
    What the launcher refuses, such as to run for root, is said."""
    compiler, launcher = shutil.which(COMPILER), shutil.which(LAUNCHER)
    ranks = min(len(host.processors) // 2 * 2, MOST_RANKS)
    if compiler is None or launcher is None:
        return NO_MESSAGES
    if ranks < 2:
        return MessageTimes(remark="Messages were not measured: they want two cores.")
    with TemporaryDirectory(prefix="aspenpy-") as folder:
        target = Path(folder, "messages")
        try:
            _output_of([compiler, *OPTIONS, str(SOURCE), "-o", str(target)])
            text = _output_of([launcher, "-n", str(ranks), str(target), str(PASSES)])
        except (OSError, subprocess.SubprocessError) as error:
            return MessageTimes(remark=f"Messages were not measured: {_find_reason(error)}.")
    passes = [dict(_parse_number(line) for line in part.splitlines() if line) for part in text.split("pass\n")[1:]]
    return MessageTimes(combine_passes(passes), ranks)


def _output_of(command: list[str]) -> str:
    """Output of a command, which sees the environment of this process."""
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT, env=dict(os.environ))
    return done.stdout


def _find_reason(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {LIMIT:g} s"
    said = str(getattr(error, "stderr", "") or error)
    lines = [line.strip(" .") for line in said.splitlines() if line.strip(" -*=.")]
    return next((line for line in lines if "root" in line or "error" in line.lower()), (*lines, "no reason")[0])


def _parse_number(line: str) -> tuple[str, float]:
    name, value = line.split()
    return name, float(value)


def fit_line(seconds: Mapping[int, float]) -> Line:
    """The line through times by bytes, the sum of whose squared relative errors is least; with a step, if the largest
    error is then two thirds or less."""
    sizes = sorted(seconds)
    plain = _fit_stepped_line(seconds, 0)
    stepped = min(
        (_fit_stepped_line(seconds, size) for size in sizes[1:-2]), key=lambda line: line.worst, default=plain
    )
    return stepped if 3 * stepped.worst <= 2 * plain.worst else plain


def _fit_stepped_line(seconds: Mapping[int, float], threshold: int) -> Line:
    """The line with a step beyond `threshold` bytes, or without one at 0. A step downwards has an infinite error."""
    import numpy as np

    rows = [[1.0, size, float(size > threshold)][: 3 if threshold else 2] for size in seconds]
    scaled = [[part / time for part in row] for row, time in zip(rows, seconds.values(), strict=True)]
    latency, inverse, *step = map(float, np.linalg.lstsq(np.array(scaled), np.ones(len(rows)), rcond=None)[0])
    worst = max(
        abs(sum(part * by for part, by in zip(row, (latency, inverse, *step), strict=True)) - 1) for row in scaled
    )
    if min(latency, inverse, *step, 1.0) <= 0:
        small, large = min(seconds), max(seconds)
        return Line(seconds[small], large / seconds[large], float("inf"))
    return Line(latency, 1 / inverse, worst, *(step and (step[0], threshold)))


def derive_message_numbers(messages: MessageTimes) -> Numbers:
    """The properties of an interconnect between the processes of a host; none where nothing was measured."""
    if not messages.found:
        return {}
    results = messages.found
    pair = {
        int(name.split("_")[1]): item
        for name, item in results.items()
        if name.startswith(OF_PAIR) and not name.startswith(OF_ALL)
    }
    line = fit_line({size: item.value for size, item in pair.items()})
    used = tuple(pair.values())
    about = f"two processes by MPI, {min(pair)} B to {max(pair) >> 20} MiB, all of them within {line.worst:.0%}"
    step = {
        "rendezvous_threshold": Number(line.threshold, "B", "beyond so many bytes, messages take longer: measured"),
        "rendezvous_latency": make_number(line.rendezvous, "s", "so much longer", *used),
    }
    name, every = next((name, item) for name, item in results.items() if name.startswith(OF_ALL))
    together = messages.ranks / 2 * int(name.split("_")[3]) / every.value
    return {
        "messages": {
            "latency": make_number(line.latency, "s", about, *used),
            **(step if line.threshold else {}),
            "link_bandwidth": make_number(line.bandwidth, "B/s", about, *used),
            "bandwidth": make_number(together, "B/s", f"{messages.ranks} processes in pairs at once", every)
            if together >= line.bandwidth
            else make_number(line.bandwidth, "B/s", "of two processes: more at once took longer", *used),
        }
    }
