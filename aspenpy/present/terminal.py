"""Pages and diagnostics in colour, for a terminal; everything here loads rich."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from aspenpy.diagnostics import Diagnostic, drawn_lines
from aspenpy.present.braille import plot_lines
from aspenpy.present.layout import GAP, aligned, in_columns, padded, visible, width
from aspenpy.present.page import Grid, Page, Paragraph, Part, Plot, Title
from aspenpy.present.table import Column, Table

MARKED = "bold yellow"
"""What stands out: the rows that a page is about, and what the user has set."""

LINE_STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "cyan",
    "place": "blue",
    "code": "",
    "caret": "bold red",
    "hint": "green",
}
"""Of the lines of a report, by their kind."""


def as_terminal_text(page: Page, columns: int) -> str:
    """The page with the colours that the terminal of this process has, for a width of so many characters.

    It is made as a text, so that writing it, and what may go wrong with that, is the same for all outputs.
    """
    console = _console(columns)
    with console.capture() as captured:
        for position, part in enumerate(page):
            if position:
                console.print()
            console.print(_DRAWN[type(part)](part, columns), soft_wrap=False)
    return captured.get().rstrip("\n")


def colored(diagnostics: Iterable[Diagnostic], columns: int) -> str:
    """The report of some diagnostics, the words of `diagnostics.render` with colours."""
    console = _console(columns)
    with console.capture() as captured:
        for position, diagnostic in enumerate(diagnostics):
            if position:
                console.print()
            for kind, line in drawn_lines(diagnostic):
                console.print(Text(line, style=LINE_STYLES[kind]), soft_wrap=True)
    return captured.get().rstrip("\n")


def highlighted(text: str, columns: int) -> str:
    """The text of a model with its words in colour."""
    from rich.syntax import Syntax

    from aspenpy.present.highlight import AspenLexer

    lines = "\n".join(map(visible, text.expandtabs().splitlines()))
    syntax = Syntax("", AspenLexer(stripnl=False), theme="ansi_dark", background_color="default")
    console = _console(columns)
    with console.capture() as captured:
        console.print(syntax.highlight(lines), soft_wrap=True)
    return captured.get().rstrip("\n")


def _console(columns: int) -> Console:
    return Console(force_terminal=True, width=columns, highlight=False, markup=False, emoji=False)


def _title(part: Title, columns: int) -> Text:
    return Text(visible(part.text), style="bold")


def _paragraph(part: Paragraph, columns: int) -> Text:
    return Text(visible(part.text))


def _grid(part: Grid, columns: int) -> Text:
    entries = [(visible(name), visible(value)) for name, value in part.entries]
    lines = [GAP + line for line in in_columns(entries, columns - len(GAP))]
    return Text.assemble((part.heading, "bold"), "\n", ("\n".join(lines), MARKED if part.tone == "marked" else ""))


def _plot(part: Plot, columns: int) -> Text:
    """Its axes dim, the curve in colour."""
    head, *lines = plot_lines(part, columns)
    drawn = Text("\n".join([head, *lines]), no_wrap=True)
    drawn.highlight_regex(r"[\u2801-\u28ff]+", "cyan")
    drawn.highlight_regex(r"[─│┤└]+", "dim")
    drawn.stylize("bold", 0, len(head))
    return drawn


def _table(part: Table, columns: int) -> RenderableType:
    drawn = RichTable(
        box=box.SIMPLE_HEAD if part.has_headers else None,
        show_header=part.has_headers,
        show_edge=False,
        padding=(0, 1 if part.has_headers else len(GAP), 0, 0),
        pad_edge=False,
        header_style="bold",
        border_style="dim",
    )
    texts = [[visible(text) for text in row] for row in part.texts()]
    cells = [_stack(column, [row[place] for row in texts]) for place, column in enumerate(part.columns)]
    for column, (header, *_) in zip(part.columns, cells, strict=True):
        drawn.add_column(header, no_wrap=not column.wrapped, overflow="fold" if column.wrapped else "ellipsis")
    for position, row in enumerate(zip(*(stack[1:] for stack in cells), strict=True)):
        drawn.add_row(*map(Text, row), style=MARKED if position in part.marked else None)
    if not part.title:
        return drawn
    return Group(Text(visible(part.title), style="bold"), Padding(drawn, (0, 0, 0, len(GAP))))


def _stack(column: Column, texts: list[str]) -> list[str]:
    """Header and cells of a column. What stands to the right is filled up here: rich would take the spaces behind
    a unit away."""
    stack = [column.header, *aligned(texts, column.align)]
    if column.align == "left":
        return stack
    columns = max(map(width, stack))
    return [padded(text, columns, column.align) for text in stack]


_DRAWN: dict[type[Part], Callable[[Any, int], RenderableType]] = {
    Title: _title,
    Paragraph: _paragraph,
    Grid: _grid,
    Table: _table,
    Plot: _plot,
}
