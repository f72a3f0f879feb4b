"""Sizes of data that are below zero, or larger than the memory. A runtime may need none of them: what needs one refuses
it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aspenpy.answers.evaluation import Evaluation
from aspenpy.expr import evaluate, graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.lower import Origins
from aspenpy.models.application.declarations import Data


def sizes_below_zero(
    structures: Iterable[Data], definitions: Mapping[Expr, Expr], origins: Origins, seed: int
) -> list[Diagnostic]:
    """A warning for each of some data structures that has one."""
    run = evaluate.Evaluation({}, seed, definitions)
    warnings = []
    for data in structures:
        try:
            run.compute([data.size])
        except evaluate.EvaluationError as error:  # any other is told by whoever needs the size
            if error.node.kind == "checked" and error.node.payload == "size":
                span = origins.get(error.node) or data.span
                warnings.append(warning("no-value", error.reason, span, hint=error.hint))
    return warnings


def exceeding_memory(prediction: Evaluation) -> list[Diagnostic]:
    """A warning where the data structures that the kernel touches are larger than the memory they lie in. Which are
    touched is looked into only where some say where they lie, or all that are declared together would not fit."""
    if prediction.tree.residence.memories:
        return _check_touched_bytes(prediction)
    offer = prediction.tree.residence.where.offers.get("loads")
    stated = None if offer is None else offer.place.component.value("capacity")
    sizes = [item.size for item in prediction.application.data.values()]
    if offer is None or stated is None or not sizes:
        return []
    bound = any(cost.instances.placement is not None for cost in prediction.tree.blocks.values())
    together = [graph.add(*sizes), stated if bound else graph.mul(offer.place.count, stated)]
    try:
        declared, capacity = prediction.scope.values(together, prediction.seed)
    except AspenError:
        return []  # a size without a value is told by whoever needs it
    return _check_touched_bytes(prediction) if declared > capacity else []


def _check_touched_bytes(prediction: Evaluation) -> list[Diagnostic]:
    try:
        from aspenpy.answers.footprint import Footprint

        warnings = Footprint(prediction.case.changed(socket=prediction.socket)).exceeding()
        return [
            item.replace(hint=item.hint or "`aspenpy memory` shows which kernels touch which data") for item in warnings
        ]
    except AspenError:
        return []  # too many ways through the model to tell, or a size without a value
