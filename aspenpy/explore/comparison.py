"""Comparison: one application on several machines or kinds of sockets, by runtime and by energy.

The energies are those of Umar, dissertation 2018, section 3.9.1. The kernel's data may first have to be moved to the
socket: while they are, it draws its idle power, and its link what it declares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.power import PowerTree
from aspenpy.answers.expected_error import ExpectedError, expected_error
from aspenpy.answers.footprint import Footprint
from aspenpy.answers.occupancy import warn_of_unlike_ranks
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.cost.prices import LINK, over_link
from aspenpy.cost.target import target_of
from aspenpy.explore.crossovers import Contender, Crossovers
from aspenpy.explore.race import Seen
from aspenpy.explore.variable import takes_whole
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import Real
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, warning
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result


class Comparison(Result):
    """Several cases, such as a kernel on several machines, at one point or `over` a parameter from `low` to `high`.
    Where a rank would have a core of one machine and a whole device of another, it has a socket of each, unless a case
    says what a rank occupies."""

    def __init__(self, cases: Sequence[Case], *, transfer: bool = False) -> None:
        if len(cases) < 2:
            hint = "separate several by commas: --machine A,B, or --socket A,B of one machine"
            fail("one-machine", "a comparison needs two machines or sockets, not one", hint=hint)
        self.case = cases[0]
        self.seed = self.case.seed
        predictions, self.left_out = _predict_where_possible(cases)
        predictions = _use_whole_sockets(predictions)
        moved = [graph.ZERO, *(self._transfer(item) if transfer else graph.ZERO for item in predictions[1:])]
        labels = _label_contenders(predictions)
        self.contenders = tuple(map(Contender, labels, predictions, moved))

    @cached_property
    def times(self) -> dict[str, float]:
        """Seconds of each contender, the transfer included."""
        return {item.label: float(item.prediction.scope.values([item.time], self.seed)[0]) for item in self.contenders}

    @cached_property
    def transfers(self) -> dict[str, float]:
        """Seconds that each contender spends on moving the data."""
        return {
            item.label: float(item.prediction.scope.values([item.transfer], self.seed)[0]) for item in self.contenders
        }

    @cached_property
    def capped_times(self) -> dict[str, float | None]:
        """Seconds of each contender under the power cap that its socket states; None where the cap cannot hold, which
        is a warning."""
        runs = [(item.label, item.prediction) for item in self.contenders]
        capped = {label: (run.capped_runtime, run.runtime) for label, run in runs}
        return {name: None if cap is None else self.times[name] + cap - alone for name, (cap, alone) in capped.items()}

    @property
    def fastest_under_caps(self) -> str | None:
        """The contender with the shortest time under the power caps; None where one cannot hold."""
        times = {label: time for label, time in self.capped_times.items() if time is not None}
        return min(times, key=times.__getitem__) if len(times) == len(self.capped_times) else None

    @cached_property
    def errors(self) -> dict[str, ExpectedError]:
        """The error to expect of each contender's runtime."""
        return {item.label: expected_error(item.prediction) for item in self.contenders}

    @property
    def alike(self) -> tuple[str, ...]:
        """The contenders that cannot be told apart from the fastest: the interval in which nine of ten such cases lie
        overlaps with its own."""
        best = self.errors[self.fastest].around(self.times[self.fastest])
        others = {name: self.errors[name].around(time) for name, time in self.times.items() if name != self.fastest}
        return tuple(name for name, ends in others.items() if best is not None and ends and ends[0] < best[1])

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Why machines are left out, and where a rank has a core of one machine and a whole device of another."""
        return (*self.left_out, *warn_of_unlike_ranks({one.label: one.prediction.tree for one in self.contenders}))

    @property
    def fastest(self) -> str:
        """The contender with the shortest runtime, which leaves power caps out: not every machine states one."""
        return min(self.times, key=self.times.__getitem__)

    def over(
        self, parameter: str, low: Real, high: Real, *, whole: bool | None = None, progress: Seen | None = None
    ) -> Crossovers:
        """All crossovers of any two contenders in the interval, and who is the fastest where; at `whole` numbers alone
        if nothing else is said of a parameter whose range declares such. `progress` is told which part of the proof is
        done, 0 to 1."""
        if whole is None:
            whole = takes_whole(parameter, self.contenders[0].prediction)
        first, last = (math.ceil(low), math.floor(high)) if whole else (low, high)
        if first >= last:
            values = "whole values" if whole else "values"
            fail("empty-range", f"`{parameter}` has no two {values} from {float(low):.6g} to {float(high):.6g}")
        return Crossovers(self.contenders, parameter, first, high=last, whole=whole, progress=progress)

    def _transfer(self, prediction: Prediction) -> Expr:
        """The kernel's data over the link."""
        offer = target_of(prediction.machine, prediction.socket).offers.get(LINK)
        if offer is None:
            message = f"machine `{prediction.machine.name}` declares no link: nothing there offers `{LINK}`"
            fail("no-link", message, prediction.machine.root.name_span, hint="compare without --transfer")
        application = prediction.application
        sizes = []
        for name in Footprint(prediction.case).data:
            if name not in application.data:
                fail("unknown-size", f"the size of `{name}` is not declared, so it cannot be moved")
            sizes.append(application.data[name].size)
        if not sizes:
            message = f"kernel `{prediction.kernel}` names no data structures, so nothing can be moved"
            fail("no-data", message, prediction.tree.entry.name_span, hint="write `loads [...] from NAME`")
        return over_link(offer, graph.add(*sizes), [cost.instances for cost in prediction.tree.blocks.values()])


SOCKET = "socket"  # what each rank has where machines are compared that give it parts of different kinds

LACKS = frozenset({"no-such-resource", "no-such-component", "no-core-for-rank", "too-many-ranks"})
"""Mistakes of a machine on which an application cannot run, by their codes: others can be compared all the same."""


