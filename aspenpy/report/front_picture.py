"""A Pareto front as a picture."""

from __future__ import annotations

from typing import Any

from aspenpy.report.optimum import Words
from aspenpy.studies.explore.pareto import Front
from aspenpy.studies.explore.space import Space


def draw(front: Front, space: Space, subject: str) -> Any:
    """The first two quantities of a front against each other: a matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes, words = figure.add_subplot(), Words(space)
    xs, ys = ([choice.values[place] for choice in front.choices] for place in (0, 1))
    axes.plot(xs, ys, "o", color="#0072B2", markersize=4)
    for name, values, scale in (("x", xs, axes.set_xscale), ("y", ys, axes.set_yscale)):
        if min(values) > 0 and max(values) > 100 * min(values):
            scale("log")
        goal = front.goals["xy".index(name)]
        unit = words.unit(goal)
        getattr(axes, f"set_{name}label")(f"{goal.subject.text} ({unit})" if unit else goal.subject.text)
    axes.grid(visible=True, linewidth=0.5, alpha=0.4)
    axes.set_title(subject, loc="left", fontsize=11)
    return figure
