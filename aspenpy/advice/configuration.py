"""Configuration: values of hardware components, and what a run takes with them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

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
