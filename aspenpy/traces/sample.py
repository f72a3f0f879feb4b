"""A sample of lines instead of all of them, and how far off it may be.

A line belongs to the sample if its hash is small, so that a line's references are all in it or none is. Distances
between them, counted in lines of the sample, are those of the trace times the rate (Waldspurger et al. 2015, SHARDS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUPS = 16  # parts of a sample, by line, whose differences tell its error


def hashes(lines: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele et al. 2014): every bit of a line changes half the bits of its hash."""
    mixed = (lines ^ (lines >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return cast("NDArray[np.uint64]", mixed ^ (mixed >> np.uint64(31)))


def is_sampled(hashed: NDArray[np.uint64], rate: float) -> NDArray[np.bool_]:
    """Whether lines of these hashes belong to a sample of the rate (0 to 1); decided by the upper 53 bits."""
    return (hashed >> np.uint64(11)) < np.uint64(round(rate * (1 << 53)))


def group_of(hashed: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The part of the sample that lines belong to, decided by bits that do not decide whether they are in it."""
    return (hashed & np.uint64(GROUPS - 1)).astype(np.int64)


def standard_errors(misses: NDArray[Any], expected: float) -> NDArray[np.float64]:
    """Of miss ratios, for several sizes of the cache.

    `misses` has a row for each size and a column for each group, in references of the sample; `expected` is how many
    references the sample has on average. The error of a sum of independent groups: sqrt(G/(G - 1) sum (x - mean)^2).
    """
    groups = misses.shape[1]
    deviations = misses - misses.mean(axis=1, keepdims=True)
    return cast("NDArray[np.float64]", np.sqrt(groups / (groups - 1) * (deviations**2).sum(axis=1)) / expected)
