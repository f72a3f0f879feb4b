"""Axis: a parameter that is fitted, the range in which it may move, and the scale it moves on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from aspenpy.answers.scope import Scope
from aspenpy.expr.arithmetic import format_number
from aspenpy.language.axis import Extent, is_wide
from aspenpy.language.diagnostics import fail
from aspenpy.models.model import Parameter


class Axis(Extent):
    """A parameter with its range; `start` is the model's own value, or the nearest in the range. With `whole`, it
    takes whole values only, and the ends of its range are whole."""

    name: str
    start: float
    whole: bool = False

    def value(self, place: float) -> float:
        """Value at a place from 0 to 1, clamped to the range."""
        return float(min(max(super().value(place), self.low), self.high)) if self.log else float(super().value(place))

    def place(self, value: float) -> float:
        """Place of a value from 0 to 1; on a logarithmic scale values below the range count as its lower end."""
        return super().place(max(value, self.low) if self.log else value)

    def slope(self, value: float) -> float:
        """Derivative of the value by its place."""
        return value * math.log(self.high / self.low) if self.log else self.high - self.low


def find_moving_parameter(parameter: Parameter, scope: Scope, given: Sequence[str]) -> str | None:
    """First of the parameters `given` on which the ends of the range depend; None if there is none."""
    used = scope.used([end for end in (parameter.low, parameter.high) if end is not None])
    return next((name.removeprefix("app:") for name in given if scope.symbol(name) in used), None)


def make_axis(parameter: Parameter, scope: Scope, given: Sequence[str], whole: bool = False) -> Axis:
    """The axis of a parameter whose range, if it depends on other parameters, depends on none of `given`. Raises
    AspenError."""
    assert parameter.low is not None, parameter.name
    assert parameter.high is not None, parameter.name
    place = parameter.node.name_span
    other = find_moving_parameter(parameter, scope, given)
    if other is not None:
        message = f"the range of `{parameter.name}` moves with `{other}`, which is fitted or measured"
        fail("moving-range", message, place, hint="give it a range of numbers")
    start, low, high = scope.values([parameter.symbol, parameter.low, parameter.high])
    if isinstance(start, tuple):
        fail("not-a-number", f"`{parameter.name}` is an array, and a number is fitted", place)
    if not low < high:
        fail(
            "empty-range",
            f"the range of `{parameter.name}` is empty: {format_number(low)} .. {format_number(high)}",
            place,
        )
    if whole:
        low, high = math.ceil(low), math.floor(high)
        if low > high:
            fail("empty-range", f"there is no whole number in the range of `{parameter.name}`", place)
    low, high = float(low), float(high)
    return Axis(low, high, is_wide(low, high), parameter.name, min(max(float(start), low), high), whole)
