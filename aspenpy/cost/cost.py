"""CostTree: an application's control flow with the price of each block on a machine.

It keeps kernels, blocks, requirements, components, counts and spans, so that profile, bottleneck,
explanation, energy and traffic all read one tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from aspenpy.cost.traits import unknown_trait
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, distinct, fail
from aspenpy.language.garbage import collection_paused
from aspenpy.language.lower import Origins, carry_origin
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import (
    RUNTIME,
    Amounts,
    Busy,
    Calls,
    Exclusive,
    Leaf,
    Total,
    Totals,
    added,
    callees_first,
    of_kind,
    run_totals,
    scaled,
    summed,
)
from aspenpy.models.machine.model import Machine, Place, Resource
from aspenpy.record import Record

if TYPE_CHECKING:
    from aspenpy.cost.caches.traffic import Traffic
    from aspenpy.cost.residence import Residence


MEMORY_RESOURCES = ("loads", "stores")
"""What a memory is asked for, and data that lie in a certain one."""


class Inclusive(Total):
    """Seconds of a kernel and all that it calls."""

    kernel: str


class Bound(Total):
    """Seconds in which a kernel's own blocks are bound by a resource."""

    kernel: str
    resource: str


class Served(Total):
    """The amount of a resource that one of several servers gets."""

    resource: str
    server: str


class Offer(Record):
    """Who serves a resource: the first component that offers it, depth first, or the memory in which data lie. One
    that others come before has an `alias`, `memory.resource`: what it serves overlaps with what they do."""

    resource: Resource
    place: Place
    alias: str | None = None

    @property
    def where(self) -> str:
        """The component as a path: `keeneland/node/x5660/core`."""
        return "/".join(self.place.path)


class AppliedTrait(Record):
    """A trait that changed the time of a requirement, and the time behind it (seconds, serial)."""

    name: str
    arguments: tuple[Expr | str, ...]
    formula: Expr
    time: Expr


class RequirementCost(flow.Node):
    """A requirement on the component that serves it.

    `base` is the serial time before traits, `serial` behind them, `rounds` how many times the
    components must be filled (ceil(P / Q)), `time` their product; all in seconds. Where it says how it
    touches its data, `traffic` is what that moves between the caches, and the times are memory's with
    what they leave for it.
    """

    requirement: flow.Requirement
    offer: Offer | None
    base: Expr
    traits: tuple[AppliedTrait, ...]
    ignored: tuple[str, ...]
    serial: Expr
    rounds: Expr
    time: Expr
    traffic: Traffic | None = None

    @property
    def server(self) -> str:
        """What its time counts for: the resource, or the alias of the memory that serves it."""
        alias = None if self.offer is None else self.offer.alias
        return alias or self.requirement.resource


class LevelCost(Record):
    """Seconds in which a cache is busy with what a block moves through it."""

    name: str
    place: Place
    time: Expr


class Together(Record):
    """Resources of one block that cannot overlap, and their time together (seconds)."""

    resources: tuple[str, ...]
    time: Expr


class BlockCost(flow.Node):
    """A block on the machine: it takes as long as the slowest of its groups."""

    block: flow.Block
    requirements: tuple[RequirementCost, ...]
    groups: tuple[Together, ...]
    time: Expr
    levels: tuple[LevelCost, ...] = ()


