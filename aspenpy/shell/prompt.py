"""Prompt: lines that somebody types at a terminal, with a history and completed names.

prompt_toolkit edits them where it is installed (`pip install 'aspenpy[repl]'`); without it they are read as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from aspenpy.language.files import user_folder
from aspenpy.shell.output import emit

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document

Completions = Callable[[str], list[str]]  # the words that could end a text


def lines(prompt: Callable[[], str], completions: Completions) -> Iterator[str]:
    """What is typed behind a prompt, line by line, until the end of input. Ctrl-C gives an empty line."""
    ask = _with_prompt_toolkit(completions) if find_spec("prompt_toolkit") else _read_typed_line
    while True:
        try:
            yield ask(prompt())
        except KeyboardInterrupt:
            yield ""
        except EOFError:
            return


def _history_file() -> str | None:
    """Where lines are kept for the next time; None where nothing can be."""
    state = Path(user_folder("XDG_STATE_HOME", ".local/state")) / "aspenpy"
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        (state / "history").touch(mode=0o600)
    except OSError:
        return None
    return str(state / "history")


def _with_prompt_toolkit(completions: Completions) -> Callable[[str], str]:
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


def word_start(before: str) -> int:
    """How many characters of the word at the end of a text are there; commands alone have hyphens in their names."""
    within = "_.:" if " " in before.lstrip() else "_.:-"
    ends = (place + 1 for place, char in enumerate(before) if not (char.isalnum() or char in within))
    return len(before) - max(ends, default=0)


def _read_typed_line(prompt: str) -> str:
    """What is typed; where it is broken off, the cursor stands behind it and goes to a line of its own."""
    try:
        return input(prompt)
    except (KeyboardInterrupt, EOFError):
        emit("")
        raise
