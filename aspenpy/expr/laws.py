"""Laws: bounds that loop counts, quantities, probabilities and the like must keep."""

from __future__ import annotations

from typing import Any

from aspenpy.expr.arithmetic import Number, format_number
from aspenpy.record import Record


class Law(Record):
    """An interval, so that a straight line that obeys it at two points obeys it between them.

    `low` is the least value, excluded if `open`; None is no bound. `reason` is a template over the offending value,
    `hint` says what to do. Every back end writes the law from `tests`.
    """

    reason: str
    low: int | None = 0
    high: float | None = None
    open: bool = False
    hint: str | None = None

    @property
    def tests(self) -> tuple[tuple[str, float], ...]:
        """The comparisons that must hold, as (operator, bound) with the value on the left."""
        below = () if self.low is None else ((">" if self.open else ">=", self.low),)
        return below if self.high is None else (*below, ("<=", self.high))

    @property
    def from_zero(self) -> bool:
        """Whether every value from 0 on obeys it."""
        return self.high is None and not self.open

    def holds(self, value: Any) -> Any:
        """For a number, or for each of a NumPy array of them."""
        obeyed = True if self.low is None else value > self.low if self.open else value >= self.low
        return obeyed if self.high is None else obeyed & (value <= self.high)

    def describe_violation(self, value: Number) -> str:
        """The message for a value that breaks the law."""
        return self.reason.format(format_number(value))


PROBABILITY_SLACK = 1e-12  # tolerance for rounding: ten times 0.1 in floating point is accepted as 1

LAWS: dict[str, Law] = {
    "count": Law("a loop cannot run {} times: the count must not be negative"),
    "amount": Law("an amount cannot be {}: it must not be negative"),
    "size": Law(
        "a size cannot be {}: it must not be negative",
        hint="where a difference may fall below zero, write `max(0, ...)`",
    ),
    "parallelism": Law("a block cannot run in {} parallel instances: the parallelism must not be negative"),
    "width": Law("the width of a block cannot be {}: it must be positive", open=True),
    "quantity": Law("the number of a component cannot be {}: it must be positive", open=True),
    "part": Law("a mixture cannot have {} operations of a class: it must be positive", open=True),
    "power": Law("a power cannot be {} W: it must not be negative"),
    "design_power": Law("the dynamic power cannot be {} W: the design power must not be below the idle power"),
    "energy": Law("an energy cannot be {} J: it must not be negative"),
    "clock": Law("a clock cannot be {} Hz: it must be positive", open=True),
    "efficiency": Law("an efficiency of {} is not above 0 and at most 1", high=1.0, open=True),
    "probability": Law("a probability of {} is not between 0 and 1", high=1 + PROBABILITY_SLACK),
    "probabilities": Law("the probabilities add up to {}, which is more than 1", low=None, high=1 + PROBABILITY_SLACK),
}
