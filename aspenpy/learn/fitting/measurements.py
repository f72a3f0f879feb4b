"""Measurements: what was measured where, with which values of parameters.

    machine,socket,n,runtime
    haswell,,1000,0.0021
    keeneland,nvidia_m2090,1000,0.0009

`runtime` (in seconds, or in the unit behind it: `runtime [ms]`) and the names of resources (`flops`, `loads`, ...;
`bytes` for loads and stores) are measured, or the one metric that was asked for, such as `power [W]`; `machine` and
`socket` say where; every other column gives the values of a parameter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NoReturn

from aspenpy.answers.case import Case
from aspenpy.answers.metrics import METRICS
from aspenpy.answers.scope import Value
from aspenpy.language.diagnostics import AspenError, fail, suggest_nearest
from aspenpy.language.dimensions import (
    DIMENSIONLESS,
    JOULES,
    SECONDS,
    UNITS,
    WATTS,
    Dimension,
    describe_dimension,
    parse_unit,
)
from aspenpy.language.nodes import Enum
from aspenpy.language.source import Span
from aspenpy.learn.measurements.sheet import Cell, Heading, MeasurementSheet
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.models.model import name_members
from aspenpy.record import Record

RUNTIME = "runtime"

REASON = "reason"
"""The column that a sweep writes beside its values: why there is none."""

PLACES = ("machine", "socket")
"""Columns that name where a run took place."""

RESOURCE_DIMENSIONS: Mapping[str, Dimension] = {
    "flops": UNITS["flop"].dimension,
    **dict.fromkeys(("loads", "stores", "bytes", "messages", "intracomm", "read", "write"), UNITS["B"].dimension),
}
"""Dimensions of the units that a resource may have; other resources are plain numbers."""


class Measurement(Record):
    """One measured number: of `metric` (the runtime in seconds, or the amount of a resource in its base unit), with
    parameters at the values in `settings`. `machine` is None where none was named, which only amounts allow; `row` is
    the line of the file. A runtime with a `kernel` is that of the kernel's own blocks."""

    metric: str
    value: float
    settings: tuple[tuple[str, Value], ...]
    machine: Machine | None
    socket: str | None
    row: int
    span: Span | None
    kernel: str | None = None


Load = Callable[[str], Machine]
"""Loads a machine by the name in a cell."""

METRIC_DIMENSIONS = {"runtime": SECONDS, "energy": JOULES, "power": WATTS}
"""Dimensions of the metrics of a prediction that can be fitted."""


def read_measurements(
    sheet: MeasurementSheet, case: Case, load: Load, metric: str | None = None
) -> tuple[Measurement, ...]:
    """The measurements in a sheet, row by row: of one metric, or of the runtime and amounts. The machine and socket of
    the case hold where a row does not name them. Raises AspenError."""
    application = case.application
    sheet = sheet if REASON in application.parameters else drop_points_without_values(sheet)
    measured = find_measured_columns(sheet, application) if metric is None else require_metric(sheet, metric)
    machines = load_machines(sheet, case.machine, load)
    inputs = find_input_columns(sheet, measured, application, case.kernel, machines)
    sizes = {heading.name: unit_size(heading) for heading in sheet.headings}
    values = []
    for row, where in zip(sheet.rows, machines, strict=True):
        settings = tuple((name, read_setting(row[name], name, sizes[name], application)) for name in inputs)
        kind = str(row["socket"].value) if "socket" in row and row["socket"].value else case.socket
        for name in measured:
            cell = row[name]
            if name in METRIC_DIMENSIONS and where is None:
                message = f"{'an' if name == 'energy' else 'a'} {name} needs a machine, and none is given"
                hint = "add a column `machine`, or give --machine"
                fail("no-machine", message, cell.span, hint=hint, parents=cell.parents)
            value = read_amount(cell, name, sizes[name])
            measurement = Measurement(name, value, settings, machine=where, socket=kind, row=cell.row, span=cell.span)
            values.append(measurement)
    return tuple(values)


