"""A Roofline as a picture: flops a second over flops a byte, both logarithmic; roofs, and points below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log10
from string import ascii_lowercase
from typing import Any, NamedTuple

from aspenpy.answers.ceilings import Ceiling
from aspenpy.answers.roofline import Roofline
from aspenpy.answers.roofline_points import LevelPoint, RooflinePoint
from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.measured_roofline import MeasuredPoint
from aspenpy.report.roofline import heading, label, traits
from aspenpy.tables.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    drop_middle,
    label_axis,
    name_ends,
    set_title,
    use_shared_style,
)
from aspenpy.tables.numbers import format_count

COLOURS = {"dp": BLUE, "sp": VERMILION, None: INK}  # of the precisions
MARKED = (GREEN, PURPLE, ORANGE, SKY, BLACK)  # colours of applications
MOST_KERNELS = 14  # kernels that are drawn, those that take longest
NAME_WIDTH = 1.7  # inches across that the name of a bandwidth takes
CLOSE = 0.24  # inches in height between two roofs that leave no room for a name

LEFT, BELOW, ABOVE = 1.05, 0.5, 0.35  # inches around the axes
WIDTH, UP = 5.4, 4.4  # inches of the axes
CHARACTER = 0.072  # inches of a character beside them
BESIDE = 0.35  # inches from the axes to a name
LONGEST_ROOF = 44  # characters of the name of a roof

LEVEL_MARKS = ("^", "s", "v", "P", "X")
"""Marks of the caches, from the core outwards; memory has the mark of the kernel itself."""

CROWDED = 0.14  # inches between a number and another one, a point or a name, below which one would hide the other


class CeilingLine(NamedTuple):
    """Ceilings of one height, and what they are called."""

    rate: float
    text: str
    precision: str | None


class VisibleRange(NamedTuple):
    """The visible range, from flops a byte to flops a byte and from flops a second to flops a second."""

    left: float
    right: float
    bottom: float
    top: float


class Roofs(NamedTuple):
    """The roofs of what runs: of the components that take part."""

    compute: tuple[Ceiling, ...]
    memory: tuple[Ceiling, ...]
    caches: tuple[Ceiling, ...]

    @property
    def bandwidths(self) -> tuple[Ceiling, ...]:
        return (*self.caches, *self.memory)


def roofs_of(roofline: Roofline) -> Roofs:
    kinds = roofline.compute, roofline.memory, roofline.caches
    return Roofs(*(tuple(map(roofline.at_work, ceilings)) for ceilings in kinds))


@use_shared_style
def draw_roofline(roofline: Roofline, measured: Sequence[MeasuredPoint] = ()) -> Any:
    """A matplotlib Figure; `measured` points are stars with letters."""
    from matplotlib.figure import Figure

    points, roofs = choose_points(roofline), roofs_of(roofline)
    stars = choose_measured(measured)
    names = _point_names(points)
    parts = _describe_parts(roofline) if roofline.predictions or stars else []
    heights = levels(roofs.compute)
    room = BESIDE + CHARACTER * max(len(_roof_name(level)) for level in heights)
    lines = [*names, *parts, _open_marks_label(points), *_name_stars(stars)]
    legend = 0.5 + CHARACTER * max(map(len, lines)) if parts else 0.0
    width, up = LEFT + WIDTH + room + legend, BELOW + UP + ABOVE
    figure = Figure(figsize=(width, up))
    axes = figure.add_axes((LEFT / width, BELOW / up, WIDTH / width, UP / up))
    seen = visible_range(roofs, points, stars)
    axes.set(xscale="log", yscale="log", xlim=seen[:2], ylim=seen[2:])
    axes.set_xlabel("operational intensity (flop/B)")
    set_title(axes, heading(roofline))
    label_axis(axes.yaxis, "flop/s")
    label_axis(axes.xaxis)
    written = _draw_roofs(axes, roofline, roofs, seen)
    _draw_points(axes, points, seen, written)
    _draw_stars(axes, stars)
    if parts:
        _draw_legend(figure, points, names, parts, 1 - legend / width, _name_stars(stars))
    return figure


def _open_marks_label(points: Sequence[RooflinePoint]) -> str:
    """The label that explains filled and open marks."""
    levels_seen = named_levels(points)
    return f"filled: predicted, open: roof{f', at {drop_middle(levels_seen[-1])}' if levels_seen else ''}"


def _describe_parts(roofline: Roofline) -> list[str]:
    """The components that take part, as `8 of 128 haswell_core`."""
    kinds = {}
    for ceiling in (*roofline.compute[:1], *roofline.memory):
        used = roofline.at_work(ceiling).count
        whole = "all" if used >= ceiling.count else f"{format_count(used)} of"
        kinds[ceiling.component] = f"{whole} {format_count(ceiling.count)} {drop_middle(ceiling.component)}"
    return ["roof of what runs:", *kinds.values()]


def _point_names(points: Sequence[RooflinePoint]) -> list[str]:
    several = len({point.application for point in points}) > 1
    names = [point.name if several or point.kernel is None else point.kernel for point in points]
    return [f"{number}  {drop_middle(name)}" for number, name in enumerate(names, 1)]


def _roof_name(level: CeilingLine) -> str:
    return f"{drop_middle(level.text, LONGEST_ROOF)}: {format_quantity(level.rate, 'flop/s')}"


def _draw_legend(
    figure: Any,
    points: Sequence[RooflinePoint],
    names: Sequence[str],
    parts: Sequence[str],
    left: float,
    stars: Sequence[str] = (),
) -> None:
    """Draws the legend: the components that take part, the points by their numbers, and what the marks stand for."""
    from matplotlib.lines import Line2D

    applications = list(dict.fromkeys(point.application for point in points))
    handles = [
        Line2D(
            [],
            [],
            linestyle="",
            marker="D" if point.kernel is None else "o",
            color=MARKED[applications.index(point.application) % len(MARKED)],
            label=name,
        )
        for point, name in zip(points, names, strict=True)
    ]
    handles += [
        Line2D([], [], linestyle="", marker=mark, color=GREY, label=f"at {drop_middle(level)}")
        for mark, level in zip(LEVEL_MARKS, named_levels(points)[:-1], strict=False)
    ]
    if points:
        handles.append(
            Line2D([], [], linestyle="", marker="o", fillstyle="none", color=GREY, label=_open_marks_label(points))
        )
    handles += [Line2D([], [], linestyle="", marker="*", color=VERMILION, label=name) for name in stars]
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(left, 1), title="\n".join(parts), alignment="left")


def choose_measured(measured: Sequence[MeasuredPoint]) -> list[MeasuredPoint]:
    """The measured points that have a place, as many as letters."""
    return [point for point in measured if point.intensity and point.rate][: len(ascii_lowercase)]


def _name_stars(stars: Sequence[MeasuredPoint]) -> list[str]:
    return [
        f"{letter}  {drop_middle(point.name)}, measured" for letter, point in zip(ascii_lowercase, stars, strict=False)
    ]


def _draw_stars(axes: Any, stars: Sequence[MeasuredPoint]) -> None:
    """A star for each measured point, with the letter that leads to its name."""
    for letter, point in zip(ascii_lowercase, stars, strict=False):
        axes.plot([point.intensity], [point.rate], "*", color=VERMILION, markersize=9, zorder=7)
        axes.annotate(letter, (point.intensity, point.rate), xytext=(-3, 7), textcoords="offset points", color=INK)


def choose_points(roofline: Roofline) -> list[RooflinePoint]:
    """The applications, and the kernels that take longest; a logarithm has no place for those without a byte."""
    placed = [point for point in roofline.points if point.place]
    kernels = sorted((point for point in placed if point.kernel), key=lambda point: -point.time)[:MOST_KERNELS]
    return [point for point in placed if point.kernel is None or point in kernels]


def levels_with_traffic(point: RooflinePoint) -> list[LevelPoint]:
    """Levels that serve the point any byte, from the core outwards."""
    return [level for level in point.levels if level.intensity]


def visible_range(
    roofs: Roofs, points: Iterable[RooflinePoint], measured: Sequence[MeasuredPoint] = ()
) -> VisibleRange:
    """Axis limits that contain all points, with a margin."""
    bandwidths = roofs.bandwidths
    ridges = [ceiling.rate / memory.rate for ceiling in roofs.compute for memory in bandwidths] or [1.0]
    placed = [level.intensity for point in points for level in levels_with_traffic(point) if level.intensity]
    places = [*ridges, *placed, *(point.place for point in points if point.place)]
    places += [point.intensity for point in measured if point.intensity]
    left, right = min(places) / 5, max(places) * 5
    lowest = min(memory.rate for memory in bandwidths) * left if bandwidths else float("inf")
    heights = [
        *(ceiling.rate for ceiling in roofs.compute),
        *(height for point in points for height in (point.attainable, point.predicted)),
        *(point.rate for point in measured if point.rate),
    ]
    return VisibleRange(left, right, min(lowest, min(heights) / 6), max(heights) * 3)


def levels(compute: Iterable[Ceiling]) -> list[CeilingLine]:
    """The ceilings from the lowest to the highest, those of one height together."""
    all_levels: list[CeilingLine] = []
    for ceiling in sorted(compute, key=lambda ceiling: ceiling.rate):
        precision = next((name for name in ("sp", "dp") if name in ceiling.traits), None)
        if all_levels and abs(all_levels[-1].rate - ceiling.rate) <= 1e-9 * ceiling.rate:
            last = all_levels.pop()
            both = last.precision if last.precision == precision else None
            all_levels.append(CeilingLine(last.rate, f"{last.text} = {traits(ceiling)}", both))
        else:
            all_levels.append(CeilingLine(ceiling.rate, traits(ceiling), precision))
    return all_levels


def _draw_roofs(axes: Any, roofline: Roofline, roofs: Roofs, seen: VisibleRange) -> list[tuple[float, float]]:
    """Draws the roofs with their names; returns where those of bandwidths are written, in inches."""
    fastest = max((memory.rate for memory in roofs.bandwidths), default=0.0)
    heights = levels(roofs.compute)
    highest = heights[-1].rate
    for memory in roofs.bandwidths:
        ridge = highest / memory.rate
        colour, width = (INK, 1.6) if memory in roofs.memory else (GREY, 1.0)
        axes.plot([seen.left, ridge], [seen.left * memory.rate, highest], color=colour, linewidth=width)
        if memory.peak is not None and memory in roofs.memory:  # what the data sheet says, and no times use
            ends = [seen.left, highest / memory.peak]
            axes.plot(ends, [seen.left * memory.peak, highest], color=colour, linewidth=0.8, linestyle=":")
    for level in heights:
        start = level.rate / fastest if fastest else seen.left
        top = level.rate == highest
        axes.plot([start, seen.right], [level.rate] * 2, color=COLOURS[level.precision], linewidth=1.8 if top else 1.0)
    name_ends(
        axes,
        UP,
        [(_roof_name(level), seen.right, level.rate, COLOURS[level.precision]) for level in heights],
        2 * LONGEST_ROOF,
    )
    return _name_bandwidths(axes, slopes(roofs, roofline), seen)


def _name_bandwidths(axes: Any, names: Mapping[float, str], seen: VisibleRange) -> list[tuple[float, float]]:
    """Writes bandwidths' names along their roofs, staggered where roofs are close. Returns the points of the text."""
    from math import atan2, cos, degrees, sin

    written = []
    across, up = WIDTH / log10(seen.right / seen.left), UP / log10(seen.top / seen.bottom)
    for (rate, text), turn in zip(names.items(), label_turns([log10(rate) * up for rate in names]), strict=True):
        x = max(seen.left, seen.bottom / rate) * 10 ** ((0.12 + turn * NAME_WIDTH) / across)
        name, turned = f"{drop_middle(text)}: {format_quantity(rate, 'B/s')}", atan2(up, across)
        begin = log10(x / seen.left) * across - 0.04, log10(x * rate / seen.bottom) * up + 0.12
        along = [CHARACTER * step for step in range(len(name) + 1)]
        written += [(begin[0] + length * cos(turned), begin[1] + length * sin(turned)) for length in along]
        axes.annotate(
            name,
            (x, x * rate),
            xytext=(-3, 5),
            textcoords="offset points",
            rotation=degrees(turned),
            rotation_mode="anchor",
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.85},
        )
    return written


