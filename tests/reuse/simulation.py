"""The LRU stack by the book: a list, searched from its top (Mattson et al. 1970). Slow, and plain to see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def stack_distances(lines: Iterable[int]) -> list[int]:
    """For each reference the other lines since the last one to its line; -1 for a first reference."""
    stack: list[int] = []
    found = []
    for line in lines:
        if line in stack:
            found.append(stack.index(line))
            stack.remove(line)
        else:
            found.append(-1)
        stack.insert(0, line)
    return found


def histogram(lines: Iterable[int]) -> tuple[dict[int, int], int]:
    """Counts by distance, and of first references."""
    counts = Counter(stack_distances(lines))
    cold = counts.pop(-1, 0)
    return dict(sorted(counts.items())), cold