def drop_points_without_values(sheet: MeasurementSheet) -> MeasurementSheet:
    """The sheet without the column of reasons that a sweep writes, and without points that have no value."""
    headings = tuple(item for item in sheet.headings if item.name != REASON)
    rows = tuple(row for row in sheet.rows if REASON not in row or not row[REASON].value)
    if not rows:
        fail("no-measurements", f"all rows have a `{REASON}` why nothing was measured", sheet.span)
    return sheet._replace(headings=headings, rows=rows)


# -- columns ---------------------------------------------------------------------------------------


def find_measured_columns(sheet: MeasurementSheet, application: Application) -> list[str]:
    measurable = (RUNTIME, *application.resources, "bytes")
    names = [heading.name for heading in sheet.headings]
    columns = [name for name in names if name in measurable and name not in application.parameters]
    if not columns:
        hint = "measured are " + ", ".join(dict.fromkeys(measurable))
        other = next((name for name in names if name in METRIC_DIMENSIONS), None)
        hint = hint if other is None else f"`--metric {other}` fits the column `{other}`"
        fail("nothing-measured", "no column holds a measurement", sheet.span, hint=hint)
    return columns


def require_metric(sheet: MeasurementSheet, metric: str) -> list[str]:
    """The requested metric as the only measured column. Raises AspenError where there is no such column."""
    if metric not in METRIC_DIMENSIONS:
        hint = suggest_nearest(metric, METRIC_DIMENSIONS) or "fitted are " + ", ".join(METRIC_DIMENSIONS)
        fail("unknown-metric", f"`{metric}` is not fitted", hint=hint)
    if metric not in [heading.name for heading in sheet.headings]:
        fail("nothing-measured", f"no column `{metric}` with measurements", sheet.span)
    return [metric]


def find_input_columns(
    sheet: MeasurementSheet,
    measured: Sequence[str],
    application: Application,
    kernel: str,
    machines: Sequence[Machine | None],
) -> list[str]:
    """Columns with values of parameters of the application, the kernel or all machines."""
    formals = [formal.name for formal in application.flow(kernel).formals]
    names = [*application.parameters, *formals]
    theirs = [{symbol.name for symbol in machine.definitions} if machine else set() for machine in machines]
    common = set[str].intersection(*theirs)
    rest = [heading for heading in sheet.headings if heading.name not in (*measured, *PLACES)]
    for heading in rest:
        plain = heading.name.removeprefix("app:").removeprefix("machine:")
        if plain not in names and plain not in common:
            hint = suggest_nearest(heading.name, [*names, *common, *PLACES, RUNTIME, *application.resources, "bytes"])
            listed = "the parameters are " + ", ".join(names[:12])
            if heading.name in METRICS:
                listed = hint_other_metrics(heading, sheet)
            message = f"column `{heading.name}` is neither a parameter of the models nor something measured"
            fail("unknown-column", message, heading.span, hint=hint or listed)
    return [heading.name for heading in rest]


def hint_other_metrics(metric: Heading, sheet: MeasurementSheet) -> str:
    """Hint with the options that select all columns except metrics that cannot be fitted."""
    kept = [item.name for item in sheet.headings if item.name == RUNTIME or item.name not in METRICS]
    options = " ".join(f"--column {name}={name}" for name in kept)
    fitted = f"`--metric {metric.name}` fits it; " if metric.name in METRIC_DIMENSIONS else ""
    return f"a runtime and amounts are fitted, not `{metric.name}`: {fitted}`{options}` takes the other columns"


def unit_size(heading: Heading) -> Fraction:
    """Size of a column's unit in base units."""
    if heading.unit is None:
        return Fraction(1)
    try:
        unit = parse_unit(heading.unit)
    except KeyError:
        hint = suggest_nearest(heading.unit, UNITS) or "units are such as s, ms, flop, MB, GB/s"
        fail("unknown-unit", f"unknown unit `{heading.unit}`", heading.span, hint=hint)
    wanted = METRIC_DIMENSIONS.get(heading.name) or RESOURCE_DIMENSIONS.get(heading.name)
    if heading.name in PLACES:
        wanted = DIMENSIONLESS
    if wanted is not None and unit.dimension != wanted:
        kinds = describe_dimension(wanted), describe_dimension(unit.dimension)
        message = f"`{heading.name}` is in {kinds[0]}, and `{heading.unit}` is {kinds[1]}"
        fail("wrong-unit", message, heading.span)
    return unit.size


