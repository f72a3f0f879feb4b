"""A Fit as a picture: the relative error of each measurement over what was measured."""

from __future__ import annotations

from typing import Any

from aspenpy.language.dimensions import readable
from aspenpy.report.fit import heading, percent, unit_of_metric
from aspenpy.studies.empirical.fit import Fit, Residual
from aspenpy.tables.numbers import count

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of Okabe and Ito, which colour-blind people tell apart."""

MARKS = ("o", "D", "^", "s", "v", "P", "X")


def draw(fit: Fit) -> Any:
    """A matplotlib Figure, with axes for each thing that was measured."""
    from matplotlib.figure import Figure

    metrics = list(dict.fromkeys(item.measurement.metric for item in fit.residuals))
    figure = Figure(figsize=(1.5 + 5.5 * len(metrics), 4.4), layout="constrained")
    figure.suptitle(heading(fit), fontsize=11, fontweight="bold", x=0.02, ha="left")
    places = list(dict.fromkeys(_place(item) for item in fit.residuals))
    for number, metric in enumerate(metrics, 1):
        axes = figure.add_subplot(1, len(metrics), number, sharey=figure.axes[0] if figure.axes else None)
        _errors(axes, metric, places, [item for item in fit.residuals if item.measurement.metric == metric])
        band = 100 * fit.rms
        axes.axhspan(-band, band, color="#f0f0f0", zorder=0)
        axes.axhline(0, color="#222222", linewidth=1, zorder=1)
        axes.annotate(
            f"root mean square {percent(fit.rms)}",
            (1, band),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 3),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color="#555555",
        )
    if len(places) > 1:
        figure.axes[-1].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _errors(axes: Any, metric: str, places: list[str], residuals: list[Residual]) -> None:
    unit = unit_of_metric(metric)
    for number, place in enumerate(places):
        here = [item for item in residuals if _place(item) == place]
        axes.plot(
            [item.measurement.value for item in here],
            [100 * item.error for item in here],
            MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            markersize=5,
            alpha=0.85,
            label=place,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: readable(value, unit) if unit else count(value))
    axes.minorticks_off()
    axes.set_xlabel(f"{metric}, measured")
    axes.set_ylabel("relative error (%), positive: predicted too much")
    axes.tick_params(labelsize=8)
    axes.set_axisbelow(True)
    axes.grid(True, which="major", color="#e4e4e4", linewidth=0.6)


def _place(item: Residual) -> str:
    """Where it was measured."""
    found = item.measurement
    names = (None if found.machine is None else found.machine.name, found.socket)
    return ", ".join(name for name in names if name) or "any machine"
