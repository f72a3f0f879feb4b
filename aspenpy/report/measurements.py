"""Measured runs as reports: alone, beside predicted energies, and beside predicted times."""

from __future__ import annotations

from functools import partial
from typing import Any

from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.estimators.training_rows import EarlierRuns
from aspenpy.learn.measurements.measure import Measured
from aspenpy.learn.measurements.sheet import MeasurementSheet
from aspenpy.learn.model_validation import NEAR_FACTOR, Validation, ValidationPoint
from aspenpy.learn.profile_validation import ProfileValidation
from aspenpy.report.intervals import interval_as_data, interval_rows
from aspenpy.report.junit import CaseVerdict, VerdictSuite, write_suites
from aspenpy.report.prediction_facts import BOUND_BY
from aspenpy.tables.drawing import (
    GREY,
    SHADE,
    STYLES,
    VERMILION,
    drop_middle,
    label_axis,
    place_ticks,
    set_title,
    use_shared_style,
)
from aspenpy.tables.numbers import Amount, count_of, format_share
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import ALL, DATA, JSON, TEXT, Column, Report, Table, make_facts, make_table

MOST_SHOWN = 12


def report_measurements(measured: Measured) -> Report:
    """The mean runtime with its interval, each run, and what could not be collected."""
    command = " ".join(measured.command)
    data = {
        "command": list(measured.command),
        "mean": Amount(measured.mean, "s"),
        "half_interval": Amount(measured.half, "s"),
        "confidence": measured.target.confidence,
        "target_met": measured.met,
        "missing": [{"what": what, "why": why} for what, why in measured.missing],
    }
    share = f"{100 * measured.half / measured.mean:.2g} %"
    kind = "trimmed mean" if measured.target.trimmed else "mean"
    said = [
        (
            f"{kind} runtime",
            f"{format_quantity(measured.mean, 's')} ± {share} at {100 * measured.target.confidence:g} % confidence",
        ),
        *((f"no {what}", why) for what, why in measured.missing),
    ]
    names = list(dict.fromkeys(name for run in measured.runs for name in run.values))
    columns = (Column("run", "count"), *map(_column_of, names))
    rows = tuple((number, *(run.values.get(name) for name in names)) for number, run in enumerate(measured.runs, 1))
    notes: tuple[Diagnostic, ...] = ()
    if not measured.met:
        precision = f"{100 * measured.target.precision:g} %"
        text = f"the mean is known to {share}, not to {precision}, after {len(measured.runs)} runs"
        notes = (Diagnostic("target-not-met", text, severity="warning", hint="--most-runs allows more runs"),)
    return Report(
        "runs/1",
        f"{command}: {count_of(len(measured.runs), 'run')}",
        data,
        (make_facts(said), Table(columns, rows, key="runs")),
        notes,
    )


register_report(Measured, report_measurements)


def _column_of(name: str) -> Column:
    plain, _, unit = name.rstrip("]").partition(" [")
    return Column(plain.replace("_", " "), unit=unit, key=plain) if unit else Column(plain, "count", key=plain)


def report_sheet(sheet: MeasurementSheet, name: str) -> Report:
    """A sheet that was read, as it is."""
    headers = [f"{item.name} [{item.unit}]" if item.unit else item.name for item in sheet.headings]
    rows = tuple(tuple(row[item.name].value for item in sheet.headings) for row in sheet.rows)
    table = Table(tuple(Column(header, key=header) for header in headers), rows, key="rows", media=ALL)
    return Report("readings/1", f"{name}: {count_of(len(rows), 'row')}", {}, (table,))


# -- recorded energies beside predicted ones -------------------------------------------------------


DEVICES = (
    Column("device", get=lambda item: item.device or "the machine"),
    Column("energy", unit="J"),
    Column("time", unit="s"),
    Column("chosen", lambda value: "yes" if value else ""),
)


def add_recorded(report: Report, earlier_runs: EarlierRuns) -> Report:
    """A report of a predicted energy, with the devices that the application was measured on (ACEE)."""
    chosen = earlier_runs.chosen
    runs = f"{earlier_runs.runs} run{'' if earlier_runs.runs == 1 else 's'}"
    title = f"measured before (ACEE), the means of {runs}"
    record = {
        "device": chosen.device,
        "energy": Amount(chosen.energy, "J"),
        "time": Amount(chosen.time, "s"),
        "runs": earlier_runs.runs,
        "input": earlier_runs.input,
    }
    devices = make_table(DEVICES, earlier_runs.devices, "recorded_devices", title=title, media=TEXT + JSON)
    first, *others = report.parts
    return report.replace(data=report.data | {"record": record}, parts=(first, devices, *others))