def label_turns(heights: Sequence[float]) -> list[int]:
    """Number of names that each name stands behind: those of roofs within `CLOSE` inches take different places."""
    numbers: dict[float, int] = {}
    for height in sorted(heights, reverse=True):
        near = {turn for above, turn in numbers.items() if above - height < CLOSE}
        numbers[height] = next(turn for turn in range(len(heights)) if turn not in near)
    return [numbers[height] for height in heights]


def slopes(roofs: Roofs, roofline: Roofline) -> dict[float, str]:
    """The names of the bandwidths, those of one rate together."""
    texts: dict[float, str] = {}
    for memory, whole in zip(roofs.bandwidths, roofline.bandwidths, strict=True):
        name = label(whole, roofline)
        texts[memory.rate] = f"{texts[memory.rate]} = {name}" if memory.rate in texts else name
    return texts


def _place(intensity: float | None, rate: float, seen: VisibleRange) -> tuple[float, float]:
    """Place of a mark, in inches from the lower left corner."""
    across = log10((intensity or seen.left) / seen.left) / log10(seen.right / seen.left)
    return across * WIDTH, log10(rate / seen.bottom) / log10(seen.top / seen.bottom) * UP


def label_offsets(
    places: Sequence[tuple[float, float]], written: Sequence[tuple[float, float]] = ()
) -> list[tuple[float, float]]:
    """Inches from each point to its number: as near as hides no other number, no point and nothing that is `written`;
    below it where that is as good as elsewhere."""
    from math import cos, dist, pi, sin

    turns = [0, 4, 2, 6, 1, 7, 3, 5]  # eighths of a circle from below
    rings = [CROWDED * (1.3 + 0.6 * ring) for ring in range(8)]
    ways = [(size * sin(turn * pi / 4), -size * cos(turn * pi / 4)) for size in rings for turn in turns]
    taken, found = [*places, *written], []
    for x, y in places:
        free = (way for way in ways if all(dist((x + way[0], y + way[1]), each) >= CROWDED for each in taken))
        found.append(way := next(free, ways[0]))
        taken.append((x + way[0], y + way[1]))
    return found


