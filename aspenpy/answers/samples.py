"""Samples of a runtime: its mean, deviation and quantiles over several seeds."""

from __future__ import annotations

import math

from aspenpy.answers.evaluation import Evaluation
from aspenpy.expr.evaluate import evaluate_many
from aspenpy.language.diagnostics import fail, refuse_float_overflow
from aspenpy.record import Record

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

MOST_SAMPLES = 100_000
"""Most samples of one quantile: each is an exact evaluation, of 20 us and more; sqrt(p(1-p)/n), the error of a
quantile, is below 0.2 % then."""


class RuntimeSamples(Record):
    """The runtime in seconds over `count` seeds from `first_seed` on. `deviation` is the sample standard
    deviation (0 for one sample); `quantiles` are by linear interpolation."""

    count: int
    first_seed: int
    mean: float
    deviation: float
    minimum: float
    maximum: float
    quantiles: dict[float, float]


@refuse_float_overflow
def sample(prediction: Evaluation, count: int) -> RuntimeSamples:
    """Evaluates a prediction's runtime under `count` seeds."""
    if count < 1:
        fail("bad-count", f"at least one sample is needed, not {count}")
    if count > MOST_SAMPLES:
        message = f"{count:,} samples are more than the {MOST_SAMPLES:,} that are drawn one by one"
        fail("too-many-samples", message, hint="with so many, the quantiles are known within 0.2 % of the samples")
    formula = prediction.scope.formulas([prediction.tree.runtime])[0]
    with prediction.scope.locate_failures():
        drawn = sorted(float(evaluate_many([formula], {}, seed=prediction.seed + number)[0]) for number in range(count))
    from statistics import stdev

    return RuntimeSamples(
        count,
        first_seed=prediction.seed,
        mean=math.fsum(drawn) / count,
        deviation=stdev(drawn) if count > 1 else 0.0,
        minimum=drawn[0],
        maximum=drawn[-1],
        quantiles={quantile: _interpolate_quantile(drawn, quantile) for quantile in QUANTILES},
    )


def _interpolate_quantile(ordered: list[float], share: float) -> float:
    """Linear interpolation between the order statistics (type 7 of Hyndman and Fan)."""
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])