# -- cells -----------------------------------------------------------------------------------------


def load_machines(sheet: MeasurementSheet, otherwise: Machine | None, load: Load) -> list[Machine | None]:
    """Machine of each row; each machine is loaded once."""
    loaded: dict[str, Machine] = {}
    machines = []
    for row in sheet.rows:
        cell = row.get("machine")
        if cell is None or not cell.value:
            machines.append(otherwise)
        elif isinstance(cell.value, Machine):
            machines.append(cell.value)
        else:
            name = str(cell.value)
            if name not in loaded:
                loaded[name] = load_at_cell(name, cell, load)
            machines.append(loaded[name])
    return machines


def load_at_cell(name: str, cell: Cell, load: Load) -> Machine:
    """A machine named in a cell. Mistakes in the name point at the cell, mistakes in the model at the model."""
    try:
        return load(name)
    except AspenError as error:
        circumstance = cell.parents[0] if cell.span is None else f"for the measurement at {cell.span}"
        diagnostics = [
            diagnostic.replace(span=cell.span)
            if diagnostic.span is None
            else diagnostic.with_circumstance(circumstance)
            for diagnostic in error.diagnostics
        ]
        raise AspenError(*diagnostics) from None


def read_setting(cell: Cell, name: str, size: Fraction, application: Application) -> Value:
    """Value of a parameter in a cell: a number, or a member of an enum."""
    parameter = application.parameters.get(name)
    members = application.enums.get(parameter.node.member_of or "") if parameter is not None else None
    known = application.constants if members is None else {name: value for value, name in enumerate(members.members)}
    if isinstance(cell.value, str) and cell.value in known:
        value: Value = known[cell.value]
    elif isinstance(cell.value, str) and members is not None and not NUMBER.fullmatch(cell.value):
        fail_without_member(cell, name, members)
    else:
        value = scale_exactly(read_number(cell, f"a value of `{name}`"), size)
    if members is not None and value not in range(len(members.members)):
        fail_without_member(cell, name, members)
    return value


def fail_without_member(cell: Cell, name: str, members: Enum) -> NoReturn:
    message = f"the value of `{name}` is not a member of `{members.name}`"
    fail("not-a-member", message, cell.span, hint=name_members(members.members), parents=cell.parents)


LEAST, MOST = 1e-100, 1e100
"""Limits of measurements, between which squares of relative errors stay within floating point."""


def read_amount(cell: Cell, name: str, size: Fraction) -> float:
    value = read_number(cell, f"a measured {name}") * size
    if value <= 0:
        hint = "errors are relative to what was measured, which must be positive"
        fail("not-positive", f"the {name} {cell.value} cannot be fitted", cell.span, hint=hint, parents=cell.parents)
    if not LEAST <= value <= MOST:
        message = f"the {name} {cell.value} cannot be fitted: it is not a plausible measurement"
        hint = f"a measurement lies between {LEAST:g} and {MOST:g}, in base units"
        fail("implausible", message, cell.span, hint=hint, parents=cell.parents)
    return float(value)


NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d+)?", re.ASCII)

LONGEST_NUMBER = 1000
"""Most characters of a number in a table."""


def read_number(cell: Cell, noun: str) -> Value:
    """The number in a cell: texts exactly, whole numbers as int."""
    value: Any = cell.value.item() if callable(getattr(cell.value, "item", None)) else cell.value
    if isinstance(value, str) and len(value) <= LONGEST_NUMBER and NUMBER.fullmatch(value):
        nearest_float = float(value)
        if math.isfinite(nearest_float):
            return scale_exactly(Fraction(value), Fraction(1)) if nearest_float else 0
    elif isinstance(value, int | float | Fraction) and not isinstance(value, bool) and -math.inf < value < math.inf:
        return value
    instead = "nothing stands here" if value in ("", None) else f"`{shorten(value)}` is none"
    fail("bad-value", f"{noun} is a number, and {instead}", cell.span, parents=cell.parents)


def shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def scale_exactly(value: Value, size: Fraction) -> Value:
    """Product of value and size; whole numbers as int."""
    product = value * size
    return product.numerator if isinstance(product, Fraction) and product.denominator == 1 else product
