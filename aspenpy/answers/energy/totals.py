"""EnergyTotals: the joules of a cost tree by term, and by kernel and term, in the symbols of the models."""

from __future__ import annotations

from functools import cached_property

from aspenpy.answers.energy.aeem import Aeem
from aspenpy.answers.energy.conversion import losses
from aspenpy.answers.energy.options import LITERAL, EnergyOptions, refuse_unknown
from aspenpy.answers.energy.power import HOW
from aspenpy.answers.energy.roofline_law import RooflineLaw
from aspenpy.answers.energy.term import Key, Law, Term
from aspenpy.cost.cost import CostTree, busy_times
from aspenpy.cost.prices import slowest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.language.lower import carry_origin
from aspenpy.models.application import flow
from aspenpy.models.application.total import RUNTIME, Leaf, Total, Totals, added, run_totals, scaled, summed

LAWS: dict[str, type[Aeem] | type[RooflineLaw]] = {"aeem": Aeem, "roofline": RooflineLaw}  # by the name of the option


class EnergyTotals:
    """The energy of one run of the entry kernel. Raises AspenError where the machine declares no power."""

    def __init__(self, tree: CostTree, options: EnergyOptions = LITERAL) -> None:
        refuse_unknown(options)
        self.tree = tree
        self.options = options
        self.law: Law = LAWS[options.law](tree, options)
        if not self.law.terms:
            self._refuse_powerless()
        self._losses = losses(tree, self.law.terms) if options.charged == "machine" else {}

    @property
    def terms(self) -> dict[Key, Term]:
        """By key; those of conversion hold what is lost for each joule."""
        return dict(self.law.terms)

    @cached_property
    def amounts(self) -> dict[Key, Expr]:
        """How much of each term's unit the run needs."""
        return {key.term: worth for key, worth in self._run(apart=False).items()}

    @cached_property
    def by_term(self) -> dict[Key, Expr]:
        """Joules of each term; they add up to the energy."""
        return self._joules(self.amounts)

    @cached_property
    def by_kernel(self) -> dict[str, dict[Key, Expr]]:
        """Joules of each kernel's own blocks over the whole run, by term (equation 3.9: calls times E_i)."""
        apart: dict[str, dict[Key, Expr]] = {kernel.name: {} for kernel in reversed(self.tree.kernels)}
        for key, worth in self._run(apart=True).items():
            apart[key.kernel][key.term] = worth
        return {name: self._joules(amounts) for name, amounts in apart.items()}

    @cached_property
    def energy(self) -> Expr:
        """Joules."""
        return summed(self.by_term.values())

    def _joules(self, amounts: dict[Key, Expr]) -> dict[Key, Expr]:
        found = {key: graph.mul(self.law.terms[key].rate, amount) for key, amount in amounts.items()}
        for key, shares in self._losses.items():
            lost = [graph.mul(share, found[other]) for other, share in shares.items() if other in found]
            if lost:
                found[key] = summed(lost)
        return found

    def _run(self, *, apart: bool) -> Totals:
        return run_totals(_Amounts(self, apart), self.tree.entry, carry_origin(self.tree.origins), Needed)

    def _refuse_powerless(self) -> None:
        root = self.tree.machine.root
        message = f"machine `{root.name}` declares no power, so the energy is unknown"
        fail("no-power", message, root.name_span, hint=HOW)


class Needed(Total):
    """How much of a term's unit a kernel's own blocks need; all kernels together are called ""."""

    kernel: str
    term: Key


class _Amounts(Leaf):
    """What the terms need; kernels are told apart only with `apart`. Branches that overlap take the
    time of the slowest group of resources: what is consumed all the time is scaled to that."""

    def __init__(self, totals: EnergyTotals, apart: bool) -> None:
        self.tree = totals.tree
        self.law = totals.law
        self.apart = apart

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        cost = self.tree.blocks[block]
        name = kernel.name if self.apart else ""
        amounts: Totals = {Needed(name, key): worth for key, worth in self.law.amounts(cost).items()}
        return {**busy_times(cost), RUNTIME: cost.time, **amounts}

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        together = added(branches)
        if not self.tree.overlaps(node) or RUNTIME not in together:
            return together
        time, in_turn = slowest(self.tree.groups(together)), together[RUNTIME]
        share = graph.if_else(graph.compare("==", in_turn, graph.ZERO), graph.ONE, graph.div(time, in_turn))
        elapsed = {
            key: worth
            for key, worth in together.items()
            if isinstance(key, Needed) and self.law.terms[key.term].elapsed
        }
        return {**together, **scaled(share, elapsed), RUNTIME: time}
