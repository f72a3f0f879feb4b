"""EnergyOptions: which law an energy is counted by, and which of its terms."""

from __future__ import annotations

from typing import Literal, get_args

from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.record import Record

LawName = Literal["auto", "responding", "aeem", "roofline"]
Charged = Literal["auto", "socket", "cores_used", "nodes_used", "machine"]
NicMode = Literal["eq3.8", "single_nic", "all_nics"]

CHOICES: dict[str, tuple[str, ...]] = {"law": get_args(LawName), "charged": get_args(Charged), "nic": get_args(NicMode)}
"""What the options that choose may be."""


class EnergyOptions(Record):
    """Choices of an energy account. `law` `auto` takes `responding` where the socket states `idle_power`, else `aeem`.
    `responding`: power that goes with the cores at work, the clocks, flops and bytes.

    `law`
        `auto` takes `responding` where the socket states `idle_power`, else `aeem`. `responding`: power that goes with
        the cores at work, the clocks, flops and bytes. `aeem`: the embedded energy model of Umar's dissertation (2018),
        equations 3.2 to 3.9. `roofline`: the energy roofline of Choi and others (2013).
    `charged`
        `auto` takes `cores_used` with `responding`, else `socket`. `socket`: one socket as in the dissertation;
        `cores_used`: the sockets that have work, and of what full load adds the part of the cores at work;
        `nodes_used`: with it, what is idle on the same nodes; `machine`: with it, what is idle in the machine's tree.
    `nic`
        the energy of messages: `eq3.8`, their volume over the bandwidth of a link; `single_nic`, the time that they
        take on one adapter; `all_nics`, that time on all adapters of the machine.
    `active_cores`
        adds the machine's `active_core_power` to AEEM, for each core at work, for as long as the kernel runs.
    `uncore`
        adds the machine's `uncore_power` to AEEM, which goes with the square of the `uncore_clock`.
    `cap`
        watts that a socket may consume, instead of its own `power_cap`.
    `limited`
        whether a socket whose cap is reached takes longer, so that it holds; AEEM has no cap.
    """

    law: LawName = "auto"
    charged: Charged = "auto"
    nic: NicMode = "eq3.8"
    active_cores: bool = False
    uncore: bool = False
    cap: float | Expr | None = None
    limited: bool = True


DEFAULT = EnergyOptions()
LITERAL = EnergyOptions(law="aeem", charged="socket")  # the dissertation's own form


def refuse_unknown(options: EnergyOptions) -> None:
    """Raises AspenError for a choice that there is not."""
    for name, allowed in CHOICES.items():
        chosen = getattr(options, name)
        if chosen not in allowed:
            hint = suggest_nearest(str(chosen), allowed) or f"it is one of {', '.join(allowed)}"
            fail("unknown-option", f"`{name}` cannot be `{chosen}`", hint=hint)


def settle_options(options: EnergyOptions, responding: bool) -> EnergyOptions:
    """The options with what `auto` stands for, on a machine that states the `responding` model or does not. AEEM's own
    additions ask for AEEM."""
    law = options.law
    if law == "auto":
        law = "responding" if responding and not (options.active_cores or options.uncore) else "aeem"
    if law != "aeem" and (options.active_cores or options.uncore):
        hint = "leave the two options out, or choose `--law aeem`"
        message = "active cores and the uncore are added to AEEM: the other models have terms of their own"
        fail("not-an-addition", message, hint=hint)
    if law == "aeem" and options.cap is not None:
        hint = "state `idle_power` in the socket for power that responds, or choose `--law roofline`"
        fail("no-cap", "AEEM does not model a power cap that slows a socket down", hint=hint)
    charged = options.charged
    if charged == "auto":
        charged = "cores_used" if law == "responding" else "socket"
    if charged == "nodes_used" and law != "responding":
        message = f"`nodes_used` is charged by the responding model, not by `{law}`"
        fail("unknown-option", message, hint="`machine` charges all that is idle")
    return options.replace(law=law, charged=charged)
