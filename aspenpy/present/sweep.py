"""A sweep in a few tables: the extremes of each metric, where they are, and the points without a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.engine.reasons import REASONS
from aspenpy.present.numbers import Amount, amount, count, share
from aspenpy.present.page import Page, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.sweeps.result import Summary
    from aspenpy.sweeps.study import Study


def page(study: Study, summary: Summary) -> Page:
    """What was swept, and what came out of it."""
    parts = (_extremes(study, summary), _places(study, summary), _bad(study, summary))
    return (Title(heading(study, summary)), *(part for part in parts if part.rows))


def heading(study: Study, summary: Summary) -> str:
    """`comd on haswell: runtime over nx (50) x ranks (3), 150 points`."""
    first = study.cases[0]
    swept = {item.name for item in study.categories}
    what = "" if "app" in swept else first.application.name
    what += "" if "machine" in swept else f" on {first.machine.name}"
    over = " × ".join(f"{item.name} ({item.size:,})" for item in study.directions)
    points = f"{summary.points:,} point" + ("" if summary.points == 1 else "s")
    return f"{what.strip() or 'sweep'}: {', '.join(study.metrics)} over {over}, {points}"


def _extremes(study: Study, summary: Summary) -> Table:
    columns = (
        Column("metric"),
        Column("least", amount, "unit"),
        Column("median", amount, "unit"),
        Column("largest", amount, "unit"),
    )
    rows = []
    for name, metric in study.metrics.items():
        if name in summary.least:
            median = summary.median.get(name)
            values = (summary.least[name].value, median, summary.largest[name].value)
            rows.append((name, *(None if value is None else Amount(value, metric.unit) for value in values)))
    return Table(columns, tuple(rows))


def _places(study: Study, summary: Summary) -> Table:
    """The axes at the least and at the largest value of each metric."""
    rows: list[tuple[Any, ...]] = []
    for name in study.metrics:
        for words, found in (("least", summary.least), ("largest", summary.largest)):
            if name in found:
                rows.append((f"{words} {name}", *study.point(found[name].point).values()))
    return Table((Column("at the"), *_axes(study)), tuple(rows))


def _bad(study: Study, summary: Summary) -> Table:
    columns = (
        Column("no value"),
        Column("points", count, "right"),
        Column("share", share, "right"),
        *(column.replace(header=f"first at {column.header}") for column in _axes(study)),
    )
    firsts = summary.first_bad
    rows = tuple(
        (_told(study, reason, firsts[reason]), number, number / summary.points, *study.point(firsts[reason]).values())
        for reason, number in sorted(summary.bad.items())
    )
    return Table(columns, rows)


def _told(study: Study, reason: int, point: int) -> str:
    """Why there is no value, as a prediction at the first such point says it."""
    found = study.failure(point)
    return REASONS[reason] if found is None else found.diagnostics[0].message


def _axes(study: Study) -> list[Column]:
    names = [item.name for item in study.categories]
    return [
        *(Column(name) for name in names),
        *(Column(name, _value, "right") for name in study.columns),
    ]


def _value(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.7g}"


# -- as data ---------------------------------------------------------------------------------------


def as_json(study: Study, summary: Summary) -> dict[str, Any]:
    """The same as one object, in base units."""
    from aspenpy.sweeps.result import attributes

    return {
        **attributes(study),
        "points": summary.points,
        "dimensions": {item.name: item.size for item in study.directions},
        "metrics": {
            name: {
                "unit": metric.unit,
                "least": _extreme(study, summary.least.get(name)),
                "median": summary.median.get(name),
                "largest": _extreme(study, summary.largest.get(name)),
            }
            for name, metric in study.metrics.items()
        },
        "no_value": [
            {"reason": REASONS[reason], "points": number, "first_at": study.point(summary.first_bad[reason])}
            for reason, number in sorted(summary.bad.items())
        ],
        "diagnostics": [item.to_json() for item in study.diagnostics],
    }


def _extreme(study: Study, extreme: Any) -> dict[str, Any] | None:
    return None if extreme is None else {"value": extreme.value, "at": study.point(extreme.point)}
