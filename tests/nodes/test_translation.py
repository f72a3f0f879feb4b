"""Translation buffers and strides beyond a page: pages counted by an exact simulator, waiting by hand."""

from __future__ import annotations

from math import prod
from random import Random

import pytest

from aspenpy import load_machine, predict
from tests.caches.programs import PAGE, Reference, Walk, counted, nest
from tests.cachesim import Cache, Hierarchy
from tests.tiny import application, machine

ENTRIES, WALK = 16, 20e-9
MACHINE = """
machine m { node n }
node n { socket s }
socket s { core [2] c  memory mem }
core c {
  resource flops(x) [x/(1e9)]
  %s
  cache l1
}
cache l1 { property capacity [32 KiB] property associativity [8] property cacheline [64] }
memory mem {
  property latency [100e-9]
  resource loads(v) [v/(1e15)]
  resource stores(v) [v/(1e15)]
}
"""
BUFFER = "property page [4 KiB] property tlb_entries [16] property tlb_latency [20e-9]"


def seconds(requirement: str, size: int, core: str, instances: int = 1) -> float:
    app = application(f"execute [{instances}] {{ {requirement} }}", f"data X [{size}]")
    return float(predict(app, machine(MACHINE % core)).runtime)


def missed(references: list[Reference], ways: int = ENTRIES) -> int:
    """Misses of a buffer of 16 pages, the least recently used of which goes."""
    buffer = Hierarchy([Cache("tlb", ENTRIES * PAGE, ways, line=PAGE)])
    return counted(buffer, references)[0].misses


@pytest.mark.parametrize("rows", [8, 15, 20, 64])
@pytest.mark.parametrize("row", [512, 4096, 4096 + 64, 16384])
def test_column_walks(rows: int, row: int) -> None:
    """Columns of a matrix, one after the other: pages that the buffer knows are those of the column before."""
    walk = Walk("L", 0, 8, ((row, rows), (8, 32)))
    misses = missed(list(nest([walk])))
    found = seconds(f"loads [{walk.accesses}] of size [8] from X as {walk.trait()}", row * rows, BUFFER)
    assert found == pytest.approx(misses * WALK, rel=0.07)


@pytest.mark.parametrize("rows", [3, 6, 12])
@pytest.mark.parametrize("pages", [1, 2, 4])
def test_pages_of_a_power_of_two_meet_in_few_sets(rows: int, pages: int) -> None:
    walk = Walk("L", 0, 8, ((pages * PAGE, rows), (8, 32)))
    requirement = f"loads [{walk.accesses}] of size [8] from X as {walk.trait()}"
    found = seconds(requirement, pages * PAGE * rows, BUFFER + " property tlb_ways [4]")
    assert found == pytest.approx(missed(list(nest([walk])), ways=4) * WALK, rel=0.02)


def test_a_stream_walks_once_a_page() -> None:
    assert seconds("loads [51200] of size [8] from X as stream", 409600, BUFFER) == pytest.approx(100 * WALK, rel=0.01)


@pytest.mark.parametrize("pages", [8, 32, 200])
def test_tables(pages: int) -> None:
    draws = Random(3)
    references: list[Reference] = [("L", 8 * draws.randrange(pages * 512), 8) for _ in range(20_000)]
    found = seconds("loads [20000] of size [8] from X as random", pages * PAGE, BUFFER)
    assert found == pytest.approx(missed(references) * WALK, rel=0.03)


