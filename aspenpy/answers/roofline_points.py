"""Points of a roofline: kernels and applications by their operational intensity at each level of memory.

A kernel whose loads and stores say how they touch their data has an intensity at each cache besides that at memory:
flops for each byte that the level serves, to the core or to the level before it (the hierarchical roofline; Yang,
Kurth and Williams, "Hierarchical roofline analysis for GPUs", Concurrency and Computation 32, 2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot, inf
from typing import Any, NamedTuple

from aspenpy.answers.ceilings import COMPUTE, MEMORY
from aspenpy.answers.peaks import LARGE
from aspenpy.answers.prediction import Prediction
from aspenpy.cost.caches.traffic import RequirementTraffic
from aspenpy.cost.compute import price, spread_work_of_rank
from aspenpy.cost.cost import CostTree
from aspenpy.cost.instances import FILE_RESOURCES, ONE_INSTANCE, Instances
from aspenpy.cost.operations import is_attained_product
from aspenpy.cost.prices import Offer, RequirementCost, conflict_groups
from aspenpy.cost.sharing import sharing
from aspenpy.cost.target import Target, target_of
from aspenpy.cost.windows import operations_in_windows
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import refuse_float_overflow
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totals, add_totals, of_kind
from aspenpy.models.machine.model import Place
from aspenpy.record import Record

PLACED_BY = (COMPUTE, *MEMORY, *FILE_RESOURCES)  # the resources that a roofline knows

Values = Mapping[Any, float]
"""Values by `Asked`, `ServedBy`, `Ideal`, `Contended` and `KernelSeconds`; the kernel None stands for all of them
together."""


class Asked(Total):
    """Total amount of a resource that a kernel requires."""

    kernel: str | None
    resource: str


class ServedBy(Total):
    """Bytes that a level serves to a kernel."""

    kernel: str | None
    level: str


class Ideal(Total):
    """Least seconds in which the used components serve a kernel, if none waits for another; by server or cache, and by
    the unit of a core that works beside its other units. What an attained product of matrices takes has its part of
    memory in it (`cost.compute`)."""

    kernel: str | None
    server: str
    unit: str
    product: bool


class Contended(Total):
    """Seconds that cores cost each other at one level of memory, beside those of `Ideal` (`cost.sharing`)."""

    kernel: str | None
    server: str
    place: tuple[str, ...]


class KernelSeconds(Total):
    """Seconds of a kernel's own blocks, each by itself, whatever overlaps with it."""

    kernel: str


class LevelPoint(Record):
    """A kernel at one level of memory: the bytes it serves, and flops for each of them (None where there is none)."""

    level: str
    volume: float
    intensity: float | None


