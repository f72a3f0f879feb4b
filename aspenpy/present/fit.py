"""A Fit as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import Amount, amount, count, plain, setting, unit_of_resource
from aspenpy.present.page import Page, Paragraph, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.empirical.fit import Fit, FittedParameter, Residual

MOST_SHOWN = 30
"""Measurements in a page; of more, those with the largest errors."""

STEPS = "The model has steps in what was fitted: values within a step fit alike, and intervals are those of the ramp."

RECORDS = tuple(
    map(
        Column,
        "kind name before value low high remark row machine socket settings measured predicted error".split(),
    )
)
"""Of the CSV form: a row for each parameter (up to `remark`) and each measurement (from `row` on)."""


def page(fit: Fit) -> Page:
    """What was fitted, how well, and each measurement."""
    notes = (Paragraph(STEPS),) if fit.has_steps else ()
    refused = (_refused(fit),) if fit.refused else ()
    return (Title(heading(fit)), _parameters(fit), *refused, *notes, _goodness(fit), _residuals(fit))


def heading(fit: Fit) -> str:
    return (
        f"{fit.application.name}: {_many(fit.parameters, 'parameter')} fitted to {_many(fit.residuals, 'measurement')}"
    )


def _many(things: tuple[Any, ...], noun: str) -> str:
    return f"{count(len(things))} {noun}{'' if len(things) == 1 else 's'}"


def _parameters(fit: Fit) -> Table:
    interval = f"{percent(fit.confidence)} interval"
    columns = (
        Column("parameter"),
        Column("before", number, "right"),
        Column("fitted", number, "right"),
        Column(f"{interval} from", number, "right"),
        Column("to", number, "right"),
        Column("range"),
        Column("remark", wrapped=True),
    )
    rows = tuple(
        (
            item.name,
            item.before,
            item.value,
            *(item.interval or (None, None)),
            f"{number(item.low)} .. {number(item.high)}",
            item.remark,
        )
        for item in fit.parameters
    )
    shown = [place for place in range(len(columns)) if any(row[place] is not None for row in rows)]
    chosen = tuple(tuple(row[place] for place in shown) for row in rows)
    return Table(tuple(columns[place] for place in shown), chosen)


def _refused(fit: Fit) -> Table:
    columns = (Column("not fitted"), Column("stays", number, "right"), Column("why", wrapped=True))
    return Table(columns, tuple((item.name, item.value, item.reason) for item in fit.refused))


def _goodness(fit: Fit) -> Table:
    largest = signed(fit.worst.error)
    where = "" if largest == signed(0) else f" in row {fit.worst.measurement.row}"
    rows = (
        ("root mean square", f"{percent(fit.rms)}, before the fit {percent(fit.rms_before)}"),
        ("mean", percent(fit.mean_error)),
        ("largest", f"{largest}{where}"),
        ("degrees of freedom", count(fit.freedom)),
    )
    return Table((Column("relative error"), Column("")), rows)


def _residuals(fit: Fit) -> Table:
    shown, title = list(fit.residuals), "measurements"
    if len(shown) > MOST_SHOWN:
        shown = sorted(shown, key=lambda item: -abs(item.error))[:MOST_SHOWN]
        title = f"the {MOST_SHOWN} measurements with the largest errors, of {count(len(fit.residuals))}"
    names = list(dict.fromkeys(name for item in shown for name, _ in item.measurement.settings))
    columns = (
        Column("row", align="right"),
        Column("machine"),
        Column("socket"),
        *(Column(name, setting, "right") for name in names),
        Column("of", str),
        Column("measured", amount, "unit"),
        Column("predicted", amount, "unit"),
        Column("error", signed, "right"),
    )
    rows = [_residual(item, names) for item in shown]
    used = [place for place in range(len(columns)) if any(row[place] is not None for row in rows)]
    chosen = tuple(tuple(row[place] for place in used) for row in rows)
    return Table(tuple(columns[place] for place in used), chosen, title=title)


def _residual(item: Residual, names: list[str]) -> tuple[Any, ...]:
    found = item.measurement
    unit = unit_of_metric(found.metric)
    given = dict(found.settings)
    machine = None if found.machine is None else found.machine.name
    return (
        found.row,
        machine,
        found.socket,
        *(given.get(name) for name in names),
        found.metric,
        Amount(found.value, unit),
        Amount(item.predicted, unit),
        item.error,
    )


def unit_of_metric(metric: str) -> str:
    """Seconds, or what a resource is counted in."""
    return "s" if metric == "runtime" else unit_of_resource(metric)


def number(value: float) -> str:
    """Six digits."""
    return f"{value:.6g}"


def percent(value: float) -> str:
    """Three digits; what is left of rounding errors as 0."""
    return f"{100 * value:.3g} %" if abs(value) >= 1e-12 else "0 %"


def signed(value: float) -> str:
    return f"{'+' if value > 0 and percent(value) != '0 %' else ''}{percent(value)}"


# -- as data ---------------------------------------------------------------------------------------


def as_json(fit: Fit) -> dict[str, Any]:
    """One object; seconds, base units, errors as parts of what was measured."""
    return {
        "application": fit.application.name,
        "kernel": fit.kernel,
        "confidence": fit.confidence,
        "parameters": [_parameter(item) for item in fit.parameters],
        "refused": [{"name": item.name, "value": item.value, "reason": item.reason} for item in fit.refused],
        "rms": fit.rms,
        "rms_before": fit.rms_before,
        "mean_error": fit.mean_error,
        "largest_error": fit.worst.error,
        "freedom": fit.freedom,
        "has_steps": fit.has_steps,
        "measurements": [_measurement(item) for item in fit.residuals],
        "diagnostics": [warning.to_json() for warning in fit.diagnostics],
    }


def _parameter(item: FittedParameter) -> dict[str, Any]:
    return {
        "name": item.name,
        "before": item.before,
        "value": item.value,
        "range": [item.low, item.high],
        "deviation": item.deviation,
        "interval": None if item.interval is None else list(item.interval),
        "remark": item.remark,
    }


def _measurement(item: Residual) -> dict[str, Any]:
    found = item.measurement
    return {
        "row": found.row,
        "metric": found.metric,
        "machine": None if found.machine is None else found.machine.name,
        "socket": found.socket,
        "settings": {name: plain(value) for name, value in found.settings},
        "measured": found.value,
        "predicted": item.predicted,
        "error": item.error,
    }


def records(fit: Fit) -> Table:
    """Rows of `RECORDS`."""
    rows: list[tuple[Any, ...]] = [
        ("parameter", item.name, item.before, item.value, *(item.interval or (None, None)), item.remark, *(None,) * 7)
        for item in fit.parameters
    ]
    rows += [("refused", item.name, item.value, *(None,) * 3, item.reason, *(None,) * 7) for item in fit.refused]
    for residual in fit.residuals:
        found = residual.measurement
        machine = None if found.machine is None else found.machine.name
        given = " ".join(f"{name}={setting(value)}" for name, value in found.settings)
        numbers = (found.value, residual.predicted, residual.error)
        rows.append(("measurement", found.metric, *(None,) * 5, found.row, machine, found.socket, given, *numbers))
    return Table(RECORDS, tuple(rows))
