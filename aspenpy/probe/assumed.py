"""Rules for what was neither measured nor told: each number that they give says `assumed`, and by what."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

from aspenpy.probe.number import Number, Numbers
from aspenpy.probe.topology import HostTopology

MOST_WAYS = 4096

CAPACITIES = {1: 32 << 10, 2: 512 << 10}
"""Bytes of a cache by its level; those further out have 8 MiB."""

Rule = Callable[[Numbers, HostTopology], tuple[float, str]]
"""A value, and the reason behind `assumed`."""

WIDTHS = {"avx512f": 16, "sve": 8, "avx": 8, "asimd": 4, "sse2": 4}
"""Lanes of single precision by what the system calls the instructions."""

SMALL_SOCKET = 16
"""Cores up to which a socket is taken to have two channels of memory."""

LATENCIES = {
    "add": 4,
    "multiply": 4,
    "fma": 4,
    "divide": 14,
    "square_root": 20,
    "compare": 3,
    "convert": 5,
    "integer": 1,
    "integer_multiply": 3,
    "load": 4,
}
"""Cycles, near those of all processors since 2015 (InstLatx64)."""


def _assume_pipes(share: float) -> Rule:
    """Two pipes, each with so large a share of an operation a cycle."""
    return lambda numbers, host: (2 * share, "two pipes")


def _assume_vectors(per_cycle: float, lanes: float, about: str) -> Rule:
    """The rule of `per_cycle` vectors per cycle, with `lanes` of them in use for each lane of single precision."""
    return lambda numbers, host: (per_cycle * int(numbers["core"]["simd_width"].value) * lanes, about)


def _assume_constant(value: float, about: str) -> Rule:
    return lambda numbers, host: (value, about)


def _assume_clock(numbers: Numbers, host: HostTopology) -> tuple[float, str]:
    return (host.hertz, f"the clock that {host.said_by} states") if host.hertz else (2.5e9, "a processor of servers")


def _assume_lanes(numbers: Numbers, host: HostTopology) -> tuple[float, str]:
    name = next((name for name in WIDTHS if name in host.features), None)
    return (WIDTHS[name], f"the processor has {name}") if name else (4, "vectors of 128 bits")


YEARS = {"avx512_vnni": 2021, "sve2": 2021, "avx512f": 2017, "asimddp": 2017, "avx2": 2013, "avx": 2011}
"""Years whose rules stand in for what no measurement says, by the system's name of the instructions."""


def _assume_year(numbers: Numbers, host: HostTopology) -> tuple[float, str]:
    name = next((name for name in YEARS if name in host.features), None)
    return (YEARS[name], f"the processor has {name}") if name else (2008, "no instructions that came later")


def _assume_cycles(part: str, name: str, about: str) -> Rule:
    """A number of cycles of the clock, as seconds."""
    return lambda numbers, host: (numbers["core"][name].value / numbers["core"]["clock"].value, about)


def _assume_bytes_per_cycle(count: float) -> Rule:
    return lambda numbers, host: (count * numbers["core"]["clock"].value, f"{count:g} B a cycle")


def _assume_attained(numbers: Numbers, host: HostTopology) -> tuple[float, str]:
    channels = 2 if host.cores <= SMALL_SOCKET else 8
    return 0.8 * channels * 25.6e9 / host.domains, f"four fifths of {channels} channels of DDR4-3200 a socket"


def _assume_core_bandwidth(numbers: Numbers, host: HostTopology) -> tuple[float, str]:
    lines = numbers["core"]["outstanding"].value * 64 / numbers["memory"]["latency"].value
    return min(lines, numbers["memory"]["attained_bandwidth"].value), "outstanding lines over the latency"


def _assume_capacity(numbers: Numbers, host: HostTopology) -> tuple[float, str]:
    if host.memory is None:
        return 16 * 2**30, "16 GiB"
    return host.memory // host.sockets // host.domains, f"an equal part of what {host.said_by} says"


def _assume_share(part: str, name: str, share: float, about: str) -> Rule:
    return lambda numbers, host: (numbers[part][name].value * share, about)


