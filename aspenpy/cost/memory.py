"""Costs in the memory hierarchy of requirements with a pattern of access."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from aspenpy.cost.caches.level import AS_STATED, Level, Variation, levels_of, share_levels, translation_buffer
from aspenpy.cost.instances import Instances
from aspenpy.cost.occupancy import count_resident
from aspenpy.cost.prices import LevelCost, Offer, longest
from aspenpy.cost.sharing import bandwidth_of_all_cores, sharing
from aspenpy.cost.trait_names import CACHE_TRAITS, TRANSLATIONS
from aspenpy.cost.waiting import waits_for_data, walk_beyond_second_cache
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine, Place

if TYPE_CHECKING:
    from aspenpy.cost.accesses import Accesses
    from aspenpy.cost.caches.access import Access
    from aspenpy.cost.caches.traffic import LevelTraffic, LevelUse, RequirementTraffic


COHERENCE = "coherence"
"""What the time counts for, as `loads` does for that of a memory."""

LATENCY = "transfer_latency"
"""The property of what joins cores: seconds in which a line that one of them has written comes to another."""


def joining_cores(machine: Machine, socket: str | None) -> tuple[Place, ...]:
    """The places that join cores and say how long a line takes between them, the innermost first: shared caches, the
    socket, the node."""
    core = machine.first_core(socket)
    if core is None:
        return ()
    around = (place for place in machine.first_places(socket) if place.path[:-1] == core.path[: len(place.path) - 1])
    stated = [place for place in around if place.component.value(LATENCY) is not None and place.path != core.path]
    return tuple(sorted(stated, key=lambda place: (-len(place.path), place.component.type != "cache")))


def coherence_costs(
    traffic: Iterable[RequirementTraffic], instances: Instances, places: Sequence[Place], core: Place | None
) -> tuple[LevelCost, ...]:
    """Seconds of the stores to lines that all instances write.

    A store takes its line from the core that wrote it last (write-invalidate; Papamarcos and Patel, ISCA 1984). Of P
    cores that store alike each was it as likely: of those that the place k joins p(k), so that a store waits
    sum of (p(k) - p(k-1))/P t(k) with p(0) = 1, itself. Each core has one store under way at a time, and each line one
    owner, so that P cores get no more than L lines do (David, Guerraoui and Trigonakis, SOSP 2013).
    """
    shared = [item for item in traffic if item.access.shared and item.access.writes]
    if core is None or not places or not shared:
        return ()
    waiting, inside = graph.ZERO, graph.ONE
    for place in places:
        latency = place.component.value(LATENCY)
        assert latency is not None
        cores = graph.apply("min", instances.busy_at(place), graph.div(core.count, place.count))
        joined = graph.apply("max", inside, cores)
        waiting += (joined - inside) * latency
        inside = joined
    seconds = graph.add(*(_of_one(item, instances, waiting / inside, inside) for item in shared))
    return (LevelCost(COHERENCE, places[-1], graph.mul(instances.busy_at(core), seconds), graph.ZERO),)


def _of_one(item: RequirementTraffic, instances: Instances, wait: Expr, cores: Expr) -> Expr:
    """Seconds of one access on a core that waits `wait` for each store, beside the accesses of the other instances."""
    access, line = item.access, item.levels[0].level.line
    lines = access.footprint(line)
    crowd = graph.ONE if lines is None else graph.apply("max", 1, cores / lines)
    return graph.mul(instances.share(access.accesses), access.check, wait, crowd)


RANDOM_RATES = {"loads": "random_bandwidth", "stores": "random_store_bandwidth"}
"""Properties of a memory: bytes a second of sectors at random that it sends and takes."""

PAGE = graph.number(4096)
"""Bytes of a page where the machine does not say them."""


class Hierarchy:
    """The caches of a machine as an application's data meet them, when it begins with a kernel. What the room `caches`
    is for is imported when a requirement says how it touches its data. `variation` is how the caches differ from those
    that the machine states."""

    def __init__(
        self,
        machine: Machine,
        socket: str | None,
        application: Application,
        entry: flow.Kernel,
        *,
        definitions: Mapping[Expr, Expr],
        variation: Variation = AS_STATED,
        read: Accesses | None = None,
    ) -> None:
        self.machine = machine
        self.socket = socket
        self.application = application
        self.entry = entry
        self.definitions = definitions
        self.variation = variation
        self._read = read

    @cached_property
    def _accesses(self) -> Accesses:
        from aspenpy.cost.accesses import Accesses

        return self._read or Accesses(self.application, self.entry, self.definitions, self._core)

    @cached_property
    def _core(self) -> Place | None:
        return self.machine.first_core(self.socket)

    def with_variation(self, variation: Variation) -> Hierarchy:
        """The hierarchy with the same data in caches as they might be."""
        return Hierarchy(
            self.machine,
            self.socket,
            self.application,
            self.entry,
            definitions=self.definitions,
            variation=variation,
            read=self._accesses,
        )

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The caches between a core and its memory, the nearest first."""

        stated = levels_of(self.machine, self.socket)
        return stated if self.variation is AS_STATED else tuple(map(self.variation.of, stated))

    @cached_property
    def buffer(self) -> Level | None:
        """The core's translation buffer."""
        return translation_buffer(self._core)

    @cached_property
    def joining(self) -> tuple[Place, ...]:
        """The places that join cores and say how long a line takes from one to another."""
        return joining_cores(self.machine, self.socket)

    def traffic(
        self,
        block: flow.Block,
        instances_of: Callable[[flow.Block], Instances],
        serving: Callable[[flow.Requirement], Offer | None],
    ) -> dict[flow.Requirement, RequirementTraffic]:
        """The traffic of those requirements of a block that say how they touch their data."""
        patterns = any(trait.name in CACHE_TRAITS for requirement in block.requirements for trait in requirement.traits)
        if not patterns and not any(map(waits_for_data, block.requirements)):
            return {}

        instances, core = instances_of(block), self._core
        waits = any(map(waits_for_data, block.requirements))
        levels = tuple(level.of_chains for level in self.levels) if waits else self.levels
        buffer = None if self.buffer is None else share_levels([self.buffer], instances, core)[0]
        page = page_of(core)
        found: dict[flow.Requirement, RequirementTraffic] = self._accesses.traffic(
            block,
            serving,
            share_levels(levels, instances, core, count_resident(block.requirements, core)),
            page,
            buffer,
            instances_of,
        )
        return found


