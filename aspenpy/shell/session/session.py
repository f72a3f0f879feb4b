"""Session: what-ifs one after the other, beside a baseline; each can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspenpy.allowance import separate_allowance
from aspenpy.cost.placement_options import NODE_RULES
from aspenpy.language.diagnostics import AspenError, fail, suggest_nearest
from aspenpy.language.source import Span
from aspenpy.models.library import library_names as library_names
from aspenpy.record import Record
from aspenpy.shell.option import Option
from aspenpy.shell.options import RANKS
from aspenpy.shell.session import changes, questions
from aspenpy.shell.session.conversation import Answer, Conversation
from aspenpy.shell.session.question import first_word, metrics_of, place_errors, read_line, split_statements
from aspenpy.shell.session.state import SessionState
from aspenpy.tables.table import Column, Paragraph, Table, Title


class SessionCommand(Record):
    """A command: its purpose, the function that answers it, how it is written (without, by its name alone), an example
    (without, as it is written), and the words that complete it."""

    purpose: str
    run: Callable[[Conversation, Span], Answer]
    usage: str = ""
    example: str = ""
    completed_by: Callable[[SessionState], Iterable[str]] = lambda state: ()


def print_help(session: Conversation, rest: Span) -> Answer:
    """Lists the commands, or tells one."""
    name = rest.text()
    if not name:
        rows = tuple((word, item.purpose) for word, item in COMMANDS.items())
        hint = "`help COMMAND` says more. An expression may name parameters, and runtime, flops, bytes, ..."
        return Answer((Table((Column(""), Column("", wrapped=True)), rows), Paragraph(hint)))
    if name not in COMMANDS:
        fail("unknown-command", f"there is no command `{name}`", rest, hint=suggest_nearest(name, COMMANDS))
    item = COMMANDS[name]
    usage = item.usage or name
    rows = (("written", usage), ("such as", item.example or usage))
    return Answer((Title(f"{name}: {item.purpose}"), Table((Column(""), Column("", wrapped=True)), rows)))


def end_session(session: Conversation, rest: Span) -> Answer:
    """Ends the session."""
    return Answer(ended=True)


# -- the words that may stand behind a command -----------------------------------------------------


def names(state: SessionState) -> list[str]:
    members = [member for enum in state.application.enums.values() for member in enum.members]
    return [*parameters(state), *state.names, *metrics_of(state.prediction), *members]


def parameters(state: SessionState) -> list[str]:
    """Names of parameters. A name that both models have means the application's."""
    scope = state.prediction.scope
    known = scope.names()
    plain = [name if known.count(name) == 1 else f"app:{name}" for name in known]
    return [scope.display_name(scope.symbol(name)) for name in plain]


def components(state: SessionState) -> list[str]:
    """The types and names of what a rank can occupy."""
    parts = [place.component for place in state.required_machine.first_places(state.socket)]
    return [word for component in parts for word in (component.type, component.name)]


def _command_of(item: Option) -> tuple[str, SessionCommand]:
    """The command that places ranks as an option of the shell does; by itself, as its default says."""
    name, words = item.names[0].lstrip("-"), item.more.get("choices", ())
    example, completed_by = EXAMPLES.get(name, (words[-1] if words else "2", lambda state: words))
    return name, SessionCommand(
        item.help, changes.placement(item), changes.usage(item), f"{name} {example}", completed_by
    )


EXAMPLES: dict[str, tuple[str, Callable[[SessionState], Iterable[str]]]] = {
    "bind": ("socket", components),
    "distribution": ("cyclic", lambda state: NODE_RULES),
}
"""A word behind those commands that take others than their options list, and the words that complete them."""

