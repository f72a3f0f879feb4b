"""Who serves a resource, and how long it takes there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

from aspenpy.cost.assumed import add_assumed, are_missing
from aspenpy.cost.file_systems import FILE_RESOURCES, is_file_system, through_a_node
from aspenpy.cost.instances import Instances, PartSizes
from aspenpy.cost.kinds_of_cores import all_cores, machine_schedule, working_kinds
from aspenpy.cost.memory import (
    LATENCY as TRANSFER_LATENCY,
)
from aspenpy.cost.memory import (
    Hierarchy,
    coherence_costs,
    joining_cores,
    level_costs,
    page_of,
    translation_costs,
    waiting_for_memory,
)
from aspenpy.cost.operations import (
    Reading,
    classify_requirement,
    is_priced_without,
    read_operation,
    spread_over_lanes,
)
from aspenpy.cost.paths import INTERCONNECT, MESSAGE, MESSAGES, Paths, paths_of
from aspenpy.cost.placement_options import MACHINES_OWN, PlacementOptions, require_schedule
from aspenpy.cost.ports import port_costs
from aspenpy.cost.prices import (
    BRANCHES,
    LAUNCHED,
    MEMORY_RESOURCES,
    AppliedTrait,
    BlockCost,
    Launch,
    LevelCost,
    Offer,
    RequirementCost,
    conflict_groups,
    longest,
    slowest,
)
from aspenpy.cost.ranks import RankPlacement, place_ranks, share_of_machine
from aspenpy.cost.schedules import on_all_kinds, share_with_threads
from aspenpy.cost.sharing import Sharing, norm, sharing
from aspenpy.cost.trait_names import CACHE_TRAITS, SHARED, is_exchange, is_part
from aspenpy.cost.waiting import (
    CHAIN,
    LOAD,
    LOADS,
    MISPREDICTED,
    SIDE_BY_SIDE,
    Wait,
    independent_chains,
    loads_waited_for,
    wait_for_load,
)
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, Related, fail, suggest_nearest
from aspenpy.language.lower import Origins, carry_origin
from aspenpy.models.application import flow
from aspenpy.models.application.total import sum_terms
from aspenpy.models.machine.model import BASE, Machine, Place, Resource
from aspenpy.record import Record

if TYPE_CHECKING:
    from aspenpy.cost.caches.traffic import Traffic


class Target(Record):
    """The part of a machine that an application runs on: what is left of the tree without the other
    sockets, who serves each resource there, and which resources conflict. `placed` are the data structures of which a
    kernel says where they lie, and who serves their resources there. `core` is the first kind of core, `line` the bytes
    of a line of the last cache before the memory, `launch` what a block costs on the socket before it begins, `ranks`
    where ranks live, `paths` what joins ranks, `others` are further kinds of cores in the socket that work, a user may
    have `asked_schedule`, and
    `rank_counts` the counts of instances that are ranks: of blocks that share their work out, or send messages;
    other instances have a `share_of_machine`."""

    machine: Machine
    socket: str | None
    offers: Mapping[str, Offer]
    conflicts: frozenset[tuple[str, str]]
    placed: Mapping[str, Mapping[str, Offer]] = MappingProxyType({})
    core: Place | None = None
    line: Expr | None = None
    launch: Launch | None = None
    ranks: RankPlacement | None = None
    paths: Paths | None = None
    others: tuple[Place, ...] = ()
    asked_schedule: flow.Schedule | None = None
    rank_counts: frozenset[Expr] = frozenset()
    share_of_machine: Expr = graph.ONE

    @property
    def nodes(self) -> Expr:
        """How many nodes there are; a machine without any is one."""
        places = self.machine.first_places(self.socket)
        return next((place.count for place in places if place.component.type == "node"), graph.ONE)

    @property
    def assumed_offers(self) -> dict[str, Offer]:
        """Resources that a rule for cores prices, and not the machine."""
        return {name: offer for name, offer in self.offers.items() if name in offer.assumed}

    @property
    def between_ranks(self) -> Paths:
        return self.paths or Paths(self.machine)

    def instances(self, block: flow.Block) -> Instances:
        """The instances of a block: where they are ranks, on what each occupies, with a part of the work for each of
        its cores if the block says how far it can be shared out."""
        ranks = block.parallelism
        schedule = self._schedule(block)
        if self.ranks is None or self.core is None or (block.width is None and ranks not in self.rank_counts):
            return Instances(ranks, share_of_machine=self.share_of_machine, schedule=schedule)
        placed = self.ranks.placed(ranks, ranks, self.machine, block.span)
        cores = graph.apply("max", 1, self.ranks.places_of_rank(self.core))
        found = Instances(ranks, graph.ONE, self.ranks, cores, placed, schedule=schedule)
        if self.ranks.sharers > 1 and self.ranks.unit.path == self.core.path:
            found = found.replace(threads=self.ranks.fullest(self.core, found.ranks))
        if block.width is None:
            return found
        found = found.replace(parts=graph.apply("ceil", block.width))
        if block.sizes is not None:
            found = found.replace(sizes=PartSizes(*block.sizes))
        return self._spread_parts(found, block)

    def _spread_parts(self, instances: Instances, block: flow.Block) -> Instances:
        """The cores that the parts of a rank keep busy on average: all parts, in times of what the core that has most
        of them has."""
        assert self.ranks is not None
        cores, parts, threads = instances.cores, instances.parts, self.ranks.threads_of_core
        if cores is graph.ONE and threads == 1:
            return instances
        on_core = graph.ONE
        if threads > 1:
            on_core = graph.apply("min", threads, graph.apply("max", 1, graph.apply("ceil", graph.div(parts, cores))))
        slots = graph.mul(cores, threads)
        if instances.sizes is None:
            spread = graph.div(parts, graph.mul(graph.apply("ceil", graph.div(parts, slots)), on_core))
        else:
            even = instances.schedule == "dynamic"
            most = instances.largest if even else instances.largest_chunk(slots, graph.ZERO, slots)
            some = graph.compare(">", most, 0)
            spread = graph.if_else(some, graph.div(instances.total, graph.mul(most, on_core)), graph.ONE)
            spread = graph.apply("min", cores, spread) if even else spread
        return instances.replace(spread=spread, threads=on_core)

    def _schedule(self, block: flow.Block) -> flow.Schedule:
        """How the parts of a block go to cores: as a user asks, the model says, or the machine; unequal parts of which
        nobody says it in blocks, as compilers do."""
        if not self.others and block.sizes is None:
            return "dynamic"  # equal parts on equal cores: no matter
        otherwise: flow.Schedule = "dynamic" if block.sizes is None else "static"
        return self.asked_schedule or block.schedule or machine_schedule(self.core) or otherwise

    @property
    def drawing(self) -> Place | None:
        """The cores that draw on memory: the first kind, counted with all others."""
        return None if self.core is None else all_cores(self.core, self.others)

    def serving(self, requirement: flow.Requirement) -> Offer | None:
        """Who serves a requirement: the memory in which its data lie, else the first that offers the resource."""
        here = self.placed.get(requirement.target) if requirement.target is not None else None
        if here is not None and requirement.resource in MEMORY_RESOURCES:
            return here.get(requirement.resource)
        return self.offers.get(requirement.resource)


def choose_socket(machine: Machine, socket: str | None) -> str | None:
    """The socket asked for, or the only one there is."""
    sockets = machine.sockets
    names = ", ".join(f"`{name}`" for name in sockets)
    if socket is None and len(sockets) > 1:
        message = f"machine `{machine.name}` has several kinds of sockets: {names}"
        fail("which-socket", message, machine.root.name_span, hint="choose one with --socket")
    if socket is not None and socket not in sockets:
        hint = suggest_nearest(socket, sockets) or (
            f"its sockets are {names}" if sockets else "it has no component of type `socket`"
        )
        fail("unknown-socket", f"machine `{machine.name}` has no socket `{socket}`", machine.root.name_span, hint=hint)
    return socket or (sockets[0] if sockets else None)


def rank_counts(blocks: Iterable[flow.Block]) -> frozenset[Expr]:
    """The counts of instances that are ranks: of blocks that say how far each shares its work out, or that send
    messages."""
    return frozenset(
        block.parallelism
        for block in blocks
        if block.width is not None or any(need.resource == MESSAGES for need in block.requirements)
    )


def target(
    machine: Machine,
    socket: str | None,
    ranks: PlacementOptions = MACHINES_OWN,
    counts: frozenset[Expr] = frozenset(),
    *,
    one: bool = False,
    asked: Iterable[flow.Requirement] = (),
) -> Target:
    """The machine as an application on that socket sees it. The first component that offers a resource
    takes it, depth first; a conflict counts wherever it is declared. Levels of memory that the machine calls
    `serial` conflict: their times add (as in the execution-cache-memory model), while others overlap. What the core
    does not state of the requirements `asked` is assumed."""
    chosen = choose_socket(machine, socket)
    places = list(machine.first_places(chosen))
    offers: dict[str, Offer] = {}
    conflicts: set[tuple[str, str]] = set()
    for place in places:
        for name, resource in place.component.resources.items():
            offers.setdefault(name, Offer(resource, place))
        conflicts.update(place.component.conflicts)
    memories = {name: offers[name].place for name in MEMORY_RESOURCES if name in offers}
    conflicts.update(combinations(serial_levels(places, memories), 2))
    core = machine.first_core(chosen)
    if are_missing(asked, offers):
        offers = add_assumed(offers, core, _between_cores(machine, chosen))
    lines = [place.component.value("cacheline") for place in places if place.component.type == "cache"]
    line = next((line for line in reversed(lines) if line is not None), None)
    placement, asked_schedule = place_ranks(machine, chosen, ranks), require_schedule(ranks)
    paths = paths_of(machine, chosen, placement)
    if MESSAGES in offers and offers[MESSAGES].place.component.type == INTERCONNECT and paths.places:
        outermost = paths.places[-1][0]
        offers[MESSAGES] = Offer(outermost.component.resources[MESSAGES], outermost)
    return Target(
        machine,
        chosen,
        offers,
        frozenset(conflicts),
        core=core,
        line=line,
        launch=_launch(places),
        ranks=placement,
        paths=paths,
        others=working_kinds(places, asked_schedule),
        asked_schedule=asked_schedule,
        rank_counts=counts,
        share_of_machine=share_of_machine(machine, chosen, ranks, one=one),
    )


def _between_cores(machine: Machine, socket: str | None) -> dict[str, Expr]:
    """The time of a line between cores, where the machine says it: the farthest of those that it joins."""
    joining = joining_cores(machine, socket)
    return {} if not joining else {TRANSFER_LATENCY: joining[-1].component.properties[TRANSFER_LATENCY].symbol}


def _launch(places: Sequence[Place]) -> Launch | None:
    """What begins on the first socket that states a `launch_latency`."""
    sockets = [place for place in places if place.component.type == "socket"]
    latencies = ((place, place.component.value("launch_latency")) for place in sockets)
    return next((Launch(place, latency) for place, latency in latencies if latency is not None), None)


def _find_launch(costs: Sequence[RequirementCost], launch: Launch | None) -> Launch | None:
    """The launch of a block, if the socket's cores, caches or memories serve any of it."""
    if launch is None:
        return None
    path = launch.place.path
    inside = (cost.place for cost in costs if cost.place is not None and cost.place.path[: len(path)] == path)
    return launch if any(place.component.type in LAUNCHED for place in inside) else None


