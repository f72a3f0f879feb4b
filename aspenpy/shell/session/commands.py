"""The commands of a session: what each is called, takes, answers, and which words complete it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from aspenpy.language.diagnostics import fail, nearest
from aspenpy.language.source import Span
from aspenpy.record import Record
from aspenpy.shell.session import changes, questions
from aspenpy.shell.session.conversation import Answer, Conversation
from aspenpy.tables.table import Column, Paragraph, Table, Title

Words = Literal["names", "parameters", "settings", "machines", "sockets", "kernels", "resources", "commands", "nothing"]
"""Which words may stand behind a command."""


class Command(Record):
    """What it is for, how it is written with an example, and the function that answers what stands behind it."""

    purpose: str
    usage: str
    example: str
    run: Callable[[Conversation, Span], Answer]
    completed_by: Words = "names"


def help_(session: Conversation, rest: Span) -> Answer:
    """Lists the commands, or tells one."""
    name = rest.text()
    if not name:
        rows = tuple((word, item.purpose) for word, item in COMMANDS.items())
        hint = "`help COMMAND` says more. An expression may name parameters, and runtime, flops, bytes, ..."
        return Answer((Table((Column(""), Column("", wrapped=True)), rows), Paragraph(hint)))
    if name not in COMMANDS:
        fail("unknown-command", f"there is no command `{name}`", rest, hint=nearest(name, COMMANDS))
    item = COMMANDS[name]
    facts = (("written", item.usage), ("such as", item.example))
    return Answer((Title(f"{name}: {item.purpose}"), Table((Column(""), Column("", wrapped=True)), facts)))


def quit_(session: Conversation, rest: Span) -> Answer:
    """Ends the session."""
    return Answer(ended=True)


COMMANDS: dict[str, Command] = {
    "set": Command("gives parameters other values", changes.SET, "set n=2*n, m=1e6", changes.set_, "names"),
    "unset": Command(
        "gives parameters the values of the models again", changes.UNSET, "unset n", changes.unset, "settings"
    ),
    "let": Command("defines a name for the lines behind", changes.LET, "let rate = flops/runtime", changes.let),
    "free": Command(
        "chooses the parameters that formulas keep", "free NAME, ...", "free n", changes.free, "parameters"
    ),
    "machine": Command("goes to another machine", changes.MACHINE, "machine haswell", changes.machine, "machines"),
    "socket": Command("goes to another kind of socket", "socket S", "socket nvidia_m2090", changes.socket, "sockets"),
    "kernel": Command("predicts another kernel", "kernel K", "kernel main", changes.kernel, "kernels"),
    "baseline": Command(
        "compares with what is predicted now, from here on", "baseline", "baseline", changes.baseline, "nothing"
    ),
    "undo": Command("takes the last change back", "undo", "undo", changes.undo, "nothing"),
    "redo": Command("makes it again", "redo", "redo", changes.redo, "nothing"),
    "history": Command("lists the changes", "history", "history", changes.history, "nothing"),
    "show": Command(
        "the prediction, or values of expressions", "show [EXPR, ...]", "show flops/runtime, n", questions.show
    ),
    "expr": Command("a formula in the free parameters", "expr [EXPR]", "expr flops/bytes", questions.expr),
    "diff": Command("the derivative by a parameter", "diff [EXPR by] NAME", "diff n", questions.diff),
    "solve": Command(
        "where an equation holds", "solve EXPR = EXPR for NAME[=LOW..HIGH]", "solve runtime = 1 for n", questions.solve
    ),
    "plot": Command(
        "a curve over a parameter", "plot [EXPR over] NAME[=LOW..HIGH]", "plot n=1..1e6:log", questions.plot
    ),
    "sweep": Command(
        "a table of values over parameters",
        "sweep [EXPR, ... over] NAME[=LOW..HIGH], ...",
        "sweep runtime, flops over n=1..10:whole",
        questions.sweep,
    ),
    "compare": Command(
        "this machine beside others", questions.COMPARE, "compare haswell over n=1..1e6", questions.compare, "machines"
    ),
    "explain": Command(
        "the chain behind the runtime", "explain [KERNEL]", "explain main", questions.explain, "kernels"
    ),
    "profile": Command("where the time goes", "profile [calls]", "profile", questions.profile, "nothing"),
    "count": Command("how much is asked for", "count [RESOURCE]", "count flops", questions.count, "resources"),
    "help": Command(
        "says this; behind it a command, what that one takes", "help [COMMAND]", "help solve", help_, "commands"
    ),
    "quit": Command("ends the session", "quit", "quit", quit_, "nothing"),
}
