"""A Roofline as a picture: flops a second over flops a byte, both logarithmic; roofs, and points below them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from aspenpy.dimensions import readable
from aspenpy.present.roofline import heading, label, traits

if TYPE_CHECKING:
    from aspenpy.analysis.roofline import Ceiling, Point, Roofline

COLOURS = {"dp": "#0072B2", "sp": "#D55E00", None: "#444444"}
"""Of the precisions; blue and vermilion of Okabe and Ito, which colour-blind people tell apart."""

MARKS = ("#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of applications, from the same palette."""

MOST_KERNELS = 14
"""Kernels that are drawn, those that take longest."""

LEAST_GAP = 0.035
"""Between two labels at the right, as a part of the height."""

NAMES = 1.47
"""Where the names of the points stand, in widths of the axes."""

CROWDED = 0.045
"""Parts of the width and height within which the numbers of two points would hide each other."""


class Level(NamedTuple):
    """Ceilings of one height, and what they are called."""

    rate: float
    text: str
    precision: str | None


class Window(NamedTuple):
    """What is seen, from flops a byte to flops a byte and from flops a second to flops a second."""

    left: float
    right: float
    bottom: float
    top: float


def draw(roofline: Roofline) -> Any:
    """A matplotlib Figure."""
    from matplotlib.figure import Figure

    points = shown_points(roofline)
    figure = Figure(figsize=(12.5, 6.2) if points else (9, 5.6))
    axes = figure.add_axes((0.08, 0.09, 0.46, 0.83) if points else (0.11, 0.1, 0.6, 0.82))
    seen = window(roofline, points)
    axes.set(xscale="log", yscale="log", xlim=seen[:2], ylim=seen[2:])
    axes.set_xlabel("operational intensity (flop/B)")
    axes.set_ylabel("flop/s")
    axes.set_title(heading(roofline), fontsize=11, fontweight="bold", loc="left")
    axes.tick_params(labelsize=8)
    axes.yaxis.set_major_formatter(lambda value, _: readable(value, "flop/s", 3))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(True, which="major", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    _roofs(axes, roofline, seen)
    _points(axes, points, seen)
    return figure


def shown_points(roofline: Roofline) -> list[Point]:
    """The applications, and the kernels that take longest; a logarithm has no place for those without a byte."""
    placed = [point for point in roofline.points if point.intensity]
    kernels = sorted((point for point in placed if point.kernel), key=lambda point: -point.time)[:MOST_KERNELS]
    return [point for point in placed if point.kernel is None or point in kernels]


def window(roofline: Roofline, points: Iterable[Point]) -> Window:
    """Everything with some room around it."""
    ridges = [roofline.ridge(ceiling, memory) for ceiling in roofline.compute for memory in roofline.memory] or [1.0]
    places = [*ridges, *(point.intensity for point in points if point.intensity)]
    left, right = min(places) / 5, max(places) * 5
    lowest = min(memory.rate for memory in roofline.memory) * left if roofline.memory else float("inf")
    heights = [
        *(ceiling.rate for ceiling in roofline.compute),
        *(height for point in points for height in (point.attainable, point.predicted)),
    ]
    return Window(left, right, min(lowest, min(heights) / 6), max(heights) * 3)


def levels(compute: Iterable[Ceiling]) -> list[Level]:
    """The ceilings from the lowest to the highest, those of one height together."""
    found: list[Level] = []
    for ceiling in sorted(compute, key=lambda ceiling: ceiling.rate):
        precision = next((name for name in ("sp", "dp") if name in ceiling.traits), None)
        if found and abs(found[-1].rate - ceiling.rate) <= 1e-9 * ceiling.rate:
            last = found.pop()
            both = last.precision if last.precision == precision else None
            found.append(Level(last.rate, f"{last.text} = {traits(ceiling)}", both))
        else:
            found.append(Level(ceiling.rate, traits(ceiling), precision))
    return found


def _roofs(axes: Any, roofline: Roofline, seen: Window) -> None:
    fastest = max((memory.rate for memory in roofline.memory), default=0.0)
    found = levels(roofline.compute)
    highest = found[-1].rate
    for memory in roofline.memory:
        ridge = highest / memory.rate
        axes.plot([seen.left, ridge], [seen.left * memory.rate, highest], color="#222222", linewidth=1.6)
    for level in found:
        start = level.rate / fastest if fastest else seen.left
        top = level.rate == highest
        colour = COLOURS[level.precision]
        axes.plot([start, seen.right], [level.rate] * 2, color=colour, linewidth=1.8 if top else 1.0)
    heights = spread([_height(level.rate, seen) for level in found])
    for level, height in zip(found, heights, strict=True):
        text = f"{level.text}: {readable(level.rate, 'flop/s')}"
        axes.text(
            1.01, height, text, transform=axes.transAxes, va="center", fontsize=7.5, color=COLOURS[level.precision]
        )
    _bandwidths(axes, roofline, seen)


def _bandwidths(axes: Any, roofline: Roofline, seen: Window) -> None:
    """Their names, along the roofs."""
    from math import atan2, degrees

    width, height = axes.get_figure().get_size_inches() * axes.get_position().size
    across, up = width / log10(seen.right / seen.left), height / log10(seen.top / seen.bottom)
    for memory in roofline.memory:
        x = seen.left * 1.15
        axes.annotate(
            f"{label(memory, roofline)}: {readable(memory.rate, 'B/s')}",
            (x, x * memory.rate),
            xytext=(-3, 5),
            textcoords="offset points",
            rotation=degrees(atan2(up, across)),
            rotation_mode="anchor",
            fontsize=8,
            color="#222222",
        )


def _height(rate: float, seen: Window) -> float:
    """As a part of the picture's height."""
    return log10(rate / seen.bottom) / log10(seen.top / seen.bottom)


def spread(heights: Sequence[float]) -> list[float]:
    """Rising heights, moved up as little as keeps labels apart."""
    found: list[float] = []
    for height in heights:
        found.append(max(height, found[-1] + LEAST_GAP) if found else height)
    return found


def _place(point: Point, seen: Window) -> tuple[float, float]:
    """Where the prediction stands, as parts of the picture's width and height."""
    across = log10((point.intensity or seen.left) / seen.left) / log10(seen.right / seen.left)
    return across, _height(point.predicted, seen)


def depths(places: Sequence[tuple[float, float]]) -> list[int]:
    """How many lines below its point each number is written, so that those of neighbours do not hide each other."""
    found: dict[int, int] = {}
    for number in sorted(range(len(places)), key=places.__getitem__):
        x, y = places[number]
        near = {
            found[other]
            for other in found
            if abs(places[other][0] - x) < CROWDED and abs(places[other][1] - y) < CROWDED
        }
        found[number] = next(depth for depth in range(len(places)) if depth not in near)
    return [found[number] for number in range(len(places))]


def _points(axes: Any, points: Sequence[Point], seen: Window) -> None:
    """What is predicted is filled, what is attainable open; a number leads to the name."""
    applications = list(dict.fromkeys(point.application for point in points))
    lines = []
    below = depths([_place(point, seen) for point in points])
    for number, point in enumerate(points, 1):
        colour = MARKS[applications.index(point.application) % len(MARKS)]
        mark, size = ("D", 7) if point.kernel is None else ("o", 5)
        x = [point.intensity] * 2
        axes.plot(x, [point.predicted, point.attainable], color=colour, linewidth=0.8, linestyle=":", zorder=3)
        axes.plot(x[:1], [point.attainable], mark, color=colour, fillstyle="none", markersize=size, zorder=4)
        axes.plot(x[:1], [point.predicted], mark, color=colour, markersize=size, zorder=5)
        axes.annotate(
            str(number),
            (x[0], point.predicted),
            xytext=(0, -13 - 8 * below[number - 1]),
            textcoords="offset points",
            ha="center",
            fontsize=7,
            color=colour,
        )
        lines.append((f"{number}  {point.name}", colour))
    for place, (text, colour) in enumerate(lines):
        axes.text(NAMES, 0.98 - 0.04 * place, text, transform=axes.transAxes, fontsize=7.5, color=colour)
    if lines:
        key = "diamond: application, circle: kernel\nfilled: predicted, open: attainable"
        axes.text(NAMES, 0.93 - 0.04 * len(lines), key, transform=axes.transAxes, fontsize=7, color="#555555")
