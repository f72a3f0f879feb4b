"""Significance: how much of a run's time or energy goes with a hardware component.

Step 2 of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Literal

from aspenpy.learn.measurements.columns import KNOWN, read_numbers, row_keys, rows_by_key
from aspenpy.learn.measurements.measure import StoppingRule, confidence_interval
from aspenpy.learn.measurements.sheet import MeasurementSheet
from aspenpy.record import Record

CONFIGURATION = tuple(name for name, known in KNOWN.items() if known.text and name != "run")
CONFIGURATION += ("threads", "core_frequency", "memory_frequency")
"""What tells the runs of one configuration from those of another."""

MOST_RUNS = 10_000


class MeasuredSamples(Record):
    """Numbers of `runs` and `configurations` of which the `metric` was measured. `single` configurations ran once.
    `widest` is the widest confidence interval of a mean, half of it relative to the mean, None where each ran once;
    `more` are the runs that its configuration still needs for half the interval to be within the target."""

    metric: str
    runs: int
    configurations: int
    single: int
    widest: float | None
    more: int

    @property
    def enough(self) -> bool:
        return not self.single and not self.more


def samples_of(sheet: MeasurementSheet, metric: str, target: StoppingRule) -> MeasuredSamples:
    """Samples of a metric with the certainty of their means, one per configuration."""
    values = read_numbers(sheet, metric)
    parts = rows_by_key(row_keys(sheet, CONFIGURATION)).values()
    halves, more = list[float](), 0
    for part in parts:
        measured = [float(values[index]) for index in part]
        if len(measured) > 1:
            mean, half = confidence_interval(measured, target)
            halves.append(half / mean)
            more = max(more, _runs_needed(measured, target) - len(measured))
    single = sum(len(part) == 1 for part in parts)
    return MeasuredSamples(
        metric,
        len(values),
        len(parts),
        single=single,
        widest=max(halves, default=None),
        more=max(more, 1 if single else 0),
    )


def _runs_needed(values: list[float], target: StoppingRule) -> int:
    """The runs with which half the interval is within the target, if they vary as these do."""
    from scipy.stats import t

    relative = stdev(values) / fmean(values)
    count = len(values)
    while count < MOST_RUNS:
        quantile = float(t.ppf((1 + target.confidence) / 2, count - 1))
        if quantile * relative / count**0.5 <= target.precision:
            break
        count += 1
    return count


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
    """A number of clusters, with the partition coefficient and Xie and Beni's index; `chosen` is one of them."""

    count: int
    partition: float
    xie_beni: float
    chosen: bool


class CounterEvidence(Record):
    """Evidence of counters about a metric: how well its mean is known, the part of its variance (`r_squared`) that the
    significant counters explain, all counters, the significant first, and the components of the clusters, None for one
    whose counters nobody knows. `numbers` are the numbers of clusters that were tried."""

    metric: MetricName
    samples: MeasuredSamples
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
