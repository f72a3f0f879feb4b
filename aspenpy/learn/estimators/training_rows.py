"""Rows that can teach an energy: those without gaps in one unit; and the device to choose by earlier runs.

The choice of a device is Algorithm 1 of Umar (dissertation, Virginia Tech, 2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aspenpy.language.diagnostics import Diagnostic, fail, suggest_instead
from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.estimators.model import LearntModel, warn_rows_left_out
from aspenpy.learn.measurements.columns import (
    is_blank,
    is_numeric,
    read_numbers,
    recognise_columns,
    row_keys,
    rows_by_key,
)
from aspenpy.learn.measurements.conditions import number_in
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.learn.measurements.sheet import Cell, MeasurementSheet, count_noun
from aspenpy.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MOST_BLANK = 0.1
"""The part of a device's rows in which a counter may be blank: the rows are left out; above it the counter is."""

POWER_GAP = 30.0
"""A device draws less than this many times its idle power, so that no gap between the powers of its runs is as wide."""

MOST_NAMED = 10


def require_one_scale(sheet: MeasurementSheet) -> None:
    """Raises AspenError where energy over time, sorted, has a gap in a device's runs that no processor has: some of
    the energies or times are in another unit, such as kJ among J."""
    if not {"energy", "runtime"} <= {*sheet.names}:
        return
    powers = read_numbers(sheet, "energy", blank=True) / read_numbers(sheet, "runtime", blank=True)
    for indices in rows_by_key(row_keys(sheet, ("device",))).values():
        powered = sorted((index for index in indices if powers[index] > 0), key=lambda index: float(powers[index]))
        for end in range(1, len(powered)):
            if powers[powered[end]] > POWER_GAP * powers[powered[end - 1]]:
                _refuse_scales(sheet, powers, powered[:end], powered[end:])


def _refuse_scales(
    sheet: MeasurementSheet, powers: NDArray[np.float64], low: Sequence[int], high: Sequence[int]
) -> None:
    few, many = sorted((low, high), key=len)
    rows = count_noun(len(few), "row")
    message = (
        f"energy over runtime is {describe_range(powers, few)} in {rows} and "
        f"{describe_range(powers, many)} in the others: no device draws both"
    )
    cell = sheet.rows[min(few)]["energy"]
    hint = (
        f"one unit holds for a whole column, such as kJ or J for the energy; look at {name_lines(sheet, sorted(few))}"
    )
    fail("mixed-units", message, cell.span, hint=hint, parents=cell.parents)


def describe_range(powers: NDArray[np.float64], indices: Sequence[int]) -> str:
    ends = [format_quantity(float(powers[index]), "W") for index in (indices[0], indices[-1])]
    return " to ".join(dict.fromkeys(ends))


def drop_rows_with_gaps(
    sheet: MeasurementSheet, names: Iterable[str], *, required: bool
) -> tuple[MeasurementSheet, tuple[Diagnostic, ...]]:
    """The rows in which these columns of a device have numbers, with a warning that names the others. A column that is
    blank more often than MOST_BLANK goes instead, unless it is `required`; one without any number stays as it is."""
    dropped: set[int] = set()
    gone: list[str] = []
    notes: list[Diagnostic] = []
    devices = list(rows_by_key(row_keys(sheet, ("device",))).values())
    for name in names:
        by_device = [find_blank_rows(sheet, name, indices, required) for indices in devices]
        blank = sorted(index for gaps in by_device for index in gaps)
        often = any(len(gaps) > MOST_BLANK * len(indices) for gaps, indices in zip(by_device, devices, strict=True))
        if blank and often and not required:
            gone.append(name)
            message = f"`{name}` is blank in {count_noun(len(blank), 'row')}: not a predictor"
            notes.append(Diagnostic("left-out", message, severity="note"))
        elif blank:
            dropped.update(blank)
            notes.append(warn_rows_left_out(name, [sheet.rows[index][name] for index in blank]))
    headings = tuple(heading for heading in sheet.headings if heading.name not in gone)
    kept = sheet.rows_at(index for index in range(len(sheet.rows)) if index not in dropped)
    return kept._replace(headings=headings), tuple(notes)


