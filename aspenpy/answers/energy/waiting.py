"""Waiting: the seconds by which a power cap makes blocks longer."""

from __future__ import annotations

from aspenpy.answers.energy.options import DEFAULT, settle_options
from aspenpy.answers.energy.responding import Responding
from aspenpy.answers.energy.term import EnergyLaw
from aspenpy.cost.cost import CostTree, TimedLeaf
from aspenpy.cost.prices import BlockCost
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.models.application.total import Total, Totals, of_kind, sum_terms


class CapSlowdown(Total):
    """Seconds by which a power cap makes a kernel's own blocks longer; all kernels together are called ""."""

    kernel: str


class WaitingLeaf(TimedLeaf):
    """Counts by how much a power cap makes blocks longer; kernels are told apart only with `apart`."""

    def __init__(self, tree: CostTree, law: EnergyLaw, apart: bool = False) -> None:
        super().__init__(tree)
        self.law = law
        self.apart = apart

    def of_block(self, cost: BlockCost, kernel: flow.Kernel) -> Totals:
        return waiting_of_block(self.law, cost, kernel.name if self.apart else "")

    def is_elapsed(self, key: object) -> bool:
        return isinstance(key, CapSlowdown)


def waiting_of_block(law: EnergyLaw, cost: BlockCost, kernel: str) -> Totals:
    """The seconds by which a power cap makes a block longer, under the name of its kernel."""
    waiting = law.waiting(cost)
    return {} if waiting is graph.ZERO else {CapSlowdown(kernel): waiting}


def waiting_by_kernel(tree: CostTree, *, apart: bool) -> dict[str, Expr]:
    """Seconds by which the power cap of its socket makes the blocks of each kernel longer over a run, where the
    socket's power responds: those of `energy`, without the joules. All kernels together are called "" unless `apart`.
    """
    law = Responding(tree, settle_options(DEFAULT, responding=True), within_cap=True)
    totals = tree.run_totals(WaitingLeaf(tree, law, apart), CapSlowdown)
    return {key.kernel: worth for key, worth in of_kind(CapSlowdown, totals).items()}


def waiting_of_run(tree: CostTree) -> Expr:
    """Seconds by which a run becomes longer."""
    return sum_terms(waiting_by_kernel(tree, apart=False).values())
