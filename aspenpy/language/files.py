"""Files: reading models, finding what they include and import, and the folders of the library.

Paths are text here where models are read: `pathlib` takes 5 ms to import, which what writes files can afford.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import zlib
from contextlib import contextmanager, suppress
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.language.opening import read_text_file
from aspenpy.language.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def models_folder() -> str:
    """The library of models: in the package where it is installed, beside it in a checkout."""
    return _find_in_package("models")


def grammar_path() -> str:
    """The grammar of the language."""
    return os.path.join(_find_in_package("grammar"), "aspen.lark")


def _find_in_package(name: str) -> str:
    installed = os.path.join(_PACKAGE, "data", name)
    return installed if os.path.isdir(installed) else os.path.join(os.path.dirname(_PACKAGE), name)


def user_folder(variable: str, usual: str) -> str:
    """A folder of the user that a variable of the XDG Base Directory Specification names, else the usual one below the
    home. Paths in these variables "must be absolute", others "should" be ignored."""
    named = os.environ.get(variable, "")
    return named if os.path.isabs(named) else os.path.join(os.path.expanduser("~"), *usual.split("/"))


def include_folders() -> Iterator[str]:
    """Folders of the library in which includes are looked up: its machines, and those of their parts."""
    machines = os.path.join(models_folder(), "machines")
    parts = os.path.join(machines, "parts")
    yield from (machines, parts)
    yield from sorted(os.path.join(folder, name) for folder, names, _ in os.walk(parts) for name in names)


class Reader:
    """Reads model files, each once.

    What a model includes or imports must lie in the folder of that model, below it, or in the library, whatever
    links lead there: a model from a stranger cannot read other files. `allow_outside` lifts that. `unsaved` are the
    texts of files that an editor has changed, by their paths.
    """

    def __init__(self, allow_outside: bool = False, unsaved: Mapping[str, str] = MappingProxyType({})) -> None:
        self.allow_outside = allow_outside
        self._texts = dict(unsaved)

    def read(self, path: Path | str, span: Span | None = None) -> Source:
        """The text of a file; `span` is the place that asks for it. The source's path is the real one, absolute."""
        return self._source(_real_path(path), str(path), span)

    def include(self, name: str, including: Source, top: Source, span: Span | None = None) -> Source:
        """The file an `include` names: beside the including file, beside the model, then in the library."""
        return self._find(name, including, top, include_folders, span)

    def import_(self, name: str, importing: Source, top: Source, span: Span | None = None) -> Source:
        """The file an `import` names: beside the importing file, beside the model, then in the library."""
        return self._find(name, importing, top, lambda: [os.path.join(models_folder(), "apps")], span)

    def data(self, name: str, asking: Source, top: Source, span: Span | None = None) -> Source:
        """A file of data that a model names: beside the file that asks for it, then beside the model."""
        return self._find(name, asking, top, tuple, span)

    def _find(
        self, name: str, asking: Source, top: Source, library: Callable[[], Iterable[str]], span: Span | None
    ) -> Source:
        beside = ((_folder_of(source), os.path.dirname(source.name)) for source in (asking, top))
        for folder, shown in chain(beside, ((folder, folder) for folder in library())):
            if os.path.isfile(os.path.join(folder, name)):
                file = _real_path(os.path.join(folder, name))
                self._require_inside(file, name, top, span)
                return self._source(file, os.path.join(shown, name), span)
        return _refuse_missing(name, asking, library(), span)

    def _source(self, file: str, name: str, span: Span | None) -> Source:
        if file not in self._texts:
            self._texts[file] = _read_model_text(file, name, span)
        inside = _path_in_library(file) if os.path.isabs(name) else None
        return Source(self._texts[file], name, file, in_library=inside)

    def _require_inside(self, file: str, name: str, top: Source, span: Span | None) -> None:
        if self.allow_outside or any(_is_inside(folder, file) for folder in (_folder_of(top), models_folder())):
            return
        message = f"`{name}` lies outside the folder of the model"
        hint = "a model reads only files beside it, below it and in the library; --allow-outside lets it read others"
        fail("outside", message, span, hint=hint)


def _is_inside(folder: str, file: str) -> bool:
    return file.startswith(os.path.join(folder, ""))


def _folder_of(source: Source) -> str:
    """The folder of a source; a model that was given as a text is in the current folder."""
    return os.getcwd() if source.path is None else os.path.dirname(source.path)


def _path_in_library(file: str) -> str | None:
    """The way to a file from the folder of the library, if it is in there."""
    library = models_folder()
    return os.path.relpath(file, library).replace(os.sep, "/") if _is_inside(library, file) else None


