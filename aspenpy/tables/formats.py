"""The formats of reports: text, JSON, and comma-separated values (RFC 4180 with plain line ends).

Numbers for programs are in base units. A format is one row of `FORMATS`, from which options and names of files derive.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from aspenpy.language.diagnostics import fail
from aspenpy.record import Record
from aspenpy.tables.numbers import Amount, plain_number
from aspenpy.tables.pages import render_text
from aspenpy.tables.table import Column, Report, Table


class Format(Record):
    """A format of results: its word after `--format`, the end of its files' names (empty where they may have any), the
    function that writes a report in it, and whether the text contains the report's diagnostics."""

    name: str
    suffix: str
    write: Callable[[Report], str]
    has_diagnostics: bool = False


def build_json(report: Report) -> dict[str, Any]:
    """Values and tables by their keys, and the `schema`; units of bare numbers are under `units`, by value, or by table
    and column."""
    keyed = [table for table in report.tables("json") if table.key]
    units: dict[str, Any] = dict(report.units)
    for table in keyed:
        units |= {table.key: of} if (of := _units_of_table(table)) else {}
    data: dict[str, Any] = {"schema": f"aspenpy/{report.schema}"}
    data |= {name: to_jsonable(value) for name, value in report.data.items()}
    data |= {table.key: rows_as_objects(table) for table in keyed}
    data |= {"units": units} if units else {}
    if report.diagnostics is not None:
        data["diagnostics"] = [item.to_json() for item in report.diagnostics]
    return data


def rows_as_objects(table: Table) -> list[dict[str, Any]]:
    """The rows as objects, with a cell under the name of each column."""
    return [
        {column.name: _cell_as_object(column, cell) for column, cell in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]


def _cell_as_object(column: Column, cell: Any) -> Any:
    return {"value": to_jsonable(cell), "unit": column.unit} if column.quantity else to_jsonable(cell)


def _units_of_table(table: Table) -> dict[str, str]:
    return {column.name: column.unit for column in table.columns if column.unit and not column.quantity}


def to_jsonable(value: Any) -> Any:
    """Numbers as JSON holds them, amounts with their units."""
    if isinstance(value, Amount):
        return {"value": plain_number(value.value), "unit": value.unit}
    if isinstance(value, dict):
        return {name: to_jsonable(item) for name, item in value.items()}
    return [to_jsonable(item) for item in value] if isinstance(value, list | tuple) else plain_number(value)


def write_csv(source: Report | Table) -> str:
    """The headers and the rows; behind each column of numbers in a unit stands that unit."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(zip(*_stack_columns(source), strict=True))
    return text.getvalue()


def build_dataframe(source: Report | Table) -> Any:
    """The columns of `write_csv` as a pandas DataFrame."""
    try:
        from pandas import DataFrame
    except ImportError:
        fail("missing-package", "a data frame needs pandas: pip install 'aspenpy[data]'")
    headers, *rows = zip(*_stack_columns(source), strict=True)
    return DataFrame(rows, columns=list(headers))


def _stack_columns(source: Report | Table) -> list[list[Any]]:
    """The columns of the main table, each below its header, with those of units."""
    table = source.select_columns("csv") if isinstance(source, Table) else next(iter(source.tables("csv")), None)
    if table is None:
        fail("no-table", "this result has no table of its own", hint="`to_json` has all of it")
    columns = enumerate(table.columns)
    return [stack for index, column in columns for stack in split_units(column, [row[index] for row in table.rows])]


def split_units(column: Column, cells: list[Any]) -> list[list[Any]]:
    """The column, and one with the unit of each cell if its numbers have any."""
    stack = [column.name, *map(plain_cell_value, cells)]
    if column.unit:
        return [stack, [f"{column.name}_unit", *(None if cell is None else column.unit for cell in cells)]]
    if any(isinstance(cell, Amount) for cell in cells):
        return [stack, [f"{column.name}_unit", *(getattr(cell, "unit", None) for cell in cells)]]
    return [stack]


def plain_cell_value(cell: Any) -> Any:
    if isinstance(cell, Amount):
        return plain_number(cell.value)
    return ", ".join(map(str, cell)) if isinstance(cell, list | tuple) else plain_number(cell)


def write_json(report: Report) -> str:
    import json

    return json.dumps(build_json(report), indent=2, allow_nan=False) + "\n"


FORMATS = {
    form.name: form
    for form in (
        Format("table", "", lambda report: render_text(report.page) + "\n"),
        Format("json", ".json", write_json, has_diagnostics=True),
        Format("csv", ".csv", write_csv),
    )
}
"""Formats by name; the first is the default."""
