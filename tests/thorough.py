"""How much is tried. `ASPENPY_THOROUGH=1` tries all there is: every example of a property, every fault, many kills."""

from __future__ import annotations

import os

THOROUGH = bool(os.environ.get("ASPENPY_THOROUGH"))


def examples(most: int) -> int:
    """Examples of a property: a fourth of the most, and ten at least."""
    return most if THOROUGH else max(most // 4, min(most, 10))
