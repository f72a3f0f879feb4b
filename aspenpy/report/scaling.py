"""Scaling over ranks as a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.answers.energy.cap_warning import SAME
from aspenpy.explore.scaling import Scaling, ScalingPoint
from aspenpy.record import NamedTuple
from aspenpy.report.intervals import interval_as_data, interval_rows
from aspenpy.report.prediction_data import subject_as_data
from aspenpy.report.prediction_facts import BOUND_BY, rank_bound_facts, resource_on_component
from aspenpy.tables.drawing import (
    BLACK,
    GREY,
    INK,
    STYLES,
    label_axis,
    name_ends,
    place_ticks,
    set_title,
    use_shared_style,
)
from aspenpy.tables.numbers import count_of, format_count, format_share, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import ALL, CSV, DATA, JSON, TEXT, Column, Report, Table, make_facts, make_table

MOST_CALLS = 3
"""Calls that the table names for a number of ranks, the longest first."""


def report_scaling(scaling: Scaling, interval: bool = True) -> Report:
    """A row for each number of ranks, the fastest of them, and the calls that communicate longest. `interval`: whether
    the report says how far measured times may lie from the predicted one."""
    prediction = scaling.prediction
    data = {
        **subject_as_data(prediction),
        **{name: getattr(scaling, name) for name in ("mode", "parameter", "problem", "isoefficiency")},
        "optimal_ranks": None if scaling.fastest is None else scaling.fastest.ranks,
        "optimal_time": None if scaling.fastest is None else scaling.fastest.seconds,
        "accepted": [str(each) for each in scaling.counts],
        "turns": scaling.gets_slower,
        "dominant_calls": list(scaling.calls),
    }
    parts = (make_facts(_list_facts(scaling, interval)), _points_table(scaling, interval))
    return Report("scaling/1", heading(scaling), data, parts, scaling.diagnostics, units={"optimal_time": "s"})


register_report(Scaling, report_scaling)


def heading(scaling: Scaling) -> str:
    return f"{scaling.mode} scaling of {scaling.prediction.where}"


def _list_facts(scaling: Scaling, interval: bool) -> list[tuple[str, str]]:
    first, last = scaling.ranks[0], scaling.ranks[-1]
    fastest = scaling.fastest
    rows = [
        ("ranks", f"`{scaling.parameter}` from {format_count(first)} to {format_count(last)}"),
        *rank_bound_facts(scaling.prediction),
    ]
    if scaling.mode == "weak" or scaling.per_rank:
        rows.append(("problem", _describe_problem(scaling)))
    if scaling.counts:
        rows.append(("accepted", " that are ".join(each.describe() for each in scaling.counts)))
    if scaling.mode == "strong":
        more = "; more of them take longer" if scaling.gets_slower else ""
        fastest_run = (
            "none of them is accepted"
            if fastest is None
            else f"{count_of(fastest.ranks, 'rank')}, {_describe_time(fastest)}"
        )
        rows.append(("fastest", f"{fastest_run}{more}"))
    point = fastest if scaling.mode == "strong" and fastest is not None else scaling.points[-1]
    if interval and point.expected is not None:
        rows += interval_rows(point.expected, point.time, "s", f" on {count_of(point.ranks, 'rank')}")
    if scaling.calls:
        rows.append(("calls", f"{', '.join(scaling.calls)}: the longest first, on {count_of(last, 'rank')}"))
    return rows


def _waits_for_cap(point: ScalingPoint) -> bool:
    return point.seconds > point.time * (1 + SAME)


def _describe_time(point: ScalingPoint) -> str:
    """The time under the power cap, and that it is, where it is longer."""
    return f"{seconds(point.seconds)}{' under power caps' if _waits_for_cap(point) else ''}"


def _describe_problem(scaling: Scaling) -> str:
    """The dependence of the problem's size on the ranks, in words. It ends with the parameters on most ranks, by which
    a reader sees whether their product is the size that was meant."""
    product = " * ".join(scaling.problem)
    if scaling.per_rank and scaling.mode == "weak":
        return f"{product} of each rank stays"
    first, last = scaling.ranks[0], scaling.ranks[-1]
    if scaling.per_rank:
        return (
            f"that of {count_of(first, 'rank')}: {product} of each shrinks with the ranks, "
            f"{_describe_sizes(scaling, last)}"
        )
    return f"{product} grows with the ranks: {_describe_sizes(scaling, last)}"


def _describe_sizes(scaling: Scaling, ranks: int) -> str:
    """The parameters of the problem on a number of ranks, in words."""
    sizes = dict(zip(scaling.problem, scaling.sizes_at(ranks), strict=True))
    each = [f"{name} = {format_count(float(f'{size:.6g}'))}" for name, size in sizes.items()]
    return f"{', '.join(each)} on {format_count(ranks)}"


def _capped_column(points: Sequence[ScalingPoint]) -> Column:
    """The time under the power cap, which a reader sees where one makes a run longer."""
    media = ALL if any(map(_waits_for_cap, points)) else DATA
    return Column("under power caps", unit="s", key="capped_runtime", media=media)


def _points_table(scaling: Scaling, interval: bool) -> Table:
    """One row per number of ranks; CSV has a column for each call, JSON an object of them."""

    def call_column(name: str) -> Column:
        return Column(name, key=name, unit="s", get=lambda point: dict(point.calls).get(name, 0.0), media=CSV)

    target = scaling.isoefficiency
    waits_for_late = any(point.lost for point in scaling.points)
    heads = (
        Column("ranks", "count"),
        Column("time", unit="s"),
        _capped_column(scaling.points),
        Column("speedup", _format_short, "right"),
        Column("efficiency", "share"),
        Column("communication", "share", get="share", media=TEXT),
        Column("communication", unit="s", media=DATA),
        Column("communication share", get="share", media=JSON),
        Column("late ranks", "share", get="lost_share", media=TEXT if waits_for_late else ()),
        Column("late ranks", get="lost", unit="s", media=DATA if waits_for_late else ()),
        Column(
            f"problem for {format_share(target or 0)}",
            _format_times,
            "right",
            key="problem_growth",
            get="growth",
            media=DATA if target is None else ALL,
        ),
        Column("energy", unit="J", media=DATA if scaling.energy is None else ALL),
        Column(BOUND_BY, get=_describe_bound, wrapped=True, media=TEXT),
        Column(BOUND_BY, get=lambda point: point.bottleneck and point.bottleneck.resource, media=DATA),
        Column("component", get=lambda point: point.bottleneck and point.bottleneck.component, media=DATA),
        *((Column("expected", get=_expected_as_data, media=JSON),) if interval else ()),
        Column("longest calls", get=_describe_calls, wrapped=True, media=TEXT),
        Column("calls", get=lambda point: dict(point.calls), unit="s", media=JSON),
        *map(call_column, scaling.calls),
    )
    best = scaling.fastest.ranks if scaling.mode == "strong" and scaling.fastest is not None else None
    marked = frozenset(row for row, point in enumerate(scaling.points) if point.ranks == best)
    return make_table(heads, scaling.points, "points", marked=marked)


def _expected_as_data(point: ScalingPoint) -> dict[str, Any] | None:
    return None if point.expected is None else interval_as_data(point.expected, point.time)


def _describe_bound(point: ScalingPoint) -> str | None:
    return (
        None
        if point.bottleneck is None
        else resource_on_component(point.bottleneck.resource, point.bottleneck.component)
    )


def _describe_calls(point: ScalingPoint) -> str | None:
    return ", ".join(f"{name} {seconds(time)}" for name, time in point.calls[:MOST_CALLS]) or None


def _format_short(value: float) -> str:
    """Three significant digits, or all before the point where there are more."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def _format_times(value: float) -> str:
    return f"x {value:,.4g}" if value < 1e6 else f"x {value:.3g}"


