"""Explanation: the chain behind a prediction, from each requirement's source line to its seconds."""

from __future__ import annotations

from functools import partial

from aspenpy.answers.evaluation import Evaluation
from aspenpy.answers.scope import as_float
from aspenpy.cost.cost import Bound, CostTree
from aspenpy.cost.messages import Exchange
from aspenpy.cost.prices import LAUNCHED, BlockCost, Offer, RequirementCost
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.language.source import Span
from aspenpy.models.application import flow
from aspenpy.models.application.total import OfBlocks, Total, Totaller, Totals, of_kind
from aspenpy.record import Record
from aspenpy.tables.result import Result

MOST_STEPS = 3_000
"""Requirements that are explained at once: nobody reads more, and telling one takes about a millisecond."""


class TraitStep(Record):
    """A trait that changed a time: its name as written, and the machine's formula for it."""

    name: str
    formula: Expr


class ExplainedRequirement(Record):
    """One requirement of one block.

    `demand` is the amount that one parallel instance asks for, as written, in `unit`; `amount` what the whole run
    asks for. `rate` is the machine's formula for the seconds of an amount, on one of `count` components; `traits`
    change it in turn, `sending` are the seconds in which the fullest node sends or takes its part of files,
    `spread` is how many cores each of the instances is spread over where they are ranks that share their work out,
    `exchanges` are of all instances at once; `left_by_caches` are the bytes of an instance that reach memory, where
    it says how it touches its data, and `fetched` those that a store fetches before it writes (write-allocate);
    `crowded` is how many instances share the fullest component where they are not spread evenly, `saturation` the
    part of a memory's attained bandwidth that so few cores draw; `launch` the seconds before each execution of the
    block, for the socket `launched_on`, `noise` those that its exchanges wait for ranks which the system interrupts;
    `time` is what the whole run spends on the requirement, `share` its part of the runtime (other requirements of the
    block may hide it, so shares need not add up to 1). `beside` are other kinds of cores that work on it.
    """

    kernel: str
    block: str | None
    resource: str
    demand: Expr
    parallelism: Expr
    spread: Expr | None
    amount: float
    component: str
    count: float
    rate: Expr
    traits: tuple[TraitStep, ...]
    exchanges: tuple[Exchange, ...]
    ignored_traits: tuple[str, ...]
    left_by_caches: Expr | None
    fetched: Expr | None
    serial: Expr
    crowded: Expr | None
    saturation: Expr
    sending: Expr | None
    launch: Expr | None
    launched_on: str | None
    time: float
    share: float
    bounds: bool
    span: Span | None
    machine_span: Span | None
    beside: tuple[str, ...] = ()
    schedule: str | None = None
    noise: Expr | None = None


