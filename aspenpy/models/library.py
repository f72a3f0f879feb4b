"""The library: applications and machines that come with aspenpy, found by name; files by path; their text, laid out."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal

from aspenpy.language import nodes
from aspenpy.language.diagnostics import Diagnostic, fail, suggest_nearest
from aspenpy.language.files import Reader, list_models, models_folder
from aspenpy.language.opening import read_first_bytes
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source
from aspenpy.models.application.load import link_application as link_application
from aspenpy.models.application.load import read_application as load_application_source
from aspenpy.models.application.model import Application
from aspenpy.models.machine.load import link_machine as link_machine
from aspenpy.models.machine.load import read_machine as load_machine_source
from aspenpy.models.machine.model import Machine

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["apps", "machines"]


def library_names(kind: Kind) -> list[str]:
    """The names of the library's applications or machines, sorted."""
    return sorted(list_models(os.path.join(models_folder(), kind)))


def find_source(kind: Kind, path_or_name: str | Path, reader: Reader | None = None) -> Source:
    """The source of a model: a text if it has a brace, as every model has and no file of that path exists; a file if
    there is one of that path or if it looks like a path, else the library's model of that name."""
    reader = reader or Reader()
    text = str(path_or_name)
    if isinstance(path_or_name, str) and "{" in text and not os.path.isfile(text):
        return Source(text, "<text>")
    looks_like_path = not isinstance(path_or_name, str) or "/" in text or "\\" in text or text.endswith(".aspen")
    is_file = os.path.isfile(text) and (text not in library_names(kind) or begins_as_model(text))
    if looks_like_path or is_file:
        refuse_source_code(text)
        return reader.read(path_or_name)
    if text in library_names(kind):
        return reader.read(os.path.join(models_folder(), kind, f"{text}.aspen"))
    refuse_source_code(text)
    noun, other = {"apps": ("application", "a machine"), "machines": ("machine", "an application")}[kind]
    if text in library_names("machines" if kind == "apps" else "apps"):
        message = f"`{text}` is a model of the library, but {other} and no {noun}"
        fail(f"unknown-{noun}", message, hint=f"`aspenpy list {kind}` shows the {noun}s")
    hint = (
        suggest_nearest(text, library_names(kind))
        or f"`aspenpy list {kind}` shows the library's; a file is named by its path"
    )
    fail(f"unknown-{noun}", f"there is no file and no {noun} in the library called `{text}`", hint=hint)


def begins_as_model(path: str) -> bool:
    """Whether a file begins with a word, which may be misspelt, behind white space and comments: a program or a script
    of the name of a model, such as `md`, does not hide it. Raises AspenError for what is no ordinary file."""
    beginning = read_first_bytes(path, 1024)
    return b"\0" not in beginning and BEGINNING.match(beginning) is not None


def refuse_source_code(path: str) -> None:
    """A program's source is no model, and becomes one by `aspenpy extract`."""
    if path.lower().endswith(SOURCES):
        hint = f"`aspenpy extract {path} -o model.aspen` writes the model of a program"
        fail("source-code", f"`{path}` is the source of a program, and no model", hint=hint)


BEGINNING = re.compile(rb"(?:\s|//[^\n]*(?:\n|\Z))*+(?:[A-Za-z]|\Z)")  # the rest may be comments alone
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++")


def load_application(model: str | Path, *, allow_outside: bool = False) -> Application:
    """An application from a file, from the library by its name, or from a text in the language.

    A text is told from a path by its brace `{`. `allow_outside` lets imports and includes leave the folder tree of the
    model; those of a text are looked up in the current folder.

    :returns: the model with its imports, immutable
    :raises AspenError: where the file cannot be read and where the model is wrong; the exception has every error
        that was found
    """
    reader = Reader(allow_outside=allow_outside)
    return load_application_source(find_source("apps", model, reader), reader)


def load_machine(model: str | Path, *, allow_outside: bool = False) -> Machine:
    """A machine from a file, the library or a text; the arguments are those of `load_application`.

    :returns: the model, immutable
    :raises AspenError: where the file cannot be read and where the model is wrong
    """
    reader = Reader(allow_outside=allow_outside)
    return load_machine_source(find_source("machines", model, reader), reader)


def source_of(model: str | Path, reader: Reader) -> Source:
    """The source of a model of either kind, named as for `load_application`."""
    return find_source("machines" if str(model) in library_names("machines") else "apps", model, reader)


def parse(text: str, name: str = "<text>") -> Application | Machine:
    """The application or machine written in a string. Imports and includes look in the current folder.

    :returns: whichever of the two the text declares
    :raises AspenError: where the text is wrong; `name` stands for the file in its message
    """
    return load_source(Source(text, name), Reader())


def load_source(source: Source, reader: Reader) -> Application | Machine:
    warnings: list[Diagnostic] = []
    node = parse_file(source, reader, warnings)
    if isinstance(node, nodes.Application):
        return link_application(node, source, warnings, reader)
    return link_machine(node, warnings)


def format_model(model: str | Path, *, allow_outside: bool = False) -> str:
    """The text of a model laid out as `aspenpy fmt` does: only white space changes. The arguments are those of
    `load_application`; no file is written.

    :returns: the text, with a newline at its end
    :raises AspenError: for a text with a mistake in its syntax
    """
    from aspenpy.language.format import format_text

    reader = Reader(allow_outside=allow_outside)
    return format_text(source_of(model, reader), reader)
