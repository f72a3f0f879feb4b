"""COS traces as pictures and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.estimators.cos_trace import Kind, Stage, sum_stages
from aspenpy.learn.measurements.sheet import count_noun
from aspenpy.tables.drawing import EDGE, FILLS, numbers_in, styled, titled
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Report, Table

FILL_OF: Mapping[Kind, dict[str, Any]] = {"compute": FILLS[0], "overlap": FILLS[2], "stall": FILLS[4]}
SIGNS: Mapping[Kind, str] = {"compute": "Tc", "overlap": "To", "stall": "Ts"}


def in_words(stages: Sequence[Stage]) -> str:
    """`T = Tc(1) + To(1) + Ts(1)`, as equations 2 and 4 to 6 are written."""
    seen: dict[str, int] = {}
    parts = []
    for stage in stages:
        seen[stage.kind] = seen.get(stage.kind, 0) + 1
        parts.append(f"{SIGNS[stage.kind]}({seen[stage.kind]})")
    return "T = " + " + ".join(parts)


def report_stages(traces: Mapping[str, Sequence[Stage]]) -> Report:
    """Each trace in words with the seconds of its three kinds, and all stages for programs."""
    kinds = tuple(Column(f"{kind} ({sign})", unit="s", key=kind) for kind, sign in SIGNS.items())
    columns = (Column("run"), Column("stages", "count"), *kinds, Column("trace", wrapped=True))
    rows = tuple(
        (name, len(stages), *(sum_stages(stages, kind) for kind in SIGNS), in_words(stages))
        for name, stages in traces.items()
    )
    heads = (Column("run"), Column("stage"), Column("begin", unit="s"), Column("end", unit="s"))
    every = tuple((name, *stage) for name, stages in traces.items() for stage in stages)
    stages = Table(heads, every, key="stages", media=JSON + CSV)
    parts = (Table(columns, rows, key="traces", media=TEXT + JSON), stages)
    return Report(f"cos: {count_noun(len(rows), 'trace')}", {}, parts)


@styled
def draw(traces: Mapping[str, Sequence[Stage]]) -> Any:
    """A matplotlib figure: a row of coloured stages for each trace, such as one for each clock (figure 3)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.2 + 0.5 * len(traces)), layout="constrained")
    axes = figure.add_subplot()
    draw_traces(axes, traces, {kind: f"{kind} ({sign})" for kind, sign in SIGNS.items()})
    titled(axes, "COS traces")
    return figure


def draw_traces(axes: Any, traces: Mapping[str, Sequence[Stage]], legend: Mapping[Kind, str]) -> None:
    """A row for each trace, its kinds of stages named in the legend, its length behind it."""
    for place, stages in enumerate(traces.values()):
        for stage in stages:
            axes.barh(-place, stage.end - stage.begin, left=stage.begin, **EDGE, **FILL_OF[stage.kind])
        end = max(stage.end for stage in stages)
        axes.annotate(f" {format_quantity(end, 's')}", (end, -place), va="center")
    axes.set_yticks([-place for place in range(len(traces))], list(traces))
    axes.margins(x=0.18)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0)
    numbers_in(axes.xaxis, "s")
    axes.set_xlabel("time")
    handles = [axes.barh(0, 0, label=label, **EDGE, **FILL_OF[kind]) for kind, label in legend.items()]
    beside = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2 if len(traces) < 8 else -0.12), "ncols": 3}
    axes.legend(handles=handles, **beside)
