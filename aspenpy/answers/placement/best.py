"""The best placement: every kernel that does something on the socket where the whole run is the fastest.

The run is cut into the steps of its entry kernel. What a step takes depends on where the data are before it and on
where its kernels run, so that of all ways to come to one state the fastest is enough (dynamic programming, Bellman
1957). A state is where the data are that later steps touch, and on which sockets the kernels run that come again.
Within a step all placements are tried. Where that is too much, single kernels, and all that touch one data structure,
change sockets while that helps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.placement.journey import DataNames, names_of_data
from aspenpy.answers.placement.locations import Location, State, decide_memories
from aspenpy.answers.placement.overlap import IN_WHOLE
from aspenpy.answers.placement.placement import Placement, PlacementProblem, PlacementSearch, check_names
from aspenpy.expr import graph
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import Exclusive, OfBlocks, blocks_in, callees_first, calls_in, run_totals
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record

MOST_TRIED = 3_000  # steps that are priced: some ten seconds
UNABLE = ("no-such-resource", "too-many-ranks", "no-core-for-rank", "no-path")
"""Codes of errors by which a kernel cannot run on a socket: no places for its ranks, or not what it asks for."""

IMPOSSIBLE = ("no-link", "unknown-size")  # data cannot be moved, which rules a placement out
UNKNOWN = "unsettled-data"  # data cannot be followed: whether the placement is the best stays open

EXACT, LOCAL = "dynamic programming", "local search"

Sockets = dict[str, str]


def best_placement(question: PlacementProblem, fixed: Mapping[str, str]) -> Placement:
    """The fastest placement, with the kernels of `fixed`, and what they alone call, where it says. Ties go to the
    sockets that the machine names first. Raises AspenError where a kernel can run on none."""
    return _Chooser(question, fixed).best()


class _Route(Record):
    """A way through the steps so far: its seconds, where the data are, and where the kernels ran."""

    seconds: float
    state: State
    sockets: Sockets


class _Chooser:
    def __init__(self, question: PlacementProblem, fixed: Mapping[str, str]) -> None:
        self.question = question
        self.scope = question.scope([tree.runtime for tree in question.trees.values()])
        check_names(question.application, question.machine, question.entry, fixed)
        self.order = question.machine.sockets
        self.steps = [_Step(step, question.entry) for step in _walk_steps(question.entry.body)]
        self.idle = {kernel.name: self.order[0] for kernel in question.tree.kernels}
        self.options = self._options(_assign_callees(question, fixed))
        self.tried = 0
        self.refused: dict[str, AspenError] = {}

    # -- which sockets a kernel can run on -------------------------------------------------------

    def _options(self, fixed: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """The sockets that serve every requirement of each working kernel. In a run without overlap, a kernel that
        touches no named data has only the socket on which it is fastest: no other choice depends on it."""
        times = {socket: self._times(socket) for socket in self.order}
        options: dict[str, tuple[str, ...]] = {}
        alone = _kernels_without_data(self.question)
        for name in self.question.working:
            allowed = (fixed[name],) if name in fixed else self.order
            able = {socket: time for socket in allowed if isinstance(time := times[socket][name], float)}
            if not able:
                raise AspenError(*{item for socket in allowed if isinstance(item := times[socket][name], Diagnostic)})
            options[name] = (min(able, key=able.__getitem__),) if name in alone else tuple(able)
        return options

    def _times(self, socket: str) -> dict[str, float | Diagnostic]:
        """Seconds of each kernel on a socket over the run, or the reason why it cannot run there."""
        entry = self.question.entry
        costs = self.question.trees[socket].blocks
        totals = run_totals(OfBlocks(lambda block, kernel: {Exclusive(kernel.name): costs[block].time}), entry)
        times: dict[str, float | Diagnostic] = {}
        for name in self.question.working:
            try:
                times[name] = float(self._values([totals[Exclusive(name)]])[0])
            except AspenError as error:
                if error.diagnostics[0].code not in UNABLE:
                    raise
                times[name] = error.diagnostics[0]
        return times

    # -- the search ------------------------------------------------------------------------------

    def best(self) -> Placement:
        """The fastest placement: of all of them where routes can be followed, else improved kernel by kernel."""
        routes = self._fastest_routes()
        if routes is None:
            sockets, seconds = self._improve_all()
        else:
            fastest = min(routes, key=lambda route: route.seconds, default=_Route(math.inf, {}, {}))
            sockets, seconds = fastest.sockets, fastest.seconds
        if seconds == math.inf:
            raise next(iter(self.refused.values()))
        proven = routes is not None and UNKNOWN not in self.refused
        search = PlacementSearch(LOCAL if routes is None else EXACT, proven, self.tried)
        return Placement(self.question, self.idle | sockets, search)

    def _fastest_routes(self) -> list[_Route] | None:
        """The fastest ways through all steps, one for each state; None where there are too many to try."""
        routes = [_Route(0.0, {}, {})]
        for number, step in enumerate(self.steps):
            later = self.steps[number + 1 :]
            again = {name for other in later for name in other.kernels}
            data = {name for other in later for name in other.data}
            kept: dict[Any, _Route] = {}
            if self.tried + sum(self._count_ways(step, route) for route in routes) > MOST_TRIED:
                return None
            for route in routes:
                for sockets in self._choices(step, route):
                    reached = self._try_extension(step, route, sockets, data)
                    if reached is None:
                        continue
                    key = (
                        frozenset(reached.state.items()),
                        tuple((name, socket) for name, socket in sorted(reached.sockets.items()) if name in again),
                    )
                    if key not in kept or reached.seconds < kept[key].seconds:
                        kept[key] = reached
            routes = list(kept.values())
        return routes

    def _count_ways(self, step: _Step, route: _Route) -> int:
        ways = 1
        for name in self._open(step, route):
            ways *= len(self.options[name])
        return ways

    def _open(self, step: _Step, route: _Route) -> list[str]:
        """The kernels of a step that have no socket yet."""
        return [name for name in step.kernels if name in self.options and name not in route.sockets]

    def _choices(self, step: _Step, route: _Route) -> Iterator[Sockets]:
        names = self._open(step, route)
        for sockets in product(*(self.options[name] for name in names)):
            yield route.sockets | dict(zip(names, sockets, strict=True))

    def _try_extension(self, step: _Step, route: _Route, sockets: Sockets, data: set[str]) -> _Route | None:
        """The way that goes on with a step; None where there is none."""
        try:
            return self._extend_route(step, route, sockets, data)
        except AspenError as error:
            self._note_error(error)
            return None

    def _extend_route(self, step: _Step, route: _Route, sockets: Sockets, data: set[str]) -> _Route:
        self.tried += 1
        entry = self.question.entry
        journey = self.question.walk_for_runtime(self.idle | sockets)
        totals, after = journey.walk(step.node, DataNames(entry, ()), route.state)
        own = {**dict(entry.computed), entry.context: graph.ZERO}
        times = graph.substitute([totals.get(key, graph.ZERO) for key in IN_WHOLE], own)
        seconds = sum(float(value) for value in self._values(times))
        state = {name: self._decide_location(where) for name, where in after.items() if name in data}
        return _Route(route.seconds + seconds, state, sockets)

    def _decide_location(self, where: Location) -> Location:
        return decide_memories(where, lambda condition: bool(self._values([graph.if_else(condition, 1, 0)])[0]))

    def _values(self, exprs: Sequence[graph.Expr]) -> list[Any]:
        return self.scope.values(exprs, self.question.seed)

    # -- where that is too much ------------------------------------------------------------------

    def _improve_all(self) -> tuple[Sockets, float]:
        """Hill climbing from all kernels on one socket: single kernels, or all that touch one data structure, move."""
        starts = [
            {name: socket if socket in able else able[0] for name, able in self.options.items()}
            for socket in self.order
        ]
        return min((self._climb(start) for start in starts), key=lambda assigned: assigned[1])

    def _climb(self, sockets: Sockets) -> tuple[Sockets, float]:
        best = self._runtime_on(sockets)
        better = True
        while better:
            better = False
            for group, socket in product(self._groups(), self.order):
                moved = {name: socket for name in group if socket in self.options[name]}
                other = sockets | moved
                if other != sockets and (seconds := self._runtime_on(other)) < best:
                    sockets, best, better = other, seconds, True
        return sockets, best

    def _groups(self) -> list[list[str]]:
        """Kernels that are moved together: each alone, and all that touch one data structure."""
        singles = [[name] for name, able in self.options.items() if len(able) > 1]
        touching: dict[str, list[str]] = {}
        for kernel in self.question.tree.kernels:
            for data in set(names_of_data(kernel.body)) if kernel.name in self.options else ():
                touching.setdefault(data, []).append(kernel.name)
        return [*singles, *(touching[data] for data in sorted(touching) if len(touching[data]) > 1)]

    def _runtime_on(self, sockets: Sockets) -> float:
        """Seconds of the run with its kernels on these sockets; infinite where they cannot run so."""
        self.tried += 1
        try:
            totals = self.question.walk_for_runtime(self.idle | sockets).run(self.question.entry)
            return sum(float(value) for value in self._values([totals.get(key, graph.ZERO) for key in IN_WHOLE]))
        except AspenError as error:
            self._note_error(error)
            return math.inf

    def _note_error(self, error: AspenError) -> None:
        """Notes why a placement is left out: data that cannot be moved rule it out, data that cannot be followed leave
        open whether it would be the best. Other errors are the run's own."""
        code = error.diagnostics[0].code
        if code not in (*UNABLE, *IMPOSSIBLE, UNKNOWN):
            raise error
        self.refused.setdefault(code, error)


