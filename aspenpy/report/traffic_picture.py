"""A Traffic as a picture: the bytes that each level serves, one bar a level, a part for each access."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.traffic import Traffic
from aspenpy.language.dimensions import readable

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#999999")
"""Of the accesses, the last for all that follow: the palette of Okabe and Ito."""


def draw(traffic: Traffic) -> Any:
    """A matplotlib Figure."""
    from matplotlib.figure import Figure

    names = [level.name for level in traffic.levels]
    below = [*names[1:], "memory"]
    figure = Figure(figsize=(9, 1.6 + 0.6 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    starts = [0.0] * len(names)
    labelled: set[str] = set()
    for place, label in enumerate(_labels(traffic)):
        widths = [_bytes(traffic, label, name) for name in names]
        colour = COLOURS[min(place, len(COLOURS) - 1)]
        shown = label if colour not in labelled else None
        labelled.add(colour)
        axes.barh(range(len(names)), widths, left=starts, color=colour, label=shown, height=0.6)
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    for place, total in enumerate(starts):
        axes.annotate(
            readable(total, "B"), (total, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9
        )
    axes.set_yticks(range(len(names)), [f"{name} – {lower}" for name, lower in zip(names, below, strict=True)])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max([*starts, 1e-300]))
    axes.xaxis.set_major_formatter(lambda value, _: readable(value, "B", 3))
    axes.set_xlabel("moved between the two")
    run = traffic.prediction
    axes.set_title(f"{run.application.name} on {run.machine.name}", fontsize=11, fontweight="bold", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, loc="lower right", frameon=False)
    return figure


def _labels(traffic: Traffic) -> list[str]:
    """The accesses by name, those that move most at the first level first."""
    first = traffic.levels[0].name
    names = dict.fromkeys(_label(use) for use in traffic.uses)
    return sorted(names, key=lambda name: -_bytes(traffic, name, first))


def _bytes(traffic: Traffic, label: str, level: str) -> float:
    return sum(use.bytes for use in traffic.uses if use.level == level and _label(use) == label)


def _label(use: Any) -> str:
    return f"{use.kernel}: {use.resource} {use.array or ''}".rstrip()
