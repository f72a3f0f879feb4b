"""Contents of a result: columns with their units, tables of them, and reports. Every format is derived from these.

`text`, `terminal` and `html` draw reports for people; `data` gives JSON and CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal

from aspenpy.language.diagnostics import Diagnostic
from aspenpy.record import Record
from aspenpy.tables.numbers import Amount, format_amount, format_count, format_ratio, format_share, make_formatter

Align = Literal["left", "right", "unit"]  # `unit` puts the numbers under each other and the units behind them
Format = Literal["text", "count", "share", "ratio", "amount"]

FORMATS: dict[str, tuple[Callable[[Any], str], Align]] = {
    "text": (str, "left"),
    "count": (format_count, "right"),
    "share": (format_share, "right"),
    "ratio": (format_ratio, "right"),
    "amount": (format_amount, "unit"),
}
"""Formatters and alignments of cells; cells of `amount` carry their own unit."""

ALL, TEXT, DATA, JSON, CSV = ("text", "json", "csv"), ("text",), ("json", "csv"), ("json",), ("csv",)
"""Media in which a column appears."""


class Column(Record):
    """A column: its header, how cells are read out (by default from the unit), and the base unit of its numbers.

    `key` is its name in JSON and CSV (default: the header, joined by underscores), `get` the attribute of an item, or a
    function of it, that the cell is (default: the attribute `key`). A `quantity` is `{"value", "unit"}` in JSON. Only
    what is `wrapped` may take more than one line on a narrow terminal.
    """

    header: str
    format: Format | Callable[[Any], str] | None = None
    align: Align | None = None
    wrapped: bool = False
    unit: str = ""
    key: str = ""
    get: str | Callable[[Any], Any] = ""
    media: tuple[str, ...] = ALL
    quantity: bool = False

    @property
    def show(self) -> Callable[[Any], str]:
        """Reads a cell out."""
        if callable(self.format):
            return self.format
        return make_formatter(self.unit) if self.unit and self.format is None else FORMATS[self.format or "text"][0]

    @property
    def side(self) -> Align:
        """The side at which cells are aligned."""
        if self.align is not None or callable(self.format):
            return self.align or "left"
        return "unit" if self.unit and self.format is None else FORMATS[self.format or "text"][1]

    @property
    def name(self) -> str:
        """Name of the column in JSON and CSV."""
        return self.key or self.header.replace(" ", "_")

    def cell(self, item: Any) -> Any:
        """The value in the row of an item."""
        return self.get(item) if callable(self.get) else attrgetter(self.get or self.name)(item)


class Table(Record):
    """Rows of raw values, as many as there are columns; None is a cell with nothing in it. Rows whose number is in
    `marked` stand out. Facts are a table without headers. A table with a `key` is a list of objects in JSON; `media`
    says where the table appears, a `sparse` one leaves out columns that no row fills in text."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    marked: frozenset[int] = frozenset()
    title: str = ""
    key: str = ""
    media: tuple[str, ...] = ALL
    sparse: bool = False

    @property
    def has_headers(self) -> bool:
        return any(column.header for column in self.columns)

    def select_columns(self, medium: str) -> Table:
        """The table with only the columns that the medium shows."""
        kept = [index for index, column in enumerate(self.columns) if medium in column.media]
        if medium == "text" and self.sparse:
            kept = [index for index in kept if any(row[index] is not None for row in self.rows)]
        if len(kept) == len(self.columns):
            return self
        rows = tuple(tuple(row[index] for index in kept) for row in self.rows)
        return self.replace(columns=tuple(self.columns[index] for index in kept), rows=rows)

    def texts(self) -> list[list[str]]:
        """The texts of the cells, row by row."""
        return [
            ["" if cell is None else column.show(cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]


def make_table(columns: Sequence[Column], items: Iterable[Any], key: str = "", **more: Any) -> Table:
    """A row for each item, by the `get` of the columns."""
    return Table(
        tuple(columns), tuple(tuple(column.cell(item) for column in columns) for item in items), key=key, **more
    )


def make_columns(names: str, **same: Any) -> tuple[Column, ...]:
    """Columns by their keys, alike in all else."""
    return tuple(Column(name, **same) for name in names.split())


def make_facts(rows: Iterable[tuple[str, str]], title: str = "") -> Table:
    """Names with what there is to say of each, for people only."""
    return Table((Column(""), Column("", wrapped=True)), tuple(rows), title=title, media=TEXT)


class Title(Record):
    """The subject of the page, or of the part of it that follows."""

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
    """Curves over a parameter: their heights by what they are, in a base unit (empty for plain numbers), not a number
    where there are none; the values of the parameter stand in equal ratios if `log`."""

    curves: Mapping[str, tuple[float, ...]]
    unit: str
    parameter: str
    xs: tuple[float, ...]
    log: bool


class Findings(Record):
    """A part of a report that shows diagnostics."""

    diagnostics: tuple[Diagnostic, ...]


Part = Title | Paragraph | Table | Grid | Plot | Findings
Page = tuple[Part, ...]  # what people read


class Report(Record):
    """All that a result says: a headline, values by their keys (`Amount`s where they have units), and parts.

    `schema` names the shape of its JSON, and the version of that shape: `prediction/1`, of `aspenpy.report.schemas`.
    CSV is the first part that appears there. `units` are those of bare numbers in `data`.
    """

    schema: str
    headline: str
    data: dict[str, Any]
    parts: tuple[Part, ...]
    diagnostics: tuple[Diagnostic, ...] | None = None
    units: dict[str, Any] = {}  # noqa: RUF012 - records never change

    @property
    def page(self) -> Page:
        """The report as people read it: no empty tables, no columns for programs alone."""
        shown = [part.select_columns("text") if isinstance(part, Table) else part for part in self.parts]
        kept = [part for part in shown if not isinstance(part, Table) or ("text" in part.media and part.rows)]
        return (*((Title(self.headline),) if self.headline else ()), *kept)

    def tables(self, medium: str) -> list[Table]:
        """The tables that a medium shows, each with only the columns that it shows."""
        chosen = [part for part in self.parts if isinstance(part, Table) and medium in part.media]
        return [part.select_columns(medium) for part in chosen]


__all__ = ["Amount", "Column", "Format", "Grid", "Page", "Paragraph", "Part", "Plot", "Report", "Table", "Title"]

# -- text in columns -------------------------------------------------------------------------------

GAP = "  "  # between two columns


def make_visible(text: str) -> str:
    """Text from a model in one line, without characters that would move the cursor."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " if char.isspace() else ascii(char)[1:-1] for char in text)


def display_width(text: str) -> int:
    """Columns that a terminal uses for the text."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def pad_text(text: str, columns: int, align: Align) -> str:
    """The text filled up with spaces."""
    space = " " * (columns - display_width(text))
    return text + space if align == "left" else space + text


def align_cells(texts: Sequence[str], align: Align) -> list[str]:
    """The cells of one column, made as wide as each other where units have to line up."""
    if align != "unit":
        return list(texts)
    pairs = [text.rpartition(" ") if " " in text else (text, "", "") for text in texts]
    behind = max((display_width(unit) for _, _, unit in pairs), default=0)
    return [
        f"{number}{space or ' ' * bool(behind and number)}{pad_text(unit, behind, 'left')}"
        for number, space, unit in pairs
    ]


MOST_ACROSS = 6  # columns of a grid


def arrange_in_columns(entries: Iterable[tuple[str, str]], columns: int) -> list[str]:
    """Pairs of a name and a value in a grid, filled down each column first, within `columns` characters."""
    pairs = list(entries)
    for across in range(min(MOST_ACROSS, len(pairs)), 0, -1):
        height = -(-len(pairs) // across)
        stacks = [_stack_pairs(pairs[start : start + height]) for start in range(0, len(pairs), height)]
        if across == 1 or sum(display_width(stack[0]) + 2 * len(GAP) for stack in stacks) - 2 * len(GAP) <= columns:
            rows = [[stack[row] for stack in stacks if row < len(stack)] for row in range(height)]
            return [(2 * GAP).join(row).rstrip() for row in rows]
    return []


def _stack_pairs(pairs: list[tuple[str, str]]) -> list[str]:
    """One column of a grid: names under each other, values under each other."""
    names = max(display_width(name) for name, _ in pairs)
    values = max(display_width(value) for _, value in pairs)
    return [pad_text(name, names, "left") + GAP + pad_text(value, values, "left") for name, value in pairs]
