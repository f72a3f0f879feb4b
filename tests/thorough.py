"""How much is tried, and how long is waited.

`ASPENPY_THOROUGH=1` tries all there is: every example of a property, every fault, many kills.
"""

from __future__ import annotations

import os

THOROUGH = bool(os.environ.get("ASPENPY_THOROUGH"))

HANGS = 600
"""Seconds after which a process that should have ended is taken to hang, on however busy a machine."""


def some(whole: int, part: int) -> int:
    """The size of something large, or of a part of it that shows the same."""
    return whole if THOROUGH else part


def examples(most: int) -> int:
    """Examples of a property: a fourth of the most, and ten at least."""
    return most if THOROUGH else max(most // 4, min(most, 10))
