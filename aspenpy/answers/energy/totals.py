"""EnergyTotals: the joules of a cost tree by term, and by kernel and term, in the symbols of the models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache

from aspenpy.answers.energy.aeem import Aeem
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions, refuse_unknown, settle_options
from aspenpy.answers.energy.power import HOW
from aspenpy.answers.energy.responding import Responding, states_responding_power
from aspenpy.answers.energy.roofline_law import RooflineLaw
from aspenpy.answers.energy.term import EnergyLaw, EnergyTerm, Key
from aspenpy.answers.energy.waiting import CapSlowdown, waiting_of_block
from aspenpy.cost.cost import CostTree, TimedLeaf
from aspenpy.cost.prices import BlockCost
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow
from aspenpy.models.application.total import Total, Totals, of_kind, sum_terms

LAWS: dict[str, type[Aeem] | type[Responding] | type[RooflineLaw]] = {
    "responding": Responding,
    "aeem": Aeem,
    "roofline": RooflineLaw,
}
"""Laws of energy by the name of the option."""

MOST_KEPT = 32  # energies of trees that are kept for further questions


class EnergyTotals:
    """The energy of one run of the entry kernel. Raises AspenError where the machine declares no power."""

    def __init__(self, tree: CostTree, options: EnergyOptions = DEFAULT) -> None:
        refuse_unknown(options)
        self.tree = tree
        socket = tree.machine.root if tree.socket is None else tree.machine.components[tree.socket]
        self.options = settle_options(options, states_responding_power(socket))
        self.law: EnergyLaw = LAWS[self.options.law](tree, self.options)
        if not self.law.terms:
            self._refuse_powerless()
        self._losses = conversion_losses(tree, self.law.terms) if self.options.charged == "machine" else {}

    @property
    def terms(self) -> dict[Key, EnergyTerm]:
        """The terms by key; those of conversion hold the joules lost for each joule."""
        return dict(self.law.terms)

    @cached_property
    def amounts(self) -> dict[Key, Expr]:
        """Amounts of each term's unit that the run needs."""
        return {key.term: worth for key, worth in of_kind(Needed, self._together).items()}

    @cached_property
    def waiting(self) -> dict[str, Expr]:
        """Seconds by which a power cap makes each kernel's own blocks longer."""
        if not of_kind(CapSlowdown, self._together):
            return {}
        return {key.kernel: worth for key, worth in of_kind(CapSlowdown, self._apart).items()}

    @cached_property
    def capped_runtime(self) -> Expr:
        """Seconds of the run, with what a power cap adds."""
        return graph.add(self.tree.runtime, *of_kind(CapSlowdown, self._together).values())

    @cached_property
    def by_term(self) -> dict[Key, Expr]:
        """Joules of each term; they add up to the energy."""
        return self._joules(self.amounts)

    @cached_property
    def by_kernel(self) -> dict[str, dict[Key, Expr]]:
        """Joules of each kernel's own blocks over the whole run, by term (equation 3.9: calls times E_i)."""
        apart: dict[str, dict[Key, Expr]] = {kernel.name: {} for kernel in reversed(self.tree.kernels)}
        for key, worth in of_kind(Needed, self._apart).items():
            apart[key.kernel][key.term] = worth
        return {name: self._joules(amounts) for name, amounts in apart.items()}

    @cached_property
    def energy(self) -> Expr:
        """Joules."""
        return sum_terms(self.by_term.values())

    def _joules(self, amounts: dict[Key, Expr]) -> dict[Key, Expr]:
        joules = {key: graph.mul(self.law.terms[key].rate, amount) for key, amount in amounts.items()}
        for key, shares in self._losses.items():
            lost = [graph.mul(share, joules[other]) for other, share in shares.items() if other in joules]
            if lost:
                joules[key] = sum_terms(lost)
        return joules

    @cached_property
    def _together(self) -> Totals:
        return self._compute_totals(apart=False)

    @cached_property
    def _apart(self) -> Totals:
        return self._compute_totals(apart=True)

    def _compute_totals(self, *, apart: bool) -> Totals:
        return self.tree.run_totals(_Amounts(self.tree, self.law, apart), Needed, CapSlowdown)

    def _refuse_powerless(self) -> None:
        root = self.tree.machine.root
        message = f"machine `{root.name}` declares no power, so the energy is unknown"
        fail("no-power", message, root.name_span, hint=HOW)


@lru_cache(MOST_KEPT)
def energy_totals(tree: CostTree, options: EnergyOptions = DEFAULT) -> EnergyTotals:
    """The energy totals of a cost tree, computed once for all callers. Raises AspenError where the machine declares no
    power."""
    return EnergyTotals(tree, options)


class Needed(Total):
    """The amount of a term's unit that a kernel's own blocks need; all kernels together are called ""."""

    kernel: str
    term: Key


class _Amounts(TimedLeaf):
    """Amounts of the terms, and the seconds by which a power cap prolongs blocks; by kernel with `apart`."""

    def __init__(self, tree: CostTree, law: EnergyLaw, apart: bool) -> None:
        super().__init__(tree)
        self.law = law
        self.apart = apart

    def of_block(self, cost: BlockCost, kernel: flow.Kernel) -> Totals:
        name = kernel.name if self.apart else ""
        needed: Totals = {Needed(name, key): worth for key, worth in self.law.amounts(cost).items()}
        return {**needed, **waiting_of_block(self.law, cost, name)}

    def is_elapsed(self, key: object) -> bool:
        return isinstance(key, CapSlowdown) or (isinstance(key, Needed) and self.law.terms[key.term].elapsed)


# -- what a machine loses on the way to its components -------------------------------------------------------------


def conversion_losses(tree: CostTree, terms: Mapping[Key, EnergyTerm]) -> dict[Key, dict[Key, Expr]]:
    """Joules lost in each component that converts, for each joule of a term.

    A component may declare `property efficiency [0.94]`: of each joule that comes in, that part comes out, and the rest
    is consumed on top of what the component and all in it consume. Supplies inside of others multiply.
    """
    efficiency = _efficiencies(tree)
    lost: dict[Key, dict[Key, Expr]] = {}
    for key, term in terms.items():
        drawn = graph.ONE
        for name in reversed(term.path):
            if name in efficiency:
                fed = graph.div(drawn, efficiency[name])
                lost.setdefault(Key("conversion", name), {})[key] = graph.sub(fed, drawn)
                drawn = fed
    return lost


def _efficiencies(tree: CostTree) -> dict[str, Expr]:
    values = {}
    for name, component in tree.machine.components.items():
        declared = component.properties.get("efficiency")
        if declared is not None and declared.value is not None:
            values[name] = graph.checked("efficiency", declared.symbol)
            if declared.span is not None:
                tree.origins[values[name]] = declared.span
    return values


# -- metrics -------------------------------------------------------------------------------------------------------

METRICS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "energy": lambda energy, runtime: energy,
    "capped_runtime": lambda energy, runtime: runtime,
    "power": graph.div,
    "edp": graph.mul,
    "ed2p": lambda energy, runtime: graph.mul(energy, graph.power(runtime, 2)),
}
"""Metrics as functions of energy and the runtime under the power cap: joules, seconds, watts on average, joule seconds,
and joule seconds squared (Gonzalez and Horowitz, 1996)."""


def energy_metric(tree: CostTree, metric: str, options: EnergyOptions = DEFAULT) -> Expr:
    """One of `METRICS` as a formula in the symbols of the models, which can be swept, derived or compiled."""
    totals = energy_totals(tree, options)
    return METRICS[metric](totals.energy, totals.capped_runtime)
