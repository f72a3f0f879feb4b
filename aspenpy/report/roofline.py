"""A Roofline as a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.answers.ceilings import Ceiling
from aspenpy.answers.roofline import Roofline
from aspenpy.answers.roofline_points import RooflinePoint
from aspenpy.language.diagnostics import drop_repeats
from aspenpy.learn.measured_roofline import MeasuredPoint, MeasuredRoofline
from aspenpy.report.prediction_facts import BOUND_BY
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Report, Table, make_columns, make_table

CEILING = (
    *make_columns("resources traits"),
    Column("component", get=lambda ceiling: "/".join(ceiling.path)),
    *make_columns("count one rate"),
)
FLOPS = Column("unit", get=lambda ceiling: "flop/s")
BYTES = (Column("peak", unit="B/s"), Column("unit", get=lambda ceiling: "B/s"))
OBJECTS = (
    *make_columns("application kernel"),
    Column("flops", unit="flop"),
    Column("bytes", unit="B", get="volume"),
    Column("intensity", unit="flop/B"),
    Column("attainable", unit="flop/s"),
    Column("bound_by"),
    Column("predicted", unit="flop/s"),
    Column("bottleneck"),
    Column("time", unit="s"),
    Column(
        "levels", get=lambda it: [{"name": at.level, "bytes": at.volume, "intensity": at.intensity} for at in it.levels]
    ),
)
LONG = (
    *make_columns("kind name traits rate unit"),
    Column("intensity", unit="flop/B"),
    *make_columns("attainable bound_by predicted"),
    Column("time", unit="s"),
)
"""Columns of the CSV form: a row for each ceiling (`rate`), application and kernel (what comes behind it)."""


def report_roofline(roofline: Roofline) -> Report:
    """The ceilings, the bandwidths, and what stands below them."""

    def ridges(ceiling: Ceiling) -> dict[str, float]:
        return {label(memory, roofline): roofline.ridge(ceiling, memory) for memory in roofline.bandwidths}

    warnings = [warning for prediction in roofline.predictions for warning in prediction.diagnostics]
    parts = (
        _compute_table(roofline),
        _bandwidths_table(roofline),
        _points_table(roofline),
        group_by_level(roofline),
        make_table((*CEILING, FLOPS, Column("ridges", get=ridges)), roofline.compute, "compute", media=JSON),
        make_table((*CEILING, *BYTES), roofline.caches, "caches", media=JSON),
        make_table((*CEILING, *BYTES), roofline.memory, "memory", media=JSON),
        make_table((*CEILING, *BYTES), roofline.files, "files", media=JSON),
        make_table(OBJECTS, roofline.points, "points", media=JSON),
        _long_table(roofline),
    )
    data = {"machine": roofline.machine.name, "socket": roofline.socket}
    return Report(
        "roofline/1", heading(roofline), data, parts, tuple(drop_repeats(warnings or roofline.machine.warnings))
    )


register_report(Roofline, report_roofline)


MEASURED = (
    Column("kernel", get=lambda point: _name_both(point), media=TEXT),
    Column("region", get="name", media=DATA),
    Column("kernel", media=DATA),
    Column("measured", unit="s", get="time"),
    Column("predicted", unit="s"),
    Column("flop/B", "ratio", key="intensity", media=TEXT),
    Column("intensity", unit="flop/B", media=DATA),
    Column("flops", unit="flop", media=DATA),
    Column("bytes", unit="B", get="volume", media=DATA),
    Column("reached", unit="flop/s", get="rate"),
    Column("roof", unit="flop/s"),
    Column("share of roof", "share", get="share"),
    Column(BOUND_BY, get=lambda point: point.bound_by or None),
    Column("from the model", get=lambda point: ", ".join(point.of_model) or None),
    Column("what to do first", key="advice", wrapped=True),
)


def report_measured(roofline: MeasuredRoofline) -> Report:
    """The roofline with a table of measured kernels before all else."""
    base = report_roofline(roofline.roofline)
    table = make_table(MEASURED, roofline.measured, "measured", title="measured", sparse=True)
    notes = (*(base.diagnostics or ()), *roofline.diagnostics)
    return base.replace(parts=(table, *base.parts), diagnostics=tuple(drop_repeats(notes)))


register_report(MeasuredRoofline, report_measured)


def _name_both(point: MeasuredPoint) -> str:
    """The region, and the kernel that it is where that has another name."""
    known = point.kernel or point.name
    return point.name if point.name in (known, known.rpartition(".")[2]) else f"{point.name} ({known})"


def heading(roofline: Roofline) -> str:
    where = f"{roofline.machine.name}, socket {roofline.socket}" if roofline.socket else roofline.machine.name
    return f"roofline of {where}"


def _compute_table(roofline: Roofline) -> Table:
    """Flops a second, and the ridge point with each memory; not with data that lie on another socket."""

    def ridge(memory: Ceiling) -> Column:
        header = f"ridge with {label(memory, roofline)}"
        return Column(header, "ratio", get=lambda ceiling: roofline.ridge(ceiling, memory))

    heads = (
        Column("flops as", get=traits),
        Column("of one", unit="flop/s", get="one"),
        Column("of all", unit="flop/s", get="rate"),
        *_at_work_columns(roofline, roofline.compute, "flop/s"),
        *(ridge(memory) for memory in roofline.memory if "remote" not in memory.traits),
        Column("component", wrapped=True),
    )
    return make_table(heads, roofline.compute, title="ceilings (ridge: the flop/B from which on they hold)", media=TEXT)


def _bandwidths_table(roofline: Roofline) -> Table:
    stated = any(ceiling.peak is not None for ceiling in roofline.bandwidths)
    heads = (
        Column("memory", get="component", wrapped=True),
        Column("resource", get=lambda ceiling: ", ".join(ceiling.resources)),
        Column("as", get=lambda ceiling: ", ".join(ceiling.traits) or None),
        Column("of one", unit="B/s", get="one"),
        Column("of all", unit="B/s", get="rate"),
        *_at_work_columns(roofline, (*roofline.bandwidths, *roofline.files), "B/s"),
        *((Column("data sheet", unit="B/s", get="peak"),) if stated else ()),
    )
    return make_table(heads, (*roofline.bandwidths, *roofline.files), title="bandwidths", media=TEXT)


def _at_work_columns(roofline: Roofline, ceilings: Sequence[Ceiling], unit: str) -> tuple[Column, ...]:
    """The rate of the components that take part, where those are not all."""
    if all(roofline.at_work(ceiling).rate == ceiling.rate for ceiling in ceilings):
        return ()
    return (Column("at work", unit=unit, get=lambda ceiling: roofline.at_work(ceiling).rate),)


def _points_table(roofline: Roofline) -> Table:
    heads = (
        Column("kernel", get=indent_point),
        Column("time", unit="s"),
        Column("flop/B", "ratio", get="intensity"),
        Column("attainable", unit="flop/s"),
        Column(BOUND_BY, get=lambda point: " + ".join(point.bound_by)),
        Column("predicted", unit="flop/s"),
        Column("of the roof", "share", get=lambda point: point.predicted / point.attainable),
        Column("bottleneck"),
    )
    return make_table(
        heads, roofline.points, marked=_rows_of_applications(roofline.points), title="below them", media=TEXT
    )


def _rows_of_applications(points: Sequence[RooflinePoint]) -> frozenset[int]:
    """The rows of applications."""
    return frozenset(number for number, point in enumerate(points) if point.kernel is None)


def group_by_level(roofline: Roofline) -> Table:
    """The intensity at each level of what says how it touches its data."""
    placed = [point for point in roofline.points if point.levels]

    def make_column(name: str) -> Column:
        return Column(name, "ratio", get=lambda point: {it.level: it.intensity for it in point.levels}.get(name))

    names = dict.fromkeys(level.level for point in placed for level in point.levels)
    heads = (Column("kernel", get=indent_point), *map(make_column, names))
    return make_table(heads, placed, marked=_rows_of_applications(placed), title="flop/B at each level", media=TEXT)


def indent_point(point: RooflinePoint) -> str:
    return f"  {point.kernel}" if point.kernel else point.application


def traits(ceiling: Ceiling) -> str:
    return ", ".join(ceiling.traits) or "plain"


def label(memory: Ceiling, roofline: Roofline) -> str:
    """A bandwidth's component, and what tells it from others of the same."""
    alike = [other for other in roofline.bandwidths if other.component == memory.component]
    more = [*(memory.resources if len({other.resources for other in alike}) > 1 else ()), *memory.traits]
    return f"{memory.component} ({', '.join(more)})" if more else memory.component


def _long_table(roofline: Roofline) -> Table:
    kinds = (
        ("compute", "flop/s", roofline.compute),
        ("cache", "B/s", roofline.caches),
        ("memory", "B/s", roofline.memory),
    )
    rows: list[tuple[Any, ...]] = [
        (kind, it.component if kind == "compute" else label(it, roofline), it.traits, it.rate, unit, *(None,) * 5)
        for kind, unit, ceilings in kinds
        for it in ceilings
    ]
    for it in roofline.points:
        numbers = (it.intensity, it.attainable, " + ".join(it.bound_by), it.predicted, it.time)
        rows.append(("kernel" if it.kernel else "application", it.name, None, None, "flop/s", *numbers))
    return Table(LONG, tuple(rows), media=CSV)
