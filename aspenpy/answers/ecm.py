"""Ecm: the execution-cache-memory model of the blocks of a run on one core.

A block's in-core time T_OL overlaps with everything. What each level of memory takes, from the first cache (T_nOL) to
memory (T_L3Mem), adds up where the machine calls the level `serial`, and overlaps elsewhere:

    {T_OL || T_nOL | T_L1L2 | T_L2L3 | T_L3Mem}

in cycles for one cache line of the block's work (Stengel, Treibig, Hager and Wellein, ICS 2015).
"""

from __future__ import annotations

from aspenpy.answers.evaluation import Evaluation
from aspenpy.answers.scope import as_float
from aspenpy.cost.compute import busy_by_server, price_block
from aspenpy.cost.cost import CostTree
from aspenpy.cost.memory import Hierarchy
from aspenpy.cost.prices import MEMORY_RESOURCES, BlockCost, conflict_groups, slowest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totaller, Totals, blocks_in
from aspenpy.record import Record
from aspenpy.tables.result import Result


class EcmTerm(Record):
    """Cycles that a level takes for a line of work: `symbol` as in the literature, and whether it is `serial`."""

    symbol: str
    component: str
    cycles: float
    serial: bool


class EcmBlock(Record):
    """A block on one core: cycles for a cache line of work, `iterations` of the loop. `overlapping` is T_OL; `cores` is
    how many of the `available` cores of a memory saturate it, None where the block leaves it alone."""

    kernel: str
    block: str | None
    iterations: float
    overlapping: float
    terms: tuple[EcmTerm, ...]
    cycles: float
    cores: float | None
    available: float

    @property
    def notation(self) -> str:
        """`{9.5 || 8 | 10 | 6 | 12.7}`"""
        return f"{{{one_digit(self.overlapping)} || {' | '.join(one_digit(term.cycles) for term in self.terms)}}}"


