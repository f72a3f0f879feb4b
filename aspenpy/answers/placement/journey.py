"""Journey: a run over several sockets, in which data structures follow the kernels that touch them.

The walk is that of `application.total`, with one more thing to carry from step to step: where each data structure is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from aspenpy.answers.placement.locations import (
    Location,
    Memories,
    State,
    conditions,
    decide_memories,
    fork_location,
    put_in,
    touch_location,
)
from aspenpy.answers.placement.overlap import WAITING, BusyOn, Crossed, On, Overlap, device_of
from aspenpy.cost.cost import IN_ORDER, CostTree
from aspenpy.cost.instances import Instances
from aspenpy.cost.prices import BlockCost
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.language.lower import carry_origin
from aspenpy.models.application import flow
from aspenpy.models.application.model import size_in_arguments
from aspenpy.models.application.total import (
    RUNTIME,
    Calls,
    Exclusive,
    Total,
    Totals,
    add_totals,
    blocks_in,
    callees_first,
    calls_in,
    choose_totals,
    scale_totals,
    totals_of_loop,
)
from aspenpy.record import Record

MOST_BLOCKS = 50_000  # blocks that are met on the way
MOST_PASSES = 64  # passes of a loop that are looked at one by one
Found = tuple[Totals, State]


class DataNames(Record):
    """Whose flow it is, and what its names of data structures stand for."""

    kernel: flow.Kernel
    arrays: tuple[tuple[str, str], ...]

    def data(self, name: str) -> str:
        return dict(self.arrays).get(name, name)


class DataMoves(Total):
    """The moves of a kernel's data structure from one memory to another."""

    kernel: str
    data: str
    source: int
    goal: int


class Times(DataMoves):
    """Total: the number of times that data move."""


class Volume(DataMoves):
    """Bytes."""


class Seconds(DataMoves):
    """Total: the seconds in which data move."""


