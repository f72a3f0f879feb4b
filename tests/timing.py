"""What something costs in processor time, on however busy a machine."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time


def best_of_three(action: Callable[[], object]) -> float:
    """Seconds of the processor for the fastest of three runs."""
    times = []
    for _ in range(3):
        start = process_time()
        action()
        times.append(process_time() - start)
    return min(times)
