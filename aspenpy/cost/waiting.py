"""Waiting: what a load takes that others wait for, by where its data lie.

    loads [n] of size [8] from list as random, warm
    chain [n] from list as load                   // each address comes with the load before
    branches [n] from list as mispredicted(0.5)   // each condition is loaded

A load takes the latency of the level that holds its line, by the shares of its accesses that the cache model finds
there: the average memory access time (Hennessy and Patterson, Computer Architecture, 6th edition, appendix B.1). A
branch that was guessed wrongly is known to be wrong when the load of its condition is back, and nothing behind it
counts until then (interval analysis: Karkhanis and Smith, ISCA 2004; Eyerman et al., TOCS 27(2), 2009, section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from aspenpy.cost.caches.level import CHAIN_CAPACITY
from aspenpy.cost.prices import BRANCHES
from aspenpy.cost.trait_names import CACHE_TRAITS, PATTERN_NAMES
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.models.application import flow
from aspenpy.models.machine.model import BASE, Component, Place, Resource
from aspenpy.record import Record

if TYPE_CHECKING:
    from aspenpy.cost.caches.access import Access
    from aspenpy.cost.caches.traffic import LevelUse, RequirementTraffic

CHAIN, LOADS = "chain", "loads"

LOAD, MISPREDICTED, SIDE_BY_SIDE, BEHIND = "load", "mispredicted", "chains", "behind"
"""Traits: of a chain of loads, of branches guessed wrongly at a rate, of so many chains that are independent, and of
branches whose condition is known at the end of a chain."""

RESTARTS = "restarts"
"""The trait of chains that begin anew after so many operations: a machine has the rule of how far they overlap."""

WORD = graph.number(8)
"""Bytes that a load of a chain takes, where the block has no loads of its own from the data."""

ASSUMED = ("second_latency", "third_latency", "third_latency", "memory_latency")
"""Properties of rules for cores: latencies of the levels behind the first, where these state none."""

ENTRY = graph.number(8)
"""Bytes of an entry of a page table."""

LEAST = graph.number(1)
"""Accesses of which shares are taken, where there may be none."""


def waits_for_data(requirement: flow.Requirement) -> bool:
    """Whether it is a chain of loads, or branches, that names the data which it waits for."""
    if requirement.target is None:
        return False
    names = {trait.name for trait in requirement.traits}
    return requirement.resource == BRANCHES or (requirement.resource == CHAIN and LOAD in names)


def loads_waited_for(requirements: Iterable[flow.Requirement]) -> dict[flow.Requirement, flow.Requirement]:
    """The loads that chains and branches of a block wait for: those that the block has from the same data, else one
    load for each link of the chain, at random where it says no pattern."""
    requirements = tuple(requirements)
    loads: dict[str | None, flow.Requirement] = {}
    for requirement in requirements:
        if requirement.resource == LOADS and any(trait.name in PATTERN_NAMES for trait in requirement.traits):
            loads.setdefault(requirement.target, requirement)
    waiting = [requirement for requirement in requirements if waits_for_data(requirement)]
    return {each: loads.setdefault(each.target, _loads_of(each)) for each in waiting}


def _loads_of(requirement: flow.Requirement) -> flow.Requirement:
    """The loads of a chain, or of the conditions of branches, as a requirement of its own."""
    kept = [trait for trait in requirement.traits if trait.name in CACHE_TRAITS]
    if not any(trait.name in PATTERN_NAMES for trait in kept):
        kept.append(flow.Trait("random", (), requirement.target_span))
    amount = requirement.quantity * WORD
    return requirement.replace(resource=LOADS, size=WORD, amount=amount, direction="from", traits=tuple(kept))


class Wait(Record):
    """A load that something waits for. `near`: share of such loads that the first cache serves; `far`: seconds that the
    others add to the average load; `assumed`: whether a latency among them is that of a rule."""

    near: Expr
    far: Expr
    assumed: bool = False

    def beyond_window(self) -> Wait:
        """The wait beside cycles of compiled code, in which each load takes the latency of the first cache."""
        return self.replace(near=graph.sub(self.near, 1))

    def lengthen(self, trait: flow.Trait, near: Expr, amount: Expr, core: Component) -> Expr:
        """The time of an `amount` of links or branches; `near` is that where the first cache serves all loads. A branch
        that was guessed right does not wait."""
        if trait.name == LOAD:
            return graph.add(graph.mul(self.near, near), graph.mul(amount, self.far))
        latency, clock = core.value("load_latency"), core.value("clock")
        first = graph.ZERO if latency is None or clock is None else graph.div(latency, clock)
        wrong = graph.mul(read_number(trait), amount)
        return graph.add(near, graph.mul(wrong, graph.add(graph.mul(self.near, first), self.far)))


def read_number(trait: flow.Trait) -> Expr:
    """The number of a trait; 1 without one, and where it is none the rule of the machine refuses it."""
    first = trait.arguments[0] if trait.arguments else graph.ONE
    return first if isinstance(first, Expr) else graph.ONE


def independent_chains(requirement: flow.Requirement) -> Expr:
    """Number of a requirement's chains that run side by side."""
    stated = (read_number(trait) for trait in requirement.traits if trait.name == SIDE_BY_SIDE)
    return graph.apply("max", 1, next(stated, graph.ONE))