class Journey:
    """The totals of a run with each kernel on its socket, in the symbols of the models: `RUNTIME` of blocks, and of
    whole `par` statements whose branches overlap; `WAITING` for transfers outside of those; `On` by socket; `Calls` and
    `Exclusive` by kernel; `BusyOn` and `Crossed` by component; `Times`, `Volume` and `Seconds` of moves.
    """

    def __init__(
        self,
        trees: Mapping[str, CostTree],
        memories: Memories,
        sockets: Mapping[str, str],
        *,
        begin: Mapping[str, int],
        now: Callable[[Expr], float | None],
        wanted: Collection[type[Total]] | None = None,
        done: dict[Any, Found] | None = None,
    ) -> None:
        """`begin` says in which memories data structures are at first; `now` what an expression is with the parameters
        as they are, None where arguments and counters decide it. `wanted` are the kinds of totals to keep, all if it is
        None; journeys that want the same may share what they have `done`."""
        self.trees = trees
        self.memories = memories
        self.sockets = sockets
        self.begin = begin
        self.now = now
        self.wanted = wanted
        tree = next(iter(trees.values()))
        self.application = tree.application
        self.overlaps = tree.overlaps
        self.origins = tree.origins
        self.carry = carry_origin(self.origins)
        self.overlap = Overlap({socket: tree.conflicts for socket, tree in trees.items()}, memories.targets)
        self.done: dict[Any, Found] = {} if done is None else done
        self.below = {item: tuple(under.name for under in callees_first(item)) for item in tree.kernels}
        self.met = 0

    def run(self, entry: flow.Kernel) -> Totals:
        """The totals of the whole run."""
        totals, _ = self.kernel(DataNames(entry, ()), {})
        values = graph.substitute(list(totals.values()), {entry.context: graph.ZERO}, self.carry)
        return {**dict(zip(totals, values, strict=True)), Calls(entry.name): graph.ONE}

    def kernel(self, scene: DataNames, state: State) -> Found:
        """One execution of a kernel, in its formal symbols."""
        sockets = tuple(self.sockets[name] for name in self.below[scene.kernel])
        return self._compute_once((scene, sockets, frozenset(state.items())), lambda: self._walk_kernel(scene, state))

    def _walk_kernel(self, scene: DataNames, state: State) -> Found:
        return self._put_in_bindings(*self.walk(scene.kernel.body, scene, state), dict(scene.kernel.computed))

    def _compute_once(self, key: Any, compute: Callable[[], Found]) -> Found:
        if key not in self.done:
            self.done[key] = compute()
        return self.done[key]

    def walk(self, node: flow.Flow, scene: DataNames, state: State) -> Found:
        """One execution of a flow, with data where `state` says; data not named there are at their first place."""
        rule: Callable[[Journey, Any, DataNames, State], Found] = _RULES[type(node)]
        return rule(self, node, scene, state)

    def _put_in_bindings(self, totals: Totals, state: State, bindings: Mapping[Expr, Expr]) -> Found:
        if not bindings:
            return totals, state
        values = graph.substitute(list(totals.values()), bindings, self.carry)
        return dict(zip(totals, values, strict=True)), {name: put_in(where, bindings) for name, where in state.items()}

    # -- blocks ----------------------------------------------------------------------------------

    def _block(self, node: flow.Block, scene: DataNames, state: State) -> Found:
        self.met += 1
        if self.met > MOST_BLOCKS:
            message = "the kernels call each other on too many paths to follow their data"
            fail("too-many-paths", message, scene.kernel.name_span, hint="place one of the kernels with --kernel")
        socket, name = self.sockets[scene.kernel.name], scene.kernel.name
        cost = self.trees[socket].blocks[node]
        own = {RUNTIME: cost.time, Exclusive(name): cost.time, On(socket): cost.time}
        parts, after = [own, self._busy_seconds(cost, socket) if self._is_wanted(BusyOn) else {}], dict(state)
        for data, (writes, asked) in _data_touched_by(node, scene).items():
            where = self._location_of(data, state)
            after[data], moves = touch_location(where, self.memories.of_socket[socket], writes)
            if after[data] == self._initial_memory(data) and data not in state:
                del after[data]
            for hop, times in moves.items():  # carried by the instances on the socket whose links they go over
                carriers = self.trees[self.memories.names[max(hop)]].blocks[node].instances
                parts.append(self._move_data(scene, data, hop, times, asked, carriers))
        return self._drop_unwanted(add_totals(parts)), after

    def _is_wanted(self, kind: type[Total]) -> bool:
        return self.wanted is None or kind in self.wanted

    def _drop_unwanted(self, totals: Totals) -> Totals:
        return {key: worth for key, worth in totals.items() if self._is_wanted(type(key))}

    def _busy_seconds(self, cost: BlockCost, socket: str) -> Totals:
        """Seconds in which the components are in use."""
        parts: list[Totals] = [
            {BusyOn(device_of(item.offer.place if item.offer else None, socket), item.requirement.resource): item.time}
            for item in cost.requirements
        ]
        parts += [{BusyOn(device_of(level.place, socket), level.name): level.time} for level in cost.levels]
        parts += [{BusyOn(device_of(delay.place, socket), name): delay.time} for name, delay in cost.delays.items()]
        return add_totals(parts)

    def _location_of(self, data: str, state: State) -> Location:
        return state[data] if data in state else self._initial_memory(data)

    def _initial_memory(self, data: str) -> int:
        """The memory that first holds a data structure: the one that is stated, else where the kernel runs for its own,
        and the host's for others."""
        if data in self.begin:
            return 1 << self.begin[data]
        owner = data.rpartition(".")[0]
        own = owner in self.sockets and data not in self.application.data
        return 1 << self.memories.of_socket[self.sockets[owner]] if own else 1

    def _move_data(
        self,
        scene: DataNames,
        data: str,
        hop: tuple[int, int],
        times: Expr,
        asked: flow.Requirement,
        carriers: Instances,
    ) -> Totals:
        """Data that go from one memory to another, whole, before the block begins."""
        size = self._size(data, asked)
        seconds = graph.mul(times, self.memories.transfer(*hop, size, carriers))
        key = scene.kernel.name, data, *hop
        link = self.memories.link(*hop)
        return {
            WAITING: seconds,
            Crossed(link.where if link else None): seconds,
            Times(*key): times,
            Volume(*key): graph.mul(times, size),
            Seconds(*key): seconds,
        }

    def _size(self, data: str, asked: flow.Requirement) -> Expr:
        if data in self.application.data:
            return self.application.data[data].size
        message = f"the size of `{data}` is not declared, so it cannot be moved"
        hint = f"declare it: data {data.rpartition('.')[2]} [bytes]"
        missing = graph.failure(Diagnostic("unknown-size", message, asked.target_span or asked.span, hint=hint))
        owner = data.rpartition(".")[0]
        return (size_in_arguments(self.application, owner, data, self.origins) if owner else None) or missing

    # -- control flow ----------------------------------------------------------------------------

    def _sequence(self, node: flow.Sequence, scene: DataNames, state: State) -> Found:
        parts = []
        for step in node.steps:
            totals, state = self.walk(step, scene, state)
            parts.append(totals)
        return add_totals(parts), state

    def _repeat(self, node: flow.Repeat, scene: DataNames, state: State) -> Found:
        """The first pass finds the data where they were, every other one where a pass leaves them: it leaves them there
        again, since what a pass writes ends where it is written last, and what it only reads is then everywhere
        where it is read. That holds if all passes take the same way."""
        first, after = self.walk(node.body, scene, state)
        again, settled = self.walk(node.body, scene, after)
        for data, where in after.items():
            if where != settled[data] or any(node.counter in graph.free_symbols(item) for item in conditions(where)):
                return self._walk_each_pass(node, scene, state, data)
        runs = graph.compare(">", node.count, graph.ZERO)
        more = {
            key: graph.if_else(runs, graph.sub(first.get(key, graph.ZERO), again.get(key, graph.ZERO)), graph.ZERO)
            for key in dict.fromkeys((*first, *again))
            if first.get(key, graph.ZERO) is not again.get(key, graph.ZERO)
        }
        values = graph.substitute(list(more.values()), {node.counter: graph.ZERO}, self.carry)
        surplus = dict(zip(more, values, strict=True))
        return add_totals([totals_of_loop(node, again, on_rebuilt=self.carry), surplus]), self._fork_state(
            runs, after, state
        )

    def _walk_each_pass(self, node: flow.Repeat, scene: DataNames, state: State, data: str) -> Found:
        """A loop whose passes take different ways, each pass by itself, as far as the parameters now tell which way it
        takes; where they tell otherwise, the totals have no value."""
        known = _Now(self.now)
        count = self.now(node.count) if node.named else None
        parts: list[Totals] = []
        for number in range(math.ceil(count) if count is not None and count <= MOST_PASSES else 0):
            found, after = self.walk(node.body, scene, state)
            totals, after = self._put_in_bindings(found, after, {node.counter: graph.number(number)})
            parts.append(choose_totals(graph.compare(">", node.count, number), totals, {}))
            state = {name: decide_memories(where, known.holds) for name, where in after.items()}
        if count is None or count > MOST_PASSES or known.unknown:
            message = f"where `{data}` is differs from pass to pass of this loop"
            hint = "place the kernels of the loop that touch it on one socket"
            fail("unsettled-data", message, node.span, hint=hint)
        message = "the ways that this loop takes decide where data are, and were followed for other parameters"
        otherwise = graph.failure(Diagnostic("unsettled-data", message, node.span))
        known.holds(graph.compare(">", node.count, len(parts) - 1))
        known.holds(graph.compare(">", node.count, len(parts)))
        return add_totals([*parts, {RUNTIME: known.guard(otherwise)}]), state

    def _choice(self, node: flow.Choice, scene: DataNames, state: State) -> Found:
        totals, after = self.walk(node.otherwise, scene, state)
        for condition, branch in reversed(node.branches):
            taken, there = self.walk(branch, scene, state)
            totals, after = choose_totals(condition, taken, totals), self._fork_state(condition, there, after)
        return totals, after

    def _fork_state(self, condition: Expr, holds: State, fails: State) -> State:
        names = dict.fromkeys((*holds, *fails))
        return {
            name: fork_location(condition, self._location_of(name, holds), self._location_of(name, fails))
            for name in names
        }

    def _expectation(self, node: flow.Expectation, scene: DataNames, state: State) -> Found:
        parts, after = [], state
        for number, (probability, case) in enumerate(node.cases):
            totals, there = self.walk(case, scene, state)
            parts.append(scale_totals(probability, totals))
            self._refuse_chance(node, number, there, after)
            after = there
        return add_totals(parts), after

    def _refuse_chance(self, node: flow.Expectation, number: int, there: State, after: State) -> None:
        for data in dict.fromkeys((*there, *after)) if number else ():
            if self._location_of(data, there) != self._location_of(data, after):
                message = f"chance decides where `{data}` is after this"
                hint = f"place all its cases on one socket that has the data at first: --data {data}=SOCKET"
                fail("unsettled-data", message, node.span, hint=hint)

    def _parallel(self, node: flow.Parallel, scene: DataNames, state: State) -> Found:
        """Follows the branches of a `par` in the order written: each finds data where the one before leaves them."""
        branches = []
        for branch in node.branches:
            totals, state = self.walk(branch, scene, state)
            branches.append(totals)
        if not self.overlaps(node):
            return add_totals(branches), state
        return self.overlap.overlap_branches(branches, node.label == IN_ORDER), state

    def _call(self, node: flow.Call, scene: DataNames, state: State) -> Found:
        arrays = tuple((formal, scene.data(actual)) for formal, actual in node.arrays)
        called = DataNames(node.kernel, arrays)
        here = {name: where for name, where in state.items() if name in _data_of_scene(called)}
        sockets = tuple(self.sockets[name] for name in self.below[node.kernel])
        totals, after = self._compute_once(
            (node, called, sockets, frozenset(here.items())),
            lambda: self._put_in_bindings(*self.kernel(called, here), dict(node.arguments)),
        )
        return {**totals, **self._drop_unwanted({Calls(node.kernel.name): graph.ONE})}, {**state, **after}


