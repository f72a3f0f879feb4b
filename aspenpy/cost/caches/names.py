"""The traits by which loads and stores say how they touch their data; `caches.access` reads them."""

from __future__ import annotations

PATTERN_NAMES = ("stream", "stride", "blocked", "nest", "stencil", "random", "gather", "rd", "rdd")
"""The patterns, of which an access has one."""

WITH_ARGUMENTS = ("stride", "blocked", "nest", "stencil", "gather", "rd")
"""The patterns that say nothing without arguments: a bare trait of such a name is no pattern."""

SHARED = "shared"
"""Of a store: all instances store to the same lines."""

ADDITIONS = ("warm", "cold", "reuse", "streaming", "fresh", SHARED, "at", "offsets")
"""What adds to a pattern."""

CACHE_TRAITS = frozenset({*PATTERN_NAMES, *ADDITIONS})

TRANSLATIONS = "tlb"
"""What the time of a core's page lookups counts for, as `loads` does for that of a memory."""
