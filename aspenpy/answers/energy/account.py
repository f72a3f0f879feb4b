"""Energy: the joules of a prediction in numbers, by kernel and by component."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.power import PowerTree
from aspenpy.answers.energy.responding import FILES
from aspenpy.answers.energy.term import EnergyTerm, Key
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.answers.scope import as_float
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import refuse_float_overflow
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result


class TermUse(Record):
    """A term of the energy over the whole run: its rate (in `term.unit`), the amount that is multiplied with it, and
    the joules. For what conversion loses, `term` is None, and so are rate and amount."""

    key: Key
    term: EnergyTerm | None
    rate: float | None
    amount: float | None
    energy: float


class KernelEnergy(Record):
    """A kernel's own blocks over the run: calls, s, J, J by term, and average W (None where it takes no time)."""

    name: str
    calls: float
    time: float
    energy: float
    by_term: dict[Key, float]
    power: float | None

    @property
    def per_call(self) -> float | None:
        """Joules of one call, on average (E_i of equation 3.9); None where it is not called."""
        return self.energy / self.calls if self.calls else None


class Energy(Result):
    """The energy of a prediction. Raises AspenError where the machine declares no power, or an impossible one."""

    def __init__(self, prediction: Prediction, options: EnergyOptions = DEFAULT) -> None:
        self.prediction = prediction
        self.totals = energy_totals(prediction.tree, options)
        self.options = self.totals.options
        _ = self.value

    def __repr__(self) -> str:
        return f"<Energy {self.prediction.where}: {self.value:.6g} J>"

    @cached_property
    def value(self) -> float:
        """Joules."""
        return self._numbers([self.totals.energy])[0]

    @cached_property
    def waiting(self) -> dict[str, float]:
        """Seconds by which a power cap makes the run longer, by kernel."""
        waiting = self.totals.waiting
        return dict(zip(waiting, self._numbers(list(waiting.values())), strict=True))

    @property
    def runtime(self) -> float:
        """Seconds that are predicted where no power cap holds."""
        return self.prediction.runtime

    @property
    def capped_runtime(self) -> float:
        """Runtime in seconds, the waiting under a power cap included."""
        return self.runtime + sum(self.waiting.values())

    @property
    def power(self) -> float | None:
        """Watts under the cap, on average; None of a run that takes no time."""
        return self.value / self.capped_runtime if self.capped_runtime else None

    @property
    @refuse_float_overflow
    def edp(self) -> float:
        """Joule seconds, under the cap."""
        return self.value * self.capped_runtime

    @property
    @refuse_float_overflow
    def ed2p(self) -> float:
        """Joule seconds squared, under the cap."""
        return self.value * self.capped_runtime**2

    @cached_property
    def terms(self) -> tuple[TermUse, ...]:
        """The terms; their joules add up to the energy."""
        joules = dict(zip(self.totals.by_term, self._numbers(list(self.totals.by_term.values())), strict=True))
        charged = [key for key in joules if key in self.totals.terms]
        rates = dict(zip(charged, self._numbers([self.totals.terms[key].rate for key in charged]), strict=True))
        amounts = dict(zip(charged, self._numbers([self.totals.amounts[key] for key in charged]), strict=True))
        return tuple(
            TermUse(key, self.totals.terms.get(key), rates.get(key), amounts.get(key), energy)
            for key, energy in joules.items()
        )

    @cached_property
    def kernels(self) -> tuple[KernelEnergy, ...]:
        """The kernels, the entry first; their joules add up to the energy (equation 3.9)."""
        uses = []
        for use in self.prediction.kernels:
            by_term = self.totals.by_kernel[use.name]
            joules = dict(zip(by_term, self._numbers(list(by_term.values())), strict=True))
            energy = sum(joules.values())
            time = use.exclusive + self.waiting.get(use.name, 0.0)
            power = energy / time if time else None
            uses.append(KernelEnergy(use.name, use.calls, time, energy, by_term=joules, power=power))
        return tuple(uses)

    @cached_property
    def components(self) -> dict[str, float]:
        """Joules by component; they add up to the energy."""
        joules: dict[str, float] = {}
        for use in self.terms:
            joules[use.key.component] = joules.get(use.key.component, 0.0) + use.energy
        return joules

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Components whose power is left out: idle ones elsewhere and, in AEEM, components that serve nothing."""
        tree = self.prediction.tree
        power_tree = PowerTree(tree.machine, tree.socket, tree.origins)
        if self.options.law != "aeem":
            charged = {key.component for key in self.totals.terms if key.cause != FILES}
            there = dict.fromkeys(place.component.name for place in tree.machine.first_places())
            powers = {name: power_tree.powers[name] for name in there if power_tree.powers[name].static is not None}
            return tuple(name for name in powers if name not in charged) if self.options.law == "responding" else ()
        idle = [
            place.component.name
            for place in power_tree.places.values()
            if power_tree.power(place).static is not None and Key("idle", place.component.name) not in self.totals.terms
        ]
        return tuple(dict.fromkeys([*idle, *(place.component.name for place in power_tree.never_drawn)]))

    def formula(self, free: Sequence[str] = ()) -> Expr:
        """The energy as a node of the expression graph in the free parameters; the rest is put in."""
        return self.prediction.scope.formulas([self.totals.energy], free)[0]

    def _numbers(self, exprs: Sequence[Expr]) -> list[float]:
        values = self.prediction.scope.values(exprs, self.prediction.seed)
        span = self.prediction.tree.entry.name_span
        return [as_float(value, "the energy", span) for value in values]


@one_allowance
def predict_energy(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    options: EnergyOptions = DEFAULT,
    **case: Unpack[CaseOptions],
) -> Energy:
    """The energy that a run consumes, counted by `options`; the other arguments are those of `predict`.

    :returns: joules, seconds and watts of the run, its kernels and components
    :raises AspenError: where the machine states no power, and where the run has no runtime
    """
    return Energy(predict(app, machine, **case), options)


# -- limits ----------------------------------------------------------------------------------------


class Verdict(Record):
    """A limit in J (`budget`) or W (`power cap`), what is consumed, and `of` which kernel, None for the whole run."""

    limit: Literal["budget", "power cap"]
    allowed: float
    drawn: float
    unit: Literal["J", "W"]
    of: str | None = None

    @property
    def holds(self) -> bool:
        return self.drawn <= self.allowed

    @property
    def left(self) -> float:
        """Part of the limit that is left, in its unit; negative where the limit does not hold."""
        return self.allowed - self.drawn


def within_budget(energy: Energy, joules: float) -> Verdict:
    """Whether the run takes no more energy than that."""
    return Verdict("budget", joules, energy.value, "J")


def below_cap(energy: Energy, watts: float) -> Verdict:
    """Whether no kernel draws more power than that, on average over its own time."""
    name, drawn = strongest_kernel(energy)
    return Verdict("power cap", watts, drawn, "W", name)


def strongest_kernel(energy: Energy) -> tuple[str | None, float]:
    """The kernel that draws most power, and its watts; nothing for a run that takes no time."""
    powers = {kernel.name: kernel.power for kernel in energy.kernels if kernel.power is not None}
    if not powers:
        return None, 0.0
    name = max(powers, key=powers.__getitem__)
    return name, powers[name]
