"""Schedules: how the parts of a block's work go to cores of several kinds, and to the hardware threads of each.

N equal parts that take t_1 on each of Q_1 cores, and t_2 on each of Q_2, take

    static    max over kinds of t_k ceil((N - o_k)/Q): Q cores have as many parts, those of the first kind (o_1 = 0) one
              more where it does not come out even; o_k cores are before those of kind k
    dynamic   max(min(t_1, t_2), N/(Q_1/t_1 + Q_2/t_2)): dealt out as cores become free, so that rates add; no less than
              one part takes on the faster kind

The law of `dynamic` leaves out that each core runs whole parts: the last ones end up to one part later.
Ranks with cores of their own fill one kind after the other, and the slowest of them decides.

Static blocks are those of OpenMP's `schedule(static)` (OpenMP 5.2, section 11.5.3: chunks approximately equal in size,
one to a thread; as in libgomp and libomp, the first N mod Q threads have one more).

    core zen { property threads [2]  property smt_gain [1.25] ... }   // two threads do 1.25 of what one does

Threads of a core share its rates: n of T together attain 1 + (gain - 1)(n - 1)/(T - 1) of them. Chains of operations
that wait for each other leave the core to the other threads. Where no gain is stated it is assumed to be 1: ports and
paths to memory that one thread keeps busy give two no more (Saini et al., HiPC 2011, on Westmere: resources are used
better, but applications do not necessarily gain; NERSC on Edison: some benchmarks gain up to 30 %).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from aspenpy.cost.instances import Instances
from aspenpy.cost.prices import Offer, RequirementCost, longest
from aspenpy.cost.ranks import RankPlacement, ratio_of_counts
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Component, Place

CHAIN = "chain"
"""The resource of operations that wait for each other."""


def smt_gain(core: Component, threads: Expr) -> Expr:
    """The throughput of this many threads of a core together, over that of one; 1 where the core states no gain."""
    gain, stated = core.value("smt_gain"), core.value("threads")
    if threads is graph.ONE or gain is None or stated is None:
        return graph.ONE
    return 1 + (gain - 1) * (threads - 1) / graph.apply("max", 1, stated - 1)


def share_with_threads(cost: RequirementCost, instances: Instances) -> RequirementCost:
    """The price on a core whose hardware threads are at work together."""
    if instances.threads is graph.ONE or cost.place is None:
        return cost
    chained = cost.requirement.resource == CHAIN
    gain = instances.threads if chained else smt_gain(cost.place.component, instances.threads)
    return cost.replace(rounds=graph.div(cost.rounds, gain), alone=graph.div(cost.alone, gain))


def on_all_kinds(cost: RequirementCost, others: Sequence[tuple[Offer, Expr]], instances: Instances) -> RequirementCost:
    """The price of a requirement on the first kind of core, shared out to the others too, with the seconds that one
    instance takes on each of those."""
    assert cost.place is not None
    placement = instances.placement
    places = [cost.place, *(offer.place for offer, _ in others)]
    slowness = [graph.ONE, *(_ratio_or_one(seconds, cost.serial) for _, seconds in others)]
    if placement is None:
        rounds = _rounds_of_instances([instances.available(place) for place in places], slowness, instances)
    else:
        if placement.unit.component.type != "core":
            cores_of_ranks = [[placement.of_rank(place.count) for place in places]]
        elif placement.kinds:
            cores_of_ranks = _cores_of_ranks(placement, places, instances)
        else:
            return cost
        rounds_of_ranks = [_rounds_of_rank(cores, slowness, instances) for cores in cores_of_ranks]
        rounds = graph.mul(cost.rounds, longest(rounds_of_ranks))
    kinds = tuple(offer for offer, _ in others)
    return cost.replace(rounds=rounds, alone=graph.mul(rounds, cost.serial), beside=kinds, schedule=instances.schedule)


def _rounds_of_instances(cores: Sequence[Expr], slowness: Sequence[Expr], instances: Instances) -> Expr:
    """The time until all instances are done, in units of what the first kind of core takes for one."""
    count = instances.count
    if instances.schedule == "static":
        return longest(_largest_chunks(cores, slowness, Instances(count, parts=count)))
    speeds = [_ratio_or_one(graph.ONE, slow) for slow in slowness]
    least = graph.div(graph.apply("min", 1, graph.apply("ceil", count)), graph.apply("max", *speeds))
    return graph.apply("max", least, graph.div(count, _sum_rates(cores, speeds)))


def _rounds_of_rank(cores: Sequence[Expr], slowness: Sequence[Expr], instances: Instances) -> Expr:
    """The time until a rank with these cores of each kind is done, in units of what the first kind takes for the share
    of one core."""
    part = graph.div(instances.spread, instances.total)
    if instances.schedule == "static":
        return graph.mul(part, longest(_largest_chunks(cores, slowness, instances)))
    speeds = [_ratio_or_one(graph.ONE, slow) for slow in slowness]
    fastest = longest([_where_any(count, speed) for count, speed in zip(cores, speeds, strict=True)])
    most = graph.apply(
        "min", graph.div(graph.mul(instances.total, fastest), instances.largest), _sum_rates(cores, speeds)
    )
    return graph.div(instances.spread, most)


def _largest_chunks(cores: Sequence[Expr], slowness: Sequence[Expr], instances: Instances) -> list[Expr]:
    """The time of the largest static block on each kind of core, in units of one part on the first kind."""
    together, before, found = graph.add(*cores), graph.ZERO, []
    for count, slow in zip(cores, slowness, strict=True):
        behind = graph.add(before, count)
        found.append(_where_any(count, graph.mul(slow, instances.largest_chunk(together, before, behind))))
        before = behind
    return found


def _cores_of_ranks(placement: RankPlacement, places: Sequence[Place], instances: Instances) -> list[list[Expr]]:
    """The cores of each kind that a rank has, for every rank that may be the slowest: the last one to fit into each
    kind, on the fullest socket."""
    container = placement.socket or placement.node
    within = graph.ONE if container is None else container.count
    ranks = graph.apply(
        "max", 1, instances.ranks if container is None else placement.fullest(container, instances.ranks)
    )
    bounds = [graph.ZERO]
    for place in places:
        bounds.append(graph.add(bounds[-1], ratio_of_counts(place.count, within)))
    cores = []
    for end in bounds[1:]:
        fit = graph.apply("floor", graph.div(graph.mul(end, placement.sharers), placement.units))
        last = graph.sub(graph.apply("min", ranks, graph.apply("max", 1, fit)), 1)
        first = graph.apply("floor", graph.div(graph.mul(last, placement.units), placement.sharers))
        behind = graph.add(first, placement.units)
        cores.append(
            [
                graph.apply("max", 0, graph.sub(graph.apply("min", behind, high), graph.apply("max", first, low)))
                for low, high in pairwise(bounds)
            ]
        )
    return cores


def _sum_rates(cores: Sequence[Expr], speeds: Sequence[Expr]) -> Expr:
    return graph.add(*(graph.mul(count, speed) for count, speed in zip(cores, speeds, strict=True)))


def _where_any(count: Expr, value: Expr) -> Expr:
    """The value for a kind of core, or 0 where there is no core of that kind."""
    return graph.if_else(graph.compare(">", count, 0), value, graph.ZERO)


def _ratio_or_one(first: Expr, second: Expr) -> Expr:
    """The ratio of the first time to the second; 1 where the second is none."""
    return graph.if_else(graph.compare(">", second, 0), graph.div(first, second), graph.ONE)
