"""An InCore as a report."""

from __future__ import annotations

from aspenpy.answers.incore import InCore
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Report, columns, facts, table


def report_incore(found: InCore) -> Report:
    """Cycles of an iteration, by port and by dependence, and the application that says the same."""
    rows = [
        ("ports", f"{found.ports:g} cycles of the busiest"),
        ("loop-carried dependence", f"{found.loop_carried:g} cycles from one iteration to the next"),
        ("critical path", f"{found.critical_path:g} cycles from begin to end"),
        ("an iteration takes", f"{found.cycles:g} cycles, bound by {_bound(found)}"),
    ]
    busy = [port for port in found.pressure if port[1]]
    heads = (
        Column("port", get=lambda port: port[0]),
        Column("cycles", "ratio", get=lambda port: port[1], align="right"),
    )
    operations = (*columns("name precision simd amount"),)
    data = {
        "architecture": found.architecture,
        "osaca": found.version,
        "ports": found.ports,
        "loop_carried": found.loop_carried,
        "critical_path": found.critical_path,
        "cycles": found.cycles,
        "pressure": dict(found.pressure),
        "aspen": found.to_aspen(),
    }
    parts = (
        facts(rows),
        table(heads, busy, title="cycles of an iteration", media=(*TEXT, *CSV)),
        table(operations, found.operations, "operations", media=JSON),
    )
    return Report(f"{found.name} on {found.architecture}, by OSACA {found.version}", data, parts, found.diagnostics)


register_report(InCore, report_incore)


def _bound(found: InCore) -> str:
    return "its ports" if found.ports >= found.loop_carried else "the dependence"
