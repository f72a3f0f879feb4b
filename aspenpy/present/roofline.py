"""A Roofline as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import Amount, amount, seconds, share
from aspenpy.present.page import Page, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.analysis.ceilings import Ceiling
    from aspenpy.analysis.roofline import Roofline
    from aspenpy.analysis.roofline_points import Point

MEMORIES = (
    Column("memory", wrapped=True),
    Column("resource"),
    Column("as"),
    Column("of one", amount, "unit"),
    Column("of all", amount, "unit"),
)
RECORDS = tuple(
    map(Column, ("kind", "name", "traits", "rate", "unit", "intensity", "attainable", "bound by", "predicted", "time"))
)
"""Of the CSV form: a row for each ceiling (`rate`), application and kernel (what comes behind it)."""


def page(roofline: Roofline) -> Page:
    """The ceilings, the bandwidths, and what stands below them."""
    tables = (_compute(roofline), _bandwidths(roofline), _points(roofline), *_by_level(roofline))
    return (Title(heading(roofline)), *(table for table in tables if table.rows))


def heading(roofline: Roofline) -> str:
    where = f"{roofline.machine.name}, socket {roofline.socket}" if roofline.socket else roofline.machine.name
    return f"roofline of {where}"


def _compute(roofline: Roofline) -> Table:
    """Flops a second, and the ridge point with each memory."""
    columns = (
        Column("flops as"),
        Column("of one", amount, "unit"),
        Column("of all", amount, "unit"),
        *(Column(f"ridge with {label(memory, roofline)}", ratio, "right") for memory in roofline.memory),
        Column("component", wrapped=True),
    )
    rows = tuple(
        (
            traits(ceiling),
            Amount(ceiling.one, "flop/s"),
            Amount(ceiling.rate, "flop/s"),
            *(roofline.ridge(ceiling, memory) for memory in roofline.memory),
            ceiling.component,
        )
        for ceiling in roofline.compute
    )
    return Table(columns, rows, title="ceilings (ridge: the flop/B from which on they hold)")


def _bandwidths(roofline: Roofline) -> Table:
    rows = tuple(
        (
            ceiling.component,
            ", ".join(ceiling.resources),
            ", ".join(ceiling.traits) or None,
            Amount(ceiling.one, "B/s"),
            Amount(ceiling.rate, "B/s"),
        )
        for ceiling in roofline.bandwidths
    )
    return Table(MEMORIES, rows, title="bandwidths")


def _points(roofline: Roofline) -> Table:
    columns = (
        Column("kernel"),
        Column("time", seconds, "unit"),
        Column("flop/B", ratio, "right"),
        Column("attainable", amount, "unit"),
        Column("bound by"),
        Column("predicted", amount, "unit"),
        Column("of it", share, "right"),
        Column("waits for"),
    )
    rows = tuple(
        (
            _indented(point),
            point.time,
            point.intensity,
            Amount(point.attainable, "flop/s"),
            " + ".join(point.bound_by),
            Amount(point.predicted, "flop/s"),
            point.predicted / point.attainable,
            point.waits_for,
        )
        for point in roofline.points
    )
    return Table(columns, rows, _whole(roofline.points), title="below them")


def _whole(points: Sequence[Point]) -> frozenset[int]:
    """The rows of applications."""
    return frozenset(number for number, point in enumerate(points) if point.kernel is None)


def _by_level(roofline: Roofline) -> list[Table]:
    """The intensity at each level of what says how it touches its data."""
    placed = [point for point in roofline.points if point.levels]
    if not placed:
        return []
    names = list(dict.fromkeys(level.level for point in placed for level in point.levels))
    columns = (Column("kernel"), *(Column(name, ratio, "right") for name in names))
    rows = []
    for point in placed:
        intensity = {level.level: level.intensity for level in point.levels}
        rows.append((_indented(point), *(intensity.get(name) for name in names)))
    return [Table(columns, tuple(rows), _whole(placed), title="flop/B at each level")]


def _indented(point: Point) -> str:
    return f"  {point.kernel}" if point.kernel else point.application


def traits(ceiling: Ceiling) -> str:
    return ", ".join(ceiling.traits) or "plain"


def label(memory: Ceiling, roofline: Roofline) -> str:
    """A bandwidth's component, and what tells it from others of the same."""
    alike = [other for other in roofline.bandwidths if other.component == memory.component]
    more = [*(memory.resources if len({other.resources for other in alike}) > 1 else ()), *memory.traits]
    return f"{memory.component} ({', '.join(more)})" if more else memory.component


def ratio(value: float) -> str:
    return f"{value:.3g}"


# -- as data ---------------------------------------------------------------------------------------


def as_json(roofline: Roofline) -> dict[str, Any]:
    """One object; rates in flops and bytes a second, ridges by memory in flops a byte."""
    warnings = [warning for prediction in roofline.predictions for warning in prediction.diagnostics]
    return {
        "machine": roofline.machine.name,
        "socket": roofline.socket,
        "compute": [
            {
                **_ceiling(ceiling),
                "unit": "flop/s",
                "ridges": {label(memory, roofline): roofline.ridge(ceiling, memory) for memory in roofline.bandwidths},
            }
            for ceiling in roofline.compute
        ],
        "caches": [{**_ceiling(ceiling), "unit": "B/s"} for ceiling in roofline.caches],
        "memory": [{**_ceiling(ceiling), "unit": "B/s"} for ceiling in roofline.memory],
        "points": [_point(point) for point in roofline.points],
        "diagnostics": [warning.to_json() for warning in dict.fromkeys(warnings or roofline.machine.warnings)],
    }


def _ceiling(ceiling: Ceiling) -> dict[str, Any]:
    return {
        "resources": list(ceiling.resources),
        "traits": list(ceiling.traits),
        "component": "/".join(ceiling.path),
        "count": ceiling.count,
        "one": ceiling.one,
        "rate": ceiling.rate,
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "application": point.application,
        "kernel": point.kernel,
        "flops": point.flops,
        "bytes": point.volume,
        "intensity": point.intensity,
        "attainable": point.attainable,
        "bound_by": list(point.bound_by),
        "predicted": point.predicted,
        "waits_for": point.waits_for,
        "time": point.time,
        "levels": [{"name": at.level, "bytes": at.volume, "intensity": at.intensity} for at in point.levels],
    }


def records(roofline: Roofline) -> Table:
    """Rows of `RECORDS`."""
    nothing = (None,) * 5
    rows: list[tuple[Any, ...]] = [
        ("compute", ceiling.component, ", ".join(ceiling.traits), ceiling.rate, "flop/s", *nothing)
        for ceiling in roofline.compute
    ]
    rows += [
        (kind, label(ceiling, roofline), ", ".join(ceiling.traits), ceiling.rate, "B/s", *nothing)
        for kind, ceilings in (("cache", roofline.caches), ("memory", roofline.memory))
        for ceiling in ceilings
    ]
    rows += [
        (
            "application" if point.kernel is None else "kernel",
            point.name,
            None,
            None,
            "flop/s",
            point.intensity,
            point.attainable,
            " + ".join(point.bound_by),
            point.predicted,
            point.time,
        )
        for point in roofline.points
    ]
    return Table(RECORDS, tuple(rows))