def _real_path(path: Path | str) -> str:
    """The absolute path without links; the path itself where that cannot be told."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


def _path_to_write(path: Path | str) -> str:
    """The absolute path without links of a file to write; of a pipe, which /dev/stdout may be, the path itself."""
    real = _real_path(path)
    return real if os.path.exists(real) or not os.path.exists(path) else str(path)


def _read_model_text(file: str, name: str, span: Span | None) -> str:
    """The text of a model; where there is none, models of a similar name are told."""
    hint = None
    if not os.path.exists(file):
        folder = os.path.dirname(name)
        hint = suggest_nearest(
            _model_stem(file), list_models(os.path.dirname(file)), lambda stem: os.path.join(folder, f"{stem}.aspen")
        )
    return read_text_file(file, name=name, span=span, hint=hint)


def _refuse_missing(name: str, asking: Source, library: Iterable[str], span: Span | None) -> NoReturn:
    folders = [*library]
    if not folders:  # a file of data
        fail("file-not-found", f"file not found: `{name}`", span, hint=f"searched beside `{asking.name}`")
    beside = "" if os.path.isabs(name) or ".." in name.split("/") else os.path.dirname(name)
    files = {stem: f"{stem}.aspen" for folder in (_folder_of(asking), *folders) for stem in list_models(folder)}
    here = os.path.join(_folder_of(asking), beside)
    files |= {stem: os.path.join(beside, f"{stem}.aspen") for stem in list_models(here)}
    hint = suggest_nearest(_model_stem(name), files, files.__getitem__)
    hint = hint or f"searched beside `{asking.name}` and in the library"
    fail("file-not-found", f"file not found: `{name}`", span, hint=hint)


def list_models(folder: str) -> list[str]:
    """The names of the models in a folder, in any order; none where there is no such folder."""
    try:
        return [name.removesuffix(".aspen") for name in os.listdir(folder) if name.endswith(".aspen")]
    except (OSError, ValueError):
        return []


def _model_stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


# -- writing ---------------------------------------------------------------------------------------

STANDARD_OUTPUT = "-"
"""The name of a file to write that means standard output; `./-` is a file of that name."""


def write_whole(path: Path | str, text: str) -> None:
    """Puts a text into a file, new or old: all of it or, if that fails, nothing. Raises AspenError."""
    try:
        put_whole(path, text)
    except (OSError, ValueError) as error:
        _refuse_to_write(path, error)


def put_whole(path: Path | str, text: str) -> None:
    """`write_whole`, for callers with messages of their own. Raises OSError, and ValueError for what can be no path."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    with replace_file(path) as unfinished:
        unfinished.write_bytes(text.encode())


@contextmanager
def replace_file(path: Path | str) -> Iterator[Path]:
    """The name of an unfinished file, which takes the place of `path` when the block ends well; the one that was there
    stays until then. Links and the mode stay. A device such as /dev/stdout is written to as it is. The unfinished file
    is beside the other; those that writers left who were killed are removed. Raises OSError."""
    import tempfile
    from pathlib import Path

    target = Path(_path_to_write(path))
    if target.exists() and not os.access(target, os.W_OK):  # a new file may take its place, but is not to
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if target.exists() and not target.is_file():
        yield target
        return
    beside, start = target.parent, f".{target.name[:100]}."
    _remove_leftovers(beside, start)
    descriptor, name = tempfile.mkstemp(prefix=f"{start}{_host_name()}-{os.getpid()}-", dir=beside)
    os.close(descriptor)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_read_umask())
        flush_to_disk(unfinished)
        put_in_place(unfinished, target)
    except BaseException:
        with suppress(OSError):  # what went wrong first is what is told
            unfinished.unlink(missing_ok=True)
        raise


def put_in_place(unfinished: Path, target: Path) -> None:
    """Makes a finished file the one at `target`. A file that has other names, by hard links, is written through, so
    that all of them show what is new: its content changes as it is copied, not in one step."""
    if target.is_file() and target.stat().st_nlink > 1:
        with open(unfinished, "rb") as new, open(target, "r+b") as old:
            while block := new.read(1 << 20):
                old.write(block)
            old.truncate()
            os.fsync(old.fileno())
        unfinished.unlink()
    else:
        os.replace(unfinished, target)


def _host_name() -> str:
    """Name that tells the machines apart that write into one file system."""
    name = os.uname().nodename if hasattr(os, "uname") else ""
    return f"{zlib.crc32(name.encode()):08x}"


def _remove_leftovers(folder: Path, start: str) -> None:
    """Removes the unfinished files of processes of this machine that are no more."""
    if os.name == "nt":  # where asking for a process would end it
        return
    written = re.compile(re.escape(f"{start}{_host_name()}-") + r"(\d{1,9})-\w+")
    with suppress(OSError):  # who may not look here, or remove, leaves it
        for path in folder.iterdir():
            match = written.fullmatch(path.name)
            if match is not None and not _is_running(int(match[1])):
                path.unlink()


def _is_running(process: int) -> bool:
    """Whether there is a process of that number; on Windows, where asking would interrupt it, there may be."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def flush_to_disk(path: Path) -> None:
    """Waits until a file, or all files of a folder, are on the disk: what is renamed before that may be empty after a
    loss of power."""
    for file in (item for item in path.rglob("*") if item.is_file()) if path.is_dir() else (path,):
        with open(file, "rb") as stream:
            os.fsync(stream.fileno())


def require_writable(path: Path | str) -> None:
    """Refuses, before the work is done, a file that could not be written after it."""
    if path == STANDARD_OUTPUT:
        return
    target = _path_to_write(path)
    parent = os.path.dirname(target)
    try:
        os.stat(target)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # the name is too long, or has a character that none has
        _refuse_to_write(path, error)
    problems = (
        (not str(path), errno.ENOENT),
        (os.path.isdir(target), errno.EISDIR),
        (not os.path.exists(parent), errno.ENOENT),
        (not os.access(target if os.path.exists(target) else parent, os.W_OK), errno.EACCES),
    )
    for problem, number in problems:
        if problem:
            _refuse_to_write(path, OSError(number, os.strerror(number)))


def _refuse_to_write(path: Path | str, error: OSError | ValueError) -> NoReturn:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    fail("not-writable", f"cannot write `{path}`: {reason.lower()}")


def _read_umask() -> int:
    """The bits that this process leaves out of the modes of new files; it can be told only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def measurements_path(name: str) -> str:
    """A file of measurements: the path, or the name of one in the library."""
    if os.path.exists(name):
        return name
    known = os.path.join(models_folder(), "measurements")
    names = sorted(file.removesuffix(".csv") for file in os.listdir(known) if file.endswith(".csv"))
    if name not in names:
        hint = suggest_nearest(name, names) or f"the examples are {', '.join(names)}"
        fail("no-file", f"file not found: `{name}`", hint=hint)
    return os.path.join(known, f"{name}.csv")
