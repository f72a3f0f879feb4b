"""What hardware and the system bring and write beside what a program asks for: neighbours of lines, and new pages."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest

from aspenpy import AspenError
from aspenpy.answers.traffic import Traffic, traffic
from aspenpy.models.library import load_application
from tests.caches.programs import LINE, PAGE, Walk, machine_of, modelled, nest, simulator
from tests.cachesim import Hierarchy
from tests.tiny import codes, machine

CACHE = ("L1", 16384, 8)


def lines_of_memory(found: Traffic) -> tuple[float, float]:
    """Read and written at the last level."""
    last = [use for use in found.uses if use.level == found.totals[-1].name]
    return sum(use.fetched for use in last) / LINE, sum(use.written_back for use in last) / LINE


# -- neighbours ------------------------------------------------------------------------------------


def pairs_read(stride: int, count: int, reach: int) -> float:
    """Lines that come: each with the other of its 128 bytes where that is used, and 1 - stride/reach of them beyond."""
    lines = {stride * k // LINE for k in range(count)}
    others = {line ^ 1 for line in lines} - lines
    share = 1 if stride <= 2 * LINE else max(0, 1 - stride / reach)
    return len(lines) + share * len(others)


@pytest.mark.parametrize("stride", [8, 64, 128, 192, 256, 512, 1024, 2048, 4096, 8192])
@pytest.mark.parametrize(("stated", "reach"), [("", PAGE), ("property prefetch_reach [1024]", 1024)])
def test_neighbours_within_reach(stride: int, stated: str, reach: int) -> None:
    text = machine_of(CACHE, more=f"property prefetch [2] {stated}")
    requirement = f"loads [8192] of size [8] from X as stride({stride})"
    read, written = lines_of_memory(modelled(requirement, f"data X [{8192 * stride}]", text))
    assert read == pytest.approx(pairs_read(stride, 8192, reach), rel=1e-3)
    assert written == 0


def test_reach_of_the_innermost_loop() -> None:
    """A column of a matrix, two pages from row to row, and then the next."""
    text = machine_of(("L1", 1 << 20, 8), more="property prefetch [2]")
    requirement = "loads [2048] of size [8] from X as nest(8256, 256, 8, 8)"
    assert lines_of_memory(modelled(requirement, "data X [2113600]", text)) == (256, 0)


# -- new pages -------------------------------------------------------------------------------------


def stored(caches: Hierarchy, places: list[int]) -> tuple[int, int]:
    """Lines read and written where a page is zeroed in the first cache just before it is touched first."""
    seen = set[int]()
    for place in places:
        if place // PAGE not in seen:
            seen.add(place // PAGE)
            for line in range(place // PAGE * PAGE // LINE, (place // PAGE + 1) * PAGE // LINE):
                caches._write_back(0, line)
        caches.store(place, 8)
    caches.flush()
    return caches.memory.lines_read, caches.memory.lines_written


@pytest.mark.parametrize("stride", [8, 64, 200, 1000, 4096, 5000, 8192])
@pytest.mark.parametrize("sweeps", [1, 2])
def test_new_pages(stride: int, sweeps: int) -> None:
    """The first sweep fetches nothing and writes whole pages; later ones fetch and write the lines of the words."""
    shapes = (("L1", 4096, 8), ("L2", 16384, 8))
    places = [stride * k for k in range(3072)] * sweeps
    read, written = stored(simulator(*shapes), places)
    requirement = f"stores [{len(places)}] of size [8] to X as stride({stride}), reuse({sweeps}), fresh"
    found = modelled(requirement, f"data X [{stride * 3072}]", machine_of(*shapes))
    assert lines_of_memory(found) == pytest.approx((read, written), rel=0.02)


def test_a_load_of_what_was_just_stored() -> None:
    """Data that are built up in new pages: a loop that adds to them fetches nothing either."""
    requirements = "loads [8192] of size [8] from X as stream stores [8192] of size [8] to X as stream, fresh"
    assert lines_of_memory(modelled(requirements, "data X [65536]", machine_of(CACHE))) == (0, 1024)


@pytest.mark.parametrize(
    ("requirement", "code"),
    [
        ("loads [10] from X as stream, fresh", "not-a-store"),
        ("stores [10] to X as stream, fresh, warm", "contradiction"),
        ("stores [10] to X as stream, streaming, fresh", "contradiction"),
    ],
)
def test_senseless_pages(requirement: str, code: str) -> None:
    with pytest.raises(AspenError) as refusal:
        modelled(requirement, "data X [640]", machine_of(CACHE))
    assert codes(refusal.value) == [code]


def test_the_strided_product_again() -> None:
    """Its second run fetches each line of the result and writes it; the first fetches none and writes whole pages."""
    model, text = load_application("strided_multiply"), machine(machine_of(("LLC", 32 << 20, 16)))
    again = traffic(model, text, set={"new_pages": 0, "step": 100})
    assert lines_of_memory(again) == (3e6, 1e6)


# -- stores past the caches ------------------------------------------------------------------------


def gathered(places: Iterable[int]) -> int:
    """Lines that leave a buffer which gathers the words of one line."""
    lines = [place // LINE for place in places]
    return 1 + sum(line != before for before, line in pairwise(lines))


@pytest.mark.parametrize(
    ("pattern", "loops"),
    [
        ("stream", ((8, 4096),)),
        ("stream, reuse(4)", ((8, 1024), (0, 4))),
        ("stride(200)", ((200, 4096),)),
        ("nest(8, 64, 1024, 64)", ((8, 64), (1024, 64))),
        ("nest(1024, 64, 8, 64)", ((1024, 64), (8, 64))),
        ("nest(8, 16, 512, 16, 0, 4, 128, 4)", ((8, 16), (512, 16), (0, 4), (128, 4))),
        ("blocked(2048), reuse(4)", ((8, 256), (0, 4), (2048, 4))),
    ],
)
def test_streaming_stores(pattern: str, loops: tuple[tuple[int, int], ...]) -> None:
    """Each line is written as often as the stores come to it, however large the caches; the second sees nothing."""
    walk = Walk("S", 0, 8, loops)
    requirement = f"stores [4096] of size [8] to X as {pattern}, streaming"
    found = modelled(requirement, "data X [819200]", machine_of(("L1", 16384, 8), ("L2", 1 << 20, 16)))
    assert lines_of_memory(found) == (0, gathered(place for _, place, _ in nest([walk])))
    first, second = found.totals
    assert (first.writes, first.bytes, second.writes) == (4096, 0, 0)


def test_what_is_stored_past_the_caches_is_not_there() -> None:
    """Loads of the same data fetch them, and other data have the caches for themselves."""
    requirements = (
        "stores [4096] of size [8] to X as stream, streaming loads [4096] of size [8] from X as stream "
        "loads [40960] of size [8] from Y as stream, reuse(10)"
    )
    found = modelled(requirements, "data X [32768] data Y [32768]", machine_of(("L1", 1 << 17, 8)))
    assert lines_of_memory(found) == (512 + 512, 512)


def test_scattered_stores_past_the_caches() -> None:
    """No two in a row to one line, but by chance."""
    requirement = "stores [4096] of size [8] to X as random, streaming"
    found = modelled(requirement, "data X [1048576]", machine_of(CACHE))
    assert lines_of_memory(found) == (0, pytest.approx(4096, rel=1e-3))
