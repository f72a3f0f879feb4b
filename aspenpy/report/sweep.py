"""A sweep as a report: the extremes of each metric, where they are, and the points without a value."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy

from aspenpy.answers.expected_error import expected_error
from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.units import unit_of_parameter
from aspenpy.report.intervals import interval_as_data, interval_rows
from aspenpy.report.prediction_data import assumptions_as_data
from aspenpy.report.prediction_facts import describe_assumptions
from aspenpy.sweeps.result import SweepResult, SweepSummary, attributes_of_study
from aspenpy.sweeps.study import Study, case_label
from aspenpy.tables.drawing import MAP, SHADE, STYLES, label_axis, name_ends, place_ticks, set_title, use_shared_style
from aspenpy.tables.numbers import Amount, count_of
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, TEXT, Column, Report, Table, make_facts


def report_sweep(result: SweepResult, interval: bool = True) -> Report:
    """Reports the axes of a sweep and its results."""
    return report_summary(result.summary, interval)


def report_summary(summary: SweepSummary, interval: bool = True) -> Report:
    """The report of a sweep whose points are not kept, with the `interval` to expect of the least runtime."""
    study = summary.study
    data = {
        **attributes_of_study(study),
        "points": summary.points,
        "dimensions": {item.name: item.size for item in study.directions},
        "metrics": {
            name: {
                "unit": metric.unit,
                "least": _extreme_as_data(study, summary.least.get(name)),
                "median": summary.median(name),
                "largest": _extreme_as_data(study, summary.largest.get(name)),
            }
            for name, metric in study.metrics.items()
        },
        "no_value": [
            {"reason": item.reason, "message": item.message, "points": item.points, "first_at": item.first_at}
            for item in summary.missing
        ],
    }
    least = summary.least.get("runtime") if interval else None
    facts: list[tuple[str, str]] = []
    if least is not None:
        prediction = study.prediction_at(least.point)
        expected = expected_error(prediction)
        if expected is not None:
            facts += interval_rows(expected, least.value, "s", " for the least")
            data["expected"] = interval_as_data(expected, least.value)
        if prediction.assumptions:
            facts.append(("assumed", f"for the least, {describe_assumptions(prediction)}"))
            data["assumed"] = assumptions_as_data(prediction)
    parts = (
        _extremes_table(study, summary),
        make_facts(facts),
        _places(study, summary),
        _missing_table(study, summary),
    )
    units = {name: study.units[name] for name in study.columns if name in study.units}
    headline = _write_headline(study, summary)
    return Report("sweep/1", headline, data, parts, tuple(study.diagnostics), units={"axes": units} if units else {})


register_report(SweepResult, report_sweep)
register_report(SweepSummary, report_summary)


def _write_headline(study: Study, summary: SweepSummary) -> str:
    """`comd on haswell: runtime over nx (50) x ranks (3), 150 points`."""
    first = study.cases[0]
    swept = {item.name for item in study.categories}
    what = "" if "app" in swept else first.application.name
    what += "" if "machine" in swept else f" on {first.required_machine.name}"
    over = " × ".join(f"{item.name} ({item.size:,})" for item in study.directions)
    return f"{what.strip() or 'sweep'}: {', '.join(study.metrics)} over {over}, {count_of(summary.points, 'point')}"


def _extreme_as_data(study: Study, extreme: Any) -> dict[str, Any] | None:
    return None if extreme is None else {"value": extreme.value, "at": study.point(extreme.point)}


def _extremes_table(study: Study, summary: SweepSummary) -> Table:
    heads = (Column("metric"), *(Column(name, "amount") for name in ("least", "median", "largest")))
    rows = []
    for name, metric in study.metrics.items():
        if name in summary.least:
            values = (summary.least[name].value, summary.median(name), summary.largest[name].value)
            rows.append((name, *(None if value is None else Amount(value, metric.unit) for value in values)))
    return Table(heads, tuple(rows), media=(*TEXT, *CSV))


def _places(study: Study, summary: SweepSummary) -> Table:
    """The axes at the least and at the largest value of each metric."""
    rows = [
        (f"{words} {name}", *study.point(extremes[name].point).values())
        for name in study.metrics
        for words, extremes in (("least", summary.least), ("largest", summary.largest))
        if name in extremes
    ]
    return Table((Column("at the"), *_columns_of_axes(study)), tuple(rows), media=TEXT)


def _missing_table(study: Study, summary: SweepSummary) -> Table:
    heads = (
        Column("no value"),
        Column("points", "count"),
        Column("share", "share"),
        *(column.replace(header=f"first at {column.header}") for column in _columns_of_axes(study)),
    )
    rows = tuple(
        (item.message, item.points, item.points / summary.points, *item.first_at.values()) for item in summary.missing
    )
    return Table(heads, rows, media=TEXT)


def _columns_of_axes(study: Study) -> list[Column]:
    names = [item.name for item in study.categories]
    axes = ((name, study.units.get(name, "")) for name in study.columns)
    return [*map(Column, names), *(Column(name, partial(_value, unit), "right") for name, unit in axes)]


def _value(unit: str, value: Any) -> str:
    if unit:
        return format_quantity(value, unit, digits=6)
    return f"{value:,}" if isinstance(value, int) else f"{value:.7g}"


# -- as a picture ----------------------------------------------------------------------------------


WIDTH, UP = 7, 4.4  # inches
MOST_ACROSS, MOST_UP = 7, 12  # points of an axis that have a number each
MOST_LINES = 12  # lines that a reader tells apart in one picture
WIDE = 50  # an axis whose ends are so many times apart is drawn logarithmically


@use_shared_style
def draw(result: SweepResult | SweepSummary) -> Any:
    """A matplotlib Figure of the first metric. Raises AspenError for a summary, which has no points."""
    from matplotlib.figure import Figure

    if isinstance(result, SweepSummary):
        fail("no-picture", "too many points for a picture", hint="--memory-limit allows more")
    name = next(iter(result))
    values = result[name].values
    numeric = [dimension.name for dimension in result.study.dimensions]
    if len(numeric) > 2 or "sample" in numeric or not numeric:
        fail("no-picture", "a picture is drawn over one or two numeric axes", hint="fix the others with --set")
    categories = [item.name for item in result.study.categories]
    maps = len(numeric) == 2
    if maps and values[..., 0, 0].size > 1:
        fail("no-picture", "a map is drawn over two axes alone", hint="draw one picture for each " + categories[0])
    if not maps and values[..., 0].size > MOST_LINES:
        fail("no-picture", f"a picture has at most {MOST_LINES} lines, and here are {values[..., 0].size}")
    figure = Figure(figsize=(WIDTH, UP), layout="constrained")
    axes = figure.add_subplot()
    (_draw_map if maps else _draw_lines)(figure, axes, result, name, numeric)
    case = result.study.cases[0]
    across = MOST_ACROSS if maps else MOST_ACROSS - 1
    for along, name_along, most in zip((axes.xaxis, axes.yaxis), reversed(numeric), (across, MOST_UP), strict=False):
        along.set_label_text(name_along)
        unit = unit_of_parameter(name_along, case.application, case.required_machine) or ""
        place_ticks(along, _places_along(result, name_along), unit, most)
    if not maps:
        _name_lines(axes, [_label_of_line(result, index) for index in range(len(axes.get_lines()))])
    title = f"by {', '.join(categories)}" if categories else f"{case.application.name} on {case.required_machine.name}"
    set_title(axes, f"{name}: {title}")
    return figure


def _draw_lines(figure: Any, axes: Any, result: SweepResult, name: str, numeric: list[str]) -> None:
    """Draws a line over the first numeric axis for each combination of values on the remaining axes."""
    variable = result[name]
    x = result.coords[numeric[0]][1] if numeric[0] in result.coords else numpy.arange(variable.shape[-1])
    rows = variable.values.reshape(-1, variable.shape[-1])
    labels = [_label_of_line(result, index) for index in range(len(rows))]
    for index, (row, text) in enumerate(zip(rows, labels, strict=True)):
        axes.plot(x, row, label=text, **STYLES[index % len(STYLES)], marker=_mark_of_line(row, index))
    axes.set_xscale(axis_scale(x))
    axes.set_yscale(_scale_of_values(rows))
    axes.set_ylabel(name)
    label_axis(axes.yaxis, variable.unit or "")


def _places_along(result: SweepResult, name: str) -> list[float]:
    """Places of the points along an axis; more than have a number each where it is numbered evenly."""
    return list(result.coords[name][1]) if name in result.coords else [0.0] * (MOST_UP + 1)


def _name_lines(axes: Any, labels: list[str]) -> None:
    """Writes the name of each of several lines behind its last point."""
    lines = axes.get_lines() if len(labels) > 1 else ()
    ends = []
    for line, text in zip(lines, labels, strict=False):
        finite = [(x, y) for x, y in zip(*line.get_data(), strict=True) if numpy.isfinite(y)]
        ends += [(text, *finite[-1], line.get_color())] if finite else []
    name_ends(axes, UP - 0.9, ends)


def _mark_of_line(row: Any, index: int) -> str | None:
    """Beyond four lines marks tell those of the same style apart; a value between two missing ones needs one."""
    alone = numpy.isfinite(row) & numpy.isnan(numpy.roll(row, 1)) & numpy.isnan(numpy.roll(row, -1))
    marks = (None, "o", "s")
    return marks[index // len(STYLES) % len(marks)] or ("." if alone.any() or len(row) == 1 else None)


def _label_of_line(result: SweepResult, index: int) -> str:
    case = result.study.cases[index]
    return ", ".join(case_label(case, item.name) for item in result.study.categories)


def _draw_map(figure: Any, axes: Any, result: SweepResult, name: str, numeric: list[str]) -> None:
    """Colours over two axes; points without a value stay empty."""
    from matplotlib.colors import LogNorm

    variable = result[name]
    y, x = (result.coords[axis][1] for axis in numeric)
    values = variable.values.reshape(len(y), len(x))
    logarithmic = _scale_of_values(values) == "log"
    norm = LogNorm(numpy.nanmin(values), numpy.nanmax(values)) if logarithmic else None
    # The edges of cells lie between the points, in the scale of the axis.
    mesh = axes.pcolormesh(_edges_between(x), _edges_between(y), values, norm=norm, cmap=MAP, shading="flat")
    mesh.set_rasterized(True)
    axes.grid(visible=False)
    axes.set_facecolor(SHADE)
    axes.set_xscale(axis_scale(x))
    axes.set_yscale(axis_scale(y))
    bar = figure.colorbar(mesh, ax=axes)
    bar.set_label(name)
    label_axis(bar.ax.yaxis, variable.unit or "")


def _edges_between(values: Any) -> Any:
    """Edges between neighbouring values, and as far beyond the ends."""
    if len(values) == 1:
        return numpy.array([values[0] * 0.9, values[0] * 1.1]) if values[0] else numpy.array([-0.5, 0.5])
    scaled = numpy.log(values) if axis_scale(values) == "log" else values
    middles = (scaled[1:] + scaled[:-1]) / 2
    edges = numpy.concatenate([[2 * scaled[0] - middles[0]], middles, [2 * scaled[-1] - middles[-1]]])
    return numpy.exp(edges) if axis_scale(values) == "log" else edges


def axis_scale(points: Any) -> str:
    """The scale of an axis: logarithmic also for points whose ratios are more even than their distances."""
    each = numpy.unique(points)
    if len(each) < 3 or each[0] <= 0:
        return _scale_of_values(points)
    distances, ratios = numpy.diff(each), numpy.diff(numpy.log(each))
    uneven, uneven_in_ratio = (numpy.std(steps) / numpy.mean(steps) for steps in (distances, ratios))
    return "log" if uneven_in_ratio < uneven else _scale_of_values(points)


def _scale_of_values(values: Any) -> str:
    """Logarithmic for what is positive and stretches wide."""
    finite = values[numpy.isfinite(values)]
    return "log" if finite.size and finite.min() > 0 and finite.max() >= WIDE * finite.min() else "linear"
