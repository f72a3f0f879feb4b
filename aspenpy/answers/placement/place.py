"""Place: kernels put on the sockets of a machine, as told or where they are fastest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.placement.best import best_placement
from aspenpy.answers.placement.placement import Placement, Question
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine


def place(
    app: Application | Case,
    machine: Machine | None = None,
    sockets: Mapping[str, str] | None = None,
    *,
    best: bool = False,
    data: Mapping[str, str] | None = None,
    **options: Unpack[CaseOptions],
) -> Placement:
    """What an application, or a `Case`, takes on a machine with several kinds of sockets; the options are those of
    `Case`, its socket left out.

    `sockets` says where kernels run: `{"kernel": "socket"}`; what they call runs there too, and all else on the
    first socket. With `best`, the fastest placement of all other kernels is looked for. `data` says where data
    structures lie at first: `{"name": "socket"}`, all others at the first socket. Raises AspenError.
    """
    question = Question(case_of(app, machine, options), data)
    if best:
        return best_placement(question, sockets or {})
    found = question.placed(sockets or {})
    _ = found.runtime
    return found