class Explanation(Record, Result):
    """The steps behind the runtime (seconds) of a prediction, kernel by kernel, in the order written."""

    prediction: Evaluation
    steps: tuple[ExplainedRequirement, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def runtime(self) -> float:
        return self.prediction.runtime


class AskedBy(Total):
    """P times the amount of a requirement."""

    cost: RequirementCost


class TimeOf(Total):
    """Seconds of a requirement."""

    cost: RequirementCost


def by_requirement(tree: CostTree, block: flow.Block, kernel: flow.Kernel) -> Totals:
    """Amounts and times, one total for each requirement."""
    totals: Totals = {}
    for cost in tree.blocks[block].requirements:
        totals[AskedBy(cost)] = graph.mul(block.parallelism, cost.requirement.amount)
        totals[TimeOf(cost)] = cost.time
    return totals


def explain(prediction: Evaluation, kernel: str | None = None, diagnostics: tuple[Diagnostic, ...] = ()) -> Explanation:
    """The steps of one kernel, or of all that ran; `diagnostics` are the warnings that go with them."""
    tree = prediction.tree
    wanted = list(tree.list_costs(kernel))
    totals = Totaller(OfBlocks(partial(by_requirement, tree))).kernel(tree.entry)
    if len(wanted) > MOST_STEPS:
        message = f"{len(wanted):,} requirements ran, and at most {MOST_STEPS:,} are explained at once"
        hint = "explain one kernel, as in `aspenpy explain MODEL KERNEL`; `aspenpy profile` tells where the time goes"
        fail("too-many-steps", message, wanted[MOST_STEPS][2].requirement.span, hint=hint)
    exprs = [expr for _, _, cost in wanted for expr in _times_of_step(cost, totals)]
    bound = graph.substitute(exprs, {tree.entry.context: graph.ZERO}) if exprs else []
    place = tree.entry.name_span
    values = [as_float(value, "a step", place) for value in prediction.scope.values(bound, prediction.seed)]
    waits = {(key.kernel, key.resource) for key, time in of_kind(Bound, prediction.totals).items() if time > 0}
    waits |= {(use.name, name) for use in prediction.kernels for name in use.group}
    steps = tuple(
        _make_step(item, tree.blocks[block], cost, values[3 * place : 3 * place + 3], prediction.runtime, waits)
        for place, (item, block, cost) in enumerate(wanted)
    )
    return Explanation(prediction, steps, diagnostics)


def _times_of_step(cost: RequirementCost, totals: Totals) -> tuple[Expr, Expr, Expr]:
    count = cost.offer.place.count if cost.offer else graph.ZERO
    return totals[AskedBy(cost)], totals[TimeOf(cost)], count


def _cores_per_rank(whole: BlockCost, cost: RequirementCost) -> Expr | None:
    """The cores over which each rank spreads a requirement; None where instances are not bound to several."""
    shared_out = cost.place is not None and cost.place.component.type in LAUNCHED
    return None if whole.instances.placement is None or not shared_out else whole.instances.spread


def _is_even(whole: BlockCost, cost: RequirementCost, offer: Offer) -> bool:
    """Whether as many instances share each component as when they are dealt out evenly."""
    return whole.instances.placement is None and cost.rounds is whole.instances.busy_at(offer.place)


def _make_step(
    kernel: flow.Kernel,
    whole: BlockCost,
    cost: RequirementCost,
    values: list[float],
    runtime: float,
    waits: set[tuple[str, str]],
) -> ExplainedRequirement:
    amount, time, count = values
    requirement, offer, block, launch = cost.requirement, cost.offer, whole.block, whole.launch
    return ExplainedRequirement(
        kernel.name,
        block.label,
        resource=requirement.resource,
        demand=requirement.amount,
        parallelism=block.parallelism,
        spread=_cores_per_rank(whole, cost),
        amount=amount,
        component=offer.where if offer else "",
        count=count,
        rate=offer.resource.time if offer else cost.base,
        traits=tuple(TraitStep(trait.name, trait.formula) for trait in cost.traits if not isinstance(trait, Exchange)),
        exchanges=tuple(trait for trait in cost.traits if isinstance(trait, Exchange)),
        ignored_traits=cost.ignored,
        left_by_caches=None if cost.traffic is None else graph.add(cost.traffic.read_bytes, cost.traffic.written_bytes),
        fetched=cost.traffic.read_bytes if cost.traffic is not None and cost.traffic.allocates else None,
        serial=cost.serial,
        crowded=None if offer is None or _is_even(whole, cost, offer) else cost.rounds,
        saturation=cost.saturation,
        sending=cost.sending,
        launch=None if launch is None else launch.time,
        launched_on=None if launch is None else launch.place.component.name,
        time=time,
        share=time / runtime if runtime else 0.0,
        bounds=(kernel.name, cost.server) in waits,
        span=requirement.span,
        machine_span=offer.resource.span if offer else None,
        beside=tuple(other.where for other in cost.beside),
        schedule=cost.schedule,
        noise=None if whole.noise is None else whole.noise.time,
    )
