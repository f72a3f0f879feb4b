"""What requirements with a pattern of access take in the memory hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

from aspenpy.application import flow
from aspenpy.application.model import Application
from aspenpy.caches.access import Reader, read_access
from aspenpy.caches.level import Level, levels_of, used_by
from aspenpy.caches.traffic import Traffic, block_traffic
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.files import Reader as Files
from aspenpy.machine.model import Machine, Place
from aspenpy.mapping.cost import LevelCost, Offer
from aspenpy.record import Record
from aspenpy.source import Source

Numbers = tuple[float, ...]


class Hierarchy(Record):
    """The caches before a memory, and what patterns of access are read with."""

    levels: tuple[Level, ...]
    core: Place | None
    reader: Reader
    all_bytes: Expr

    def traffic(self, block: flow.Block, offers: Mapping[str, Offer]) -> dict[flow.Requirement, Traffic]:
        """The traffic of those requirements of a block that say how they touch their data. A trait that the machine
        gives a rule for is the machine's."""
        accesses = []
        for requirement in block.requirements:
            offer = offers.get(requirement.resource)
            known = frozenset(offer.resource.traits) if offer is not None else frozenset[str]()
            access = read_access(requirement, self.reader, known)
            if access is not None:
                accesses.append(access)
        if not accesses or not self.levels:
            return {}
        return block_traffic(accesses, used_by(self.levels, block.parallelism), self.all_bytes)


def hierarchy_of(
    machine: Machine, socket: str | None, application: Application, definitions: Mapping[Expr, Expr]
) -> Hierarchy:
    """The caches of a machine as an application's data meet them."""
    cores = (place for place in machine.first_places(socket) if place.component.type == "core")
    sizes = {name: data.size for name, data in application.data.items()}
    reader = Reader(sizes, definitions, histogram_reader(application))
    return Hierarchy(levels_of(machine, socket), next(cores, None), reader, graph.add(*sizes.values()))


def histogram_reader(application: Application) -> Callable[[str, flow.Trait], tuple[Numbers, Numbers, float]]:
    """Reads histograms beside the model: their distances in lines, the share of the accesses that has each, and that
    of first touches, which have none."""
    node = application.node
    model = node.span.source if node.span is not None else Source("")
    files = Files(allow_outside=application.reads_outside)

    def read(name: str, trait: flow.Trait) -> tuple[Numbers, Numbers, float]:
        from aspenpy.reuse.histogram import parse_histogram

        asking = trait.span.source if trait.span is not None else model
        found = parse_histogram(files.data(name, asking, model, trait.span))
        shares = (high - low for low, high in pairwise((0.0, *found.cumulative)))
        return found.distances, tuple(shares), found.cold

    return read


def level_costs(traffic: Iterable[Traffic], parallelism: Expr) -> tuple[LevelCost, ...]:
    """Seconds in which each cache is busy: the first with the words that the core asks for, each further one with the
    lines that the one before it fetches and writes back; none where the machine does not say its bandwidth."""
    moved: dict[str, list[Expr]] = {}
    levels: dict[str, Level] = {}
    for item in traffic:
        asked = graph.mul(item.access.accesses, item.access.word)
        for use in item.levels:
            moved.setdefault(use.level.name, []).append(asked)
            levels[use.level.name] = use.level
            asked = use.bytes
    return tuple(
        LevelCost(name, levels[name].place, _served(graph.add(*parts), levels[name], parallelism))
        for name, parts in moved.items()
        if levels[name].bandwidth is not None
    )


def _served(amount: Expr, level: Level, parallelism: Expr) -> Expr:
    assert level.bandwidth is not None
    return graph.mul(rounds(parallelism, level.place), graph.div(amount, level.bandwidth))


def rounds(parallelism: Expr, place: Place) -> Expr:
    """How many times the components at a place must be filled: ceil(P / Q)."""
    return graph.apply("ceil", graph.div(parallelism, place.count))


def waiting_for_memory(item: Traffic, memory: Place, core: Place | None) -> Expr | None:
    """Seconds that misses at unforeseeable places take: each waits for the memory's latency, and as many wait at once
    as the core has places for (Little's law). None where the machine does not say both."""
    latency = memory.component.properties.get("latency")
    outstanding = core.component.properties.get("outstanding") if core is not None else None
    if latency is None or latency.value is None or outstanding is None or outstanding.value is None:
        return None
    return graph.div(graph.mul(item.levels[-1].fetched, latency.symbol), outstanding.symbol)