def _draw_points(
    axes: Any, points: Sequence[RooflinePoint], seen: VisibleRange, written: Sequence[tuple[float, float]]
) -> None:
    """Draws predictions as filled points and the roof's bounds as open ones; a number leads to the name."""
    applications = list(dict.fromkeys(point.application for point in points))
    places = [_place(point.place, point.predicted, seen) for point in points]
    roofs = [_place(point.place, point.attainable, seen) for point in points]
    offsets = label_offsets(places, [*written, *roofs])
    for number, point in enumerate(points, 1):
        colour = MARKED[applications.index(point.application) % len(MARKED)]
        mark, size = ("D", 7) if point.kernel is None else ("o", 5)
        x = [point.place or seen.left] * 2
        axes.plot(x, [point.predicted, point.attainable], color=colour, linewidth=0.8, linestyle=":", zorder=3)
        axes.plot(x[:1], [point.attainable], mark, color=colour, fillstyle="none", markersize=size + 2, zorder=4)
        if point.intensity:
            axes.plot(x[:1], [point.predicted], mark, color=colour, markersize=size, zorder=5)
        _draw_levels(axes, point, colour)
        where: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "center", "color": INK}
        right, up = offsets[number - 1]
        axes.annotate(str(number), (x[0], point.predicted), xytext=(72 * right, 72 * up), zorder=7, **where)


def named_levels(points: Sequence[RooflinePoint]) -> list[str]:
    """The caches and the memory at which points have a mark, the nearest to the core first."""
    return [level.level for level in next((point.levels for point in points if point.levels), ())]


def _draw_levels(axes: Any, point: RooflinePoint, colour: str) -> None:
    """A mark at the intensity of each cache, joined with that at memory."""
    if not (shown := levels_with_traffic(point)):
        return
    places = [level.intensity for level in shown]
    axes.plot(places, [point.predicted] * len(shown), color=colour, linewidth=0.8, zorder=3)
    for mark, level in zip(LEVEL_MARKS, point.levels[:-1], strict=False):
        if level in shown:
            place = [level.intensity], [point.predicted]
            axes.plot(*place, mark, color=colour, markeredgecolor="white", markeredgewidth=0.6, markersize=6, zorder=6)
