"""Significance: how much of a run's time or energy goes with a hardware component.

Step 2 of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from aspenpy.advice.samples import Samples
from aspenpy.record import Record

Evidence = Literal["counters", "model"]
MetricName = Literal["runtime", "energy"]


class Significance(Record):
    """The `share` (0 to 1, of that of all components) that a hardware component has in the `metric` (runtime or
    energy), by measured counters or by the sensitivities of the model. `low` and `high` are the ends of its confidence
    interval, None where there is none. `memberships` are the counters that it was found by, each with how far it
    belongs to this component (0 to 1). What belongs to clusters that nobody knows has an empty `component`."""

    component: str
    metric: MetricName
    share: float
    evidence: Evidence
    low: float | None = None
    high: float | None = None
    memberships: Mapping[str, float] = {}


class CounterShare(Record):
    """A counter: the components that it is `known` for, the closest first, its part of the variance of the metric that
    significant counters explain (0 where it is not significant), and how far it belongs to each component."""

    name: str
    known: tuple[str, ...]
    share: float
    memberships: Mapping[str, float]


class ClusterNumber(Record):
    """So many clusters, with the partition coefficient and Xie and Beni's index; `chosen` is one of them."""

    count: int
    partition: float
    xie_beni: float
    chosen: bool


class CounterEvidence(Record):
    """What counters say of a metric: how well its mean is known, the part of its variance (`r_squared`) that the
    significant counters explain, all counters, the significant first, and the components of the clusters, None for one
    whose counters nobody knows. `numbers` are the numbers of clusters that were tried."""

    metric: MetricName
    samples: Samples
    r_squared: float
    counters: tuple[CounterShare, ...]
    clusters: tuple[str | None, ...]
    numbers: tuple[ClusterNumber, ...]
    significances: tuple[Significance, ...]


class Disagreement(Record):
    """A component of which counters and model say different things: their shares of a metric."""

    component: str
    metric: MetricName
    counters: float
    model: float


class LeftOut(Record):
    """A component that is not varied, since it is not significant: its shares of runtime and of energy by the model."""

    component: str
    runtime: float
    energy: float | None
