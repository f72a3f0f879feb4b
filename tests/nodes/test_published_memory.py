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
        ("graviton_4", READS, 465.5, 0.02, "c8g.16xlarge, learn.arm.com, memory-subsystem/multicore-bandwidth; stated"),
        ("graviton_4", TRIAD, 402.2, 0.17, "the same, two reads to a write, non-temporal"),
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
    found = chase(machine, 2_000_000_000, **{f"{core_of(machine)}.page": 2 << 20})
    assert found == pytest.approx(nanoseconds, rel=near)


def core_of(machine: str) -> str:
    """The name of a machine's core, not of the family that it is like."""
    loaded = aspenpy.load_machine(machine)
    places = loaded.first_places(loaded.sockets[0])
    return next(place.component.name for place in places if place.component.type == "core")


def chase(machine: str, size: int, **changed: float) -> float:
    """Nanoseconds of a load that waits for the one before, at random in data of so many bytes."""
    loaded = aspenpy.load_machine(machine)
    chased = application(f"execute {{ {CHASE} }}", f"data a [{size}]")
    return 1e3 * aspenpy.predict(chased, loaded, set=changed).runtime


WESTMERE = [  # cycles of an X5650 at 2.67 GHz and ns, in pages of 1 GB: 7-cpu.com/cpu/Westmere.html
    (32, 4, 0), (64, 7, 0), (128, 9, 0), (256, 9, 0), (512, 26, 0), (1024, 33, 0), (2048, 37, 0), (4096, 38, 0),
    (8192, 39, 0), (16384, 40, 15), (32768, 40, 44), (65536, 40, 54),
]  # fmt: skip


@pytest.mark.parametrize(("kibibytes", "cycles", "nanoseconds"), WESTMERE)
def test_chain_of_loads_by_the_size_of_its_data(kibibytes: int, cycles: int, nanoseconds: int) -> None:
    """The latencies of the levels are the library's from the same page; the shares of hits between them are not."""
    found = chase("xeon_x5670", kibibytes << 10, x5670_clock=2.667e9, **{"x5670_core.page": 1 << 30})
    assert found == pytest.approx(cycles / 2.667 + nanoseconds, rel=0.1)


@pytest.mark.parametrize(("kibibytes", "cycles"), [(32, 4), (64, 8), (128, 10), (256, 11)])
def test_chain_of_loads_in_private_caches(kibibytes: int, cycles: int) -> None:
    """An i7-3770, of the same cores: 7-cpu.com/cpu/IvyBridge.html. Its last cache is another one."""
    found = chase("xeon_e5_2637_v2", kibibytes << 10, e5_2637_v2_clock=3.4e9)
    assert found == pytest.approx(cycles / 3.4, rel=0.05)


@pytest.mark.parametrize(("mebibytes", "nanoseconds", "near"), [(128, 122, 0.07), (512, 134, 0.04)])
def test_chain_of_loads_on_rome_in_small_pages(mebibytes: int, nanoseconds: int, near: float) -> None:
    """AnandTech 14694, an EPYC 7742 with one NUMA node a socket; the library's latency of memory is the first."""
    assert chase("epyc_7742", mebibytes << 20) == pytest.approx(nanoseconds, rel=near)


STRUCTURAL = "AnandTech 14694, the latencies of the levels, which the library has from there"


@pytest.mark.parametrize(
    ("machine", "kibibytes", "cycles", "gigahertz", "source"),
    [
        ("xeon_e5_2670", 16, 4, 3.3, "a Core i7-3960X, of the same cores and ring: techreport.com/articles.x/21987"),
        ("xeon_e5_2670", 192, 12, 3.3, "the same"),
        ("xeon_e5_2670", 8192, 30, 3.3, "the same"),
        ("epyc_7742", 16, 4, 3.4, STRUCTURAL),
        ("epyc_7742", 384, 13, 3.4, STRUCTURAL),
        ("epyc_7742", 12288, 34, 3.4, STRUCTURAL),
        ("xeon_platinum_8280", 16, 4, 2.7, STRUCTURAL),
        ("xeon_platinum_8280", 512, 14, 2.7, STRUCTURAL),
        ("xeon_platinum_8280", 16384, 46, 2.7, STRUCTURAL),
    ],
)
def test_chain_of_loads_in_each_cache(machine: str, kibibytes: int, cycles: int, gigahertz: float, source: str) -> None:
    """In data that fill most of the level, so that few loads are found nearer; without misses of translations."""
    clock = {"epyc_7742": "epyc_7742_clock", "xeon_e5_2670": "e5_2670_clock"}.get(machine, "platinum_8280_clock")
    changed = {clock: gigahertz * 1e9, f"{core_of(machine)}.page": 1 << 30}
    found = chase(machine, kibibytes << 10, **changed)
    assert found == pytest.approx(cycles / gigahertz, rel=0.15), source


def test_what_one_core_of_a_graviton_draws_of_memory() -> None:
    """Arm's System Characterization Tool on a c8g.16xlarge: learn.arm.com, memory-subsystem/streaming-bandwidth. The
    library states it; the page is typed in here."""
    loaded = aspenpy.load_machine("graviton_4")
    found = aspenpy.predict(application(f"execute {{ {READS.format(cores=1)} }}", DATA), loaded)
    assert 8 / found.runtime == pytest.approx(37.0, rel=0.05)
