"""Counting the references of one histogram: how many there are at each distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aspenpy.traces.distances import Totals
from aspenpy.traces.sample import GROUPS, standard_errors
from aspenpy.traces.stack import COLD

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tally:
    """Counts by distance, and of first references; of a sample, for each of its groups."""

    def __init__(self, rate: float | None) -> None:
        self.rate = rate
        self.references = 0
        """All there were, also those that are not in the sample."""
        self._groups = 1 if rate is None else GROUPS
        self._counts = np.zeros((0, self._groups), np.int64)
        self._cold = np.zeros(self._groups, np.int64)

    def add(self, distances: NDArray[np.int64], groups: NDArray[np.int64] | None) -> None:
        """Counts some references; `groups` tells where each belongs in a sample."""
        keys = distances if groups is None else distances * self._groups + groups
        is_cold = distances == COLD
        if is_cold.any():
            where = np.zeros(int(is_cold.sum()), np.int64) if groups is None else groups[is_cold]
            self._cold += np.bincount(where, minlength=self._groups)
            keys = keys[~is_cold]
        if not len(keys):
            return
        counts = np.bincount(keys)
        counts = np.pad(counts, (0, -len(counts) % self._groups)).reshape(-1, self._groups)
        if len(counts) > len(self._counts):
            self._counts = np.pad(self._counts, ((0, len(counts) - len(self._counts)), (0, 0)))
        self._counts[: len(counts)] += counts

    def totals(self) -> Totals:
        """What there is at each distance that occurs: whole numbers without sampling, estimates with it."""
        counts = self._counts.sum(axis=1)
        occurring = np.flatnonzero(counts)
        if self.rate is None:
            return Totals(occurring, counts[occurring], int(self._cold[0]))
        # What the sample has too much or too little of is the share of its most frequent lines. These have short
        # distances, so that it belongs to distance 0 (Waldspurger et al. 2015, section 4.2: SHARDS-adj).
        occurring = occurring[occurring > 0]
        estimates, cold = counts[occurring] / self.rate, float(self._cold.sum() / self.rate)
        rest = self.references - float(estimates.sum()) - cold
        if rest < 0:
            scale = self.references / (self.references - rest)
            estimates, cold, rest = estimates * scale, cold * scale, 0.0
        distances = np.rint(occurring / self.rate).astype(np.int64)
        known = self._counts if len(self._counts) else np.zeros((1, self._groups), np.int64)
        beyond = (known.sum(axis=0) + self._cold - known.cumsum(axis=0))[np.concatenate(([0], occurring))]
        errors = standard_errors(beyond, self.rate * max(self.references, 1))
        return Totals(np.concatenate(([0], distances)), np.concatenate(([rest], estimates)), cold, errors)
