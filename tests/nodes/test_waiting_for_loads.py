"""Chains of loads and branches that name the data they wait for: arithmetic by hand, and LRU caches."""

from __future__ import annotations

import random
from collections import OrderedDict

import pytest

import aspenpy
from aspenpy import AspenError, predict
from tests.tiny import application, machine

MACHINE = """
machine m { node n }
node n { socket s }
socket s { core [2] c cache l2 memory d }
core c {
  property clock [2e9] property load_latency [5] property mispredict_penalty [16] property outstanding [8]
  resource chain(number) [number/clock] with load [base*load_latency], restarts(steps) [base/2], add [base*4]
  resource branches(number) [number/clock] with mispredicted(rate) [base*rate*mispredict_penalty]
  cache l1
}
cache l1 { property capacity [32 KiB] property associativity [512] property cacheline [64] property latency [5/2e9] }
cache l2 { property capacity [1 MiB] property associativity [16384] property cacheline [64] property latency [7e-9] }
memory d {
  property latency [100e-9]
  resource loads(v) [v/200e9] resource stores(v) [v/200e9] conflict loads, stores
}
"""
CYCLE = 0.5
N = 1_000_000


def nanoseconds(body: str, size: str, text: str = MACHINE) -> float:
    """Of each of a million links."""
    found = predict(application(f"execute {{ {body} }}", f"data list [{size}]"), machine(text))
    return float(found.runtime) / N * 1e9


FIRST, SECOND, MEMORY = 5 * CYCLE, 7.0, 100.0


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("16 KiB", FIRST),
        ("64 KiB", FIRST / 2 + SECOND / 2),  # half of the lines are in the first cache
        ("512 KiB", FIRST / 16 + SECOND * 15 / 16),
        ("4 MiB", FIRST / 128 + SECOND * (1 / 4 - 1 / 128) + MEMORY * 3 / 4),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        "chain [1e6] from list as load, random, warm",
        "chain [1e6] from list as load  loads [1e6] of size [8] from list as random, warm",
        "loads [1e6] of size [8] from list as random, warm  chain [1e6] from list as load",
        "stores [1e6] of size [8] to list as random, warm  chain [1e6] from list as load, random, warm",
    ],
)
def test_a_link_takes_the_latency_of_the_level_that_holds_it(body: str, size: str, expected: float) -> None:
    assert nanoseconds(body, size) == pytest.approx(expected, rel=0.002)


def lru_latency(lines: int, first: int, second: int, links: int = 200_000) -> float:
    """Nanoseconds of a link of a random walk through warm lines, in two inclusive LRU caches of so many lines."""
    draw, caches = random.Random(7), (OrderedDict[int, None](), OrderedDict[int, None]())
    spent = 0.0
    for step in range(2 * links):
        line = draw.randrange(lines)
        held = [line in cache for cache in caches]
        if step >= links:
            spent += FIRST if held[0] else SECOND if held[1] else MEMORY
        for cache, most in zip(caches, (first, second), strict=True):
            cache[line] = None
            cache.move_to_end(line)
            if len(cache) > most:
                cache.popitem(last=False)
    return spent / links


@pytest.mark.parametrize("kibibytes", [40, 200, 1500, 8000])
def test_a_walk_takes_as_long_as_in_caches_that_are_walked(kibibytes: int) -> None:
    found = nanoseconds("chain [1e6] from list as load, random, warm", f"{kibibytes} KiB")
    assert found == pytest.approx(lru_latency(kibibytes * 16, 512, 16384), rel=0.02)


def misses_beside_neighbours(lines: int, most: int, rate: float, links: int = 40_000) -> float:
    """The share of a random walk through warm lines that an LRU cache misses, while others bring `rate` lines a ns."""
    draw, cache = random.Random(11), OrderedDict[int, None]()
    others, due, missed = 0, 0.0, 0
    for step in range(2 * links):
        line = draw.randrange(lines)
        held = line in cache
        missed += step >= links and not held
        cache[line] = None
        cache.move_to_end(line)
        due += rate * (15 if held else 200)
        while due >= 1:
            others, due = others - 1, due - 1
            cache[others] = None
        while len(cache) > most:
            cache.popitem(last=False)
    return missed / links


