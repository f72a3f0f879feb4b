"""The price of a block: how long each of its requirements takes where it is served."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from aspenpy.cost.instances import FILE_RESOURCES, Instances, is_file_system, through_a_node
from aspenpy.cost.memory import (
    Hierarchy,
    coherence_costs,
    level_costs,
    occupied_bytes,
    page_of,
    translation_costs,
    waiting_for_memory,
)
from aspenpy.cost.noise import lengthen_for_slowest, lengthen_level
from aspenpy.cost.occupancy import choose_chains, find_block, is_barrier, seconds_at_barriers, wait_of_warps
from aspenpy.cost.operations import WIDE, is_attained_product, spread_over_lanes
from aspenpy.cost.prices import (
    BRANCHES,
    LAUNCHED,
    BlockCost,
    ConflictGroup,
    Delay,
    LevelCost,
    Offer,
    RequirementCost,
    Wavefront,
    conflict_groups,
    longest,
    slowest,
)
from aspenpy.cost.schedules import on_all_kinds, share_with_threads
from aspenpy.cost.serial_time import SerialTime, own_traits
from aspenpy.cost.sharing import norm
from aspenpy.cost.target import Target
from aspenpy.cost.trait_names import CACHE_TRAITS, SCATTERED, SHARED, VARIES
from aspenpy.cost.waiting import (
    BEHIND,
    CHAIN,
    LOAD,
    LOADS,
    MISPREDICTED,
    Wait,
    count_under_way,
    loads_waited_for,
    mean_wait,
    wait_for_load,
)
from aspenpy.cost.wavefront import Sweep, sweep_of
from aspenpy.cost.windows import choose_in_core, find_windows
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, Related, suggest_nearest
from aspenpy.language.lower import Origins
from aspenpy.models.application import flow
from aspenpy.models.application.total import sum_terms

if TYPE_CHECKING:
    from aspenpy.cost.caches.traffic import RequirementTraffic


def _find_launch(costs: Sequence[RequirementCost], launch: Delay | None) -> Delay | None:
    """The launch of a block, if the socket's cores, caches or memories serve any of it."""
    if launch is None:
        return None
    path = launch.place.path
    inside = (cost.place for cost in costs if cost.place is not None and cost.place.path[: len(path)] == path)
    return launch if any(place.component.type in LAUNCHED for place in inside) else None


def price_block(block: flow.Block, where: Target, hierarchy: Hierarchy, origins: Origins) -> BlockCost:
    """Prices a block, each requirement on its component. The block takes the slowest group's time; where cores share a
    memory, what the slowest would take alone, and what the others cost where they cost most (`cost.sharing`)."""
    instances = where.instances(block)
    traffic = hierarchy.traffic(block, where.instances, where.find_offer)
    windows = find_windows(block.requirements, where.core)
    waits = _waits(block, traffic, where)
    if windows:
        waits = {need: wait.beyond_window() if need.resource == CHAIN else wait for need, wait in waits.items()}
    costs = tuple(
        _add_ignored_sharing(price_traffic(traffic[requirement], instances, where, origins), hierarchy)
        if requirement in traffic
        else price_on_lanes(requirement, instances, where, origins, waits.get(requirement))
        for requirement in choose_chains(choose_in_core(block.requirements, windows), where.core)
    )
    levels = (
        *level_costs(traffic.values(), instances, where.core),
        *translation_costs(traffic.values(), instances, hierarchy.buffer, where.memory),
        *(() if windows else port_costs(block, traffic.values(), instances, where.offers)),
        *coherence_costs(traffic.values(), instances, hierarchy.joining, where.core),
        *_barrier_costs(block.requirements, instances, where),
    )
    conflicts = where.conflicts if _find_traits(block, MISPREDICTED) else _overlap_branches(where.conflicts)
    # Wrong guesses add to cycles of code that is guessed right (Karkhanis and Smith, equation 1), and to a chain at the
    # end of which they are known: nothing of the next has begun.
    if windows or _find_traits(block, BEHIND):
        conflicts |= {(CHAIN, BRANCHES)}
    sweep = sweep_of(block)
    priced = _price_work(
        BlockCost(block, instances, costs, groups=(), work=graph.ZERO, levels=levels), conflicts, sweep, where, origins
    )
    priced = priced.replace(launch=_find_launch(costs, where.launch))
    if not any(trait.name == VARIES for need in block.requirements for trait in need.traits):
        return priced
    varied = priced.replace(
        requirements=tuple(lengthen_for_slowest(cost, priced) for cost in costs),
        levels=tuple(lengthen_level(level, priced) for level in levels),
    )
    return _price_work(varied, conflicts, sweep, where, origins).replace(even=priced.work)


