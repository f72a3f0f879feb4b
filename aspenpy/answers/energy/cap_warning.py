"""The warning beside a runtime, which knows no power cap, where the run waits for one."""

from __future__ import annotations

from aspenpy.answers.energy.waiting import waiting_of_run
from aspenpy.answers.evaluation import Evaluation
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.numbers import seconds

CODE = "power-cap"  # of the warning
SAME = 0.005  # relative: what is longer by less reads the same in three digits


def seconds_waited(prediction: Evaluation) -> float:
    """Seconds by which the power cap of its socket makes a run longer; 0 where none is stated. Raises AspenError where
    the cap leaves no power for work."""
    if prediction.stated_cap is None:
        return 0.0
    return float(prediction.scope.values([waiting_of_run(prediction.tree)], prediction.seed)[0])


def runtime_under_cap(prediction: Evaluation) -> tuple[float | None, list[Diagnostic]]:
    """Seconds of a run under the power cap of its socket, None where the cap leaves no power for work, and a warning
    where they are more than its runtime says or where it cannot hold the cap."""
    try:
        waited = seconds_waited(prediction)
    except AspenError as error:
        return None, as_warnings(error)
    capped = prediction.runtime + waited
    if capped <= prediction.runtime * (1 + SAME):
        return capped, []
    longer = f"the run takes {seconds(capped)}, and not {seconds(prediction.runtime)}"
    return capped, [cap_warning(prediction, longer)]


def as_warnings(error: AspenError) -> list[Diagnostic]:
    """Why nobody can tell whether a run waits for its cap, beside an answer that does not need to know."""
    return [item.replace(severity="warning") for item in error.diagnostics]


def cap_warning(prediction: Evaluation, longer: str) -> Diagnostic:
    """A warning that something is longer under the power cap than a runtime without it says."""
    stated = prediction.stated_cap
    assert stated is not None
    name = prediction.socket or prediction.machine.name
    try:
        watts = f" ({format_quantity(float(prediction.scope.values([stated.symbol], prediction.seed)[0]), 'W')})"
    except AspenError:
        watts = ""  # it goes with an axis
    hint = "`runtime` leaves the cap out; `aspenpy energy` has it in `capped_runtime`, or lowers the clock (--throttle)"
    return warning(CODE, f"under the power cap of `{name}`{watts} {longer}", stated.span, hint=hint)
