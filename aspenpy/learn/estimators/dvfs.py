"""Dvfs: an Aspen prediction split into what goes with the clock and what does not, and its surface of speedups."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.cap import LOWEST, clock_range
from aspenpy.answers.prediction import Prediction
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.learn.estimators.speedup import PowerAware, Spot, compute_spots, predicted_workload, relative_power
from aspenpy.record import Record
from aspenpy.tables.result import Result

POINTS = 5
"""Number of clocks over the parameter's range where none are given."""


class Dvfs(Record, Result):
    """The workload of a prediction at its clock, and its spots at other clocks and on several such machines."""

    prediction: Prediction
    workload: PowerAware
    spots: tuple[Spot, ...]


def predict_dvfs(
    prediction: Prediction, processors: Sequence[int], clocks: Sequence[float] = (), volts: Sequence[float] = ()
) -> Dvfs:
    """Speedup and energy at clocks and processors, from a prediction for one processor. Each processor draws the
    machine's power at the clock, or V² f where voltages are given. Raises AspenError where the cores declare no
    clock."""
    parameter, lowest, declared = clock_range(prediction)
    if not clocks and lowest * LOWEST <= declared:
        message = f"`{parameter.removeprefix('machine:')}` has no range of clocks"
        fail("no-range", message, hint="say which: --clocks 1GHz,2GHz")
    asked = list(clocks) or [lowest + (declared - lowest) * step / (POINTS - 1) for step in range(POINTS)]
    workload = predicted_workload(prediction, declared)
    if volts and len(volts) != len(asked):
        fail("wrong-length", f"there are {len(volts)} voltages for {len(asked)} clocks", hint="each clock has one")
    if volts:
        high = asked.index(max(asked))
        at_peak = volts[high], asked[high]
        powers: dict[float, float | None] = {
            clock: relative_power(volt, clock, *at_peak) for clock, volt in zip(asked, volts, strict=True)
        }
    else:
        powers = {clock: predict_power(prediction, parameter, clock) for clock in asked}

    def watts(count: int, clock: float) -> float | None:
        alone = powers[clock]
        return None if alone is None else count * alone

    return Dvfs(prediction, workload, compute_spots(workload.time, processors, asked, watts))


def predict_power(prediction: Prediction, parameter: str, clock: float) -> float | None:
    """Power at a clock (W); None where the machine states no power."""
    try:
        return Energy(Prediction(prediction.case.with_set({parameter: clock}))).power
    except AspenError as error:
        if error.diagnostics[0].code == "no-power":
            return None
        raise
