"""Sheet: columns and rows of measurements, from a file of comma-separated values or from Python.

The tidy form has a row for each run: `run`, `application`, `region`, `input`, `device`, `threads` and the clocks say
what ran and where (`columns.KNOWN` lists them), every other column is something that was measured, with its unit.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from aspenpy.language.diagnostics import Related, fail, suggest_nearest
from aspenpy.language.files import Reader
from aspenpy.language.source import Source, Span

EXPECTED = "the first line names the columns, such as `n,machine,runtime [ms]`"

MOST_ROWS = 10_000
"""Most rows of measurements: a model with a handful of parameters is known as well from a few hundred."""

OTHER_SIGNS = ";\t|"
"""Separators of columns in other dialects."""


class Cell(NamedTuple):
    """The content of a row and a column: a text with its place in the file, or a value given in Python; `row` is the
    line of the file, or the number of the row from 1."""

    value: Any
    row: int
    span: Span | None = None

    @property
    def parents(self) -> tuple[str, ...]:
        """Place of the sheet, for what has no place in a file."""
        return () if self.span is not None else (f"in row {self.row} of the measurements",)


class Heading(NamedTuple):
    """The name of a column, and the unit in brackets behind it, if any: `runtime [ms]`. `written` is what stands in the
    file, where the column goes by another name."""

    name: str
    unit: str | None
    span: Span | None = None
    written: str = ""


class MeasurementSheet(NamedTuple):
    """Columns, and rows with a cell for each of their names. Rows of one region that are `parts` are launches within
    one run, which add up; others are repeated runs."""

    headings: tuple[Heading, ...]
    rows: tuple[dict[str, Cell], ...]
    span: Span | None = None
    parts: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return [heading.name for heading in self.headings]

    def heading(self, name: str) -> Heading:
        """The heading of a column, by its name or as it is written. KeyError where there is none."""
        for heading in self.headings:
            if name in (heading.name, heading.written):
                return heading
        raise KeyError(name)

    def rows_at(self, indices: Iterable[int]) -> MeasurementSheet:
        """The same columns, with the rows at these places."""
        return self._replace(rows=tuple(self.rows[index] for index in indices))


Data = str | Path | Source | MeasurementSheet | Iterable[Mapping[str, Any]]
"""Measurements: the path of a CSV file, or a row after the other as mappings from columns to values."""


def make_sheet(
    data: Data, columns: Mapping[str, str] | None = None, most_rows: int | None = None, index: str = ""
) -> MeasurementSheet:
    """The sheet of measurements, wherever they are; a DataFrame counts as its rows. `index` names a first column that
    has no name, as DataFrames write theirs. Raises AspenError."""
    if isinstance(data, MeasurementSheet):
        return data
    if isinstance(data, str | Path):
        data = Reader().read(data)
    if isinstance(data, Source):
        return parse_sheet(data, columns, most_rows or MOST_ROWS, index)
    if columns:
        fail("no-file", "columns are renamed in a file; rows from Python name theirs as they want")
    to_dict = getattr(data, "to_dict", None)
    return tabulate_rows(to_dict("records") if callable(to_dict) else data, most_rows or MOST_ROWS)


def parse_sheet(
    source: Source, columns: Mapping[str, str] | None = None, most_rows: int = MOST_ROWS, index: str = ""
) -> MeasurementSheet:
    """The sheet in a file. `columns` renames those it names (`{"runtime [ms]": "time/ms"}`) and leaves out all others.
    Raises AspenError."""
    lines = read_lines(source)
    first_line = Span(source, 0, len(source.text.partition("\n")[0]))
    head = next(lines, [])
    if not head:
        fail("no-measurements", "there are no measurements in the file", first_line, hint=EXPECTED)
    if not head[0].value and len(head) > 1:
        head[0] = head[0]._replace(value=index)
    line = Span(source, require_span(head[0]).start, require_span(head[-1]).end)
    if len(head) == 1 and any(sign in head[0].value for sign in OTHER_SIGNS):
        fail("not-commas", "the columns are not separated by commas", line, hint=EXPECTED)
    everything = [(place, parse_heading(cell.value)) for place, cell in enumerate(head)]
    taken = choose_columns(head, line, columns) if columns else everything
    headings = {place: named._replace(span=require_span(head[place])) for place, named in taken}
    _check_headings(list(headings.values()))
    rows: list[dict[str, Cell]] = []
    for cells in lines:
        if len(cells) != len(head):
            place = Span(source, require_span(cells[0]).start, require_span(cells[-1]).end)
            values, names = count_noun(len(cells), "value"), count_noun(len(head), "column")
            wrong = f"line {cells[0].row} has {values} for {names}"
            fail("wrong-columns", wrong, place, hint="values with a comma in them stand in double quotes")
        if len(rows) == most_rows:
            _refuse_rows(most_rows, require_span(cells[0]))
        rows.append({named.name: cells[place] for place, named in headings.items()})
    if not rows:
        fail("no-measurements", "there are no measurements below the names of the columns", line)
    return MeasurementSheet(tuple(headings.values()), tuple(rows), line)


def tabulate_rows(rows: Iterable[Mapping[str, Any]], most_rows: int = MOST_ROWS) -> MeasurementSheet:
    """The sheet of mappings from the names of columns to values, all with the same columns. Raises AspenError."""
    given = list(islice(rows, most_rows + 1))
    if len(given) > most_rows:
        _refuse_rows(most_rows, None)
    if not given:
        fail("no-measurements", "there are no measurements", hint="each is a mapping such as {'n': 8, 'runtime': 0.1}")
    names = list(given[0])
    for number, row in enumerate(given, 1):
        if set(row) != set(names):
            fail("wrong-columns", f"row {number} has the columns {', '.join(row)}; row 1 has {', '.join(names)}")
    headings = {name: parse_heading(name) for name in names}
    _check_headings(list(headings.values()))
    cells = ({headings[name].name: Cell(row[name], number) for name in names} for number, row in enumerate(given, 1))
    return MeasurementSheet(tuple(headings.values()), tuple(cells))


def _refuse_rows(most_rows: int, span: Span | None) -> NoReturn:
    hint = "a sample of them, or the median of what was measured at the same point, is fitted as well"
    fail("too-many-rows", f"there are more than {most_rows:,} rows of measurements", span, hint=hint)


def count_noun(number: int, noun: str) -> str:
    """`1 value`, `3 values`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def parse_heading(text: str) -> Heading:
    """`runtime [ms]` is the column `runtime` in milliseconds."""
    name, bracket, unit = text.strip().partition("[")
    if bracket and unit.endswith("]"):
        return Heading(name.strip(), unit[:-1].strip())
    return Heading(text.strip(), None)


