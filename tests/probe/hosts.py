"""A made-up host, and what the micro-benchmarks would print on it."""

from __future__ import annotations

from math import hypot

import aspenpy
from aspenpy.probe.assumed import complete_numbers
from aspenpy.probe.measured import derive_numbers
from aspenpy.probe.number import Numbers
from aspenpy.probe.quantity import combine_passes
from aspenpy.probe.text import About, write_machine
from aspenpy.probe.topology import CacheLevel, HostTopology

CLOCK, LANES = 2e9, 4
CYCLES = {"add": 3, "multiply": 3, "fma": 4, "divide": 13}
"""Latencies of a made-up core, which begins one operation a cycle."""

SIZES = [size for half in range(12, 27) for size in (2 << half, 3 << half)]
HOST = HostTopology(
    "Made-up processor",
    "the operating system",
    cores=2,
    memory=16 << 30,
    caches=(CacheLevel(1, 32 << 10, 8, 64), CacheLevel(2, 1 << 20, 8, 64), CacheLevel(3, 32 << 20, 16, 64, 2)),
    processors=(0, 1),
)


def latency(size: int, third: int = 16 << 20) -> float:
    """Seconds of a load in a ring of so many bytes."""
    levels = ((32 << 10, 2e-9), (1 << 20, 7e-9), (third, 20e-9))
    return next((seconds for capacity, seconds in levels if size <= capacity), 100e-9)


def readings(third: int = 16 << 20, third_of_all: int = 16 << 20) -> dict[str, float]:
    """One pass on the made-up host, whose latency turns where it says, but for the third cache."""
    found = {"vector_bytes": 8.0 * LANES, "integer_latency": 1 / CLOCK, "integer_throughput": 4 * CLOCK}
    for name, cycles in CYCLES.items():
        for width, lanes in (("dp", 1), ("sp", 1), ("dp_simd", LANES), ("sp_simd", 2 * LANES)):
            found[f"{name}_{width}_latency"] = cycles / CLOCK
            found[f"{name}_{width}_throughput"] = lanes * CLOCK / (5 if name == "divide" else 1)
            found[f"root_{width}_throughput"] = lanes * CLOCK / 10
    for name in ("compare", "convert"):
        found |= {f"{name}_dp_latency": 4 / CLOCK, f"{name}_dp_throughput": CLOCK}
    found["sum_and_root_dp_latency"] = (20 + 3) / CLOCK
    for name, ports in (("load", 2), ("store", 1)):
        found |= {f"{name}_throughput": ports * CLOCK, f"{name}_simd": ports * LANES * CLOCK}
        found[f"{name}_across"] = ports * LANES * CLOCK / 2
    found["segments_latency"] = (128 - 28) * 3 / CLOCK
    found |= {
        "integer_multiply_latency": 3 / CLOCK,
        "integer_multiply_throughput": CLOCK,
        "shift_throughput": 2 * CLOCK,
    }
    for bits in (8, 16, 32, 64):
        for name, vectors in (("integer", 2), ("logic", 3), ("shift", 1), ("integer_multiply", 1)):
            found[f"{name}_int{bits}_simd_throughput"] = vectors * 8 * LANES * 8 / bits * CLOCK
    found["permute_vectors_throughput"] = CLOCK / 2
    found |= {"dot_int8_simd_throughput": 2 * 8 * LANES * CLOCK, "atomic_latency": 18 / CLOCK, "transfer_latency": 4e-8}
    for name, lost in (("branch", 20), ("branch_dp", 28)):  # cycles of a wrong guess, four of a load among them
        found |= {f"{name}_{alike}_latency": 1 / CLOCK for alike in ("none", "all")}
        found[f"{name}_random_latency"] = (1 + lost / 2) / CLOCK
    found |= {f"sequence_{size}_latency": (2 if size < 4096 else 20) / CLOCK for size in (512, 2048, 8192, 32768)}
    found["forward_latency"] = 6 / CLOCK  # one of them an addition
    for level, rate in (("first", 100e9), ("second", 50e9), ("third", 25e9), ("memory", 10e9)):
        for way in ("load", "store", "copy"):
            found |= {f"{level}_{way}_core": rate, f"{level}_{way}_all": 2 * rate}
    found |= {"memory_copy_core": 8e9, "memory_copy_all": 16e9}
    for way, wait in (("load", 3e-9), ("store", 4e-9)):
        found |= {f"sets_{sets}_{way}_latency": hypot(1e-9, wait / sets) for sets in (1, 2, 4)}
        found[f"sets_0_{way}_latency"] = 1e-9
    for kind in ("", "_huge", "_small"):
        found |= {f"first{kind}_latency": 2e-9, f"second{kind}_latency": 7e-9, f"third{kind}_latency": 20e-9}
        found[f"memory{kind}_latency"] = 100e-9
    found |= {f"ring_{size}_latency": latency(size, third) for size in SIZES}
    found |= {f"ring_all_{size}_latency": latency(size, third_of_all) for size in SIZES if 1 << 20 < size < 64 << 20}
    found |= {f"memory_chains_{chains}_latency": 100e-9 / min(chains, 10) for chains in (4, 16, 64)}
    for pages in (128, 256, 384, 512, 768, 1024, 2048):
        known = pages <= 512
        found[f"pages_{pages}_latency"] = 7e-9 if known else 27e-9
        found[f"pages_{pages}_chains_16_latency"] = 1e-9 if known else 5e-9
    found |= {f"far_{pages}_latency": 2e-9 if pages <= 16 else 22e-9 for pages in (8, 16, 32)}
    for level in ("second", "memory"):
        found |= {f"overlap_{level}_{which}_latency": 2e-9 for which in ("far", "near", "both")}
    return found | {
        "barrier_latency": 1e-7,
        "thread_start_latency": 3e-5,
        "page_fault_latency": 2e-7,
        "page_return_latency": 1e-7,
        "process_start_latency": 6e-4,
    }


def text(
    *passes: dict[str, float], name: str = "here", host: HostTopology = HOST, beside: Numbers | None = None
) -> str:
    """The machine that passes on the made-up host describe, with parts beside the processor."""
    found = combine_passes(passes or (readings(),))
    numbers = complete_numbers(derive_numbers(found, host) | (beside or {}), host)
    return write_machine(name, numbers, host, About("2026-01-02", "made-up"))


def machine(source: str) -> aspenpy.Machine:
    found = aspenpy.parse(source)
    assert isinstance(found, aspenpy.Machine)
    return found
