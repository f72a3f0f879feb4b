"""Pages as HTML, for notebooks: a fragment without styles of its own."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from aspenpy.present.page import Grid, Page, Paragraph, Part, Title
from aspenpy.present.table import Table

SIDES = {"left": "left", "right": "right", "unit": "right"}


def as_html(page: Page) -> str:
    """The page as a fragment."""
    return "<div>\n" + "\n".join(_FRAGMENTS[type(part)](part) for part in page) + "\n</div>"


def _table(part: Table) -> str:
    head = "".join(f"<th>{escape(column.header)}</th>" for column in part.columns)
    caption = f"<caption>{escape(part.title)}</caption>" if part.title else ""
    rows = [_row(part, position, texts) for position, texts in enumerate(part.texts())]
    return "\n".join(
        [f"<table>{caption}", *([f"<thead><tr>{head}</tr></thead>"] if part.has_headers else []), *rows, "</table>"]
    )


def _row(table: Table, position: int, texts: list[str]) -> str:
    opening, closing = ("<b>", "</b>") if position in table.marked else ("", "")
    cells = [
        f'<td style="text-align: {SIDES[column.align]}">{opening}{escape(text)}{closing}</td>'
        for column, text in zip(table.columns, texts, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _grid(part: Grid) -> str:
    entries = ", ".join(f"{escape(name)} = {escape(value)}" for name, value in part.entries)
    return f"<p><b>{escape(part.heading)}</b> {entries}</p>"


_FRAGMENTS: dict[type[Part], Callable[[Any], str]] = {
    Title: lambda part: f"<p><b>{escape(part.text)}</b></p>",
    Paragraph: lambda part: f"<p>{escape(part.text)}</p>",
    Grid: _grid,
    Table: _table,
}
