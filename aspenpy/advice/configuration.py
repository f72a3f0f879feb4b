"""Configuration: hardware components, values of them, what a run takes with these, and the best under a budget.

The components are the boxes of figure 4.9 of Umar's dissertation (Virginia Tech, 2018), decisions its section 4.6. A
component of a machine model is another thing: one kind of part in its tree (`models.machine.model.Component`).
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
        """Values and names of parts, by component."""
        return {**self.values, **self.parts}


def configuration_of(ranges: Mapping[str, ComponentRange], values: Mapping[str, float]) -> Configuration:
    """The configuration at values of variables, by component."""
    numbers = {name: value * ranges[name].factor for name, value in values.items() if not ranges[name].variable.case}
    parts = {
        name: ranges[name].variable.in_words(value) for name, value in values.items() if ranges[name].variable.case
    }
    return Configuration(numbers, parts)


class Outcome(Record):
    """Cost of a run: seconds, under the power cap if one is stated, and joules (None where no power is stated)."""

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

    def value_of(self, objective: Objective) -> float:
        """The value of an objective; not a number where there is no energy."""
        value = getattr(self, objective)
        return float("nan") if value is None else float(value)


class NearOptimal(Record):
    """The best configuration for an objective on a grid all of which was tried. `configuration` has the components that
    were varied. `gap` is by which part of the best value the search along pairs of components ends above it; 0 where it
    finds the same."""

    objective: Objective
    configuration: Configuration
    outcome: Outcome
    grid: int
    gap: float


Limit = Literal["energy", "power", "time", "money"]
LIMITS: tuple[Limit, ...] = get_args(Limit)


class LimitUnit(Record):
    """The symbol of a unit in which a limit is stated, and one of it in words."""

    symbol: str
    one: str


UNITS: dict[Limit, LimitUnit] = {
    "energy": LimitUnit("J", "joule"),
    "power": LimitUnit("W", "watt"),
    "time": LimitUnit("s", "second"),
    "money": LimitUnit("", "unit of money"),
}


class Budget(Record):
    """Limits of a run: joules, watts on average, seconds, and money in the currency in which the machine states `cost`;
    None is no limit."""

    energy: float | None = None
    power: float | None = None
    time: float | None = None
    money: float | None = None

    @property
    def limits(self) -> dict[Limit, float]:
        """The limits that are set."""
        stated: dict[Limit, float | None] = {name: getattr(self, name) for name in LIMITS}
        return {name: value for name, value in stated.items() if value is not None}


class PricedConfiguration(Record):
    """A configuration with a number of nodes, what a run takes with it, and what its machine costs (None where the
    machine states no `cost`)."""

    nodes: int
    configuration: Configuration
    outcome: Outcome
    cost: float | None = None


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
        """The change of the objective with one more unit of the limit (W, J, s), on average up to the next bound;
        below 0, since the objective gets less."""
        return (self.next_value - self.value) / (self.next_bound - self.bound)


class Decision(Record):
    """The choice for one input: the least `objective` of all `combinations` within a budget. `bindings` are the limits
    each of which keeps it from being better; `jointly` those that do so only together. `front` are the choices within
    the budget that none beats in both runtime and energy, the fastest first. `unmet` says in words why there is none
    within the budget: `choice` is then the nearest."""

    label: str
    settings: str
    objective: Objective
    choice: PricedConfiguration
    combinations: int
    bindings: tuple[BindingLimit, ...] = ()
    jointly: tuple[Limit, ...] = ()
    front: tuple[PricedConfiguration, ...] = ()
    unmet: str | None = None

    @property
    def title(self) -> str:
        """The label of the input, or else its settings."""
        return self.label or self.settings


QUANTITY = ""  # in the place of a property: how many parts of that type their parent has

Steps = Literal["real", "whole", "doubling", "alternative"]
"""Which values there are: any number, whole numbers, the stated value halved and doubled, or other parts."""


class Location(Record):
    """The place of a hardware component in a machine model: a property of the parts of a `type` (core, cache, memory),
    or how many of them there are (`QUANTITY`). `level` numbers caches from the core, beginning with 1."""

    type: str
    property: str
    level: int = 1


class HardwareComponent(Record):
    """A characteristic of hardware that can be varied.

    `unit` is that of its values, empty for a number. `locations` are looked for in order; the first that the machine
    states is varied. `physical` are the least and the greatest value that hardware can have, with the `source` of both:
    ranges are cut there. `sold` is the greatest that can be bought, and as what: where nobody states a range, a value
    is widened that far at most. `turned` is how somebody changes it on a machine that is there; without it a component
    is varied only where it is named. `down` says that it can be turned to less than what the machine states, and not to
    more, where no range is declared.
    """

    name: str
    title: str
    unit: str
    locations: tuple[Location, ...]
    physical: tuple[float, float]
    source: str
    steps: Steps = "real"
    sold: tuple[float, str] | None = None
    turned: str = ""
    down: bool = False


def _at(kind: str, *properties: str, level: int = 1) -> tuple[Location, ...]:
    return tuple(Location(kind, name, level) for name in properties)


MANY = 1e7  # parts: ten times the cores of the largest systems of the TOP500
CLOCKS, RATES = (1e8, 1e10), (1e6, 1e14)
CACHE_SIZES = (64.0, 2**32)

COMPONENTS: dict[str, HardwareComponent] = {
    item.name: item
    for item in (
        HardwareComponent(
            "clock", "core clock", "Hz", _at("core", "clock"), CLOCKS, "a bus clock; above all processors sold",
            turned="cpufreq, nvidia-smi -lgc", down=True
        ),
        HardwareComponent(
            "voltage", "core voltage", "V", (*_at("core", "voltage"), *_at("socket", "voltage")), (0.3, 2.0),
            "near the threshold of transistors; above all processors sold"),
        HardwareComponent(
            "uncore_clock", "clock of the uncore", "Hz", _at("socket", "uncore_clock"), CLOCKS, "as the core clock",
            sold=(5e9, "the ring of a Core i9-14900K: assumed")
        ),
        HardwareComponent(
            "cores", "cores of a socket", "", _at("core", QUANTITY), (1, 1e5), "at least one; above all sockets sold",
            "whole", turned="left idle by the batch system", down=True),
        HardwareComponent(
            "smt", "hardware threads of a core", "", _at("core", "threads"), (1, 8), "one to SMT8 of POWER9", "whole",
            turned="the firmware", down=True
        ),
        HardwareComponent(
            "simd_width", "SIMD width", "", _at("core", "simd_width"), (1, 1024),
            "one lane; 2,048-bit vectors of SVE on sixteen pipes", "doubling"),
        *(
            HardwareComponent(
                f"l{level}_capacity", f"capacity of the L{level} cache", "B", _at("cache", "capacity", level=level),
                CACHE_SIZES, "a line; above all caches sold", "doubling")
            for level in (1, 2, 3)
        ),
        HardwareComponent(
            "prefetch", "lines that a miss fetches", "", _at("cache", "prefetch", level=2), (1, 64),
            "the line alone; a page of 4 KiB in lines of 64 B", "doubling"),
        HardwareComponent(
            "memory_bandwidth", "memory bandwidth", "B/s", _at("memory", "bandwidth"), RATES, "above all memories sold",
            turned="channels without modules", down=True
        ),
        HardwareComponent(
            "memory_clock", "memory clock", "Hz", _at("memory", "clock", "channel_bandwidth"), CLOCKS,
            "as the core clock", turned="the firmware's speed of memory", down=True),
        HardwareComponent(
            "memory_latency", "memory latency", "s", _at("memory", "latency"), (1e-9, 1e-3),
            "a cache's; that of solid-state disks"),
        HardwareComponent(
            "memory_capacity", "memory capacity", "B", _at("memory", "capacity"), (2**20, 2**60), "1 MiB; 1 EiB",
            "doubling"),
        HardwareComponent(
            "sockets", "sockets of a node", "", _at("socket", QUANTITY), (1, 1024), "at least one", "whole",
            turned="left idle by the batch system", down=True
        ),
        HardwareComponent(
            "nodes", "nodes", "", _at("node", QUANTITY), (1, MANY), "at least one", "whole",
            turned="the batch system", down=True),
        HardwareComponent(
            "network_bandwidth", "bandwidth of a network port", "B/s", _at("interconnect", "bandwidth"), RATES,
            "above all networks sold", turned="another network"),
        HardwareComponent(
            "network_latency", "latency of the network", "s", _at("interconnect", "latency"), (1e-8, 1.0),
            "light through 3 m of cable; once around the earth, several times"),
        HardwareComponent("topology", "topology of the network", "", (), (0, 100), "of the library", "alternative"),
        HardwareComponent("memory_kind", "kind of memory", "", (), (0, 100), "of the library", "alternative"),
    )
}  # fmt: skip
"""Hardware components by name."""