def count_under_way(requirement: flow.Requirement, resource: Resource) -> Expr:
    """Number of a requirement's chains that are under way at once: those side by side and, by the rule of the core that
    serves them, those that begin before others are done."""
    chains, rule = independent_chains(requirement), resource.traits.get(RESTARTS)
    trait = next((trait for trait in requirement.traits if trait.name == RESTARTS and trait.arguments), None)
    if trait is None or rule is None or rule.argument is None:
        return chains
    return graph.div(chains, graph.substitute([rule.time], {BASE: graph.ONE, rule.argument: read_number(trait)})[0])


def wait_for_load(
    traffic: RequirementTraffic | None, memory: Place | None, core: Place, page: Expr, chains: Expr
) -> Wait:
    """Time that one load waits for its data, on average over the loads of a requirement.

    In each core `chains` of loads are under way, of which as many miss at once as it has misses `outstanding`.
    Pages have `page` bytes; walks to their tables come on top. A line that a prefetcher fetches ahead is in the first
    cache. Without `traffic`, on a machine that has no caches, all loads wait for memory.
    """
    latencies, by_rule = latencies_beyond_first_cache(traffic, memory, core)
    turns = graph.apply("max", 1, graph.div(chains, core.component.value("outstanding") or chains))
    if traffic is None:
        return Wait(graph.ZERO, graph.mul(latencies[0], turns), by_rule)
    accesses = graph.apply("max", traffic.access.accesses, LEAST)
    unforeseen = graph.div(traffic.access.lines_not_prefetched(page), accesses)
    missed = list[Expr]()
    for use in traffic.levels:
        share = graph.mul(use.misses, unforeseen)
        missed.append(_share_missed_slowly(use, share, traffic.access, missed[-1]) if missed else share)
    served = [*(graph.sub(*pair) for pair in pairwise(missed)), missed[-1]]
    far = graph.add(*(graph.mul(share, latency) for share, latency in zip(served, latencies, strict=True)))
    walks = _seconds_of_walks(traffic, core, memory, page, graph.div(accesses, traffic.access.lines_of_entry))
    # The latency of a walk is that with all walkers at work, so that fewer chains than walkers wait as long.
    walking = graph.mul(walks, graph.apply("max", core.component.value("tlb_walks") or graph.ONE, chains))
    return Wait(graph.sub(1, missed[0]), graph.add(graph.mul(far, turns), walking), by_rule)


def _share_missed_slowly(use: LevelUse, missed: Expr, access: Access, reached: Expr) -> Expr:
    """The share of loads that a level misses, of those that have `reached` it, where others use it meanwhile: of a
    footprint S beyond what it has of the `chain_capacity` c, less than c/S is found, since misses make the walk slower
    and let others replace more. With S (1 - exp(-x)) + x (what others bring while the walk goes once around) = C, the
    time x of Che, Tung and Wang (JSAC 2002) in walks, it is (c/S)^2 within 0.15 up to S = 4 c.
    """
    lines = access.footprint(use.level.line)
    if use.level.place.component.value(CHAIN_CAPACITY) is None or lines is None:
        return missed
    held = graph.div(use.level.capacity, graph.mul(lines, use.level.line))
    return graph.apply("max", missed, graph.apply("min", reached, graph.sub(1, held**2)))


