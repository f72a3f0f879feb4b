"""Sampled: what a run takes where components are not what they are stated to be, over samples of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy

from aspenpy.advice.design_space import DesignSpace
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.engine.arrays import Floats
from aspenpy.explore.space import Quantity
from aspenpy.expr.draws import generator_seed
from aspenpy.record import Record

COUNT = 1000  # samples; with so many an end of a 95 % interval is known to a tenth of its width
LOWEST = 0.01  # part of what is stated below which no sample goes
ENDS = (0.025, 0.975)  # of the interval that holds 95 % of the samples

Side = Literal["both", "slower"]
WORSE_IF_MORE = ("memory_latency", "network_latency")


class Sampled(Record):
    """Of one quantity over `count` samples: its value where all is as stated, the mean, and the ends of the interval
    that holds 95 % of the samples."""

    stated: float
    mean: float
    low: float
    high: float
    count: int


def sample_configurations(
    space: DesignSpace, deviations: Mapping[str, float], side: Side = "both", count: int = COUNT
) -> tuple[Sampled, Sampled | None]:
    """Runtime and energy while components vary by normally distributed parts of what is stated, independently, by
    relative standard `deviations`; those that are `slower` only lose by it, as under noise of the system. The energy is
    None where the machine states no power."""
    evaluate = space.space.evaluator(quantities(space), missing=True)
    points = numpy.tile(space.space.base, (count + 1, 1))
    generator = numpy.random.default_rng(generator_seed(space.case.seed))
    for place, item in enumerate(space.ranges):
        deviation = deviations.get(item.component, 0.0)
        drawn = generator.standard_normal(count) * deviation
        if item.variable.case:
            continue
        if side == "slower":
            drawn = abs(drawn) if item.component in WORSE_IF_MORE else -abs(drawn)
        points[1:, place] *= numpy.maximum(1 + drawn, LOWEST)
    values = evaluate(points)
    runtime = summary(values[0])
    return runtime, summary(values[1]) if len(values) > 1 else None


def quantities(space: DesignSpace) -> tuple[Quantity, ...]:
    """Runtime and, where the machine states power, energy."""
    if space.powerless is not None:
        return (lambda prediction: prediction.tree.runtime,)
    totals = {id(each): energy_totals(each.tree, space.options) for each in space.space.cases}
    return (lambda each: totals[id(each)].capped_runtime, lambda each: totals[id(each)].energy)


def summary(values: Floats) -> Sampled:
    """Of a value where all is as stated, with the samples behind it; those without a value are left out."""
    known = values[1:][~numpy.isnan(values[1:])]
    low, high = numpy.quantile(known, ENDS)
    return Sampled(float(values[0]), float(known.mean()), float(low), float(high), len(known))
