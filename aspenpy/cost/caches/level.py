"""Level: one cache on the way from a core to its memory."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil

from aspenpy.cost.caches.policies import POLICIES
from aspenpy.cost.instances import Instances
from aspenpy.cost.sharing import STORE_RATES, bandwidth_of_all_cores
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, fail, suggest_nearest
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Component, Machine, Place, word_of_property
from aspenpy.record import Record


class Inclusion(Record):
    """The contents of a level beside the level before it. One that `adds` takes each line that the level before gives
    up, clean ones too, and holds none of its lines; and who described it."""

    adds: bool
    citation: str


INCLUSIONS = {
    "inclusive": Inclusion(False, "Baer and Wang, ISCA 1988"),
    "exclusive": Inclusion(True, "Jouppi and Wilton, ISCA 1994"),
    "victim": Inclusion(True, "Jouppi, ISCA 1990"),
}
"""By the word that a machine says; the first is that of a cache that says none."""

WRITES = ("allocate", "no_allocate", "streaming")

SET_LATENCIES = ("set_latency", "set_store_latency")
"""Seconds between two lines that go into the same set, to be read and to be written."""

FEWEST_WAYS = graph.number(2)
"""Ways of an instance below which it has a part of the sets instead."""


CHAIN_CAPACITY = "chain_capacity"
"""The property of a cache: bytes of it that loads find which wait for each other."""


class Level(Record):
    """A cache as one instance of a block sees it.

    `capacity` and `line` in bytes, `ways` a set, `bandwidth` in bytes/s and `latency` in seconds where the machine says
    them. A shared cache is divided by the instances that use it at once (`shares`): each has all of its sets and a part
    of the ways, or, where that would be less than `FEWEST_WAYS`, a part of the sets with all ways, since the lines of
    many instances fill sets evenly. `added` are the lines of an instance in the level before, where both hold different
    ones. A miss fetches `prefetch` lines that lie together (2: the line and its neighbour), if accesses go on by less
    than `reach` bytes each time (without it, by less than a page); `brought` is how many on average. Of a line a miss
    fetches one `sector`, where the machine says its bytes. An `evasion` is the share of lines stored in full that are
    not fetched. Groups of `readers` instances load the same data, of which it holds one copy. Arrays begin on pages one
    behind the other, at equal places of the cache where nothing says how many lie before, or, `apart`, where those that
    move in step never meet. The sets are those of the capacity and the ways that are `stated`, where those of the level
    are others.
    """

    place: Place
    capacity: Expr
    line: Expr
    ways: Expr
    policy: str
    inclusion: str
    writes: str
    bandwidth: Expr | None
    latency: Expr | None
    prefetch: Expr = graph.ONE
    reach: Expr | None = None
    brought: Expr = graph.ONE
    sector: Expr | None = None
    evasion: Expr = graph.ZERO
    shares: Expr = graph.ONE
    added: Expr = graph.ZERO
    apart: bool = False
    readers: Expr = graph.ONE
    stated: tuple[Expr, Expr] | None = None

    @property
    def name(self) -> str:
        return self.place.component.name

    @property
    def adds(self) -> bool:
        """Whether it holds what the level before it does not: what that gives up."""
        return INCLUSIONS[self.inclusion].adds

    @property
    def two_ways(self) -> bool:
        """Whether it takes stores while it sends what is loaded: it states a rate of its own for them."""
        return any(self.place.component.value(name) is not None for name in STORE_RATES)

    def set_latency(self, writes: bool) -> Expr | None:
        """Seconds between two lines that go into the same set; None where the machine does not say them."""
        loaded, stored = map(self.place.component.value, SET_LATENCIES)
        return stored if writes and stored is not None else loaded

    @property
    def of_chains(self) -> Level:
        """The level as a block finds it whose loads wait for each other: while others use it, too, a line that comes
        again late has been replaced, so that a machine may say that less of it is found (`chain_capacity`)."""
        slow = self.place.component.value(CHAIN_CAPACITY)
        if slow is None:
            return self
        ways = graph.apply("max", 1, graph.apply("floor", self.ways * graph.apply("min", 1, slow / self.capacity)))
        stated = self.stated or (self.capacity, self.ways)
        return self.replace(capacity=self.capacity * ways / self.ways, ways=ways, stated=stated)

    @property
    def of_readers(self) -> Level:
        """The level where all instances that share it load the same data: it holds them as for one."""
        if self.shares is graph.ONE:
            return self
        return self.replace(shares=graph.ONE, readers=self.shares)

    @property
    def of_all(self) -> Level:
        """The level as all instances that share it see it, who go through their data together."""
        return self.replace(shares=graph.ONE, added=self.added * self.shares)

    @property
    def _all_sets(self) -> Expr:
        """The sets of all instances."""
        capacity, ways = self._stated
        return _sets_of_all(capacity, self.line, ways)

    @property
    def _stated(self) -> tuple[Expr, Expr]:
        """The capacity and the ways that give the number of sets."""
        return self.stated or (self.capacity, self.ways)

    @property
    def sets(self) -> Expr:
        """The sets of one instance."""
        return _share_sets(self._all_sets, self.ways, self.shares)

    @property
    def whole_sets(self) -> Expr:
        """The number of sets of an instance; evaluating it fails, at the `associativity`, where it is no whole
        number."""
        known = self.place.component.properties.get("associativity")
        span = None if known is None else known.span
        capacity, ways = self._stated
        sets = _require_whole_sets(self.name, span, capacity, self.line, ways)
        return _share_sets(sets, self.ways, self.shares)

    @property
    def room(self) -> Expr:
        """Lines of an instance that find room in each set."""
        ways = self.ways
        if self.shares is not graph.ONE:
            ways = graph.if_else(_divides_ways(ways, self.shares), ways / self.shares, ways)
        return ways + self.added / self.sets

    @property
    def lines(self) -> Expr:
        """Lines that an instance finds room for."""
        return self.capacity / (self.line * self.shares) + self.added

    def fetching_by(self, stride: Expr | None, page: Expr) -> Level:
        """The level as accesses with a stride of `stride` bytes see it: beyond its reach a miss fetches its own line
        alone. No prefetcher goes across a page, and it learns anew in each (Intel's optimization manual 2.5.5.4): of
        p/s accesses that are s bytes apart in a page of p, as many as p/r bring nothing else, 1 - s/r do."""
        if self.prefetch is graph.ONE or stride is None:
            return self.replace(brought=self.prefetch)
        reach = page if self.reach is None else self.reach
        prefetch = graph.if_else(graph.compare("<", stride, reach), self.prefetch, graph.ONE)
        used = graph.compare("<=", stride, self.line * self.prefetch)  # the neighbours are asked for, too
        learnt = graph.if_else(used, 1, 1 - graph.div(stride, reach))
        return self.replace(prefetch=prefetch, brought=1 + (prefetch - 1) * learnt)

    @property
    def by_misses(self) -> Level:
        """The level in units of what a miss fetches."""
        if self.prefetch is graph.ONE:
            return self
        if self.sector is not None:
            return self.replace(sector=self.sector * self.prefetch)
        return self.replace(line=self.line * self.prefetch)

    @property
    def of_sectors(self) -> Level:
        """The level as if each sector were a line of its own."""
        if self.sector is None:
            return self
        return self.replace(line=self.sector, added=self.added * self.line / self.sector, sector=None)

    @property
    def unit(self) -> Expr:
        """Bytes of what is counted as fetched and as written back: a sector, or a line."""
        return self.line if self.sector is None else self.sector

    def with_store_evasion(self, instances: Instances, cores: Expr) -> Level:
        """The level with the share of store misses that evade the fetch while `instances` run. The share grows evenly
        from the stated number of cores to the stated value, when every core that shares the cache is busy."""
        first = self.place.component.value("store_evasion_cores")
        if first is None or self.evasion is graph.ZERO:
            return self
        grown = (instances.busy_at(self.place) - first) / graph.apply("max", 1, cores - first)
        return self.replace(evasion=self.evasion * graph.apply("max", 0, graph.apply("min", 1, grown)))

    def holds(self, distance: Expr) -> Expr:
        """The chance that a line is still cached after each instance that shares the cache has touched `distance` other
        lines: SDCM."""
        ways = self.ways
        if self.added is not graph.ZERO:
            more = self.added * self.shares / self._all_sets
            ways += graph.apply("floor", more)
        return graph.apply("lru_hits", distance * self.shares, ways, ways * self._all_sets)


@lru_cache(maxsize=256)
def _sets_of_all(capacity: Expr, line: Expr, ways: Expr) -> Expr:
    """The sets of all instances that share a cache: each formula of a block asks for them."""
    return capacity / (line * ways)


@lru_cache(maxsize=256)
def _require_whole_sets(name: str, span: Span | None, capacity: Expr, line: Expr, ways: Expr) -> Expr:
    """The sets of a cache, which fail where they are no whole number: each window of a block asks for them."""
    message = f"the cache `{name}` has no whole number of sets"
    hint = "its capacity has to be a multiple of the line times the `associativity`"
    sets = capacity / (line * ways)
    fits = graph.compare("==", graph.apply("floor", sets), sets)
    return graph.if_else(fits, sets, _refusal(message, span, hint))


@lru_cache(maxsize=256)
def _share_sets(sets: Expr, ways: Expr, shares: Expr) -> Expr:
    if shares is graph.ONE:
        return sets
    part = graph.apply("max", 1, graph.apply("floor", sets / shares))
    return graph.if_else(_divides_ways(ways, shares), sets, part)


def _divides_ways(ways: Expr, shares: Expr) -> Expr:
    return graph.compare(">=", ways, FEWEST_WAYS * shares)


class Variation(Record):
    """The caches of a machine as they might be: larger by a part of their ways, rounded up, in as many sets, and with
    arrays that begin where they lie, or `apart`. One way stays at least."""

    part: Fraction = Fraction(0)
    apart: bool = False

    def of(self, level: Level) -> Level:
        step = graph.apply("ceil", graph.mul(level.ways, graph.number(abs(self.part))))
        ways = level.ways + step if self.part > 0 else graph.apply("max", 1, level.ways - step)
        stated = (level.capacity, level.ways)
        return level.replace(capacity=level.capacity * ways / level.ways, ways=ways, apart=self.apart, stated=stated)

    def share(self, ways: float) -> float:
        """The share of the sets whose ways are rounded up, where the part of `ways` ways is no whole number."""
        part = abs(float(self.part)) * ways
        return part / ceil(part) if part else 1.0


AS_STATED = Variation()
"""The caches as the machine states them."""


def share_levels(
    levels: Sequence[Level], instances: Instances, core: Place | None, resident: Expr | None = None
) -> list[Level]:
    """The levels while `instances` run: instances that share a cache have a part of it each, of blocks of threads those
    that are `resident` on a core at once. A level that does not hold what the one before it holds adds to that
    (`exclusive`, and a `victim` cache, which takes what goes there)."""
    used: list[Level] = []
    for level in levels:
        together = instances.instances_at(level.place)
        adds = bool(used) and level.adds
        added = used[-1].lines * used[-1].line / level.line if adds else graph.ZERO
        if adds and (several := instances.parts_at(used[-1].place)) is not graph.ONE:
            added = added * several / instances.parts_at(level.place)
        cores = graph.ONE if core is None else graph.div(core.count, level.place.count)
        at_once = graph.apply("max", 1, together)
        if instances.mean_turns(core, resident) is not graph.ONE:
            most = cores if resident is None else graph.mul(resident, cores)
            at_once = graph.apply("max", 1, graph.apply("min", together, most))
        used.append(level.with_store_evasion(instances, cores).replace(shares=at_once, added=added))
    return used


def levels_of(machine: Machine, socket: str | None) -> tuple[Level, ...]:
    """The caches between a core and its memory, the nearest first: those of the core in the order written, then those
    further up the tree. With several kinds of cores the first counts, depth first."""
    first = machine.first_core(socket)
    core = () if first is None else first.path
    caches = (place for place in machine.first_places(socket) if place.component.type == "cache")
    caches = (place for place in caches if not core or core[: len(place.path) - 1] == place.path[:-1])
    return tuple(_level(place) for place in sorted(caches, key=lambda place: -len(place.path)))


def translation_buffer(core: Place | None) -> Level | None:
    """A core's buffer of address translations as a cache of pages; its `latency` is what a miss takes. None where the
    core does not say all of it. Without `tlb_ways` any page may lie in any place."""
    if core is None:
        return None
    page, entries, latency = map(core.component.value, ("page", "tlb_entries", "tlb_latency"))
    if page is None or entries is None or latency is None:
        return None
    ways = core.component.value("tlb_ways") or entries
    return Level(core, page * entries, page, ways, "lru", "inclusive", "allocate", bandwidth=None, latency=latency)


def _level(place: Place) -> Level:
    component = place.component
    return Level(
        place,
        _require_property(component, "capacity", "bytes, as in `property capacity [32 KiB]`"),
        line=_require_property(component, "cacheline", "bytes, as in `property cacheline [64 B]`"),
        ways=_require_property(component, "associativity", "ways a set, as in `property associativity [8]`"),
        policy=_word(component, "policy", tuple(POLICIES)),
        inclusion=_word(component, "inclusion", tuple(INCLUSIONS)),
        writes=_word(component, "writes", WRITES),
        bandwidth=bandwidth_of_all_cores(component, "loads"),
        latency=component.value("latency"),
        prefetch=component.value("prefetch") or graph.ONE,
        reach=component.value("prefetch_reach"),
        sector=component.value("sector"),
        evasion=component.value("store_evasion") or graph.ZERO,
    )


def _require_property(component: Component, name: str, example: str) -> Expr:
    """The value of a property that the model needs. Where it is missing or not above 0, a node that fails with the
    diagnostic once it is evaluated."""
    value = component.value(name)
    if value is not None:
        wrong = f"the `{name}` of the cache `{component.name}` is not above 0"
        refused = _refusal(wrong, component.properties[name].span)
        return graph.if_else(graph.compare(">", value, 0), value, refused)
    message = f"the cache `{component.name}` has no `{name}`, which its hits depend on"
    return _refusal(message, component.name_span, f"give it in {example}")


@lru_cache(maxsize=256)
def _refusal(message: str, span: Span | None, hint: str | None = None) -> Expr:
    """The node of a cache that lacks something: the same each time, so that what follows from it is worked out once."""
    return graph.failure(Diagnostic("incomplete-cache", message, span, hint=hint))


def _word(component: Component, name: str, words: tuple[str, ...]) -> str:
    """A property that is one of a few words; the first where it is absent."""
    written = word_of_property(component, name)
    if written is None:
        return words[0]
    if written not in words:
        listed = ", ".join(f"`{known}`" for known in words)
        hint = suggest_nearest(written, words) or f"it is one of {listed}"
        message, span = f"a cache has no `{name}` called `{written}`", component.properties[name].span
        fail("unknown-cache-property", message, span, hint=hint)
    return written