def serial_levels(places: Sequence[Place], memories: Mapping[str, Place]) -> list[str]:
    """The levels whose times add since the machine calls them `serial`: caches by their names, `memories` by what they
    serve. A component that is no level, such as the core, says it of all levels."""
    levels = {place.component.name: place for place in places if place.component.type == "cache"} | {**memories}
    stated = [place for place in places if "serial" in place.component.properties]
    if not all(_is_level(place) for place in stated):
        return [*levels]
    return [name for name, place in levels.items() if "serial" in place.component.properties]


def _is_level(place: Place) -> bool:
    kinds = ("cache", "memory")
    return place.component.type in kinds or any(name in place.component.resources for name in MEMORY_RESOURCES)


def price_block(block: flow.Block, where: Target, hierarchy: Hierarchy, origins: Origins) -> BlockCost:
    """Each requirement on the component that serves it. The block takes the slowest group's time; where cores share a
    memory, what the slowest would take alone, and what the others cost where they cost most (`cost.sharing`)."""
    instances = where.instances(block)
    traffic = hierarchy.traffic(block, instances, where.serving)
    waits = _waits(block, traffic, where)
    costs = tuple(
        _add_ignored_sharing(price_traffic(traffic[requirement], instances, where, origins), hierarchy)
        if requirement in traffic
        else price_on_lanes(requirement, instances, where, origins, waits.get(requirement))
        for requirement in block.requirements
    )
    levels = (
        *level_costs(traffic.values(), instances, where.core),
        *translation_costs(traffic.values(), instances, hierarchy.buffer),
        *port_costs(block, traffic.values(), instances, where.offers),
        *coherence_costs(traffic.values(), instances, hierarchy.joining, where.core),
    )
    conflicts = where.conflicts if _guess_wrongly(block) else _overlap_branches(where.conflicts)
    groups = conflict_groups(busy_by_server(costs, levels), conflicts)
    by_place: dict[tuple[str, ...], list[Expr]] = {}
    parts: list[RequirementCost | LevelCost] = [*costs, *levels]
    for part in parts:
        if part.place is not None and part.contention is not graph.ZERO:
            by_place.setdefault(part.place.path, []).append(part.contention)
    launch = _find_launch(costs, where.launch)
    if not by_place:
        return BlockCost(block, instances, costs, groups, slowest(groups), levels, launch)
    alone = slowest(conflict_groups(busy_by_server(costs, levels, lambda part: part.alone), conflicts))
    contention = [sum_terms(parts) for parts in by_place.values()]
    most = contention[0] if len(contention) == 1 else graph.apply("max", *contention)
    return BlockCost(block, instances, costs, groups, norm(alone, most), levels, launch)