class CostTree:
    """The price of each block that an entry kernel reaches, and the totals over the control flow.

    `definitions` says what the symbols of both models stand for.
    """

    def __init__(
        self,
        application: Application,
        machine: Machine,
        socket: str | None,
        entry: flow.Kernel,
        blocks: Mapping[flow.Block, BlockCost],
        conflicts: frozenset[tuple[str, str]],
        overlap: bool,
        definitions: Mapping[Expr, Expr],
        origins: Origins,
        residence: Residence,
    ) -> None:
        self.application = application
        self.machine = machine
        self.socket = socket
        self.entry = entry
        self.blocks = blocks
        self.conflicts = conflicts
        self.overlap = overlap
        self.definitions = definitions
        self.origins = origins
        self.residence = residence

    @cached_property
    def divided(self) -> frozenset[str]:
        """The resources that several components serve, since data lie in several memories."""
        costs = (item for block in self.blocks.values() for item in block.requirements)
        return frozenset(item.requirement.resource for item in costs if item.server != item.requirement.resource)

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What loading found in either model, and traits that say nothing on this machine."""
        costs = [cost for block in self.blocks.values() for cost in block.requirements if cost.offer is not None]
        unknown = [
            unknown_trait(self.machine, cost.requirement, trait, [cost.offer.resource])
            for cost in costs
            for trait in cost.requirement.traits
            if cost.offer is not None and trait.name in cost.ignored
        ]
        needs = [cost.requirement for block in self.blocks.values() for cost in block.requirements]
        negative = [
            Diagnostic(
                "negative-amount", f"`{need.resource}` asks for less than nothing", need.span, severity="warning"
            )
            for need in needs
            if need.amount.kind == "number" and need.amount.payload < 0
        ]
        return tuple(distinct([*self.application.warnings, *self.machine.warnings, *unknown, *negative]))

    @cached_property
    def kernels(self) -> list[flow.Kernel]:
        """The entry and all it calls, callees first."""
        return callees_first(self.entry)

    def overlaps(self, node: flow.Parallel) -> bool:
        """Whether the branches of a `par` run at once."""
        return node.overlap or self.overlap

    def groups(self, totals: Totals) -> tuple[Together, ...]:
        """The resources in use in some totals, in groups that conflict."""
        busy = {key.resource: time for key, time in of_kind(Busy, totals).items()}
        return conflict_groups(busy, self.conflicts)

    @cached_property
    def totals(self) -> Totals:
        """What adds up over a run, in the symbols of the models: `RUNTIME`; `Amount` and `Busy` by resource; of
        `divided` ones also `Served`."""
        return self._run_totals(_Prices(self))

    @cached_property
    def kernel_totals(self) -> Totals:
        """What adds up by kernel: `Calls`, `Exclusive`, `Inclusive` and `Bound`."""
        found = self._run_totals(_KernelPrices(self))
        name = self.entry.name
        return {**found, Calls(name): graph.ONE, Inclusive(name): self.runtime}

    def _run_totals(self, leaf: Leaf) -> Totals:
        with collection_paused():
            return run_totals(leaf, self.entry, carry_origin(self.origins))

    @property
    def runtime(self) -> Expr:
        """Seconds, in the symbols of the models."""
        return self.totals.get(RUNTIME, graph.ZERO)


class _Prices(Leaf):
    """The leaf that prices blocks: see `CostTree.totals` for the keys."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree
        self.amounts = Amounts()

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        cost = self.tree.blocks[block]
        return {RUNTIME: cost.time, **self.amounts.block(block, kernel), **busy_times(cost), **self._served(cost)}

    def _served(self, cost: BlockCost) -> Totals:
        return added(
            {Served(item.requirement.resource, item.server): graph.mul(cost.block.parallelism, item.requirement.amount)}
            for item in cost.requirements
            if item.requirement.resource in self.tree.divided
        )

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        """Branches add; overlapped ones become one block, in which their resources overlap."""
        together = added(branches)
        if not self.tree.overlaps(node):
            return together
        return together | {RUNTIME: slowest(self.tree.groups(together))}


