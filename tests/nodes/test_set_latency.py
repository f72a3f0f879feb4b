"""Lines that meet in few sets of a cache wait for these sets: by hand."""

from __future__ import annotations

from math import hypot

import pytest

from aspenpy import predict
from tests.tiny import application, machine

LINE, SETS, WAYS = 64, 64, 8
RATE, LOADED, STORED = 32e9, 3e-9, 5e-9  # bytes a second of the second cache, seconds a set takes for a line
MACHINE = """
machine m { node n }
node n { socket s }
socket s { core [1] c  memory mem }
core c { cache l1  cache l2 }
cache l1 {
  property capacity [32 KiB] property associativity [8] property cacheline [64]
  property set_latency [3e-9] %s
}
cache l2 {
  property capacity [8 MiB] property associativity [8] property cacheline [64]
  property bandwidth [32e9] property attained_store_bandwidth [32e9]
}
memory mem { resource loads(v) [v/(1e15)]  resource stores(v) [v/(1e15)] }
"""
STORES = "property set_store_latency [5e-9]"


def seconds(requirement: str, size: int, properties: str = STORES) -> float:
    app = application(f"execute [1] {{ {requirement} }}", f"data X [{size}]")
    return float(predict(app, machine(MACHINE % properties)).runtime)


@pytest.mark.parametrize("met", [1, 2, 4, 16])
@pytest.mark.parametrize(("way", "place", "latency"), [("loads", "from", LOADED), ("stores", "to", STORED)])
def test_columns_wait_for_the_sets_that_they_meet(met: int, way: str, place: str, latency: float) -> None:
    """A column of 256 lines, for which the sets have no room."""
    lines, pitch = 256, SETS * LINE // met
    found = seconds(f"{way} [{lines}] of size [8] {place} X as nest({pitch}, {lines})", lines * pitch)
    assert found == pytest.approx(hypot(lines * LINE / RATE, lines * latency / met), rel=1e-9)


@pytest.mark.parametrize("pitch", [LINE, SETS * LINE + LINE])
def test_lines_in_all_sets_wait_hardly(pitch: int) -> None:
    """All 64 sets take a line at once: what is left of the wait is a 64th."""
    rows = 4096
    found = seconds(f"loads [{rows}] of size [8] from X as nest({pitch}, {rows})", rows * pitch)
    assert found == pytest.approx(hypot(rows * LINE / RATE, rows * LOADED / SETS), rel=1e-9)


def test_lines_that_find_room_do_not_wait() -> None:
    """Eight lines in the eight ways of a set, and words side by side."""
    pitch = SETS * LINE
    near = seconds(f"loads [8] of size [8] from X as nest({pitch}, {WAYS})", WAYS * pitch)
    assert near == pytest.approx(8 * LINE / RATE, rel=1e-9)
    assert seconds("loads [80000] of size [8] from X as stream", 640000) == pytest.approx(640000 / RATE, rel=1e-9)


def test_stores_wait_as_loads_where_the_machine_does_not_say() -> None:
    requirement = "stores [256] of size [8] to X as nest(4096, 256)"
    assert seconds(requirement, 1 << 20, "") == pytest.approx(hypot(256 * LINE / RATE, 256 * LOADED), rel=1e-9)
