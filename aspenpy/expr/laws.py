"""The laws a value may be held to: what a loop count, a quantity or a probability may not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.expr.arithmetic import Number, shown
from aspenpy.record import Record


class Law(Record):
    """`holds` takes a number or a NumPy array of them; `reason` is a template over the offending value.

    Every law is an interval, so that a value on a straight line obeys it between two points at which it obeys it.
    """

    holds: Callable[[Any], Any]
    reason: str
    from_zero: bool = False

    def broken(self, value: Number) -> str:
        """The message for a value that breaks the law."""
        return self.reason.format(shown(value))


PROBABILITY_SLACK = 1e-12
"""Ten times 0.1 in floating point must not be refused as more than 1."""

LAWS: dict[str, Law] = {
    "count": Law(
        lambda value: value >= 0, "a loop cannot run {} times: the count must not be negative", from_zero=True
    ),
    "amount": Law(
        lambda value: value >= 0, "nothing can be asked for {} times: an amount must not be negative", from_zero=True
    ),
    "parallelism": Law(
        lambda value: value >= 0,
        "a block cannot run in {} parallel instances: the parallelism must not be negative",
        from_zero=True,
    ),
    "quantity": Law(lambda value: value > 0, "a component cannot be there {} times: the quantity must be positive"),
    "power": Law(
        lambda value: value >= 0, "a component cannot draw {} W: a power must not be negative", from_zero=True
    ),
    "design_power": Law(
        lambda value: value >= 0,
        "full load cannot draw {} W more than idling: the design power must not be below the idle power",
        from_zero=True,
    ),
    "energy": Law(lambda value: value >= 0, "nothing takes {} J: an energy must not be negative", from_zero=True),
    "clock": Law(lambda value: value > 0, "a clock of {} Hz does not run: it must be positive"),
    "efficiency": Law(lambda value: (value > 0) & (value <= 1), "an efficiency of {} is not above 0 and at most 1"),
    "probability": Law(
        lambda value: (value >= 0) & (value <= 1 + PROBABILITY_SLACK), "a probability of {} is not between 0 and 1"
    ),
    "probabilities": Law(
        lambda value: value <= 1 + PROBABILITY_SLACK, "the probabilities add up to {}, which is more than 1"
    ),
}
"""`from_zero` marks the laws that every value from 0 on obeys."""
