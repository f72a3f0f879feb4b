"""Pages and diagnostics in colour, for a terminal; everything here loads rich."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from aspenpy.language.diagnostics import Diagnostic, drawn_lines
from aspenpy.tables.plot import plot_lines
from aspenpy.tables.table import (
    GAP,
    Column,
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

MARKED = "bold yellow"  # what stands out: the rows that a page is about, and what the user has set

LINE_STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "cyan",
    "place": "blue",
    "code": "",
    "caret": "bold red",
    "hint": "green",
}
"""Styles of the lines of a report, by their kind."""


def render_terminal(page: Page, columns: int) -> str:
    """The page with the colours that the terminal of this process has, for a width of `columns` characters.

    It is made as a text, so that writing it, and what may go wrong with that, is the same for all outputs.
    """
    return "\n\n".join(capture_part(part, columns) for part in page)


def capture_part(part: Part, columns: int) -> str:
    """A part of a page. A table whose numbers take more than the terminal's width gets it: nothing is cut off."""
    console = console_of(max(columns, least_width(part, columns)) if isinstance(part, Table) else columns)
    with console.capture() as captured:
        console.print(_DRAWN[type(part)](part, columns), soft_wrap=False)
    return captured.get().rstrip("\n")


def color_diagnostics(diagnostics: Iterable[Diagnostic], columns: int) -> str:
    """The report of some diagnostics, the words of `diagnostics.render` with colours."""
    console = console_of(columns)
    with console.capture() as captured:
        for position, diagnostic in enumerate(diagnostics):
            if position:
                console.print()
            for kind, line in drawn_lines(diagnostic):
                console.print(Text(line, style=LINE_STYLES[kind]), soft_wrap=True)
    return captured.get().rstrip("\n")


def console_of(columns: int) -> Console:
    """A console `columns` characters wide that colours its text even where no terminal is; its output is captured."""
    return Console(force_terminal=True, width=columns, highlight=False, markup=False, emoji=False)


def _render_title(part: Title, columns: int) -> Text:
    return Text(make_visible(part.text), style="bold")


def _render_paragraph(part: Paragraph, columns: int) -> Text:
    return Text(make_visible(part.text))


def _render_grid(part: Grid, columns: int) -> Text:
    entries = [(make_visible(name), make_visible(value)) for name, value in part.entries]
    lines = [GAP + line for line in arrange_in_columns(entries, columns - len(GAP))]
    return Text.assemble((part.heading, "bold"), "\n", ("\n".join(lines), MARKED if part.tone == "marked" else ""))


def _render_plot(part: Plot, columns: int) -> Text:
    """Draws a plot with dim axes and a coloured curve."""
    head, *lines = plot_lines(part, columns)
    drawn = Text("\n".join([head, *lines]), no_wrap=True)
    drawn.highlight_regex(r"[\u2801-\u28ff]+", "cyan")
    drawn.highlight_regex(r"[─│┤└]+", "dim")
    drawn.stylize("bold", 0, len(head))
    return drawn


def _render_table(part: Table, columns: int) -> RenderableType:
    drawn = RichTable(
        box=box.SIMPLE_HEAD if part.has_headers else None,
        show_header=part.has_headers,
        show_edge=False,
        padding=(0, 1 if part.has_headers else len(GAP), 0, 0),
        pad_edge=False,
        header_style="bold",
        border_style="dim",
    )
    cells = _cells_by_column(part)
    least = _least_widths(part, cells, columns)
    for index, (column, narrowest) in enumerate(zip(part.columns, least, strict=True)):
        if column.side != "left":
            cells[index] = narrow_column(cells[index], narrowest)
        folds = column.side == "left" and narrowest < max(map(display_width, cells[index]))
        drawn.add_column(Text(cells[index][0]), no_wrap=not folds, overflow="fold", min_width=narrowest)
    for position, row in enumerate(zip(*(stack[1:] for stack in cells), strict=True)):
        drawn.add_row(*map(Text, row), style=MARKED if position in part.marked else None)
    if not part.title:
        return drawn
    return Group(Text(make_visible(part.title), style="bold"), Padding(drawn, (0, 0, 0, len(GAP))))


LEAST_TEXT, LEAST_LIST = 12, 7
"""Characters of a text that is broken into lines, and of one that is meant to be; of less nobody can make out the
words."""


def least_width(part: Table, columns: int) -> int:
    """The least width of a table on a terminal `columns` characters wide."""
    return total_width(part, _least_widths(part, _cells_by_column(part), columns))


def total_width(part: Table, widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1 + bool(part.title))


def _least_widths(part: Table, cells: Sequence[Sequence[str]], columns: int) -> list[int]:
    """Least width of each column: as it is where there is room; else headers of numbers are broken between words, and
    texts anywhere: first those that are meant to, then, if that is not enough, all. Numbers never are."""
    widths = [max(map(display_width, stack)) for stack in cells]
    if total_width(part, widths) <= columns:
        return widths
    widths_now = widths
    for least, only_wrapped in ((LEAST_TEXT, True), (LEAST_LIST, True), (LEAST_TEXT, False)):
        widths_now = [
            _least_width_of_column(stack)
            if column.side != "left"
            else min(most, least)
            if column.wrapped or not only_wrapped
            else most
            for column, stack, most in zip(part.columns, cells, widths, strict=True)
        ]
        if total_width(part, widths_now) <= columns:
            break
    return widths_now


def _least_width_of_column(stack: Sequence[str]) -> int:
    """The longest number of a column or, if that is longer, the longest word of its header."""
    return max(map(display_width, (*_words_of_header(stack[0]), *map(str.lstrip, stack[1:]))))


def _words_of_header(header: str) -> list[str]:
    """Words that a line of a header may consist of: `exclusive/call` goes on in a new line behind the stroke."""
    return header.replace("/", "/ ").split() or [""]


def narrow_column(stack: list[str], columns: int) -> list[str]:
    """A column of numbers, its header in as many lines as it needs."""
    if max(map(display_width, stack)) <= columns:
        return stack
    lines = [""]
    for word in _words_of_header(stack[0]):
        longer = lines[-1] + " " * (not lines[-1].endswith("/") and lines[-1] != "") + word
        lines[-1:] = [longer] if display_width(longer) <= columns else [lines[-1], word]
    header = "\n".join(pad_text(line, columns, "right") for line in lines if line)
    return [header, *(pad_text(text.lstrip(), columns, "right") for text in stack[1:])]


def _cells_by_column(part: Table) -> list[list[str]]:
    """Header and cells of each column, right-aligned ones padded: rich would drop the spaces behind a unit."""
    texts = [[make_visible(text) for text in row] for row in part.texts()]
    return [_stack_of_column(column, [row[index] for row in texts]) for index, column in enumerate(part.columns)]


def _stack_of_column(column: Column, texts: list[str]) -> list[str]:
    stack = [column.header, *align_cells(texts, column.side)]
    if column.side == "left":
        return stack
    columns = max(map(display_width, stack))
    return [pad_text(text, columns, column.side) for text in stack]


_DRAWN: dict[type[Part], Callable[[Any, int], RenderableType]] = {
    Title: _render_title,
    Paragraph: _render_paragraph,
    Grid: _render_grid,
    Table: _render_table,
    Plot: _render_plot,
    Findings: lambda part, columns: Text.from_ansi(color_diagnostics(part.diagnostics, columns)),
}