class RooflinePoint(Record):
    """A kernel's own blocks, or a whole application (`kernel` is None), below the roof.

    `volume` are the bytes that cross the memory bus, `intensity` flops for each of them, None where there is none.
    `attainable` is what the ceilings of its own traits and of the levels it uses leave on the components that take part
    in it, not on all of the machine; `bound_by` are the resources, or the cache, whose ceiling that is. `predicted` is
    what it does in the time of its own blocks, each by itself; `bottleneck` the resource that then bounds it longest.
    Rates in flops a second; `time` in seconds, of which branches that overlap have a part each.
    `levels` are the caches, the nearest to the core first, and memory, where a requirement says how it touches its
    data; requirements that do not pass by the caches. `balance` is the intensity at which its flops, with their traits,
    and its bytes would take equal times. `compute_roof` (flop/s) and `bus_roof` (B/s) are the two ceilings by
    themselves, of what takes part and with the kernel's traits.
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
    levels: tuple[LevelPoint, ...] = ()
    balance: float | None = None
    compute_roof: float = inf
    bus_roof: float | None = None

    @property
    def name(self) -> str:
        return self.application if self.kernel is None else f"{self.application}.{self.kernel}"

    @property
    def place(self) -> float | None:
        """The intensity at memory; where no byte gets that far, at the last level that serves any."""
        served = [level.intensity for level in self.levels if level.intensity is not None]
        return self.intensity if self.intensity is not None or not served else served[-1]


@refuse_float_overflow
def roofline_points(prediction: Prediction) -> list[RooflinePoint]:
    """The application and behind it its kernels that do flops, the one that takes longest first."""
    totals = roofline_totals(prediction.tree)
    values = prediction.scope.numbers(totals, prediction.seed)
    worst = prediction.bottleneck
    whole = _make_point(prediction, None, values, prediction.runtime, worst.resource if worst else None)
    uses = sorted(prediction.kernels, key=lambda use: -use.exclusive)
    all_points = [_make_point(prediction, use.name, values, use.exclusive, use.bound_by) for use in uses]
    return [point for point in (whole, *all_points) if point is not None]


def roofline_totals(tree: CostTree) -> Totals:
    """`Asked`, `ServedBy`, `Ideal` and `Contended` of each kernel and of all together, in the symbols of the models."""
    return tree.run_totals(_Ideal(tree))


def _make_point(
    prediction: Prediction, kernel: str | None, values: Values, time: float, bottleneck: str | None
) -> RooflinePoint | None:
    """The point of a kernel or block; None where it does no flops, or takes no time."""
    amounts = {name: values.get(Asked(kernel, name), 0.0) for name in PLACED_BY}
    flops, volume = amounts[COMPUTE], sum(amounts[name] for name in MEMORY)
    served = {key.level: worth for key, worth in of_kind(ServedBy, values).items() if key.kernel == kernel}
    ideal = _longest_units(kernel, values)
    if not flops or not time or COMPUTE not in ideal:
        return None
    groups = conflict_groups(dict.fromkeys(ideal, graph.ONE), prediction.tree.conflicts)
    alone = {group.resources: sum(ideal[name] for name in group.resources) for group in groups}
    by_server, by_place = _seconds_of_contention(kernel, values)
    together = {names: hypot(time, sum(by_server.get(name, 0.0) for name in names)) for names, time in alone.items()}
    slowest = max(together, key=together.__getitem__)
    others = _longest_units(kernel, values, products=False)
    disturbed = max(sum(others.get(name, 0.0) for name in names) for names in alone)
    least = max(*alone.values(), hypot(disturbed, max(by_place.values(), default=0.0)))
    on_bus = max((seconds for names, seconds in together.items() if {*names} & {*MEMORY}), default=0.0)
    return RooflinePoint(
        prediction.application.name,
        kernel,
        flops=flops,
        volume=volume,
        intensity=flops / volume if volume else None,
        attainable=flops / least,
        bound_by=slowest,
        predicted=flops / (time if kernel is None else values[KernelSeconds(kernel)]),
        bottleneck=bottleneck,
        time=time,
        levels=_points_at_levels(prediction, served, flops, volume),
        balance=flops / volume * on_bus / ideal[COMPUTE] if volume else None,
        compute_roof=flops / ideal[COMPUTE],
        bus_roof=volume / on_bus if volume and on_bus else None,
    )


def _longest_units(kernel: str | None, values: Values, *, products: bool = True) -> dict[str, float]:
    """Seconds of a kernel by server, those of its unit that is busy longest; perhaps without attained products."""
    units: dict[tuple[str, str], float] = {}
    for key, seconds in of_kind(Ideal, values).items():
        if key.kernel == kernel and seconds > 0 and (products or not key.product):
            units[key.server, key.unit] = units.get((key.server, key.unit), 0.0) + seconds
    longest: dict[str, float] = {}
    for (server, _), seconds in units.items():
        longest[server] = max(longest.get(server, 0.0), seconds)
    return longest


def _seconds_of_contention(kernel: str | None, values: Values) -> tuple[dict[str, float], dict[tuple[str, ...], float]]:
    """Seconds that cores cost each other, by server and by place."""
    by_server: dict[str, float] = {}
    by_place: dict[tuple[str, ...], float] = {}
    for key, seconds in of_kind(Contended, values).items():
        if key.kernel == kernel:
            by_server[key.server] = by_server.get(key.server, 0.0) + seconds
            by_place[key.place] = by_place.get(key.place, 0.0) + seconds
    return by_server, by_place


def _points_at_levels(
    prediction: Prediction, served: Mapping[str, float], flops: float, volume: float
) -> tuple[LevelPoint, ...]:
    """The caches that serve these bytes, and all memories together; empty where no access pattern is given."""
    if not served:
        return ()
    offers = target_of(prediction.machine, prediction.socket).offers
    memory = next((offers[name].place.component.name for name in MEMORY if name in offers), "memory")
    memory = "memory" if prediction.tree.residence.offers else memory
    traffic_of = {**served, memory: volume}
    return tuple(LevelPoint(name, moved, flops / moved if moved else None) for name, moved in traffic_of.items())


class _Asker(NamedTuple):
    """The instances of a block, whose amounts count for a kernel, or for all kernels together."""

    kernel: str | None
    parallelism: Expr
    instances: Instances
    where: Target

    def seconds(self, one: Expr, place: Place, resource: str, line: Expr | None = None) -> tuple[Expr, Expr]:
        """The least seconds in which the used components of a place serve what a single one would serve in `one`
        seconds, and the seconds that cores cost each other there."""
        shared = sharing(self.instances, place, self.where.core, line or self.where.line, resource)
        each = graph.div(one, graph.mul(self.instances.count_used(place), graph.apply("max", 1, shared.instances)))
        return shared.seconds(each)


class _Ideal(Leaf):
    """Amounts that kernels ask for, the part that each level serves, and the least time it takes."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        where, instances = self.tree.residence.target_of(kernel), self.tree.blocks[block].instances
        costs = [cost for cost in self.tree.blocks[block].requirements if cost.requirement.resource in PLACED_BY]
        contained = operations_in_windows(block.requirements, where.core, COMPUTE)
        costs += [price(need, instances, where, self.tree.origins) for need in contained]
        of_block = block.parallelism, instances, where
        askers = [_Asker(name, *of_block) for name in (kernel.name, None)]
        spent: Totals = {KernelSeconds(kernel.name): self.tree.blocks[block].time}
        return add_totals([spent, *(self._totals_of_cost(cost, asker) for cost in costs for asker in askers)])

    def _totals_of_cost(self, cost: RequirementCost, asker: _Asker) -> Totals:
        asked, traffic = cost.requirement, cost.traffic
        if traffic is None:
            return self._requirement(asked, asker, cost)
        sent = (("loads", traffic.read_bytes), ("stores", traffic.written_bytes))
        return add_totals(
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
        """P times the amount, at the seconds that one more takes where there are many already; these count for the
        server of the requirement whose cost it is a part of."""
        asked = spread_work_of_rank(asked, asker.instances, asker.where)
        first, slope = self._seconds_each(asked, asker.where)
        kernel, amount = asker.kernel, graph.mul(asker.parallelism, asked.amount)
        totals: Totals = {Asked(kernel, cost.requirement.resource): amount}
        if first.offer is None:
            return totals
        place = first.offer.place
        alone, contention = asker.seconds(graph.mul(amount, slope), place, asked.resource)
        if cost.beside:
            alone = graph.mul(
                amount, self._seconds_of_kinds(asked, asker, [Offer(first.offer.resource, place), *cost.beside])
            )
        product = is_attained_product(asked, place.component)
        ideal, contended = Ideal(kernel, cost.server, first.unit, product), Contended(kernel, cost.server, place.path)
        return totals | {ideal: alone, contended: contention}

    def _seconds_each(self, asked: flow.Requirement, where: Target) -> tuple[RequirementCost, Expr]:
        """The price of a large amount, and the seconds of one more."""
        first, second = (
            price(asked.replace(amount=graph.number(amount)), ONE_INSTANCE, where, self.tree.origins)
            for amount in LARGE[:2]
        )
        more = graph.add(second.serial, graph.mul(graph.number(-1), first.serial))
        return first, graph.div(more, graph.number(LARGE[1] - LARGE[0]))

    def _seconds_of_kinds(self, asked: flow.Requirement, asker: _Asker, kinds: Sequence[Offer]) -> Expr:
        """The least seconds of one more where several kinds of cores work: their rates add, and no part is done sooner
        than by one core of the fastest kind (`cost.schedules`)."""
        targets = [asker.where.replace(offers={**asker.where.offers, asked.resource: kind}) for kind in kinds]
        slopes = [self._seconds_each(asked, target)[1] for target in targets]
        counts = [asker.instances.count_used(kind.place) for kind in kinds]
        rates = [graph.div(count, slope) for count, slope in zip(counts, slopes, strict=True)]
        together = graph.div(1, graph.add(*rates))
        parts = graph.mul(graph.apply("max", 1, asker.parallelism), graph.apply("max", 1, asker.instances.parts))
        return graph.apply("max", graph.div(graph.apply("min", *slopes), parts), together)


def _caches(traffic: RequirementTraffic, asker: _Asker) -> list[Totals]:
    """Bytes that each cache serves, and the least time that the caches which take part need for them."""
    totals: list[Totals] = []
    for served in traffic.served:
        level, sent = served.level, served.sent
        kernel, amount = asker.kernel, graph.mul(asker.parallelism, graph.add(sent, served.taken))
        worth: Totals = {ServedBy(kernel, level.name): amount}
        if level.bandwidth is not None:
            busy = graph.mul(asker.parallelism, sent) if level.two_ways else amount
            place = level.place
            alone, contention = asker.seconds(graph.div(busy, level.bandwidth), place, "loads", level.line)
            unit, product = "", False  # a cache has one, and multiplies nothing
            ideal, contended = Ideal(kernel, level.name, unit, product), Contended(kernel, level.name, place.path)
            worth |= {ideal: alone, contended: contention}
        totals.append(worth)
    return totals
