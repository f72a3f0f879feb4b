"""Plots in characters, each of which shows two columns of four dots (Braille patterns, Unicode from 2800 on), and as
pictures, drawn by matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from typing import Any

from aspenpy.tables.drawing import STYLES, label_axis, name_ends, use_shared_style, use_style
from aspenpy.tables.numbers import Amount, format_count, format_setting, format_setting_with_unit
from aspenpy.tables.table import Plot, display_width

HEIGHT = 12  # lines of the curve
WIDEST = 100  # characters of a plot on a wide terminal
NARROWEST = 20  # characters of the curve on a narrow one
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # the bit of each dot of a character, row by row
WIDE = 1_000  # heights that differ by more than this factor are drawn on a logarithmic axis


def plot_lines(plot: Plot, columns: int = WIDEST) -> list[str]:
    """A title, the curve with its heights to the left, the ends of the axis below."""
    finite = [height for heights in plot.curves.values() for height in heights if math.isfinite(height)]
    low, high = min(finite), max(finite)
    log = low > 0 and high > WIDE * low
    labels = [_format_label(high, plot.unit), _format_label(low, plot.unit)]
    gutter = max(map(display_width, labels))
    names = _names_beside_lines(plot, low, high, log)
    across = max(NARROWEST, min(columns, WIDEST) - gutter - 2 - max(map(display_width, names)))
    curve = curve_lines(plot, across, low, high, log)
    lines = [f"{' ' * gutter} │{line}{name}" for line, name in zip(curve, names, strict=True)]
    lines[0] = f"{labels[0]:>{gutter}} ┤{curve[0]}{names[0]}"
    lines[-1] = f"{labels[1]:>{gutter}} ┤{curve[-1]}{names[-1]}"
    ends = [_format_value(plot.xs[0]), _format_value(plot.xs[-1])]
    below = ends[0] + plot.parameter.center(across - display_width(ends[0]) - display_width(ends[1])) + ends[1]
    title = f"{', '.join(plot.curves)} over {plot.parameter}{_describe_axes(plot.log, log)}{_describe_gaps(plot)}"
    return [line.rstrip() for line in (title, *lines, f"{' ' * gutter} └{'─' * across}", f"{' ' * gutter}  {below}")]


def _describe_axes(log_x: bool, log_y: bool) -> str:
    if log_x and log_y:
        return ", both axes logarithmic"
    return ", logarithmic axis" if log_x else ", logarithmic heights" if log_y else ""


def _describe_gaps(plot: Plot) -> str:
    heights = [height for heights in plot.curves.values() for height in heights]
    missing = sum(not math.isfinite(height) for height in heights)
    return f"; {missing} of {len(heights)} points without a value" if missing else ""


def _format_label(value: float, unit: str) -> str:
    return format_setting_with_unit(Amount(value, unit)) if unit else format_count(value)


def _format_value(value: float) -> str:
    return format_setting(int(value) if value == int(value) else float(f"{value:.6g}"))


def _names_beside_lines(plot: Plot, low: float, high: float, log: bool) -> list[str]:
    """Labels to the right of the lines: where there are several curves, the name of each behind its end, on the nearest
    free line."""
    names = [""] * HEIGHT
    ends = {name: [height for height in heights if math.isfinite(height)][-1] for name, heights in plot.curves.items()}
    for name, height in ends.items() if len(ends) > 1 else ():
        line = HEIGHT - 1 - round(_position_between(height, low, high, log) * (HEIGHT - 1))
        free = [number for number in range(HEIGHT) if not names[number]]
        if free:
            names[min(free, key=lambda number: abs(number - line))] = f" {name}"
    return names


def curve_lines(plot: Plot, across: int, low: float, high: float, log: bool) -> list[str]:
    """The dots of the curves as lines of characters."""
    cells = [[0] * across for _ in range(HEIGHT)]
    columns, rows = 2 * across, 4 * HEIGHT
    for heights in plot.curves.values():
        places = [
            (
                round(_position_between(x, plot.xs[0], plot.xs[-1], plot.log) * (columns - 1)),
                rows - 1 - round(_position_between(height, low, high, log) * (rows - 1)),
            )
            if math.isfinite(height)
            else None
            for x, height in zip(plot.xs, heights, strict=True)
        ]
        for x, y in _walk_dots(places):
            cells[y // 4][x // 2] |= DOTS[y % 4][x % 2]
    return ["".join(chr(0x2800 + dots) if dots else " " for dots in row) for row in cells]


def _walk_dots(places: Sequence[tuple[int, int] | None]) -> Iterator[tuple[int, int]]:
    """Positions of dots, from the upper left; neighbouring points are joined."""
    for before, place in pairwise([None, *places]):
        if place is not None:
            yield from _walk_line(before or place, place)


def _position_between(value: float, low: float, high: float, log: bool) -> float:
    """Position between two ends, from 0 to 1; 0.5 where they are equal."""
    if low == high:
        return 0.5
    return math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)


def _walk_line(first: tuple[int, int], last: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The dots from one to the other."""
    (x0, y0), (x1, y1) = first, last
    steps = max(abs(x1 - x0), abs(y1 - y0), 1)
    for step in range(steps + 1):
        yield x0 + round((x1 - x0) * step / steps), y0 + round((y1 - y0) * step / steps)


# -- as a picture ----------------------------------------------------------------------------------

WIDTH, UP = 6.4, 3.6  # inches


def write_svg(plot: Plot) -> str:
    """The picture as an element of a page; the same plot is the same text."""
    text = io.StringIO()
    with use_style():
        draw_figure(plot).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :].strip()


@use_shared_style
def draw_figure(plot: Plot) -> Any:
    """A matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, UP), layout="constrained")
    axes = figure.add_subplot()
    for (name, heights), line in zip(plot.curves.items(), cycle(STYLES)):
        axes.plot(plot.xs, heights, label=name, **line)
    known = [height for heights in plot.curves.values() for height in heights if height == height]
    axes.set_xscale("log" if plot.log else "linear")
    axes.set_yscale("log" if min(known) > 0 and max(known) > WIDE * min(known) else "linear")
    axes.set_xlabel(plot.parameter)
    axes.set_ylabel(", ".join(plot.curves) if len(plot.curves) < 3 else "")
    label_axis(axes.xaxis)
    label_axis(axes.yaxis, plot.unit)
    if len(plot.curves) > 1:
        lasts = (
            (name, [(x, y) for x, y in zip(plot.xs, heights, strict=True) if y == y])
            for name, heights in plot.curves.items()
        )
        colours = (line["color"] for line in cycle(STYLES))
        name_ends(axes, UP - 0.8, [(name, *last[-1], next(colours)) for name, last in lasts if last])
    return figure