def _check_headings(headings: list[Heading]) -> None:
    seen: dict[str, Heading] = {}
    for column in headings:
        if not column.name:
            fail("unnamed-column", "a column has no name", column.span, hint=EXPECTED)
        if column.name in seen:
            first = seen[column.name].span
            related = () if first is None else (Related(first, "first named here"),)
            fail("column-twice", f"there are two columns `{column.name}`", column.span, related=related)
        seen[column.name] = column


def choose_columns(head: list[Cell], line: Span, columns: Mapping[str, str]) -> list[tuple[int, Heading]]:
    """The places of the columns that were asked for, with the names they are given."""
    texts = [cell.value for cell in head]
    plain = [parse_heading(text).name for text in texts]
    taken = []
    for asked, text in columns.items():
        indices = [index for index, known in enumerate(texts) if known == text.strip()]
        indices = indices or [index for index, known in enumerate(plain) if known == text.strip()]
        if not indices:
            fail("unknown-column", f"there is no column `{text.strip()}`", line, hint=suggest_nearest(text, texts))
        new = parse_heading(asked)
        taken.append((indices[0], Heading(new.name, new.unit or parse_heading(texts[indices[0]]).unit)))
    if len({index for index, _ in taken}) < len(taken):
        fail("column-twice", "one column was given two names", line)
    return taken


# -- lines and cells -------------------------------------------------------------------------------


def read_lines(source: Source) -> Iterator[list[Cell]]:
    """The cells of the lines that are not empty."""
    start = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        text = line.rstrip("\r")
        if text.strip():
            yield list(split_cells(text, number, Span(source, start, start + len(text))))
        start += len(line) + 1


