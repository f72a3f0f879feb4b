"""Decision: which configuration to run or to buy under a budget (section 4.6 of Umar's dissertation, 2018)."""

from __future__ import annotations

from typing import Literal

from aspenpy.advice.configuration import Configuration, Outcome
from aspenpy.record import Record

Limit = Literal["energy", "power", "time", "money"]


class Budget(Record):
    """What a run may take at most: joules, watts on average, seconds, and money in the currency in which the machine
    states `cost`; None is no limit."""

    energy: float | None = None
    power: float | None = None
    time: float | None = None
    money: float | None = None


class Decision(Record):
    """The configuration for one input (its `settings` in words) on so many nodes that takes least of what was to be
    least, within a budget. `binding` is the limit that keeps it from being better, None where none does; `worth` is by
    how much the objective changes with one more unit of that limit (its base unit)."""

    settings: str
    nodes: int
    configuration: Configuration
    outcome: Outcome
    binding: Limit | None = None
    worth: float | None = None