def _format_quotient(ratio: float) -> str:
    """Predicted over measured with two places, or two digits where that is little or nothing."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


# -- validations -----------------------------------------------------------------------------------


def report_validated(validation: Validation) -> Report:
    """Predictions beside measurements, point by point, and what limits the kernels of the last point."""
    machine = validation.case.required_machine.name
    far = max(validation.points, key=lambda point: point.factor)
    said = [
        ("command", validation.command),
        ("median", f"{1 + validation.median_error:.2f} times off, either way"),
        ("near", f"{validation.near} of {len(validation.points)} within a factor of {NEAR_FACTOR:g}"),
        ("worst", _describe_ratio(far) + f", at {_list_values(far)}" * bool(far.values)),
    ]
    said += interval_rows(far.expected, far.predicted, "s")
    if validation.limit is not None:
        said.append(
            ("beyond the limit", f"{len(validation.failed)} of {len(validation.points)}, by {validation.limit:.0%}")
        )
    data = {
        "application": validation.case.application.name,
        "machine": machine,
        "limit": validation.limit,
        "failed": len(validation.failed),
        "command": validation.command,
        "median_error": validation.median_error,
        "within": {"factor": NEAR_FACTOR, "points": validation.near},
        "expected": interval_as_data(far.expected, far.predicted),
    }
    parts = (make_facts(said), _points_table(validation), _kernels_table(validation))
    points = f"{len(validation.points)} point" + ("s" if len(validation.points) > 1 else "")
    headline = f"{validation.case.application.name} on {machine}: predicted and measured at {points}"
    return Report("validation/1", headline, data, parts, validation.diagnostics)


register_report(Validation, report_validated)


def _list_values(point: ValidationPoint) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in point.values.items())


def _points_table(validation: Validation) -> Table:
    names = list(validation.points[0].values)
    heads = (
        *(Column(name, "{:g}".format, "right", get=partial(_value_of, name)) for name in names),
        Column("predicted", unit="s"),
        Column("of it, start and pages", unit="s", get="overhead.total", media=TEXT),
        Column("start", unit="s", get="overhead.start", media=DATA),
        Column("pages", unit="s", get="overhead.pages", media=DATA),
        Column("measured", unit="s", get="least"),
        Column("elapsed, mean", unit="s", key="mean", get="run.mean"),
        Column("±", lambda part: f"{100 * part:.2g} %", "right", key="half_interval", get=_half_interval),
        Column("runs", "count", get=lambda point: len(point.run.runs)),
        Column("predicted/measured", _format_quotient, "right", key="ratio"),
        Column(BOUND_BY),
    )
    failed = frozenset(index for index, point in enumerate(validation.points) if point in validation.failed)
    return make_table(heads, validation.points, "points", marked=failed)


def write_verdicts(validation: Validation) -> str:
    """JUnit's XML: a case for each point, failed where it is beyond the limit."""
    name = validation.case.application.name
    verdicts = [_judge(validation, point) for point in validation.points]
    return write_suites([VerdictSuite(f"aspenpy validate {name}", name, verdicts)])


def _judge(validation: Validation, point: ValidationPoint) -> CaseVerdict:
    place = _list_values(point) or "the run"
    times = f"predicted {format_quantity(point.predicted, 's')}, measured {format_quantity(point.least, 's')}"
    failure = f"{_describe_ratio(point)}: {times}" if point in validation.failed else ""
    return CaseVerdict(place, failure, validation.command)


def _describe_ratio(point: ValidationPoint) -> str:
    return f"{_format_quotient(point.ratio)} times what was measured"


def _value_of(name: str, point: ValidationPoint) -> float:
    return point.values[name]


def _half_interval(point: ValidationPoint) -> float:
    return point.run.half / point.run.mean


