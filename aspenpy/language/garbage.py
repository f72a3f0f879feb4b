"""Pausing the garbage collector while something large and free of cycles is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collection() -> Iterator[None]:
    """Looking for cycles in a million new nodes that have none takes a third of the time of making them.

    Freezing and thawing hands the nodes to the oldest generation, so that the next look at the youngest
    need not go through all of them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
