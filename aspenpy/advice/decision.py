"""Decision: which configuration to run or to buy under a budget (section 4.6 of Umar's dissertation, 2018)."""

from __future__ import annotations

from typing import Literal, get_args

from aspenpy.advice.configuration import Configuration, Objective, Outcome
from aspenpy.record import Record

Limit = Literal["energy", "power", "time", "money"]
LIMITS: tuple[Limit, ...] = get_args(Limit)
UNITS: dict[Limit, str] = {"energy": "J", "power": "W", "time": "s", "money": ""}


class Budget(Record):
    """What a run may take at most: joules, watts on average, seconds, and money in the currency in which the machine
    states `cost`; None is no limit."""

    energy: float | None = None
    power: float | None = None
    time: float | None = None
    money: float | None = None

    @property
    def limits(self) -> dict[Limit, float]:
        """Those that there are."""
        stated: dict[Limit, float | None] = {name: getattr(self, name) for name in LIMITS}
        return {name: value for name, value in stated.items() if value is not None}


class Choice(Record):
    """A configuration on so many nodes, what a run takes with it, and what its machine costs (None where the machine
    states no `cost`)."""

    nodes: int
    configuration: Configuration
    outcome: Outcome
    cost: float | None = None

    def taken(self, limit: Limit) -> float | None:
        """How much of a limit's amount it takes."""
        if limit == "money":
            return self.cost
        return self.outcome.runtime if limit == "time" else getattr(self.outcome, limit)


class BindingLimit(Record):
    """A limit that keeps a decision from being better: `without` is the objective without it. `next_bound` is the first
    looser bound at which the objective is better, `next_value` what it is there: the choices are finitely many, so that
    less than that buys nothing."""

    limit: Limit
    bound: float
    without: float
    next_bound: float
    next_value: float
    value: float

    @property
    def worth(self) -> float:
        """By how much the objective changes with one more unit of the limit (W, J, s), on average up to the next bound;
        below 0, since the objective gets less."""
        return (self.next_value - self.value) / (self.next_bound - self.bound)


class Decision(Record):
    """For one input, the choice with the least `objective` of so many combinations, within a budget. `bindings` are the
    limits each of which keeps it from being better; `jointly` those that do so only together. `front` are the choices
    within the budget that none beats in both runtime and energy, the fastest first. `unmet` says in words why there is
    none within the budget: `choice` is then the nearest."""

    label: str
    settings: str
    objective: Objective
    choice: Choice
    combinations: int
    bindings: tuple[BindingLimit, ...] = ()
    jointly: tuple[Limit, ...] = ()
    front: tuple[Choice, ...] = ()
    unmet: str | None = None
