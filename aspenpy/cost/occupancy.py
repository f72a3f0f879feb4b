"""Occupancy: how many blocks of threads reside on a multiprocessor at once, and how long their warps wait for data.

    loads [256] of size [8] from a as nest(8, 256)
    chain [1] as load, occupancy(256, 6144, 32)   // a round trip; threads, bytes of scratchpad, registers of a thread

Each instance is a block of threads. Its warps wait side by side for as many round trips as the chain has links, each
of which takes the latency of the farthest level that the block's loads come from; then the next block begins, after a
`block_latency`, which kernels that only store take, too (RRZE, gpu-benches, gpu-stream). A multiprocessor has R blocks
at once, so that P of them on Q multiprocessors take ceil(P/(Q R)) waves: together with what the block moves that is
Little's law, bytes in flight over the latency (Volkov, "Better Performance at Lower Occupancy", GTC 2010; and
"Understanding Latency Hiding on GPUs", UCB/EECS-2016-143, chapter 4). Where memory is busy as well, both add as any
core's own time and its contention do (`cost.sharing`). Processor cores, which prefetch, leave such a chain out.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from aspenpy.cost.operations import SIMT
from aspenpy.cost.waiting import CHAIN, LEAST, LOAD, LOADS, Wait, latencies_beyond_first_cache, read_number
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Component, Place
from aspenpy.record import Record

if TYPE_CHECKING:
    from aspenpy.cost.caches.traffic import RequirementTraffic

OCCUPANCY = "occupancy"
"""The trait of a chain: threads of a block, bytes of its scratchpad, registers of each thread."""

ISSUES, BARRIER, TOGETHER = "issues", "barrier", "together"
"""The resource of instructions of warps, and traits of a chain: of barriers of a block, and of so many of its warps
that ask for each sector."""

REGISTERS_TOGETHER, WARPS_TOGETHER = 8, 4
"""Registers of a thread come in eights, on AMD's vector registers too, and warps go to four schedulers alike (NVIDIA,
occupancy calculator: 256 registers a warp of 32, four warps; AMD, CDNA 3 instruction set, section 3.6.4)."""


class ThreadBlock(Record):
    """A block of threads: how many, bytes of the scratchpad that it has, and registers of each thread."""

    threads: Expr
    scratchpad: Expr
    registers: Expr

    def warps(self, core: Component) -> Expr:
        return graph.apply("ceil", graph.div(self.threads, _limit(core, "warp")))

    def count_resident(self, core: Component) -> Expr:
        """Blocks that a multiprocessor has at once: as many as its threads, its scratchpad and its registers have room
        for (NVIDIA, CUDA C++ Programming Guide, "Hardware Multithreading"; the occupancy calculator's units)."""
        rooms = (_limit(core, "resident_blocks"), *(room for _, room in self.list_rooms(core)))
        resident = graph.apply("min", *rooms)
        message = (
            f"a block does not fit on a `{core.name}`: it asks for more threads, scratchpad or registers than there are"
        )
        refused = graph.failure(Diagnostic("no-room", message, core.name_span))
        return graph.if_else(graph.compare(">=", resident, 1), resident, refused)

    def list_rooms(self, core: Component) -> list[tuple[str, Expr]]:
        """Number of blocks that fit each limit of a multiprocessor, but the limit of blocks itself."""
        warp, unit = _limit(core, "warp"), _limit(core, "scratchpad_unit")
        warps = self.warps(core)
        asked = graph.add(self.scratchpad, _limit(core, "scratchpad_reserved"))
        asked = graph.apply("max", LEAST, graph.mul(graph.apply("ceil", graph.div(asked, unit)), unit))
        of_thread = graph.mul(graph.apply("ceil", graph.div(self.registers, REGISTERS_TOGETHER)), REGISTERS_TOGETHER)
        of_warp = graph.apply("max", LEAST, graph.mul(of_thread, warp))
        fitting = graph.apply("floor", graph.div(_limit(core, "registers"), graph.mul(of_warp, WARPS_TOGETHER)))
        return [
            ("threads", _quotient(_limit(core, "resident_threads"), graph.mul(warps, warp))),
            ("scratchpad", _quotient(_limit(core, "scratchpad"), asked)),
            ("registers", _quotient(graph.mul(fitting, WARPS_TOGETHER), warps)),
        ]


def _quotient(room: Expr, each: Expr) -> Expr:
    return graph.apply("floor", graph.div(room, each))


def _limit(core: Component, name: str) -> Expr:
    """A property of a multiprocessor, which it has by its year if it does not state it."""
    message = f"core `{core.name}` states no `{name}`, on which it depends how many blocks reside"
    hint = f"give it as `property {name} [...]`, or the socket its `year`"
    return core.value(name) or graph.failure(Diagnostic("no-room", message, core.name_span, hint=hint))


def find_block(requirement: flow.Requirement) -> ThreadBlock | None:
    """The block of threads whose warps wait for the loads of a chain; None for other requirements."""
    if requirement.resource != CHAIN:
        return None
    for trait in requirement.traits:
        if trait.name == OCCUPANCY:
            given = [each for each in trait.arguments if isinstance(each, Expr)]
            return ThreadBlock(*given) if len(given) == 3 else _refuse_block(trait)
    return None


def _refuse_block(trait: flow.Trait) -> ThreadBlock:
    message = "the trait `occupancy` has three arguments"
    hint = "write `as load, occupancy(threads, bytes of scratchpad, registers of a thread)`"
    failed = graph.failure(Diagnostic("missing-argument", message, trait.span, hint=hint))
    return ThreadBlock(failed, failed, failed)


def count_resident(requirements: tuple[flow.Requirement, ...], core: Place | None) -> Expr | None:
    """Blocks of threads that a multiprocessor has at once; None for blocks that have no threads."""
    blocks = (find_block(need) for need in (choose_chains(requirements, core) if core is not None else ()))
    block = next((each for each in blocks if each is not None), None)
    return None if block is None or core is None else block.count_resident(core.component)


def choose_chains(requirements: tuple[flow.Requirement, ...], core: Place | None) -> tuple[flow.Requirement, ...]:
    """The requirements that a core prices: without chains and instructions of blocks of threads where it has none."""
    if core is not None and SIMT in core.component.properties:
        return requirements
    return tuple(need for need in requirements if find_block(need) is None and need.resource != ISSUES)


def is_barrier(requirement: flow.Requirement) -> bool:
    """Whether a chain is of barriers at which the warps of a block of threads wait for each other."""
    return find_block(requirement) is not None and any(trait.name == BARRIER for trait in requirement.traits)


def latency_of_block(requirement: flow.Requirement, links: Expr, core: Component) -> Expr:
    """Seconds that a block stays beside the `links` of its chain: until the next one begins, beside its round trips,
    and while its warps come to its barriers one after the other."""
    if is_barrier(requirement):
        return seconds_at_barriers(requirement, links, core)
    if any(trait.name == LOAD for trait in requirement.traits):
        return core.value("block_latency") or graph.ZERO
    return graph.ZERO


def seconds_at_barriers(requirement: flow.Requirement, links: Expr, core: Component) -> Expr:
    """Seconds that a multiprocessor takes to let the warps of a block into some barriers (NVIDIA, CUDA C++ Best
    Practices Guide, "Synchronization Instruction")."""
    block, threads, clock = find_block(requirement), core.value("barrier_threads"), core.value("clock")
    if block is None or threads is None or clock is None:
        return graph.ZERO
    arriving = graph.mul(block.warps(core), _limit(core, "warp"))
    return graph.div(graph.mul(links, arriving), graph.mul(threads, clock))


def waves_of(place: Place, block: ThreadBlock) -> Place:
    """The multiprocessors of a place as slots for thread blocks."""
    return place.replace(count=graph.mul(place.count, block.count_resident(place.component)))


def wait_of_warps(
    loads: Iterable[RequirementTraffic], memory: Place | None, core: Place, requirement: flow.Requirement
) -> Wait:
    """Time of a round trip of a chain: the warps of a block make as many each, and one that comes with any miss of a
    level waits for the next, as do all that ask for the same sector with it. Nothing is fetched ahead."""
    block, links = find_block(requirement), requirement.amount
    assert block is not None
    together = next((read_number(trait) for trait in requirement.traits if trait.name == TOGETHER), graph.ONE)
    loads = [item for item in loads if item.access.requirement.resource == LOADS]
    first = loads[0] if loads else None
    latencies, by_rule = latencies_beyond_first_cache(first, memory, core)
    if first is None:
        return Wait(graph.ZERO, latencies[0], by_rule)
    trips = graph.apply("max", LEAST, graph.div(graph.mul(block.warps(core.component), links), together))
    missed = [
        graph.apply("min", 1, graph.div(graph.add(*(item.levels[at].misses for item in loads)), trips))
        for at in range(len(first.levels))
    ]
    beyond = [*(graph.sub(near, far) for near, far in pairwise(missed)), missed[-1]]
    far = graph.add(*(graph.mul(share, latency) for share, latency in zip(beyond, latencies, strict=True)))
    return Wait(graph.sub(1, missed[0]), far, by_rule)