# -- as a picture ----------------------------------------------------------------------------------


WIDTH, HEIGHT_OF_TIMES, HEIGHT_OF_SHARES = 9, 4.4, 2.2
"""Inches of the two plots, one above the other."""

MARGINS = 1
"""Inches of the title and the axis of ranks together."""

MOST_TICKS = 10
"""Numbers of ranks that are written along the axis."""


@use_shared_style
def draw_scaling(scaling: Scaling) -> Any:
    """A matplotlib figure: the times above; efficiency and the share of communication below."""
    from matplotlib.figure import Figure

    points = scaling.points
    ranks = [point.ranks for point in points]
    figure = Figure(figsize=(WIDTH, HEIGHT_OF_TIMES + HEIGHT_OF_SHARES + MARGINS), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(HEIGHT_OF_TIMES, HEIGHT_OF_SHARES))
    above.set(xscale="log", yscale="log", ylabel="time")
    set_title(above, heading(scaling))
    lines = _time_curves(scaling)
    for line in lines:
        above.plot(*zip(*line.points, strict=True), label=line.name, **line.style)
    fastest = scaling.fastest
    if scaling.mode == "strong" and fastest is not None:
        above.plot([fastest.ranks], [fastest.seconds], "o", color=BLACK, markersize=7, zorder=5)
        beside = {"xytext": (-4, 7), "textcoords": "offset points", "ha": "right", "va": "bottom", "color": INK}
        above.annotate(f"fastest, on {format_count(fastest.ranks)}", (fastest.ranks, fastest.seconds), **beside)
    shares = (
        ("efficiency", STYLES[0], [100 * point.efficiency for point in points]),
        ("communication", STYLES[1], [100 * point.share for point in points]),
    )
    for text, style, percents in shares:
        below.plot(ranks, percents, label=text, **style)
    below.set(xlabel="ranks", ylabel="%", ylim=(0, max(105, *(100 * point.efficiency for point in points))))
    place_ticks(above.xaxis, ranks, "", MOST_TICKS)
    label_axis(above.yaxis, "s")
    name_ends(above, HEIGHT_OF_TIMES, [(line.name, *line.points[-1], line.style["color"]) for line in lines])
    name_ends(
        below, HEIGHT_OF_SHARES, [(text, ranks[-1], percents[-1], style["color"]) for text, style, percents in shares]
    )
    return figure