def level_costs(
    traffic: Collection[RequirementTraffic], instances: Instances, core: Place | None
) -> tuple[LevelCost, ...]:
    """Seconds in which each cache is busy with what it serves; none where the machine does not say its bandwidth. What
    waits for the sets of the cache before it waits beside that."""
    moved: dict[str, list[LevelTraffic]] = {}
    waits: dict[str, list[Expr]] = {}
    for item in traffic:
        for served in item.served:
            moved.setdefault(served.level.name, []).append(served)
        for use, sender in zip(item.levels, item.served[1:], strict=False):
            waits.setdefault(sender.level.name, []).append(_waiting_for_sets(use, item.access))
    waiting = {
        name: _count_busy_cores(core, instances) * instances.share(graph.add(*parts)) for name, parts in waits.items()
    }
    return tuple(
        _level_cost(parts[0].level, parts, instances, core, waiting.get(name, graph.ZERO))
        for name, parts in moved.items()
        if parts[0].level.bandwidth is not None
    )


def _waiting_for_sets(use: LevelUse, access: Access) -> Expr:
    """Seconds in which lines wait for the few sets of a cache that a walk takes in turn, each of which takes a line
    every `set_latency` (docs/nodes.md)."""
    latency = use.level.set_latency(access.writes)
    met = graph.ZERO if latency is None or access.nest is None else access.nest.sets_in_turn(use.level)
    if latency is None or met is graph.ZERO:
        return graph.ZERO
    return graph.if_else(graph.compare(">", met, 0), use.fetched * latency / met, 0)


