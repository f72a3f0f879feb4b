"""Edges: misses that turn where a cache is a little larger or smaller, or where arrays begin elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.caches.level import Variation, levels_of
from aspenpy.cost.caches.patterns import Affine, Offsets, Stencil
from aspenpy.cost.caches.traffic import RequirementTraffic
from aspenpy.cost.cost import CostTree
from aspenpy.cost.memory import Hierarchy
from aspenpy.expr import graph
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totals, blocks_in
from aspenpy.record import Record
from aspenpy.tables.numbers import format_expected

QUANTITIES = ("accesses", "misses", "fetched", "written_back", "victims", "warm")
"""Counts of a requirement at a level: words or lines that reach it, those not found; bytes of lines fetched, of dirty
lines written back, of clean ones given to a level that takes victims, and of those found as earlier blocks left
them."""

IN_DOUBT = ("unsure", "missed_anywhere", "found_anywhere")
"""Misses of touches of which only some are thought to find their line; those more and fewer if lines lay anywhere."""

MOVING = ("fetched", "written_back", "victims")
"""Quantities in bytes."""


class Moved(Total):
    """Total of one of the `QUANTITIES` (or of those `IN_DOUBT`) that a requirement causes at a level."""

    quantity: str
    kernel: str
    requirement: flow.Requirement
    level: str


class ByLevel(Leaf):
    """The leaf that keeps each requirement's traffic at each level apart, from the `traffic` of a kernel's blocks."""

    def __init__(self, traffic: Callable[[flow.Block, flow.Kernel], Iterable[RequirementTraffic]]) -> None:
        self.traffic = traffic

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        totals: Totals = {}
        for traffic in self.traffic(block, kernel):
            for use in traffic.levels:
                lines = (
                    graph.mul(count, use.level.unit) for count in (use.fetched, use.written_back, use.victims, use.warm)
                )
                worth = (use.accesses, use.misses, *lines, use.unsure, use.anywhere.missed, use.anywhere.found)
                for name, amount in zip((*QUANTITIES, *IN_DOUBT), worth, strict=True):
                    key = Moved(name, kernel.name, traffic.access.requirement, use.level.name)
                    totals[key] = graph.mul(block.parallelism, amount)
        return totals


MARGIN = Fraction(1, 10)
"""The part of a cache by which it is taken to be larger and smaller."""


class Limits(Record):
    """Shares of a level's misses from which a block is in doubt. `larger`: spared by a larger cache; `smaller`: added
    by a smaller one; `unsure`: in sets that are nearly full; `missed` and `found`: misses more or fewer if lines lay
    anywhere."""

    larger: float
    smaller: float
    unsure: float
    missed: float = math.inf
    found: float = math.inf


LIMITS: Mapping[str, Mapping[int, Limits]] = {
    "walks": {
        8: Limits(0.05, 0.155, 0.08, 0.4, 0.055),
        5: Limits(0.1, 0.6, 0.08, 0.45, 0.07),
        2: Limits(0.055, 3, 0.08),
        1: Limits(0.2, 3, 0.09),
    },
    "runs": {
        8: Limits(0.05, 0.14, 0.04, found=0.035),
        5: Limits(0.06, 1, 0.04, found=0.08),
        2: Limits(0.055, 2, 0.035, found=0.06),
        1: Limits(0.06, 3, 0.05, found=0.05),
    },
    "meetings": {
        8: Limits(0.18, 0.5, 0.18, found=0.1),
        5: Limits(0.12, 1, 0.2),
        2: Limits(0.16, 3, 0.17),
        1: Limits(0.09, 3, 0.11),
    },
    "tables": {8: Limits(0.25, 2, 0.2), 5: Limits(0.2, 2, 0.2), 2: Limits(0.12, 0.15, 0.35), 1: Limits(0.2, 3, 0.4)},
    "nests": {8: Limits(0.2, 2, 0.2), 5: Limits(0.15, 2, 0.2), 2: Limits(0.12, 3, 0.35), 1: Limits(0.2, 3, 0.6)},
}
"""Limits by the approximation that made a count, the least certain first, and by the fewest ways that they hold for;
chosen by 10,000 random programs (docs/caches.md). Walks at offsets and what the run left are estimated by distances;
nests that meet in a structure, or have corners, by parts of it; tables by one time for which all lines stay, though of
few ways some have more passing through; other nests set by set, which is exact but for where it drifts. A way is a
large part of few."""


def approximation_of(costs: Sequence[RequirementTraffic]) -> str:
    """The least certain of the `LIMITS` that some requirements are counted by."""
    walks: dict[str | None, set[object]] = {}
    follows = False
    for cost in costs:
        pattern = cost.access.pattern
        if isinstance(pattern, Stencil | Offsets):
            return "walks"
        follows = follows or any(use.anywhere.follows for use in cost.levels)
        if isinstance(pattern, Affine):
            found = walks.setdefault(cost.access.requirement.target, set())
            found |= {pattern.nest.loops, *(["corners"] if pattern.nest.is_triangular else [])}
    if follows:
        return "runs"
    if any(len(found) > 1 for name, found in walks.items() if name is not None):
        return "meetings"
    return "tables" if any(cost.access.is_scattered for cost in costs) else "nests"


def limits_of(approximation: str, ways: float) -> Limits:
    """The limits of an approximation in sets of `ways` ways."""
    by_ways = LIMITS[approximation]
    return next((limits for fewest, limits in by_ways.items() if ways >= fewest), by_ways[1])


BY_PLACE, OF_ALL = 0.85, 0.2
"""The shares of a block's misses, and of all of its level, from which it matters where arrays begin."""