def find_blank_rows(sheet: MeasurementSheet, name: str, indices: Sequence[int], required: bool) -> list[int]:
    """Row numbers of blank cells in a numeric column; none for a column with text or without numbers. What a tool
    writes for no number, such as `nan`, is not blank in a required column: it is refused later."""
    if not is_numeric(sheet.rows_at(indices), name):
        return []
    cells = [(index, sheet.rows[index][name]) for index in indices]
    return [index for index, cell in cells if is_blank(cell) or not (required or number_in(cell) is not None)]


def name_lines(sheet: MeasurementSheet, indices: Sequence[int]) -> str:
    lines = [str(next(iter(sheet.rows[index].values())).row) for index in indices[:MOST_NAMED]]
    word = "row" if len(indices) == 1 else "rows"
    return f"{word} {', '.join(lines)}" + (", ..." if len(indices) > MOST_NAMED else "")


# The devices that take the least energy or time for what all of them ran (Umar 2018, Algorithm 1).


class DeviceCost(Record):
    """A device, the energy (J) and time (s) that it takes for what every device ran, and whether it is on the list."""

    device: str
    energy: float
    time: float
    chosen: bool


def compare_devices(sheet: MeasurementSheet, by: str) -> tuple[DeviceCost, ...]:
    """The devices, by the means over all codes and inputs that ran on each of them (Algorithm 1)."""
    if "device" not in sheet.names or len({str(row["device"].value) for row in sheet.rows}) < 2:
        return ()
    measured = read_numbers(sheet, "energy", blank=True), read_numbers(sheet, "runtime", blank=True)
    devices = rows_by_key(row_keys(sheet, ("device",)))
    codes = row_keys(sheet, ("application", "region", "input"))
    common = set.intersection(*({codes[index] for index in indices} for indices in devices.values()))
    if not common:
        hint = "a short list compares the same code and input; --option shortlist=all learns all devices"
        fail("nothing-common", "no code ran on all devices", sheet.span, hint=hint)
    sums = {}
    for key, indices in devices.items():
        shared = [index for index in indices if codes[index] in common]
        parts = rows_by_key([codes[index] for index in shared]).values()
        sums["".join(key)] = tuple(
            float(sum(values[[shared[part] for part in group]].mean() for group in parts)) for values in measured
        )
    chosen = {
        "energy": [min(sums, key=lambda device: sums[device][0])],
        "time": [min(sums, key=lambda device: sums[device][1])],
        "both": [one for one in sums if not any(is_no_worse(other, sums[one]) for other in sums.values())],
        "all": list(sums),
    }[by]
    return tuple(DeviceCost(name, energy, time, name in chosen) for name, (energy, time) in sums.items())


def is_no_worse(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)


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
    own = [index for index, row in enumerate(sheet.rows) if str(row["application"].value) == application]
    if not own:
        applications = {str(row["application"].value) for row in sheet.rows}
        fail(
            "no-record",
            f"`{path}` has no run of {application}",
            hint=suggest_instead(application, applications, "applications"),
        )
    same = [
        index for index in own if has_settings(sheet.rows[index], settings) and number_in(sheet.rows[index]["energy"])
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


def mean_of_runs(sheet: MeasurementSheet) -> DeviceCost:
    """Mean energy and time of the runs on the only device."""
    name = str(sheet.rows[0]["device"].value) if "device" in sheet.names else ""
    energies, times = ([number_in(row[column]) or 0.0 for row in sheet.rows] for column in ("energy", "runtime"))
    return DeviceCost(name, sum(energies) / len(energies), sum(times) / len(times), chosen=True)


def has_settings(row: Mapping[str, Cell], settings: Mapping[str, Any]) -> bool:
    pairs = [part.partition("=") for part in str(row["input"].value).split(",")] if "input" in row else []
    written = {name.strip(): Cell(value.strip(), 0) for name, _, value in pairs}
    return all(is_equal_value(row.get(name) or written.get(name), value) for name, value in settings.items())


def is_equal_value(cell: Cell | None, value: Any) -> bool:
    if cell is None:
        return False
    number, wanted = number_in(cell), number_in(Cell(value, 0))
    return str(cell.value) == str(value) if number is None or wanted is None else number == wanted
