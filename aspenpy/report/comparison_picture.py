"""Runtimes of several machines over a parameter as a picture."""

from __future__ import annotations

from typing import Any

from aspenpy.report.comparison import place as _place
from aspenpy.studies.explore.comparison import Sweep

POINTS_DRAWN = 400  # points of a curve


def draw(sweep: Sweep) -> Any:
    """Runtimes over the parameter on logarithmic axes, crossovers marked: a matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.4), layout="constrained")
    axes = figure.add_subplot()
    xs = _grid(float(sweep.low), float(sweep.high), sweep.whole)
    for label, style in zip(sweep.formulas, STYLES * len(sweep.formulas), strict=False):
        axes.plot(xs, [float(sweep.time(label, x)) for x in xs], label=label, linewidth=1.8, **style)
    for item in sweep.crossovers:
        x, y = float(item.behind), float(sweep.time(item.second, item.behind))
        axes.plot([x], [y], "o", color="black", markersize=5)
        axes.annotate(_place(item.before, item.behind), (x, y), textcoords="offset points", xytext=(6, -12), fontsize=9)
    axes.set_xscale("log" if sweep.low > 0 else "linear")
    axes.set_yscale("log")
    axes.set_xlabel(sweep.parameter)
    axes.set_ylabel("runtime (s)")
    axes.set_title(f"{sweep.comparison.case.application.name}: {sweep.comparison.case.kernel}", loc="left", fontsize=11)
    axes.grid(visible=True, which="major", linewidth=0.5, alpha=0.4)
    axes.legend(frameon=False)
    return figure


STYLES: list[dict[str, Any]] = [
    {"color": "#0072B2", "linestyle": "-"},
    {"color": "#D55E00", "linestyle": "--"},
    {"color": "#009E73", "linestyle": "-."},
    {"color": "#CC79A7", "linestyle": ":"},
]
"""Colours that colour-blind readers tell apart (Okabe and Ito), each with a line of its own."""


def _grid(low: float, high: float, whole: bool) -> list[Any]:
    steps = [place / (POINTS_DRAWN - 1) for place in range(POINTS_DRAWN)]
    points = [low * (high / low) ** step if low > 0 else low + (high - low) * step for step in steps]
    return sorted({max(int(low), min(int(high), round(point))) for point in points}) if whole else points