UNSURE_BY = 2
"""Factor by which unsure misses, and those in which two laws differ, may be more or fewer."""

FEW = 1e-3
"""The share of its accesses below which a change at a level is told to nobody."""

FEW_MISSES = 60
"""Fewest misses of a level of which shares are reported; fewer count as this many."""

VARIATIONS: Mapping[str, Variation] = {
    "smaller": Variation(-MARGIN),
    "larger": Variation(MARGIN),
    "apart": Variation(apart=True),
}
"""The caches as they might be."""


class MissSpread(Record):
    """The misses of some accesses at a level, or bytes of what they ask for: as the machine states its caches, and as
    they might be, also with a way `less` or `more` in all sets. `unsure` are those of sets nearly full; if lines lay
    anywhere, `missed` would be added, or `found` taken away. They are `near_edge`, `in_full_sets` or `by_law` where
    that puts their block in doubt, and `by_place` where it matters where its arrays begin."""

    accesses: float
    misses: float
    smaller: float
    larger: float
    apart: float
    less: float
    more: float
    unsure: float = 0.0
    missed: float = 0.0
    found: float = 0.0
    near_edge: bool = False
    by_place: bool = False
    in_full_sets: bool = False
    by_law: bool = False

    def judge(self, total: float, limits: Limits) -> MissSpread:
        """The spread with flags for what is doubtful in a block whose level misses `total` times in all."""

        def differs(other: float, limit: float) -> bool:
            return abs(other - self.misses) > max(limit, FEW * self.accesses)

        return self.replace(
            near_edge=differs(self.larger, limits.larger * total) or differs(self.smaller, limits.smaller * total),
            by_place=differs(self.apart, max(BY_PLACE * self.misses, OF_ALL * total)),
            in_full_sets=differs(self.misses + self.unsure, limits.unsure * total),
            by_law=differs(self.misses + self.missed, limits.missed * total)
            or differs(self.misses - self.found, limits.found * total),
        )

    def like(self, block: MissSpread) -> MissSpread:
        """A part of the spread of a block, with the flags of the block."""
        return self.replace(
            near_edge=block.near_edge, by_place=block.by_place, in_full_sets=block.in_full_sets, by_law=block.by_law
        )

    @property
    def is_doubtful(self) -> bool:
        return self.near_edge or self.by_place or self.in_full_sets or self.by_law

    @property
    def low(self) -> float:
        return min(self.misses, *self._possible_misses)

    @property
    def high(self) -> float:
        return max(self.misses, *self._possible_misses)

    @property
    def _possible_misses(self) -> tuple[float, ...]:
        """Other numbers of misses that the block may have; only the predicted number where it is not in doubt."""
        if not self.is_doubtful:
            return (self.misses,)
        fewer, more = (UNSURE_BY * max(self.unsure, other) for other in (self.found, self.missed))
        full = max(0.0, self.misses - fewer), max(self.misses, min(self.accesses, self.misses + more))
        return (*full, self.less, self.more, *((self.apart,) if self.by_place else ()))