def _predict_where_possible(cases: Sequence[Case]) -> tuple[list[Prediction], tuple[Diagnostic, ...]]:
    """Predictions on the machines that have what the application asks for, and a warning for each of the others.
    Raises AspenError where fewer than two are left."""
    predictions: list[Prediction] = []
    left_out: list[Diagnostic] = []
    refused: list[Diagnostic] = []
    for case in cases:
        try:
            predictions.append(predict(case))
        except AspenError as error:
            first = error.diagnostics[0]
            if first.code not in LACKS or case.machine is None:
                raise
            refused.extend(error.diagnostics)
            message = f"`{case.machine.name}` is left out: {first.message}"
            left_out.append(warning("left-out", message, first.span, related=first.related, hint=first.hint))
    if len(predictions) < 2:
        raise AspenError(*refused)
    return predictions, tuple(left_out)


def _use_whole_sockets(predictions: list[Prediction]) -> list[Prediction]:
    """The same with a whole socket for each rank, where machines give ranks parts of different kinds or one does not
    say which, nobody asked for another part, and each machine can."""
    if any(one.case.placement.bind is not None for one in predictions):
        return predictions
    if not warn_of_unlike_ranks({str(index): one.tree for index, one in enumerate(predictions)}):
        return predictions
    bound = [one.tree.rank_placement is not None or one.tree.residence.where.rank_counts for one in predictions]
    try:
        return [
            predict(one.case.changed(bind=SOCKET)) if has_ranks else one
            for one, has_ranks in zip(predictions, bound, strict=True)
        ]
    except AspenError as error:
        if error.diagnostics[0].code not in LACKS:
            raise
        return predictions  # which `warnings` tells


def _label_contenders(predictions: Sequence[Prediction]) -> list[str]:
    """Machines by name; with the socket where a machine comes more than once."""
    names = [item.machine.name for item in predictions]
    labels = [
        f"{item.machine.name}/{item.socket}" if names.count(item.machine.name) > 1 else item.machine.name
        for item in predictions
    ]
    for label in labels:
        if labels.count(label) > 1:
            fail("same-machine", f"`{label}` is compared with itself", hint="name different machines, or --socket A,B")
    return labels


@one_allowance
def compare(
    app: Application | Case,
    machines: Machine | Sequence[Machine],
    *,
    sockets: Sequence[str] = (),
    transfer: bool = False,
    **options: Unpack[CaseOptions],
) -> Comparison:
    """One application, or a `Case`, on several machines: `compare(app, [first, second], set={"n": 1000})`.

    `sockets` names the kind of socket on each machine, or the kinds on a single one (default: all that it has). With
    `transfer`, the kernel's data are moved to all but the first. The other options are those of `Case`.

    :returns: runtimes in seconds by machine or socket, crossovers of a parameter (`over`)
    :raises AspenError: where fewer than two machines can run it
    """
    compared = [machines] if isinstance(machines, Machine) else [*machines]
    case = case_of(app, compared[0] if compared and isinstance(app, Application) else None, options)
    chosen: list[str | None] = [*sockets]
    if len(compared) == 1:
        chosen = chosen or [*compared[0].sockets]
        compared *= len(chosen)
    chosen = chosen or [case.socket] * len(compared)
    if len(chosen) != len(compared):
        fail("sockets", f"{len(compared)} machines and {len(chosen)} sockets", hint="name one socket for each machine")
    pairs = zip(compared, chosen, strict=True)
    return Comparison([case.changed(machine=machine, socket=socket) for machine, socket in pairs], transfer=transfer)


# -- by energy -------------------------------------------------------------------------------------


class Device(Record):
    """One kind of socket: the energy of the kernel there, and seconds and joules of moving its data there."""

    socket: str
    energy: Energy
    transfer_time: float
    transfer_energy: float

    @property
    def value(self) -> float:
        """Joules in all."""
        return self.energy.value + self.transfer_energy

    @property
    def time(self) -> float:
        """Seconds in all."""
        return self.energy.capped_runtime + self.transfer_time


class Efficiency(Result):
    """A kernel on every kind of socket of a machine. With `transfer` its data lie at the first one."""

    def __init__(self, case: Case, *, options: EnergyOptions = DEFAULT, transfer: bool = False) -> None:
        self.machine = case.required_machine
        self.options = options
        self.transfer = transfer
        self.comparison = Comparison(
            [case.changed(socket=socket) for socket in self.machine.sockets], transfer=transfer
        )

    @cached_property
    def devices(self) -> tuple[Device, ...]:
        """One device per kind of socket, in the order of the machine."""
        return tuple(map(self._device, self.comparison.contenders))

    @property
    def best(self) -> Device:
        """The one with the least energy."""
        return min(self.devices, key=lambda device: device.value)

    def benefit(self, device: Device) -> float:
        """The saving of the best one, as a part of what the device takes; 0 for the best itself."""
        return 1 - self.best.value / device.value if device.value else 0.0

    def _device(self, contender: Contender) -> Device:
        prediction = contender.prediction
        energy = Energy(prediction, self.options)
        idle = graph.add(*(term.rate for term in energy.totals.terms.values() if term.elapsed))
        where = PowerTree(prediction.machine, prediction.socket, prediction.tree.origins)
        offer = where.offers.get(LINK)
        drawing = where.find_consumer(offer) if offer is not None else None
        dynamic = where.power(drawing).dynamic if drawing is not None else None
        watts = idle if dynamic is None else idle + dynamic
        needed = [contender.transfer, contender.transfer * watts]
        time, joules = (float(value) for value in prediction.scope.values(needed, prediction.seed))
        return Device(prediction.socket or prediction.machine.name, energy, time, joules)
