"""All advice as a report: one step after the other."""

from __future__ import annotations

from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.language.diagnostics import Diagnostic, drop_repeats
from aspenpy.report import classification, decision, design_space, scalability, significance, throttled, uncertain
from aspenpy.tables.data import as_json
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, Paragraph, Part, Report, Table, Title


def _shown(part: Part) -> Part:
    """For people alone: in JSON each step has its own object."""
    return part.replace(key="") if isinstance(part, Table) else part


def report_advice(advice: Advice) -> Report:
    """The reports of the steps under one headline; in JSON an object for each step."""
    found = {
        "classify": classification.report_classification(advice.classified),
        "significance": significance.report_significance(advice.significant),
        "configure": design_space.report_design_space(advice.space),
        "scale": None if advice.scaled is None else scalability.report_scalability(advice.scaled),
        "decide": None if advice.decided is None else decision.report_decision(advice.decided),
        "throttle": throttled.report_throttling(advice.throttled),
        "uncertainty": uncertain.report_uncertainty(advice.uncertain),
    }
    parts: list[Part] = [Paragraph(note) for note in design_space.assumed_ranges(advice.space)]
    data: dict[str, Any] = {}
    said: list[Diagnostic] = []
    for name, step in found.items():
        if step is not None:
            parts += [Title(step.headline), *map(_shown, step.page[1:])]
            data[name] = as_json(step)
            said += step.diagnostics or ()
    parts.append(design_space.near_optimal(advice.space, CSV))
    case = advice.case
    headline = f"advice for {case.application.name} on {case.required_machine.name}"
    return Report(headline, data, tuple(parts), tuple(drop_repeats(said)))


register_report(Advice, report_advice)
