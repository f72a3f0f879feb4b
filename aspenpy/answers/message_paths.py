"""Which path between ranks messages wait for: seconds of a run by kernel and by path, where the machine has several."""

from __future__ import annotations

from functools import lru_cache

from aspenpy.cost.cost import CostTree
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totals, add_totals, of_kind, run_totals

MESSAGES = "messages"
"""The resource that paths offer."""


class OnPath(Total):
    """Seconds of the messages of a kernel that are due to a path, which is called as its component."""

    kernel: str
    path: str


@lru_cache(maxsize=8)
def seconds_on_paths(tree: CostTree) -> dict[OnPath, Expr]:
    """Of a tree, in the symbols of the models; nothing where all messages take one path."""
    if len(tree.residence.where.between_ranks.places) < 2 or not tree.residence.where.between_ranks.by_level:
        return {}
    return of_kind(OnPath, run_totals(_Leaf(tree), tree.entry))


def components(tree: CostTree) -> dict[str, str]:
    """The paths by name, as paths of components."""
    return {place.component.name: "/".join(place.path) for place, _ in tree.residence.where.between_ranks.places}


class _Leaf(Leaf):
    """What each exchange of a block spends on which path. Branches of a `par` add, overlapped or not."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        applied = [trait for item in self.tree.blocks[block].requirements for trait in item.traits]
        return add_totals(
            {OnPath(kernel.name, path): seconds} for trait in applied for path, seconds in trait.seconds_by_path.items()
        )
