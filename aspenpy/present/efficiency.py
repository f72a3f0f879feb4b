"""An Efficiency as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.present.energy import counted, joules, watts
from aspenpy.present.numbers import seconds, share
from aspenpy.present.page import Page, Paragraph, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.explore.efficiency import Device, Efficiency

DEVICES = (
    Column("socket"),
    Column("runtime", seconds, "unit"),
    Column("transfer", seconds, "unit"),
    Column("energy", joules, "unit"),
    Column("with transfer", joules, "unit"),
    Column("power", watts, "unit"),
    Column("the best saves", share, "right"),
)
RECORDS = tuple(
    map(Column, ("socket", "runtime", "transfer time", "energy", "transfer energy", "power", "edp", "the best saves"))
)
"""Of the CSV form: seconds, joules, watts, joule seconds, a part from 0 to 1."""


def page(found: Efficiency) -> Page:
    """The sockets side by side, and the most efficient."""
    best = found.best
    application, machine = found.comparison.application.name, found.machine.name
    rows = tuple(
        (
            device.socket,
            device.energy.runtime,
            device.transfer_time if found.transfer else None,
            device.energy.value,
            device.value if found.transfer else None,
            device.energy.power,
            found.benefit(device) if device is not best else None,
        )
        for device in found.devices
    )
    kept = [place for place in range(len(DEVICES)) if any(row[place] is not None for row in rows)]
    table = Table(
        tuple(DEVICES[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in rows),
        frozenset([found.devices.index(best)]),
    )
    title = f"{application} on {machine}: {best.socket} draws least, {joules(best.value)}"
    return (Title(title), table, Paragraph(f"counted: {counted(best.energy)}"))


def as_json(found: Efficiency) -> dict[str, Any]:
    """One object; joules, watts, seconds."""
    return {
        "application": {"name": found.comparison.application.name},
        "machine": found.machine.name,
        "kernel": found.comparison.kernel,
        "options": {name: getattr(found.options, name) for name in type(found.options)._fields},
        "most_efficient": found.best.socket,
        "devices": [_device(found, device) for device in found.devices],
    }


def _device(found: Efficiency, device: Device) -> dict[str, Any]:
    return {
        "socket": device.socket,
        "energy": {"value": device.value, "unit": "J"},
        "runtime": {"value": device.energy.runtime, "unit": "s"},
        "transfer_time": {"value": device.transfer_time, "unit": "s"},
        "transfer_energy": {"value": device.transfer_energy, "unit": "J"},
        "power": {"value": device.energy.power, "unit": "W"},
        "edp": {"value": device.value * device.time, "unit": "J*s"},
        "best_saves": found.benefit(device),
    }


def records(found: Efficiency) -> Table:
    """Rows of `RECORDS`."""
    rows = tuple(
        (
            device.socket,
            device.energy.runtime,
            device.transfer_time,
            device.energy.value,
            device.transfer_energy,
            device.energy.power,
            device.value * device.time,
            found.benefit(device),
        )
        for device in found.devices
    )
    return Table(RECORDS, rows)
