"""Rows: sheets made of what stands in lines that are not those of a plain table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Source, Span
from aspenpy.studies.empirical.sheet import Cell, Heading, Sheet, heading, place_of

Row = dict[str, Cell]
"""Cells by the header of their column: a name with its unit in brackets, if it has one."""

MISSING = ("", "-", "N/A", "[N/A]", "[Not Supported]", "[Insufficient Permissions]", "[Unknown Error]", "nan", "n/a")
"""How tools say that there is no value."""

THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")


def sheet_of_cells(rows: Iterable[Row], source: Source) -> Sheet:
    """The sheet of rows that need not have the same columns: where one has none nothing stands. Raises AspenError
    where there is no row."""
    found = list(rows)
    whole = Span(source, 0, len(source.text.partition("\n")[0]))
    if not found:
        fail("no-measurements", f"there are no measurements in `{source.name}`", whole)
    headers = list(dict.fromkeys(header for row in found for header in row))
    headings = {header: heading(header) for header in headers}
    _refuse_twins(list(headings.values()), whole)
    made = []
    for row in found:
        line = next(iter(row.values())).row
        made.append({headings[header].name: row.get(header, Cell("", line)) for header in headers})
    return Sheet(tuple(headings.values()), tuple(made), whole)


def _refuse_twins(headings: list[Heading], span: Span) -> None:
    """One name with two units is no column."""
    units: dict[str, str | None] = {}
    for item in headings:
        if item.name in units:
            hint = "measure both in one unit, or read them apart"
            first, second = units[item.name], item.unit
            fail("mixed-units", f"`{item.name}` is in {first} in some rows and in {second} in others", span, hint=hint)
        units[item.name] = item.unit


def known(cell: Cell) -> Cell:
    """The cell, blank where its tool says that there is no value; a thousands separator in quotes goes."""
    text = str(cell.value).strip()
    if text in MISSING:
        return cell._replace(value="")
    return cell._replace(value=text.replace(",", "") if THOUSANDS.fullmatch(text) else text)


def malformed(cells: list[Cell], what: str, hint: str) -> NoReturn:
    """Refuses a line, by file and place."""
    span = Span(place_of(cells[0]).source, place_of(cells[0]).start, place_of(cells[-1]).end)
    fail("bad-line", f"line {cells[0].row} {what}", span, hint=hint)


def whole_line(cells: list[Cell], *, least: int, what: str, hint: str) -> None:
    """Refuses a line with too few values."""
    if len(cells) < least:
        malformed(cells, f"is no {what}: it has {len(cells)} of {least} values", hint)


def number(cell: Cell) -> float | None:
    """The number in a cell; None where nothing stands. Raises AspenError for anything else."""
    text = str(known(cell).value)
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        fail("bad-value", f"`{text}` is no number", cell.span, parents=cell.parents)


def labelled(sheet: Sheet, labels: Mapping[str, Any]) -> Sheet:
    """The sheet with columns in which every row has the same."""
    added = {name: heading(name) for name in labels}
    taken = {item.name for item in added.values()}
    others = tuple(item for item in sheet.headings if item.name not in taken)
    rows = tuple(
        row | {item.name: Cell(labels[name], next(iter(row.values())).row) for name, item in added.items()}
        for row in sheet.rows
    )
    return Sheet((*added.values(), *others), rows, sheet.span)
