"""Sensitivities as a tornado: a bar for each parameter, the longest on top."""

from __future__ import annotations

from typing import Any, NamedTuple

from aspenpy.studies.explore.methods import Result
from aspenpy.studies.explore.sensitivity import Effects
from aspenpy.studies.explore.variance import Morris, Sobol
from aspenpy.tables.numbers import quantity

MOST_BARS = 20  # the strongest are drawn
BLUE, VERMILION = "#0072B2", "#D55E00"  # of Okabe and Ito, which colour-blind people tell apart


class Bar(NamedTuple):
    """From `low` to `high`; the part on the left of the axis and that on its right have colours of their own."""

    label: str
    low: float
    high: float


class Tornado(NamedTuple):
    """Bars, the longest first, around an axis."""

    bars: tuple[Bar, ...]
    axis: float
    title: str


def tornado(result: Result, subject: str, unit: str) -> Tornado:
    """The extremes of a metric around its value where nothing varies; else bars from 0 to each index or elasticity."""
    if isinstance(result, Effects):
        bars = [Bar(" and ".join(e.parameters), e.least, e.most) for e in (*result.singles, *result.pairs)]
        bars.sort(key=lambda bar: bar.low - bar.high)
        return Tornado(tuple(bars), result.base, f"{subject}: {quantity(unit)(result.base)} where nothing varies")
    if isinstance(result, Sobol):
        return _from_zero([(i.parameter, i.total) for i in result.indices], f"{subject}: share of the variance in all")
    if isinstance(result, Morris):
        return _from_zero([(e.parameter, e.magnitude) for e in result.effects], f"{subject}: mean elementary effect")
    return _from_zero([(e.parameter, e.here or 0.0) for e in result], f"{subject}: elasticity")


def _from_zero(rows: list[tuple[str, float]], title: str) -> Tornado:
    bars = [Bar(label, min(value, 0.0), max(value, 0.0)) for label, value in rows]
    return Tornado(tuple(sorted(bars, key=lambda bar: bar.low - bar.high)), 0.0, title)


def draw(result: Result, subject: str, unit: str) -> Any:
    """A matplotlib figure."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    found = tornado(result, subject, unit)
    bars = found.bars[:MOST_BARS][::-1]
    figure = Figure(figsize=(7, 1.2 + 0.32 * max(3, len(bars))), layout="constrained")
    axes = figure.add_subplot()
    for place, bar in enumerate(bars):
        left, right = min(bar.low, found.axis), max(bar.high, found.axis)
        axes.barh(place, found.axis - left, left=left, height=0.62, color=BLUE)
        axes.barh(place, right - found.axis, left=found.axis, height=0.62, color=VERMILION)
    axes.axvline(found.axis, color="black", linewidth=1)
    axes.set_yticks(range(len(bars)), [bar.label for bar in bars])
    if isinstance(result, Effects | Morris):
        show = quantity(unit)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: show(float(value))))
    positive = isinstance(result, Effects) and all(bar.low > 0 for bar in bars)
    if positive and max(bar.high for bar in bars) > 100 * min(bar.low for bar in bars):
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter("")
    axes.grid(visible=True, axis="x", linewidth=0.5, alpha=0.4)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(found.title, loc="left", fontsize=11)
    return figure
