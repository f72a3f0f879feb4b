"""Models of either kind as a command line names them: files, folders, and names of the library."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, suggest_nearest
from aspenpy.language.files import models_folder
from aspenpy.shell.failure import CommandError


class ModelFile(NamedTuple):
    """A file of a model; `walked` says that a folder was named and not the file itself."""

    path: Path
    walked: bool = False


def files_in(paths: Iterable[str]) -> Iterator[ModelFile]:
    """The files named, and the `.aspen` files of the folders named, whether they can be read or not."""
    for path in map(Path, paths):
        if not os.path.isdir(path):
            yield ModelFile(path)
            continue
        inside = sorted(path.rglob("*.aspen"))
        if not inside:
            raise CommandError(f"there is no file *.aspen in {path}")
        yield from (ModelFile(file, walked=True) for file in inside)


def check_files(names: Iterable[str], check: Callable[[ModelFile], Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    """Reports of a check on each file that is named as on a command line, errors of reading it included."""
    for name in names:
        try:
            for file in list(files_in([str(path_of(name))])):
                try:
                    yield from check(file)
                except AspenError as error:
                    yield from error.diagnostics
        except AspenError as error:
            yield from error.diagnostics


def path_of(path_or_name: str) -> Path:
    """A file, or the file of the library's model with that name."""
    path = Path(path_or_name)
    if os.path.exists(path) or len(path.parts) > 1 or path.suffix:
        return path
    library = {
        found.stem: found for kind in ("apps", "machines") for found in Path(models_folder(), kind).glob("*.aspen")
    }
    if path_or_name in library:
        return library[path_or_name]
    hint = (
        suggest_nearest(path_or_name, library) or "`aspenpy list apps` and `aspenpy list machines` show what there is"
    )
    fail("unknown-model", f"there is no file and no model in the library called `{path_or_name}`", hint=hint)
