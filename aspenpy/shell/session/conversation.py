"""Conversation: the states of a session one after the other, each of which can be undone, and what a line is answered
with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.prediction import Prediction
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, render
from aspenpy.language.parser import parse_value
from aspenpy.language.source import Source, Span, trim_span
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.shell.session.question import Question
from aspenpy.shell.session.state import HistoryEntry, SessionHistory, SessionState
from aspenpy.tables.numbers import Amount, format_setting, format_setting_with_unit, seconds
from aspenpy.tables.pages import render_diagnostics_html, render_html, render_text
from aspenpy.tables.table import Column, Page, Paragraph, Table, Title

MANY_TIMES = 10  # a change by more than this factor is told as a factor


def runtime_line(state: SessionState) -> tuple[Title]:
    """`runtime 1.8 s, -22 % against baseline (2.31 s)`."""
    runtime = state.prediction.runtime
    if state.baseline is None:
        return (Title(f"runtime {seconds(runtime)}"),)
    before = state.baseline.prediction.runtime
    if runtime == before:
        return (Title(f"runtime {seconds(runtime)}, the same as the baseline"),)
    return (Title(f"runtime {seconds(runtime)}, {relation_in_words(runtime, before)} baseline ({seconds(before)})"),)


def relation_in_words(now: float, before: float) -> str:
    """`-22 % against`, `12.5 times the`."""
    if not before or now > MANY_TIMES * before > 0:
        return f"{_format_times(now / before)} the" if before else "not as the"
    return f"{format_signed_percent(now / before - 1)} against"


def _format_times(ratio: float) -> str:
    """`12.5 times`, `7,158 times`."""
    return f"{ratio:,.0f} times" if ratio >= 1000 else f"{ratio:.3g} times"


def format_signed_percent(share: float) -> str:
    """`-22 %`, `+0.35 %`, in three digits."""
    return f"{100 * share:+.3g} %"


def value_table(asked: Sequence[tuple[Question, Question | None]]) -> Page:
    """Expressions with their values, and with the baseline's where any differs."""
    rows = []
    for question, before in asked:
        here = question.value
        there = None if before is None or before.value == here else before.value
        was = None if there is None or before is None else Amount(there, before.unit)
        rows.append((question.text, Amount(here, question.unit), was, _format_relative(here, there)))
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
    return f"{float(cell.value):.3g} {cell.unit}" if cell.unit == "flop/B" else format_setting_with_unit(cell)


def _format_relative(here: Any, there: Any) -> str | None:
    """A value in relation to the baseline; None for arrays, and without a baseline."""
    if there is None or not there or isinstance(here, tuple) or isinstance(there, tuple):
        return None
    ratio = float(here) / float(there)
    return _format_times(ratio) if ratio > MANY_TIMES else format_signed_percent(ratio - 1)


def sweep_table(
    axes: Sequence[tuple[str, str]],
    questions: Sequence[Question],
    points: Sequence[tuple[Any, ...]],
    columns: Sequence[Sequence[Any]],
) -> Page:
    """A row for each point; where there is no value, the cell is empty, and it is said how many these are. `axes` are
    parameters with their units."""
    heads = (
        *(column(name, unit) if unit else Column(name, _format_axis_value, "right") for name, unit in axes),
        *(column(item.text, item.unit) for item in questions),
    )
    rows = tuple((*point, *values) for point, *values in zip(points, *columns, strict=True))
    missing = sum(value is None for column in columns for value in column)
    said = f"{missing} of {sum(map(len, columns))} values do not exist; a plot of one, or `set`, says why."
    return (Table(heads, rows), *([Paragraph(said)] if missing else []))


def column(header: str, unit: str) -> Column:
    """A column of values in a base unit."""
    return Column(header, lambda value: format_cell(Amount(value, unit)), "unit" if unit else "right")


def _format_axis_value(value: Any) -> str:
    return format_setting(value if isinstance(value, int) else float(f"{float(value):.6g}"))


class Answer(Record):
    """The answer to a line, with its warnings, and whether the session ends with it."""

    page: Page = ()
    warnings: tuple[Diagnostic, ...] = ()
    ended: bool = False

    def __str__(self) -> str:
        return "\n\n".join(part for part in (render(self.warnings), render_text(self.page)) if part)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return render_diagnostics_html(self.warnings) + render_html(self.page)


class Conversation:
    """A kernel of an application on a machine, what was set, and the baseline beside it: what commands work on."""

    def __init__(self, app: Application | Case, machine: Machine | None = None, **options: Unpack[CaseOptions]) -> None:
        case = case_of(app, machine, options)
        settings = {name: parse_value(str(text), f"<{name}>") for name, text in case.set.items()}
        first = SessionState(**{name: getattr(case, name) for name in Case._fields} | {"set": settings, "names": {}})
        first = first.changed(socket=first.prediction.socket)
        first = first.changed(baseline=first)
        self.history = SessionHistory((HistoryEntry("", first),))

    @property
    def state(self) -> SessionState:
        """The choices and settings of the session."""
        return self.history.current

    @property
    def prediction(self) -> Prediction:
        """The current prediction."""
        return self.state.prediction

    def change(self, line: Span, state: SessionState) -> Answer:
        """Goes on to another state, unless it has no prediction, and says how it compares with the baseline."""
        known = set(map(str, self.prediction.diagnostics))
        page = runtime_line(state)
        warnings = tuple(item for item in drop_repeats(state.prediction.diagnostics) if str(item) not in known)
        self.history = self.history.step(whole_line(line), state)
        return Answer(page, warnings)


def whole_line(part: Span) -> str:
    """The line that something stands in, in one space between its words."""
    source: Source = part.source
    return " ".join(trim_span(Span(source, 0, part.end)).text().split())
