"""The topology of a host: sockets, cores, threads, NUMA domains and caches, as Linux tells them in its file systems."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from aspenpy.language.diagnostics import fail
from aspenpy.record import Record

CPUS = "sys/devices/system/cpu"
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


class CacheLevel(Record):
    """A data cache: `sharing` is how many cores use one together, None what is not told."""

    level: int
    capacity: int
    ways: int | None = None
    line: int | None = None
    sharing: int = 1


class HostTopology(Record):
    """Sockets, cores in each, hardware threads of a core, NUMA domains in a socket, bytes of memory in all, caches from
    the first level on, and the processors to measure on: one for each core of the first socket that may be used.
    `said_by` is who tells it."""

    processor: str
    said_by: str
    sockets: int = 1
    cores: int = 1
    threads: int = 1
    domains: int = 1
    memory: int | None = None
    caches: tuple[CacheLevel, ...] = ()
    processors: tuple[int, ...] = (0,)
    features: frozenset[str] = frozenset()
    hertz: float | None = None

    def cache(self, level: int) -> CacheLevel | None:
        return next((cache for cache in self.caches if cache.level == level), None)


def read_topology(root: Path = Path("/"), allowed: Iterable[int] | None = None) -> HostTopology:
    """Topology of the host whose file system begins at `root`. `allowed` are the processors that a process may use.
    Raises AspenError where the system is no Linux."""
    places = _find_processors(root)
    if not places:
        fail("no-topology", f"there is no processor in {root / CPUS}: the probe reads the topology of Linux")
    usable = set(places) if allowed is None else set(allowed)
    packages = sorted({package for package, _ in places.values()})
    first = next(
        (package for package in packages if usable & {p for p, at in places.items() if at[0] == package}), packages[0]
    )
    inside = {processor: core for processor, (package, core) in places.items() if package == first}
    cores = {core: processor for processor, core in sorted(inside.items(), reverse=True)}
    chosen = {core: processor for processor, core in sorted(inside.items(), reverse=True) if processor in usable}
    info = _read_cpuinfo(root / "proc/cpuinfo")
    return HostTopology(
        processor=info.get("model name") or info.get("cpu model") or info.get("cpu") or "unknown processor",
        said_by="the operating system",
        sockets=len(packages),
        cores=len(cores),
        threads=max(1, len(inside) // len(cores)),
        domains=_count_domains(root, set(inside)),
        memory=_read_memory(root / "proc/meminfo"),
        caches=_read_caches(root, min(inside), inside),
        processors=tuple(sorted(chosen.values())) or tuple(sorted(cores.values())),
        features=frozenset((info.get("flags") or info.get("Features") or "").split()),
        hertz=_read_clock(root, info),
    )


def _find_processors(root: Path) -> dict[int, tuple[int, tuple[int, int]]]:
    """Package and core of each processor that is online; a core is known by die and number. Where a kernel does not
    number packages (-1, on some ARM), they are one."""
    processors = {}
    for folder in (root / CPUS).glob("cpu[0-9]*"):
        number = int(folder.name.removeprefix("cpu"))
        if _read_text(folder / "online") == "0":
            continue
        package = max(0, _read_number(folder / "topology/physical_package_id", 0))
        die, core = _read_number(folder / "topology/die_id", 0), _read_number(folder / "topology/core_id", number)
        processors[number] = (package, (die, core))
    return processors


def _read_caches(root: Path, processor: int, inside: dict[int, tuple[int, int]]) -> tuple[CacheLevel, ...]:
    levels = []
    for folder in (root / CPUS / f"cpu{processor}/cache").glob("index*"):
        size = re.fullmatch(r"(\d+)([KMG]?)", _read_text(folder / "size"))
        if _read_text(folder / "type") == "Instruction" or size is None:
            continue
        users = parse_processors(_read_text(folder / "shared_cpu_list")) or {processor}
        ways, line = _read_number(folder / "ways_of_associativity", 0), _read_number(folder / "coherency_line_size", 0)
        levels.append(
            CacheLevel(
                _read_number(folder / "level", 1),
                int(size[1]) * UNITS.get(size[2], 1),
                ways or None,
                line or None,
                len({core for other, core in inside.items() if other in users}) or 1,
            )
        )
    return tuple(sorted(levels, key=lambda cache: cache.level))


def parse_processors(text: str) -> set[int]:
    """`0-3,8` as a set."""
    numbers: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.strip().isdecimal() and (last or first).strip().isdecimal():
            numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def _count_domains(root: Path, inside: set[int]) -> int:
    nodes = (root / "sys/devices/system/node").glob("node[0-9]*")
    return max(1, sum(bool(parse_processors(_read_text(node / "cpulist")) & inside) for node in nodes))


def _read_memory(file: Path) -> int | None:
    match = re.search(r"^MemTotal: *(\d+) kB", _read_text(file), re.MULTILINE)
    return None if match is None else int(match[1]) * 1024


def _read_cpuinfo(file: Path) -> dict[str, str]:
    """Fields of `/proc/cpuinfo` for the first processor."""
    lines = _read_text(file).partition("\n\n")[0].splitlines()
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _read_clock(root: Path, info: dict[str, str]) -> float | None:
    """The highest clock that the system states, else the one of the moment."""
    kilohertz = _read_number(root / CPUS / "cpu0/cpufreq/cpuinfo_max_freq", 0)
    if kilohertz:
        return kilohertz * 1e3
    said = info.get("cpu MHz", "")
    return float(said) * 1e6 if re.fullmatch(r"\d+(\.\d+)?", said) else None


def _read_text(file: Path) -> str:
    """Text of a file; empty where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _read_number(file: Path, without: int) -> int:
    text = _read_text(file)
    return int(text) if re.fullmatch(r"-?\d+", text) else without
