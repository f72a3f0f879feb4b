"""A Scaling as a picture: the time and what of it is communication, and the efficiency, over the ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.language.dimensions import readable
from aspenpy.report.scaling import heading
from aspenpy.studies.explore.scaling import Scaling
from aspenpy.tables.numbers import count

TIME, WAITED, BEST, IDEAL = "#0072B2", "#D55E00", "#009E73", "#999999"
CALLS = ("#CC79A7", "#E69F00", "#56B4E9", "#000000")  # colours of Okabe and Ito, which colour-blind people tell apart


def draw(scaling: Scaling) -> Any:
    """A matplotlib Figure: above the times, below efficiency and the part of communication."""
    from matplotlib.figure import Figure

    points = scaling.points
    ranks = [point.ranks for point in points]
    figure = Figure(figsize=(9.5, 7))
    above = figure.add_axes((0.09, 0.42, 0.68, 0.51))
    below = figure.add_axes((0.09, 0.08, 0.68, 0.28), sharex=above)
    above.set(xscale="log", yscale="log")
    above.set_title(heading(scaling), loc="left")
    above.plot(ranks, [point.time for point in points], color=TIME, linewidth=2, label="time")
    if scaling.mode == "strong":
        ideal = [points[0].time * ranks[0] / each for each in ranks]
        above.plot(ranks, ideal, color=IDEAL, linestyle=":", label="with full efficiency")
        fastest = scaling.fastest
        above.plot([fastest.ranks], [fastest.time], "o", color=BEST, label=f"fastest, on {count(fastest.ranks)}")
    talking = [(point.ranks, point.communication) for point in points if point.communication > 0]
    if talking:
        above.plot(*zip(*talking, strict=True), color=WAITED, linewidth=2, label="of it, communication")
    for name, colour in zip(scaling.calls, CALLS, strict=False):
        spent = [(point.ranks, dict(point.calls)[name]) for point in points if name in dict(point.calls)]
        above.plot(*zip(*spent, strict=True), color=colour, linewidth=1, linestyle="--", label=name)
    above.set_ylabel("time")
    above.yaxis.set_major_formatter(_in_seconds())
    beside = {"frameon": False, "loc": "upper left", "bbox_to_anchor": (1, 1)}
    above.legend(**beside)
    below.plot(ranks, [100 * point.efficiency for point in points], color=TIME, linewidth=2, label="efficiency")
    below.plot(ranks, [100 * point.share for point in points], color=WAITED, linewidth=2, label="communication")
    below.set(xlabel="ranks", ylabel="%", ylim=(0, max(105, *(100 * point.efficiency for point in points))))
    below.legend(**beside)
    below.xaxis.set_major_formatter(_in_words())
    for axes in (above, below):
        axes.grid(color="#dddddd", linewidth=0.6)
    above.tick_params(labelbottom=False)
    return figure


def _in_seconds() -> Callable[[float, float], str]:
    return lambda value, _: readable(value, "s")


def _in_words() -> Callable[[float, float], str]:
    return lambda value, _: f"{value / 1e6:g} M" if value >= 1e6 else f"{value:,g}"