_of_trees: WeakKeyDictionary[CostTree, Mapping[str, Totals]] = WeakKeyDictionary()
"""What is moved in the caches as they might be, worked out once for each mapped application."""


def varied_totals(tree: CostTree) -> Mapping[str, Totals]:
    """Bytes that a run moves under each of the `VARIATIONS`."""
    if tree not in _of_trees:
        stated = Hierarchy(tree.machine, tree.socket, tree.application, tree.entry, definitions=tree.definitions)
        _of_trees[tree] = {name: _totals_in(stated.with_variation(part), tree) for name, part in VARIATIONS.items()}
    return _of_trees[tree]


def _totals_in(hierarchy: Hierarchy, tree: CostTree) -> Totals:
    def traffic(block: flow.Block, kernel: flow.Kernel) -> Iterable[RequirementTraffic]:
        where = tree.residence.target_of(kernel)
        return hierarchy.traffic(block, where.instances, where.find_offer).values()

    return tree.run_totals(ByLevel(traffic))


class Edges:
    """The cache sizes and places at which the misses of a prediction turn; `stated` is what is moved in the caches that
    the machine states."""

    def __init__(self, prediction: Evaluation, stated: Mapping[Moved, float]) -> None:
        self.prediction = prediction
        self.stated = stated
        self._blocks: dict[tuple[str, int, str], MissSpread] = {}

    @cached_property
    def _amounts_moved(self) -> Mapping[str, Mapping[Moved, float]]:
        """Amounts moved under each of the `VARIATIONS`."""
        found = varied_totals(self.prediction.tree)
        wanted = {(name, key): value for name, totals in found.items() for key, value in totals.items()}
        moved: dict[str, dict[Moved, float]] = {name: {} for name in VARIATIONS}
        for (name, key), value in self.prediction.scope.numbers(wanted, self.prediction.seed).items():
            moved[name][key] = value
        return moved

    @cached_property
    def _ways(self) -> Mapping[str, float]:
        """The ways of a set of each level."""
        tree = self.prediction.tree
        levels = levels_of(tree.machine, tree.socket)
        values = self.prediction.scope.values([level.ways for level in levels], self.prediction.seed)
        return {level.name: float(ways) for level, ways in zip(levels, values, strict=True)}

    @cached_property
    def _totals(self) -> Mapping[str, float]:
        """All misses of each level."""
        totals = dict.fromkeys(self._ways, 0.0)
        for key, value in self.stated.items():
            if key.quantity == "misses":
                totals[key.level] += value
        return totals

    def of_block(self, kernel: str, block: flow.Block, level: str) -> MissSpread:
        """The misses of all accesses of a block at a level, and whether they are in doubt."""
        key = kernel, id(block), level
        if key not in self._blocks:
            costs = self._traffic_of(block)
            spread = self._of_requirements(kernel, [cost.access.requirement for cost in costs], level)
            limits = limits_of(approximation_of(costs), self._ways[level])
            self._blocks[key] = spread.judge(max(FEW_MISSES, self._totals[level]), limits)
        return self._blocks[key]

    def spread(self, kernel: str, block: flow.Block, need: flow.Requirement, level: str) -> MissSpread:
        """The misses of a requirement of a block at a level, which are in doubt where those of the block are."""
        return self._of_requirements(kernel, [need], level).like(self.of_block(kernel, block, level))

    def of_memory(self, asked: float) -> MissSpread:
        """Bytes between the last level and memory, where `asked` are asked for."""
        last = [*self._ways][-1]
        spread = self._sum_spread([key for key in self.stated if key.level == last and key.quantity in MOVING], asked)
        costs = [cost for block in self.prediction.tree.blocks for cost in self._traffic_of(block)]
        return spread.judge(spread.misses, limits_of(approximation_of(costs), self._ways[last]))

    def _traffic_of(self, block: flow.Block) -> list[RequirementTraffic]:
        costs = self.prediction.tree.blocks[block].requirements
        return [cost.traffic for cost in costs if cost.traffic is not None]

    def _of_requirements(self, kernel: str, needs: Iterable[flow.Requirement], level: str) -> MissSpread:
        asked = list(needs)
        accesses = sum(self.stated.get(Moved("accesses", kernel, need, level), 0.0) for need in asked)
        return self._sum_spread([Moved("misses", kernel, need, level) for need in asked], accesses)

    def _sum_spread(self, keys: Sequence[Moved], asked: float) -> MissSpread:
        """The sum of some quantities at a level. A cache that is smaller by less than a way has a way less in some of
        its sets."""
        total = sum(self.stated.get(key, 0.0) for key in keys)
        whole = {name: sum(self._amounts_moved[name].get(key, 0.0) for key in keys) for name in VARIATIONS}
        ways = self._ways[keys[0].level] if keys else 1.0
        smaller, larger, apart = (
            total + variation.share(ways) * (whole[name] - total) for name, variation in VARIATIONS.items()
        )
        misses = [key for key in keys if key.quantity == "misses"]
        unsure, missed, found = (
            sum(self.stated.get(Moved(name, key.kernel, key.requirement, key.level), 0.0) for key in misses)
            for name in IN_DOUBT
        )
        sides = MissSpread(
            asked, total, smaller, larger=larger, apart=apart, less=whole["smaller"], more=whole["larger"]
        )
        return sides.replace(unsure=unsure, missed=missed, found=found)