def test_a_walk_finds_less_of_a_cache_that_others_use() -> None:
    """Of 4,096 lines to which others bring 0.04 a ns. A probe sees the turn where the mean of 15 ns and 200 ns is the
    geometric one; what lies beyond it is found less than by its share."""
    most, rate, sizes = 4096, 0.04, range(600, 1500, 100)
    means = {lines: 15 + 185 * misses_beside_neighbours(lines, most, rate) for lines in sizes}
    turn = next(lines for lines in sizes if means[lines] > (15 * 200) ** 0.5)
    text = MACHINE.replace("latency [7e-9]", f"latency [15e-9] property chain_capacity [{64 * turn}]")
    text = text.replace(
        "capacity [1 MiB] property associativity [16384]", "capacity [256 KiB] property associativity [4096]"
    )
    text = text.replace("latency [100e-9]", "latency [200e-9]").replace(
        "capacity [32 KiB] property associativity [512]", "capacity [64] property associativity [1]"
    )
    for times in (0.5, 1.5, 2, 3):
        lines = round(times * turn)
        found = nanoseconds("chain [1e6] from list as load, random, warm", str(64 * lines), text)
        assert (found - 15) / 185 == pytest.approx(misses_beside_neighbours(lines, most, rate), abs=0.15)


def test_what_is_touched_first_comes_from_memory() -> None:
    assert nanoseconds("chain [1e6] from list as load", "64e6") == pytest.approx(
        # of a million draws of a million lines 1 - 1/e are first ones, and 1 - 1/61 of the others lie outside
        MEMORY * (1 - 16384 / 1e6 / 2),
        rel=0.02,
    )


def test_independent_chains_overlap_as_far_as_misses_are_outstanding() -> None:
    one = nanoseconds("chain [1e6] from list as load, random, warm", "4 MiB")
    assert nanoseconds("chain [1e6] from list as load, chains(4), random, warm", "4 MiB") == pytest.approx(one / 4)
    near, far = FIRST / 128, one - FIRST / 128
    sixteen = nanoseconds("chain [1e6] from list as load, chains(16), random, warm", "4 MiB")
    assert sixteen == pytest.approx(near / 16 + far / 8, rel=1e-3)
    assert nanoseconds("chain [1e6] as add, chains(4)", "8") == pytest.approx(4 * CYCLE / 4)
    assert nanoseconds("chain [1e6] from list as load, restarts(9), random, warm", "4 MiB") == pytest.approx(one / 2)
    window = MACHINE.replace("restarts(steps) [base/2]", "restarts(steps) [base*steps/64]")
    found = nanoseconds("chain [1e6] from list as load, restarts(2), random, warm", "4 MiB", window)
    assert found == pytest.approx(near / 32 + far / 8, rel=1e-3)  # 32 at once, of which 8 miss


def test_a_mispredicted_branch_waits_for_its_load() -> None:
    latency = FIRST / 128 + SECOND * (1 / 4 - 1 / 128) + MEMORY * 3 / 4
    found = nanoseconds("branches [1e6] from list as mispredicted(0.5), random, warm", "4 MiB")
    assert found == pytest.approx(CYCLE + 0.5 * (16 * CYCLE + latency), rel=0.002)  # a branch begins in a cycle
    right = nanoseconds("branches [1e6] from list as mispredicted(0), random, warm", "4 MiB")
    assert right == pytest.approx(0.5, rel=1e-9)  # they begin, one a cycle


def test_pages_that_are_looked_up_are_part_of_the_latency() -> None:
    pages = "property page [4 KiB] property tlb_entries [64] property tlb_latency [5e-9] property tlb_walks [4]"
    with_pages = MACHINE.replace("property outstanding [8]", f"property outstanding [8] {pages}")
    body = "chain [1e6] from list as load, random, warm"
    without = nanoseconds(body, "4 MiB")
    missed = 1 - 64 / 1024
    assert nanoseconds(body, "4 MiB", with_pages) - without == pytest.approx(missed * 20, rel=0.01)  # one at a time
    eight = "chain [1e6] from list as load, chains(8), random, warm"
    more = nanoseconds(eight, "4 MiB", with_pages) - nanoseconds(eight, "4 MiB")
    assert more == pytest.approx(missed * 5, rel=0.01)  # four at a time


def test_a_list_in_line_is_fetched_ahead() -> None:
    found = nanoseconds("chain [1e6] from list as load, stream", "8e6")
    assert found == pytest.approx(FIRST, rel=0.01)


def test_data_lie_in_the_memory_that_is_named() -> None:
    text = MACHINE.replace("memory d }", "memory d memory slow }") + (
        "memory slow { property latency [300e-9] resource loads(v) [v/20e9] resource stores(v) [v/20e9] }"
    )
    app = aspenpy.parse(
        "model m { data list [64 MiB] in slow kernel main { execute { chain [1e6] from list as load, random, warm } } }"
    )
    found = predict(app, machine(text)).runtime / 1e6  # type: ignore[arg-type]
    assert found == pytest.approx((1 - 1 / 64) * 300e-9 + (1 / 64 - 1 / 2048) * 7e-9, rel=0.01)


def test_a_machine_without_latency_is_refused_where_it_is_waited_for() -> None:
    with pytest.raises(AspenError) as caught:
        nanoseconds("chain [1e6] from list as load, warm", "4 MiB", MACHINE.replace("property latency [100e-9]", ""))
    assert caught.value.diagnostics[0].code == "no-latency"
