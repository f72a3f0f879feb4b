"""Samples: whether enough runs were measured for a mean to be known, and how many more that takes.

Section 4.3.2 of Umar's dissertation (Virginia Tech, 2018): enough measurements for a 95 % confidence interval.
"""

from __future__ import annotations

from statistics import fmean, stdev

from aspenpy.learn.measurements.columns import KNOWN, read_numbers, row_keys, rows_by_key
from aspenpy.learn.measurements.measure import Target, confidence_interval
from aspenpy.learn.measurements.sheet import Sheet
from aspenpy.record import Record

CONFIGURATION = tuple(name for name, known in KNOWN.items() if known.text and name != "run")
CONFIGURATION += ("threads", "core_frequency", "memory_frequency")
"""What tells the runs of one configuration from those of another."""

MOST_RUNS = 10_000


class Samples(Record):
    """The `runs` of so many `configurations` of which the `metric` was measured. `single` configurations ran once.
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


def samples_of(sheet: Sheet, metric: str, target: Target) -> Samples:
    """How well the means of a metric are known, a configuration after the other."""
    values = read_numbers(sheet, metric)
    parts = rows_by_key(row_keys(sheet, CONFIGURATION)).values()
    halves, more = list[float](), 0
    for part in parts:
        measured = [float(values[place]) for place in part]
        if len(measured) > 1:
            mean, half = confidence_interval(measured, target)
            halves.append(half / mean)
            more = max(more, _runs_needed(measured, target) - len(measured))
    single = sum(len(part) == 1 for part in parts)
    return Samples(metric, len(values), len(parts), single, max(halves, default=None), max(more, 1 if single else 0))


def _runs_needed(values: list[float], target: Target) -> int:
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
