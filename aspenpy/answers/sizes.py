"""Sizes of data that are below zero. A runtime may need none of them: what needs one refuses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aspenpy.expr.evaluate import Evaluation, EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.lower import Origins
from aspenpy.models.application.declarations import Data


def sizes_below_zero(
    structures: Iterable[Data], definitions: Mapping[Expr, Expr], origins: Origins, seed: int
) -> list[Diagnostic]:
    """A warning for each of some data structures that has one."""
    run = Evaluation({}, seed, definitions)
    warnings = []
    for data in structures:
        try:
            run.compute([data.size])
        except EvaluationError as error:  # any other is told by whoever needs the size
            if error.node.kind == "checked" and error.node.payload == "size":
                span = origins.get(error.node) or data.span
                warnings.append(Diagnostic("no-value", error.reason, span, hint=error.hint, severity="warning"))
    return warnings
