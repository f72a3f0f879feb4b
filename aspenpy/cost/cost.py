"""CostTree: an application's control flow with the price of each block on a machine.

It keeps kernels, blocks, requirements, components, counts and spans, so that profile, bottleneck,
explanation, energy and traffic all read one tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from aspenpy.cost.kinds_of_cores import warn_of_idle_kinds
from aspenpy.cost.operations import REFUSED, warn_of_unknown_trait
from aspenpy.cost.prices import (
    BlockCost,
    ConflictGroup,
    RequirementCost,
    conflict_groups,
    first_largest,
    longest,
    slowest,
)
from aspenpy.cost.ranks import RankPlacement
from aspenpy.cost.residence import Residence
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, require_known, warning
from aspenpy.language.lower import Origins, carry_origin
from aspenpy.language.source import pause_collection
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import (
    RUNTIME,
    Amounts,
    Busy,
    Calls,
    Exclusive,
    Leaf,
    Rebuilt,
    ResourceTotal,
    Total,
    Totals,
    add_totals,
    blocks_in,
    callees_first,
    of_kind,
    run_totals,
    scale_totals,
    walk_flow,
)
from aspenpy.models.machine.model import Machine

MOST_TRAITS = 100
"""Unknown traits that are reported; more of them are one mistake that was made often."""

AT_ONCE, IN_ORDER = ("overlap", "concurrent"), "concurrent"
"""Labels of `par` whose branches run at once, and the one whose branches keep the order of their own blocks."""


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


class CostTree:
    """The price of each block that an entry kernel reaches, and the totals over the control flow.

    `definitions` says what the symbols of both models stand for.
    """

    def __init__(
        self,
        application: Application,
        entry: flow.Kernel,
        blocks: Mapping[flow.Block, BlockCost],
        *,
        overlap: bool,
        definitions: Mapping[Expr, Expr],
        origins: Origins,
        residence: Residence,
    ) -> None:
        self.application = application
        self.machine: Machine = residence.where.machine
        self.socket: str | None = residence.where.socket
        self.entry = entry
        self.blocks = blocks
        self.conflicts: frozenset[tuple[str, str]] = residence.conflicts
        self.overlap = overlap
        self.definitions = definitions
        self.origins = origins
        self.residence = residence
        self._rebuilt = Rebuilt(carry_origin(origins))

    @property
    def requirements(self) -> list[RequirementCost]:
        """The prices of what the blocks ask for."""
        return [cost for block in self.blocks.values() for cost in block.requirements]

    @cached_property
    def divided(self) -> frozenset[str]:
        """The resources that several components serve, since data lie in several memories."""
        costs = self.requirements
        return frozenset(item.requirement.resource for item in costs if item.server != item.requirement.resource)

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings of loading either model, and of traits that say nothing on this machine, `MOST_TRAITS` of them."""
        return self.warnings_of_blocks(self.blocks)

    def warnings_of_blocks(self, blocks: Iterable[flow.Block]) -> tuple[Diagnostic, ...]:
        """The `warnings`, of which those about blocks only concern `blocks`, such as the executed ones."""
        costs = [cost for block in blocks for cost in self.blocks[block].requirements]
        ignored = (
            warn_of_unknown_trait(self.machine, cost.requirement, trait, [cost.offer.resource])
            for cost in costs
            for trait in cost.requirement.traits
            if cost.offer is not None and trait.name in cost.ignored
            if trait.name not in REFUSED or "sp" not in cost.offer.resource.traits
        )
        negative = [
            warning("negative-amount", f"`{need.resource}` has a negative amount", need.span)
            for need in (cost.requirement for cost in costs)
            if need.amount.kind == "number" and need.amount.payload < 0
        ]
        own = [*self.application.warnings, *self.machine.warnings]
        own = [*self.application.warnings, *self.machine.warnings]
        own += warn_of_idle_kinds(self.machine, self.socket, self.residence.where.others)
        own += islice(ignored, MOST_TRAITS)
        return tuple(drop_repeats([*own, *negative, *self._warn_of_unknown_concurrency(costs)]))

    def _warn_of_unknown_concurrency(self, costs: Iterable[RequirementCost]) -> Iterator[Diagnostic]:
        """Accesses of which the machine does not say how many a core has under way: none of them waits."""
        core = self.residence.where.core
        if core is None or core.component.value("outstanding") is not None:
            return
        patterned = ((item.requirement, item.traffic) for item in costs if item.traffic is not None)
        for need in islice((need for need, traffic in patterned if traffic.access.is_scattered), 1):
            message = f"core `{core.component.name}` states no `outstanding` misses"
            hint = "accesses at random are priced at the memory's bandwidth, as if none waited for its latency"
            yield warning("no-outstanding", message, need.span, hint=hint)

    @property
    def rank_placement(self) -> RankPlacement | None:
        """The placement of ranks; None where no block is executed by ranks."""
        shared = any(cost.block.width is not None for cost in self.blocks.values())
        return self.residence.where.ranks if shared else None

    @cached_property
    def kernels(self) -> list[flow.Kernel]:
        """The entry and all it calls, callees first."""
        return callees_first(self.entry)

    def kernels_run(self, kernel: str | None = None) -> list[flow.Kernel]:
        """The kernels, the entry first; one alone if it is named. Raises AspenError where that did not run."""
        names = [item.name for item in reversed(self.kernels)]
        if kernel is not None:
            message = f"no kernel `{kernel}` ran"
            require_known(kernel, names, "unknown-kernel", message, listed="the kernels that ran are")
        return [item for item in reversed(self.kernels) if kernel in (None, item.name)]

    def list_costs(self, kernel: str | None = None) -> Iterator[tuple[flow.Kernel, flow.Block, RequirementCost]]:
        """The price of each requirement of the kernels that `ran`, with its kernel and block, in the order written."""
        for item in self.kernels_run(kernel):
            for block in blocks_in(item.body):
                yield from ((item, block, cost) for cost in self.blocks[block].requirements)

    def overlaps(self, node: flow.Parallel) -> bool:
        """Whether the branches of a `par` run at once."""
        return self.overlap or node.label in AT_ONCE

    @cached_property
    def overlapping(self) -> bool:
        """Whether any branches of a `par` run at once: else the time of a block does not depend on others."""
        parts = (part for kernel in self.kernels for part in walk_flow(kernel.body))
        return any(isinstance(part, flow.Parallel) and self.overlaps(part) for part in parts)

    def groups(self, totals: Totals) -> tuple[ConflictGroup, ...]:
        """The resources in use in some totals, in groups that conflict."""
        busy = {key.resource: time for key, time in of_kind(Busy, totals).items()}
        return conflict_groups(busy, self.conflicts)

    def time_at_once(self, node: flow.Parallel, together: Totals, branches: Sequence[Totals]) -> Expr:
        """Seconds of branches that run at once: as long as the slowest group of resources that conflict and, where they
        keep the order of their blocks, as long as each alone. One of a single block is never longer than the whole."""
        alone = [totals[RUNTIME] for totals in branches_in_order(node, branches)]
        return longest([*(group.time for group in self.groups(together)), *alone])

    @cached_property
    def totals(self) -> Totals:
        """Totals over a run, in the symbols of the models: `RUNTIME`; `ResourceTotal` and `Busy` by resource; of those
        that are `divided` also `Served`."""
        return self.run_totals(_Prices(self))

    @cached_property
    def kernel_totals(self) -> Totals:
        """Totals by kernel: `Calls`, `Exclusive`, `Inclusive` and `Bound`."""
        found = self.run_totals(_KernelPrices(self))
        name = self.entry.name
        return {**found, Calls(name): graph.ONE, Inclusive(name): self.runtime}

    def run_totals(self, leaf: Leaf, *kinds: type[Total]) -> Totals:
        """The totals of a run under a leaf, all or those of some kinds, in the symbols of the models."""
        with pause_collection():
            return run_totals(leaf, self.entry, *kinds, rebuilt=self._rebuilt)

    @property
    def runtime(self) -> Expr:
        """Seconds, in the symbols of the models."""
        return self.totals.get(RUNTIME, graph.ZERO)


