"""How much is tried, and how long is waited.

`ASPENPY_THOROUGH=1` tries all there is: every example of a property, every fault, many kills. `CI=1` tries the slow
cases of the suite too, as continuous integration does.
"""

from __future__ import annotations

import os

import pytest

THOROUGH = bool(os.environ.get("ASPENPY_THOROUGH"))

HANGS = 600
"""Seconds after which a process that should have ended is taken to hang, on however busy a machine."""


def some(whole: int, part: int) -> int:
    """The size of something large, or of a part of it that shows the same."""
    return whole if THOROUGH else part


thorough = pytest.mark.skipif(not THOROUGH, reason="tried with ASPENPY_THOROUGH=1")
"""Of a case that takes long, beside a smaller one of its kind."""

slow = pytest.mark.skipif(
    not (THOROUGH or os.environ.get("CI")), reason="takes seconds: tried by continuous integration, with CI=1"
)
"""Of a case of two to ten seconds that few changes concern: all of them together are a minute of processor time."""


def examples(most: int) -> int:
    """Examples of a property: a tenth of the most, and six at least."""
    return most if THOROUGH else max(most // 10, min(most, 6))
