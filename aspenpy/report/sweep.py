"""A sweep as a report: the extremes of each metric, where they are, and the points without a value."""

from __future__ import annotations

from typing import Any

from aspenpy.engine.reasons import REASONS
from aspenpy.studies.sweeps.result import Summary, SweepResult, attributes
from aspenpy.studies.sweeps.study import Study
from aspenpy.tables.numbers import Amount
from aspenpy.tables.table import TEXT, Column, Report, Table


def report(result: SweepResult) -> Report:
    """What was swept, and what came out of it."""
    return summed_up(result.study, result.summary)


def summed_up(study: Study, summary: Summary) -> Report:
    """The same of a sweep whose points are not kept."""
    first_at = {reason: study.point(summary.first_bad[reason]) for reason in summary.bad}
    counted = sorted(summary.bad.items())
    told = [(_told(study, reason, summary.first_bad[reason]), number, first_at[reason]) for reason, number in counted]
    data = {
        **attributes(study),
        "points": summary.points,
        "dimensions": {item.name: item.size for item in study.directions},
        "metrics": {
            name: {
                "unit": metric.unit,
                "least": _extreme(study, summary.least.get(name)),
                "median": summary.median(name),
                "largest": _extreme(study, summary.largest.get(name)),
            }
            for name, metric in study.metrics.items()
        },
        "no_value": [
            {"reason": REASONS[reason], "message": why, "points": number, "first_at": at}
            for (reason, _), (why, number, at) in zip(counted, told, strict=True)
        ],
    }
    parts = (_extremes(study, summary), _places(study, summary), _bad(study, summary, told))
    units = {name: study.units[name] for name in study.columns if name in study.units}
    headline = _headline(study, summary)
    return Report(headline, data, parts, tuple(study.diagnostics), {"axes": units} if units else {})


def _headline(study: Study, summary: Summary) -> str:
    """`comd on haswell: runtime over nx (50) x ranks (3), 150 points`."""
    first = study.cases[0]
    swept = {item.name for item in study.categories}
    what = "" if "app" in swept else first.application.name
    what += "" if "machine" in swept else f" on {first.required_machine.name}"
    over = " × ".join(f"{item.name} ({item.size:,})" for item in study.directions)
    points = f"{summary.points:,} point" + ("" if summary.points == 1 else "s")
    return f"{what.strip() or 'sweep'}: {', '.join(study.metrics)} over {over}, {points}"


def _extreme(study: Study, extreme: Any) -> dict[str, Any] | None:
    return None if extreme is None else {"value": extreme.value, "at": study.point(extreme.point)}


def _extremes(study: Study, summary: Summary) -> Table:
    heads = (Column("metric"), *(Column(name, "amount") for name in ("least", "median", "largest")))
    rows = []
    for name, metric in study.metrics.items():
        if name in summary.least:
            values = (summary.least[name].value, summary.median(name), summary.largest[name].value)
            rows.append((name, *(None if value is None else Amount(value, metric.unit) for value in values)))
    return Table(heads, tuple(rows), media=TEXT)


def _places(study: Study, summary: Summary) -> Table:
    """The axes at the least and at the largest value of each metric."""
    rows = [
        (f"{words} {name}", *study.point(extremes[name].point).values())
        for name in study.metrics
        for words, extremes in (("least", summary.least), ("largest", summary.largest))
        if name in extremes
    ]
    return Table((Column("at the"), *_axes(study)), tuple(rows), media=TEXT)


def _bad(study: Study, summary: Summary, bad: list[tuple[str, int, dict[str, Any]]]) -> Table:
    heads = (
        Column("no value"),
        Column("points", "count"),
        Column("share", "share"),
        *(column.replace(header=f"first at {column.header}") for column in _axes(study)),
    )
    rows = tuple((why, number, number / summary.points, *at.values()) for why, number, at in bad)
    return Table(heads, rows, media=TEXT)


def _told(study: Study, reason: int, point: int) -> str:
    """Why there is no value, as a prediction at the first such point says it."""
    found = study.failure(point)
    return REASONS[reason] if found is None else found.diagnostics[0].message


def _axes(study: Study) -> list[Column]:
    names = [item.name for item in study.categories]
    return [*map(Column, names), *(Column(name, _value, "right") for name in study.columns)]


def _value(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.7g}"
