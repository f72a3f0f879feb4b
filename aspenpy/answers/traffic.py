"""Traffic: what a run moves between the levels of memory, by kernel, requirement and level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.edges import MOVING, QUANTITIES, ByLevel, Edges, MissSpread, Moved, describe_edges
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.answers.simulation import Simulation
from aspenpy.cost.caches.level import Level, levels_of
from aspenpy.cost.caches.policies import POLICIES
from aspenpy.cost.caches.traffic import RequirementTraffic as BlockTraffic
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.regime import simplify_around
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, warning
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import Totals
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.numbers import format_expected
from aspenpy.tables.result import Result

FEW_REFERENCES = 5_000_000
"""References that are made one by one without being asked for: half a second."""


class Use(Record):
    """One requirement at one level, over the run: `accesses` and `misses` count, the rest is bytes."""

    kernel: str
    block: str | None
    resource: str
    array: str | None
    level: str
    accesses: float
    misses: float
    fetched: float
    written_back: float
    victims: float
    warm: float

    @property
    def hit_rate(self) -> float | None:
        """The share of the accesses that find their line; None where none was made."""
        return None if self.accesses == 0 else 1 - self.misses / self.accesses

    @property
    def bytes(self) -> float:
        return self.fetched + self.written_back + self.victims

    def with_spread(self, spread: MissSpread) -> RangedUse:
        """The use with the spread of its misses in caches as they might be."""
        names = self.kernel, self.block, self.resource, self.array, self.level
        moved = self.fetched, self.written_back, self.victims, self.warm
        return RangedUse(*names, self.accesses, self.misses, *moved, spread)


class RangedUse(Use):
    """A use with its misses in caches as they might be."""

    spread: MissSpread

    @property
    def misses_low(self) -> float:
        """The fewest misses, where they are near an edge of the cache or depend on where arrays lie."""
        return self.spread.low

    @property
    def misses_high(self) -> float:
        """The most misses."""
        return self.spread.high


class LevelTotal(Record):
    """A level over the run: loads and stores that reach it and miss, bytes moved between it and the next level."""

    name: str
    reads: float
    writes: float
    read_misses: float
    write_misses: float
    bytes: float


class Traffic(Result):
    """Data moved between the levels of memory. Raises AspenError where the machine has no caches."""

    def __init__(self, prediction: Prediction, simulate: bool | None = False) -> None:
        self.prediction = prediction
        self._simulate = simulate
        machine = prediction.machine
        self.levels: tuple[Level, ...] = levels_of(machine, prediction.socket)
        if not self.levels:
            hint = "give it `cache` components; `aspenpy show haswell` has three levels of them"
            fail("no-caches", f"machine `{machine.name}` has no caches", machine.root.name_span, hint=hint)

    @cached_property
    def _totals(self) -> Totals:
        tree = self.prediction.tree

        def traffic(block: flow.Block, kernel: flow.Kernel) -> Iterable[BlockTraffic]:
            return (cost.traffic for cost in tree.blocks[block].requirements if cost.traffic is not None)

        return tree.run_totals(ByLevel(traffic))

    @cached_property
    def simulation(self) -> Simulation | None:
        """The run, played through the caches; None where formulas say what is moved."""
        if self._simulate:
            return Simulation(self.prediction)
        if self._simulate is False or not self.edges.are_doubtful or self._references > FEW_REFERENCES:
            return None
        try:
            return Simulation(self.prediction)
        except AspenError:  # nobody asked for it, and formulas answer
            return None

    @property
    def _references(self) -> float:
        """Loads and stores of all accesses with a pattern."""
        first = self.levels[0].name
        found = self._by_formulas.items()
        return sum(value for key, value in found if key.quantity == "accesses" and key.level == first)

    @cached_property
    def _by_formulas(self) -> Mapping[Moved, float]:
        return self.prediction.scope.numbers(self._totals, self.prediction.seed)

    @property
    def _values(self) -> Mapping[Moved, float]:
        return self._by_formulas if self.simulation is None else self.simulation.moved

    @cached_property
    def edges(self) -> Edges:
        """Places where its misses turn, if a cache is a little larger or smaller, or arrays begin elsewhere."""
        return Edges(self.prediction, self._by_formulas)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """One row per kernel, requirement and level, in the order written."""
        values = self._values
        all_uses = []
        for kernel, block, traffic in self._list_patterned():
            for use in traffic.levels:
                numbers = (
                    values.get(Moved(name, kernel.name, traffic.access.requirement, use.level.name), 0.0)
                    for name in QUANTITIES
                )
                asked = traffic.access.requirement
                names = kernel.name, block.label, asked.resource, asked.target, use.level.name
                all_uses.append(Use(*names, *numbers))
        return tuple(all_uses)

    @cached_property
    def ranged_uses(self) -> tuple[RangedUse, ...]:
        """The uses with the spread of their misses near an edge of a cache."""
        if self.simulation is not None:
            counted = (MissSpread(use.accesses, *6 * (use.misses,)) for use in self.uses)
            return tuple(use.with_spread(spread) for use, spread in zip(self.uses, counted, strict=True))
        spreads = (
            self.edges.spread(kernel.name, block, traffic.access.requirement, use.level.name)
            for kernel, block, traffic in self._list_patterned()
            for use in traffic.levels
        )
        return tuple(use.with_spread(spread) for use, spread in zip(self.uses, spreads, strict=True))

    def _list_patterned(self) -> list[tuple[flow.Kernel, flow.Block, BlockTraffic]]:
        costs = self.prediction.tree.list_costs()
        return [(kernel, block, cost.traffic) for kernel, block, cost in costs if cost.traffic is not None]

    @cached_property
    def totals(self) -> tuple[LevelTotal, ...]:
        """Totals by level, the nearest to the core first."""
        level_totals = []
        for level in self.levels:
            here = [use for use in self.uses if use.level == level.name]
            loads, stores = ([use for use in here if use.resource == name] for name in ("loads", "stores"))
            level_totals.append(
                LevelTotal(
                    level.name,
                    sum(use.accesses for use in loads),
                    sum(use.accesses for use in stores),
                    read_misses=sum(use.misses for use in loads),
                    write_misses=sum(use.misses for use in stores),
                    bytes=sum(use.bytes for use in here),
                )
            )
        return tuple(level_totals)

    @cached_property
    def patterned_bytes(self) -> float:
        """Bytes that the requirements with a pattern need in all, before any cache."""
        parts = {
            (kernel.name, traffic.access.requirement): traffic.word_of_use * self._totals[key]
            for kernel, _, traffic in self._list_patterned()
            if (key := Moved("accesses", kernel.name, traffic.access.requirement, traffic.levels[0].level.name))
            in self._totals
        }
        return sum(map(float, self.prediction.scope.values(list(parts.values()), self.prediction.seed)))

    @cached_property
    def memory(self) -> MissSpread:
        """Bytes of requirements with a pattern between the last cache and memory."""
        if self.simulation is not None:
            moved = sum(use.bytes for use in self.uses if use.level == self.levels[-1].name)
            return MissSpread(self.patterned_bytes, *6 * (moved,))
        return self.edges.of_memory(self.patterned_bytes)

    def formula(self, quantity: str, level: str, free: tuple[str, ...] = ()) -> Expr:
        """`misses` (or another of `QUANTITIES`, or `bytes`) of all requirements at a level, in the free parameters."""
        names = MOVING if quantity == "bytes" else (quantity,)
        parts = [value for key, value in self._totals.items() if key.quantity in names and key.level == level]
        if not parts:
            choices = ", ".join([*QUANTITIES, "bytes"])
            levels = ", ".join(f"`{item.name}`" for item in self.levels)
            fail(
                "no-traffic", f"there is no `{quantity}` at `{level}`", hint=f"quantities: {choices}; levels: {levels}"
            )
        return self.prediction.scope.formulas([graph.add(*parts)], free)[0]

    def regime(self, quantity: str, level: str, free: tuple[str, ...] = ()) -> Expr:
        """The formula around the present values of the free parameters: which data stay in the cache is decided, and
        what is left is mostly a polynomial. It holds as long as no decision changes."""

        formula = self.formula(quantity, level, free)
        symbols = list(graph.free_symbols(formula))
        values = self.prediction.scope.values(symbols, self.prediction.seed)
        return simplify_around(formula, dict(zip(symbols, values, strict=True)), self.prediction.seed)

    @property
    def _approximated(self) -> list[Diagnostic]:
        return [
            Diagnostic(
                f"modelled-as-{policy.like}",
                f"the cache `{level.name}` is `{level.policy}` and modelled as `{policy.like}`, {policy.closeness}",
                level.place.component.properties["policy"].span,
                severity="note",
            )
            for level in self.levels
            if (policy := POLICIES[level.policy]).like
        ]

    @cached_property
    def edge_notes(self) -> list[Diagnostic]:
        """Blocks whose misses turn where a cache is a little larger or smaller, or where arrays begin elsewhere. What a
        simulation has counted is in no such doubt."""
        if self.simulation is None:
            return describe_edges(self.edges)
        if self._simulate:
            return self._simulation_notes
        message = (
            f"formulas are in doubt here, so {self.simulation.references:,} references were made one by one: they miss "
            f"`{self.levels[0].name}` {format_expected(self._misses(self._values))} times, "
            f"{format_expected(self._misses(self._by_formulas))} by formulas"
        )
        return [Diagnostic("simulated", message, None, severity="note"), *self._simulation_notes]

    @property
    def _simulation_notes(self) -> list[Diagnostic]:
        """Caches whose sectors a simulation takes for lines, though those of a line share a place, and those whose ways
        have no tree."""
        message = "is simulated with a line for each sector: what is touched sparsely finds more room than it has"
        notes = [("sectors-as-lines", level.name, message) for level in self.levels if level.sector is not None]
        message = (
            "is simulated as `lru`: a tree for `plru` needs 2, 4, ..., or 64 ways, and an instance has another number"
        )
        played = () if self.simulation is None else sorted(self.simulation.played_as_lru)
        notes += [("plru-as-lru", name, message) for name in played]
        return [Diagnostic(code, f"the cache `{name}` {text}", None, severity="note") for code, name, text in notes]

    def _misses(self, moved: Mapping[Moved, float]) -> float:
        """Misses of all accesses at the first level."""
        first = self.levels[0].name
        return sum(value for key, value in moved.items() if key.quantity == "misses" and key.level == first)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Requirements without an access pattern, which go to memory in full, policies that are approximated, misses
        near an edge of a cache."""
        warnings = [*self.prediction.diagnostics, *self._approximated, *self.edge_notes]
        for _, _, cost in self.prediction.tree.list_costs():
            name = cost.requirement.resource
            if cost.traffic is None and name in ("loads", "stores"):
                message = f"`{name}` has no access pattern: all of it counts as memory traffic"
                hint = "name a pattern: `as stream`, `as nest(stride, trips, ...)`, `as rd(distance)`"
                warnings.append(warning("no-reuse-information", message, cost.requirement.span, hint=hint))
        return tuple(warnings)


@one_allowance
def traffic(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    simulate: bool | None = None,
    **options: Unpack[CaseOptions],
) -> Traffic:
    """Traffic between the levels of memory: `traffic(app, machine).totals`; the arguments are those of `predict`.

    :param simulate: whether each reference is made in caches with sets and ways, which takes a C compiler; without
        it, that happens where formulas are in doubt, up to five million references
    :returns: accesses, misses and bytes at each level of cache and at the memory
    :raises AspenError: where the machine has no caches, and as `predict`
    """
    case = case_of(app, machine, options)
    key = case, simulate
    if key not in _answers:
        prediction = predict(case)
        if len(_answers) >= MOST_ANSWERS:
            _answers.pop(next(iter(_answers)), None)
        _answers[key] = Traffic(prediction, simulate)
    return _answers[key]


MOST_ANSWERS = 16
"""Answers that are kept for the same question."""

_answers: dict[tuple[Case, bool | None], Traffic] = {}
"""An answer keeps its models alive, so that their identities, by which cases are compared, are not given away."""
