"""Metrics: what a sweep can tell of a prediction, each with its unit."""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.energy.metrics import ed2p, edp, energy, power
from aspenpy.expr.graph import Expr
from aspenpy.prediction import Prediction, metric_of
from aspenpy.record import Record


class Metric(Record):
    """`expr` gives the metric in the symbols of the models."""

    expr: Callable[[Prediction], Expr]
    unit: str


METRICS: dict[str, Metric] = {
    "runtime": Metric(lambda prediction: prediction.tree.runtime, "s"),
    "energy": Metric(energy, "J"),
    "power": Metric(power, "W"),
    "edp": Metric(edp, "J*s"),
    "ed2p": Metric(ed2p, "J*s^2"),
}
"""By name; any other name is that of a resource, and its metric the amount of it."""


def metric(name: str) -> Metric:
    """A metric of the table, or the amount of a resource; whether it is asked for a prediction will tell."""
    if name in METRICS:
        return METRICS[name]
    from aspenpy.present.numbers import unit_of_resource

    return Metric(lambda prediction: metric_of(prediction.tree, name), unit_of_resource(name))
