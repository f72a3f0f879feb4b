"""What the pictures have in common: colours, titles, and numbers with units along the axes. All take matplotlib's
objects, which carry no types."""

from __future__ import annotations

from typing import Any

from aspenpy.language.dimensions import readable
from aspenpy.tables.plot import COLORS

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = COLORS
YELLOW, BLACK = "#F0E442", "#000000"
"""The palette of Okabe and Ito, which colour-blind people tell apart."""

STYLES: list[dict[str, Any]] = [
    {"color": BLUE, "linestyle": "-"},
    {"color": VERMILION, "linestyle": "--"},
    {"color": GREEN, "linestyle": "-."},
    {"color": PURPLE, "linestyle": ":"},
]
"""Of lines, told apart in print as well."""


def numbers_in(axis: Any, unit: str) -> None:
    """Writes the numbers along an axis with a unit of the right size."""
    axis.set_major_formatter(lambda value, _: readable(value, unit, 3))


def titled(axes: Any, title: str, *, bold: bool = False) -> None:
    axes.set_title(title, fontsize=11, loc="left", fontweight="bold" if bold else None)


def gridded(axes: Any) -> None:
    """A pale grid behind small labels."""
    axes.tick_params(labelsize=8)
    axes.grid(True, which="major", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
