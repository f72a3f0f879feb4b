"""Significance: how much of a run's time or energy goes with a hardware component.

Step 2 of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from aspenpy.record import Record

Evidence = Literal["counters", "model"]


class Significance(Record):
    """The `share` (0 to 1, of that of all components) that a hardware component has in the `metric` (runtime or
    energy), by measured counters or by the sensitivities of the model. `low` and `high` are the ends of its confidence
    interval, None where there is none. `memberships` are the counters that it was found by, each with how far it
    belongs to this component (0 to 1)."""

    component: str
    metric: Literal["runtime", "energy"]
    share: float
    evidence: Evidence
    low: float | None = None
    high: float | None = None
    memberships: Mapping[str, float] = {}