class Ecm(Record, Result):
    """The blocks that say how they touch their data, kernel by kernel in the order written."""

    prediction: Evaluation
    blocks: tuple[EcmBlock, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def ecm(prediction: Evaluation, kernel: str | None = None, diagnostics: tuple[Diagnostic, ...] = ()) -> Ecm:
    """The model of one kernel, or of all that ran. Raises AspenError where it cannot be made."""
    tree, model = prediction.tree, _Model(prediction.tree)
    totals = {key: worth for key, worth in Totaller(model).kernel(tree.entry).items() if isinstance(key, _Part)}
    bound = graph.substitute([*totals.values(), model.clock, model.available], {tree.entry.context: graph.ZERO})
    span = tree.entry.name_span
    values = [as_float(value, "a time", span) for value in prediction.scope.values(bound, prediction.seed)]
    *amounts, clock, available = values
    numbers = dict(zip(totals, amounts, strict=True))
    wanted = ((item, block) for item in tree.kernels_run(kernel) for block in blocks_in(item.body))
    blocks = tuple(
        _block(item, block, model, numbers, clock, available)
        for item, block in wanted
        if numbers.get(_Part(block, _LINES))
    )
    if not blocks:
        message = "no block that ran has an access pattern"
        hint = "give loads and stores a pattern, as in `loads [8*n] from x as stream`"
        fail("no-pattern", message, span, hint=hint)
    return Ecm(prediction, blocks, diagnostics)


def is_serial(tree: CostTree) -> bool:
    """Whether the machine calls a level `serial`, and a block says how it touches its data."""
    places = tree.machine.first_places(tree.socket)
    patterned = any(cost.traffic for cost in tree.requirements)
    return patterned and any("serial" in place.component.properties for place in places)


_LINES, _ITERATIONS, _CORE, _MEMORY, _TRANSFER, _ALL = "lines", "iterations", "core", "memory", "transfer", "all"


class _Part(Total):
    """Seconds of a part of a block or a cache, or the block's lines of work and iterations."""

    where: flow.Block
    name: str


class _Model(Leaf):
    """The leaf that prices blocks on one core, each level of memory apart."""

    def __init__(self, tree: CostTree) -> None:
        where = tree.residence.where
        clock = None if where.core is None else where.core.component.value("clock")
        offers = [where.offers[name] for name in MEMORY_RESOURCES if name in where.offers]
        if where.core is None or clock is None or not offers:
            message = f"machine `{tree.machine.name}` has no core with a `clock` beside a memory"
            fail("no-clock", message, tree.machine.root.name_span, hint="give its core `property clock [2.4 GHz]`")
        self.tree, self.clock, self.memory = tree, clock, offers[0].place
        self.available = graph.div(where.core.count, self.memory.count)
        self.hierarchy = Hierarchy(
            tree.machine, tree.socket, tree.application, tree.entry, definitions=tree.definitions
        )
        self.caches = [level.name for level in self.hierarchy.levels if level.bandwidth is not None]

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        where = self.tree.residence.target_of(kernel)
        cost = price_block(block.replace(parallelism=graph.ONE), where, self.hierarchy, self.tree.origins)
        accesses = [item.traffic.access for item in cost.requirements if item.traffic is not None]
        accesses = [access for access in accesses if access.accesses is not graph.ZERO]
        if not accesses or where.line is None:
            return {}
        line = where.line
        parts = {
            _LINES: _minimum([graph.div(access.accesses * access.word, line) for access in accesses]),
            _ITERATIONS: _minimum([access.accesses for access in accesses]),
            _ALL: cost.time,
            **self._times(cost),
        }
        return {_Part(block, name): worth for name, worth in parts.items()}

    def _times(self, cost: BlockCost) -> dict[str, Expr]:
        """Seconds of each cache, of memory, of the core, and of the transfer at the rate that all cores attain."""
        times = busy_by_server(cost.requirements, cost.levels)
        asked = [item for item in cost.requirements if item.requirement.resource in MEMORY_RESOURCES]
        servers = {item.server for item in asked}
        caches = {level.name: times[level.name] for level in cost.levels}
        core = {name: time for name, time in times.items() if name not in servers and name not in caches}
        return {
            **caches,
            _CORE: self._slowest(core),
            _MEMORY: self._slowest({name: times[name] for name in servers}),
            _TRANSFER: self._slowest(
                {name: graph.add(*(cost.serial for cost in asked if cost.server == name)) for name in servers}
            ),
        }

    def _slowest(self, times: dict[str, Expr]) -> Expr:
        return slowest(conflict_groups(times, self.tree.conflicts))


def _minimum(values: list[Expr]) -> Expr:
    return values[0] if len(values) == 1 else graph.apply("min", *values)


def _block(
    kernel: flow.Kernel, block: flow.Block, model: _Model, found: dict[_Part, float], clock: float, available: float
) -> EcmBlock:
    def part(name: str) -> float:
        return found.get(_Part(block, name), 0.0)

    def cycles(name: str) -> float:
        return part(name) * clock / part(_LINES)

    inner = [f"L{index + 1}" for index in range(len(model.caches))]
    symbols = ["T_nOL", *(f"T_{near}{far}" for near, far in zip(inner, [*inner[1:], "Mem"], strict=True))]
    serial = [pair for pair in model.tree.conflicts if not {*pair}.isdisjoint(model.caches)]
    adding = {name for pair in serial for name in pair}
    terms = [
        EcmTerm(symbol, name, cycles(name), name in adding) for symbol, name in zip(symbols, model.caches, strict=False)
    ]
    memory_adds = not adding.isdisjoint(MEMORY_RESOURCES)
    terms.append(EcmTerm(symbols[-1], model.memory.component.name, cycles(_MEMORY), memory_adds))
    cores = part(_ALL) / part(_TRANSFER) if part(_TRANSFER) else None
    per_line = part(_ITERATIONS) / part(_LINES)
    return EcmBlock(
        kernel.name,
        block.label,
        per_line,
        overlapping=cycles(_CORE),
        terms=tuple(terms),
        cycles=cycles(_ALL),
        cores=cores,
        available=available,
    )


def one_digit(cycles: float) -> str:
    """Cycles with one digit behind the point, or none."""
    return f"{cycles:.1f}".removesuffix(".0")