def _count_busy_cores(core: Place | None, instances: Instances) -> Expr:
    return graph.ONE if core is None else instances.busy_at(core)


def _level_cost(
    level: Level, parts: list[LevelTraffic], instances: Instances, core: Place | None, waiting: Expr
) -> LevelCost:
    """A cache that states a rate of stores takes them while it sends what is loaded; another does one at a time, and
    takes no more than its store port does."""
    sent, taken = graph.add(*(part.sent for part in parts)), graph.add(*(part.taken for part in parts))
    ways = [("loads", sent), ("stores", taken)] if level.two_ways else [("loads", graph.add(sent, taken))]
    alone, contention = [], []
    for resource, amount in ways:
        rate = bandwidth_of_all_cores(level.place.component, resource)
        assert rate is not None
        shared = sharing(instances, level.place, core, level.line, resource)
        own, others = shared.seconds(graph.div(instances.share(amount), rate))
        alone.append(own)
        contention += [others] if others is not graph.ZERO else []
    port = level.place.component.value("store_port_bandwidth")
    if port is not None and taken is not graph.ZERO:
        alone.append(graph.mul(instances.busy_at(level.place), graph.div(instances.share(taken), port)))
    return LevelCost(level.name, level.place, longest(alone), graph.add(longest(contention), waiting))


def translation_costs(
    traffic: Collection[RequirementTraffic], instances: Instances, buffer: Level | None, memory: Place | None
) -> tuple[LevelCost, ...]:
    """Seconds in which a core looks up pages that its translation buffer does not know."""
    if buffer is None or buffer.latency is None or all(item.walks is graph.ZERO for item in traffic):
        return ()
    page = page_of(buffer.place)
    seconds = graph.add(
        *(
            item.walks * (buffer.latency + walk_beyond_second_cache(item, buffer.place, memory, page))
            for item in traffic
        )
    )
    waiting = graph.mul(instances.busy_at(buffer.place), instances.share(seconds))
    return (LevelCost(TRANSLATIONS, buffer.place, waiting, graph.ZERO),)


def page_of(core: Place | None) -> Expr:
    """Bytes of a page of the core, beyond which no prefetcher goes on: 4 KiB where it does not say."""
    stated = None if core is None else core.component.value("page")
    return PAGE if stated is None else stated


def occupied_bytes(moved: Expr, resource: str, item: RequirementTraffic, memory: Place) -> Expr:
    """Bytes of a stream that take a memory as long as the bytes that accesses `moved`. An entry of a table at random
    opens a row, and rows open at a rate of their own (JEDEC JESD235, tRRD and tFAW), which a memory states as that of
    entries of one sector."""
    rate = RANDOM_RATES[resource]
    random, streamed = memory.component.value(rate), bandwidth_of_all_cores(memory.component, resource)
    if not item.access.is_scattered or random is None or streamed is None:
        return moved
    return moved * graph.apply("max", 1, streamed / (random * item.access.lines_of_entry))


def waiting_for_memory(
    item: RequirementTraffic, memory: Place, core: Place | None, instances: Instances
) -> Expr | None:
    """Seconds that misses take that nothing fetches ahead: each waits for the memory's latency, as many at once as a
    core has places for (Little's law) or as a short run has lines, on each core that runs. None where all are fetched
    ahead, and where the machine does not say both."""
    latency = memory.component.value("latency")
    outstanding = core.component.value("outstanding") if core is not None else None
    page, last = page_of(core), item.levels[-1]
    unforeseen, run = item.access.lines_not_prefetched(page), item.access.short_run(page, last.level.line)
    if core is None or latency is None or outstanding is None or unforeseen is run:
        return None
    each = graph.div(unforeseen, outstanding)
    if run is not graph.ZERO:
        each += graph.if_else(graph.compare(">", run, 0), 1 / graph.apply("max", 1, run), 0)
    waiting = last.fetched / last.level.brought * latency * each  # lines that come together are one wait
    return instances.busy_at(core) * instances.share(waiting)
