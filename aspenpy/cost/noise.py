"""Noise and imbalance: what ranks lose to the slowest of them.

    execute [ranks] "push" { flops [90*particles] as dp, varies(0.08)  loads [64*particles] as varies(0.08) }

    node compute_node {
      property noise_interval [100 ms]   // between two interruptions of a node by its system, on average
      property noise_length [50 us]      // of one of them, on average
    }

The amount that `varies` has a standard deviation of 8 % from instance to instance. A block ends with its slowest
instance; where k of them share a component, what they do in turn varies by 1/sqrt(k) of that.

Interruptions are independent of each other, of exponential lengths. A collective waits for the slowest of all ranks
since the last one, a halo or message for the neighbours' delays since the last exchange, and a collective for no more
than what halos before it have not waited for. Exchanges of a run are taken to be evenly spaced (as Agarwal, Garg and
Vishnoi, HiPC 2005, take them). The mean of the noise, which rates that were measured contain, is not added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aspenpy.cost.paths import MESSAGES
from aspenpy.cost.prices import NOISE, AppliedTrait, BlockCost, Delay, LevelCost, RequirementCost
from aspenpy.cost.slowest import expected_maximum, wait_for_neighbours, wait_for_slowest
from aspenpy.cost.trait_names import EXCHANGES, HALO, VARIES
from aspenpy.cost.value_mistakes import ValueMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_text
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.models.application import flow
from aspenpy.models.application.total import RUNTIME, OfBlocks, Total, Totals
from aspenpy.models.machine.model import Place
from aspenpy.record import Record

if TYPE_CHECKING:
    from aspenpy.cost.cost import CostTree

# -- imbalance -------------------------------------------------------------------------------------


def lengthen_for_slowest(cost: RequirementCost, block: BlockCost) -> RequirementCost:
    """The cost of a requirement until the slowest of the block's instances is done, where its amount varies."""
    trait = next((each for each in cost.requirement.traits if each.name == VARIES), None)
    if trait is None or cost.place is None:
        return cost
    factor = _factor_of_slowest(_deviation_of(trait), block, cost.place, is_exchange=cost.exchanges)
    alone, contention = graph.mul(cost.alone, factor), graph.mul(cost.contention, factor)
    applied = AppliedTrait(trait.name, trait.arguments, factor, graph.mul(cost.serial, factor))
    return cost.replace(alone=alone, contention=contention, traits=(*cost.traits, applied))


def lengthen_level(level: LevelCost, block: BlockCost) -> LevelCost:
    """The cost of a cache until the slowest instance is done: as much as its loads and stores vary most."""
    traits = [each for need in block.block.requirements for each in need.traits if each.name == VARIES]
    if not traits:
        return level
    most = [_factor_of_slowest(_deviation_of(each), block, level.place, is_exchange=False) for each in traits]
    factor = most[0] if len(most) == 1 else graph.apply("max", *most)
    return level.replace(alone=graph.mul(level.alone, factor), contention=graph.mul(level.contention, factor))


def _factor_of_slowest(deviation: Expr, block: BlockCost, place: Place, *, is_exchange: bool) -> Expr:
    """Time of the slowest component at a place over that of the mean one."""
    instances = block.instances
    sharing = graph.ONE if is_exchange else graph.apply("max", 1, instances.instances_at(place))
    draws = graph.div(instances.ranks, sharing)
    return 1 + graph.div(deviation, graph.apply("sqrt", sharing)) * expected_maximum(draws)


def _deviation_of(trait: flow.Trait) -> Expr:
    """The standard deviation that a trait says, or the mistake in it."""
    hint = "the standard deviation over the mean, as in `varies(0.05)`"
    if len(trait.arguments) != 1 or not isinstance(trait.arguments[0], Expr):
        return graph.failure(Diagnostic("bad-deviation", f"`{VARIES}` takes one number", trait.span, hint=hint))
    deviation = trait.arguments[0]
    mistake = ValueMistake(
        code="bad-deviation",
        message=f"`{to_text(deviation)}` must be 0 or more here",
        span=trait.span,
        hint=hint,
        subject=deviation,
    )
    return graph.if_else(graph.compare(">=", deviation, 0), deviation, graph.failure(mistake))


# -- noise -----------------------------------------------------------------------------------------

INTERVAL, LENGTH = "noise_interval", "noise_length"


class Noise(Record):
    """The component that the system interrupts, once in an `interval`, for a `length` (seconds, on average)."""

    place: Place
    interval: Expr
    length: Expr

    def events(self, block: BlockCost, seconds: Expr) -> Expr:
        """Interruptions of each of a block's ranks within some seconds."""
        interrupted = graph.div(block.instances.count_used(self.place), graph.apply("max", 1, block.instances.ranks))
        return graph.div(graph.mul(interrupted, seconds), self.interval)


