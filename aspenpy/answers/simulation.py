"""Simulation: the references of a run, made one after the other in the caches of the machine, and counted there.

The control flow is followed as it runs, and caches keep what they hold from block to block. Data structures lie one
behind the other on pages of their own, in the order of their declaration, as an allocator lays out large ones. A block
that touches a part of a structure goes on to the next part with a loop around it whose passes have room in it for one
part each; otherwise it touches the same again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from random import Random
from typing import Any, NoReturn

from aspenpy.answers.edges import Moved
from aspenpy.answers.paths import Scene, opening_scene
from aspenpy.answers.played_blocks import (
    LaidOutAccess,
    access_exprs,
    centre_on_stencils,
    common_loops,
    level_exprs,
    part_of,
    shape_of,
    sweep_side_by_side,
)
from aspenpy.answers.prediction import Prediction
from aspenpy.cost.accesses import data_sizes, is_grid
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.level import Level
from aspenpy.cost.memory import page_of
from aspenpy.cost.occupancy import count_resident
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow
from aspenpy.record import Record
from aspenpy.traces.hierarchy import MOST_OWNERS, SEED, CacheHierarchy, CacheShape, PlayedBlock

MOST_REFERENCES = 40_000_000
"""References of one simulation: five seconds where each misses every cache, one where most are found in the first."""

MOST_EXECUTIONS = 100_000
"""Executions of blocks that are followed one by one, and passes of loops."""

PAGE = 4096
"""Bytes of a page of the operating system, where data structures begin."""

FIRST_PAGE = 1 << 30
"""Address of the first data structure: behind all addresses that a model gives by `at`."""


class _Asked(Record):
    """The accesses of a block, the caches that they meet, and the values that tell both in numbers: those of each level
    and of each access apart."""

    accesses: tuple[Access, ...]
    levels: tuple[Level, ...]
    of_levels: tuple[list[Expr], ...]
    of_accesses: tuple[list[Expr], ...]
    exprs: list[Expr]


class _Plan(Record):
    """A block in numbers: its parts, played in such caches, with the `references` of one instance, of which as many as
    the `turns` follow each other on a core."""

    shapes: tuple[CacheShape, ...]
    block: PlayedBlock
    parts: tuple[LaidOutAccess, ...]
    references: int
    turns: int


class _Owner(Record):
    """A requirement whose counts are kept apart, with its caches and the number of instances that each one which is
    played stands for. `evaded` is the share of what it fetches that each level evades."""

    kernel: str
    requirement: flow.Requirement
    shapes: tuple[CacheShape, ...]
    names: tuple[str, ...]
    instances: float
    evaded: tuple[float, ...]


class Simulation:
    """One run of a prediction, played through its caches: `moved` and `references`. Raises AspenError where accesses
    have no addresses, where there is no C compiler, and where the run is too long."""

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction
        self.references = 0
        self.played_as_lru = set[str]()  # names of caches
        self._executions = self._passes = 0
        self._asked: dict[flow.Block, _Asked | None] = {}
        self._plans: dict[int, _Plan] = {}
        self._needed: dict[flow.Node, tuple[list[Expr], frozenset[Expr]]] = {}
        self._values: dict[tuple[Any, ...], list[Any]] = {}
        self._hierarchies: dict[tuple[CacheShape, ...], CacheHierarchy] = {}
        self._owners: dict[_Owner, int] = {}
        self._places: dict[str | flow.Requirement, int] = {}
        self._bytes: dict[str | flow.Requirement, int] = {}
        self._touched = set[str]()
        self._end = FIRST_PAGE
        self._draws = Random(prediction.seed)
        for name in self._sizes:
            self._place(name, self._size(name, opening_scene(prediction.tree.entry)) or 0)
        self._follow(prediction.tree.entry.body, opening_scene(prediction.tree.entry), ())

    @cached_property
    def moved(self) -> Mapping[Moved, float]:
        """Moved bytes and counts by requirement and level, named as in the model's own answer."""
        for hierarchy in self._hierarchies.values():
            hierarchy.flush()
        totals: dict[Moved, float] = {}
        for owner, number in self._owners.items():
            counts = self._hierarchies[owner.shapes].counts(number)
            for name, shape, found, evaded in zip(owner.names, owner.shapes, counts, owner.evaded, strict=True):
                amounts = {
                    "accesses": found.accesses,
                    "misses": found.misses,
                    "fetched": found.fetched * shape.line * (1 - evaded),
                    "written_back": found.written_back * shape.line,
                    "victims": found.victims * shape.line,
                }
                for quantity, amount in amounts.items():
                    key = Moved(quantity, owner.kernel, owner.requirement, name)
                    totals[key] = totals.get(key, 0.0) + owner.instances * amount
        return totals

    # -- where data lie ----------------------------------------------------------------------------

    @cached_property
    def _sizes(self) -> Mapping[str, tuple[flow.Kernel | None, Expr]]:
        return data_sizes(self.prediction.application, self.prediction.tree.entry)

    def _size(self, name: str | None, scene: Scene) -> int | None:
        """Bytes of a data structure, where they are known here."""
        owner, size = self._sizes.get(name or "", (None, None))
        if size is None or owner not in (None, scene.kernel):
            return None
        (value,) = self.prediction.scope.values(scene.bind([size]), self.prediction.seed)
        return int(value)

    def _place(self, name: str | flow.Requirement, size: int) -> int:
        """First address of a data structure; one that nobody declared gets it when it is touched first."""
        if size and name not in self._places:
            self._places[name], self._bytes[name] = self._end, size
            self._end += -(-size // PAGE) * PAGE
        return self._places.get(name, 0)

    # -- the way of the run ------------------------------------------------------------------------

    def _read_values(self, node: flow.Node, exprs: Sequence[Expr], scene: Scene) -> list[Any]:
        """Values of what a node says, computed once for all scenes that bind the symbols in it alike."""
        if node not in self._needed:
            own = graph.substitute(exprs, dict(scene.kernel.computed))
            self._needed[node] = own, frozenset[Expr]().union(*map(graph.free_symbols, own))
        own, symbols = self._needed[node]
        key = (node, *((symbol, scene.bindings[symbol]) for symbol in scene.bindings if symbol in symbols))
        if key not in self._values:
            self._values[key] = self.prediction.scope.values(
                graph.substitute(own, scene.bindings), self.prediction.seed
            )
        return self._values[key]

    def _follow(self, node: flow.Flow, scene: Scene, around: tuple[tuple[int, int], ...]) -> None:
        """Plays a part of the flow; `around` are the passes of the loops around and the number of this one, the
        innermost first."""
        if isinstance(node, flow.Block):
            if (plan := self._plan(node, scene)) is not None:
                for number in range(plan.turns):
                    self._play(node, plan, scene, ((plan.turns, number), *around))
        elif isinstance(node, flow.Repeat):
            (count,) = self._read_values(node, [node.count], scene)
            passes = math.floor(count) + (self._draws.random() < count - math.floor(count))
            self._passes += passes
            if self._passes > MOST_EXECUTIONS:
                self._refuse_length(node)
            for number in range(passes):
                inside = scene.replace(bindings={**scene.bindings, node.counter: graph.number(number)})
                self._follow(node.body, inside, ((passes, number), *around))
        elif isinstance(node, flow.Call):
            self._follow(node.kernel.body, scene.enter_call(node), around)
        else:
            for step in self._steps(node, scene):
                self._follow(step, scene, around)

    def _steps(self, node: flow.Flow, scene: Scene) -> Iterator[flow.Flow]:
        """The steps that run, in their order; of cases with probabilities, one is drawn."""
        if isinstance(node, flow.Sequence):
            yield from node.steps
        elif isinstance(node, flow.Parallel):
            yield from node.branches
        elif isinstance(node, flow.Choice):
            holding = self._read_values(node, [condition for condition, _ in node.branches], scene)
            taken = (branch for holds, (_, branch) in zip(holding, node.branches, strict=True) if holds)
            yield next(taken, node.otherwise)
        elif isinstance(node, flow.Expectation):
            drawn = self._draws.random()
            for chance, (_, case) in zip(
                self._read_values(node, [chance for chance, _ in node.cases], scene), node.cases, strict=True
            ):
                drawn -= chance
                if drawn < 0:
                    yield case
                    return

    def _play(self, block: flow.Block, plan: _Plan, scene: Scene, around: tuple[tuple[int, int], ...]) -> None:
        """Plays one of the instances of a block that follow each other."""
        self._executions += 1
        if self._executions > MOST_EXECUTIONS:
            self._refuse_length(block)
        self.references += plan.references
        if self.references > MOST_REFERENCES:
            self._refuse_length(block)
        self._sweep_before(plan, scene)
        accesses, moves = [], any(passes > 1 for passes, _ in around)
        for part in plan.parts:
            name = None if part.name is None else scene.data(part.name)
            size = self._size(name, scene) if moves and name is not None else None
            base = part.played.base
            if not part.is_placed:
                base += self._place(name or part.requirement, max(part.extent, 1)) + _part_begin(part, size, around)
            seed = (part.played.seed * (2 * self._executions + 1)) % (1 << 64) or SEED
            accesses.append(part.played.replace(base=base, seed=seed))
        self._hierarchy(plan.shapes).play(plan.block.replace(accesses=tuple(accesses)))

    def _refuse_length(self, node: flow.Flow) -> NoReturn:
        message = f"a simulation makes {MOST_REFERENCES:,} references in {MOST_EXECUTIONS:,} blocks at most"
        hint = "give smaller sizes by --set, or a kernel by --kernel; without --simulate, counts are formulas"
        fail("too-much-work", message, node.span, hint=hint)

    def _sweep_before(self, plan: _Plan, scene: Scene) -> None:
        """Touches all data side by side where some that are warm were not touched by the run."""
        names = {scene.data(part.name): part.warm for part in plan.parts if part.name is not None}
        if any(is_warm and name not in self._touched for name, is_warm in names.items()) and self._places:
            begins = {begin: self._bytes[name] for name, begin in self._places.items()}
            self._hierarchy(plan.shapes).play(sweep_side_by_side(begins, plan.shapes[0].line))
        self._touched |= names.keys()

    def _hierarchy(self, shapes: tuple[CacheShape, ...]) -> CacheHierarchy:
        if shapes not in self._hierarchies:
            self._hierarchies[shapes] = CacheHierarchy(shapes)
        return self._hierarchies[shapes]

    # -- blocks in numbers -------------------------------------------------------------------------

    def _ask(self, block: flow.Block) -> _Asked | None:
        found = [cost.traffic for cost in self.prediction.tree.blocks[block].requirements if cost.traffic is not None]
        if not found:
            return None
        accesses, levels = tuple(traffic.access for traffic in found), tuple(use.level for use in found[0].levels)
        if is_grid(block):
            message = "a simulation follows one core, and the blocks of a `grid` run side by side on all of them"
            fail("grid-simulation", message, block.span, hint="leave out --simulate: formulas count the whole grid")
        if any(use.parts is not graph.ONE for use in found[0].levels):
            message = "a simulation follows one core, and each core of a rank has caches of its own here"
            fail("parts-simulation", message, block.span, hint="leave out --simulate, or give each rank a core")
        for access in accesses:
            for trait, message in _LEFT_OUT.items():
                if getattr(access, trait):
                    hint = f"leave out `{trait}`, or leave out --simulate"
                    fail(f"{trait}-simulation", message, access.requirement.span, hint=hint)
            if access.loads_together and block.parallelism is not graph.ONE:
                message = "a simulation follows one of the instances, and all load the data that are `shared`"
                hint = "leave out `shared`, or leave out --simulate"
                fail("shared-simulation", message, access.requirement.span, hint=hint)
            if access.since is not None:
                message = "a simulation touches what the run does, and `warm(bytes)` says otherwise"
                hint = "write `warm` alone, or leave out --simulate"
                fail("warm-simulation", message, access.requirement.span, hint=hint)
        core = self.prediction.machine.first_core(self.prediction.socket)
        instances = self.prediction.tree.blocks[block].instances
        turns = instances.mean_turns(core, count_resident(block.requirements, core))
        of_levels, of_accesses = tuple(map(level_exprs, levels)), tuple(map(access_exprs, accesses))
        evaded = [use.evaded for traffic in found for use in traffic.levels]
        exprs = [block.parallelism, turns, page_of(core), *chain(*of_levels), *evaded, *chain(*of_accesses)]
        return _Asked(accesses, levels, of_levels, of_accesses, exprs)

    def _plan(self, block: flow.Block, scene: Scene) -> _Plan | None:
        """The plan of a block; None where it says nothing of how it touches its data."""
        asked = self._asked[block] = self._asked[block] if block in self._asked else self._ask(block)
        if asked is None:
            return None
        known = self._read_values(block, asked.exprs, scene)
        if id(known) in self._plans:
            return self._plans[id(known)]
        values = iter(known)
        instances, turns, page_bytes = next(values), max(1, round(next(values))), next(values)
        shapes = tuple(
            shape_of(level, [next(values) for _ in row], page_bytes)
            for level, row in zip(asked.levels, asked.of_levels, strict=True)
        )
        pairs = zip(asked.levels, shapes, strict=True)
        self.played_as_lru |= {level.name for level, shape in pairs if level.policy != shape.policy}
        evaded = [tuple(float(next(values)) for _ in asked.levels) for _ in asked.accesses]
        rows = [[next(values) for _ in row] for row in asked.of_accesses]
        names = tuple(level.name for level in asked.levels)
        low, high = common_loops(asked.accesses, rows)
        parts, drawn = [], dict[tuple[Any, ...], int]()
        for access, row, share in zip(asked.accesses, rows, evaded, strict=True):
            owner = _Owner(scene.kernel.name, access.requirement, shapes, names, instances / turns, share)
            number = self._owners.setdefault(owner, len(self._owners))
            if number >= MOST_OWNERS - 1:  # the last counts what nobody reads
                self._refuse_length(block)
            parts.append(part_of(access, row, number, low, high, drawn))
        references = sum(round(row[1]) for row in rows)
        plan = _Plan(shapes, PlayedBlock(low, high, ()), centre_on_stencils(parts), references, turns)
        self._plans[id(known)] = plan
        return plan


_LEFT_OUT = {
    "cold": "a simulation keeps what caches hold, and this asks for data that none does",
    "fresh": "a simulation does not zero the pages that a program touches first",
}


def _part_begin(part: LaidOutAccess, size: int | None, around: Sequence[tuple[int, int]]) -> int:
    """Bytes behind the begin of a structure at which a block's part of it lies: a loop whose passes have room for a
    part each, the gaps between its words among it, goes on by one with each pass, and its parts together are that of
    the loop around. Words that are apart go on into the gaps between them where that fills at least half of the
    structure (docs/caches.md)."""
    begin, extent, filled = 0, part.extent, part.filled
    span = extent if filled == extent else part.span
    for passes, number in around:
        if size is None or passes <= 1:
            continue
        if passes * span <= size:
            begin += number * span
            filled = passes * filled
            extent = span = passes * span
        elif filled < extent and passes * filled <= size <= 2 * passes * filled:
            beside, gap = divmod(number, max(1, part.gap // part.run))
            begin += beside * extent + gap * part.run
            extent = filled = span = passes * filled
    return begin
