"""Measured runs as a report."""

from __future__ import annotations

from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.measurements.measure import Measured
from aspenpy.learn.measurements.sheet import Sheet
from aspenpy.tables.numbers import Amount
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import ALL, Column, Report, Table, facts

MOST_SHOWN = 12


def report_measurements(found: Measured) -> Report:
    """The mean runtime with its interval, each run, and what could not be collected."""
    command = " ".join(found.command)
    data = {
        "command": list(found.command),
        "mean": Amount(found.mean, "s"),
        "half_interval": Amount(found.half, "s"),
        "confidence": found.target.confidence,
        "target_met": found.met,
        "missing": [{"what": what, "why": why} for what, why in found.missing],
    }
    share = f"{100 * found.half / found.mean:.2g} %"
    kind = "trimmed mean" if found.target.trimmed else "mean"
    said = [
        (
            f"{kind} runtime",
            f"{format_quantity(found.mean, 's')} ± {share} at {100 * found.target.confidence:g} % confidence",
        ),
        *((f"no {what}", why) for what, why in found.missing),
    ]
    names = list(dict.fromkeys(name for run in found.runs for name in run.values))
    columns = (Column("run", "count"), *map(_column, names))
    rows = tuple((number, *(run.values.get(name) for name in names)) for number, run in enumerate(found.runs, 1))
    notes: tuple[Diagnostic, ...] = ()
    if not found.met:
        text = f"the mean is known to {share}, not to {100 * found.target.precision:g} %, after {len(found.runs)} runs"
        notes = (Diagnostic("target-not-met", text, severity="warning", hint="--most-runs allows more runs"),)
    return Report(f"{command}: {len(found.runs)} runs", data, (facts(said), Table(columns, rows, key="runs")), notes)


register_report(Measured, report_measurements)


def _column(name: str) -> Column:
    plain, _, unit = name.rstrip("]").partition(" [")
    return Column(plain.replace("_", " "), unit=unit, key=plain) if unit else Column(plain, "count", key=plain)


def report_sheet(sheet: Sheet, name: str) -> Report:
    """A sheet that was read, as it is."""
    headers = [f"{item.name} [{item.unit}]" if item.unit else item.name for item in sheet.headings]
    rows = tuple(tuple(row[item.name].value for item in sheet.headings) for row in sheet.rows)
    table = Table(tuple(Column(header, key=header) for header in headers), rows, key="rows", media=ALL)
    return Report(f"{name}: {len(rows)} rows", {}, (table,))
