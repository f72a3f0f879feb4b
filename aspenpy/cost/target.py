"""Target: the part of a machine that an application runs on, and who serves each resource there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

from aspenpy.cost.assumed import add_assumed, are_missing
from aspenpy.cost.instances import Instances, PartSizes
from aspenpy.cost.kinds_of_cores import all_cores, machine_schedule, working_kinds
from aspenpy.cost.memory import LATENCY as TRANSFER_LATENCY
from aspenpy.cost.memory import joining_cores
from aspenpy.cost.paths import IN_CALLS, INTERCONNECT, MESSAGES, PROGRESS, Paths, paths_of
from aspenpy.cost.placement_options import MACHINES_OWN, PlacementOptions, require_schedule
from aspenpy.cost.prices import ALL_OTHERS, MEMORY_RESOURCES, Delay, Offer
from aspenpy.cost.ranks import RankPlacement, place_ranks, share_of_machine
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Machine, Place, one_of
from aspenpy.record import Record

if TYPE_CHECKING:
    pass


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
    launch: Delay | None = None
    ranks: RankPlacement | None = None
    paths: Paths | None = None
    others: tuple[Place, ...] = ()
    asked_schedule: flow.Schedule | None = None
    rank_counts: frozenset[Expr] = frozenset()
    share_of_machine: Expr = graph.ONE

    @property
    def nodes(self) -> Expr:
        """Number of nodes; a machine without any is one."""
        places = self.machine.first_places(self.socket)
        return next((place.count for place in places if place.component.type == "node"), graph.ONE)

    @property
    def assumed_offers(self) -> dict[str, Offer]:
        """Resources that a rule for cores prices, and not the machine."""
        return {name: offer for name, offer in self.offers.items() if name in offer.assumed}

    @property
    def memory(self) -> Place | None:
        """Who serves loads from no memory in particular."""
        offer = self.offers.get("loads")
        return None if offer is None else offer.place

    @property
    def between_ranks(self) -> Paths:
        return self.paths or Paths(self.machine)

    def instances(self, block: flow.Block) -> Instances:
        """The instances of a block: where they are ranks, on what each occupies, with a part of the work for each of
        its cores if the block says how far it can be shared out."""
        ranks = block.parallelism
        schedule = self._schedule(block)
        are_ranks = block.width is not None or ranks in self.rank_counts
        if self.ranks is None or self.core is None or not are_ranks:
            return Instances(ranks, share_of_machine=self.share_of_machine, schedule=schedule, are_ranks=are_ranks)
        placed = self.ranks.require_places(ranks, ranks, self.machine, block.span)
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
        """Schedule of a block's parts over cores: as a user asks, else the model, else the machine. Unequal parts
        without a schedule go in blocks, as compilers do."""
        if not self.others and block.sizes is None:
            return "dynamic"  # equal parts on equal cores: no matter
        otherwise: flow.Schedule = "dynamic" if block.sizes is None else "static"
        return self.asked_schedule or block.schedule or machine_schedule(self.core) or otherwise

    @property
    def drawing(self) -> Place | None:
        """The cores that draw on memory: the first kind, counted with all others."""
        return None if self.core is None else all_cores(self.core, self.others)

    def find_offer(self, requirement: flow.Requirement) -> Offer | None:
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


def target_of(
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
        offers = add_assumed(offers, core, _values_around_core(machine, chosen, core))
    lines = [place.component.value("cacheline") for place in places if place.component.type == "cache"]
    line = next((line for line in reversed(lines) if line is not None), None)
    placement, asked_schedule = place_ranks(machine, chosen, ranks), require_schedule(ranks)
    paths = paths_of(machine, chosen, placement)
    if MESSAGES in offers and offers[MESSAGES].place.component.type == INTERCONNECT and paths.places:
        outermost = paths.places[-1][0]
        offers[MESSAGES] = Offer(outermost.component.resources[MESSAGES], outermost)
    sending = offers[MESSAGES].place.component if MESSAGES in offers else None
    if sending is not None and one_of(sending, "progress", PROGRESS, default="") == IN_CALLS:
        conflicts.add((MESSAGES, ALL_OTHERS))
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


def _values_around_core(machine: Machine, socket: str | None, core: Place | None) -> dict[str, Expr]:
    """The number of cores, and the time of a line between the farthest that the machine says it joins."""
    found = {} if core is None else {"multiprocessors": core.count}
    joining = joining_cores(machine, socket)
    return found | ({TRANSFER_LATENCY: joining[-1].component.properties[TRANSFER_LATENCY].symbol} if joining else {})


def _launch(places: Sequence[Place]) -> Delay | None:
    """The launch on the first socket that states a `launch_latency`."""
    sockets = [place for place in places if place.component.type == "socket"]
    latencies = ((place, place.component.value("launch_latency")) for place in sockets)
    return next((Delay(place, latency) for place, latency in latencies if latency is not None), None)


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
