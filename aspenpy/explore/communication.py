"""Communication: what of a runtime is there because ranks talk to each other, and which calls it is."""

from __future__ import annotations

from functools import partial

from aspenpy.cost.cost import CostTree
from aspenpy.cost.prices import RequirementCost, slowest
from aspenpy.cost.trait_names import EXCHANGES
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.models.application.total import OfBlocks, Total, Totals, add_totals, of_kind
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
    totals = tree.run_totals(OfBlocks(partial(_totals_of_messages, tree)))
    calls = {key.name: worth for key, worth in of_kind(_Call, totals).items()}
    return Communication(tree.runtime, totals.get(_WAITED, graph.ZERO), calls)


class _Waited(Total):
    """Seconds that would vanish if messages took no time."""


class _Call(Total):
    """Seconds of the calls of one name."""

    name: str


_WAITED = _Waited()


def _totals_of_messages(tree: CostTree, block: flow.Block, kernel: flow.Kernel) -> Totals:
    """Seconds in which a block waits for messages, and its calls. Branches of a `par` add, overlapped or not."""
    cost = tree.blocks[block]
    sent = [item for item in cost.requirements if item.requirement.resource == MESSAGES]
    if not sent:
        return {}
    silent = tuple(
        group.replace(time=group.time - graph.add(*(item.time for item in sent)))
        if MESSAGES in group.resources
        else group
        for group in cost.groups
    )
    calls: list[Totals] = [{_Call(_describe_call(item, kernel)): item.time} for item in sent]
    return add_totals(
        [*calls, {_WAITED: cost.work - (slowest(silent) if cost.wavefront is None else cost.wavefront.silent)}]
    )


def _describe_call(item: RequirementCost, kernel: flow.Kernel) -> str:
    return next((trait.name for trait in item.traits if trait.name in EXCHANGES), kernel.name)