def _guess_wrongly(block: flow.Block) -> bool:
    return any(
        trait.name == MISPREDICTED
        for requirement in block.requirements
        if requirement.resource == BRANCHES
        for trait in requirement.traits
    )


def _overlap_branches(conflicts: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Branches that are guessed right are instructions beside the others."""
    return frozenset(pair for pair in conflicts if BRANCHES not in pair)


def _waits(
    block: flow.Block, traffic: Mapping[flow.Requirement, Traffic], where: Target
) -> dict[flow.Requirement, Wait]:
    """What chains of loads and branches that name their data wait for."""
    waits = {}
    by_data = {need.target: item for need, item in reversed([*traffic.items()]) if need.resource == LOADS}
    for requirement, loads in loads_waited_for(block.requirements).items():
        offer, memory = where.serving(requirement), where.serving(loads)
        if offer is not None:
            place = None if memory is None else memory.place
            chains = independent_chains(requirement)
            waits[requirement] = wait_for_load(
                by_data.get(loads.target), place, offer.place, page_of(where.core), chains
            )
    return waits


def _add_ignored_sharing(cost: RequirementCost, hierarchy: Hierarchy) -> RequirementCost:
    """With `shared` among the traits that say nothing, on a machine that does not say how long such lines take."""
    says = cost.traffic is not None and cost.traffic.access.shared
    return cost.replace(ignored=(*cost.ignored, SHARED)) if says and not hierarchy.joining else cost


def price_on_lanes(
    requirement: flow.Requirement, instances: Instances, where: Target, origins: Origins, wait: Wait | None = None
) -> RequirementCost:
    """The price of a requirement that passes by the caches."""
    on_lanes = spread_on_lanes(requirement, instances, where)
    return price(on_lanes, instances, where, origins, wait).replace(requirement=requirement)


def spread_on_lanes(requirement: flow.Requirement, instances: Instances, where: Target) -> flow.Requirement:
    """What a rank that shares its work out asks of the lanes of a core, where it asks a core."""
    offer = where.serving(requirement)
    if offer is None or instances.placement is None:
        return requirement
    return spread_over_lanes(requirement, offer.place.component)


def busy_by_server(
    costs: Sequence[RequirementCost],
    levels: Sequence[LevelCost],
    seconds: Callable[[RequirementCost | LevelCost], Expr] = lambda part: part.time,
) -> dict[str, Expr]:
    """Seconds of each server, and of each cache: the longest of a server's units."""
    times: dict[str, dict[str, list[Expr]]] = {}
    for cost in costs:
        times.setdefault(cost.server, {}).setdefault(cost.unit, []).append(seconds(cost))
    for level in levels:
        times.setdefault(level.name, {}).setdefault("", []).append(seconds(level))
    return {name: longest([sum_terms(parts) for parts in units.values()]) for name, units in times.items()}


def price_traffic(traffic: Traffic, instances: Instances, where: Target, origins: Origins) -> RequirementCost:
    """A requirement whose data go through caches: memory sends what the last of them fetches, and takes what it writes
    back. What a store fetches before it writes is a load to memory."""
    requirement = traffic.access.requirement
    own = traffic.written_bytes if traffic.access.writes else traffic.read_bytes
    cost = price(requirement.replace(amount=own), instances, where, origins)
    other = traffic.read_bytes if traffic.access.writes else traffic.written_bytes
    other_name = "loads" if traffic.access.writes else "stores"
    beside_it = requirement.replace(amount=other, resource=other_name)
    if other is not graph.ZERO and where.serving(beside_it) is not None:
        beside = price(beside_it, instances, where, origins)
        cost = cost.replace(
            serial=graph.add(cost.serial, beside.serial),
            alone=graph.add(cost.alone, beside.alone),
            contention=graph.add(cost.contention, beside.contention),
        )
    waiting = None if cost.offer is None else waiting_for_memory(traffic, cost.offer.place, where.core, instances)
    if waiting is not None:
        cost = cost.replace(alone=graph.apply("max", cost.alone, waiting))
    ignored = tuple(name for name in cost.ignored if name not in CACHE_TRAITS)
    return cost.replace(requirement=requirement, traffic=traffic, ignored=ignored)


def price(
    requirement: flow.Requirement, instances: Instances, where: Target, origins: Origins, wait: Wait | None = None
) -> RequirementCost:
    """The serial time of the amount, each trait in turn, times ceil(P / Q); an exchange is of all instances at once.
    What cores, caches and memories do is shared out where a rank has several of them. A load that is waited for, takes
    its `wait`."""
    offer = where.serving(requirement)
    if offer is None:
        missing = graph.failure(nobody_offers(requirement, where))
        return RequirementCost(requirement, None, missing, (), (), missing, graph.ONE, missing)
    resource = offer.resource
    if offer.place.component.type not in LAUNCHED:
        instances = instances.replace(spread=graph.ONE)
    carry = carry_origin(origins)
    amount = instances.share(requirement.amount)
    reading = read_operation(requirement, amount, offer.place.component, resource)
    operation, ignored = reading.operation, [*reading.ignored]
    assumed = _is_assumed(reading, amount, offer, where)
    applied: list[AppliedTrait] = []
    base = graph.substitute([resource.time], {resource.argument: amount}, carry)[0]
    if reading.refused is not None:
        base = graph.failure(reading.refused)
    shared = sharing(instances, offer.place, where.drawing, where.line, requirement.resource)
    of_ranks = where.between_ranks.serves(offer.place)
    if operation is not None:
        base = operation.seconds
        applied.append(AppliedTrait(operation.name, (), base, base))
    elif of_ranks:
        from aspenpy.cost.messages import message_of

        message = message_of(requirement, instances.count, where.between_ranks)
        base, shared = message.time, Sharing(graph.ONE, graph.ONE)
        applied.append(message)
    serial = base
    for trait in _own_traits(reading.requirement.traits):
        if is_exchange(trait.name, resource, where.machine, inner=of_ranks):
            from aspenpy.cost.messages import exchange_of

            exchange = exchange_of(trait, requirement, instances.count, offer, where.between_ranks)
            applied = [*(item for item in applied if item.name != MESSAGE), exchange]
            serial, shared = exchange.time, Sharing(graph.ONE, graph.ONE)
        elif operation is not None and trait.name in operation.traits:
            continue
        elif trait.name in resource.traits:
            assumed = assumed or trait.name in offer.assumed
            applied.append(_apply_trait(trait, resource, serial, carry))
            if wait is not None and trait.name in (LOAD, MISPREDICTED):
                applied[-1] = _with_wait(applied[-1], trait, wait, amount, offer)
                assumed = assumed or wait.assumed
            serial = applied[-1].time
        elif trait.name == SIDE_BY_SIDE and requirement.resource == CHAIN:
            serial = graph.div(serial, independent_chains(requirement))
            applied.append(AppliedTrait(trait.name, trait.arguments, serial, serial))
        elif wait is not None and trait.name in CACHE_TRAITS:
            continue
        elif not is_priced_without(requirement, trait.name):
            ignored.append(trait.name)
    unit = "" if operation is None else operation.unit
    times = (shared.instances, *shared.seconds(serial), shared.saturation)
    cost = RequirementCost(
        requirement,
        offer,
        base,
        tuple(applied),
        tuple(ignored),
        serial,
        *times,
        unit=unit,
        together=instances.together,
        assumed=assumed,
    )
    if where.core is not None and offer.place.path == where.core.path:
        if where.others:
            cost = _with_other_kinds(cost, instances, where, origins)
        return share_with_threads(cost, instances)
    return _through_nodes(cost, instances, where) if is_file_system(offer.place) else cost


def _is_assumed(reading: Reading, amount: Expr, offer: Offer, where: Target) -> bool:
    """Whether the time of a requirement follows from a rule for cores, and not from what this one states."""
    if reading.operation is None or where.core is None or not offer.rule:
        return offer.resource.name in offer.assumed
    return classify_requirement(reading.requirement, amount, where.core.component, offer.resource) is None


def _with_other_kinds(cost: RequirementCost, instances: Instances, where: Target, origins: Origins) -> RequirementCost:
    """What the first kind of core takes, with the help of those kinds that offer the resource."""
    name = cost.requirement.resource
    others = [
        Offer(place.component.resources[name], place) for place in where.others if name in place.component.resources
    ]
    alone = [where.replace(offers={**where.offers, name: other}) for other in others]
    seconds = [price(cost.requirement, instances, each, origins).serial for each in alone]
    return on_all_kinds(cost, [*zip(others, seconds, strict=True)], instances) if others else cost


def _through_nodes(cost: RequirementCost, instances: Instances, where: Target) -> RequirementCost:
    """What a file system serves, no faster than the fullest node sends or takes it."""
    assert cost.place is not None
    sending = through_a_node(cost.place, cost.requirement.amount, instances.on_a_node(where.nodes))
    return cost if sending is None else cost.replace(alone=graph.apply("max", cost.alone, sending), sending=sending)


def _own_traits(traits: Sequence[flow.Trait]) -> list[flow.Trait]:
    """Traits that are no part of an exchange beside them."""
    names = [trait.name for trait in traits]
    return [trait for trait in traits if not is_part(trait.name, names)]


def _apply_trait(
    trait: flow.Trait, resource: Resource, serial: Expr, carry: Callable[[Expr, Expr], None]
) -> AppliedTrait:
    """A trait by the rule that the resource has for it."""
    rule = resource.traits[trait.name]
    argument = {} if rule.argument is None else {rule.argument: _trait_argument(trait, resource.name)}
    time = graph.substitute([rule.time], {BASE: serial, **argument}, carry)[0]
    return AppliedTrait(trait.name, trait.arguments, rule.time, time)


def _with_wait(applied: AppliedTrait, trait: flow.Trait, wait: Wait, amount: Expr, offer: Offer) -> AppliedTrait:
    """A trait whose loads lie beyond the first cache."""
    core = offer.place.component
    formula, time = (wait.lengthen(trait, near, amount, core) for near in (applied.formula, applied.time))
    return applied.replace(formula=formula, time=time)


def _trait_argument(trait: flow.Trait, resource: str) -> Expr:
    if trait.arguments and isinstance(trait.arguments[0], graph.Expr):
        return trait.arguments[0]
    message = f"the trait `{trait.name}` of `{resource}` needs an argument"
    return graph.failure(Diagnostic("missing-argument", message, trait.span, hint=f"write `as {trait.name}(value)`"))


OPTIONAL_RESOURCES = {
    "chain": "a core prices operations that wait for each other by their latencies in cycles: "
    "`resource chain(number) [number/clock] with add [base*add_latency], fma [base*fma_latency]`",
    "branches": "a core states what a wrong guess costs in cycles: "
    "`resource branches(number) [number/clock] with mispredicted(rate) [base*rate*mispredict_penalty]`",
    **dict.fromkeys(
        FILE_RESOURCES,
        "a file system serves files: `file_system scratch { resource read(volume) [latency + volume/bandwidth] "
        "resource write(volume) [latency + volume/bandwidth] }`, as often as it has servers",
    ),
    "barriers": "a socket states the seconds of a barrier: `resource barriers(number) [number*barrier_latency]`",
}
"""What a machine that does not offer a conventional resource would say."""


def nobody_offers(requirement: flow.Requirement, where: Target) -> Diagnostic:
    """Names who offers what, and where else the resource could be had."""
    name = requirement.resource
    on = f" with socket `{where.socket}`" if where.socket else ""
    elsewhere = [
        (socket, place.component)
        for socket in where.machine.sockets
        if socket != where.socket
        for place in where.machine.first_places(socket)
        if name in place.component.resources
    ]
    related = tuple(
        Related(item.resources[name].name_span, f"socket `{socket}` has it here") for socket, item in elsewhere[:1]
    )
    by_component: dict[str, list[str]] = {}
    for offered, offer in where.offers.items():
        by_component.setdefault(f"{offer.place.component.type} {offer.place.component.name}", []).append(offered)
    offered = "; ".join(f"{component}: {', '.join(names)}" for component, names in by_component.items())
    hint = (
        OPTIONAL_RESOURCES.get(name)
        or suggest_nearest(name, where.offers)
        or (f"it offers {offered}" if offered else "it offers no resource at all")
    )
    span = requirement.resource_span or requirement.span
    message = f"nothing on machine `{where.machine.name}`{on} offers the resource `{name}`"
    return Diagnostic("no-such-resource", message, span, related, hint)
