"""Page: what a report says, before anyone draws it.

Reports are made of a few parts; `plain`, `terminal`, `html` and `delimited` each draw all of them.
"""

from __future__ import annotations

from typing import Literal

from aspenpy.present.table import Table
from aspenpy.record import Record


class Title(Record):
    """What the page is about, or the part of it that follows."""

    text: str


class Paragraph(Record):
    """A sentence or a formula, which may wrap."""

    text: str


class Grid(Record):
    """Short entries, in as many columns as fit; those that are `marked` stand out."""

    heading: str
    entries: tuple[tuple[str, str], ...]
    tone: Literal["plain", "marked"] = "plain"


class Plot(Record):
    """A curve over a parameter: heights in a base unit (empty for plain numbers), not a number where there are none;
    the values of the parameter stand in equal ratios if `log`."""

    what: str
    unit: str
    parameter: str
    xs: tuple[float, ...]
    heights: tuple[float, ...]
    log: bool


Part = Title | Paragraph | Table | Grid | Plot
Page = tuple[Part, ...]
