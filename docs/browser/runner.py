"""The side of the page that runs in the browser: command lines, colours of models, and the library."""

import io
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from aspenpy.language.files import Reader
from aspenpy.models.library import library_names, source_of
from aspenpy.report.highlight import AspenLexer
from aspenpy.shell.main import main

WIDTH = 100
FOLDER = Path("/home/pyodide/models")


def begin() -> None:
    """Makes the folder of the user's files the current one."""
    FOLDER.mkdir(exist_ok=True)
    os.chdir(FOLDER)
    os.environ.update(COLUMNS=str(WIDTH), FORCE_COLOR="1")


def list_library() -> dict[str, list[str]]:
    """Names of applications and machines of the library."""
    return {"apps": library_names("apps"), "machines": library_names("machines")}


def library_text(name: str) -> str:
    """The text of a model of the library."""
    return source_of(name, Reader()).text


def save(name: str, text: str) -> None:
    """Writes one of the user's files."""
    (FOLDER / name).write_text(text, encoding="utf-8")


def color_model(text: str) -> str:
    """A model as HTML, its pieces in the classes of Pygments."""
    return str(highlight(text, AspenLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True)))


def run_line(line: str) -> dict[str, object]:
    """Runs a command line. Returns its status, its output as HTML, and the files that it wrote by their names.

    A package that the page has not loaded ends it in ModuleNotFoundError: the caller loads it and runs the line again.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        return {"status": 2, "output": render_ansi(f"aspenpy: {error}"), "files": {}}
    before = read_stamps()
    written = io.StringIO()
    with redirect_stdout(written), redirect_stderr(written):
        try:
            status = main(words[1:] if words[:1] == ["aspenpy"] else words)
        except SystemExit as end:
            status = end.code
    changed = {name: Path(name).read_bytes() for name, stamp in read_stamps().items() if before.get(name) != stamp}
    return {"status": status, "output": render_ansi(written.getvalue()), "files": changed}


def read_stamps() -> dict[str, tuple[int, int]]:
    """Files of the folder by name, with when each was written and its size."""
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in FOLDER.iterdir() if path.is_file()}


def render_ansi(text: str) -> str:
    """Text with the colours of a terminal as HTML."""
    lines = text.rstrip().splitlines() or [""]
    width = max(WIDTH, *(Text.from_ansi(line).cell_len for line in lines), 1)
    console = Console(file=io.StringIO(), record=True, width=width, force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi("\n".join(lines)), soft_wrap=True)
    return console.export_html(theme=MONOKAI, inline_styles=True, code_format="{code}")
