"""EnergyOptions: which law an energy is counted by, and which of its terms."""

from __future__ import annotations

from typing import Literal, get_args

from aspenpy.language.diagnostics import fail, nearest
from aspenpy.record import Record

LawName = Literal["aeem", "roofline"]
Charged = Literal["socket", "cores_used", "machine"]
NicMode = Literal["eq3.8", "single_nic", "all_nics"]

CHOICES: dict[str, tuple[str, ...]] = {
    "law": get_args(LawName),
    "charged": get_args(Charged),
    "nic": get_args(NicMode),
}
"""What the options that choose may be."""


class EnergyOptions(Record):
    """As they stand: the embedded energy model of Umar's dissertation (2018), equations 3.2 to 3.9, to the letter.

    `law`
        `aeem`, or `roofline`, the energy roofline of Choi and others (2013), whose constants the machine declares.
    `charged`
        whose core power is charged: `socket`, one socket as in the dissertation; `cores_used`, the sockets that have
        work, and of what full load adds the part of the cores at work; `machine`, the same, but idle power of
        everything in the machine's tree.
    `nic`
        the energy of messages: `eq3.8`, their volume over the bandwidth of a link; `single_nic`, the time that they
        take on one adapter; `all_nics`, that time on all adapters of the machine.
    `active_cores`
        adds the machine's `active_core_power` for each core at work, for as long as the kernel runs.
    `uncore`
        adds the machine's `uncore_power`, which goes with the square of the `uncore_clock`.
    """

    law: LawName = "aeem"
    charged: Charged = "socket"
    nic: NicMode = "eq3.8"
    active_cores: bool = False
    uncore: bool = False


LITERAL = EnergyOptions()  # the dissertation's own form


def refuse_unknown(options: EnergyOptions) -> None:
    """Raises AspenError for a choice that there is not."""
    for name, allowed in CHOICES.items():
        chosen = getattr(options, name)
        if chosen not in allowed:
            hint = nearest(str(chosen), allowed) or f"it is one of {', '.join(allowed)}"
            fail("unknown-option", f"`{name}` cannot be `{chosen}`", hint=hint)