def test_entries_of_a_large_table_come_from_beyond_the_second_cache() -> None:
    """Lines of the page table and of the table itself, through a cache of 1,024 lines."""
    size, lines, draws = 16 << 20, 1024, Random(3)
    held: dict[int, None] = {}  # the one used longest ago first
    missed, walks = 0, 100_000
    for walk in range(walks):
        place = draws.randrange(size)
        for line in (size + place // 4096 * 8 // 64 * 64, place // 64 * 64):
            if line not in held:
                missed += line >= size and walk > walks // 10
                if len(held) == lines:
                    del held[next(iter(held))]
            held[line] = held.pop(line, None)
    text = (MACHINE % f"{BUFFER} property tlb_walks [1]").replace("  cache l1\n", "  cache l1 cache l2\n") + (
        "cache l2 { property capacity [64 KiB] property associativity [1024] property cacheline [64] "
        "property latency [10e-9] }"
    )
    app = application(f"execute {{ loads [{walks}] of size [8] from X as random, warm }}", f"data X [{size}]")
    found = float(predict(app, machine(text)).runtime)
    share = missed / (0.9 * walks)
    assert found == pytest.approx(walks * (WALK + share * 90e-9), rel=0.03)


def test_each_core_has_its_own() -> None:
    """Two cores at once, then one of them again."""
    three, one = (seconds("loads [51200] of size [8] from X as stream", 409600, BUFFER, count) for count in (3, 1))
    assert three == pytest.approx(2 * one, rel=1e-12)


def test_without_one_of_the_properties_translation_costs_nothing() -> None:
    core = BUFFER.replace("property tlb_entries [16]", "")
    assert seconds("loads [51200] of size [8] from X as stream", 409600, core) < 1e-8


@pytest.mark.parametrize(("stride", "waits"), [(64, False), (4032, False), (4096, True), (32768, True)])
def test_strides_of_a_page_wait_for_memory(stride: int, waits: bool) -> None:
    """1000 lines of 100 ns, ten at a time: prefetchers stay within a page."""
    found = seconds(f"loads [1000] of size [8] from X as stride({stride})", 1000 * stride, "property outstanding [10]")
    assert found == pytest.approx(1000 * 100e-9 / 10 if waits else 64_000 / 1e15, rel=1e-9)


@pytest.mark.parametrize(
    ("loops", "runs"),
    [
        ("8, 32, 0, 32, 8192, 1000", 1000),  # rows of a tile, 1024 words before the next
        ("8, 16, 0, 32, 8192, 1000", 1000),  # two lines, one wait
        ("8, 32, 0, 8, 0, 4, 8192, 1000", 1000),
        ("8, 32, 0, 8, 8192, 1000", 0),  # the core has begun the next row before
        ("8, 32, 0, 32, 2048, 1000", 0),  # in the same page
        ("8, 32, 8192, 1000, 0, 32", 0),  # row after row, and all of them again
    ],
)
def test_short_runs_wait_alone(loops: str, runs: int) -> None:
    """Each for a memory's latency of 100 ns: the core sweeps a row again and again before it begins the next."""
    count = prod(map(int, loops.split(", ")[1::2]))
    needed = f"loads [{count}] of size [8] from X as nest({loops})"
    found = seconds(needed, 8192 * 1000, "property outstanding [10]")
    assert found == pytest.approx(runs * 100e-9, abs=1e-8)


def test_a_page_is_as_long_as_the_core_says() -> None:
    core = "property outstanding [10] property page [2 MiB]"
    assert seconds("loads [1000] of size [8] from X as stride(32768)", 32_768_000, core) < 1e-9
    assert seconds("loads [10] of size [8] from X as stride(2 MiB)", 21_000_000, core) == pytest.approx(1e-7)


@pytest.mark.parametrize(("n", "nanoseconds"), [(4096, 13.0), (4000, 4.0)])
def test_columns_of_a_matrix_on_a_gold_6148(n: int, nanoseconds: float) -> None:
    """Measured, a line: rows of 32 KiB meet in few sets and come from memory each time, without neighbours (a fifth too
    fast); rows of 32,000 B stay in the second cache, and each access looks up a page."""
    trait = f"nest(8*{n}, {n}, 8, {n}), warm"
    app = application(f"execute {{ loads [{n}^2] of size [8] from X as {trait} }}", f"data X [8*{n}^2]")
    found = float(predict(app, load_machine("xeon_gold_6148")).runtime) / n**2
    assert found == pytest.approx(nanoseconds * 1e-9, rel=0.21)


@pytest.mark.parametrize(("conflict", "each"), [("", WALK), ("conflict tlb, loads", WALK + 10e-9)])
def test_a_lookup_may_come_before_its_load(conflict: str, each: float) -> None:
    """Lines of 100 ns, ten at a time, each in a page of its own."""
    core = f"{BUFFER} property outstanding [10] {conflict}"
    found = seconds("loads [1000] of size [8] from X as stride(8192)", 8_192_000, core)
    assert found == pytest.approx(1000 * each, rel=1e-9)