def _price_work(
    block: BlockCost, conflicts: frozenset[tuple[str, str]], sweep: Sweep | None, where: Target, origins: Origins
) -> BlockCost:
    """The block with its groups of resources and the seconds of its work: of a sweep until its last rank is done."""
    if sweep is None:
        groups, work = _groups_and_work(block.requirements, block.levels, conflicts)
        return block.replace(groups=groups, work=work)
    others = tuple(cost for cost in block.requirements if cost.requirement is not sweep.requirement)
    _, computing = _groups_and_work(others, block.levels, conflicts)
    one = price_on_lanes(sweep.message, block.instances, where, origins)
    costs = tuple(
        sweep.cost_of_messages(one) if cost.requirement is sweep.requirement else cost for cost in block.requirements
    )
    groups, _ = _groups_and_work(costs, block.levels, conflicts)
    wavefront = Wavefront(sweep.fill(computing, one.time), sweep.seconds(computing, graph.ZERO))
    work = sweep.seconds(computing, one.time)
    return block.replace(requirements=costs, groups=groups, work=work, wavefront=wavefront)


def _groups_and_work(
    costs: tuple[RequirementCost, ...], levels: tuple[LevelCost, ...], conflicts: frozenset[tuple[str, str]]
) -> tuple[tuple[ConflictGroup, ...], Expr]:
    """The groups of resources of a block that conflict, and the seconds of its work. What memory costs a product is in
    the rate that large ones attain, which move blocks of C for each block of k, too (Goto and van de Geijn, "Anatomy of
    high-performance matrix multiplication", TOMS 34(3), 2008, section 4), and GPUs copy the next block while they
    multiply one (NVIDIA, CUTLASS, "Efficient GEMM"): what else the block does is in contention."""
    begun = _begin_branches(costs)
    working = [cost for cost in costs if not begun or cost.traits or cost.requirement.resource != BRANCHES]
    groups = (*conflict_groups(busy_by_server(working, levels), conflicts), *begun)
    by_place: dict[tuple[str, ...], list[Expr]] = {}
    parts: list[RequirementCost | LevelCost] = [*costs, *levels]
    for part in parts:
        if part.place is not None and part.contention is not graph.ZERO:
            by_place.setdefault(part.place.path, []).append(part.contention)
    if not by_place:
        return groups, slowest(groups)
    others = [
        cost for cost in working if not (cost.place and is_attained_product(cost.requirement, cost.place.component))
    ]
    undisturbed = conflict_groups(busy_by_server(others, levels, lambda part: part.alone), conflicts)
    alone = slowest((*undisturbed, *begun))
    contention = [sum_terms(parts) for parts in by_place.values()]
    most = contention[0] if len(contention) == 1 else graph.apply("max", *contention)
    work = norm(alone, most)
    return groups, work if len(others) == len(working) else longest([*(group.time for group in groups), work])


def _find_traits(block: flow.Block, name: str) -> bool:
    """Whether branches of a block have a trait."""
    return any(
        trait.name == name
        for requirement in block.requirements
        if requirement.resource == BRANCHES
        for trait in requirement.traits
    )


def _begin_branches(costs: Sequence[RequirementCost]) -> tuple[ConflictGroup, ...]:
    """Branches of which some are guessed wrongly begin one after the other, and so do those beside them that are
    guessed right; while the core is on a wrong way, none does (Eyerman et al., TOCS 27(2), 2009, equation 1)."""
    branches = [cost for cost in costs if cost.requirement.resource == BRANCHES]
    if not any(cost.traits for cost in branches):
        return ()
    begun = [graph.mul(cost.base, cost.rounds) for cost in branches]
    return (ConflictGroup((BRANCHES,), sum_terms([*begun, *(cost.time for cost in branches if cost.traits)])),)


