"""Configuration: values of hardware components, what a run takes with them, and the best of them under a budget.

Decisions: section 4.6 of Umar's dissertation (Virginia Tech, 2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from aspenpy.explore.variable import Variable
from aspenpy.record import Record

RangeSource = Literal["system", "machine", "vendor", "user"]
"""Read from the host or from saved output of its tools; declared by the machine model; the model's value widened by a
rule; given by the user."""


Objective = Literal["runtime", "energy", "edp", "ed2p"]
OBJECTIVES: tuple[Objective, ...] = ("runtime", "energy", "edp", "ed2p")


class ComponentRange(Record):
    """The values that a hardware component may take: a `variable` of the component's name and unit; the parameter or
    property of the machine model that it `sets`, which the component's value is `factor` times of; and where the ends
    are from, in a word and in full (a line of a tool's output, a declaration, the rule)."""

    component: str
    variable: Variable
    sets: str
    factor: float
    source: RangeSource
    origin: str


class Configuration(Record):
    """Values of hardware components by name, in their base units, and of alternatives their names; what is not named is
    as the machine has it."""

    values: Mapping[str, float]
    parts: Mapping[str, str] = MappingProxyType({})

    @property
    def named(self) -> dict[str, float | str]:
        """All of it, by component."""
        return {**self.values, **self.parts}


def configuration_of(ranges: Mapping[str, ComponentRange], values: Mapping[str, float]) -> Configuration:
    """That of values of variables, by component."""
    numbers = {name: value * ranges[name].factor for name, value in values.items() if not ranges[name].variable.case}
    parts = {name: ranges[name].variable.shown(value) for name, value in values.items() if ranges[name].variable.case}
    return Configuration(numbers, parts)


class Outcome(Record):
    """What a run takes with a configuration: seconds, and joules (None where the machine states no power)."""

    runtime: float
    energy: float | None

    @property
    def power(self) -> float | None:
        """Watts on average; None without energy, or where the run takes no time."""
        return None if self.energy is None or not self.runtime else self.energy / self.runtime

    @property
    def edp(self) -> float | None:
        """Energy-delay product (J s): Gonzalez and Horowitz, IEEE JSSC 31(9), 1996."""
        return None if self.energy is None else self.energy * self.runtime

    @property
    def ed2p(self) -> float | None:
        """Energy-delay-squared product (J s^2): Martin, in Power-Aware Computing, 2002."""
        return None if self.energy is None else self.energy * self.runtime**2

    def worth(self, objective: Objective) -> float:
        """The value of an objective; not a number where there is no energy."""
        value = getattr(self, objective)
        return float("nan") if value is None else float(value)


class NearOptimal(Record):
    """The best of a grid of so many configurations for an objective: all were tried. `configuration` has the components
    that were varied. `gap` is by which part of the best value the search along pairs of components ends above it; 0
    where it finds the same."""

    objective: Objective
    configuration: Configuration
    outcome: Outcome
    grid: int
    gap: float


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
