"""Latency and bandwidth of memory that others have measured and published, one socket each."""

from __future__ import annotations

import pytest

import aspenpy
from tests.tiny import application

READS = "loads [1e9/{cores}] of size [8] from a as stream"
TRIAD = (
    "loads [1e9/{cores}] of size [8] from a as stream  loads [1e9/{cores}] of size [8] from b as stream  "
    "stores [1e9/{cores}] of size [8] to c as stream, streaming"
)
CHASE = "chain [1e6] from a as load, random, warm"
DATA = "data a [8e9] data b [8e9] data c [8e9]"

CODE = "gjbex/Code-optimization, Memory Latency Checker, half of two sockets"
AZURE = "Microsoft's pages on STREAM of HB virtual machines, half of two sockets, the middle of what is expected"


@pytest.mark.parametrize(
    ("machine", "body", "gigabytes_a_second", "near", "source"),
    [
        ("xeon_platinum_8280", READS, 112.8, 0.12, f"Gold 6240: {CODE}"),
        ("xeon_platinum_8280", TRIAD, 93.7, 0.17, f"Gold 6240: {CODE}"),
        ("xeon_platinum_8360y", READS, 175.9, 0.01, CODE),
        ("xeon_platinum_8360y", TRIAD, 160.1, 0.03, CODE),
        ("xeon_platinum_8470", READS, 246.0, 0.05, f"Sapphire Rapids, four NUMA domains: {CODE}"),
        ("xeon_platinum_8470", TRIAD, 211.8, 0.06, f"Sapphire Rapids, four NUMA domains: {CODE}"),
        ("epyc_7742", TRIAD, 130.0, 0.13, f"HBv2: {AZURE}"),
        ("epyc_7763", TRIAD, 170.0, 0.06, f"HBv3: {AZURE}"),
        ("epyc_9654", TRIAD, 357.5, 0.06, f"HBv4: {AZURE}"),
    ],
)
def test_bandwidth_of_all_cores(machine: str, body: str, gigabytes_a_second: float, near: float, source: str) -> None:
    loaded = aspenpy.load_machine(machine)
    core = next(place for place in loaded.first_places(loaded.sockets[0]) if place.component.type == "core")
    cores = round(float(aspenpy.predict(application("execute { flops [1] }"), loaded).scope.values([core.count], 0)[0]))
    needs = body.format(cores=cores)
    found = aspenpy.predict(application(f"execute [{cores}] {{ {needs} }}", DATA), loaded)
    moved = 8 * (3 if body is TRIAD else 1)  # of each of 1e9 elements
    assert moved / found.runtime == pytest.approx(gigabytes_a_second, rel=near), source


@pytest.mark.parametrize(
    ("machine", "nanoseconds", "near"),
    [  # the library's own number for the first three
        ("xeon_platinum_8180", 81.3, 0.02),
        ("xeon_platinum_8280", 81.2, 0.03),
        ("xeon_platinum_8360y", 89.1, 0.03),
        ("xeon_platinum_8470", 96.3, 0.07),
    ],
)
def test_latency_of_loads_at_random_in_huge_pages(machine: str, nanoseconds: float, near: float) -> None:
    loaded = aspenpy.load_machine(machine)
    places = loaded.first_places(loaded.sockets[0])  # not the family that a core is like
    core = next(place.component.name for place in places if place.component.type == "core")
    chased = application(f"execute {{ {CHASE} }}", "data a [2e9]")
    found = aspenpy.predict(chased, loaded, set={f"{core}.page": 2 << 20})
    assert found.runtime * 1e3 == pytest.approx(nanoseconds, rel=near)
