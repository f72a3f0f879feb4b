"""Classification: what an application, or one of its kernels, is bound by, in time and in energy.

Step 1 of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.3.1): by the roofline (Williams, Waterman and
Patterson, CACM 52(4), 2009) and by the roofline of energy (Choi, Bedard, Fowler and Vuduc, IPDPS 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.responding import FILES
from aspenpy.answers.energy.term import Key
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.answers.roofline_points import RooflinePoint, roofline_points
from aspenpy.cost.cost import Bound
from aspenpy.cost.instances import FILE_RESOURCES, FILE_SYSTEM
from aspenpy.cost.prices import LAUNCH
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.models.application.total import Exclusive, of_kind
from aspenpy.models.machine.properties import PROPERTY_DIMENSIONS
from aspenpy.record import Record
from aspenpy.tables.numbers import format_setting
from aspenpy.tables.result import Result

ApplicationClass = Literal["arithmetic", "cache", "memory", "network", "latency", "I/O"]
"""What runs may be bound by: flops and other work of cores, a level of cache, a memory, messages between ranks, times
that do not go with an amount (launches, barriers, start-up of messages), files."""

CLASSES: tuple[ApplicationClass, ...] = ("arithmetic", "cache", "memory", "network", "latency", "I/O")


class BoundShare(Record):
    """A part of a run: the `time` (0 to 1, of its runtime) in which it is bound by one class at one `component` (the
    name of a component of the machine), and the `energy` (0 to 1) that this takes; None where power is not stated."""

    bound: ApplicationClass
    component: str | None
    time: float
    energy: float | None = None


class Classification(Record):
    """A kernel's own blocks, or the whole application (`kernel` is None).

    `bound` is the class with the largest share of time, `energy_bound` that of energy (None without power), at the
    component of the first of `shares`, which are ordered by time. `time` is in seconds, `energy` in joules. `intensity`
    are flops for each byte that crosses the memory bus, None where there are none of either. `time_balance` (flop/B) is
    the intensity at which flops and bytes take equal times, peak over bandwidth; `energy_balance` (flop/B) that at
    which they take equal energies, joules a byte over joules a flop.
    """

    kernel: str | None
    bound: ApplicationClass
    energy_bound: ApplicationClass | None
    shares: tuple[BoundShare, ...]
    time: float
    energy: float | None
    intensity: float | None
    time_balance: float | None
    energy_balance: float | None

    @property
    def time_distance(self) -> float | None:
        """The intensity over the balance of time: above 1 on the side of arithmetic."""
        return _ratio(self.intensity, self.time_balance)

    @property
    def energy_distance(self) -> float | None:
        """The intensity over the balance of energy: above 1 flops take more energy than bytes."""
        return _ratio(self.intensity, self.energy_balance)


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


# -- how it is found -------------------------------------------------------------------------------

CLASS_OF_TYPE: dict[str, ApplicationClass] = {
    "core": "arithmetic",
    "socket": "arithmetic",
    "cache": "cache",
    "memory": "memory",
    "interconnect": "network",
    "link": "network",
}
"""The class, by the type of the component that serves."""

CLASS_OF_RESOURCE: dict[str, ApplicationClass] = {
    "chain": "latency",
    LAUNCH: "latency",
    "barriers": "latency",
    "tlb": "latency",
    "messages": "network",
    "transfers": "network",
}
"""Resources whose class their component does not tell."""

NO_LATENCY = 1e-18  # seconds: in place of a latency; a machine may divide by it
OF_ARITHMETIC, OF_MEMORY, OF_NETWORK = ("flops", "active"), ("bytes",), ("messages",)  # causes of energy

BoundKey = tuple[ApplicationClass, str | None]  # a class and the component at which a run is bound by it
Shares = dict[BoundKey, float]


class Classified(Result):
    """An application on a machine, the whole and by kernel. Raises AspenError where it has no runtime.

    The time that is bound by latency is what a run takes less if no component but cores and file systems has any: what
    is left is bound by the resources that its blocks wait for. To open a file counts as I/O, as it does for `eval`.
    Energy that goes with flops, bytes, messages and files counts for their classes; what goes with the time alone, such
    as idle power, for what the time is bound by. `chosen` are parameters that the user did not set.
    """

    def __init__(self, case: Case, options: EnergyOptions = DEFAULT, chosen: Sequence[str] = ()) -> None:
        self.chosen = tuple(chosen)
        self.prediction = predict(case)
        self.options = options
        machine = case.required_machine
        latencies = {
            f"{component.name}.{name}": NO_LATENCY
            for component in machine.components.values()
            for name in component.properties
            if component.type not in ("core", FILE_SYSTEM) and name in PROPERTY_DIMENSIONS and name.endswith("latency")
        }
        self.quick = Prediction(case.with_set(latencies))

    @cached_property
    def _energy(self) -> Energy | Diagnostic:
        try:
            return Energy(self.prediction, self.options)
        except AspenError as error:
            return error.diagnostics[0]

    @property
    def energy(self) -> Energy | None:
        """The energy account; None where the machine states no power."""
        return None if isinstance(self._energy, Diagnostic) else self._energy

    @cached_property
    def unpowered(self) -> tuple[str, ...]:
        """File systems that serve the run and whose power, idle or at work, its energy leaves out: nobody states it, or
        it is that of all who share them."""
        if self.energy is None:
            return ()
        causes = {key.component: key.cause for key in self.energy.totals.terms if key.cause in (FILES, "active")}
        paths = (self.prediction.component_of(name) for name in FILE_RESOURCES if name in self.prediction.resources)
        names = [path.rpartition("/")[2] for path in paths if path is not None]
        return tuple(dict.fromkeys(name for name in names if name not in causes or name in self.energy.left_out))

    @property
    def powerless(self) -> Diagnostic | None:
        """Why there is no energy; None where the machine states power."""
        return self._energy if isinstance(self._energy, Diagnostic) else None

    @cached_property
    def classifications(self) -> tuple[Classification, ...]:
        """The whole application, then its kernels that take time, the longest first."""
        placed = {point.kernel: point for point in roofline_points(self.prediction)}
        uses = sorted((use for use in self.prediction.kernels if use.exclusive > 0), key=lambda use: -use.exclusive)
        shares = {use.name: self._time_shares(use.name, use.exclusive) for use in uses}
        joules = self._joules()
        whole = _sum({name: _scale_shares(shares[name], use.exclusive) for name, use in zip(shares, uses, strict=True)})
        runtime = sum(use.exclusive for use in uses)
        kernels = [
            self._classification(use.name, shares[use.name], use.exclusive, joules.get(use.name), placed.get(use.name))
            for use in uses
        ]
        if not runtime:
            return ()
        by_term: dict[Key, float] = {}
        for terms in joules.values():
            for key, value in terms.items():
                by_term[key] = by_term.get(key, 0.0) + value
        energies = [self._energy_shares(shares[name], terms) for name, terms in joules.items() if name in shares]
        total = self._classification(
            None, _scale_shares(whole, 1 / runtime), runtime, by_term or None, placed.get(None)
        )
        if not energies:
            return (total, *kernels)
        return (_with_energy(total, _sum(dict(enumerate(energies)))), *kernels)

    def _joules(self) -> dict[str, Mapping[Key, float]]:
        """Joules by kernel and term; empty where the machine states no power."""
        energy = self._energy
        return {} if isinstance(energy, Diagnostic) else {use.name: use.by_term for use in energy.kernels if use.energy}

    def _time_shares(self, kernel: str, time: float) -> Shares:
        """Shares of time of a kernel's own blocks; they add up to 1."""
        quick = min(self.quick.totals.get(Exclusive(kernel), 0.0), time)
        waits = self._waits(kernel)
        shares: Shares = {}
        for resource, wait in waits.items():
            key = self._bound_key(resource, kernel)
            shares[key] = shares.get(key, 0.0) + wait / sum(waits.values()) * quick / time
        if time > quick or not waits:
            whole = {key: wait for key, wait in of_kind(Bound, self.prediction.totals).items() if key.kernel == kernel}
            waiting = max(whole, key=lambda key: whole[key] - self.quick.totals.get(key, 0.0), default=None)
            late: BoundKey = ("latency", None if waiting is None else self._bound_key(waiting.resource, kernel)[1])
            shares[late] = shares.get(late, 0.0) + ((time - quick) / time if waits else 1.0)
        return shares

    def _waits(self, kernel: str) -> dict[str, float]:
        """Seconds in which a kernel's own blocks wait for each resource. Branches that overlap wait together, which
        counts for the kernel of their `par`: blocks of such branches wait as kernels without blocks of their own do."""
        times, totals = self.prediction.totals, self.quick.totals
        own: dict[str, float] = {}
        together: dict[str, float] = {}
        for key, wait in of_kind(Bound, totals).items():
            if wait > 0 and key.kernel == kernel:
                own[key.resource] = wait
            elif wait > 0 and not times.get(Exclusive(key.kernel), 0.0):
                together[key.resource] = together.get(key.resource, 0.0) + wait
        return own or together

    @cached_property
    def choices(self) -> dict[str, float]:
        """The values of the parameters that were chosen so that ranks fill the machine."""
        scope = self.prediction.scope
        values = scope.values([scope.symbol(name) for name in self.chosen], self.prediction.seed)
        return dict(zip(self.chosen, map(float, values), strict=True))

    @property
    def where(self) -> str:
        """The application and the machine in words, with what was chosen."""
        chosen = ", ".join(f"{name} = {format_setting(value)}" for name, value in self.choices.items())
        return f"{self.prediction.where}, with {chosen}" if chosen else self.prediction.where

    def _bound_key(self, resource: str, kernel: str) -> BoundKey:
        path = self.prediction.component_of(resource, kernel)
        name = None if path is None else path.rpartition("/")[2]
        component = self.prediction.machine.components.get(name or "")
        by_type = CLASS_OF_TYPE.get(component.type, "I/O") if component else "latency"
        return CLASS_OF_RESOURCE.get(resource, by_type), name

    # -- energy ----------------------------------------------------------------------------------

    def _classification(
        self,
        kernel: str | None,
        shares: Shares,
        time: float,
        joules: Mapping[Key, float] | None,
        point: RooflinePoint | None,
    ) -> Classification:
        energy = None if joules is None else sum(joules.values())
        classification = Classification(
            kernel,
            _largest(shares),
            None,
            shares=tuple(BoundShare(*key, share) for key, share in sorted(shares.items(), key=lambda item: -item[1])),
            time=time,
            energy=energy,
            intensity=None if point is None else point.intensity,
            time_balance=None if point is None else point.balance,
            energy_balance=None if point is None or joules is None else self._energy_balance(joules, point),
        )
        return (
            classification
            if not joules or not energy
            else _with_energy(classification, self._energy_shares(shares, joules))
        )

    def _energy_shares(self, shares: Shares, joules: Mapping[Key, float]) -> Shares:
        """Joules by class and component."""
        total: Shares = {}
        for key, value in joules.items():
            own = self._class_of(key)
            parts = {(own, key.component): 1.0} if own is not None else shares
            for bound, part in parts.items():
                total[bound] = total.get(bound, 0.0) + part * value
        return total

    def _class_of(self, key: Key) -> ApplicationClass | None:
        """Class of resource that a term of the energy goes with; None for a term that goes with time."""
        if key.cause == FILES:
            return "I/O"
        cause = key.cause.rpartition(" ")[2] if key.cause.endswith("flops") else key.cause
        if cause in OF_NETWORK:
            return "network"
        if cause in OF_MEMORY:
            return "memory"
        if cause in OF_ARITHMETIC:
            component = self.prediction.machine.components.get(key.component)
            return CLASS_OF_TYPE.get(component.type, "I/O") if component else None
        return None

    def _energy_balance(self, joules: Mapping[Key, float], point: RooflinePoint) -> float | None:
        """Joules a byte over joules a flop (Choi 2013), of those that go with either."""
        spent: dict[ApplicationClass, float] = {}
        for key, value in joules.items():
            own = self._class_of(key)
            if own is not None:
                spent[own] = spent.get(own, 0.0) + value
        flops, volume = spent.get("arithmetic", 0.0), spent.get("memory", 0.0)
        return (volume / point.volume) / (flops / point.flops) if flops and point.volume else None


def _scale_shares(shares: Shares, factor: float) -> Shares:
    return {key: share * factor for key, share in shares.items()}


def _sum(parts: Mapping[object, Shares]) -> Shares:
    total: Shares = {}
    for shares in parts.values():
        for key, share in shares.items():
            total[key] = total.get(key, 0.0) + share
    return total


def _largest(shares: Shares) -> ApplicationClass:
    """The class with the largest share, over all its components."""
    by_class: dict[ApplicationClass, float] = {}
    for (bound, _), share in shares.items():
        by_class[bound] = by_class.get(bound, 0.0) + share
    return max(by_class, key=by_class.__getitem__)


def _with_energy(classification: Classification, joules: Shares) -> Classification:
    """The classification with shares of energy."""
    total = sum(joules.values())
    times = {(share.bound, share.component): share.time for share in classification.shares}
    keys = sorted({*times, *joules}, key=lambda key: (-times.get(key, 0.0), -joules.get(key, 0.0)))
    shares = tuple(BoundShare(*key, times.get(key, 0.0), joules.get(key, 0.0) / total) for key in keys)
    return classification.replace(energy_bound=_largest(joules), shares=shares)
