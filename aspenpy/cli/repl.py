"""`aspenpy repl`: ask what-if questions line by line, compared with a baseline."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from aspenpy.cli.entry import only_entry
from aspenpy.cli.output import emit, report, show
from aspenpy.cli.parser import Examples, add_machine, add_model, add_settings, settings_of
from aspenpy.cli.prompt import lines
from aspenpy.diagnostics import AspenError
from aspenpy.library import load_application, load_machine
from aspenpy.scope import DEFAULT_SEED
from aspenpy.session.session import Answer, Session
from aspenpy.tables.table import Page, Table

EXAMPLES: Examples = (
    ("what if it were twice as large?", "echo 'set nx=2*nx' | aspenpy repl comd --machine haswell"),
    ("where is the second reached?", "echo 'solve runtime = 1 for steps' | aspenpy repl comd --machine haswell"),
    ("what can be asked", "echo help | aspenpy repl stream --machine simple"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=True)
    add_settings(parser)
    parser.add_argument(
        "--seed", metavar="N", type=int, default=DEFAULT_SEED, help=f"of random draws (default: {DEFAULT_SEED})"
    )


def run(arguments: Namespace) -> int:
    application = load_application(arguments.model, allow_outside=arguments.allow_outside)
    session = Session(
        application,
        load_machine(arguments.machine, allow_outside=arguments.allow_outside),
        socket=arguments.socket,
        kernel=only_entry(application, arguments.kernel),
        set=settings_of(arguments),
        seed=arguments.seed,
        overlap=arguments.par == "overlap",
    )
    report(session.prediction.diagnostics)
    if sys.stdin is not None and sys.stdin.isatty():
        _converse(session)
    else:
        _follow(session)
    return 0


def _converse(session: Session) -> None:
    """Line by line with somebody at a terminal, who is told of a mistake and goes on."""
    state = session.state
    hint = "`help` lists the commands, `quit` ends"
    emit(f"{state.application.name} on {state.machine.name}: {state.kernel}; {hint}")
    _say(session("show runtime"))
    for text in lines(
        lambda: f"{session.state.application.name} on {session.state.machine.name}> ", session.completions
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


def _follow(session: Session) -> None:
    """The lines of standard input; the first mistake ends the command."""
    begun = behind_table = False
    for number, text in enumerate(sys.stdin or (), 1):
        answer = session(text.rstrip("\n"), "<stdin>", number)
        is_table = len(answer.page) > 1 or any(isinstance(part, Table) for part in answer.page)
        if begun and answer.page and (behind_table or is_table):
            emit("")
        _say(answer)
        if answer.page:
            begun, behind_table = True, is_table
        if answer.ended:
            return


def _say(answer: Answer) -> None:
    report(answer.warnings)
    page: Page = answer.page
    if page:
        show(page)