def latencies_beyond_first_cache(
    traffic: RequirementTraffic | None, memory: Place | None, core: Place
) -> tuple[list[Expr], bool]:
    """Latencies (s) of the levels behind the first cache, outwards, and whether a rule for cores stands in for one that
    the machine does not state."""
    outer = () if traffic is None else traffic.levels[1:]
    parts = [*(use.level.place.component for use in outer), core.component if memory is None else memory.component]
    stated = [None if part is core.component else part.value("latency") for part in parts]
    rules = [core.component.value(name) for name in (*ASSUMED[: len(outer)], ASSUMED[-1])]
    latencies = [
        latency or rule or _refuse_latency(part) for latency, rule, part in zip(stated, rules, parts, strict=True)
    ]
    return latencies, None in stated


def _seconds_of_walks(
    traffic: RequirementTraffic, core: Place, memory: Place | None, page: Expr, accesses: Expr
) -> Expr:
    """Seconds of page walks in each of some accesses, one walk after the other; 0 on a core that states none."""
    walk = core.component.value("tlb_latency")
    if walk is None:
        return graph.ZERO
    walk = graph.add(walk, walk_beyond_second_cache(traffic, core, memory, page))
    return graph.div(graph.mul(traffic.walks, walk), accesses)


def mean_wait(waits: Sequence[tuple[RequirementTraffic | None, Wait]]) -> Wait:
    """The mean wait of loads of several patterns, by their accesses."""
    (_, first), *others = waits
    if not others:
        return first
    weights = [graph.ZERO if traffic is None else traffic.access.accesses for traffic, _ in waits]
    total = graph.apply("max", graph.add(*weights), LEAST)
    near, far = (
        graph.div(graph.add(*(graph.mul(weight, part) for weight, part in zip(weights, parts, strict=True))), total)
        for parts in zip(*((wait.near, wait.far) for _, wait in waits), strict=True)
    )
    return Wait(near, far, any(wait.assumed for _, wait in waits))


def walk_beyond_second_cache(traffic: RequirementTraffic, core: Place, memory: Place | None, page: Expr) -> Expr:
    """Seconds that a walk to a page of a table at random takes longer where caches do not hold its entry, on a core
    that states `tlb_walks`, whose `tlb_latency` is that of entries in the second cache."""
    table, walkers = traffic.access.table, core.component.value("tlb_walks")
    outer = traffic.levels[1:]
    if table is None or walkers is None or not outer or memory is None:
        return graph.ZERO
    parts = [*(use.level.place.component for use in outer), memory.component]
    latencies = [part.value("latency") for part in parts]
    entries = graph.div(graph.mul(ENTRY, table), page)
    waits = [
        graph.mul(_share_of_entries_missed(graph.div(use.level.capacity, entries)), graph.sub(far, near))
        for use, near, far in zip(outer, latencies, latencies[1:], strict=False)
        if near is not None and far is not None
    ]
    return graph.div(graph.add(*waits), walkers)


def _share_of_entries_missed(room: Expr) -> Expr:
    """Share of the entries of a page table that a cache lacks whose size is `room` times all entries, where each comes
    with a line of the table itself. With one characteristic time t for both, in units of the lines with entries (Che,
    Tung and Wang, JSAC 2002), t + 1 - exp(-t) = room, by two of Newton's steps from below, and exp(-t) is missed.
    """
    time = graph.apply("max", graph.div(room, 2), graph.sub(room, 1))
    for _ in range(2):
        kept = graph.apply("exp", graph.neg(time))
        time = graph.add(time, graph.div(graph.sub(graph.add(room, kept), graph.add(time, 1)), graph.add(1, kept)))
    return graph.apply("exp", graph.neg(time))


def _refuse_latency(component: Component) -> Expr:
    message = f"{component.type} `{component.name}` states no `latency`, for which loads wait here"
    hint = "give it in seconds, as in `property latency [14/clock]` or `property latency [90 ns]`"
    return graph.failure(Diagnostic("no-latency", message, component.name_span, hint=hint))
