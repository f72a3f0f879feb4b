"""Measured quantities: the best of several passes, and how far the others are from it."""

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


def combine_passes(passes: Sequence[Mapping[str, float]]) -> dict[str, Quantity]:
    """The best value of each name: whatever disturbs a measurement makes times longer and rates lower."""
    names = dict.fromkeys(name for results in passes for name in results)
    return {name: _best_value(name, [results[name] for results in passes if name in results]) for name in names}


def _best_value(name: str, values: Sequence[float]) -> Quantity:
    """The least of times, which have `latency` in their name, the highest of rates."""
    best = min(values) if "latency" in name else max(values)
    return Quantity(best, abs(median(values) / best - 1) if best else 0.0)
