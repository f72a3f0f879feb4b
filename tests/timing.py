"""What something costs in processor time, on however busy a machine."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

LOOP_SECONDS = 0.01
"""Of the processor, for `_loop` on the kind of machine for which bounds are set; idle, it takes 0.008."""
TRIES = 3


def seconds_of(action: Callable[[], object]) -> float:
    start = process_time()
    action()
    return process_time() - start


def best_of_three(action: Callable[[], object]) -> float:
    """Seconds of the processor for the fastest of three runs."""
    return min(seconds_of(action) for _ in range(TRIES))


def slowness() -> float:
    """How many times longer this machine takes now than the one for which bounds are set; 1 at least."""
    return max(1.0, seconds_of(_loop) / LOOP_SECONDS)


def _loop() -> int:
    return sum(number * number % 7 for number in range(200_000))


def is_done_in(seconds: float, measure: Callable[[], float]) -> bool:
    """Whether what `measure` gives, in seconds of the processor, is at most so many, or more by as much as this machine
    is slower right then; one of three measurements is enough."""
    return any(measure() <= seconds * slowness() for _ in range(TRIES))