def describe_edges(prediction: Evaluation, edges: Edges) -> list[Diagnostic]:
    """A note for each block and level whose misses turn."""
    notes = []
    tree = prediction.tree
    for kernel in reversed(tree.kernels):
        for block in blocks_in(kernel.body):
            found = [cost.traffic for cost in tree.blocks[block].requirements if cost.traffic is not None]
            for use in found[0].levels if found else ():
                spread = edges.of_block(kernel.name, block, use.level.name)
                here = f"at `{use.level.name}`, {_block(block)} misses {format_expected(spread.misses)} times"
                span = found[0].access.requirement.span
                if spread.near_edge:
                    message = f"{here}, near an edge of the cache: {_describe_sizes(spread)}"
                    notes.append(Diagnostic("near-an-edge", message, span, severity="note"))
                low, high = format_expected(spread.low), format_expected(spread.high)
                if spread.in_full_sets and not spread.near_edge:
                    message = f"{here}, many in sets that are nearly full: {low} to {high}"
                    notes.append(Diagnostic("nearly-full-sets", message, span, severity="note"))
                if spread.by_law and not (spread.in_full_sets or spread.near_edge):
                    message = f"{here}, {low} to {high} if its lines lay anywhere in the cache"
                    notes.append(Diagnostic("laws-differ", message, span, severity="note"))
                if spread.by_place:
                    apart = f"{format_expected(spread.apart)} times where they lie apart"
                    message = f"{here} if its arrays lie one behind the other on pages, {apart}"
                    hint = "say where they begin, as in `loads [n] from x as stream, at(4096)`"
                    notes.append(Diagnostic("where-arrays-lie", message, span, hint=hint, severity="note"))
    return notes


def _block(block: flow.Block) -> str:
    return f"`{block.label}`" if block.label else "this block"


def _describe_sizes(spread: MissSpread) -> str:
    part = f"{float(MARGIN):.0%}".replace("%", " %")
    larger, smaller = format_expected(spread.larger), format_expected(spread.smaller)
    return f"{larger} if it were {part} larger, {smaller} if {part} smaller"
