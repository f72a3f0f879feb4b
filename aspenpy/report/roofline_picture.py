"""A Roofline as a picture: flops a second over flops a byte, both logarithmic; roofs, and points below them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log10
from typing import Any, NamedTuple

from aspenpy.answers.ceilings import Ceiling
from aspenpy.answers.roofline import Roofline
from aspenpy.answers.roofline_points import LevelPoint, Point
from aspenpy.language.dimensions import readable
from aspenpy.report.drawing import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, gridded, numbers_in, titled
from aspenpy.report.roofline import heading, label, traits

COLOURS = {"dp": BLUE, "sp": VERMILION, None: "#444444"}  # of the precisions

CACHES = "#888888"  # the colour of the roofs of caches
MARKS = (GREEN, PURPLE, ORANGE, SKY, BLACK)  # colours of applications
MOST_KERNELS = 14  # kernels that are drawn, those that take longest
LEAST_GAP = 0.035  # between two labels at the right, as a part of the height
NAMES = 1.47  # where the names of the points stand, in widths of the axes
NAME_WIDTH = 1.5  # inches across that the name of a bandwidth takes
CLOSE = 0.24  # inches in height between two roofs that leave no room for a name

LEVEL_MARKS = {"^": "▲", "s": "■", "v": "▼", "P": "✚", "X": "✖"}
"""Of the caches, from the core outwards, and as they are written; memory has the mark of the kernel itself."""

CROWDED = 0.045  # parts of the width and height within which the numbers of two points would hide each other


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
    titled(axes, heading(roofline), bold=True)
    numbers_in(axes.yaxis, "flop/s")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    gridded(axes)
    _roofs(axes, roofline, seen)
    _points(axes, points, seen)
    return figure


def shown_points(roofline: Roofline) -> list[Point]:
    """The applications, and the kernels that take longest; a logarithm has no place for those without a byte."""
    placed = [point for point in roofline.points if point.place]
    kernels = sorted((point for point in placed if point.kernel), key=lambda point: -point.time)[:MOST_KERNELS]
    return [point for point in placed if point.kernel is None or point in kernels]


def shown_levels(point: Point) -> list[LevelPoint]:
    """The levels, from the core outwards, that serve it any byte."""
    return [level for level in point.levels if level.intensity]


def window(roofline: Roofline, points: Iterable[Point]) -> Window:
    """Everything with some room around it."""
    bandwidths = roofline.bandwidths
    ridges = [roofline.ridge(ceiling, memory) for ceiling in roofline.compute for memory in bandwidths] or [1.0]
    placed = [level.intensity for point in points for level in shown_levels(point) if level.intensity]
    places = [*ridges, *placed, *(point.place for point in points if point.place)]
    left, right = min(places) / 5, max(places) * 5
    lowest = min(memory.rate for memory in bandwidths) * left if bandwidths else float("inf")
    heights = [
        *(ceiling.rate for ceiling in roofline.compute),
        *(height for point in points for height in (point.attainable, point.predicted)),
    ]
    return Window(left, right, min(lowest, min(heights) / 6), max(heights) * 3)


def levels(compute: Iterable[Ceiling]) -> list[Level]:
    """The ceilings from the lowest to the highest, those of one height together."""
    all_levels: list[Level] = []
    for ceiling in sorted(compute, key=lambda ceiling: ceiling.rate):
        precision = next((name for name in ("sp", "dp") if name in ceiling.traits), None)
        if all_levels and abs(all_levels[-1].rate - ceiling.rate) <= 1e-9 * ceiling.rate:
            last = all_levels.pop()
            both = last.precision if last.precision == precision else None
            all_levels.append(Level(last.rate, f"{last.text} = {traits(ceiling)}", both))
        else:
            all_levels.append(Level(ceiling.rate, traits(ceiling), precision))
    return all_levels


def _roofs(axes: Any, roofline: Roofline, seen: Window) -> None:
    fastest = max((memory.rate for memory in roofline.bandwidths), default=0.0)
    roofs = levels(roofline.compute)
    highest = roofs[-1].rate
    for memory in roofline.bandwidths:
        ridge = highest / memory.rate
        colour, width = ("#222222", 1.6) if memory in roofline.memory else (CACHES, 1.0)
        axes.plot([seen.left, ridge], [seen.left * memory.rate, highest], color=colour, linewidth=width)
        if memory.peak is not None and memory in roofline.memory:  # what the data sheet says, and no times use
            ends = [seen.left, highest / memory.peak]
            axes.plot(ends, [seen.left * memory.peak, highest], color=colour, linewidth=0.8, linestyle=":")
    for level in roofs:
        start = level.rate / fastest if fastest else seen.left
        top = level.rate == highest
        colour = COLOURS[level.precision]
        axes.plot([start, seen.right], [level.rate] * 2, color=colour, linewidth=1.8 if top else 1.0)
    heights = spread([_height(level.rate, seen) for level in roofs])
    for level, height in zip(roofs, heights, strict=True):
        text = f"{level.text}: {readable(level.rate, 'flop/s')}"
        axes.text(
            1.01, height, text, transform=axes.transAxes, va="center", fontsize=7.5, color=COLOURS[level.precision]
        )
    _bandwidths(axes, roofline, seen)


def _bandwidths(axes: Any, roofline: Roofline, seen: Window) -> None:
    """Their names, along the roofs; where roofs are close, one name begins behind the other."""
    from math import atan2, degrees

    width, height = axes.get_figure().get_size_inches() * axes.get_position().size
    across, up = width / log10(seen.right / seen.left), height / log10(seen.top / seen.bottom)
    names = slopes(roofline)
    for (rate, text), turn in zip(names.items(), turns([log10(rate) * up for rate in names]), strict=True):
        x = seen.left * 1.15 * 10 ** (turn * NAME_WIDTH / across)
        axes.annotate(
            f"{text}: {readable(rate, 'B/s')}",
            (x, x * rate),
            xytext=(-3, 5),
            textcoords="offset points",
            rotation=degrees(atan2(up, across)),
            rotation_mode="anchor",
            fontsize=8,
            color="#222222",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5} if turn else None,
        )


def turns(heights: Sequence[float]) -> list[int]:
    """How many names each stands behind: those of roofs within `CLOSE` inches take different places."""
    numbers: dict[float, int] = {}
    for height in sorted(heights, reverse=True):
        near = {turn for above, turn in numbers.items() if above - height < CLOSE}
        numbers[height] = next(turn for turn in range(len(heights)) if turn not in near)
    return [numbers[height] for height in heights]


def slopes(roofline: Roofline) -> dict[float, str]:
    """What the bandwidths are called, those of one rate together."""
    texts: dict[float, str] = {}
    for memory in roofline.bandwidths:
        name = label(memory, roofline)
        texts[memory.rate] = f"{texts[memory.rate]} = {name}" if memory.rate in texts else name
    return texts


def _height(rate: float, seen: Window) -> float:
    """As a part of the picture's height."""
    return log10(rate / seen.bottom) / log10(seen.top / seen.bottom)


