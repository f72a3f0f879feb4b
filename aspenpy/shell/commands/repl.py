"""`aspenpy repl`: ask what-if questions line by line, compared with a baseline."""

from __future__ import annotations

import sys

from aspenpy.language.diagnostics import AspenError
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import FAILURE
from aspenpy.shell.option import Arguments, Examples
from aspenpy.shell.options import MODEL, SEED, SETTINGS, machine
from aspenpy.shell.output import emit, report, show
from aspenpy.shell.prompt import lines
from aspenpy.shell.session.conversation import Answer
from aspenpy.shell.session.session import Session
from aspenpy.shell.study_options import FAIL_FAST
from aspenpy.tables.table import Page, Table

EXAMPLES: Examples = (
    ("what if it were twice as large?", "echo 'set nx=2*nx' | aspenpy repl comd --machine haswell"),
    ("where is the second reached?", "echo 'solve runtime = 1 for steps' | aspenpy repl comd --machine haswell"),
    ("what can be asked", "echo help | aspenpy repl stream --machine simple"),
)

OPTIONS = (
    MODEL,
    machine(required=True),
    *SETTINGS,
    FAIL_FAST.here(" in a script"),
    SEED,
)


def run(arguments: Arguments) -> int:
    session = Session(case_of_arguments(arguments))
    report(session.prediction.diagnostics)
    if sys.stdin is not None and sys.stdin.isatty():
        _converse(session)
        return 0
    return _follow(session, arguments.fail_fast)


def _converse(session: Session) -> None:
    """Line by line with somebody at a terminal, who is told of a mistake and goes on."""
    state = session.state
    hint = "`help` lists the commands, `quit` ends"
    emit(f"{state.application.name} on {state.required_machine.name}: {state.kernel}; {hint}")
    _say(session("show runtime"))
    for text in lines(
        lambda: f"{session.state.application.name} on {session.state.required_machine.name}> ", session.completions
    ):
        try:
            answer = session(text)
        except AspenError as error:
            report(error.diagnostics)
        except KeyboardInterrupt:
            emit("interrupted")
        else:
            _say(answer)
            if answer.ended:
                return


def _follow(session: Session, fail_fast: bool) -> int:
    """The lines of standard input, and the exit status: a mistake is reported, and the lines behind it are answered
    unless `fail_fast`."""
    begun = behind_table = False
    status = 0
    for number, text in enumerate(sys.stdin or (), 1):
        try:
            answer = session(text.rstrip("\n"), "<stdin>", number)
        except AspenError as error:
            report(error.diagnostics)
            status = FAILURE
            if fail_fast:
                break
            continue
        is_table = len(answer.page) > 1 or any(isinstance(part, Table) for part in answer.page)
        if begun and answer.page and (behind_table or is_table):
            emit("")
        _say(answer)
        if answer.page:
            begun, behind_table = True, is_table
        if answer.ended:
            break
    return status


def _say(answer: Answer) -> None:
    report(answer.warnings)
    page: Page = answer.page
    if page:
        show(page)
