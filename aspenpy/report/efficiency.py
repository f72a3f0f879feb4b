"""Kinds of sockets by the energy that a run takes on them, as a report."""

from __future__ import annotations

from aspenpy.report.energy import charged
from aspenpy.studies.explore.efficiency import Efficiency
from aspenpy.tables.numbers import quantity
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import ALL, DATA, TEXT, Column, Paragraph, Report, table


def report_efficiency(found: Efficiency) -> Report:
    """The sockets side by side, and the most efficient."""
    best, moved = found.best, ALL if found.transfer else DATA
    heads = (
        Column("socket"),
        Column("runtime", unit="s", get="energy.capped_runtime", quantity=True),
        Column("transfer", unit="s", key="transfer_time", quantity=True, media=moved),
        Column("energy", unit="J", get="energy.value", media=TEXT),
        Column("with transfer", unit="J", get="value", media=TEXT if found.transfer else ()),
        Column("energy", unit="J", get="value", quantity=True, media=DATA),
        Column("transfer energy", unit="J", quantity=True, media=DATA),
        Column("power", unit="W", get="energy.power", quantity=True),
        Column("edp", unit="J*s", get=lambda device: device.value * device.time, quantity=True, media=DATA),
        Column("the best saves", "share", get=lambda it: None if it is best else found.benefit(it), media=TEXT),
        Column("best saves", get=found.benefit, media=DATA),
    )
    data = {
        "application": {"name": found.comparison.case.application.name},
        "machine": found.machine.name,
        "kernel": found.comparison.case.kernel,
        "options": {name: getattr(found.options, name) for name in type(found.options)._fields},
        "most_efficient": best.socket,
    }
    devices = table(heads, found.devices, "devices", marked=frozenset([found.devices.index(best)]), sparse=True)
    where = f"{found.comparison.case.application.name} on {found.machine.name}"
    headline = f"{where}: {best.socket} consumes least, {quantity('J')(best.value)}"
    return Report(headline, data, (devices, Paragraph(f"model: {charged(best.energy)}")))


register_report(Efficiency, report_efficiency)
