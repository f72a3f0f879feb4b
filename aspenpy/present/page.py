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


Part = Title | Paragraph | Table | Grid
Page = tuple[Part, ...]
