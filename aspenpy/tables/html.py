"""Pages and diagnostics as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from aspenpy.language.diagnostics import Diagnostic, drawn_lines
from aspenpy.tables.plot import as_svg, plot_lines
from aspenpy.tables.table import Grid, Page, Paragraph, Part, Plot, Table, Title

STYLES = {
    "error": "color: #b00020; font-weight: bold",
    "warning": "color: #8a5a00; font-weight: bold",
    "note": "color: #006a80",
    "place": "color: #1a4fa0",
    "code": "",
    "caret": "color: #b00020; font-weight: bold",
    "hint": "color: #1b6b2f",
}
"""Of the lines of a report, by their kind; dark enough for a light page."""

SIDES = {"left": "left", "right": "right", "unit": "right"}


def as_html(page: Page) -> str:
    return "<div>\n" + "\n".join(_FRAGMENTS[type(part)](part) for part in page) + "\n</div>"


def report_as_html(diagnostics: Iterable[Diagnostic]) -> str:
    """The report of some diagnostics, the words of `diagnostics.render` with colours; nothing for none."""
    reports = [
        "\n".join(
            f'<span style="{STYLES[kind]}">{escape(line)}</span>' if STYLES[kind] else escape(line)
            for kind, line in drawn_lines(diagnostic)
        )
        for diagnostic in diagnostics
    ]
    return f"<pre>{chr(10).join(reports)}</pre>" if reports else ""


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
        f'<td style="text-align: {SIDES[column.side]}">{opening}{escape(text)}{closing}</td>'
        for column, text in zip(table.columns, texts, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _grid(part: Grid) -> str:
    entries = ", ".join(f"{escape(name)} = {escape(value)}" for name, value in part.entries)
    return f"<p><b>{escape(part.heading)}</b> {entries}</p>"


def _plot(part: Plot) -> str:
    """A picture, where matplotlib is there to draw it; else the characters of the terminal."""
    from importlib.util import find_spec

    if find_spec("matplotlib"):
        return as_svg(part)

    return f"<pre>{escape(chr(10).join(plot_lines(part)))}</pre>"


_FRAGMENTS: dict[type[Part], Callable[[Any], str]] = {
    Title: lambda part: f"<p><b>{escape(part.text)}</b></p>",
    Paragraph: lambda part: f"<p>{escape(part.text)}</p>",
    Grid: _grid,
    Table: _table,
    Plot: _plot,
}
