"""Writing: to standard output and standard error, to terminals and to pipes, and what may go wrong with it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from io import StringIO
from typing import TYPE_CHECKING, Any, TextIO

from aspenpy.language.diagnostics import Diagnostic, render, warning
from aspenpy.language.files import STANDARD_OUTPUT, replace_file, require_writable, write_whole
from aspenpy.shell.failure import ClosedPipe, CommandError, refuse_unwritable
from aspenpy.shell.option import Arguments
from aspenpy.tables.document import Picture, document_of, write_html, write_markdown
from aspenpy.tables.drawing import use_style
from aspenpy.tables.formats import FORMATS
from aspenpy.tables.pages import WITHOUT_UNICODE, render_text
from aspenpy.tables.table import Page, Report

if TYPE_CHECKING:
    from pathlib import Path

SUFFIXES = (".svg", ".png", ".pdf")


def require_drawable(path: str) -> None:
    """Refuses a picture that could not be drawn, before what it shows is worked out."""
    if os.path.splitext(path)[1].lower() not in SUFFIXES:
        raise CommandError(f"cannot draw `{path}`: the name of a picture ends with {', '.join(SUFFIXES)}")
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise CommandError("a picture needs matplotlib: pip install 'aspenpy[plot]'")
    require_writable(path)


def save(path: str, draw: Callable[[], Any]) -> None:
    """Writes the figure that `draw` makes into a file, in the format that its name ends with."""
    suffix = os.path.splitext(path)[1].lower()
    require_drawable(path)
    with use_style():  # with no date in it, the same picture is the same file
        figure = draw()
        with refuse_unwritable(path), replace_file(path) as unfinished:
            metadata = {"Date": None} if suffix == ".svg" else None
            figure.savefig(unfinished, dpi=150, format=suffix[1:], metadata=metadata)


PAGES = {".html": write_html, ".md": write_markdown}
"""What writes a report as a page, by the end of its file's name."""


def require_page(path: str, more: tuple[str, ...] = ()) -> None:
    """Refuses a page that could not be written, before what it shows is worked out. `more` are other ends of names."""
    if os.path.splitext(path)[1] not in (*PAGES, *more):
        raise CommandError(f"--report: `{path}` has to end with {', '.join((*PAGES, *more))}")
    require_writable(path)


def write_page(path: str, found: Report, draw: Callable[[], Any] | None) -> None:
    """Writes a report and its picture as one page."""
    from importlib.util import find_spec

    pictures = []
    if draw is not None and find_spec("matplotlib") is not None:
        pictures.append(Picture(lambda: _draw_svg(draw), found.headline))
    write_whole(path, PAGES[os.path.splitext(path)[1]](document_of(found, pictures)))
    report_written(path)


def _draw_svg(draw: Callable[[], Any]) -> str:
    text = StringIO()
    with use_style():
        draw().savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def emit(text: str, end: str = "\n") -> None:
    """Writes lines to standard output, or where reports go while that is a file to write."""
    _write(sys.stderr if _is_file.get() else sys.stdout, text + end)


_is_file: ContextVar[bool] = ContextVar("_is_file", default=False)


@contextlib.contextmanager
def standard_output_as_file(path: str | None) -> Iterator[None]:
    """While `-o -` writes a file to standard output, all else that a command says goes to standard error."""
    token = _is_file.set(path == STANDARD_OUTPUT)
    try:
        yield
    finally:
        _is_file.reset(token)


def show(page: Page) -> None:
    """Writes a page to standard output: in colour on a terminal, plainly anywhere else."""
    if is_terminal(sys.stdout):
        from aspenpy.tables.terminal import render_terminal

        emit(render_terminal(page, _terminal_width()))
    else:
        emit(render_text(page))


def deliver(found: Report, arguments: Arguments, draw: Callable[[], Any] | None = None) -> int:
    """Writes a report in the format of `--format`, and what `draw` makes to the file of `--picture`; returns the exit
    status. Diagnostics go to standard error, unless the format contains them."""
    form = FORMATS[arguments.format or DEFAULT_FORMAT]
    if not form.has_diagnostics:
        report(found.diagnostics or ())
    if form.name == DEFAULT_FORMAT and getattr(arguments, "results", None) is None:
        show(found.page)
    else:
        deliver_text(form.write(found), arguments)
    if draw is not None and arguments.picture:
        save(arguments.picture, draw)
    return 0


DEFAULT_FORMAT = next(iter(FORMATS))


