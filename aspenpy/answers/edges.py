"""Edges: misses that turn where a cache is a little larger or smaller, or where arrays begin elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.caches.level import Variation, levels_of
from aspenpy.cost.caches.traffic import RequirementTraffic
from aspenpy.cost.cost import CostTree
from aspenpy.cost.memory import Hierarchy
from aspenpy.expr import graph
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totals, blocks_in, run_totals
from aspenpy.record import Record
from aspenpy.tables.numbers import format_expected

QUANTITIES = ("accesses", "misses", "fetched", "written_back", "victims", "warm")
"""Of a requirement at a level: words or lines that reach it, those not found; bytes of lines fetched, of dirty lines
written back, of clean ones given to a level that takes victims, and of those found as earlier blocks left them."""

UNSURE = "unsure"
"""Misses of touches of which only some are thought to find their line."""

MOVING = ("fetched", "written_back", "victims")
"""Quantities in bytes."""


class Moved(Total):
    """One of the `QUANTITIES` of a requirement at a level, or its misses that are `UNSURE`."""

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
                worth = (use.accesses, use.misses, *lines, use.unsure)
                for name, amount in zip((*QUANTITIES, UNSURE), worth, strict=True):
                    key = Moved(name, kernel.name, traffic.access.requirement, use.level.name)
                    totals[key] = graph.mul(block.parallelism, amount)
        return totals


MARGIN = Fraction(1, 10)
"""The part of a cache by which it is taken to be larger and smaller."""

STEEP = 2
"""An edge is where misses change so many times as much as the cache: those that go with 1 / size change as it does."""

FEW_WAYS = 8
STEEP_IN_FEW_WAYS = 5
"""The same in sets of fewer ways, of which one is a large part. This one and those of misses that are unsure are chosen
by half of 1,800 random programs (docs/caches.md)."""

MANY_UNSURE = 0.15
"""The share of misses from which it is told that they are of nearly full sets."""

UNSURE_BY = 1.5
"""How many times the misses that are unsure may be more, or fewer."""

FEW = 1e-3
"""The share of its accesses below which a change at a level is told to nobody."""

VARIATIONS: Mapping[str, Variation] = {
    "smaller": Variation(-MARGIN),
    "larger": Variation(MARGIN),
    "apart": Variation(apart=True),
}
"""The caches as they might be."""


class MissSpread(Record):
    """The misses of some accesses at a level, or bytes of what they ask for: as the machine states its caches, and as
    they might be. So many of them are `unsure`; a set has so many `ways`."""

    accesses: float
    misses: float
    smaller: float
    larger: float
    apart: float
    unsure: float = 0.0
    ways: float = FEW_WAYS

    @property
    def near_edge(self) -> bool:
        """Whether a cache a little larger or smaller is another matter."""
        steep = float(MARGIN) * (STEEP if self.ways >= FEW_WAYS else STEEP_IN_FEW_WAYS)
        return self._turns(self.smaller, steep * self.misses) or self._turns(self.larger, steep * self.misses)

    @property
    def by_place(self) -> bool:
        """Whether it matters where arrays begin: by a factor of two."""
        return self._turns(self.apart, min(self.misses, self.apart))

    @property
    def in_full_sets(self) -> bool:
        """Whether many of the misses are of sets that are nearly full."""
        return self._turns(self.misses + self.unsure, MANY_UNSURE * self.misses)

    @property
    def is_doubtful(self) -> bool:
        return self.near_edge or self.by_place or self.in_full_sets

    @property
    def low(self) -> float:
        return min(self.misses, *self._possible_misses)

    @property
    def high(self) -> float:
        return max(self.misses, *self._possible_misses)

    @property
    def _possible_misses(self) -> tuple[float, ...]:
        """The misses that may as well be; the others where nothing turns."""
        if not self.is_doubtful:
            return (self.misses,)
        unsure = UNSURE_BY * self.unsure
        full = max(0.0, self.misses - unsure), max(self.misses, min(self.accesses, self.misses + unsure))
        return (*full, self.smaller, self.larger, *((self.apart,) if self.by_place else ()))

    def _turns(self, other: float, allowed: float) -> bool:
        change = abs(other - self.misses)
        return change > allowed and change > FEW * self.accesses


_of_trees: WeakKeyDictionary[CostTree, Mapping[str, Totals]] = WeakKeyDictionary()
"""What is moved in the caches as they might be, worked out once for each mapped application."""


def varied_totals(tree: CostTree) -> Mapping[str, Totals]:
    """Bytes that a run moves under each of the `VARIATIONS`."""
    if tree not in _of_trees:
        stated = Hierarchy(tree.machine, tree.socket, tree.application, tree.entry, tree.definitions)
        _of_trees[tree] = {name: _totals_in(stated.varied(part), tree) for name, part in VARIATIONS.items()}
    return _of_trees[tree]


def _totals_in(hierarchy: Hierarchy, tree: CostTree) -> Totals:
    def traffic(block: flow.Block, kernel: flow.Kernel) -> Iterable[RequirementTraffic]:
        where = tree.residence.within(kernel)
        return hierarchy.traffic(block, where.instances(block), where.serving).values()

    return run_totals(ByLevel(traffic), tree.entry)


class Edges:
    """Where the misses of a prediction turn."""

    def __init__(self, prediction: Evaluation) -> None:
        self.prediction = prediction

    @cached_property
    def _moved(self) -> Mapping[str, Mapping[Moved, float]]:
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

    def spread(
        self, kernel: str, requirements: Iterable[flow.Requirement], level: str, stated: Mapping[Moved, float]
    ) -> MissSpread:
        """The misses of requirements of a kernel at a level; `stated` is what is moved in the caches that the machine
        states."""
        asked = list(requirements)
        accesses = sum(stated.get(Moved("accesses", kernel, need, level), 0.0) for need in asked)
        return self._sum_spread([Moved("misses", kernel, need, level) for need in asked], accesses, stated)

    def of_memory(self, asked: float, stated: Mapping[Moved, float]) -> MissSpread:
        """The bytes between the last level and memory, of so many that are asked for."""
        last = [*self._ways][-1]
        return self._sum_spread([key for key in stated if key.level == last and key.quantity in MOVING], asked, stated)

    def _sum_spread(self, keys: Sequence[Moved], asked: float, stated: Mapping[Moved, float]) -> MissSpread:
        """The sum of some quantities at a level. A cache that is smaller by less than a way has a way less in some of
        its sets."""
        total = sum(stated.get(key, 0.0) for key in keys)
        others, ways = [], self._ways[keys[0].level] if keys else FEW_WAYS
        for name, variation in VARIATIONS.items():
            share = variation.share(ways)
            others.append(total + share * (sum(self._moved[name].get(key, 0.0) for key in keys) - total))
        unsure = (Moved(UNSURE, key.kernel, key.requirement, key.level) for key in keys if key.quantity == "misses")
        smaller, larger, apart = others
        return MissSpread(asked, total, smaller, larger, apart, sum(stated.get(key, 0.0) for key in unsure), ways)


def edges_told(prediction: Evaluation, edges: Edges, stated: Mapping[Moved, float]) -> list[Diagnostic]:
    """A note for each block and level whose misses turn."""
    notes = []
    tree = prediction.tree
    for kernel in reversed(tree.kernels):
        for block in blocks_in(kernel.body):
            found = [cost.traffic for cost in tree.blocks[block].requirements if cost.traffic is not None]
            for use in found[0].levels if found else ():
                needs, level = [traffic.access.requirement for traffic in found], use.level.name
                spread = edges.spread(kernel.name, needs, level, stated)
                here = f"at `{level}`, {_block(block)} misses {format_expected(spread.misses)} times"
                span = needs[0].span
                if spread.near_edge:
                    message = f"{here}, near an edge of the cache: {_both(spread)}"
                    notes.append(Diagnostic("near-an-edge", message, span, severity="note"))
                if spread.in_full_sets and not spread.near_edge:
                    low, high = format_expected(spread.low), format_expected(spread.high)
                    message = f"{here}, many in sets that are nearly full: {low} to {high}"
                    notes.append(Diagnostic("nearly-full-sets", message, span, severity="note"))
                if spread.by_place:
                    apart = f"{format_expected(spread.apart)} times where they lie apart"
                    message = f"{here} if its arrays lie one behind the other on pages, {apart}"
                    hint = "say where they begin, as in `loads [n] from x as stream, at(4096)`"
                    notes.append(Diagnostic("where-arrays-lie", message, span, hint=hint, severity="note"))
    return notes


def _block(block: flow.Block) -> str:
    return f"`{block.label}`" if block.label else "this block"


def _both(spread: MissSpread) -> str:
    part = f"{float(MARGIN):.0%}".replace("%", " %")
    larger, smaller = format_expected(spread.larger), format_expected(spread.smaller)
    return f"{larger} if it were {part} larger, {smaller} if {part} smaller"