def _kernels_table(validation: Validation) -> Table:
    last = validation.points[-1]
    heads = (
        Column("kernel", key="name"),
        Column("calls", "count"),
        Column("predicted", unit="s", get="exclusive"),
        Column("share", "share"),
        Column(BOUND_BY),
    )
    return make_table(
        heads, last.kernels, "kernels", title=f"kernels at {_list_values(last)}" if last.values else "kernels"
    )


# -- profiles --------------------------------------------------------------------------------------


PROFILED = (
    Column("region"),
    Column("kernel"),
    Column("measured", unit="s"),
    Column("predicted", unit="s"),
    Column("predicted/measured", _format_quotient, "right", key="ratio"),
)


def report_profile(validation: ProfileValidation) -> Report:
    """Regions of a profile beside their kernels, those beyond the limit marked."""
    name, machine = validation.case.application.name, validation.case.required_machine.name
    marked = frozenset(index for index, item in enumerate(validation.kernels) if item in validation.failed)
    said = [("part of the profile that has a kernel", format_share(validation.covered))]
    if validation.limit is not None:
        said.append(
            ("beyond the limit", f"{len(validation.failed)} of {len(validation.kernels)}, by {validation.limit:.0%}")
        )
    data = {
        "application": name,
        "machine": machine,
        "covered": validation.covered,
        "limit": validation.limit,
        "failed": len(validation.failed),
    }
    parts = (make_facts(said), make_table(PROFILED, validation.kernels, "kernels", marked=marked))
    return Report(
        "profile_validation/1",
        f"{name} on {machine}: predicted and profiled by kernel",
        data,
        parts,
        validation.diagnostics,
    )


register_report(ProfileValidation, report_profile)


def write_profile_verdicts(validation: ProfileValidation) -> str:
    """JUnit's XML: a case for each region that is a kernel, failed where it is beyond the limit."""
    name = validation.case.application.name
    verdicts = []
    for item in validation.kernels:
        times = (
            f"predicted {format_quantity(item.predicted or 0.0, 's')}, measured {format_quantity(item.measured, 's')}"
        )
        if item.kernel:
            verdicts.append(CaseVerdict(item.kernel, times if item in validation.failed else ""))
    return write_suites([VerdictSuite(f"aspenpy validate {name}", name, verdicts)])


WIDTH, UP = 7, 4.0  # inches of the times


@use_shared_style
def draw(validation: Validation) -> Any:
    """A matplotlib figure: above the predicted and measured times over the first axis, below their ratio."""
    from matplotlib.figure import Figure

    name = next(iter(validation.points[0].values))
    at = [point.values[name] for point in validation.points]
    wide = min(at) > 0 and max(at) > WIDE * min(at)
    figure = Figure(figsize=(WIDTH, 1.4 * UP + 1), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.2))
    above.set(xscale="log" if wide else "linear", yscale="log", ylabel="runtime")
    above.margins(y=0.15)
    measured = [point.least for point in validation.points]
    predicted = [point.predicted for point in validation.points]
    above.plot(at, predicted, label="predicted", marker="s", **STYLES[0])
    above.plot(at, measured, "o", label="measured", color=VERMILION, markerfacecolor="white", markersize=7)
    _mark_bounds(above, validation, at)
    set_title(above, f"{validation.case.application.name} on {validation.case.required_machine.name}")
    below.axhline(1, color=GREY, linewidth=1)
    below.axhspan(1 / NEAR_FACTOR, NEAR_FACTOR, color=SHADE, zorder=0)
    below.plot(at, [point.ratio for point in validation.points], marker="s", **STYLES[0])
    below.set(yscale="log", xlabel=name, ylabel="predicted/measured")
    place_ticks(below.xaxis, at, "", MOST_PLACES)
    label_axis(above.yaxis, "s")
    label_axis(below.yaxis)
    above.legend(loc="upper left")
    return figure


WIDE = 20  # an axis whose ends are so many times apart is logarithmic
MOST_PLACES = 8  # points with a number each


def _mark_bounds(axes: Any, validation: Validation, at: list[float]) -> None:
    """The limit of each prediction, where that is another than at the point before."""
    before = None
    for point, x in zip(validation.points, at, strict=True):
        if point.bound_by and point.bound_by != before:
            beside: dict[str, Any] = {"textcoords": "offset points", "va": "top", "color": GREY}
            axes.annotate(f"{BOUND_BY} {drop_middle(point.bound_by)}", (x, point.predicted), xytext=(6, -8), **beside)
        before = point.bound_by