RULES: tuple[tuple[str, str, str, Rule], ...] = (
    ("core", "clock", "Hz", _assume_clock),
    ("core", "issue", "", _assume_pipes(1)),
    ("core", "simd_width", "", _assume_lanes),
    ("core", "fma_gain", "", _assume_constant(2, "fused multiply-add")),
    *(
        ("core", f"{name}_{width}_rate", "", _assume_pipes(2 if name == "fma" else 1))
        for name in ("add", "multiply", "fma")
        for width in ("dp", "sp")
    ),
    *(
        (
            "core",
            f"{name}_{width}_simd_rate",
            "",
            _assume_vectors(4 if name == "fma" else 2, lanes, "two pipes of vectors"),
        )
        for name in ("add", "multiply", "fma")
        for width, lanes in (("dp", 0.5), ("sp", 1))
    ),
    ("core", "divide_dp_rate", "", _assume_constant(0.2, "one in five cycles")),
    ("core", "square_root_dp_rate", "", _assume_constant(0.125, "one in eight cycles")),
    ("core", "integer_rate", "", _assume_constant(4, "four pipes")),
    ("core", "load_rate", "", _assume_constant(2, "two ports")),
    ("core", "store_rate", "", _assume_constant(1, "one port")),
    ("core", "load_dp_simd_rate", "", _assume_vectors(2, 0.5, "two ports of vectors")),
    ("core", "store_dp_simd_rate", "", _assume_vectors(1, 0.5, "one port of vectors")),
    *(
        ("core", f"{name}_latency", "", _assume_constant(value, "near that of most processors"))
        for name, value in LATENCIES.items()
    ),
    ("core", "outstanding", "", _assume_constant(12, "line fill buffers of many processors")),
    ("core", "reorder", "", _assume_constant(40, "steps of a loop of short chains at once")),
    ("core", "mispredict_penalty", "", _assume_constant(17, "of many processors")),
    ("core", "mispredict_dp_penalty", "", _assume_constant(25, "of many processors")),
    ("core", "learnt_outcomes", "", _assume_constant(8192, "of processors of 2017")),
    ("core", "forward_latency", "", _assume_constant(5, "of many processors")),
    ("core", "atomic_latency", "", _assume_constant(18, "of many processors")),
    ("socket", "year", "", _assume_year),
    ("socket", "transfer_latency", "s", _assume_constant(60e-9, "within a socket")),
    ("core", "unaligned", "", _assume_constant(2, "an access across two lines is two")),
    (
        "socket",
        "barrier_latency",
        "s",
        lambda numbers, host: (1e-7 * max(1.0, log2(2 * host.cores)), "100 ns for each doubling of the cores"),
    ),
    ("socket", "thread_start_latency", "s", _assume_constant(20e-6, "of Linux")),
    ("l1", "latency", "s", _assume_cycles("core", "load_latency", "a load")),
    ("l2", "latency", "s", _assume_constant(4e-9, "of most processors")),
    ("l3", "latency", "s", _assume_constant(15e-9, "of most processors")),
    ("l2", "bandwidth", "B/s", _assume_bytes_per_cycle(32)),
    ("l3", "bandwidth", "B/s", _assume_bytes_per_cycle(16)),
    ("memory", "capacity", "B", _assume_capacity),
    ("memory", "latency", "s", _assume_constant(100e-9, "of most memories")),
    ("memory", "attained_bandwidth", "B/s", _assume_attained),
    ("memory", "attained_store_bandwidth", "B/s", _assume_share("memory", "attained_bandwidth", 1, "as loads")),
    ("memory", "core_bandwidth", "B/s", _assume_core_bandwidth),
    ("memory", "core_store_bandwidth", "B/s", _assume_share("memory", "core_bandwidth", 1, "as loads")),
)
"""Rules in an order in which each finds what it uses."""


def complete_numbers(numbers: Numbers, host: HostTopology) -> Numbers:
    """The numbers, completed by assumed ones. The caches are measured or reported by the host."""
    completed = {part: dict(items) for part, items in numbers.items()}
    for part in ("core", "socket", "memory", "l1"):
        completed.setdefault(part, {})
    for cache in host.caches:
        completed.setdefault(f"l{cache.level}", {})
    for part, items in completed.items():
        if part[0] == "l":
            _complete_cache(items, int(part[1:]), host)
    for part, name, unit, rule in RULES:
        if part in completed and name not in completed[part]:
            value, reason = rule(completed, host)
            completed[part][name] = Number(value, unit, f"assumed: {reason}")
    return completed


def _complete_cache(items: dict[str, Number], level: int, host: HostTopology) -> None:
    """Capacity, ways and line of a cache, as the host tells them."""
    stated = host.cache(level)
    if stated:
        capacity = Number(stated.capacity, "B", host.said_by)
    else:
        capacity = Number(CAPACITIES.get(level, 8 << 20), "B", "assumed")
    items.setdefault("capacity", capacity)
    line = Number(stated.line, "B", host.said_by) if stated and stated.line else Number(64, "B", "assumed: 64 B")
    items.setdefault("cacheline", line)
    sizes = items["capacity"].value, items["cacheline"].value
    if level > 2:
        ways = choose_hashed_ways(*sizes)
    else:
        ways = choose_ways(*sizes, stated.ways if stated else None, host.said_by)
    items.setdefault("associativity", ways)


def choose_ways(capacity: float, line: float, stated: int | None, said_by: str) -> Number:
    """Ways as somebody states them, where they make whole sets; else eight, else as many as do."""
    lines = int(capacity // line)
    if stated and lines % stated == 0:
        return Number(stated, "", said_by)
    if lines % 8 == 0:
        return Number(8, "", "assumed: 8 ways")
    return Number(_most_ways(lines), "", "assumed: as many as make whole sets")


def choose_hashed_ways(capacity: float, line: float) -> Number:
    """Ways of a cache whose sets are hashed: as many as make sets come out even."""
    return Number(_most_ways(int(capacity // line)), "", "assumed: its sets are hashed, a line may lie nearly anywhere")


def _most_ways(lines: int) -> int:
    """The largest number of ways of which a cache of `lines` lines has a whole number of sets."""
    return next(ways for ways in range(min(MOST_WAYS, lines), 0, -1) if lines % ways == 0)
