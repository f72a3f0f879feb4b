"""Placement: an application whose kernels run on several kinds of sockets of one machine, chosen or the best found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

from aspenpy.answers.case import Case
from aspenpy.answers.energy.cap_warning import SAME, as_warnings, cap_warning
from aspenpy.answers.energy.waiting import waiting_by_kernel
from aspenpy.answers.evaluation import Evaluation
from aspenpy.answers.occupancy import warn_of_unlike_ranks
from aspenpy.answers.placement.journey import Journey, Seconds, Times, Volume
from aspenpy.answers.placement.locations import Memories
from aspenpy.answers.placement.overlap import IN_WHOLE, WAITING, BusyOn, Crossed, On, device_of
from aspenpy.answers.scope import Scope, as_float
from aspenpy.cost.cost import CostTree
from aspenpy.cost.mapper import warnings_of
from aspenpy.cost.rank_units import is_on_device
from aspenpy.cost.target import choose_socket
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.sympy_view import to_sympy
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, fail, require_known, suggest_nearest
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import (
    RUNTIME,
    Calls,
    Exclusive,
    Total,
    blocks_in,
    callees_first,
    calls_in,
    of_kind,
    sum_terms,
    walk_flow,
)
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.numbers import seconds
from aspenpy.tables.result import Result


class KernelPlace(Record):
    """A kernel over the run: socket, calls, seconds in its own blocks, and the bytes and seconds moved for it."""

    name: str
    socket: str
    calls: float
    time: float
    volume: float
    transfer: float


class Move(Record):
    """A data structure moved between the memories of two sockets: how often, bytes in all, and seconds."""

    data: str
    source: str
    destination: str
    times: float
    volume: float
    seconds: float


TIMED: frozenset[type[Total]] = frozenset(type(key) for key in IN_WHOLE)
OF_OVERLAP: frozenset[type[Total]] = frozenset({On, BusyOn, Crossed})


class PlacementProblem:
    """A run on a machine with several kinds of sockets, before its kernels are placed.

    `data` says at which sockets data structures lie at first; all others lie at the first one.
    """

    def __init__(self, case: Case, data: Mapping[str, str] | None = None) -> None:
        self.case = case
        self.application = case.application
        self.machine = machine = case.required_machine
        self.seed = case.seed
        self.settings = case.set
        self.memories = Memories(machine)
        self.cases = {socket: case_on_socket(case, socket) for socket in machine.sockets}
        self.trees = {socket: there.tree for socket, there in self.cases.items()}
        self.tree: CostTree = self.trees[machine.sockets[0]]
        self.entry = self.tree.entry
        self.working = tuple(kernel.name for kernel in reversed(self.tree.kernels) if blocks_in(kernel.body))
        self._done: dict[Any, Any] = {}
        self.begin = {name: self._begins(name, socket) for name, socket in (data or {}).items()}

    def _begins(self, name: str, socket: str) -> int:
        app, listed = self.application, "its data structures are"
        message = f"application `{app.name}` has no data structure `{name}`"
        require_known(name, app.data, "unknown-data", message, app.node.name_span, listed=listed)
        choose_socket(self.machine, socket)  # for its error alone
        return self.memories.of_socket[socket]

    def journey(self, sockets: Mapping[str, str]) -> Journey:
        """The run with every kernel on a socket."""
        return Journey(self.trees, self.memories, sockets, begin=self.begin, now=self.present_value)

    def walk_for_runtime(self, sockets: Mapping[str, str]) -> Journey:
        """The run with every kernel on a socket, priced for the runtime alone; prices are shared with earlier quick
        runs."""
        return Journey(
            self.trees,
            self.memories,
            sockets,
            begin=self.begin,
            now=self.present_value,
            wanted=self.timed,
            done=self._done,
        )

    def present_value(self, expr: Expr) -> float | None:
        """The value of an expression; None where the arguments of its kernel or the counters of loops decide it."""
        scope = self.scope([expr])
        is_constant = not graph.free_symbols(scope.formulas([expr])[0])
        return float(scope.values([expr], self.seed)[0]) if is_constant else None

    @cached_property
    def overlapping(self) -> bool:
        """Whether there are branches that run at once."""
        nodes = (node for kernel in self.tree.kernels for node in walk_flow(kernel.body))
        return any(isinstance(node, flow.Parallel) and self.tree.overlaps(node) for node in nodes)

    @cached_property
    def timed(self) -> frozenset[type[Total]]:
        """The kinds of totals that the runtime depends on."""
        return TIMED | OF_OVERLAP if self.overlapping else TIMED

    def place_kernels(self, chosen: Mapping[str, str]) -> Placement:
        """The placement with some kernels, and their callees, on chosen sockets."""
        sockets = assign_sockets(self.application, self.machine, self.entry, chosen, self._is_indifferent)
        return Placement(self, sockets)

    def _is_indifferent(self, kernel: flow.Kernel) -> bool:
        """Whether a kernel asks only for what sockets share, and moves no data."""
        costs = (self.tree.blocks[block] for block in blocks_in(kernel.body))
        return all(
            item.requirement.target is None and device_of(item.offer.place if item.offer else None, "own") is None
            for cost in costs
            for item in cost.requirements
        )

    def place_all_on(self, socket: str) -> Placement:
        """The answer with all kernels on one socket."""
        return Placement(self, {kernel.name: socket for kernel in self.tree.kernels})

    def scope(self, roots: Sequence[Expr]) -> Scope:
        tree = self.tree
        definitions = {symbol: value for each in self.trees.values() for symbol, value in each.definitions.items()}
        return Scope(
            self.application,
            self.machine,
            self.entry,
            definitions=definitions,
            origins=tree.origins,
            settings=self.settings,
            roots=roots,
        )


class Placement(Result):
    """Every kernel on its socket, what that takes, and what moves. Everything is computed when asked for."""

    def __init__(
        self, question: PlacementProblem, sockets: Mapping[str, str], search: PlacementSearch | None = None
    ) -> None:
        self.question = question
        self.sockets = {name: sockets[name] for name in question.working}
        self.search = search
        self.totals = question.journey(sockets).run(question.entry)
        self.scope = question.scope(list(self.totals.values()))

    @property
    def application(self) -> Application:
        """The application that is placed."""
        return self.question.application

    @property
    def machine(self) -> Machine:
        """The machine that it is placed on."""
        return self.question.machine

    @property
    def kernel(self) -> str:
        """The kernel that was evaluated."""
        return self.question.entry.name

    def __repr__(self) -> str:
        return f"<Placement of {self.application.name} on {self.machine.name}: {self.runtime:.6g} s>"

    # -- numbers ---------------------------------------------------------------------------------

    @property
    def total(self) -> Expr:
        """Seconds of the whole run, transfers included, in the symbols of the models."""
        parts = [self.totals[key] for key in (RUNTIME, WAITING) if key in self.totals]
        return graph.add(*parts)

    @cached_property
    def runtime(self) -> float:
        """Seconds of the whole run, transfers included."""
        return self._value(self.total)

    @cached_property
    def transfer(self) -> float:
        """Seconds of all transfers of data. Where branches overlap, the run does not wait for every transfer."""
        return sum(move.seconds for move in self.moves)

    @cached_property
    def hidden(self) -> float:
        """Seconds that the run is shorter than all blocks and transfers in turn, because branches overlap."""
        in_turn = sum(kernel.time for kernel in self.kernels) + self.transfer
        return in_turn - self.runtime if in_turn > self.runtime * (1 + ROUNDING) else 0.0

    @cached_property
    def values(self) -> dict[Any, float]:
        """The value of every total (see `Journey` for the keys) that says what is run or moved."""
        asked = {key: worth for key, worth in self.totals.items() if type(key) in SHOWN}
        values = self.scope.values(list(asked.values()), self.question.seed)
        return {key: float(value) for key, value in zip(asked, values, strict=True)}

    @cached_property
    def kernels(self) -> tuple[KernelPlace, ...]:
        """The kernels that do something themselves, in the order in which they call each other."""
        places = []
        for name, socket in self.sockets.items():
            volume, seconds = (
                sum(worth for key, worth in of_kind(kind, self.values).items() if key.kernel == name)
                for kind in (Volume, Seconds)
            )
            calls, time = self.values[Calls(name)], self.values[Exclusive(name)]
            places.append(KernelPlace(name, socket, calls, time=time, volume=volume, transfer=seconds))
        return tuple(places)

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """Data moves between memories, for all kernels together; the longest first."""
        sums: dict[tuple[str, int, int], list[float]] = {}
        for number, kind in enumerate((Times, Volume, Seconds)):
            for key, worth in of_kind(kind, self.values).items():
                if worth:
                    sums.setdefault((key.data, key.source, key.goal), [0.0, 0.0, 0.0])[number] += worth
        names = self.question.memories.names
        all_moves = [Move(data, names[a], names[b], *worths) for (data, a, b), worths in sums.items()]
        return tuple(sorted(all_moves, key=lambda move: -move.seconds))

    @cached_property
    def alternatives(self) -> dict[str, float | Diagnostic]:
        """Seconds of the run with all kernels on one socket, by socket; or why it cannot run there."""
        times: dict[str, float | Diagnostic] = {}
        for socket in self.machine.sockets:
            try:
                times[socket] = self.question.place_all_on(socket).runtime
            except AspenError as error:
                times[socket] = error.diagnostics[0]
        return times

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the models, traits that no socket of the machine knows, and ranks that have parts of different
        kinds on the sockets."""
        models = warnings_of(self.application, self.machine, kernel=self.question.entry.name)
        return (*models, *warn_of_unlike_ranks(self.question.trees), *self._warn_of_caps())

    def _warn_of_caps(self) -> Iterator[Diagnostic]:
        """A warning for each kind of socket whose power cap makes the kernels on it longer."""
        for socket in dict.fromkeys(self.sockets.values()):
            alone = Evaluation(self.question.cases[socket])
            if alone.stated_cap is None:
                continue
            try:
                by_kernel = waiting_by_kernel(alone.tree, apart=True)
                waiting = [wait for name, wait in by_kernel.items() if self.sockets.get(name) == socket]
                waited = float(alone.scope.values([sum_terms(waiting)], self.question.seed)[0])
            except AspenError as error:
                yield from as_warnings(error)
                continue
            time = sum(kernel.time for kernel in self.kernels if kernel.socket == socket)
            if waited > time * SAME:
                longer = f"the kernels on it take {seconds(time + waited)}, and not {seconds(time)}"
                yield cap_warning(alone, longer)

    def _value(self, expr: Expr) -> float:
        value = self.scope.values([expr], self.question.seed)[0]
        return as_float(value, "the runtime", self.question.entry.name_span)

    # -- formulas --------------------------------------------------------------------------------

    def formula(self, free: Sequence[str] = ()) -> Expr:
        """The runtime as a node of the expression graph in the free parameters; the rest is put in."""
        return self.scope.formulas([self.total], free)[0]

    def expression(self, free: Sequence[str] = ()) -> Any:
        """The runtime as a SymPy expression in the free parameters, seconds."""

        return to_sympy(self.formula(free))