def branches_in_order(node: flow.Parallel, branches: Sequence[Totals]) -> list[Totals]:
    """The totals of branches of several blocks, which follow each other where the branches keep their order."""
    if node.label != IN_ORDER:
        return []
    pairs = zip(node.branches, branches, strict=True)
    return [totals for branch, totals in pairs if RUNTIME in totals and not isinstance(branch, flow.Block)]


class _Prices(Leaf):
    """The leaf that prices blocks: see `CostTree.totals` for the keys."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree
        self.amounts = Amounts()

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        cost = self.tree.blocks[block]
        begun: Totals = {ResourceTotal(name): graph.ONE for name in cost.delays}
        asked = self.amounts.block(block, kernel)
        return {RUNTIME: cost.time, **begun, **asked, **busy_times(cost), **self._served_totals(cost)}

    def _served_totals(self, cost: BlockCost) -> Totals:
        return add_totals(
            {Served(item.requirement.resource, item.server): graph.mul(cost.block.parallelism, item.requirement.amount)}
            for item in cost.requirements
            if item.requirement.resource in self.tree.divided
        )

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        """Branches add, or run at once."""
        together = add_totals(branches)
        if not self.tree.overlaps(node):
            return together
        return together | {RUNTIME: self.tree.time_at_once(node, together, branches)}


class _KernelPrices(_Prices):
    """The leaf that keeps kernels apart: see `CostTree.kernel_totals` for the keys."""

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        cost = self.tree.blocks[block]
        busy = busy_times(cost)
        bound = _bound(kernel, cost.groups, busy, cost.work)
        bound |= {Bound(kernel.name, name): delay.time for name, delay in cost.delays.items()}
        return {
            RUNTIME: cost.time,
            Exclusive(kernel.name): cost.time,
            **(busy if self.tree.overlapping else {}),
            **bound,
        }

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        """Scales the time of kernels in overlapped branches to the time of the whole, so that it still adds up; what
        the whole waits for counts for the kernel it stands in."""
        together = add_totals(branches)
        if not self.tree.overlaps(node) or RUNTIME not in together:
            return together
        time, in_turn = self.tree.time_at_once(node, together, branches), together[RUNTIME]
        share = graph.if_else(graph.compare("==", in_turn, graph.ZERO), graph.ONE, graph.div(time, in_turn))
        spent = {key: worth for key, worth in together.items() if isinstance(key, (Exclusive, Inclusive))}
        rest = {key: worth for key, worth in together.items() if not isinstance(key, Bound)}
        return {
            **rest,
            **scale_totals(share, spent),
            RUNTIME: time,
            **self._bound_at_once(node, kernel, together, branches),
        }

    def _bound_at_once(
        self, node: flow.Parallel, kernel: flow.Kernel, together: Totals, branches: list[Totals]
    ) -> Totals:
        """Seconds by what branches at once wait for: the slowest resources, or those of the longest branch."""
        groups, alone = self.tree.groups(together), branches_in_order(node, branches)
        of_groups = _bound(kernel, groups, together, slowest(groups))
        if not alone:
            return of_groups
        waits = [of_groups, *({key: worth for key, worth in one.items() if isinstance(key, Bound)} for one in alone)]
        largest = first_largest([slowest(groups), *(one[RUNTIME] for one in alone)])
        return add_totals(
            {key: graph.if_else(condition, worth, graph.ZERO) for key, worth in wait.items()}
            for condition, wait in zip(largest, waits, strict=True)
        )

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
    """Seconds in which each resource, and each cache, is in use; launches and noise, too, which overlapped branches
    hide."""
    own: list[Totals] = [{Busy(name): delay.time} for name, delay in cost.delays.items()]
    own += [{Busy(item.server): item.time} for item in cost.requirements]
    return add_totals([*own, *({Busy(level.name): level.time} for level in cost.levels)])


def _bound(kernel: flow.Kernel, groups: tuple[ConflictGroup, ...], busy: Totals, time: Expr) -> Totals:
    """The resource that bounds a block: the longest in its slowest group."""
    found: Totals = {}
    for group, slowest_group in zip(groups, first_largest([group.time for group in groups]), strict=True):
        longest = first_largest([busy[Busy(name)] for name in group.resources])
        for name, longest_resource in zip(group.resources, longest, strict=True):
            waited_for = graph.junction("and", slowest_group, longest_resource)
            key, waited = Bound(kernel.name, name), graph.if_else(waited_for, time, graph.ZERO)
            found[key] = graph.add(found[key], waited) if key in found else waited
    return found


class TimedLeaf(Leaf):
    """Counts the time of blocks, and what a subclass adds. Branches that overlap take less time than they add up to;
    totals that go with the time are scaled to that, so that they still add up."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def of_block(self, cost: BlockCost, kernel: flow.Kernel) -> Totals:
        return {}

    def is_elapsed(self, key: Any) -> bool:
        """Whether a total is elapsed time, which is shorter where branches overlap."""
        return False

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        cost = self.tree.blocks[block]
        return {
            **(busy_times(cost) if self.tree.overlapping else {}),
            RUNTIME: cost.time,
            **self.of_block(cost, kernel),
        }

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        together = add_totals(branches)
        if not self.tree.overlaps(node) or RUNTIME not in together:
            return together
        time, in_turn = self.tree.time_at_once(node, together, branches), together[RUNTIME]
        share = graph.if_else(graph.compare("==", in_turn, graph.ZERO), graph.ONE, graph.div(time, in_turn))
        timed = {key: worth for key, worth in together.items() if self.is_elapsed(key)}
        return {**together, **scale_totals(share, timed), RUNTIME: time}