class NamedCurve(NamedTuple):
    """A curve with its name, its style, and its points as ranks and seconds."""

    name: str
    style: dict[str, Any]
    points: Sequence[tuple[float, float]]


def _time_curves(scaling: Scaling) -> list[NamedCurve]:
    """The time, that with full efficiency, the part of communication, and the longest calls."""
    points = scaling.points
    lines = [NamedCurve("time", STYLES[0], [(point.ranks, point.time) for point in points])]
    if any(map(_waits_for_cap, points)):
        under = [(point.ranks, point.seconds) for point in points]
        lines.append(NamedCurve("under power caps", {"color": BLACK, "linewidth": 1}, under))
    if scaling.mode == "strong":
        ideal = [(point.ranks, points[0].seconds * points[0].ranks / point.ranks) for point in points]
        lines.append(NamedCurve("with full efficiency", {"color": GREY, "linestyle": ":", "linewidth": 1}, ideal))
    communication = [(point.ranks, point.communication) for point in points if point.communication > 0]
    if communication:
        lines.append(NamedCurve("of it, communication", STYLES[1], communication))
    for name, style in zip(scaling.calls, STYLES[2:], strict=False):
        spent = [(point.ranks, dict(point.calls)[name]) for point in points if name in dict(point.calls)]
        lines.append(NamedCurve(name, style | {"linewidth": 1.2}, spent))
    return [line for line in lines if line.points]
