"""What-ifs: the runtime as a line beside a baseline, values of expressions, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.shell.session.question import Question
from aspenpy.shell.session.state import State
from aspenpy.tables.numbers import Amount, seconds, setting, worth
from aspenpy.tables.table import Column, Page, Paragraph, Table, Title

MANY_TIMES = 10  # a change by more than this factor is told as a factor


def page(state: State) -> tuple[Title]:
    """`runtime 1.8 s, -22 % against baseline (2.31 s)`."""
    runtime = state.prediction.runtime
    if state.baseline is None:
        return (Title(f"runtime {seconds(runtime)}"),)
    before = state.baseline.prediction.runtime
    if runtime == before:
        return (Title(f"runtime {seconds(runtime)}, the same as the baseline"),)
    return (Title(f"runtime {seconds(runtime)}, {change(runtime, before)} baseline ({seconds(before)})"),)


def change(now: float, before: float) -> str:
    """`-22 % against`, `12.5 times the`."""
    if not before or now > MANY_TIMES * before > 0:
        return f"{now / before:.3g} times the" if before else "not as the"
    return f"{format_signed_percent(now / before - 1)} against"


def format_signed_percent(share: float) -> str:
    """`-22 %`, `+0.35 %`, in three digits."""
    return f"{100 * share:+.3g} %"


def values(asked: Sequence[tuple[Question, Question | None]]) -> Page:
    """Expressions with their values, and with the baseline's where any differs."""
    rows = []
    for question, before in asked:
        here = question.value
        there = None if before is None or before.value == here else before.value
        was = None if there is None or before is None else Amount(there, before.unit)
        rows.append((question.text, Amount(here, question.unit), was, _relative(here, there)))
    columns = (
        Column(""),
        Column("value", format_cell, "unit"),
        Column("baseline", format_cell, "unit"),
        Column("change", align="right"),
    )
    if any(row[2] is not None for row in rows):
        return (Table(columns, tuple(rows)),)
    return (Table((Column(""), Column("", format_cell, "unit")), tuple(row[:2] for row in rows)),)


def format_cell(cell: Amount) -> str:
    """`27.8 Gflop/s`, `0.0833 flop/B`; what has no unit as it could be given to `set`."""
    return f"{float(cell.value):.3g} {cell.unit}" if cell.unit == "flop/B" else worth(cell)


def _relative(here: Any, there: Any) -> str | None:
    """None for arrays, and where there is nothing to be in relation to."""
    if there is None or not there or isinstance(here, tuple) or isinstance(there, tuple):
        return None
    ratio = float(here) / float(there)
    return f"{ratio:.3g} times" if ratio > MANY_TIMES else format_signed_percent(ratio - 1)


def sweep_table(
    axes: Sequence[tuple[str, str]],
    questions: Sequence[Question],
    points: Sequence[tuple[Any, ...]],
    columns: Sequence[Sequence[Any]],
) -> Page:
    """A row for each point; where there is no value, the cell is empty, and it is said how many these are. `axes` are
    parameters with their units."""
    heads = (
        *(column(name, unit) if unit else Column(name, _axis_value, "right") for name, unit in axes),
        *(column(item.text, item.unit) for item in questions),
    )
    rows = tuple((*point, *values) for point, *values in zip(points, *columns, strict=True))
    missing = sum(value is None for column in columns for value in column)
    said = f"{missing} of {sum(map(len, columns))} values do not exist; a plot of one, or `set`, says why."
    return (Table(heads, rows), *([Paragraph(said)] if missing else []))


def column(header: str, unit: str) -> Column:
    """A column of values in a base unit."""
    return Column(header, lambda value: format_cell(Amount(value, unit)), "unit" if unit else "right")


def _axis_value(value: Any) -> str:
    return setting(value if isinstance(value, int) else float(f"{float(value):.6g}"))
