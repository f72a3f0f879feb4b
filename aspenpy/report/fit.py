"""A Fit as a report."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from aspenpy.answers.metrics import METRICS
from aspenpy.learn.fitting.fit import Fit, Residual
from aspenpy.tables.drawing import (
    GREY,
    INK,
    LONGEST_TITLE,
    MARKED,
    MARKS,
    SHADE,
    drop_middle,
    label_axis,
    use_shared_style,
)
from aspenpy.tables.numbers import Amount, count_of, format_count, format_setting, unit_of_resource
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Paragraph, Report, Table, make_facts, make_table

MOST_SHOWN = 30  # measurements in a page; of more, those with the largest errors

REFUSED = (
    Column("not fitted", key="name"),
    Column("stays", lambda value: six_digits(value), "right", key="value"),
    Column("why", key="reason", wrapped=True),
)

STEPS = "The model has steps in what was fitted: values within a step fit alike, and intervals are those of the ramp."


def report_fit(fit: Fit) -> Report:
    """Reports the fitted parameters, how well they fit, and each measurement."""
    data = {
        "application": fit.application.name,
        "kernel": fit.kernel,
        "confidence": fit.confidence,
        "rms": fit.rms,
        "rms_before": fit.rms_before,
        "mean_error": fit.mean_error,
        "largest_error": fit.worst.error,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "has_steps": fit.has_steps,
    }
    notes = (Paragraph(STEPS),) if fit.has_steps else ()
    refused = make_table(REFUSED, fit.refused, "refused", media=TEXT + JSON)
    parts = (_parameters_table(fit), refused, *notes, facts_of(fit), *_measurement_tables(fit), _long_table(fit))
    return Report("fit/1", heading(fit), data, parts, tuple(fit.diagnostics))


register_report(Fit, report_fit)


def heading(fit: Fit) -> str:
    """`sweep: 2 parameters fitted to 8 measurements`."""
    parameters = count_of(len(fit.parameters), "parameter")
    measurements = count_of(len(fit.residuals), "measurement")
    return f"{fit.application.name}: {parameters} fitted to {measurements}"


def _parameters_table(fit: Fit) -> Table:
    heads = (
        Column("parameter", key="name"),
        Column("before", six_digits, "right"),
        Column("fitted", six_digits, "right", key="value", get=lambda it: it.value if it.determined else None),
        Column(
            f"{three_digits(fit.confidence)} interval from",
            six_digits,
            "right",
            get=lambda it: _end_of_interval(it, 0),
            media=TEXT,
        ),
        Column("to", six_digits, "right", get=lambda it: _end_of_interval(it, 1), media=TEXT),
        Column("interval", media=JSON),
        Column("deviation", media=JSON),
        Column(
            "range", lambda ends: f"{six_digits(ends[0])} .. {six_digits(ends[1])}", get=lambda it: [it.low, it.high]
        ),
        Column("remark", wrapped=True),
    )
    return make_table(heads, fit.parameters, "parameters", sparse=True, media=("text", "json"))


def _end_of_interval(item: Any, index: int) -> float | None:
    return None if item.interval is None else float(item.interval[index])


def facts_of(fit: Fit) -> Table:
    """Facts on how well the model fits the measurements."""
    largest = signed_percent(fit.worst.error)
    where = "" if largest == signed_percent(0) else f" in row {fit.worst.measurement.row}"
    rows = (
        ("root mean square", f"{three_digits(fit.rms)}, before the fit {three_digits(fit.rms_before)}"),
        ("mean", three_digits(fit.mean_error)),
        ("largest", f"{largest}{where}"),
        ("degrees of freedom", format_count(fit.degrees_of_freedom)),
    )
    return make_facts(rows).replace(columns=(Column("relative error"), Column("")))


def _measurement_tables(fit: Fit) -> tuple[Table, ...]:
    """Tables of measurements: the worst of many for the text, all for JSON and CSV."""
    title, shown = "measurements", fit.residuals
    if len(shown) > MOST_SHOWN:
        shown = tuple(sorted(shown, key=lambda item: -abs(item.error))[:MOST_SHOWN])
        title = f"the {MOST_SHOWN} measurements with the largest errors, of {format_count(len(fit.residuals))}"
    names = list(dict.fromkeys(name for item in shown for name, _ in item.measurement.settings))
    heads = _residual_columns(names)
    if shown == fit.residuals:
        return (make_table(heads, shown, "measurements", title=title, sparse=True, media=("text", "json")),)
    text = make_table(heads, shown, title=title, sparse=True, media=TEXT)
    return text, make_table(heads, fit.residuals, "measurements", media=JSON)


def _residual_columns(names: list[str]) -> tuple[Column, ...]:
    def setting_column(name: str) -> Column:
        return Column(
            name, format_setting, "right", get=lambda item: dict(item.measurement.settings).get(name), media=TEXT
        )

    return (
        Column("row", align="right", get="measurement.row"),
        Column("machine", get=_machine_name),
        Column("socket", get="measurement.socket"),
        *map(setting_column, names),
        Column("settings", get=lambda item: dict(item.measurement.settings), media=JSON),
        Column("of", get=lambda item: item.measurement.kernel or item.measurement.metric, media=TEXT),
        Column("metric", get="measurement.metric", media=DATA),
        Column("kernel", get="measurement.kernel", media=JSON),
        Column("measured", "amount", get=lambda item: _amount_of(item, item.measurement.value), media=TEXT),
        Column("predicted", "amount", get=lambda item: _amount_of(item, item.predicted), media=TEXT),
        Column("measured", get="measurement.value", media=DATA),
        Column("predicted", media=DATA),
        Column("unit", get=lambda item: unit_of_metric(item.measurement.metric), media=DATA),
        Column("error", signed_percent, "right"),
    )


def _machine_name(item: Residual) -> str | None:
    machine = item.measurement.machine
    return None if machine is None else machine.name


def _amount_of(item: Residual, value: float) -> Amount:
    return Amount(value, unit_of_metric(item.measurement.metric))


def _long_table(fit: Fit) -> Table:
    """One row for each parameter (up to `remark`) and each measurement (from `row` on)."""
    names = "kind name before value low high remark row machine socket settings measured predicted unit error"
    rows: list[tuple[Any, ...]] = [
        ("parameter", it.name, it.before, it.value, *(it.interval or (None, None)), it.remark, *(None,) * 8)
        for it in fit.parameters
    ]
    rows += [("refused", it.name, it.value, *(None,) * 3, it.reason, *(None,) * 8) for it in fit.refused]
    for item in fit.residuals:
        measurement = item.measurement
        given = " ".join(f"{name}={format_setting(value)}" for name, value in measurement.settings)
        where = (measurement.row, _machine_name(item), measurement.socket, given)
        numbers = (measurement.value, item.predicted, unit_of_metric(measurement.metric), item.error)
        rows.append(("measurement", measurement.metric, *(None,) * 5, *where, *numbers))
    return Table(tuple(map(Column, names.split())), tuple(rows), media=CSV)


def unit_of_metric(metric: str) -> str:
    """Unit of a metric, or of the counted resource."""
    return METRICS[metric].unit if metric in METRICS else unit_of_resource(metric)


def six_digits(value: float) -> str:
    """Six digits."""
    return f"{value:.6g}"


def three_digits(value: float) -> str:
    """Three digits; what is left of rounding errors as 0."""
    return f"{100 * value:.3g} %" if abs(value) >= 1e-12 else "0 %"


def signed_percent(value: float) -> str:
    return f"{'+' if value > 0 and three_digits(value) != '0 %' else ''}{three_digits(value)}"


# -- as a picture ----------------------------------------------------------------------------------


@use_shared_style
def draw(fit: Fit) -> Any:
    """A matplotlib figure: the relative error of each measurement, with axes for each thing that was measured."""
    from matplotlib.figure import Figure

    metrics = list(dict.fromkeys(item.measurement.metric for item in fit.residuals))
    figure = Figure(figsize=(1.5 + 5.5 * len(metrics), 4.4), layout="constrained")
    figure.suptitle(drop_middle(heading(fit), LONGEST_TITLE), x=0.02, ha="left")
    places = list(dict.fromkeys(_describe_place(item) for item in fit.residuals))
    band = 100 * fit.rms
    beside: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "color": GREY}
    for number, metric in enumerate(metrics, 1):
        axes = figure.add_subplot(1, len(metrics), number, sharey=figure.axes[0] if figure.axes else None)
        _draw_errors(axes, metric, places, [item for item in fit.residuals if item.measurement.metric == metric])
        axes.axhspan(-band, band, color=SHADE, zorder=0)
        axes.axhline(0, color=INK, linewidth=1, zorder=1)
        end: dict[str, Any] = {"xy": (1, band), "xycoords": ("axes fraction", "data"), "xytext": (-4, 3)}
        axes.annotate(f"root mean square {three_digits(fit.rms)}", **end, **beside)
    if len(places) > 1:
        figure.axes[-1].legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _draw_errors(axes: Any, metric: str, places: list[str], residuals: list[Residual]) -> None:
    for position, mark, colour in zip(places, cycle(MARKS), cycle(MARKED), strict=False):
        here = [item for item in residuals if _describe_place(item) == position]
        values, errors = [item.measurement.value for item in here], [100 * item.error for item in here]
        axes.plot(values, errors, mark, color=colour, markersize=5, label=drop_middle(position))
    unit = unit_of_metric(metric)
    axes.set_xscale("log")
    label_axis(axes.xaxis, unit)
    axes.set_xlabel(f"{metric}, measured")
    axes.set_ylabel("relative error (%), positive: predicted too much")


def _describe_place(item: Residual) -> str:
    """The machine, and the socket, that something was measured on."""
    return ", ".join(filter(None, (_machine_name(item), item.measurement.socket))) or "any machine"
