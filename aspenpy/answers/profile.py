"""Profile: where the time of a run goes, kernel by kernel, call by call, and along each call path.

Everything is a total over the control flow, so a loop of a million passes costs no more than one of two, and a
branch that is taken with some probability counts for that share of its time.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions
from aspenpy.answers.evaluation import KernelUse
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.cost.cost import CostTree, TimedLeaf
from aspenpy.cost.messages import Exchange
from aspenpy.cost.paths import MESSAGE
from aspenpy.cost.prices import BlockCost, RequirementCost
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import shorten_text
from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Span
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import (
    RUNTIME,
    Leaf,
    Total,
    Totaller,
    Totals,
    blocks_in,
    calls_in,
    of_kind,
)
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result

MOST_PATHS = 20_000
MOST_ENTRIES = 200_000
"""Call paths of a profile, and of all its kernels together: kernels that call each other crosswise have more than
anyone could look at, a chain of k kernels has k^2 / 2."""

LONGEST_ARGUMENT = 60  # characters of an argument of a call; the rest becomes an ellipsis


class Arc(Record):
    """Time that a kernel spends in another one: `arguments` as they are written at the call, calls and seconds
    (callees' callees included) over the whole run. Calls of one kernel that are written alike are one arc."""

    caller: str
    callee: str
    arguments: tuple[str, ...]
    calls: float
    time: float


class CallPathUse(Record):
    """A call path, the entry kernel first: how often it was taken, seconds in its last kernel's own blocks."""

    path: tuple[str, ...]
    calls: float
    exclusive: float


class ExchangeUse(Record):
    """A collective or a halo: where it stands, its `ranks` and bytes as the trait has them, None where they differ from
    call to call, seconds over the run with the part of the runtime, and how it is done: the algorithm of each phase by
    level, or the paths that a halo takes; None where that goes with what differs."""

    name: str
    kernel: str
    block: str | None
    ranks: float | None
    size: float | None
    time: float
    share: float
    algorithm: str | None


class BlockUse(Record):
    """An `execute` block over the whole run: its kernel, seconds, and which part of the runtime (0 to 1) that is."""

    kernel: str
    label: str | None
    time: float
    share: float
    span: Span | None


class Profile(Result):
    """The profile of a prediction. Exclusive times add up to the runtime, which is the entry's inclusive time."""

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction

    @property
    def runtime(self) -> float:
        """Seconds."""
        return self.prediction.runtime

    @property
    def kernels(self) -> tuple[KernelUse, ...]:
        """The kernels, the entry first, in the order in which they call each other."""
        return self.prediction.kernels

    @cached_property
    def arguments(self) -> dict[str, tuple[str, ...]]:
        """The names of each kernel's arguments, data structures behind numbers."""
        return {
            kernel.name: (*(formal.name for formal in kernel.formals), *kernel.arrays)
            for kernel in self.prediction.tree.kernels
        }

    @cached_property
    def arcs(self) -> tuple[Arc, ...]:
        """Time that kernels spend in each other, callers and their calls in the order written."""
        tree = self.prediction.tree
        values = self._values(_Arcs(tree))
        merged: dict[tuple[str, str, tuple[str, ...]], tuple[float, float]] = {}
        for kernel in reversed(tree.kernels):
            for call in calls_in(kernel.body):
                key = (kernel.name, call.kernel.name, _write_call(call))
                calls, time = merged.get(key, (0.0, 0.0))
                merged[key] = (calls + values.get(Count(call), 0.0), time + values.get(CallSeconds(call), 0.0))
        return tuple(Arc(*key, *worth) for key, worth in merged.items())

    @cached_property
    def paths(self) -> tuple[CallPathUse, ...]:
        """The call paths of the run, each behind the one it prolongs. Raises AspenError where there are too many."""
        values = self._values(_Paths(self.prediction.tree))
        entry = self.prediction.kernel
        uses = {(): CallPathUse((entry,), 1.0, values.get(CallSeconds(()), 0.0))}
        for key, calls in of_kind(Count, values).items():
            uses[key.where] = CallPathUse((entry, *key.where), calls, values.get(CallSeconds(key.where), 0.0))
        index = {name: number for number, name in enumerate(use.name for use in self.kernels)}
        return tuple(sorted(uses.values(), key=lambda use: [index[name] for name in use.path]))

    @cached_property
    def blocks(self) -> tuple[BlockUse, ...]:
        """The blocks of the kernels that ran, callers first, in the order written."""
        tree = self.prediction.tree
        spent = self._values(_Blocks(tree))
        uses = [(kernel, block) for kernel in reversed(tree.kernels) for block in blocks_in(kernel.body)]
        times = [(kernel, block, spent.get(CallSeconds(block), 0.0)) for kernel, block in uses]
        return tuple(
            BlockUse(kernel.name, block.label, time, time / self.runtime if self.runtime else 0.0, block.span)
            for kernel, block, time in times
        )

    @cached_property
    def exchanges(self) -> tuple[ExchangeUse, ...]:
        """The collectives and halos that took time, the longest first."""
        tree = self.prediction.tree
        spent = self._values(_Exchanges(tree))
        uses = [
            self._exchange(kernel, block, cost, exchange, spent.get(CallSeconds(cost), 0.0))
            for kernel in tree.kernels
            for block in blocks_in(kernel.body)
            for cost in tree.blocks[block].requirements
            for exchange in exchanges_of(cost)
        ]
        return tuple(sorted((use for use in uses if use.time > 0), key=lambda use: -use.time))

    def _exchange(
        self, kernel: flow.Kernel, block: flow.Block, cost: RequirementCost, exchange: Exchange, time: float
    ) -> ExchangeUse:
        ranks, size = (self._constant_value(expr) for expr in (exchange.ranks, exchange.size))
        try:
            algorithm = exchange.fastest(self._require_value)
        except LookupError:
            algorithm = None
        share = time / self.runtime if self.runtime else 0.0
        return ExchangeUse(
            exchange.name, kernel.name, block.label, ranks=ranks, size=size, time=time, share=share, algorithm=algorithm
        )

    def _constant_value(self, expr: Expr) -> float | None:
        """The value of an expression that is the same in all calls."""
        values = self.prediction.scope.values_if_known([expr], self.prediction.seed)
        return None if values is None else float(values[0])

    def _require_value(self, expr: Expr) -> Any:
        values = self.prediction.scope.values_if_known([expr], self.prediction.seed)
        if values is None:
            raise LookupError
        return values[0]

    def _values(self, leaf: Leaf) -> dict[Any, float]:
        """Values of the totals that a leaf keeps apart, over one run of the entry kernel."""
        totals = self.prediction.tree.run_totals(leaf, Count, CallSeconds)
        return self.prediction.scope.numbers(totals, self.prediction.seed)


@one_allowance
def profile(app: Application | Case, machine: Machine | None = None, **options: Unpack[CaseOptions]) -> Profile:
    """The time of a kernel on the machine by callee, call path and block; the arguments are those of `predict`.

    :returns: seconds and calls by kernel, call path and block
    :raises AspenError: as `predict`
    """
    return Profile(predict(app, machine, **options))


class Count(Total):
    """Number of times that a call, or a path of calls, is taken."""

    where: Any


class CallSeconds(Total):
    """Seconds of a call, callees included, or in the blocks at the end of a path of calls."""

    where: Any


class _Exchanges(Leaf):
    """Requirements that are exchanges kept apart. Branches of a `par` add, overlapped or not."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        costs = self.tree.blocks[block].requirements
        return {CallSeconds(cost): cost.time for cost in costs if exchanges_of(cost)}


def exchanges_of(cost: RequirementCost) -> list[Exchange]:
    """The collective or halo that a requirement is, if any; a plain message is none."""
    return [trait for trait in cost.traits if isinstance(trait, Exchange) and trait.name != MESSAGE]


class _Arcs(TimedLeaf):
    """Calls kept apart by where they are written."""

    def is_elapsed(self, key: Any) -> bool:
        return isinstance(key, CallSeconds)

    def call(self, call: flow.Call, callee: Totals) -> Totals:
        return {**callee, Count(call): graph.ONE, CallSeconds(call): callee.get(RUNTIME, graph.ZERO)}


class _Blocks(TimedLeaf):
    """Blocks kept apart by where they are written."""

    def is_elapsed(self, key: Any) -> bool:
        return isinstance(key, CallSeconds)

    def of_block(self, cost: BlockCost, kernel: flow.Kernel) -> Totals:
        return {CallSeconds(cost.block): cost.time}


class _Paths(TimedLeaf):
    """Blocks and calls kept apart by the path of calls from the entry, which itself is `()`."""

    entries = 0

    def is_elapsed(self, key: Any) -> bool:
        return isinstance(key, CallSeconds)

    def of_block(self, cost: BlockCost, kernel: flow.Kernel) -> Totals:
        return {CallSeconds(()): cost.time}

    def call(self, call: flow.Call, callee: Totals) -> Totals:
        paths = {key: worth for key, worth in callee.items() if isinstance(key, (Count, CallSeconds))}
        self.entries += len(paths)
        if len(paths) > 2 * MOST_PATHS or self.entries > MOST_ENTRIES:
            message = "the kernels call each other on too many paths, or too deeply, to tell the paths apart"
            fail("too-many-paths", message, call.span, hint="the flat profile and the call graph do without them")
        name = call.kernel.name
        longer: Totals = {type(key)((name, *key.where)): worth for key, worth in paths.items()}
        rest = {key: worth for key, worth in callee.items() if key not in paths}
        return {**rest, **longer, Count((name,)): graph.ONE}


class Timer:
    """Prices parts of kernels on a machine."""

    def __init__(self, tree: CostTree) -> None:
        self._totaller = Totaller(TimedLeaf(tree))
        self._known: dict[flow.Flow, Expr] = {}

    def time(self, node: flow.Flow) -> Expr:
        """The seconds of one execution, in the symbols of the kernel it stands in and the counters around it."""
        if node not in self._known:
            part = flow.Kernel("", (), (), node, graph.ZERO, span=None, name_span=None)
            self._known[node] = self._totaller.kernel(part).get(RUNTIME, graph.ZERO)
        return self._known[node]


def _write_call(call: flow.Call) -> tuple[str, ...]:
    bound = [value for formal, value in call.arguments if formal is not call.kernel.context]
    numbers = (shorten_text(value, LONGEST_ARGUMENT) for value in bound)
    return (*numbers, *(array for _, array in call.arrays))
