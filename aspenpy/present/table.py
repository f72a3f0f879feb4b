"""Table: columns and rows, before anyone draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from aspenpy.record import Record

Align = Literal["left", "right", "unit"]
"""`unit` puts the numbers under each other and the units behind them."""


class Column(Record):
    """A column: its header, how a cell is read out, and where that stands. Only what is `wrapped` may take
    more than one line on a narrow terminal."""

    header: str
    show: Callable[[Any], str] = str
    align: Align = "left"
    wrapped: bool = False


class Table(Record):
    """Rows of raw values, as many as there are columns; None is a cell with nothing in it. Rows whose number is in
    `marked` stand out. Facts are a table without headers."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    marked: frozenset[int] = frozenset()
    title: str = ""

    @property
    def has_headers(self) -> bool:
        return any(column.header for column in self.columns)

    def texts(self) -> list[list[str]]:
        """What the cells say, row by row."""
        return [
            ["" if cell is None else column.show(cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]
