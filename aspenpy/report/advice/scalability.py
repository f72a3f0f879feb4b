"""Configurations over nodes: a report, and a section of the document of advice."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from aspenpy.advice.advise import Advice
from aspenpy.advice.scalability import Scalability, Scaled
from aspenpy.report.advice.design_space import list_values
from aspenpy.report.advice.document import link_text, picture_of, problem_data, problem_note
from aspenpy.tables.document import Block, Link, Section, Sentence, Words, make_sheet
from aspenpy.tables.drawing import BLACK, STYLES, label_axis, set_title, use_shared_style
from aspenpy.tables.numbers import format_count, format_share, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import DATA, JSON, TEXT, Column, Paragraph, Part, Report, make_columns, make_table


def report_scalability(scaled: Scaled) -> Report:
    """The result of each configuration, and its points."""
    data = {
        "application": scaled.case.application.name,
        "machine": scaled.case.required_machine.name,
        "ranks": scaled.problem.ranks,
        "problem": problem_data(scaled.case, scaled.problem),
        "threshold": scaled.threshold,
    }
    return Report("hardware_scaling/1", heading(scaled), data, parts(scaled), scaled.case.application.warnings)


register_report(Scaled, report_scalability)


def heading(scaled: Scaled) -> str:
    strong = [item for item in scaled.scalings if item.mode == "strong"]
    first = strong[0]
    where = f"{scaled.case.application.name} on {scaled.case.required_machine.name}"
    return (
        f"{where}: {format_count(first.worthwhile)} of up to {format_count(scaled.most)} nodes are worth it at an "
        "efficiency of "
        f"{format_share(scaled.threshold)}{'' if first.turned_down else ', the most that were looked at'}"
    )


def parts(scaled: Scaled) -> tuple[Part, ...]:
    heads = (
        Column("input", key="settings", get=lambda it: it.settings or None),
        Column("scaling", key="mode"),
        Column("configuration", get=lambda it: list_values(it.configuration), wrapped=True, media=TEXT),
        Column("values", get=lambda it: dict(it.configuration.named), media=JSON),
        Column("1 node", unit="s", key="first", get=lambda it: it.points[0].seconds),
        Column("worthwhile", "count"),
        Column("then", unit="s", get=lambda it: it.points[it.nodes.index(it.worthwhile)].seconds),
        Column("energy", unit="J", get=lambda it: it.points[it.nodes.index(it.worthwhile)].energy),
        Column("knee", "count"),
        Column("fastest", "count", get=lambda it: it.fastest if it.mode == "strong" else None),
        Column("turns", media=DATA),
        Column("points", get=_scaled_points, media=JSON),
    )
    long = (
        *make_columns("settings mode configuration nodes ranks"),
        Column("time", unit="s"),
        Column("efficiency"),
        Column("energy", unit="J"),
    )
    cases = [scaled.case.with_set(settings) for settings in scaled.inputs]
    note = (
        f"worthwhile: the most nodes with an efficiency of at least {format_share(scaled.threshold)}. The knee "
        "depends on how "
        f"many nodes are looked at, {format_count(scaled.most)} here."
    )
    if not all(item.turned_down for item in scaled.scalings):
        note += f" Where {format_count(scaled.most)} nodes are worthwhile, more may be: --most-nodes looks further."
    grows = " Weak: so many times as large as there are nodes." if scaled.problem.size else ""
    if not scaled.problem.size:
        note += " Weak scaling needs the parameters whose product is the size of the problem: --problem."
    return (
        make_table(heads, scaled.scalings, "scalings", media=(*TEXT, *JSON), sparse=True),
        group_by_nodes(scaled),
        make_table(
            long, [_Row(item, point) for item in scaled.scalings for point in _scaled_points(item)], media=("csv",)
        ),
        Paragraph(note),
        Paragraph("Strong: " + problem_note(cases, scaled.problem) + grows),
    )


def group_by_nodes(scaled: Scaled) -> Part:
    """Times of the first configuration of each input and mode by doublings of the nodes."""
    chosen = {(item.settings, item.mode): item for item in reversed(scaled.scalings)}
    items = [item for item in scaled.scalings if chosen[item.settings, item.mode] is item]
    nodes = [number for number in items[0].nodes if number & (number - 1) == 0] if items else []
    at = [dict(zip(item.nodes, item.points, strict=True)) for item in items]

    def make_column(index: int) -> Column:
        item = items[index]
        header = f"{item.mode} {item.settings}".strip()

        def cell(number: int) -> str | None:
            point = at[index].get(number)
            return None if point is None else f"{seconds(point.seconds)} {format_share(point.efficiency)}"

        return Column(header, align="right", get=cell)

    heads = (Column("nodes", "count", get=lambda number: number), *map(make_column, range(len(items))))
    return make_table(heads, nodes, title="time and efficiency by nodes", media=TEXT)


def _scaled_points(item: Scalability) -> list[dict[str, Any]]:
    return [
        {
            "nodes": nodes,
            "ranks": point.ranks,
            "time": point.seconds,
            "efficiency": point.efficiency,
            "energy": point.energy,
        }
        for nodes, point in zip(item.nodes, item.points, strict=True)
    ]


class _Row:
    """A line of the CSV form."""

    def __init__(self, item: Scalability, point: dict[str, Any]) -> None:
        self.settings, self.mode = item.settings, item.mode
        self.configuration = list_values(item.configuration)
        self.__dict__ |= point


@use_shared_style
def draw(scaled: Scaled) -> Any:
    """A matplotlib figure: strong and weak scaling, a line for each input and configuration, the knee marked."""
    from textwrap import fill

    from matplotlib.figure import Figure

    modes = list(dict.fromkeys(item.mode for item in scaled.scalings))
    lines = len({(item.settings, tuple(item.configuration.values.items())) for item in scaled.scalings})
    figure = Figure(figsize=(5.2 * len(modes), 4 + 0.3 * lines), layout="constrained")
    panels = figure.subplots(1, len(modes), squeeze=False)[0]
    for axes, mode in zip(panels, modes, strict=True):
        items = [item for item in scaled.scalings if item.mode == mode]
        for item, style in zip(items, cycle(STYLES), strict=False):
            times = [point.seconds for point in item.points]
            label = ", ".join(filter(None, (item.settings, list_values(item.configuration))))
            axes.plot(item.nodes, times, label=fill(label, LONGEST_LABEL), **style)
            if item.knee is not None:
                axes.plot([item.knee], [times[item.nodes.index(item.knee)]], "o", color=BLACK)
        axes.set(xscale="log", yscale="log", xlabel="nodes")
        set_title(axes, f"{mode} scaling")
        label_axis(axes.xaxis)
        label_axis(axes.yaxis, "s")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center")
    return figure


LONGEST_LABEL = 80  # characters of a line of a configuration


# -- as a section of the document ------------------------------------------------------------------


def nodes_blocks(advice: Advice) -> list[Block]:
    """Section on the number of nodes that is worth it, for each input and configuration."""
    if advice.scaled is None:
        return []
    rows: list[list[Any]] = [
        [
            item.settings or "as given",
            item.mode,
            Link(list_values(item.configuration, titled=True), "components"),
            link_text(seconds(item.points[0].seconds), "runtime"),
            link_text(format_count(item.worthwhile), "efficiency"),
            link_text(seconds(item.points[item.nodes.index(item.worthwhile)].seconds), "efficiency"),
            "" if item.knee is None else link_text(format_count(item.knee), "knee"),
            link_text(format_count(item.fastest), "knee") if item.mode == "strong" else "",
        ]
        for item in advice.scalings
    ]
    heads = ("input", "scaling", "configuration", "1 node", "worth it", "then", "knee", "fastest")
    note: Words = (
        "Strong scaling: the same problem on more nodes. Weak: a problem that grows with them. Worth it are nodes at "
        "an efficiency of at least ",
        link_text(format_share(advice.scaled.threshold), "efficiency"),
        ", of at most ",
        link_text(format_count(advice.scaled.most), "efficiency"),
        "; then the run takes so long. At the knee the curve of time bends; with the fastest number of nodes the run "
        "is shortest.",
    )
    sheet = make_sheet(heads, rows, (3, 4, 5, 6, 7))
    picture = picture_of(draw, advice.scaled, "Time over nodes; a dot is at the knee.")
    return [Section("How many nodes", "nodes"), Sentence(note), sheet, *picture]
