"""All advice as a report: one step after the other."""

from __future__ import annotations

from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.language.diagnostics import distinct
from aspenpy.report import classification, design_space, scalability
from aspenpy.tables.data import as_json
from aspenpy.tables.table import Part, Report, Title


def report(advice: Advice) -> Report:
    """The reports of the steps under one headline; in JSON an object for each step."""
    found = {"classify": classification.report(advice.classified), "configure": design_space.report(advice.space)}
    if advice.scaled is not None:
        found["scale"] = scalability.report(advice.scaled)
    parts: list[Part] = []
    data: dict[str, Any] = {}
    for name, step in found.items():
        parts += [Title(step.headline), *(part for part in step.page[1:])]
        data[name] = as_json(step)
    said = [item for step in found.values() for item in step.diagnostics or ()]
    case = advice.case
    headline = f"advice for {case.application.name} on {case.required_machine.name}"
    return Report(headline, data, tuple(parts), tuple(distinct(said)))
