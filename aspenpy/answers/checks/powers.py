"""Powers that cannot be: negative ones, a design power below the idle one, one that is declared twice."""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.answers.energy.power import power_of
from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.lower import Origins
from aspenpy.models.machine.model import Machine

HINTS = {
    "design_power": "the dynamic power is the design power less the idle power: `dynamic power [95 W - 10 W]`",
}
"""By the law that is broken."""


def impossible_powers(machine: Machine) -> Iterator[Diagnostic]:
    """What no account of energy would take, at its place, by the machine's own values. A design power alone is none
    of it: it does no harm until somebody asks for energy."""
    origins: Origins = dict(machine.origins)
    for component in machine.components.values():
        try:
            power = power_of(machine, component, origins)
        except AspenError as error:
            yield from (found for found in error.diagnostics if found.code == "power-twice")
            continue
        for watts in (power.static, power.dynamic):
            if watts is not None:
                yield from _broken(watts, machine, origins)


def _broken(watts: Expr, machine: Machine, origins: Origins) -> Iterator[Diagnostic]:
    """Values that fail for another reason are told where they are defined."""
    try:
        evaluate_many([watts], None, DEFAULT_SEED, machine.definitions)
    except EvaluationError as error:
        if error.node is watts and watts.kind == "checked":
            yield Diagnostic("impossible-power", error.reason, origins.get(watts), hint=HINTS.get(str(watts.payload)))
