"""Voltage: that of the cores at a clock, relative to that for which a machine states its power."""

from __future__ import annotations

from aspenpy.answers.energy.cap import clock_range
from aspenpy.answers.energy.power import PowerTree
from aspenpy.answers.prediction import Prediction
from aspenpy.expr.evaluate import evaluate
from aspenpy.models.machine.model import Component, one_of
from aspenpy.record import Record

VOLTAGE, CURVE = "voltage", "voltage_curve"
CURVES = ("measured", "published", "assumed")
NEAR = 1e-3  # a voltage so little above the lowest is the lowest: clocks are found by searching


class Voltage(Record):
    """The voltage at a clock (Hz), at the lowest clock, and how the curve between them is known."""

    clock: float
    value: float
    floor: float
    curve: str

    @property
    def is_floor(self) -> bool:
        return self.value <= self.floor * (1 + NEAR)


def voltage_of(prediction: Prediction, clock: float | None = None) -> Voltage | None:
    """The voltage at the clock of the prediction or another one; None where the socket states no `voltage`. Raises
    AspenError where its cores state no clock, or `voltage_curve` is none of `CURVES`."""
    power_tree = PowerTree(prediction.machine, prediction.socket, prediction.tree.origins)
    stated = power_tree.read_property(VOLTAGE, "power")
    if stated is None:
        return None
    parameter, lowest, declared = clock_range(prediction)
    clock = declared if clock is None else clock
    curve = require_known_curve(power_tree.central.component)
    formula = prediction.scope.formulas([stated], [parameter])[0]
    symbol = prediction.scope.symbol(parameter)
    with prediction.scope.locate_failures():
        value, floor = (
            float(evaluate(formula, {symbol: each}, prediction.seed)) for each in (clock, min(lowest, clock))
        )
    return Voltage(clock, value, floor, curve)


def require_known_curve(component: Component) -> str:
    """The word for how the curve of voltages is known. Raises AspenError for one that is not in `CURVES`."""
    return one_of(component, CURVE, CURVES, default="assumed")


def sets_clock(prediction: Prediction, parameter: str) -> bool:
    """Whether a parameter is the clock of the socket's cores."""
    return clock_range(prediction)[0].removeprefix("machine:") == parameter.removeprefix("machine:")
