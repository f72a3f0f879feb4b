"""Communication: what of a runtime is there because ranks talk to each other, and which calls it is."""

from __future__ import annotations

from aspenpy.application import flow
from aspenpy.application.total import Totaller, Totals, added
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.mapping.cost import CostTree, RequirementCost, slowest
from aspenpy.mapping.exchanges import EXCHANGES
from aspenpy.record import Record

MESSAGES = "messages"


class Communication(Record):
    """Seconds, in the symbols of the models: the `runtime`, the `waited` part of it that would vanish if messages took
    no time, and what each of the `calls` takes, whether other work hides it or not. Collectives are called by their
    names, other messages by the kernel that sends them."""

    runtime: Expr
    waited: Expr
    calls: dict[str, Expr]


def communication_of(tree: CostTree) -> Communication:
    found = Totaller(_Leaf(tree)).kernel(tree.entry)
    values = graph.substitute(list(found.values()), {tree.entry.context: graph.ZERO})
    totals = dict(zip(found, values, strict=True))
    calls = {key[1]: worth for key, worth in totals.items() if key[0] == "call"}
    return Communication(tree.runtime, totals.get(("waited",), graph.ZERO), calls)


class _Leaf:
    """A block in keys `("waited",)` and `("call", name)`. Branches of a `par` add, overlapped or not."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        cost = self.tree.blocks[block]
        sent = [item for item in cost.requirements if item.requirement.resource == MESSAGES]
        if not sent:
            return {}
        silent = tuple(
            group.replace(time=group.time - graph.add(*(item.time for item in sent)))
            if MESSAGES in group.resources
            else group
            for group in cost.groups
        )
        calls: list[Totals] = [{("call", _called(item, kernel)): item.time} for item in sent]
        return added([*calls, {("waited",): cost.time - slowest(silent)}])

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        return added(branches)

    def call(self, call: flow.Call, callee: Totals) -> Totals:
        return callee


def _called(item: RequirementCost, kernel: flow.Kernel) -> str:
    return next((trait.name for trait in item.traits if trait.name in EXCHANGES), kernel.name)
