"""Recorded energies beside predicted ones."""

from __future__ import annotations

from aspenpy.learn.estimators.earlier_runs import EarlierRuns
from aspenpy.tables.numbers import Amount
from aspenpy.tables.table import JSON, TEXT, Column, Report, table

DEVICES = (
    Column("device", get=lambda item: item.device or "the machine"),
    Column("energy", unit="J"),
    Column("time", unit="s"),
    Column("chosen", lambda value: "yes" if value else ""),
)


def with_recorded(report: Report, found: EarlierRuns) -> Report:
    """A report of a predicted energy, with the devices that the application was measured on (ACEE)."""
    chosen = found.chosen
    runs = f"{found.runs} run{'' if found.runs == 1 else 's'}"
    title = f"measured before (ACEE), the means of {runs}"
    record = {
        "device": chosen.device,
        "energy": Amount(chosen.energy, "J"),
        "time": Amount(chosen.time, "s"),
        "runs": found.runs,
        "input": found.input,
    }
    devices = table(DEVICES, found.devices, "recorded_devices", title=title, media=TEXT + JSON)
    first, *others = report.parts
    return report.replace(data=report.data | {"record": record}, parts=(first, devices, *others))
