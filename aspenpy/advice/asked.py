"""Asked: all steps of Prometheus for an application and a machine, or a `Case`, behind one function."""

from __future__ import annotations

from typing import Unpack

from aspenpy.advice.advice import Advice
from aspenpy.advice.advise import AS_IT_IS, AdviceOptions
from aspenpy.advice.advise import advise as advised
from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine


@one_allowance
def advise(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    advice: AdviceOptions = AS_IT_IS,
    **options: Unpack[CaseOptions],
) -> Advice:
    """What a run is bound by, which components of the hardware matter, and which configurations are nearly the best.

    `advice` says which components are `wanted` and what else the steps take; the other options are those of `Case`.

    :returns: the results of all steps: seconds, joules and watts by component and configuration
    :raises AspenError: for a component, level or budget that cannot be, and where the run has no runtime
    """
    return advised(case_of(app, machine, options), advice)