class _KernelPrices(_Prices):
    """The leaf that keeps kernels apart: see `CostTree.kernel_totals` for the keys (and those of `totals`)."""

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        cost = self.tree.blocks[block]
        busy = busy_times(cost)
        bound = _bound(kernel, cost.groups, busy, cost.time)
        return {RUNTIME: cost.time, Exclusive(kernel.name): cost.time, **busy, **bound}

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        """What the kernels in overlapped branches take is scaled to the time of the whole, so that it still
        adds up; what the whole waits for counts for the kernel it stands in."""
        together = added(branches)
        if not self.tree.overlaps(node) or RUNTIME not in together:
            return together
        groups = self.tree.groups(together)
        time, in_turn = slowest(groups), together[RUNTIME]
        share = graph.if_else(graph.compare("==", in_turn, graph.ZERO), graph.ONE, graph.div(time, in_turn))
        spent = {key: worth for key, worth in together.items() if isinstance(key, (Exclusive, Inclusive))}
        rest = {key: worth for key, worth in together.items() if not isinstance(key, Bound)}
        return {**rest, **scaled(share, spent), RUNTIME: time, **_bound(kernel, groups, together, time)}

    def call(self, call: flow.Call, callee: Totals) -> Totals:
        name = call.kernel.name
        self._keep_bounded(len(callee))
        return {**callee, Calls(name): graph.ONE, Inclusive(name): callee.get(RUNTIME, graph.ZERO)}

    kept = 0

    def _keep_bounded(self, more: int) -> None:
        """A chain of k kernels, each calling the next, needs k^2 / 2 entries."""
        self.kept += more
        if self.kept > MOST_KERNEL_TOTALS:
            message = "the kernels call each other too deeply for a table by kernel; the runtime alone needs none"
            fail("too-many-kernels", message, self.tree.entry.name_span)


MOST_KERNEL_TOTALS = 10_000_000
"""Entries of the totals by kernel: less than half a gigabyte."""


def busy_times(cost: BlockCost) -> Totals:
    """Seconds in which each resource, and each cache, is in use."""
    own: list[Totals] = [{Busy(item.server): item.time} for item in cost.requirements]
    return added([*own, *({Busy(level.name): level.time} for level in cost.levels)])


def _bound(kernel: flow.Kernel, groups: tuple[Together, ...], busy: Totals, time: Expr) -> Totals:
    """The resource that bounds a block: the longest in its slowest group."""
    found: Totals = {}
    for group, slowest_group in zip(groups, first_largest([group.time for group in groups]), strict=True):
        longest = first_largest([busy[Busy(name)] for name in group.resources])
        for name, longest_resource in zip(group.resources, longest, strict=True):
            waited_for = graph.junction("and", slowest_group, longest_resource)
            found[Bound(kernel.name, name)] = graph.if_else(waited_for, time, graph.ZERO)
    return found


def first_largest(times: list[Expr]) -> list[Expr]:
    """For each time the condition that it is the largest, the first of equals."""
    if len(times) == 1:
        return [graph.TRUE]
    largest = graph.apply("max", *times)
    found = []
    smaller_so_far = graph.TRUE
    for time in times:
        found.append(graph.junction("and", smaller_so_far, graph.compare("==", time, largest)))
        smaller_so_far = graph.junction("and", smaller_so_far, graph.compare("!=", time, largest))
    return found


def conflict_groups(times: Mapping[str, Expr], conflicts: frozenset[tuple[str, str]]) -> tuple[Together, ...]:
    """The resources of a block in groups that conflict, transitively through resources of the block, in
    the order in which they first appear."""
    leader = {name: name for name in times}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    order = {name: position for position, name in enumerate(times)}
    for first, second in conflicts:
        if first in leader and second in leader:
            low, high = sorted((find(first), find(second)), key=order.__getitem__)
            leader[high] = low
    members: dict[str, list[str]] = {}
    for name in times:
        members.setdefault(find(name), []).append(name)
    return tuple(Together(tuple(names), summed(times[name] for name in names)) for names in members.values())


def slowest(groups: tuple[Together, ...]) -> Expr:
    """The time of a block: the longest of its groups."""
    times = [group.time for group in groups]
    return graph.apply("max", *times) if len(times) > 1 else times[0] if times else graph.ZERO