def deliver_text(text: str, arguments: Arguments) -> None:
    """Writes lines to the file of `--output`, wholly or not at all, or to standard output."""
    path = getattr(arguments, "results", None)
    if path is None:
        emit(text, end="")
        return
    write_whole(path, text)
    report_written(path)


def report_written(path: Path | str, about: str = "", *, before: str = "") -> None:
    """Says that a file is written, and what it holds; of standard output, which speaks for itself, only what it
    holds."""
    if path != STANDARD_OUTPUT or about:
        emit(f"{before}{'standard output' if path == STANDARD_OUTPUT else path} is written{about}")


def show_source(text: str) -> None:
    """Writes the text of a model to standard output, as it is; on a terminal in colour."""
    if is_terminal(sys.stdout):
        from aspenpy.report.highlight import highlight

        emit(highlight(text, _terminal_width()))
    else:
        emit(text, end="" if text.endswith("\n") else "\n")


def report(diagnostics: Iterable[Diagnostic]) -> None:
    """Writes diagnostics to standard error."""
    listed = list(diagnostics)
    if listed:
        complain_in_lines(draw_diagnostics(listed, sys.stderr))


def draw_diagnostics(diagnostics: list[Diagnostic], stream: TextIO | None) -> str:
    if not is_terminal(stream):
        return render(diagnostics)

    from aspenpy.tables.terminal import color_diagnostics

    return color_diagnostics(diagnostics, _terminal_width())


def warn_of_old_name(old: str, today: str) -> None:
    """Warns of a spelling that is understood for one release more."""
    report([warning("old-name", f"`{old}` is now `{today}`; the old spelling goes with the next release")])


def complain(line: str) -> None:
    """Says in one line of standard error what is no model's fault."""
    complain_in_lines("aspenpy: " + " ".join(line.split()))


def complain_in_lines(text: str) -> None:
    """Writes lines to standard error; where that fails, the exit status is all that a user gets."""
    with contextlib.suppress(CommandError, ClosedPipe):
        _write(sys.stderr, text + "\n")


_before: list[Callable[[], None]] = []


@contextlib.contextmanager
def before_writing(action: Callable[[], None]) -> Iterator[None]:
    """Within it, the action comes before whatever is written, such as clearing a line that says what goes on."""
    _before.append(action)
    try:
        yield
    finally:
        _before.remove(action)


def is_watched(stream: TextIO | None) -> bool:
    """Whether it is a terminal on which a line can be replaced by another."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody watches who can be shown colours, or FORCE_COLOR says so (https://force-color.org)."""
    if stream is None or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


COLORS = {"auto": {}, "always": {"FORCE_COLOR": "1", "NO_COLOR": ""}, "never": {"NO_COLOR": "1", "FORCE_COLOR": ""}}
"""What each word of `--color` puts into the environment, where rich looks as well (https://no-color.org)."""


def apply_color_option(line: Sequence[str]) -> list[str]:
    """A command line without its `--color`, which holds from here on. What follows `--` is another command's."""
    own = list(line[: line.index("--")] if "--" in line else line)
    kept: list[str] = []
    given = ""
    words = iter(own)
    for word in words:
        name, equals, when = word.partition("=")
        if name != "--color":
            kept.append(word)
            continue
        when = when if equals else next(words, "")
        if when not in COLORS:
            raise CommandError(f"--color: expected {', '.join(COLORS)}, not `{when}`")
        if given:
            raise CommandError(f"--color: expected one value, not `{given}` and `{when}`")
        given = when
    os.environ.update(COLORS[given] if given else {})
    return kept + list(line[len(own) :])


def _terminal_width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        raise CommandError("cannot write the output: it is closed")
    for action in _before:
        action()
    try:
        stream.write(_replace_unencodable(text, stream.encoding))
        stream.flush()
    except BrokenPipeError:
        abandon(stream)
        raise ClosedPipe from None
    except OSError as error:
        abandon(stream)
        raise CommandError(f"cannot write the output: {error.strerror}") from None


def _replace_unencodable(text: str, encoding: str | None) -> str:
    """The text, with what an encoding lacks written in ASCII."""
    if encoding is None or text.isascii():
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(WITHOUT_UNICODE).encode(encoding, "backslashreplace").decode(encoding)
    return text


def abandon(stream: TextIO) -> None:
    """Sends what is still waiting nowhere, so that Python does not try to write it once more when it ends."""
    with contextlib.suppress(OSError):  # a stream that is no file has nothing waiting
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