class _Step:
    """A step of the entry kernel, with the kernels that it runs and the data structures that it may touch."""

    def __init__(self, node: flow.Flow, entry: flow.Kernel) -> None:
        self.node = node
        called = dict.fromkeys(kernel for call in calls_in(node) for kernel in callees_first(call.kernel))
        own = [entry.name] if blocks_in(node) else []
        self.kernels = [*own, *(kernel.name for kernel in called)]
        bodies = [node, *(kernel.body for kernel in called)]
        self.data = {name for body in bodies for name in names_of_data(body)}


def _walk_steps(node: flow.Flow) -> Iterator[flow.Flow]:
    """Steps of a flow in the order in which they run."""
    if isinstance(node, flow.Sequence):
        for step in node.steps:
            yield from _walk_steps(step)
    else:
        yield node


def _kernels_without_data(question: PlacementProblem) -> set[str]:
    """The kernels that move no data, in a run without overlap."""
    if question.overlapping:
        return set()
    return {
        kernel.name
        for kernel in question.tree.kernels
        if not any(item.target for block in blocks_in(kernel.body) for item in block.requirements)
    }


def _assign_callees(question: PlacementProblem, fixed: Mapping[str, str]) -> Sockets:
    """Sockets of the fixed kernels and of the kernels that no other kernel calls."""
    if not fixed:
        return {}
    free = "free"
    sockets_of: dict[str, str] = {question.entry.name: fixed.get(question.entry.name, free)}
    for kernel in reversed(question.tree.kernels):
        for call in calls_in(kernel.body):
            name, socket = call.kernel.name, sockets_of[kernel.name]
            sockets_of[name] = fixed.get(name, socket if sockets_of.get(name, socket) == socket else free)
    return {name: socket for name, socket in sockets_of.items() if socket != free}


@one_allowance
def place(
    app: Application | Case,
    machine: Machine | None = None,
    sockets: Mapping[str, str] | None = None,
    *,
    best: bool = False,
    data: Mapping[str, str] | None = None,
    **options: Unpack[CaseOptions],
) -> Placement:
    """Assigns kernels to sockets of one machine and predicts the run; the options are those of `Case`, its socket left
    out. `sockets` says where kernels run: `{"kernel": "socket"}`; kernels not named run where their callers do.

    `sockets` says where kernels run: `{"kernel": "socket"}`; what they call runs there too, and all else on the
    first socket. With `best`, the fastest placement of all other kernels is looked for. `data` says where data
    structures lie at first: `{"name": "socket"}`, all others at the first socket.

    :returns: the socket of each kernel, the runtime and the transfers in seconds, the bytes moved
    :raises AspenError: for kernels, data and sockets that do not exist, and where a kernel runs on no socket
    """
    question = PlacementProblem(case_of(app, machine, options), data)
    if best:
        return best_placement(question, sockets or {})
    placement = question.place_kernels(sockets or {})
    _ = placement.runtime
    return placement
