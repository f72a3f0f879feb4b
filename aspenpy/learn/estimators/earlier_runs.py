"""Recorded energies: what runs of an application consumed before, and the device to choose (Algorithm 1, Umar 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aspenpy.language.diagnostics import fail, suggest_instead
from aspenpy.learn.estimators.model import LearntModel
from aspenpy.learn.estimators.training_rows import DeviceCost, compare_devices
from aspenpy.learn.measurements.columns import recognise_columns
from aspenpy.learn.measurements.conditions import number_in
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.learn.measurements.sheet import Cell, Sheet
from aspenpy.record import Record


class EarlierRuns(Record):
    """The runs of an application with an input that were recorded: how many, and the devices with mean energy and
    time, of which one is chosen."""

    application: str
    input: str
    runs: int
    devices: tuple[DeviceCost, ...]

    @property
    def chosen(self) -> DeviceCost:
        return next(item for item in self.devices if item.chosen)


def look_up_runs(path: str | Path, application: str, settings: Mapping[str, Any], by: str = "energy") -> EarlierRuns:
    """Runs of an application in a record store or any file of measurements. A run has this input where its columns, or
    its column `input` (`n=1e6, m=2`), have the values in `settings`. Raises AspenError where there is none."""
    sheet = recognise_columns(read_measurements(path))
    for name in ("application", "energy", "runtime"):
        if name not in sheet.names:
            fail("no-column", f"`{path}` has no column `{name}`", sheet.span, hint="a record store has them")
    own = [place for place, row in enumerate(sheet.rows) if str(row["application"].value) == application]
    if not own:
        known = {str(row["application"].value) for row in sheet.rows}
        fail(
            "no-record",
            f"`{path}` has no run of {application}",
            hint=suggest_instead(application, known, "applications"),
        )
    same = [
        place for place in own if has_settings(sheet.rows[place], settings) and number_in(sheet.rows[place]["energy"])
    ]
    if not same:
        said = ", ".join(f"{name}={value}" for name, value in settings.items())
        hint = "measure one: aspenpy measure --record"
        fail("no-record", f"`{path}` has no run of {application} with {said}, and its energy", hint=hint)
    part = sheet.rows_at(same)
    said = ", ".join(f"{name}={value}" for name, value in settings.items())
    return EarlierRuns(application, said, len(same), compare_devices(part, by) or (mean_of_runs(part),))


def model_name(model: LearntModel) -> str:
    """Name of a model in a record store: its kind and the hash of its training data."""
    return f"{model.kind} {model.require_fitted().data_hash[:12]}"


def mean_of_runs(sheet: Sheet) -> DeviceCost:
    """Mean energy and time of the runs on the only device."""
    name = str(sheet.rows[0]["device"].value) if "device" in sheet.names else ""
    energies, times = ([number_in(row[column]) or 0.0 for row in sheet.rows] for column in ("energy", "runtime"))
    return DeviceCost(name, sum(energies) / len(energies), sum(times) / len(times), True)


def has_settings(row: Mapping[str, Cell], settings: Mapping[str, Any]) -> bool:
    pairs = [part.partition("=") for part in str(row["input"].value).split(",")] if "input" in row else []
    written = {name.strip(): Cell(value.strip(), 0) for name, _, value in pairs}
    return all(is_equal_value(row.get(name) or written.get(name), value) for name, value in settings.items())


def is_equal_value(cell: Cell | None, value: Any) -> bool:
    if cell is None:
        return False
    number, wanted = number_in(cell), number_in(Cell(value, 0))
    return str(cell.value) == str(value) if number is None or wanted is None else number == wanted
