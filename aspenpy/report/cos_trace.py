"""COS traces as pictures and text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.report.drawing import BLUE, GREEN, VERMILION, titled
from aspenpy.studies.learnt.cos_trace import Stage, total

COLOURS = {"compute": BLUE, "overlap": GREEN, "stall": VERMILION}
SIGNS = {"compute": "Tc", "overlap": "To", "stall": "Ts"}


def in_words(stages: Sequence[Stage]) -> str:
    """`T = Tc(1) + To(1) + Ts(1)`, as equations 2 and 4 to 6 are written."""
    seen: dict[str, int] = {}
    parts = []
    for stage in stages:
        seen[stage.kind] = seen.get(stage.kind, 0) + 1
        parts.append(f"{SIGNS[stage.kind]}({seen[stage.kind]})")
    return "T = " + " + ".join(parts)


def draw(traces: dict[str, Sequence[Stage]]) -> Any:
    """A matplotlib figure: a row of coloured stages for each trace, such as one for each clock (figure 3)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.2 + 0.7 * len(traces)), layout="constrained")
    axes = figure.add_subplot()
    for place, (name, stages) in enumerate(traces.items()):
        for stage in stages:
            axes.barh(-place, stage.end - stage.begin, left=stage.begin, color=COLOURS[stage.kind], edgecolor="white")
        whole = sum(total(stages, kind) for kind in ("compute", "overlap", "stall"))
        axes.annotate(f" {whole:.3g} s", (max(stage.end for stage in stages), -place), va="center", fontsize=8)
        axes.annotate(f"{name} ", (0, -place), va="center", ha="right", fontsize=8)
    axes.set_yticks([])
    axes.set_xlabel("time (s)")
    handles = [axes.barh(0, 0, color=colour, label=f"{kind} ({SIGNS[kind]})") for kind, colour in COLOURS.items()]
    axes.legend(handles=handles, fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    titled(axes, "COS traces")
    return figure
