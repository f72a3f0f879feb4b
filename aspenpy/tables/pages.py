"""Pages as plain text, for pipes and files, and as HTML, for notebooks: nothing is cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from aspenpy.language.diagnostics import Diagnostic, drawn_lines, render
from aspenpy.tables.table import (
    GAP,
    Findings,
    Grid,
    Page,
    Paragraph,
    Part,
    Plot,
    Table,
    Title,
    align_cells,
    arrange_in_columns,
    display_width,
    make_visible,
    pad_text,
)

WIDTH = 100  # characters for what can be broken into lines
BRAILLE = {chr(0x2800 + dots): "." if dots.bit_count() < 3 else "*" for dots in range(1, 256)}
WITHOUT_UNICODE = str.maketrans({"─": "-", "├": "|", "┤": "|", "└": "`", "│": "|", "×": "x"} | BRAILLE)
"""Replacements for outputs that cannot take the characters that pages are drawn with."""


def render_text(page: Page, columns: int = WIDTH) -> str:
    """The page, its parts separated by empty lines."""
    return "\n\n".join("\n".join(_LINES[type(part)](part, columns)) for part in page)


def _title_lines(part: Title, columns: int) -> list[str]:
    return [make_visible(part.text)]


def _paragraph_lines(part: Paragraph, columns: int) -> list[str]:
    from textwrap import wrap

    return wrap(make_visible(part.text), columns, break_long_words=False, break_on_hyphens=False)


def _grid_lines(part: Grid, columns: int) -> list[str]:
    entries = [(make_visible(name), make_visible(value)) for name, value in part.entries]
    return [part.heading, *(GAP + line for line in arrange_in_columns(entries, columns - len(GAP)))]


def _plot_lines(part: Plot, columns: int) -> list[str]:
    from aspenpy.tables.plot import plot_lines

    return [make_visible(line) for line in plot_lines(part, columns)]


def table_lines(table: Table) -> list[str]:
    """Headers, a rule, rows; each column as wide as its widest cell."""
    texts = [[make_visible(text) for text in row] for row in table.texts()]
    cells = [
        align_cells(column, kind.side)
        for column, kind in zip(transpose_table(texts, table), table.columns, strict=True)
    ]
    head = [[column.header] if table.has_headers else [] for column in table.columns]
    widths = [max(map(display_width, heads + column), default=0) for heads, column in zip(head, cells, strict=True)]
    aligns = [column.side for column in table.columns]

    def line(row: Iterable[str]) -> str:
        placed = zip(row, widths, aligns, strict=True)
        return GAP.join(pad_text(text, columns, align) for text, columns, align in placed).rstrip()

    lines = [line(row) for row in zip(*cells, strict=True)]
    if table.has_headers:
        rules = [("─" if kind.header else " ") * columns for columns, kind in zip(widths, table.columns, strict=True)]
        lines = [line(column.header for column in table.columns), GAP.join(rules).rstrip(), *lines]
    return [make_visible(table.title), *(GAP + line for line in lines)] if table.title else lines


def transpose_table(rows: list[list[str]], table: Table) -> list[list[str]]:
    return [[row[index] for row in rows] for index in range(len(table.columns))]


_LINES: dict[type[Part], Callable[[Any, int], list[str]]] = {
    Title: _title_lines,
    Paragraph: _paragraph_lines,
    Grid: _grid_lines,
    Table: lambda part, columns: table_lines(part),
    Plot: _plot_lines,
    Findings: lambda part, columns: [render(part.diagnostics)],
}

# -- HTML ------------------------------------------------------------------------------------------

STYLES = {
    "error": "color: #b00020; font-weight: bold",
    "warning": "color: #8a5a00; font-weight: bold",
    "note": "color: #006a80",
    "place": "color: #1a4fa0",
    "code": "",
    "caret": "color: #b00020; font-weight: bold",
    "hint": "color: #1b6b2f",
}
"""Styles of the lines of a report, by their kind; dark enough for a light page."""

SIDES = {"left": "left", "right": "right", "unit": "right"}

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def escape_html(text: str) -> str:
    """Escapes text for HTML; `html.escape` does the same, but takes long to import for a table of all entities."""
    return text.translate(_ESCAPED)


def render_html(page: Page) -> str:
    return "<div>\n" + "\n".join(_FRAGMENTS[type(part)](part) for part in page) + "\n</div>"


def render_diagnostics_html(diagnostics: Iterable[Diagnostic]) -> str:
    """The report of some diagnostics, the words of `diagnostics.render` with colours; nothing for none."""
    reports = [
        "\n".join(
            f'<span style="{STYLES[kind]}">{escape_html(line)}</span>' if STYLES[kind] else escape_html(line)
            for kind, line in drawn_lines(diagnostic)
        )
        for diagnostic in diagnostics
    ]
    return f"<pre>{chr(10).join(reports)}</pre>" if reports else ""


def _write_html_table(part: Table) -> str:
    head = "".join(f"<th>{escape_html(column.header)}</th>" for column in part.columns)
    caption = f"<caption>{escape_html(part.title)}</caption>" if part.title else ""
    rows = [_write_html_row(part, position, texts) for position, texts in enumerate(part.texts())]
    return "\n".join(
        [f"<table>{caption}", *([f"<thead><tr>{head}</tr></thead>"] if part.has_headers else []), *rows, "</table>"]
    )


def _write_html_row(table: Table, position: int, texts: list[str]) -> str:
    opening, closing = ("<b>", "</b>") if position in table.marked else ("", "")
    cells = [
        f'<td style="text-align: {SIDES[column.side]}">{opening}{escape_html(text)}{closing}</td>'
        for column, text in zip(table.columns, texts, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _write_html_grid(part: Grid) -> str:
    entries = ", ".join(f"{escape_html(name)} = {escape_html(value)}" for name, value in part.entries)
    return f"<p><b>{escape_html(part.heading)}</b> {entries}</p>"


def _write_html_plot(part: Plot) -> str:
    """A picture, where matplotlib is there to draw it; else the characters of the terminal."""
    from importlib.util import find_spec

    from aspenpy.tables.plot import plot_lines, write_svg

    if find_spec("matplotlib"):
        return write_svg(part)

    return f"<pre>{escape_html(chr(10).join(plot_lines(part)))}</pre>"


_FRAGMENTS: dict[type[Part], Callable[[Any], str]] = {
    Title: lambda part: f"<p><b>{escape_html(part.text)}</b></p>",
    Paragraph: lambda part: f"<p>{escape_html(part.text)}</p>",
    Grid: _write_html_grid,
    Table: _write_html_table,
    Plot: _write_html_plot,
    Findings: lambda part: render_diagnostics_html(part.diagnostics),
}
