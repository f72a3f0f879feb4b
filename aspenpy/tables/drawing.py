"""Style of all pictures: one palette, one size of text, axes with units, names beside what they name. All take
matplotlib's objects, which carry no types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, ParamSpec

from aspenpy.language.dimensions import format_quantity

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW, BLACK = PALETTE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
    "#000000",
)
"""Colours that colour-blind people tell apart (Okabe and Ito, "Color Universal Design", 2008)."""

INK, GREY, PALE, SHADE = "#222222", "#666666", "#bbbbbb", "#e4e4e4"  # of text, notes, what lies behind, bands
MAP = "cividis"  # of heat maps: even in lightness, so that it prints grey (Nunez, Anderton and Renslow, PLoS ONE, 2018)

STYLES: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "linestyle": "-"},
    {"color": VERMILION, "linestyle": "--"},
    {"color": GREEN, "linestyle": "-."},
    {"color": PURPLE, "linestyle": ":"},
    {"color": BLACK, "linestyle": (0, (6, 2, 1, 2, 1, 2))},
    {"color": ORANGE, "linestyle": (0, (1, 1))},
)
"""Styles of lines that differ in print as well."""

FILLS: tuple[dict[str, Any], ...] = (
    {"facecolor": BLUE},
    {"facecolor": ORANGE, "hatch": "////"},
    {"facecolor": GREEN, "hatch": "...."},
    {"facecolor": YELLOW},
    {"facecolor": VERMILION, "hatch": "\\\\\\\\"},
    {"facecolor": SKY, "hatch": "xxxx"},
    {"facecolor": PURPLE, "hatch": "----"},
    {"facecolor": BLACK},
)
"""Styles of areas. Those of a similar grey have different hatches."""

MARKED = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
"""Colours of marks and thin lines: yellow is hard to see on white."""

MARKS = ("o", "D", "^", "s", "v", "P", "X")

EDGE: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.4}  # of areas; hatches have its colour

TEXT = 9  # points of all text
LINE = 12.5  # points from line to line

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": TEXT,
    **dict.fromkeys(("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), TEXT),
    **dict.fromkeys(("legend.fontsize", "legend.title_fontsize", "figure.titlesize"), TEXT),
    "text.parse_math": False,  # a name may have dollars in it
    "axes.formatter.use_mathtext": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "figure.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.which": "major",
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "grid.color": SHADE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "hatch.linewidth": 0.7,
    "hatch.color": "white",
}
SAVED: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "aspenpy"}
"""Text stays text, and the same picture is the same file."""

P = ParamSpec("P")


def use_style() -> AbstractContextManager[Any]:
    """Within it pictures are drawn, and saved, in the shared style."""
    import matplotlib

    return matplotlib.rc_context(STYLE | SAVED)


def use_shared_style(draw: Callable[P, Any]) -> Callable[P, Any]:
    """Draws in the shared style, whatever the user has set for other pictures."""

    @wraps(draw)
    def drawn(*args: P.args, **named: P.kwargs) -> Any:
        with use_style():
            return draw(*args, **named)

    return drawn


# -- axes ------------------------------------------------------------------------------------------


MOST_TICKS = 6
FEW_DECADES = 100  # of an axis whose ends are less apart, 2 and 5 of each decade have numbers too
LONGER = ((365.25 * 86400, "years"), (86400, "days"), (3600, "h"), (60, "min"))
"""Units of times along an axis that is longer than two of them."""


def label_axis(axis: Any, unit: str = "") -> None:
    """Numbers along an axis, with a unit of the right size, and no more than there is room for. Wants the data."""
    if axis.get_scale() == "log":
        _label_logarithmic_axis(axis, unit)
        return
    from matplotlib.ticker import FixedLocator, MaxNLocator

    low, high = sorted(axis.get_view_interval())
    size, name = next((each for each in LONGER if high > 2 * each[0]), (1.0, "")) if unit == "s" else (1.0, "")
    locator = MaxNLocator(4 if name == "years" else MOST_TICKS, steps=[1, 2, 2.5, 5, 10])
    if not name:
        axis.set_major_locator(locator)
        axis.set_major_formatter(lambda value, _: format_amount(value, unit))
        return
    ticks = [tick * size for tick in locator.tick_values(low / size, high / size) if low <= tick * size <= high]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(lambda value, _: f"{format_amount(value / size)} {name}")


def _label_logarithmic_axis(axis: Any, unit: str) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = sorted(axis.get_view_interval())
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < FEW_DECADES * low else (1,), numticks=8))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: format_amount(value, unit))


def format_amount(value: float, unit: str = "") -> str:
    """`2.5 GHz`, `1,000`, `1e9`; seconds stay seconds."""
    if unit and (unit != "s" or abs(value) < 100):
        return format_quantity(float(f"{value:.6g}"), unit, 4)
    plain = f"{value:,.6g}" if 1e-4 <= abs(value) < 1e6 or not value else f"{value:.3g}"
    return f"{plain.replace('e+0', 'e').replace('e+', 'e').replace('e-0', 'e-')} {unit}".rstrip()


def place_ticks(axis: Any, values: Sequence[float], unit: str, most: int) -> None:
    """Numbers where the points are, if these are few; else evenly."""
    label_axis(axis, unit)
    if len(values) <= most:
        axis.set_ticks([float(value) for value in values], [format_amount(float(value), unit) for value in values])
        axis.set_ticks([], minor=True)


# -- text ------------------------------------------------------------------------------------------


LONGEST_TITLE, LONGEST_NAME = 90, 34  # characters


def drop_middle(text: str, most: int = LONGEST_NAME) -> str:
    """The text without its middle where it is long: names that begin alike often end otherwise."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 1]}…{text[-end:]}"


def set_title(axes: Any, title: str) -> None:
    width = axes.get_figure().get_size_inches()[0]
    axes.set_title(drop_middle(title, min(LONGEST_TITLE, int(width * 10))))


def spread_apart(places: Sequence[float], gap: float, most: float = 1.0) -> list[float]:
    """Rising places, moved as little as keeps them apart and, if there is room, below `most`."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    for number in reversed(range(len(moved))):
        highest = most - gap * (len(moved) - 1 - number)
        moved[number] = min(moved[number], highest)
    return moved


def name_ends(
    axes: Any, height: float, ends: Sequence[tuple[str, float, float, str]], longest: int = LONGEST_NAME
) -> None:
    """Writes names of lines to the right of the axes, which are `height` inches high: text, last point, colour of
    each."""
    to_axes = axes.transAxes.inverted()
    places = {end: float(to_axes.transform(axes.transData.transform(end[1:3]))[1]) for end in ends}
    ordered = sorted(ends, key=places.__getitem__)
    moved = spread_apart([places[end] for end in ordered], LINE / (72 * height))
    for (text, x, y, colour), up in zip(ordered, moved, strict=True):
        axes.annotate(
            drop_middle(text, longest),
            (x, y),
            (1.03, up),
            textcoords="axes fraction",
            va="center",
            color=INK,  # pale letters are hard to read; the line to them has the colour
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 2},
        )
