"""Lattice: the places of a loop's steps round a cache, counted without a table of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy


class Lattice(NamedTuple):
    """Steps of so many units round a cache of `units`."""

    step: int
    units: int

    def between(self, low: Any, high: Any, trips: Any) -> Any:
        """How many of the places that the first trips come to, and of those a whole number of rounds further, are above
        `low` and at most `high`. All steps of a cycle meet each multiple of the divisor that step and round share."""
        divisor = math.gcd(self.step, self.units)
        cycles, rest = numpy.divmod(trips, self.units // divisor)
        all_of_cycle = high // divisor - low // divisor
        return cycles * all_of_cycle + self._count_below(high, rest) - self._count_below(low, rest)

    def _count_below(self, end: Any, trips: Any) -> Any:
        """The sum of floor((end - step t) / units) over the trips t."""
        return sums_of_floors(trips, self.step, self.units, end - self.step * (trips - 1))


def sums_of_floors(counts: Any, step: int, modulus: int, begins: Any) -> Any:
    """The sums of floor((begin + step t) / modulus) over t below each count: what is whole is taken out, and the points
    under the line are counted by its other axis, as in Euclid's algorithm (Graham, Knuth and Patashnik, Concrete
    Mathematics, 1994, section 3.5)."""
    counts, begins = (numpy.array(part, dtype=numpy.int64) for part in numpy.broadcast_arrays(counts, begins))
    total = numpy.zeros_like(counts)
    while True:
        whole, begins = numpy.divmod(begins, modulus)
        times, step = divmod(step, modulus)
        total += counts * (counts - 1) // 2 * times + counts * whole
        if not step:
            return total
        counts, begins = numpy.divmod(step * counts + begins, modulus)
        step, modulus = modulus, step
        if not counts.any():
            return total
