"""What a measured kernel is told to do first: at, below and above each share and factor."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aspenpy.answers.ceilings import COMPUTE
from aspenpy.learn.measured_roofline import MeasuredPoint, _advise, _find_roof, _highest

LOW, HIGH = SimpleNamespace(traits=(), rate=10.0), SimpleNamespace(traits=("dp", "simd"), rate=40.0)
MEMORY = SimpleNamespace(traits=(), rate=8.0, component="ram")
ROOFLINE: Any = SimpleNamespace(compute=[LOW, HIGH], memory=[MEMORY], at_work=lambda ceiling: ceiling)


def measured(share: float, bound_by: str = "ram", **more: Any) -> MeasuredPoint:
    """100 flops in 10 s, under a roof that makes this the share."""
    stated = {"time": 10.0, "flops": 100.0, "volume": 50.0, "roof": 10 / share} | more
    return MeasuredPoint("k", "k", predicted=9.0, of_model=(), bound_by=bound_by, **stated)


def point(volume: float = 50.0, flops: float = 100.0, time: float = 1.0, bottleneck: str | None = "ram") -> Any:
    return SimpleNamespace(volume=volume, flops=flops, time=time, bottleneck=bottleneck)


MISSED = "below the memory's roof: check the threads and their placement, prefetching, strides and load balance"
AT_MEMORY = "at the memory's roof: move fewer bytes (fuse loops, block)"
ABOVE = "above its roof: check the counts, what runs (--set, ranks), and the machine's bandwidth and clock"
FLOPS = "below the roof of flops: check that it is vectorised, and for chains of dependent operations"


@pytest.mark.parametrize(
    ("found", "of_model", "said"),
    [
        (measured(0.5, time=None), None, "no point yet: measure its time"),
        (measured(0.5, flops=None), None, "no point yet: count flops and bytes, or name its kernel with --map"),
        (measured(1.0201), None, ABOVE),
        (measured(1.0199), None, AT_MEMORY),
        (measured(0.8001), None, AT_MEMORY),
        (measured(0.7999), None, MISSED),
        (measured(0.7999, COMPUTE), None, FLOPS),
        (measured(0.5), point(volume=39.9), "moves 1.3 times the model's bytes: block for caches, avoid write-"),
        (measured(0.5), point(volume=40.0), MISSED),  # five quarters are not told apart
        (measured(0.5), point(volume=0.0), MISSED),
        (measured(0.5), point(flops=79.9), "does 1.3 times the model's flops: look for work that is done twice"),
        (measured(0.5), point(flops=80.0), MISSED),
        (measured(0.5), point(volume=25.0, flops=50.0), "moves 2 times the model's bytes"),  # bytes come first
        (measured(0.5), point(time=8.01), "slow as predicted, by ram: see `aspenpy explain`"),
        (measured(0.5), point(time=8.0), MISSED),
        (measured(0.5), point(time=8.01, bottleneck=None), MISSED),
        (measured(0.5, COMPUTE), point(time=8.01, bottleneck=COMPUTE), FLOPS),
    ],
)
def test_the_first_finding_that_holds(found: MeasuredPoint, of_model: Any, said: str) -> None:
    item: Any = SimpleNamespace(volume=found.volume, flops=found.flops)
    assert _advise(found, item, of_model, ROOFLINE).startswith(said)


def test_what_was_not_counted_is_not_compared() -> None:
    item: Any = SimpleNamespace(volume=None, flops=None)
    assert _advise(measured(0.5), item, point(volume=1.0, flops=1.0), ROOFLINE) == MISSED


@pytest.mark.parametrize(
    ("roof", "said"),
    [
        (10.0, "at its roof of flops: as dp, simd that is 4 times as high"),
        (32.0, "at its roof of flops: as dp, simd that is 1.2 times as high"),
        (32.1, "at the machine's roof: do fewer flops, or in a lower precision"),
    ],
)
def test_a_higher_roof_of_flops(roof: float, said: str) -> None:
    found = measured(0.9, COMPUTE, roof=roof, flops=roof * 9)
    assert _advise(found, SimpleNamespace(volume=None, flops=None), None, ROOFLINE) == said  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("flops", "volume", "of_model", "roof"),
    [
        (None, 50.0, None, (None, "")),
        (0.0, 50.0, None, (None, "")),
        (100.0, None, None, (40.0, COMPUTE)),
        (100.0, 25.0, None, (32.0, "ram")),  # 8 B/s times 4 flop/B
        (100.0, 20.0, None, (40.0, COMPUTE)),  # both are as high
        (100.0, 25.0, SimpleNamespace(compute_roof=20.0, bus_roof=None), (20.0, COMPUTE)),
        (100.0, 25.0, SimpleNamespace(compute_roof=20.0, bus_roof=4.0), (16.0, "ram")),
    ],
)
def test_the_lower_of_two_roofs(
    flops: float | None, volume: float | None, of_model: Any, roof: tuple[float | None, str]
) -> None:
    assert _find_roof(flops, volume, of_model, ROOFLINE) == roof


def test_a_machine_without_memory_has_no_roof_of_it() -> None:
    bare: Any = SimpleNamespace(compute=[LOW, HIGH], memory=[], at_work=lambda ceiling: ceiling)
    assert _find_roof(100.0, 25.0, None, bare) == (40.0, COMPUTE)
    assert _highest(bare, []) == 0.0
    assert _highest(bare, [HIGH, LOW]) == 40.0
