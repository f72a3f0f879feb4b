"""Session: what-ifs one after the other, beside a baseline; each can be undone."""

from __future__ import annotations

from collections.abc import Iterable

from aspenpy.allowance import separate_allowance
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.shell.prompt import word_start
from aspenpy.shell.session.commands import COMMANDS
from aspenpy.shell.session.conversation import Answer, Conversation
from aspenpy.shell.session.line import first_word, place_errors, read_line


class Session(Conversation):
    """A kernel of an application on a machine, and lines that change it or ask about it.

    `session("set n = 2*k")` answers as `aspenpy repl` does; `session.prediction` is what is predicted now. A line that
    is refused raises AspenError and changes nothing.
    """

    _lines = 0

    def __call__(self, text: str, name: str = "<input>", number: int | None = None) -> Answer:
        """The answer to a line; `name` and `number` say in reports where it stands. Raises AspenError."""
        self._lines += 1
        line = read_line(text, name, number or self._lines)
        if not line.text():
            return Answer()
        word, rest = first_word(line)
        command = COMMANDS.get(word.text())
        if command is None:
            fail("unknown-command", f"there is no command `{word.text()}`", word, hint=_instead(word.text()))
        with place_errors(rest if rest.text() else word), separate_allowance():
            return command.run(self, rest)

    def completions(self, before: str) -> list[str]:
        """The words that could stand in the place of the one that ends the text, sorted: commands in the first place,
        behind one what belongs there."""
        beginning = before[len(before) - word_start(before) :]
        first, *rest = before.lstrip().split(maxsplit=1)[:2] or [""]
        known: Iterable[str] = ()
        if not rest and not before[-1:].isspace():
            known = COMMANDS
        elif first in COMMANDS:
            known = COMMANDS[first].completed_by(self.state)
        return sorted({word for word in known if word.startswith(beginning)})


def _instead(name: str) -> str:
    if name.startswith("#"):
        return "comments begin with `//`"
    return suggest_nearest(name, COMMANDS) or "`help` lists the commands; `show` gives the value of an expression"
