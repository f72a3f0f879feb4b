"""Cycles of straight-line code by llvm-mca, a program of LLVM that simulates the pipeline of a processor by the
scheduling model of the compiler (Di Biagio and Davis, "llvm-mca: a static performance analysis tool", 2018).

It is called where it is installed, under its own name or with the number of a version; nothing else needs it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

from aspenpy.record import Record

VERSIONS = range(30, 13, -1)
"""Numbers behind the program's name, as distributions have them; the newest is taken."""

PATIENCE = 60
"""Seconds that llvm-mca may take."""

GENERIC = "generic"
"""The processor of hosts that neither llvm-mca nor GCC knows."""


class Simulator(Record):
    """An installed llvm-mca: its path, its version, the processor that it finds here."""

    program: str
    version: str
    host: str


@cache
def find_simulator() -> Simulator | None:
    """The newest llvm-mca on the path; None where there is none."""
    for name in (*(f"llvm-mca-{number}" for number in VERSIONS), "llvm-mca"):
        program = shutil.which(name)
        said = _call([program, "--version"], "") if program else None
        version = said and re.search(r"LLVM version (\S+)", said)
        if program and said and version:
            host = re.search(r"Host CPU: (\w\S*)", said)
            return Simulator(program, version[1], host[1] if host else _nearest_processor())
    return None


def _nearest_processor() -> str:
    """The processor that GCC generates code for on a host that is newer than llvm-mca."""
    said = _call(["gcc", "-march=native", "-Q", "--help=target"], "")
    match = re.search(r"^ *-march= *\t*([\w-]+)", said or "", re.MULTILINE)
    return match[1] if match else GENERIC


def simulate(simulator: Simulator, processor: str, windows: Sequence[Sequence[str]]) -> list[int] | None:
    """Cycles of each window of instructions on a processor; None where llvm-mca refuses the processor, or a window."""
    if not windows:
        return []
    parts = []
    for number, window in enumerate(windows):
        parts += [f"# LLVM-MCA-BEGIN w{number}", *window, f"# LLVM-MCA-END w{number}"]
    views = ["--all-views=false", "--summary-view", "--iterations=1", "--json", "--skip-unsupported-instructions=any"]
    if int(simulator.version.split(".")[0]) < 19:
        views = views[:-1]
    said = _call([simulator.program, f"-mcpu={processor}", *views, "-"], "\n".join(parts) + "\n")
    try:
        regions = json.loads(said or "")["CodeRegions"]
        cycles = {region["Name"]: int(region["SummaryView"]["TotalCycles"]) for region in regions}
        return [cycles[f"w{number}"] for number in range(len(windows))]
    except (ValueError, KeyError, TypeError):
        return None


def _call(words: list[str], given: str) -> str | None:
    try:
        done = subprocess.run(words, input=given, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