ROUNDING = 1e-12  # differences so small, relative to the whole, are those of floating point
SHOWN = frozenset({Calls, Exclusive, Times, Volume, Seconds})


class PlacementSearch(Record):
    """The search behind a placement: its method, whether no placement can be better, and the number of runs that were
    priced."""

    method: str
    proven: bool
    tried: int


def case_on_socket(case: Case, socket: str) -> Case:
    """The case on one kind of socket. Where each rank has a device and cores of the host, its kernels on the host have
    those cores."""
    machine, placement = case.required_machine, case.placement
    on_device = {name: is_on_device(list(machine.first_places(name)), placement) for name in machine.sockets}
    of_host = placement.cores_per_rank is not None and any(on_device.values()) and not on_device[socket]
    return case.changed(socket=socket, bind=None) if of_host else case.changed(socket=socket)


# -- sockets of kernels ---------------------------------------------------------------------------


def assign_sockets(
    application: Application,
    machine: Machine,
    entry: flow.Kernel,
    chosen: Mapping[str, str],
    indifferent: Callable[[flow.Kernel], bool],
) -> dict[str, str]:
    """The socket of every kernel that the entry reaches: the one chosen, else that of the kernels that call it; the
    entry's is the first. Raises AspenError for names that are not there, and for callers that disagree about a kernel
    that is not `indifferent` to where it runs."""
    check_names(application, machine, entry, chosen)
    sockets = {entry.name: chosen.get(entry.name, machine.sockets[0])}
    callers: dict[str, dict[str, flow.Call]] = {}
    for kernel in reversed(callees_first(entry)):
        if kernel.name in chosen:
            sockets[kernel.name] = chosen[kernel.name]
        elif kernel is not entry:
            first, *others = callers[kernel.name]
            if others and not indifferent(kernel):
                _refuse_ambiguous(kernel, callers[kernel.name])
            sockets[kernel.name] = first
        for call in calls_in(kernel.body):
            callers.setdefault(call.kernel.name, {}).setdefault(sockets[kernel.name], call)
    return sockets


def _refuse_ambiguous(kernel: flow.Kernel, callers: Mapping[str, flow.Call]) -> NoReturn:
    first, second, *_ = callers
    message = f"kernel `{kernel.name}` is called from kernels on `{first}` and on `{second}`"
    related = tuple(Related(callers[socket].span, f"from `{socket}`") for socket in (first, second))
    hint = f"say where it runs: {kernel.name}={first}"
    fail("which-socket", message, kernel.name_span, related=related, hint=hint)


def check_names(application: Application, machine: Machine, entry: flow.Kernel, chosen: Mapping[str, str]) -> None:
    """Refuses kernels that the run does not reach, and sockets that the machine does not have."""
    names = [kernel.name for kernel in reversed(callees_first(entry))]
    for name, socket in chosen.items():
        if name not in names:
            if name in application.kernels:
                message = f"kernel `{entry.name}` does not call `{name}`, so it cannot be placed"
                fail("unknown-kernel", message, application.kernels[name].name_span)
            hint = suggest_nearest(name, names) or "the kernels are " + ", ".join(names[:12])
            message = f"application `{application.name}` has no kernel `{name}`"
            fail("unknown-kernel", message, application.node.name_span, hint=hint)
        choose_socket(machine, socket)  # for its error alone