def _overlap_branches(conflicts: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Branches that are guessed right are instructions beside the others."""
    return frozenset(pair for pair in conflicts if BRANCHES not in pair)


def _waits(
    block: flow.Block, traffic: Mapping[flow.Requirement, RequirementTraffic], where: Target
) -> dict[flow.Requirement, Wait]:
    """Waits of chains of loads, and of branches that name their data."""
    waits = {}
    by_data = {need.target: item for need, item in reversed([*traffic.items()]) if need.resource == LOADS}
    for requirement, loads in loads_waited_for(block.requirements).items():
        offer, memory = where.find_offer(requirement), where.find_offer(loads)
        if offer is not None:
            place = None if memory is None else memory.place
            chains = count_under_way(requirement, offer.resource)
            scattered = [
                item
                for need, item in traffic.items()
                if need.resource == LOADS
                and need.target == loads.target
                and any(trait.name in SCATTERED for trait in need.traits)
            ]
            items = scattered if len(scattered) > 1 else [by_data.get(loads.target)]
            page = page_of(where.core)
            waits[requirement] = mean_wait(
                [(item, wait_for_load(item, place, offer.place, page, chains)) for item in items]
            )
    for requirement in choose_chains(block.requirements, where.core):
        offer, threads = where.find_offer(requirement), find_block(requirement)
        if offer is not None and threads is not None and any(trait.name == LOAD for trait in requirement.traits):
            waits[requirement] = wait_of_warps(traffic.values(), where.memory, offer.place, requirement)
    return waits


def _add_ignored_sharing(cost: RequirementCost, hierarchy: Hierarchy) -> RequirementCost:
    """The cost with `shared` among the traits that say nothing, on a machine that does not say how long such lines
    take."""
    says = cost.traffic is not None and cost.traffic.access.shared and cost.traffic.access.writes
    return cost.replace(ignored=(*cost.ignored, SHARED)) if says and not hierarchy.joining else cost


def price_on_lanes(
    requirement: flow.Requirement, instances: Instances, where: Target, origins: Origins, wait: Wait | None = None
) -> RequirementCost:
    """The price of a requirement that passes by the caches."""
    on_lanes = spread_work_of_rank(requirement, instances, where)
    return price(on_lanes, instances, where, origins, wait).replace(requirement=requirement)


def spread_work_of_rank(requirement: flow.Requirement, instances: Instances, where: Target) -> flow.Requirement:
    """The requirement with its flops on all lanes of the core that serves it, where a rank shares its work out."""
    offer = where.find_offer(requirement)
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


def price_traffic(
    traffic: RequirementTraffic, instances: Instances, where: Target, origins: Origins
) -> RequirementCost:
    """A requirement whose data go through caches: memory sends what the last of them fetches, and takes what it writes
    back. What a store fetches before it writes is a load to memory."""
    requirement = traffic.access.requirement
    own = traffic.written_bytes if traffic.access.writes else traffic.read_bytes
    cost = price(_by_rows(requirement.replace(amount=own), traffic, where), instances, where, origins)
    other = traffic.read_bytes if traffic.access.writes else traffic.written_bytes
    other_name = "loads" if traffic.access.writes else "stores"
    beside_it = requirement.replace(amount=other, resource=other_name)
    if other is not graph.ZERO and where.find_offer(beside_it) is not None:
        beside = price(_by_rows(beside_it, traffic, where), instances, where, origins)
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


def _by_rows(requirement: flow.Requirement, traffic: RequirementTraffic, where: Target) -> flow.Requirement:
    """A requirement of memory with the bytes of a stream that take it as long."""
    offer = where.find_offer(requirement)
    if offer is None:
        return requirement
    return requirement.replace(amount=occupied_bytes(requirement.amount, requirement.resource, traffic, offer.place))


def price(
    requirement: flow.Requirement, instances: Instances, where: Target, origins: Origins, wait: Wait | None = None
) -> RequirementCost:
    """The serial time of the amount, each trait in turn, times ceil(P / Q); an exchange is of all instances at once.
    What cores, caches and memories do is shared out where a rank has several of them. A load that is waited for, takes
    its `wait`."""
    offer = where.find_offer(requirement)
    if offer is None:
        missing = graph.failure(describe_missing_offer(requirement, where))
        return RequirementCost(
            requirement, None, missing, traits=(), ignored=(), serial=missing, rounds=graph.ONE, alone=missing
        )
    if offer.place.component.type not in LAUNCHED:
        instances = instances.replace(spread=graph.ONE)
    serial = SerialTime(requirement, instances, where, offer, origins, wait)
    for trait in own_traits(serial.reading.requirement.traits):
        serial.apply(trait)
    cost = serial.cost()
    if where.core is not None and offer.place.path == where.core.path:
        if where.others:
            cost = _with_other_kinds(cost, instances, where, origins)
        return share_with_threads(cost, instances)
    return _through_nodes(cost, instances, where) if is_file_system(offer.place) else cost


def _with_other_kinds(cost: RequirementCost, instances: Instances, where: Target, origins: Origins) -> RequirementCost:
    """The cost on the first kind of core, with the help of the kinds that offer the resource."""
    name = cost.requirement.resource
    others = [
        Offer(place.component.resources[name], place) for place in where.others if name in place.component.resources
    ]
    alone = [where.replace(offers={**where.offers, name: other}) for other in others]
    seconds = [price(cost.requirement, instances, each, origins).serial for each in alone]
    return on_all_kinds(cost, [*zip(others, seconds, strict=True)], instances) if others else cost


def _through_nodes(cost: RequirementCost, instances: Instances, where: Target) -> RequirementCost:
    """The cost on a file system, no faster than the fullest node sends or takes the data."""
    assert cost.place is not None
    sending = through_a_node(cost.place, cost.requirement.amount, instances.on_a_node(where.nodes))
    return cost if sending is None else cost.replace(alone=graph.apply("max", cost.alone, sending), sending=sending)


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


def describe_missing_offer(requirement: flow.Requirement, where: Target) -> Diagnostic:
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


ACCESSES = "accesses"
"""The resource of a core's loads and stores, one of each word, or of vectors `as simd`."""

WORD = 8
"""Bytes of which rates of vectors count the words."""


def port_costs(
    block: flow.Block, traffic: Collection[RequirementTraffic], instances: Instances, offers: Mapping[str, Offer]
) -> tuple[LevelCost, ...]:
    """Seconds in which the ports of a core that states `accesses` are busy with what a block loads and stores: each
    word is an access, or a part of one where its flops are of vectors. None where the block asks for `accesses` itself.
    Loads and stores have ports of their own."""
    offer = offers.get(ACCESSES)
    asked = any(requirement.resource == ACCESSES for requirement in block.requirements)
    if offer is None or asked or not traffic or ACCESSES in offer.assumed:
        return ()
    flops = [requirement for requirement in block.requirements if requirement.resource == "flops"]
    wide = any(trait.name == WIDE for requirement in flops for trait in requirement.traits)
    times = []
    for name, writes in (("load", False), ("store", True)):
        accesses = [item.access for item in traffic if item.access.writes is writes]
        rate, clock = _rate_of_port(offer, name, wide), offer.place.component.value("clock")
        if accesses and rate is not None and clock is not None:
            words = graph.add(*(access.accesses * _count_words(access.word, wide) for access in accesses))
            times.append(instances.busy_at(offer.place) * instances.share(words) / (clock * rate))
    return (LevelCost(ACCESSES, offer.place, longest(times), graph.ZERO),) if times else ()


def _barrier_costs(
    requirements: tuple[flow.Requirement, ...], instances: Instances, where: Target
) -> tuple[LevelCost, ...]:
    """Seconds in which the barriers of a multiprocessor are busy with the warps of all blocks of threads."""
    core = where.core
    found = [need for need in choose_chains(requirements, core) if is_barrier(need)]
    if core is None or not found:
        return ()
    seconds = graph.add(*(seconds_at_barriers(need, instances.share(need.amount), core.component) for need in found))
    return (LevelCost("barriers", core, graph.ZERO, graph.mul(instances.busy_at(core), seconds)),)


def _count_words(bytes_of_one: Expr, wide: bool) -> Expr:
    return graph.div(bytes_of_one, WORD) if wide else graph.ONE


def _rate_of_port(offer: Offer, name: str, wide: bool) -> Expr | None:
    core = offer.place.component
    return core.value(f"{name}_dp_simd_rate") if wide else core.value(f"{name}_rate")