class _Now:
    """Which conditions hold with the parameters as they are: all that were asked for."""

    def __init__(self, now: Callable[[Expr], float | None]) -> None:
        self.now = now
        self.asked: dict[Expr, bool] = {}
        self.unknown = False

    def holds(self, condition: Expr) -> bool:
        if condition not in self.asked:
            value = self.now(graph.if_else(condition, 1, 0))
            self.unknown = self.unknown or value is None
            self.asked[condition] = bool(value)
        return self.asked[condition]

    def guard(self, otherwise: Expr) -> Expr:
        """0 where every condition has the outcome that it had, `otherwise` where one differs."""
        guarded = graph.ZERO
        for condition, held in self.asked.items():
            guarded = graph.if_else(condition, *((guarded, otherwise) if held else (otherwise, guarded)))
        return guarded


_RULES: dict[type, Callable[[Journey, Any, DataNames, State], Found]] = {
    flow.Block: Journey._block,
    flow.Sequence: Journey._sequence,
    flow.Parallel: Journey._parallel,
    flow.Repeat: Journey._repeat,
    flow.Choice: Journey._choice,
    flow.Expectation: Journey._expectation,
    flow.Call: Journey._call,
}


def names_of_data(node: flow.Flow) -> Iterator[str]:
    """The data structures that a flow names in its blocks and calls."""
    for block in blocks_in(node):
        yield from (item.target for item in block.requirements if item.target is not None)
    for call in calls_in(node):
        yield from (actual for _, actual in call.arrays)


@lru_cache(maxsize=1024)
def _data_of_scene(scene: DataNames) -> frozenset[str]:
    """The data structures that a kernel and its callees may touch."""
    bodies = [scene.kernel.body, *(under.body for under in callees_first(scene.kernel))]
    return frozenset(scene.data(name) for body in bodies for name in names_of_data(body))


def _data_touched_by(node: flow.Block, scene: DataNames) -> dict[str, tuple[bool, flow.Requirement]]:
    """The data structures that a block names, whether it writes them, and where it says so first."""
    touches: dict[str, tuple[bool, flow.Requirement]] = {}
    for requirement in node.requirements:
        if requirement.target is not None:
            name = scene.data(requirement.target)
            writes, first = touches.get(name, (False, requirement))
            touches[name] = writes or requirement.direction == "to", first
    return touches
