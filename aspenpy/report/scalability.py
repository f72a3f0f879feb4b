"""Scaling of configurations over nodes as a report."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from aspenpy.advice.scalability import Scalability, Scaled
from aspenpy.report.design_space import configured
from aspenpy.report.problem import problem_data, problem_note
from aspenpy.tables.drawing import BLACK, STYLES, numbers_in, shortened, styled, titled
from aspenpy.tables.numbers import count, seconds, share
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import DATA, JSON, TEXT, Column, Paragraph, Part, Report, columns, table


def report_scalability(scaled: Scaled) -> Report:
    """What each configuration comes to, and its points."""
    data = {
        "application": scaled.case.application.name,
        "machine": scaled.case.required_machine.name,
        "ranks": scaled.problem.ranks,
        "problem": problem_data(scaled.case, scaled.problem),
        "threshold": scaled.threshold,
    }
    return Report(heading(scaled), data, parts(scaled), scaled.case.application.warnings)


register_report(Scaled, report_scalability)


def heading(scaled: Scaled) -> str:
    strong = [item for item in scaled.scalings if item.mode == "strong"]
    first = strong[0]
    where = f"{scaled.case.application.name} on {scaled.case.required_machine.name}"
    return (
        f"{where}: {count(first.worthwhile)} of up to {count(scaled.most)} nodes are worth it at an efficiency of "
        f"{share(scaled.threshold)}{'' if first.turned_down else ', the most that were looked at'}"
    )


def parts(scaled: Scaled) -> tuple[Part, ...]:
    heads = (
        Column("input", key="settings", get=lambda it: it.settings or None),
        Column("scaling", key="mode"),
        Column("configuration", get=lambda it: configured(it.configuration), wrapped=True, media=TEXT),
        Column("values", get=lambda it: dict(it.configuration.named), media=JSON),
        Column("1 node", unit="s", key="first", get=lambda it: it.points[0].time),
        Column("worthwhile", "count"),
        Column("then", unit="s", get=lambda it: it.points[it.nodes.index(it.worthwhile)].time),
        Column("energy", unit="J", get=lambda it: it.points[it.nodes.index(it.worthwhile)].energy),
        Column("knee", "count"),
        Column("fastest", "count", get=lambda it: it.fastest if it.mode == "strong" else None),
        Column("turns", media=DATA),
        Column("points", get=_points, media=JSON),
    )
    long = (
        *columns("settings mode configuration nodes ranks"),
        Column("time", unit="s"),
        Column("efficiency"),
        Column("energy", unit="J"),
    )
    cases = [scaled.case.with_set(settings) for settings in scaled.inputs]
    note = (
        f"worthwhile: the most nodes with an efficiency of at least {share(scaled.threshold)}. The knee depends on how "
        f"many nodes are looked at, {count(scaled.most)} here."
    )
    if not all(item.turned_down for item in scaled.scalings):
        note += f" Where {count(scaled.most)} nodes are worthwhile, more may be: --nodes looks further."
    grows = " Weak: so many times as large as there are nodes." if scaled.problem.size else ""
    if not scaled.problem.size:
        note += " Weak scaling needs the parameters whose product is the size of the problem: --problem."
    return (
        table(heads, scaled.scalings, "scalings", media=(*TEXT, *JSON), sparse=True),
        _by_nodes(scaled),
        table(long, _long(scaled), media=("csv",)),
        Paragraph(note),
        Paragraph("Strong: " + problem_note(cases, scaled.problem) + grows),
    )


def _by_nodes(scaled: Scaled) -> Part:
    """Times of the first configuration of each input and mode by doublings of the nodes."""
    chosen = {(item.settings, item.mode): item for item in reversed(scaled.scalings)}
    items = [item for item in scaled.scalings if chosen[item.settings, item.mode] is item]
    nodes = [number for number in items[0].nodes if number & (number - 1) == 0] if items else []
    at = [dict(zip(item.nodes, item.points, strict=True)) for item in items]

    def told(place: int) -> Column:
        item = items[place]
        header = f"{item.mode} {item.settings}".strip()

        def cell(number: int) -> str | None:
            point = at[place].get(number)
            return None if point is None else f"{seconds(point.time)} {share(point.efficiency)}"

        return Column(header, align="right", get=cell)

    heads = (Column("nodes", "count", get=lambda number: number), *map(told, range(len(items))))
    return table(heads, nodes, title="time and efficiency by nodes", media=TEXT)


def _points(item: Scalability) -> list[dict[str, Any]]:
    return [
        {"nodes": nodes, **{name: getattr(point, name) for name in ("ranks", "time", "efficiency", "energy")}}
        for nodes, point in zip(item.nodes, item.points, strict=True)
    ]


class _Row:
    """A line of the CSV form."""

    def __init__(self, item: Scalability, point: dict[str, Any]) -> None:
        self.settings, self.mode = item.settings, item.mode
        self.configuration = configured(item.configuration)
        self.__dict__ |= point


def _long(scaled: Scaled) -> list[_Row]:
    return [_Row(item, point) for item in scaled.scalings for point in _points(item)]


@styled
def draw(scaled: Scaled) -> Any:
    """A matplotlib figure: strong and weak scaling, a line for each input and configuration, the knee marked."""
    from matplotlib.figure import Figure

    modes = list(dict.fromkeys(item.mode for item in scaled.scalings))
    lines = len({(item.settings, tuple(item.configuration.values.items())) for item in scaled.scalings})
    figure = Figure(figsize=(5.2 * len(modes), 4 + 0.2 * lines), layout="constrained")
    panels = figure.subplots(1, len(modes), squeeze=False)[0]
    for axes, mode in zip(panels, modes, strict=True):
        items = [item for item in scaled.scalings if item.mode == mode]
        for item, style in zip(items, cycle(STYLES), strict=False):
            times = [point.time for point in item.points]
            label = ", ".join(filter(None, (item.settings, configured(item.configuration))))
            axes.plot(item.nodes, times, label=shortened(label, LONGEST_LABEL), **style)
            if item.knee is not None:
                axes.plot([item.knee], [times[item.nodes.index(item.knee)]], "o", color=BLACK)
        axes.set(xscale="log", yscale="log", xlabel="nodes")
        titled(axes, f"{mode} scaling")
        numbers_in(axes.xaxis)
        numbers_in(axes.yaxis, "s")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center")
    return figure


LONGEST_LABEL = 64  # characters of a configuration
