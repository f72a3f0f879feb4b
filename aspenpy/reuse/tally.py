"""Counting the references of one histogram: how many there are at each distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aspenpy.reuse.sample import GROUPS, standard_error
from aspenpy.reuse.stack import COLD

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
        found = np.bincount(keys)
        found = np.pad(found, (0, -len(found) % self._groups)).reshape(-1, self._groups)
        if len(found) > len(self._counts):
            self._counts = np.pad(self._counts, ((0, len(found) - len(self._counts)), (0, 0)))
        self._counts[: len(found)] += found

    def totals(self) -> tuple[NDArray[np.int64], NDArray[Any], float]:
        """Distances that occur, how many references have each, and how many are cold: whole numbers without sampling,
        estimates with it."""
        counts = self._counts.sum(axis=1)
        found = np.flatnonzero(counts)
        if self.rate is None:
            return found, counts[found], int(self._cold[0])
        # What the sample has too much or too little of is the share of its most frequent lines. These have short
        # distances, so that it belongs to distance 0 (Waldspurger et al. 2015, section 4.2: SHARDS-adj).
        found = found[found > 0]
        estimates, cold = counts[found] / self.rate, float(self._cold.sum() / self.rate)
        rest = self.references - float(estimates.sum()) - cold
        if rest < 0:
            scale = self.references / (self.references - rest)
            return self._scaled(found), estimates * scale, cold * scale
        return np.concatenate(([0], self._scaled(found))), np.concatenate(([rest], estimates)), cold

    def _scaled(self, distances: NDArray[np.int64]) -> NDArray[np.int64]:
        """In lines of the trace."""
        return np.rint(distances / (self.rate or 1)).astype(np.int64)

    def error(self) -> float | None:
        """The standard error of the miss ratio at the size where it is largest; None without sampling."""
        if self.rate is None or not self.references:
            return None
        # Misses of a cache of d + 1 lines: references at longer distances, and cold ones.
        hits = self._counts.cumsum(axis=0)
        misses = (self._counts.sum(axis=0) + self._cold)[None, :] - hits
        return standard_error(misses.T, self.rate * self.references)
