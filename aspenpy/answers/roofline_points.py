"""Points of a roofline: kernels and applications by their operational intensity at each level of memory.

A kernel whose loads and stores say how they touch their data has an intensity at each cache besides that at memory:
flops for each byte that the level serves, to the core or to the level before it (the hierarchical roofline; Yang,
Kurth and Williams, "Hierarchical roofline analysis for GPUs", Concurrency and Computation 32, 2020).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from aspenpy.answers.ceilings import COMPUTE, MEMORY
from aspenpy.answers.peaks import LARGE
from aspenpy.answers.prediction import Prediction
from aspenpy.cost.caches.traffic import Traffic
from aspenpy.cost.compute import Target, price, target
from aspenpy.cost.cost import CostTree
from aspenpy.cost.file_systems import FILE_RESOURCES
from aspenpy.cost.prices import RequirementCost, conflict_groups
from aspenpy.cost.ranks import ONE_INSTANCE, Instances
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import within_floats
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totals, added, of_kind, run_totals
from aspenpy.record import Record

PLACED_BY = (COMPUTE, *MEMORY, *FILE_RESOURCES)  # the resources that a roofline knows

Values = Mapping[Any, float]
"""By `Asked`, `ServedBy` and `Ideal`; a kernel that is None stands for all kernels together."""


class Asked(Total):
    """How much of a resource a kernel asks for."""

    kernel: str | None
    resource: str


class ServedBy(Total):
    """Bytes that a level serves to a kernel."""

    kernel: str | None
    level: str


class Ideal(Total):
    """Seconds in which a server, or a cache, serves a kernel at least."""

    kernel: str | None
    server: str


class Alone(Total):
    """Seconds as those of `Ideal`, on the components that the blocks have work for."""

    kernel: str | None
    server: str


class LevelPoint(Record):
    """A kernel at one level of memory: the bytes it serves, and flops for each of them (None where there is none)."""

    level: str
    volume: float
    intensity: float | None


class Point(Record):
    """A kernel's own blocks, or a whole application (`kernel` is None), below the roof.

    `volume` are the bytes that cross the memory bus, `intensity` flops for each of them, None where there is none.
    `attainable` is what the ceilings of its own traits and of the levels it uses leave, `bound_by` the resources, or
    the cache, whose ceiling that is; `reachable` is what they leave on the components that take part, not on all;
    `predicted` is what it does, `bottleneck` the resource that then bounds it
    longest. Rates in flops a second, `time` in seconds. `levels` are the caches, the nearest to the core first, and
    memory, where a requirement says how it touches its data; requirements that do not pass by the caches. `balance` is
    the intensity at which its flops, with their traits, and its bytes would take equal times.
    """

    application: str
    kernel: str | None
    flops: float
    volume: float
    intensity: float | None
    attainable: float
    bound_by: tuple[str, ...]
    predicted: float
    bottleneck: str | None
    time: float
    reachable: float = 0.0
    levels: tuple[LevelPoint, ...] = ()
    balance: float | None = None

    @property
    def name(self) -> str:
        return self.application if self.kernel is None else f"{self.application}.{self.kernel}"

    @property
    def place(self) -> float | None:
        """The intensity at memory; where no byte gets that far, at the last level that serves any."""
        served = [level.intensity for level in self.levels if level.intensity is not None]
        return self.intensity if self.intensity is not None or not served else served[-1]


@within_floats
def points(prediction: Prediction) -> list[Point]:
    """The application and behind it its kernels that do flops, the one that takes longest first."""
    totals = roofline_totals(prediction.tree)
    values = prediction.scope.numbers(totals, prediction.seed)
    worst = prediction.bottleneck
    whole = _point(prediction, None, values, prediction.runtime, worst.resource if worst else None)
    uses = sorted(prediction.kernels, key=lambda use: -use.exclusive)
    all_points = [_point(prediction, use.name, values, use.exclusive, use.bound_by) for use in uses]
    return [point for point in (whole, *all_points) if point is not None]


def roofline_totals(tree: CostTree) -> Totals:
    """`Asked`, `ServedBy` and `Ideal` of each kernel, and of all together, in the symbols of the models."""
    return run_totals(_Ideal(tree), tree.entry)


def _point(
    prediction: Prediction, kernel: str | None, values: Values, time: float, bottleneck: str | None
) -> Point | None:
    """None for what does no flops, or takes no time."""
    amounts = {name: values.get(Asked(kernel, name), 0.0) for name in PLACED_BY}
    flops, volume = amounts[COMPUTE], sum(amounts[name] for name in MEMORY)
    served = {key.level: worth for key, worth in of_kind(ServedBy, values).items() if key.kernel == kernel}
    names = (*PLACED_BY, *prediction.tree.residence.offers, *served)
    ideal = {name: values[key] for name in names if values.get(key := Ideal(kernel, name), 0.0) > 0}
    if not flops or not time or COMPUTE not in ideal:
        return None
    groups = conflict_groups(dict.fromkeys(ideal, graph.ONE), prediction.tree.conflicts)
    spent = {group.resources: sum(ideal[name] for name in group.resources) for group in groups}
    alone = max(sum(values[Alone(kernel, name)] for name in group.resources) for group in groups)
    slowest = max(spent, key=spent.__getitem__)
    on_bus = max((time for names, time in spent.items() if {*names} & {*MEMORY}), default=0.0)
    return Point(
        prediction.application.name,
        kernel,
        flops,
        volume,
        flops / volume if volume else None,
        flops / spent[slowest],
        slowest,
        flops / time,
        bottleneck,
        time,
        flops / alone,
        _levels(prediction, served, flops, volume),
        flops / volume * on_bus / ideal[COMPUTE] if volume else None,
    )


def _levels(prediction: Prediction, served: Mapping[str, float], flops: float, volume: float) -> tuple[LevelPoint, ...]:
    """The caches that serve these bytes, and all memories together; empty where no access pattern is given."""
    if not served:
        return ()
    offers = target(prediction.machine, prediction.socket).offers
    memory = next((offers[name].place.component.name for name in MEMORY if name in offers), "memory")
    memory = "memory" if prediction.tree.residence.offers else memory
    traffic_of = {**served, memory: volume}
    return tuple(LevelPoint(name, moved, flops / moved if moved else None) for name, moved in traffic_of.items())


class _Asker(NamedTuple):
    """Who asks: the instances of a block, whose amounts count for a kernel, or for all kernels together."""

    kernel: str | None
    parallelism: Expr
    instances: Instances
    where: Target


class _Ideal(Leaf):
    """What kernels ask for, what each level serves of it, and how long that takes at least."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        costs = [cost for cost in self.tree.blocks[block].requirements if cost.requirement.resource in PLACED_BY]
        of_block = block.parallelism, self.tree.blocks[block].instances, self.tree.residence.within(kernel)
        askers = [_Asker(name, *of_block) for name in (kernel.name, None)]
        return added(self._cost(cost, asker) for cost in costs for asker in askers)

    def _cost(self, cost: RequirementCost, asker: _Asker) -> Totals:
        asked, traffic = cost.requirement, cost.traffic
        if traffic is None:
            return self._requirement(asked, asker, cost)
        sent = (("loads", traffic.read_bytes), ("stores", traffic.written_bytes))
        return added(
            [
                *(
                    self._requirement(asked.replace(amount=amount, resource=name), asker, cost)
                    for name, amount in sent
                    if name == asked.resource or amount is not graph.ZERO
                ),
                *_caches(traffic, asker),
            ]
        )

    def _requirement(self, asked: flow.Requirement, asker: _Asker, cost: RequirementCost) -> Totals:
        """P times the amount, at the seconds that one more takes where there are many already, on all components;
        these count for the server of the requirement whose cost it is a part of."""
        first, second = (
            price(asked.replace(amount=graph.number(amount)), ONE_INSTANCE, asker.where, self.tree.origins)
            for amount in LARGE[:2]
        )
        kernel, amount = asker.kernel, graph.mul(asker.parallelism, asked.amount)
        totals: Totals = {Asked(kernel, cost.requirement.resource): amount}
        if first.offer is None:
            return totals
        slope = graph.div(_difference(second.serial, first.serial), graph.number(LARGE[1] - LARGE[0]))
        place = first.offer.place
        return totals | {
            Ideal(kernel, cost.server): graph.mul(amount, graph.div(slope, place.count)),
            Alone(kernel, cost.server): graph.mul(amount, graph.div(slope, asker.instances.used_of(place))),
        }


def _caches(traffic: Traffic, asker: _Asker) -> list[Totals]:
    """What each cache serves, and how long all of its kind, or those that take part, need for that at least."""
    totals: list[Totals] = []
    for served in traffic.served:
        level, sent = served.level, served.sent
        kernel, amount = asker.kernel, graph.mul(asker.parallelism, graph.add(sent, served.taken))
        worth: Totals = {ServedBy(kernel, level.name): amount}
        if level.bandwidth is not None:
            busy = graph.mul(asker.parallelism, sent) if level.two_ways else amount
            used = asker.instances.used_of(level.place)
            worth[Ideal(kernel, level.name)] = graph.div(busy, graph.mul(level.bandwidth, level.place.count))
            worth[Alone(kernel, level.name)] = graph.div(busy, graph.mul(level.bandwidth, used))
        totals.append(worth)
    return totals


def _difference(more: Expr, less: Expr) -> Expr:
    return graph.add(more, graph.mul(graph.number(-1), less))
