"""A Scaling as a report."""

from __future__ import annotations

from typing import Any

from aspenpy.report.drawing import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, numbers_in
from aspenpy.report.prediction import bound_ranks, served, subject
from aspenpy.studies.explore.scaling import Point, Scaling
from aspenpy.tables.numbers import count, counted, seconds, share
from aspenpy.tables.table import ALL, CSV, DATA, JSON, TEXT, Column, Report, Table, facts, table

CALLS = 3  # calls that are named for a number of ranks, those that take longest


def report(scaling: Scaling) -> Report:
    """Each number of ranks, the fastest, and the calls that talk."""
    prediction = scaling.prediction
    data = {
        **subject(prediction),
        **{name: getattr(scaling, name) for name in ("mode", "parameter", "problem", "isoefficiency")},
        "optimal_ranks": scaling.fastest.ranks,
        "optimal_time": scaling.fastest.time,
        "turns": scaling.turns,
        "dominant_calls": list(scaling.calls),
    }
    parts = (facts(_facts(scaling)), _points(scaling))
    return Report(heading(scaling), data, parts, scaling.diagnostics, {"optimal_time": "s"})


def heading(scaling: Scaling) -> str:
    return f"{scaling.mode} scaling of {scaling.prediction.where}"


def _facts(scaling: Scaling) -> list[tuple[str, str]]:
    first, last = scaling.ranks[0], scaling.ranks[-1]
    fastest = scaling.fastest
    rows = [("ranks", f"`{scaling.parameter}` from {count(first)} to {count(last)}"), *bound_ranks(scaling.prediction)]
    if scaling.mode == "weak":
        rows.append(("problem", f"{' * '.join(scaling.problem)} grows with the ranks"))
    if scaling.mode == "strong":
        more = "; more of them take longer" if scaling.turns else ""
        rows.append(("fastest", f"{counted(fastest.ranks, 'rank')}, {seconds(fastest.time)}{more}"))
    if scaling.calls:
        rows.append(("calls", f"{', '.join(scaling.calls)}: the longest first, on {counted(last, 'rank')}"))
    return rows


def _points(scaling: Scaling) -> Table:
    """In CSV a column for each call."""

    def call(name: str) -> Column:
        return Column(name, key=name, unit="s", get=lambda point: dict(point.calls).get(name, 0.0), media=CSV)

    asked = scaling.isoefficiency
    heads = (
        Column("ranks", "count"),
        Column("time", unit="s"),
        Column("speedup", _short, "right"),
        Column("efficiency", "share"),
        Column("communication", "share", get="share", media=TEXT),
        Column("communication", unit="s", media=DATA),
        Column("communication share", get="share", media=JSON),
        Column(
            f"problem for {share(asked or 0)}",
            _times,
            "right",
            key="problem_growth",
            get="growth",
            media=DATA if asked is None else ALL,
        ),
        Column("energy", unit="J", media=DATA if scaling.energy is None else ALL),
        Column("bound by", get=_bound, wrapped=True, media=TEXT),
        Column("bound by", get="bottleneck.resource", media=DATA),
        Column("component", get="bottleneck.component", media=DATA),
        Column("longest calls", get=_calls, wrapped=True, media=TEXT),
        Column("calls", get=lambda point: dict(point.calls), unit="s", media=JSON),
        *map(call, scaling.calls),
    )
    fastest = [place for place, point in enumerate(scaling.points) if point.ranks == scaling.fastest.ranks]
    return table(heads, scaling.points, "points", marked=frozenset(fastest if scaling.mode == "strong" else ()))


def _bound(point: Point) -> str | None:
    return None if point.bottleneck is None else served(point.bottleneck.resource, point.bottleneck.component)


def _calls(point: Point) -> str | None:
    return ", ".join(f"{name} {seconds(time)}" for name, time in point.calls[:CALLS]) or None


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def _times(value: float) -> str:
    return f"x {value:,.4g}" if value < 1e6 else f"x {value:.3g}"


# -- as a picture ----------------------------------------------------------------------------------


CALL_COLOURS = (PURPLE, ORANGE, SKY, BLACK)


def draw(scaling: Scaling) -> Any:
    """A matplotlib figure: above the times, below efficiency and the part of communication."""
    from matplotlib.figure import Figure

    points = scaling.points
    ranks = [point.ranks for point in points]
    figure = Figure(figsize=(9.5, 7))
    above = figure.add_axes((0.09, 0.42, 0.68, 0.51))
    below = figure.add_axes((0.09, 0.08, 0.68, 0.28), sharex=above)
    above.set(xscale="log", yscale="log")
    above.set_title(heading(scaling), loc="left")
    above.plot(ranks, [point.time for point in points], color=BLUE, linewidth=2, label="time")
    if scaling.mode == "strong":
        ideal = [points[0].time * ranks[0] / each for each in ranks]
        above.plot(ranks, ideal, color="#999999", linestyle=":", label="with full efficiency")
        fastest = scaling.fastest
        above.plot([fastest.ranks], [fastest.time], "o", color=GREEN, label=f"fastest, on {count(fastest.ranks)}")
    talking = [(point.ranks, point.communication) for point in points if point.communication > 0]
    if talking:
        above.plot(*zip(*talking, strict=True), color=VERMILION, linewidth=2, label="of it, communication")
    for name, colour in zip(scaling.calls, CALL_COLOURS, strict=False):
        spent = [(point.ranks, dict(point.calls)[name]) for point in points if name in dict(point.calls)]
        above.plot(*zip(*spent, strict=True), color=colour, linewidth=1, linestyle="--", label=name)
    above.set_ylabel("time")
    numbers_in(above.yaxis, "s")
    below.plot(ranks, [100 * point.efficiency for point in points], color=BLUE, linewidth=2, label="efficiency")
    below.plot(ranks, [100 * point.share for point in points], color=VERMILION, linewidth=2, label="communication")
    below.set(xlabel="ranks", ylabel="%", ylim=(0, max(105, *(100 * point.efficiency for point in points))))
    below.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M" if value >= 1e6 else f"{value:,g}")
    for axes in (above, below):
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        axes.grid(color="#dddddd", linewidth=0.6)
    above.tick_params(labelbottom=False)
    return figure