def spread(heights: Sequence[float]) -> list[float]:
    """Rising heights, moved up as little as keeps labels apart."""
    places: list[float] = []
    for height in heights:
        places.append(max(height, places[-1] + LEAST_GAP) if places else height)
    return places


def _place(point: Point, seen: Window) -> tuple[float, float]:
    """Where the prediction stands, as parts of the picture's width and height."""
    across = log10((point.place or seen.left) / seen.left) / log10(seen.right / seen.left)
    return across, _height(point.predicted, seen)


def depths(places: Sequence[tuple[float, float]]) -> list[int]:
    """How many lines below its point each number is written, so that those of neighbours do not hide each other."""
    rows: dict[int, int] = {}
    for number in sorted(range(len(places)), key=places.__getitem__):
        x, y = places[number]
        near = {
            rows[other] for other in rows if abs(places[other][0] - x) < CROWDED and abs(places[other][1] - y) < CROWDED
        }
        rows[number] = next(depth for depth in range(len(places)) if depth not in near)
    return [rows[number] for number in range(len(places))]


def _points(axes: Any, points: Sequence[Point], seen: Window) -> None:
    """What is predicted is filled, what is attainable open; a number leads to the name."""
    applications = list(dict.fromkeys(point.application for point in points))
    lines = []
    below = depths([_place(point, seen) for point in points])
    for number, point in enumerate(points, 1):
        colour = MARKS[applications.index(point.application) % len(MARKS)]
        mark, size = ("D", 7) if point.kernel is None else ("o", 5)
        x = [point.place or seen.left] * 2
        axes.plot(x, [point.predicted, point.attainable], color=colour, linewidth=0.8, linestyle=":", zorder=3)
        axes.plot(x[:1], [point.attainable], mark, color=colour, fillstyle="none", markersize=size, zorder=4)
        if point.intensity:
            axes.plot(x[:1], [point.predicted], mark, color=colour, markersize=size, zorder=5)
        _levels(axes, point, colour)
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
        height = 0.93 - 0.04 * len(lines)
        key = "diamond: application, circle: kernel\nfilled: predicted, open: attainable"
        axes.text(NAMES, height, key, transform=axes.transAxes, fontsize=7, color="#555555")
        if marks := _marks(points):
            axes.text(NAMES, height - 0.015, marks, transform=axes.transAxes, va="top", fontsize=7, color="#555555")


def named_levels(points: Sequence[Point]) -> list[str]:
    """The caches and the memory at which points have a mark, the nearest to the core first."""
    return [level.level for level in next((point.levels for point in points if point.levels), ())]


def _marks(points: Sequence[Point]) -> str:
    """What the marks of the levels stand for, a line each."""
    if not (levels := named_levels(points)):
        return ""
    *caches, memory = levels
    marks = [f"{mark} at {name}" for mark, name in zip(LEVEL_MARKS.values(), caches, strict=False)]
    return "\n".join([*marks, f"diamond, circle: at {memory}"])


def _levels(axes: Any, point: Point, colour: str) -> None:
    """A mark at the intensity of each cache, joined with that at memory."""
    if not (shown := shown_levels(point)):
        return
    places = [level.intensity for level in shown]
    axes.plot(places, [point.predicted] * len(shown), color=colour, linewidth=0.8, zorder=3)
    for mark, level in zip(LEVEL_MARKS, point.levels[:-1], strict=False):
        if level in shown:
            place = [level.intensity], [point.predicted]
            axes.plot(*place, mark, color=colour, markeredgecolor="white", markeredgewidth=0.6, markersize=6, zorder=6)
