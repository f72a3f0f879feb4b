"""Metrics: what can be asked of a prediction, each as an expression in the symbols of its models and with a unit.

`runtime`, `energy` and its products with it, the amount of a resource, and whatever the components of a machine declare
as a property: a `cost`, an `area` or a `tdp` is then the sum over the machine's tree, each component counted as often
as the machine has it.
"""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.answers.evaluation import ENERGY_UNITS
from aspenpy.answers.prediction import Prediction
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.language.dimensions import unit_symbol
from aspenpy.models.application.total import ResourceTotal, of_kind
from aspenpy.models.machine.model import Machine
from aspenpy.models.machine.properties import PROPERTY_DIMENSIONS
from aspenpy.record import Record
from aspenpy.tables.numbers import unit_of_resource


class Metric(Record):
    """`expr` gives the metric in the symbols of a prediction's models; `unit` is empty for a plain number."""

    expr: Callable[[Prediction], Expr]
    unit: str


def _energy_metric(name: str, unit: str) -> Metric:
    return Metric(lambda prediction: prediction.metric(name), unit)


METRICS: dict[str, Metric] = {
    "runtime": Metric(lambda prediction: prediction.tree.runtime, "s"),
    **{name: _energy_metric(name, unit) for name, unit in ENERGY_UNITS.items()},
}
"""Metrics by name. Any other name is that of a resource, or of a property that components of the machine have."""


def find_metric(name: str) -> Metric:
    """The metric of that name; whether a prediction has it, `Metric.expr` tells."""
    if name in METRICS:
        return METRICS[name]
    dimension = PROPERTY_DIMENSIONS.get(name)
    unit = unit_of_resource(name) or ("" if dimension is None else unit_symbol(dimension))
    return Metric(lambda prediction: _other_metric(prediction, name), unit)


def has_metric(prediction: Prediction, name: str) -> bool:
    """Whether there is such a metric of a prediction."""
    return name in METRICS or name in _amount_names(prediction) or name in summable_properties(prediction.machine)


def metric_names(prediction: Prediction) -> list[str]:
    return list(dict.fromkeys([*METRICS, *_amount_names(prediction), *summable_properties(prediction.machine)]))


def _amount_names(prediction: Prediction) -> list[str]:
    resources = [key.resource for key in of_kind(ResourceTotal, prediction.tree.totals)]
    return [*resources, "bytes"] if {"loads", "stores"} & {*resources} else resources


def _other_metric(prediction: Prediction, name: str) -> Expr:
    if name in _amount_names(prediction):
        return prediction.metric(name)
    if name in summable_properties(prediction.machine):
        return sum_property(prediction.machine, name)
    names = metric_names(prediction)
    hint = suggest_nearest(name, names) or "there are " + ", ".join(names)
    message = f"there is no metric `{name}`: neither a resource that is asked for nor a property of the machine"
    fail("unknown-metric", message, hint=hint)


# -- over the tree of a machine --------------------------------------------------------------------


def summable_properties(machine: Machine) -> list[str]:
    """The names of the properties that components in the machine's tree give values to."""
    places = machine.first_places()
    properties = (item for place in places for item in place.component.properties.values() if item.value is not None)
    return list(dict.fromkeys(item.name for item in properties))


def sum_property(machine: Machine, name: str) -> Expr:
    """The sum of a property over all components of the machine's tree, every kind of socket included."""
    terms = [
        graph.mul(place.count, place.component.properties[name].symbol)
        for place in machine.places()
        if name in place.component.properties and place.component.properties[name].value is not None
    ]
    return graph.add(*terms)
