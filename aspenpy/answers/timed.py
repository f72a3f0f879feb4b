"""TimedLeaf: totals of a run that go with its time, such as what each call or each component takes."""

from __future__ import annotations

from typing import Any

from aspenpy.cost.cost import CostTree, busy_times
from aspenpy.cost.prices import BlockCost, slowest
from aspenpy.expr import graph
from aspenpy.models.application import flow
from aspenpy.models.application.total import RUNTIME, Leaf, Totals, add_totals, scale_totals


class TimedLeaf(Leaf):
    """Counts the time of blocks, and what a subclass adds. Branches that overlap take the time of the slowest group of
    resources; totals that go with the time are scaled to that, so that they still add up."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def of_block(self, cost: BlockCost, kernel: flow.Kernel) -> Totals:
        return {}

    def goes_with_time(self, key: Any) -> bool:
        """Whether a total is scaled where branches overlap."""
        return False

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        cost = self.tree.blocks[block]
        return {**busy_times(cost), RUNTIME: cost.time, **self.of_block(cost, kernel)}

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        together = add_totals(branches)
        if not self.tree.overlaps(node) or RUNTIME not in together:
            return together
        time, in_turn = slowest(self.tree.groups(together)), together[RUNTIME]
        share = graph.if_else(graph.compare("==", in_turn, graph.ZERO), graph.ONE, graph.div(time, in_turn))
        timed = {key: worth for key, worth in together.items() if self.goes_with_time(key)}
        return {**together, **scale_totals(share, timed), RUNTIME: time}
