"""A prediction as values by their keys, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.answers.evaluation import Evaluation
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.run_placement import run_placement
from aspenpy.tables.numbers import Amount, unit_of_resource

if TYPE_CHECKING:
    from aspenpy.answers.samples import RuntimeSamples


def prediction_as_data(
    prediction: Prediction, metrics: dict[str, Amount], samples: RuntimeSamples | None
) -> dict[str, Any]:
    """The values of a run, with the metrics that were asked for and the samples of its runtime."""
    parameters, worst = prediction.parameters.values(), prediction.bottleneck
    data: dict[str, Any] = {
        **subject_as_data(prediction),
        "parameters": {use.name: use.value for use in parameters},
        "overridden": [use.name for use in parameters if use.overridden],
        **runtime_as_data(prediction),
        "resources": {
            use.name: {"amount": use.amount, "unit": unit_of_resource(use.name), **_fields(use, "time component")}
            for use in prediction.resources.values()
        },
        "bottleneck": worst and _fields(worst, "resource component time share group"),
        "assumed": assumptions_as_data(prediction),
        "lower_bounds": [_fields(bound, "kernel exchange reason") for bound in prediction.lower_bounds],
    }
    if metrics:
        data["metrics"] = metrics
    if prediction.random:
        data["seed"] = prediction.seed
    if prediction.lost:
        data["late_ranks"] = {cause: Amount(lost, "s") for cause, lost in prediction.lost.items()}
    if samples is not None:
        data["samples"] = {
            **_fields(samples, "count first_seed mean deviation minimum maximum"),
            "quantiles": {f"{quantile:g}": value for quantile, value in samples.quantiles.items()},
        }
    return data


def subject_as_data(prediction: Evaluation) -> dict[str, Any]:
    """Application, machine, socket, kernel, and the placement of ranks."""
    return {
        "application": prediction.application.name,
        "machine": prediction.machine.name,
        "socket": prediction.socket,
        "kernel": prediction.kernel,
        **ranks_as_data(prediction),
    }


def ranks_as_data(prediction: Evaluation) -> dict[str, Any]:
    """Placement of its ranks; empty where neither the machine nor the user says so."""
    placement = prediction.tree.residence.where.ranks
    if placement is None:
        return {}
    ranks = {
        "on": placement.unit.component.name,
        "per_node": prediction.case.placement.ranks_per_node,
        "distribution": str(placement.distribution),
    }
    counts = run_placement(prediction)
    if counts is not None:
        ranks |= _fields(counts, "ranks nodes of_node sockets of_socket")
    return {"ranks": ranks}


def runtime_as_data(prediction: Prediction) -> dict[str, Any]:
    """The runtime, which knows no power cap, and that under the cap of the socket."""
    capped = prediction.capped_runtime
    return {
        "runtime": Amount(prediction.runtime, "s"),
        "capped_runtime": None if capped is None else Amount(capped, "s"),
    }


def assumptions_as_data(prediction: Prediction) -> list[dict[str, Any]]:
    """The assumed numbers that decide a prediction."""
    return [_fields(item, "name reason sensitivity") for item in prediction.assumptions]


def _fields(item: Any, names: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names.split()}
