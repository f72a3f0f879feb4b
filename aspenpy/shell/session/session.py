"""Session: what-ifs one after the other, beside a baseline; each can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.prediction import Prediction
from aspenpy.language.diagnostics import AspenError, Diagnostic, distinct, fail, nearest
from aspenpy.language.source import Source, Span, trimmed
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.shell.session.line import first_word, placed, typed
from aspenpy.shell.session.state import History, State, Step
from aspenpy.tables.table import Page

if TYPE_CHECKING:
    from aspenpy.shell.session.commands import Command


class Answer(Record):
    """What a line is answered with, warnings besides, and whether the session ends with it."""

    page: Page = ()
    warnings: tuple[Diagnostic, ...] = ()
    ended: bool = False

    def __str__(self) -> str:
        from aspenpy.language.diagnostics import render
        from aspenpy.tables.text import as_text

        return "\n\n".join(part for part in (render(self.warnings), as_text(self.page)) if part)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from aspenpy.tables.html import as_html, report_as_html

        return report_as_html(self.warnings) + as_html(self.page)


class Session:
    """A kernel of an application on a machine, and lines that change it or ask about it.

    `session("set n = 2*k")` answers as `aspenpy repl` does; `session.prediction` is what is predicted now. A line that
    is refused raises AspenError and changes nothing.
    """

    def __init__(self, app: Application | Case, machine: Machine | None = None, **options: Unpack[CaseOptions]) -> None:
        from aspenpy.language.parser import parse_value

        case = case_of(app, machine, options)
        settings = {name: parse_value(str(text), f"<{name}>") for name, text in case.set.items()}
        first = State(**{name: getattr(case, name) for name in Case._fields} | {"set": settings, "names": {}})
        first = first.changed(socket=first.prediction.socket)
        first = first.changed(baseline=first)
        self.history = History((Step("", first),))
        self._lines = 0

    @property
    def state(self) -> State:
        """What was chosen and set."""
        return self.history.now

    @property
    def prediction(self) -> Prediction:
        """What is predicted now."""
        return self.state.prediction

    def __call__(self, text: str, name: str = "<input>", number: int | None = None) -> Answer:
        """The answer to a line; `name` and `number` say in reports where it stands. Raises AspenError."""
        self._lines += 1
        line = typed(text, name, number or self._lines)
        if not line.text():
            return Answer()
        word, rest = first_word(line)
        try:
            return command(word).run(self, rest)
        except AspenError as error:
            raise placed(error, rest if rest.text() else word) from None

    def change(self, line: Span, state: State) -> Answer:
        """Goes on to another state, unless it has no prediction, and says how it compares with the baseline."""
        from aspenpy.shell.session.whatif import page

        known = set(map(str, self.prediction.diagnostics))
        found = page(state)
        warnings = tuple(item for item in distinct(state.prediction.diagnostics) if str(item) not in known)
        self.history = self.history.step(whole_line(line), state)
        return Answer(found, warnings)

    def completions(self, before: str) -> list[str]:
        """The words that could stand in the place of the one that ends the text."""
        from aspenpy.shell.session.completion import completions

        return completions(self.state, before)


def command(word: Span) -> Command:
    """The command of that name."""
    from aspenpy.shell.session.commands import COMMANDS

    name = word.text()
    if name not in COMMANDS:
        fail("unknown-command", f"there is no command `{name}`", word, hint=_instead(name))
    return COMMANDS[name]


def _instead(name: str) -> str:
    from aspenpy.shell.session.commands import COMMANDS

    if name.startswith("#"):
        return "comments begin with `//`"
    return nearest(name, COMMANDS) or "`help` lists the commands; `show` gives the value of an expression"


def whole_line(part: Span) -> str:
    """The line that something stands in, in one space between its words."""
    source: Source = part.source
    return " ".join(trimmed(Span(source, 0, part.end)).text().split())
