"""Measured quantities: the best of several passes, and how far the passes are from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from aspenpy.record import Record

UNCERTAIN = 0.2
"""The spread above which a quantity is marked."""


class Quantity(Record):
    """The best of the passes, and how far the median pass is from it, relative to it."""

    value: float
    spread: float

    @property
    def uncertain(self) -> bool:
        return self.spread > UNCERTAIN


Quantities = Mapping[str, Quantity]


def quantities(passes: Sequence[Mapping[str, float]]) -> dict[str, Quantity]:
    """Each name's least time or highest rate: whatever disturbs a window makes it longer."""
    names = dict.fromkeys(name for found in passes for name in found)
    return {name: _of([found[name] for found in passes if name in found], "latency" in name) for name in names}


def _of(values: Sequence[float], least: bool) -> Quantity:
    best = min(values) if least else max(values)
    return Quantity(best, abs(median(values) / best - 1) if best else 0.0)
