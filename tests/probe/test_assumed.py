"""What the probe assumes of hosts that tell it little: each rule by hand."""

from __future__ import annotations

from math import log2

import pytest

from aspenpy.probe.assumed import complete_numbers
from aspenpy.probe.number import Number
from aspenpy.probe.topology import CacheLevel, HostTopology

CACHES = tuple(
    CacheLevel(level=level, capacity=capacity, line=64, ways=8)
    for level, capacity in ((1, 32 << 10), (2, 512 << 10), (3, 16 << 20))
)
SMALL = HostTopology(
    "small", "lstopo", 2, 16, 2, 2, 64 << 30, CACHES, features=frozenset({"avx", "avx2", "sse2"}), hertz=3e9
)
LARGE = HostTopology("large", "lstopo", 1, 17)
ONE = HostTopology("one", "lstopo", 1, 1, features=frozenset({"avx512f", "avx512_vnni", "avx2", "avx"}))

EXPECTED = [
    (SMALL, "core", {
        "clock": 3e9, "issue": 2, "simd_width": 8, "fma_gain": 2, "divide_dp_rate": 0.2, "square_root_dp_rate": 0.125,
        "add_dp_rate": 2, "add_sp_rate": 2, "multiply_dp_rate": 2, "fma_dp_rate": 4, "fma_sp_rate": 4,
        "add_dp_simd_rate": 8, "add_sp_simd_rate": 16, "multiply_sp_simd_rate": 16,  # 2 vectors of 8 lanes, or 4
        "fma_dp_simd_rate": 16, "fma_sp_simd_rate": 32,
        "integer_rate": 4, "load_rate": 2, "store_rate": 1, "load_dp_simd_rate": 8, "store_dp_simd_rate": 4,
        "add_latency": 4, "divide_latency": 14, "square_root_latency": 20, "load_latency": 4, "compare_latency": 3,
        "convert_latency": 5, "integer_latency": 1, "integer_multiply_latency": 3,
        "outstanding": 12, "mispredict_penalty": 17, "unaligned": 2,
    }),
    (SMALL, "socket", {
        "year": 2013, "barrier_latency": 5e-7, "transfer_latency": 60e-9, "thread_start_latency": 2e-5,
    }),
    (SMALL, "l1", {"latency": 4 / 3e9, "capacity": 32 << 10, "associativity": 8, "cacheline": 64}),
    (SMALL, "l2", {"latency": 4e-9, "bandwidth": 96e9, "capacity": 512 << 10}),
    (SMALL, "l3", {"latency": 15e-9, "bandwidth": 48e9, "capacity": 16 << 20}),
    # 64 GiB of 2 sockets of 2 domains; two channels of 25.6 GB/s, by four fifths, for 2 domains; 12 lines in 100 ns
    (SMALL, "memory", {
        "capacity": 16 << 30, "latency": 100e-9, "attained_bandwidth": 20.48e9, "attained_store_bandwidth": 20.48e9,
        "core_bandwidth": 7.68e9, "core_store_bandwidth": 7.68e9,
    }),
    (LARGE, "core", {"clock": 2.5e9, "simd_width": 4, "add_sp_simd_rate": 8}),
    (LARGE, "socket", {"year": 2008, "barrier_latency": 1e-7 * log2(34)}),
    (LARGE, "l1", {"latency": 4 / 2.5e9, "capacity": 32 << 10, "cacheline": 64}),
    (LARGE, "memory", {"capacity": 16 << 30, "attained_bandwidth": 163.84e9}),  # eight channels from 17 cores on
    (ONE, "core", {"simd_width": 16}),
    (ONE, "socket", {"year": 2021, "barrier_latency": 1e-7}),
    (HostTopology("arm", "", features=frozenset({"asimd", "asimddp"})), "core", {"simd_width": 4}),
    (HostTopology("arm", "", features=frozenset({"asimd", "asimddp"})), "socket", {"year": 2017}),
    (HostTopology("sve", "", features=frozenset({"asimd", "sve", "sve2"})), "core", {"simd_width": 8}),
    (HostTopology("sve", "", features=frozenset({"asimd", "sve", "sve2"})), "socket", {"year": 2021}),
    (HostTopology("avx", "", features=frozenset({"avx", "sse2"})), "socket", {"year": 2011}),
]  # fmt: skip


@pytest.mark.parametrize(("host", "part", "expected"), EXPECTED)
def test_rules_by_hand(host: HostTopology, part: str, expected: dict[str, float]) -> None:
    found = complete_numbers({}, host)[part]
    assert {name: found[name].value for name in expected} == pytest.approx(expected)


def test_what_is_assumed_says_so() -> None:
    found = complete_numbers({}, LARGE)
    rules = [number.source for part in ("core", "socket", "memory") for number in found[part].values()]
    assert all(source.startswith("assumed: ") for source in rules)
    assert found["core"]["clock"].source == "assumed: a processor of servers"
    assert complete_numbers({}, SMALL)["core"]["clock"].source == "assumed: the clock that lstopo states"
    assert complete_numbers({}, SMALL)["l2"]["capacity"].source == "lstopo"
    assert "8 channels" in found["memory"]["attained_bandwidth"].source


def test_what_was_measured_stays_and_is_built_on() -> None:
    """A slower memory bounds what a core draws; a clock changes what is said in cycles."""
    measured = {
        "core": {"clock": Number(1e9, "Hz", "measured"), "outstanding": Number(20, "", "measured")},
        "memory": {"attained_bandwidth": Number(5e9, "B/s", "measured"), "latency": Number(64e-9, "s", "measured")},
    }
    found = complete_numbers(measured, SMALL)
    assert found["core"]["clock"] is measured["core"]["clock"]
    assert found["l1"]["latency"].value == pytest.approx(4e-9)
    assert found["l2"]["bandwidth"].value == pytest.approx(32e9)
    assert found["memory"]["core_bandwidth"].value == pytest.approx(5e9)  # 20 GB/s of lines
    assert found["memory"]["attained_store_bandwidth"].value == pytest.approx(5e9)
    assert "clock" not in measured.get("l1", {}), "what was given is not changed"
    assert set(measured) == {"core", "memory"}