def noise_on(tree: CostTree) -> Noise | None:
    """The noise that the machine states, on its outermost component that does."""
    for place in tree.machine.first_places(tree.socket):
        interval, length = place.component.value(INTERVAL), place.component.value(LENGTH)
        if interval is not None and length is not None:
            return Noise(place, interval, length)
    return None


class _Exchanged(Total):
    """Number of a run's exchanges of a kind, and what its halos wait for."""

    kind: str


COLLECTIVES, NEIGHBOURLY, WAITED = (_Exchanged(name) for name in ("collectives", "neighbours", "waited"))


def dimensions_of_exchange(block: BlockCost) -> int | None:
    """The dimensions of the grid whose neighbours a block's ranks wait for, 0 where they wait for all; None where
    they exchange nothing."""
    dimensions: list[int] = []
    for cost in block.requirements:
        if cost.requirement.resource == MESSAGES:
            exchange = next((trait for trait in cost.traits if trait.name in EXCHANGES), None)
            dimensions.append(1 if exchange is None else _dimensions(exchange) if exchange.name == HALO else 0)
    return None if not dimensions else 0 if 0 in dimensions else max(dimensions)


def _dimensions(halo: AppliedTrait) -> int:
    numbers = [argument for argument in halo.arguments if isinstance(argument, Expr)]
    stated = graph.whole_number(numbers[0]) if len(numbers) == 1 else len(numbers)
    return min(max(stated or 1, 1), 3)


def add_noise(tree: CostTree) -> tuple[dict[flow.Block, BlockCost], dict[Expr, Expr]]:
    """The blocks of a tree with what their exchanges wait for, and what the symbols in it stand for: those of the tree
    where its machine states no noise."""
    noise = noise_on(tree)
    kinds = {block: kind for block, cost in tree.blocks.items() if (kind := dimensions_of_exchange(cost)) is not None}
    if noise is None or not kinds:
        return dict(tree.blocks), dict(tree.definitions)
    between, apart, drifted = (
        graph.symbol(f"{tree.socket or ''}:{name}", NOISE) for name in ("exchange", "collective", "waited by halos")
    )
    waits = {
        block: noise.length * wait_for_neighbours(kind, cost.instances.ranks, noise.events(cost, between))
        for block, kind in kinds.items()
        if kind
        for cost in [tree.blocks[block]]
    }
    totals = tree.run_totals(OfBlocks(lambda block, _: _count_exchange(kinds.get(block), waits.get(block))))
    collectives, neighbours, waited = (totals.get(each, graph.ZERO) for each in (COLLECTIVES, NEIGHBOURLY, WAITED))
    spans = {
        between: _per(tree.totals.get(RUNTIME, graph.ZERO), collectives + neighbours),
        apart: _per(tree.totals.get(RUNTIME, graph.ZERO), collectives),
        drifted: _per(waited, collectives),
    }
    blocks = dict(tree.blocks)
    for block, kind in kinds.items():
        cost = blocks[block]
        if not kind:
            all_of_it = noise.length * wait_for_slowest(cost.instances.ranks, noise.events(cost, apart))
            waits[block] = graph.apply("max", 0, all_of_it - drifted)
        blocks[block] = cost.replace(noise=Delay(noise.place, waits[block]))
    return blocks, {**tree.definitions, **spans}


def _count_exchange(kind: int | None, wait: Expr | None) -> Totals:
    if kind is None:
        return {}
    return {COLLECTIVES: graph.ONE} if wait is None else {NEIGHBOURLY: graph.ONE, WAITED: wait}


def _per(amount: Expr, times: Expr) -> Expr:
    return graph.if_else(graph.compare(">", times, 0), graph.div(amount, times), 0)


# -- the part of a run -----------------------------------------------------------------------------


class _Lost(Total):
    """Seconds that ranks wait for the slowest of them."""

    cause: str


IMBALANCE, FILL = "imbalance", "fill"


def seconds_lost(tree: CostTree) -> dict[str, Expr]:
    """Seconds of a run in which ranks wait for the slowest, by cause: `imbalance`, `noise` and the `fill` of
    wavefronts and pipelines, where there are any."""

    def of_block(block: flow.Block, _: flow.Kernel) -> Totals:
        cost = tree.blocks[block]
        totals: Totals = {}
        if cost.even is not None:
            totals[_Lost(IMBALANCE)] = cost.work - cost.even
        if cost.noise is not None:
            totals[_Lost(NOISE)] = cost.noise.time
        if cost.wavefront is not None:
            totals[_Lost(FILL)] = cost.wavefront.fill
        return totals

    if all((cost.even, cost.noise, cost.wavefront) == (None, None, None) for cost in tree.blocks.values()):
        return {}
    return {key.cause: seconds for key, seconds in tree.run_totals(OfBlocks(of_block)).items()}
