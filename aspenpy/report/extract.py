"""An Extraction as a report."""

from __future__ import annotations

from aspenpy.extract.costs import Hole
from aspenpy.extract.extraction import Extraction
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import Column, Report, facts, table


def report_extraction(found: Extraction) -> Report:
    """The kernels of the model, and the parameters that the source does not say."""
    heads = (
        Column("parameter", get=lambda hole: hole.name),
        Column("value", get=Hole.text),
        Column("stands for", get=lambda hole: str(hole.meaning)),
        Column("set by", get=_origin),
        Column("line", get=_line, align="right"),
    )
    data = {"name": found.name, "level": found.level, "kernels": list(found.kernels), "aspen": found.text}
    rows = [("kernels", ", ".join(found.kernels)), ("level", found.level), ("left to a person", found.summary())]
    parts = (facts(rows), table(heads, found.holes, "parameters", title="what the source does not say"))
    return Report(f"{found.name}: {len(found.kernels)} kernels", data, parts, found.diagnostics)


register_report(Extraction, report_extraction)


def _origin(hole: Hole) -> str:
    """What gives a parameter its value."""
    if hole.fit is not None:
        return f"{hole.fit.runs} runs, within {100 * hole.fit.error:.2g} %"
    return hole.rule or "a person"


def _line(hole: Hole) -> int | None:
    return None if hole.span is None else hole.span.position().line