COMMANDS: dict[str, SessionCommand] = {
    "set": SessionCommand("gives parameters other values", changes.set_, changes.SET, "set n=2*n, m=1e6", names),
    "unset": SessionCommand("gives parameters the values of the models again", changes.unset,
                            changes.UNSET, "unset n", lambda state: state.set),
    "let": SessionCommand("defines a name for the lines behind", changes.let,
                          changes.LET, "let rate = flops/runtime", names),
    "free": SessionCommand("chooses the parameters that formulas keep", changes.free,
                           "free NAME, ...", "free n", parameters),
    "machine": SessionCommand("goes to another machine", changes.machine,
                              changes.MACHINE, "machine haswell", lambda state: library_names("machines")),
    "socket": SessionCommand("goes to another kind of socket", changes.socket,
                             "socket S", "socket nvidia_m2090", lambda state: state.required_machine.sockets),
    **dict(_command_of(item) for item in RANKS),
    "kernel": SessionCommand("predicts another kernel", changes.kernel,
                             "kernel K", "kernel main", lambda state: state.application.kernels),
    "baseline": SessionCommand("compares with what is predicted now, from here on", changes.baseline),
    "undo": SessionCommand("takes the last change back", changes.undo),
    "redo": SessionCommand("makes it again", changes.redo),
    "history": SessionCommand("lists the changes", changes.history),
    "show": SessionCommand("the prediction, or values of expressions", questions.show,
                           "show [EXPR, ...]", "show flops/runtime, n", names),
    "expr": SessionCommand("a formula in the free parameters", questions.expr,
                           "expr [EXPR]", "expr flops/bytes", names),
    "diff": SessionCommand("the derivative by a parameter", questions.diff, "diff [EXPR by] NAME", "diff n", names),
    "solve": SessionCommand("where an equation holds", questions.solve,
                            "solve EXPR = EXPR for NAME[=LOW..HIGH]", "solve runtime = 1 for n", names),
    "plot": SessionCommand("a curve over a parameter", questions.plot,
                           "plot [EXPR over] NAME[=LOW..HIGH]", "plot n=1..1e6:log", names),
    "sweep": SessionCommand("a table of values over parameters", questions.sweep,
                            "sweep [EXPR, ... over] NAME[=LOW..HIGH], ...",
                            "sweep runtime, flops over n=1..10:whole", names),
    "compare": SessionCommand("this machine beside others", questions.compare,
                              questions.COMPARE, "compare haswell over n=1..1e6",
                              lambda state: library_names("machines")),
    "explain": SessionCommand("the chain behind the runtime", questions.explain,
                              "explain [KERNEL]", "explain main", lambda state: state.application.kernels),
    "profile": SessionCommand("where the time goes", questions.profile, "profile [calls]", "profile"),
    "count": SessionCommand("how much is asked for", questions.count,
                            "count [RESOURCE]", "count flops", lambda state: state.prediction.resources),
    "help": SessionCommand("says this; behind it a command, what that one takes", print_help,
                           "help [COMMAND]", "help solve", lambda state: COMMANDS),
    "quit": SessionCommand("ends the session", end_session),
}  # fmt: skip


def word_start(before: str) -> int:
    """The length of the unfinished word at the end of a text; only commands have hyphens in their names."""
    within = "_.:" if " " in before.lstrip() else "_.:-"
    ends = (place + 1 for place, char in enumerate(before) if not (char.isalnum() or char in within))
    return len(before) - max(ends, default=0)


class Session(Conversation):
    """A kernel of an application on a machine, and lines that change it or ask about it.

    `session("set n = 2*k")` answers as `aspenpy repl` does; `session.prediction` is what is predicted now. A line that
    is refused raises AspenError and changes nothing.
    """

    _lines = 0

    def __call__(self, text: str, name: str = "<input>", number: int | None = None) -> Answer:
        """The answer to a line of statements between `;`; `name` and `number` say in reports where it stands. Raises
        AspenError, and changes nothing, where one of them is refused."""
        self._lines += 1
        before, answers = self.history, []
        for statement in split_statements(text):
            try:
                answers.append(self._answer(read_line(statement, name, number or self._lines)))
            except AspenError:
                self.history = before
                raise
            if answers[-1].ended:
                break
        page = tuple(part for answer in answers for part in answer.page)
        warnings = tuple(warning for answer in answers for warning in answer.warnings)
        return Answer(page, warnings, ended=answers[-1].ended)

    def _answer(self, line: Span) -> Answer:
        """The answer to one statement."""
        if not line.text():
            return Answer()
        word, rest = first_word(line)
        command = COMMANDS.get(word.text())
        if command is None:
            fail("unknown-command", f"there is no command `{word.text()}`", word, hint=_suggest_command(word.text()))
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


def _suggest_command(name: str) -> str:
    if name.startswith("#"):
        return "comments begin with `//`"
    return suggest_nearest(name, COMMANDS) or "`help` lists the commands; `show` gives the value of an expression"
