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


class Evidence(Record):
    """Log odds of an error of more than 15 %: those where nothing turns, and what a share of the misses adds by how it
    turns: if a cache is larger or smaller, sets nearly full keep nothing, lines anywhere are missed or found."""

    odds: float
    larger: float = 0.0
    smaller: float = 0.0
    unsure: float = 0.0
    missed: float = 0.0
    found: float = 0.0


EVIDENCE: Mapping[str, Evidence] = {
    "walks": Evidence(-2.2, larger=1.7, smaller=0.6, unsure=0.4, missed=0.6, found=0.6),
    "runs": Evidence(-1.0, larger=0.8, unsure=1.8, missed=0.2, found=2.0),
    "meetings": Evidence(-1.7, larger=0.9, smaller=0.8, unsure=0.7, found=0.6),
    "tables": Evidence(-2.8, smaller=1.4, unsure=1.9),
    "nests": Evidence(-3.9, larger=0.2, unsure=1.3),
}
"""Evidence by the approximation that made a count, the least certain first: a logistic regression over 11,300 random
programs (docs/caches.md). Walks at offsets and what the run left are estimated by distances; nests that meet in a
structure, or have corners, by parts of it; tables by one time for which all lines stay; other nests set by set."""

ODDS_OF_WAYS: Mapping[int, float] = {8: -0.9, 5: -0.3, 2: -0.9, 1: 0.8}
"""What the odds change by the ways of a set, by the fewest that they hold for."""

SMALL_SHARE, LARGEST_SHARE = 0.03, 5.0
"""A share of the misses adds its weight times log(1 + share/SMALL_SHARE), up to the largest."""


def approximation_of(costs: Sequence[RequirementTraffic]) -> str:
    """The least certain of the approximations in `EVIDENCE` that some requirements are counted by."""
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


def evidence_of(approximation: str, ways: float) -> Evidence:
    """The evidence of an approximation in sets of `ways` ways."""
    few = next(odds for fewest, odds in ODDS_OF_WAYS.items() if ways >= fewest or fewest == 1)
    return EVIDENCE[approximation].replace(odds=EVIDENCE[approximation].odds + few)


SPARED, ADDED = 0.5, 3.0
"""Shares of all misses that a larger cache spares, or a smaller one adds, from which an exact count is near an edge."""

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

    def judge(self, total: float, rule: Evidence) -> MissSpread:
        """The spread with flags for what is doubtful in a block whose level misses `total` times in all."""

        def share(change: float) -> float:
            return abs(change) / total if abs(change) > FEW * self.accesses else 0.0

        def added(weight: float, change: float) -> float:
            return weight * math.log1p(min(share(change), LARGEST_SHARE) / SMALL_SHARE)

        edge = added(rule.larger, self.larger - self.misses) + added(rule.smaller, self.smaller - self.misses)
        full, law = added(rule.unsure, self.unsure), added(rule.missed, self.missed) + added(rule.found, self.found)
        most = max(edge, full, law) if rule.odds + edge + full + law > 0 else math.inf
        near = edge == most or share(self.larger - self.misses) > SPARED or share(self.smaller - self.misses) > ADDED
        elsewhere = abs(self.apart - self.misses) > max(BY_PLACE * self.misses, OF_ALL * total, FEW * self.accesses)
        return self.replace(near_edge=near, in_full_sets=full == most, by_law=law == most, by_place=elsewhere)

    def with_flags_of(self, block: MissSpread) -> MissSpread:
        """A part of the spread of a block, with the flags of the block."""
        return self.replace(
            near_edge=block.near_edge, by_place=block.by_place, in_full_sets=block.in_full_sets, by_law=block.by_law
        )

    @property
    def is_doubtful(self) -> bool:
        """Whether the count is in doubt, wherever arrays begin."""
        return self.near_edge or self.in_full_sets or self.by_law

    @property
    def low(self) -> float:
        return min(self.misses, *self._possible_misses)

    @property
    def high(self) -> float:
        return max(self.misses, *self._possible_misses)

    @property
    def _possible_misses(self) -> tuple[float, ...]:
        """Other numbers of misses that the block may have; only the predicted number where it is not in doubt."""
        places = (self.apart,) if self.by_place else ()
        if not self.is_doubtful:
            return (self.misses, *places)
        fewer, more = (UNSURE_BY * max(self.unsure, other) for other in (self.found, self.missed))
        full = max(0.0, self.misses - fewer), max(self.misses, min(self.accesses, self.misses + more))
        return (*full, self.less, self.more, *places)


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
            costs = self.traffic_of(block)
            spread = self._of_requirements(kernel, [cost.access.requirement for cost in costs], level)
            total = max(FEW_MISSES, self._totals[level])
            self._blocks[key] = spread.judge(total, evidence_of(approximation_of(costs), self._ways[level]))
        return self._blocks[key]

    def spread(self, kernel: str, block: flow.Block, need: flow.Requirement, level: str) -> MissSpread:
        """The misses of a requirement of a block at a level, which are in doubt where those of the block are."""
        return self._of_requirements(kernel, [need], level).with_flags_of(self.of_block(kernel, block, level))

    def list_spreads(self) -> list[tuple[flow.Block, str, MissSpread]]:
        """The misses of each block with patterns at each level."""
        spreads = []
        for kernel in reversed(self.prediction.tree.kernels):
            for block in blocks_in(kernel.body):
                found = self.traffic_of(block)
                for use in found[0].levels if found else ():
                    spreads.append((block, use.level.name, self.of_block(kernel.name, block, use.level.name)))
        return spreads

    @property
    def are_doubtful(self) -> bool:
        """Whether a count is in doubt, wherever arrays begin."""
        return any(spread.is_doubtful for *_, spread in self.list_spreads())

    def of_memory(self, asked: float) -> MissSpread:
        """Bytes between the last level and memory, where `asked` are asked for."""
        last = [*self._ways][-1]
        spread = self._sum_spread([key for key in self.stated if key.level == last and key.quantity in MOVING], asked)
        costs = [cost for block in self.prediction.tree.blocks for cost in self.traffic_of(block)]
        return spread.judge(spread.misses or 1.0, evidence_of(approximation_of(costs), self._ways[last]))

    def traffic_of(self, block: flow.Block) -> list[RequirementTraffic]:
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


def describe_edges(edges: Edges) -> list[Diagnostic]:
    """A note for each block and level whose misses turn."""
    notes = list[Diagnostic]()
    for block, level, spread in edges.list_spreads():
        span = edges.traffic_of(block)[0].access.requirement.span
        here = f"at `{level}`, {_block(block)} misses {format_expected(spread.misses)} times"
        low, high = format_expected(spread.low), format_expected(spread.high)
        reasons = {
            "near-an-edge": spread.near_edge and f"near an edge of the cache: {_describe_sizes(spread)}",
            "nearly-full-sets": spread.in_full_sets and f"many in sets that are nearly full: {low} to {high}",
            "laws-differ": spread.by_law and f"{low} to {high} if its lines lay anywhere in the cache",
        }
        held = [Diagnostic(code, f"{here}, {said}", span, severity="note") for code, said in reasons.items() if said]
        notes += held[:1]  # what says most
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