def split_cells(line: str, row: int, span: Span) -> Iterator[Cell]:
    """The cells of a line, without the white space around them; where some are quoted, each has the place of the whole
    line."""
    try:
        texts = next(csv.reader([line], strict=True))
    except csv.Error:
        hint = "a quotation mark that opens a value closes it, and lines end with a line feed"
        fail("bad-line", f"line {row} cannot be taken apart into values", span, hint=hint)
    start = span.start
    for text in texts:
        inner = start + len(text) - len(text.lstrip())
        yield Cell(text.strip(), row, span if '"' in line else Span(span.source, inner, inner + len(text.strip())))
        start += len(text) + 1


def require_span(cell: Cell) -> Span:
    assert cell.span is not None, cell
    return cell.span


# -- files that are not plain tables -----------------------------------------------------------------


Row = dict[str, Cell]
"""Cells by the header of their column: a name with its unit in brackets, if it has one."""

MISSING = ("", "-", "N/A", "[N/A]", "[Not Supported]", "[Insufficient Permissions]", "[Unknown Error]", "nan", "n/a")
"""Texts that tools write where there is no value."""

THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")


def tabulate_cells(rows: Iterable[Row], source: Source) -> MeasurementSheet:
    """The sheet of rows with different columns; missing cells are blank. Raises AspenError where there is no row."""
    cells = list(rows)
    whole = Span(source, 0, len(source.text.partition("\n")[0]))
    if not cells:
        fail("no-measurements", f"there are no measurements in `{source.name}`", whole)
    headers = list(dict.fromkeys(header for row in cells for header in row))
    headings = {header: parse_heading(header) for header in headers}
    refuse_two_units(list(headings.values()), whole)
    made = []
    for row in cells:
        line = next(iter(row.values())).row
        made.append({headings[header].name: row.get(header, Cell("", line)) for header in headers})
    return MeasurementSheet(tuple(headings.values()), tuple(made), whole)


def refuse_two_units(headings: list[Heading], span: Span) -> None:
    """Raises AspenError where one name has two units."""
    units: dict[str, str | None] = {}
    for item in headings:
        if item.name in units:
            hint = "measure both in one unit, or read them apart"
            first, second = units[item.name], item.unit
            fail("mixed-units", f"`{item.name}` is in {first} in some rows and in {second} in others", span, hint=hint)
        units[item.name] = item.unit


def normalise_cell(cell: Cell) -> Cell:
    """The cell, blank where its tool has no value, without thousands separators."""
    text = str(cell.value).strip()
    if text in MISSING:
        return cell._replace(value="")
    return cell._replace(value=text.replace(",", "") if THOUSANDS.fullmatch(text) else text)


def refuse_line(cells: list[Cell], what: str, hint: str) -> NoReturn:
    """Refuses a line, by file and place."""
    span = Span(require_span(cells[0]).source, require_span(cells[0]).start, require_span(cells[-1]).end)
    fail("bad-line", f"line {cells[0].row} {what}", span, hint=hint)


def require_width(cells: list[Cell], columns: int, hint: str) -> None:
    """Refuses a line that has not one value for each column."""
    if len(cells) != columns:
        refuse_line(cells, f"has {len(cells)} values for {columns} columns", hint)


def require_values(cells: list[Cell], *, least: int, what: str, hint: str) -> None:
    """Refuses a line with too few values."""
    if len(cells) < least:
        refuse_line(cells, f"is no {what}: it has {len(cells)} of {least} values", hint)


def parse_number(cell: Cell) -> float | None:
    """The number in a cell; None where it is blank. Raises AspenError for anything else."""
    text = str(normalise_cell(cell).value)
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        fail("bad-value", f"`{text}` is no number", cell.span, parents=cell.parents)


def add_labels(sheet: MeasurementSheet, labels: Mapping[str, Any]) -> MeasurementSheet:
    """The sheet with further columns, each with one value for all rows."""
    added = {name: parse_heading(name) for name in labels}
    taken = {item.name for item in added.values()}
    others = tuple(item for item in sheet.headings if item.name not in taken)
    rows = tuple(
        row | {item.name: Cell(labels[name], next(iter(row.values())).row) for name, item in added.items()}
        for row in sheet.rows
    )
    return MeasurementSheet((*added.values(), *others), rows, sheet.span, sheet.parts)
