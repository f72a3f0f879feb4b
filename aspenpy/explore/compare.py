"""Compare: the comparison of one application on several machines, or on the kinds of sockets of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.explore.comparison import Comparison
from aspenpy.language.diagnostics import fail
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine


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
