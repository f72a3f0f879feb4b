"""The command `aspenpy fmt`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader, put_whole
from aspenpy.language.format import format_text
from aspenpy.language.opening import read_standard_input
from aspenpy.language.source import Source
from aspenpy.shell.failure import CommandError
from aspenpy.shell.models import files_in
from aspenpy.shell.option import Arguments, OneOf, command, flag, option
from aspenpy.shell.options import OUTSIDE
from aspenpy.shell.output import emit, report


@command(
    "fmt",
    "models",
    "Format model files",
    options=(
        option(
            "files",
            "FILE",
            "a model, or a folder: all its files *.aspen; each is replaced by its new text at once or not at all. "
            "- reads standard input and writes standard output",
            nargs="+",
        ),
        OneOf(
            (
                flag("--check", "changes nothing; exits with status 1 if it would"),
                flag("--diff", "the same, and shows the changes"),
            )
        ),
        OUTSIDE,
    ),
    examples=(
        ("from standard input to standard output", "echo 'param  n=4*kilo' | aspenpy fmt -"),
        ("whether there is something to do", "echo 'param n = 4*kilo' | aspenpy fmt --check -"),
    ),
)
def run_fmt(arguments: Arguments) -> int:
    """0, with `--check` and `--diff` 1 if something would change, 2 if a file could not be laid out."""
    status = 0
    for name in _walk_names(arguments.files):
        try:
            changed = _lay_out(name, arguments)
        except AspenError as error:
            report(error.diagnostics)
            status = 2
        else:
            status = max(status, int(changed and (arguments.check or arguments.diff)))
    return status


def _walk_names(given: list[str]) -> Iterator[str]:
    """Standard input, the files, and those of the folders."""
    for name in given:
        yield from [name] if name == "-" else (str(file.path) for file in files_in([name]))


def _lay_out(name: str, arguments: Arguments) -> bool:
    """Lays one file out, or says how; returns whether its text is another one."""
    reader = Reader(allow_outside=arguments.allow_outside)
    source = Source(read_standard_input(), "<standard input>") if name == "-" else reader.read(name)
    text = format_text(source, reader)
    changed = text != source.text
    if arguments.diff:
        if changed:
            emit(_describe_difference(source, text))
    elif arguments.check:
        if changed:
            emit(f"{source.name} would be changed")
    elif name == "-":
        emit(text.removesuffix("\n"), end="\n" * bool(text))
    elif changed:
        replace(Path(name), text)
        emit(f"{name} changed")
    return changed


def _describe_difference(source: Source, text: str) -> str:
    from difflib import unified_diff

    before, after = source.text.splitlines(), text.splitlines()
    return "\n".join(unified_diff(before, after, source.name, f"{source.name} (formatted)", lineterm=""))


def replace(path: Path, text: str) -> None:
    """Replaces or makes a file: completely, or not at all if that fails. Links and the mode stay."""
    import os

    target = path.resolve()
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise CommandError(f"cannot write {path}: permission denied")
    if os.path.exists(target) and not target.is_file():
        raise CommandError(f"cannot write {path}: it is not an ordinary file")
    try:
        put_whole(target, text)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror}") from None
