"""Reuse distances as a picture: their histogram, and the miss ratio over the size of the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.report.reuse import capacity
from aspenpy.traces.distances import ReuseDistances

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLOURS = ("#222222", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The whole trace is dark, its ranges have the colours of Okabe and Ito, which colour-blind people tell apart."""

OCTAVES_IN_FULL = 12  # of the histogram, those whose first and last distance are written out
POINTS_AN_OCTAVE = 16  # sizes of the cache at which the miss ratio is drawn


def draw(found: ReuseDistances) -> Any:
    """A matplotlib Figure."""
    from matplotlib.figure import Figure

    parts = [part for part in (found, *found.ranges.values()) if part.references]
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    title = figure.suptitle(f"reuse distances of {found.source}", fontsize=11, fontweight="bold")
    title.set_parse_math(False)  # the name of a file may have dollars in it
    left, right = figure.subplots(1, 2)
    octaves = 1 + max((int(part.distances[-1]).bit_length() for part in parts if len(part.distances)), default=0)
    _histogram(left, parts, octaves)
    _misses(right, parts, octaves)
    for axes in (left, right):
        axes.grid(True, color="#e4e4e4", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8)
    if len(parts) > 1:
        right.legend(fontsize=8, frameon=False)
    return figure


def _histogram(axes: Axes, parts: list[ReuseDistances], octaves: int) -> None:
    """A group of bars for 0, 1, 2 to 3, 4 to 7, ... and for the first references."""
    import numpy as np

    names = ["0", *(_octave(number) for number in range(1, octaves)), "first"]
    width = 0.86 / len(parts)
    for number, part in enumerate(parts):
        misses = part.miss_ratio(np.concatenate(([0], 2 ** np.arange(octaves))))
        shares = [*(-np.diff(misses)), part.cold / part.references]
        places = np.arange(len(shares)) + (number - (len(parts) - 1) / 2) * width
        axes.bar(places, 100 * np.array(shares), width, color=COLOURS[number % len(COLOURS)])
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_xlabel(f"distance (other lines of {parts[0].line} B in between)")
    axes.set_ylabel("references (%)")


def _octave(number: int) -> str:
    """`4-7`; of large ones the beginning."""
    first, last = 2 ** (number - 1), 2**number - 1
    if first == last:
        return str(first)
    return f"{first}-{last}" if number <= OCTAVES_IN_FULL else f"$2^{{{number - 1}}}$-"


def _misses(axes: Axes, parts: list[ReuseDistances], octaves: int) -> None:
    """Of a fully associative LRU cache, with its size in lines; the axis is labelled in bytes."""
    import numpy as np

    line = parts[0].line
    sizes = np.unique(np.round(2 ** np.arange(0, octaves + 1 / POINTS_AN_OCTAVE, 1 / POINTS_AN_OCTAVE))).astype(
        np.int64
    )
    for number, part in enumerate(parts):
        colour = COLOURS[number % len(COLOURS)]
        axes.step(sizes * line, 100 * part.miss_ratio(sizes), where="post", color=colour, label=part.name or "all")
    axes.set_xscale("log", base=2)
    axes.set_ylim(0)
    axes.xaxis.set_major_formatter(lambda value, _: capacity(value))
    axes.set_xlabel("size of a fully associative LRU cache")
    axes.set_ylabel("misses (%)")
