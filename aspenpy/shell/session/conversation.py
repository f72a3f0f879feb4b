"""Conversation: the states of a session one after the other, each of which can be undone, and what a line is answered
with."""

from __future__ import annotations

from typing import Unpack

from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.prediction import Prediction
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, render
from aspenpy.language.parser import parse_value
from aspenpy.language.source import Source, Span, trim_span
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.shell.session import whatif
from aspenpy.shell.session.state import History, State, Step
from aspenpy.tables.pages import render_diagnostics_html, render_html, render_text
from aspenpy.tables.table import Page


class Answer(Record):
    """What a line is answered with, warnings besides, and whether the session ends with it."""

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
        first = State(**{name: getattr(case, name) for name in Case._fields} | {"set": settings, "names": {}})
        first = first.changed(socket=first.prediction.socket)
        first = first.changed(baseline=first)
        self.history = History((Step("", first),))

    @property
    def state(self) -> State:
        """What was chosen and set."""
        return self.history.now

    @property
    def prediction(self) -> Prediction:
        """What is predicted now."""
        return self.state.prediction

    def change(self, line: Span, state: State) -> Answer:
        """Goes on to another state, unless it has no prediction, and says how it compares with the baseline."""
        known = set(map(str, self.prediction.diagnostics))
        page = whatif.page(state)
        warnings = tuple(item for item in drop_repeats(state.prediction.diagnostics) if str(item) not in known)
        self.history = self.history.step(whole_line(line), state)
        return Answer(page, warnings)


def whole_line(part: Span) -> str:
    """The line that something stands in, in one space between its words."""
    source: Source = part.source
    return " ".join(trim_span(Span(source, 0, part.end)).text().split())
