"""Compare: one application on several machines or kinds of sockets, by runtime and by energy.

The energies are those of Umar, dissertation 2018, section 3.9.1. The kernel's data may first have to be moved to the
socket: while they are, it draws its idle power, and its link what it declares.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.power import PowerTree
from aspenpy.cost.transfer import LINK
from aspenpy.explore.comparison import Comparison, Contender
from aspenpy.expr import graph
from aspenpy.language.diagnostics import fail
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result


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
    found = [machines] if isinstance(machines, Machine) else [*machines]
    case = case_of(app, found[0] if found and isinstance(app, Application) else None, options)
    chosen: list[str | None] = [*sockets]
    if len(found) == 1:
        chosen = chosen or [*found[0].sockets]
        found *= len(chosen)
    chosen = chosen or [case.socket] * len(found)
    if len(chosen) != len(found):
        fail("sockets", f"{len(found)} machines and {len(chosen)} sockets", hint="name one socket for each machine")
    pairs = zip(found, chosen, strict=True)
    return Comparison([case.changed(machine=machine, socket=socket) for machine, socket in pairs], transfer=transfer)


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
        """In the order of the machine."""
        return tuple(map(self._device, self.comparison.contenders))

    @property
    def best(self) -> Device:
        """The one with the least energy."""
        return min(self.devices, key=lambda device: device.value)

    def benefit(self, device: Device) -> float:
        """What the best one saves, as a part of what the device takes; 0 for the best itself."""
        return 1 - self.best.value / device.value if device.value else 0.0

    def _device(self, contender: Contender) -> Device:
        prediction = contender.prediction
        energy = Energy(prediction, self.options)
        idle = graph.add(*(term.rate for term in energy.totals.terms.values() if term.elapsed))
        where = PowerTree(prediction.machine, prediction.socket, prediction.tree.origins)
        offer = where.offers.get(LINK)
        drawing = where.drawing(offer) if offer is not None else None
        dynamic = where.power(drawing).dynamic if drawing is not None else None
        watts = idle if dynamic is None else idle + dynamic
        needed = [contender.transfer, contender.transfer * watts]
        time, joules = (float(value) for value in prediction.scope.values(needed, prediction.seed))
        return Device(prediction.socket or prediction.machine.name, energy, time, joules)
