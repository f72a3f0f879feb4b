"""Capacity: a quick look whether the data of a prediction fit into memory."""

from __future__ import annotations

from aspenpy.answers.evaluation import Evaluation
from aspenpy.answers.footprint import Footprint
from aspenpy.cost.compute import target
from aspenpy.expr import graph
from aspenpy.language.diagnostics import AspenError, Diagnostic


def exceeding_memory(prediction: Evaluation) -> list[Diagnostic]:
    """A warning where the data structures that the kernel touches are larger than the memory they lie in. Which are
    touched is looked into only where some say where they lie, or all that are declared together would not fit."""
    if prediction.tree.residence.memories:
        return _touched(prediction)
    offer = target(prediction.machine, prediction.socket).offers.get("loads")
    stated = None if offer is None else offer.place.component.properties.get("capacity")
    sizes = [item.size for item in prediction.application.data.values()]
    if offer is None or stated is None or stated.value is None or not sizes:
        return []
    together = [graph.add(*sizes), graph.mul(offer.place.count, stated.symbol)]
    try:
        declared, capacity = prediction.scope.values(together, prediction.seed)
    except AspenError:
        return []  # a size without a value is told by whoever needs it
    return _touched(prediction) if declared > capacity else []


def _touched(prediction: Evaluation) -> list[Diagnostic]:
    try:
        found = Footprint(prediction.case.changed(socket=prediction.socket)).exceeding()
        return [
            warning.replace(hint=warning.hint or "`aspenpy memory` says which kernels touch what") for warning in found
        ]
    except AspenError:
        return []  # too many ways through the model to tell, or a size without a value
