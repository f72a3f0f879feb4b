"""The kernels of PolyBench at three sizes in three caches: the model against what the exact simulator counts.

`polybench.csv` keeps the counts, which take minutes; if thorough they are made anew. docs/caches.md states the errors.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import aspenpy
from aspenpy.models.application.model import Application
from tests.caches.polybench import KERNELS, Memory
from tests.caches.programs import machine_of
from tests.cachesim import Cache
from tests.thorough import THOROUGH, thorough
from tests.tiny import machine

HERE = Path(__file__).parent

CACHES = (("L1", 8192, 8), ("L1", 16384, 4), ("L1", 32768, 16))
"""Name, bytes and ways."""


class Row(NamedTuple):
    """The loads and stores of a kernel of some size, and its misses in each of the caches."""

    kernel: str
    n: int
    loads: int
    stores: int
    misses: tuple[int, ...]


def rows() -> list[Row]:
    with (HERE / "polybench.csv").open(encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    return [Row(name, *map(int, counts[:3]), misses=tuple(map(int, counts[3:]))) for name, *counts in lines]


@cache
def models() -> Application:
    return aspenpy.load_application(HERE / "polybench.aspen")


def error(row: Row, place: int) -> float:
    """Of the misses in one of the caches, as a share of them."""
    (model,) = aspenpy.traffic(models(), machine(machine_of(CACHES[place])), kernel=row.kernel, set={"n": row.n}).totals
    assert (model.reads, model.writes) == (row.loads, row.stores)
    return abs(model.read_misses + model.write_misses - row.misses[place]) / row.misses[place]


def within(errors: list[float], share: float) -> float:
    return sum(part <= share for part in errors) / len(errors)


def test_errors_of_the_kernels() -> None:
    """Of every third kernel one size in one cache by turns; all of all if thorough."""
    found = rows()
    assert [(row.kernel, row.n) for row in found] == [
        (kernel.__name__, n) for kernel, sizes in KERNELS.items() for n in sizes
    ]
    cases = [(row, place) for row in found for place in range(len(CACHES))]
    if not THOROUGH:
        cases = [cases[9 * number + number % 9] for number in range(0, len(KERNELS), 3)]
    errors = sorted(error(row, place) for row, place in cases)
    assert errors[len(errors) // 2] <= (0.01 if THOROUGH else 0.025)
    assert within(errors, 0.1) >= (0.9 if THOROUGH else 0.75)
    assert within(errors, 0.3) >= (0.95 if THOROUGH else 0.9)


EACH = [pytest.param(kernel, marks=thorough if number % 3 else ()) for number, kernel in enumerate(KERNELS)]


@pytest.mark.parametrize("kernel", EACH, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("place", [0, pytest.param(1, marks=thorough), pytest.param(2, marks=thorough)])
def test_counts(kernel, place: int) -> None:
    """Of every third kernel those of the smallest size, of all all if thorough."""
    for row in (row for row in rows() if row.kernel == kernel.__name__):
        memory = Memory()
        kernel(row.n, memory)
        stores = sum(address < 0 for address in memory.touched)
        assert (len(memory.touched) - stores, stores) == (row.loads, row.stores)
        level = Cache(*CACHES[place])
        assert sum(_misses(level, max(address, ~address)) for address in memory.touched) == row.misses[place]
        if not THOROUGH:
            return


def _misses(level: Cache, address: int) -> bool:
    line = address // level.line
    if level.touch(line):
        return False
    level.insert(line)
    return True
