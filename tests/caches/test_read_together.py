"""Data that all instances of a block load: one copy in a cache that they share."""

from __future__ import annotations

import pytest

from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import counted, machine_of, simulator
from tests.tiny import application, machine

SHAPE = ("L3", 65536, 16)


def misses(body: str, data: str, cores: int = 12) -> float:
    (level,) = Traffic(predict(application(body, data), machine(machine_of(SHAPE, cores=cores)))).totals
    return level.read_misses


@pytest.mark.parametrize(("size", "sweeps"), [(32768, 1), (32768, 4), (98304, 1), (98304, 3)])
def test_twelve_cores_sweep_one_table(size: int, sweeps: int) -> None:
    """Side by side in the simulator: one of twelve brings each line, as often as the table does not fit."""
    words = size // 8
    side_by_side = (("L", 8 * word, 8) for _ in range(sweeps) for word in range(words) for _ in range(12))
    (oracle,) = counted(simulator(SHAPE), side_by_side)
    asked = f"loads [{words * sweeps}] of size [8] from T as stream, reuse({sweeps})"
    assert (
        misses(f"execute [12] {{ {asked} }}", f"data T [{size}]")
        == oracle.misses
        == size / 64 * (1 if size <= 65536 else sweeps)
    )


def test_draws_of_all_bring_a_line_for_all() -> None:
    """Each of 512 lines once, of 12 x 20,000 draws; of 12 x 10 nearly each its own."""
    body = "execute [12] {{ loads [{}] of size [8] from T as random }}"
    assert misses(body.format(20000), "data T [32768]") == pytest.approx(512)
    assert misses(body.format(10), "data T [32768]") == pytest.approx(512 * (1 - (1 - 1 / 512) ** 120), rel=0.01)


def test_parts_and_stores_are_of_each() -> None:
    """Twelve parts of a table, and a vector that each instance stores: nothing is shared."""
    part = "execute [12] { loads [512] of size [8] from T as stream, reuse(2) }"
    assert misses(part, "data T [49152]") == 12 * 512 / 2 * 8 / 64
    stored = "execute [12] { loads [4096] of size [8] from T as stream stores [4096] of size [8] to T as stream }"
    assert misses(stored, "data T [32768]") == 12 * 512
