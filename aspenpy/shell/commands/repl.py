"""The command `aspenpy repl`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import user_folder
from aspenpy.shell.failure import FAILURE
from aspenpy.shell.operands import case_of_arguments
from aspenpy.shell.option import Arguments, Examples, command
from aspenpy.shell.options import MODEL, SEED, SETTINGS, machine
from aspenpy.shell.output import emit, report, show
from aspenpy.shell.session.conversation import Answer
from aspenpy.shell.session.session import Session, word_start
from aspenpy.shell.study_options import FAIL_FAST
from aspenpy.tables.table import Page, Table

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document


Completions = Callable[[str], list[str]]  # the words that could end a text


def lines(prompt: Callable[[], str], completions: Completions) -> Iterator[str]:
    """Lines typed behind a prompt, one by one, until the end of input. Ctrl-C gives an empty line."""
    ask = _make_prompt(completions) if find_spec("prompt_toolkit") else _read_typed_line
    while True:
        try:
            yield ask(prompt())
        except KeyboardInterrupt:
            yield ""
        except EOFError:
            return


def _history_file() -> str | None:
    """The file of lines for the next session; None where there cannot be one."""
    state = Path(user_folder("XDG_STATE_HOME", ".local/state")) / "aspenpy"
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        (state / "history").touch(mode=0o600)
    except OSError:
        return None
    return str(state / "history")


def _make_prompt(completions: Completions) -> Callable[[str], str]:
    from collections.abc import Iterable

    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class Names(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            before = document.text_before_cursor
            return [Completion(word, -word_start(before)) for word in completions(before)]

    file = _history_file()
    history = FileHistory(file) if file else InMemoryHistory()
    session: PromptSession[str] = PromptSession(history=history, completer=Names(), complete_while_typing=False)
    return session.prompt


def _read_typed_line(prompt: str) -> str:
    """The line that is typed; where it is broken off, the cursor stands behind it and goes to a line of its own."""
    try:
        return input(prompt)
    except (KeyboardInterrupt, EOFError):
        emit("")
        raise


EXAMPLES: Examples = (
    ("what if it were twice as large?", "echo 'set nx=2*nx' | aspenpy repl comd --machine haswell"),
    ("where is the second reached?", "echo 'solve runtime = 1 for steps' | aspenpy repl comd --machine haswell"),
    ("what can be asked", "echo help | aspenpy repl stream --machine simple"),
)

OPTIONS = (MODEL, machine(required=True), *SETTINGS, FAIL_FAST.adapt(" in a script"), SEED)


@command(
    "repl",
    "compare",
    "Ask what-if questions line by line, compared with a baseline",
    OPTIONS,
    EXAMPLES,
    interactive=True,
)
def run_repl(arguments: Arguments) -> int:
    session = Session(case_of_arguments(arguments))
    report(session.prediction.diagnostics)
    if sys.stdin is not None and sys.stdin.isatty():
        _talk(session)
        return 0
    return _follow(session, arguments.fail_fast)


def _talk(session: Session) -> None:
    """Line by line with somebody at a terminal, who is told of a mistake and goes on."""
    state = session.state
    hint = "`help` lists the commands, `quit` ends"
    emit(f"{state.application.name} on {state.required_machine.name}: {state.kernel}; {hint}")
    _print_answer(session("show runtime"))
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
            _print_answer(answer)
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
        _print_answer(answer)
        if answer.page:
            begun, behind_table = True, is_table
        if answer.ended:
            break
    return status


def _print_answer(answer: Answer) -> None:
    report(answer.warnings)
    page: Page = answer.page
    if page:
        show(page)
