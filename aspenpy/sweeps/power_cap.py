"""Points at which a power cap makes a run longer than a runtime without the cap says."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.answers.energy.cap_warning import SAME, as_warnings, cap_warning
from aspenpy.answers.energy.waiting import waiting_of_run
from aspenpy.answers.prediction import Prediction
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.sweeps.points import Formulas
from aspenpy.tables.numbers import seconds


def capped_points(
    prediction: Prediction,
    symbols: Sequence[Expr],
    rows: Sequence[Sequence[float]],
    labels: Sequence[str],
    free: Sequence[str] = (),
) -> list[Diagnostic]:
    """A warning where the run is longer under the power cap of its socket at some points, with the one at which it is
    longest in proportion. `rows` are the values of the symbols at each point; `labels` say which point it is; `free`
    are the symbols that are parameters, by name."""
    import numpy

    if prediction.stated_cap is None or not rows:
        return []
    try:
        with prediction.scope.locating():
            formulas = prediction.scope.formulas([waiting_of_run(prediction.tree), prediction.tree.runtime], free)
            prepared = Formulas(formulas, symbols, prediction.seed)
            waited, runtime = prepared(numpy.array(rows, dtype=float), missing=True)
    except AspenError as error:
        return as_warnings(error)
    longer = waited > runtime * SAME
    if not longer.any():
        return []
    most = int(numpy.argmax(numpy.where(longer, waited / numpy.where(runtime > 0, runtime, 1), 0)))
    times = f"{seconds(float(runtime[most] + waited[most]))}, and not {seconds(float(runtime[most]))}"
    at = f"the run takes {times}, with {labels[most]}"
    if len(rows) > 1:
        at += f"; {int(longer.sum())} of {len(rows)} points wait"
    return [cap_warning(prediction, at)]
