"""Between which values the hardware of this host, or of one whose tools' output was saved, can be set.

Listing 4.1 of Umar's dissertation (Virginia Tech, 2018).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from glob import glob
from pathlib import Path
from subprocess import DEVNULL, SubprocessError, run

from aspenpy.language.diagnostics import fail
from aspenpy.language.opening import read_whole_file
from aspenpy.record import Record


class SystemRange(Record):
    """The least and the greatest value of a hardware component, in its base unit, and which line of what says so."""

    component: str
    low: float
    high: float
    origin: str


Read = Callable[[str], list[SystemRange]]
UNITS = {"k": 1e3, "M": 1e6, "G": 1e9}
NUMBER = r"(\d{1,12}(?:\.\d{1,12})?)(?![\d.])"


def cpufreq(text: str) -> list[SystemRange]:
    """`cpupower frequency-info`: hardware limits of the clock."""
    match = re.search(rf"hardware limits:\s*{NUMBER} ([kMG])Hz\s*[-\u2013]\s*{NUMBER} ([kMG])Hz", text)
    if match is None:
        return []
    low, high = (float(match[at]) * UNITS[match[at + 1]] for at in (1, 3))
    return [SystemRange("clock", low, high, f"cpupower: {match[0]}")]


def sysfs(text: str) -> list[SystemRange]:
    """`grep . /sys/devices/system/cpu/cpu0/cpufreq/*`, in kHz; with `intel_pstate/*_perf_pct` the part of it that is
    allowed (kernel.org, admin-guide/pm/intel_pstate)."""
    ends = [re.search(rf"cpuinfo_{end}_freq:{NUMBER}", text) for end in ("min", "max")]
    if ends[0] is None or ends[1] is None:
        return []
    low, high = (1e3 * float(end[1]) for end in ends if end)
    origin = f"cpufreq: {ends[0][0]}, {ends[1][0]}"
    for index, end in enumerate(("min", "max")):
        percent = re.search(rf"intel_pstate/{end}_perf_pct:{NUMBER}", text)
        if percent is not None:
            limit = float(percent[1]) / 100 * 1e3 * float(ends[1][1])
            low, high = (max(low, limit), high) if index == 0 else (low, min(high, limit))
            origin += f", {percent[0]}"
    return [SystemRange("clock", low, high, origin)]


COUNTS = {"cores": "Core(s) per socket", "sockets": "Socket(s)", "smt": "Thread(s) per core"}


def lscpu(text: str) -> list[SystemRange]:
    """`lscpu`: clocks, and from one up to as many cores, sockets and threads as there are."""
    ranges = []
    ends = [re.search(rf"CPU {end} MHz:\s*{NUMBER}", text) for end in ("min", "max")]
    if ends[0] is not None and ends[1] is not None:
        low, high = (1e6 * float(end[1]) for end in ends if end)
        ranges.append(SystemRange("clock", low, high, "lscpu: CPU min MHz, CPU max MHz"))
    for component, label in COUNTS.items():
        count = re.search(rf"^\s*{re.escape(label)}:\s*(\d+)", text, re.MULTILINE)
        if count is not None and int(count[1]) > 1:
            ranges.append(SystemRange(component, 1.0, float(count[1]), f"lscpu: {label}: {count[1]}"))
    return ranges


def nvidia(text: str) -> list[SystemRange]:
    """`nvidia-smi -q -d SUPPORTED_CLOCKS`: the graphics clocks at the highest memory clock, and the memory clocks."""
    if "Supported Clocks" not in text:
        return []
    blocks: dict[float, list[float]] = {}
    for kind, clock in re.findall(r"(Memory|Graphics)\s*:\s*(\d+) MHz", text):
        if kind == "Memory":
            blocks.setdefault(1e6 * float(clock), [])
        elif blocks:
            blocks[list(blocks)[-1]].append(1e6 * float(clock))
    named = {"clock": blocks[max(blocks)] if blocks else [], "memory_clock": list(blocks)}
    return [
        SystemRange(name, min(clocks), max(clocks), f"nvidia-smi: {len(clocks)} supported clocks")
        for name, clocks in named.items()
        if len(clocks) > 1
    ]


READERS: tuple[Read, ...] = (cpufreq, sysfs, lscpu, nvidia)
COMMANDS = (("cpupower", "frequency-info"), ("lscpu",), ("nvidia-smi", "-q", "-d", "SUPPORTED_CLOCKS"))
FILES = ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_*_freq", "/sys/devices/system/cpu/intel_pstate/*_perf_pct")
HOST = "host"
LONGEST_RUN = 20  # seconds that a tool may take


def system_ranges(name: str) -> tuple[SystemRange, ...]:
    """The ranges in a file with saved output of one or several of these tools, or of this host. The first range of a
    component holds. Raises AspenError for a file in which no range is found."""
    texts = _read_host() if name == HOST else [_text(name)]
    ranges: dict[str, SystemRange] = {}
    for text in texts:
        for reader in READERS:
            for item in reader(text):
                ranges.setdefault(item.component, item)
    if not ranges and name != HOST:
        hint = "save what cpupower frequency-info, lscpu or nvidia-smi -q -d SUPPORTED_CLOCKS prints"
        fail("no-ranges", f"`{name}` contains no range of a hardware component", hint=hint)
    return tuple(ranges.values())


def _text(name: str) -> str:
    return read_whole_file(name, hint="`host` reads this machine").decode(errors="replace")


def _read_host() -> list[str]:
    """Text of this host's files and tools, empty for a file that cannot be read, and for a tool that is not there,
    fails or does not end."""
    lines = [f"{path}:{text}" for pattern in FILES for path in glob(pattern) if (text := _read_kernel_file(path))]
    return ["\n".join(lines), *map(_run_tool, COMMANDS)]


def _read_kernel_file(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:  # of some drivers not for everybody
        return ""


def _run_tool(command: Sequence[str]) -> str:
    try:
        done = run(command, stdout=-1, stderr=DEVNULL, stdin=DEVNULL, text=True, timeout=LONGEST_RUN, check=False)
    except (OSError, SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""
