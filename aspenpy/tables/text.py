"""Pages as plain text, for pipes and files: no colours, nothing cut off, and no library to load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from aspenpy.tables.layout import GAP, aligned, in_columns, padded, visible, width
from aspenpy.tables.plot import plot_lines
from aspenpy.tables.table import Grid, Page, Paragraph, Part, Plot, Table, Title

WIDTH = 100  # characters for what can be broken into lines
BRAILLE = {chr(0x2800 + dots): "." if dots.bit_count() < 3 else "*" for dots in range(1, 256)}
WITHOUT_UNICODE = str.maketrans({"─": "-", "├": "|", "┤": "|", "└": "`", "│": "|", "×": "x"} | BRAILLE)
"""For outputs that cannot take the characters that pages are drawn with."""


def as_text(page: Page, columns: int = WIDTH) -> str:
    """The page, its parts separated by empty lines."""
    return "\n\n".join("\n".join(_LINES[type(part)](part, columns)) for part in page)


def _title(part: Title, columns: int) -> list[str]:
    return [visible(part.text)]


def _paragraph(part: Paragraph, columns: int) -> list[str]:
    from textwrap import wrap

    return wrap(visible(part.text), columns, break_long_words=False, break_on_hyphens=False)


def _grid(part: Grid, columns: int) -> list[str]:
    entries = [(visible(name), visible(value)) for name, value in part.entries]
    return [part.heading, *(GAP + line for line in in_columns(entries, columns - len(GAP)))]


def _plot(part: Plot, columns: int) -> list[str]:
    return [visible(line) for line in plot_lines(part, columns)]


def table_lines(table: Table) -> list[str]:
    """Headers, a rule, rows; each column as wide as its widest cell."""
    texts = [[visible(text) for text in row] for row in table.texts()]
    cells = [aligned(column, kind.side) for column, kind in zip(_turned(texts, table), table.columns, strict=True)]
    head = [[column.header] if table.has_headers else [] for column in table.columns]
    widths = [max(map(width, heads + column), default=0) for heads, column in zip(head, cells, strict=True)]
    aligns = [column.side for column in table.columns]

    def line(row: Iterable[str]) -> str:
        placed = zip(row, widths, aligns, strict=True)
        return GAP.join(padded(text, columns, align) for text, columns, align in placed).rstrip()

    lines = [line(row) for row in zip(*cells, strict=True)]
    if table.has_headers:
        rules = [("─" if kind.header else " ") * columns for columns, kind in zip(widths, table.columns, strict=True)]
        lines = [line(column.header for column in table.columns), GAP.join(rules).rstrip(), *lines]
    return [visible(table.title), *(GAP + line for line in lines)] if table.title else lines


def _turned(rows: list[list[str]], table: Table) -> list[list[str]]:
    return [[row[place] for row in rows] for place in range(len(table.columns))]


_LINES: dict[type[Part], Callable[[Any, int], list[str]]] = {
    Title: _title,
    Paragraph: _paragraph,
    Grid: _grid,
    Table: lambda part, columns: table_lines(part),
    Plot: _plot,
}
