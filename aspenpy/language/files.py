"""Files: reading models, finding what they include and import, and the folders of the library."""

from __future__ import annotations

import errno
import os
import re
import zlib
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from aspenpy.language.diagnostics import fail, nearest
from aspenpy.language.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

MAXIMUM_SIZE = 8 * 2**20
"""Bytes of a file, and characters of a model with all it includes: the tree takes some 50 bytes for each."""

_PACKAGE = Path(__file__).resolve().parents[1]


def models_folder() -> Path:
    """The library of models: in the package where it is installed, beside it in a checkout."""
    return _in_package("models")


def grammar_path() -> Path:
    """The grammar of the language."""
    return _in_package("grammar") / "aspen.lark"


def _in_package(name: str) -> Path:
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def include_folders() -> Iterator[Path]:
    """Where includes are looked up in the library: its machines, and the folders of their parts."""
    machines = models_folder() / "machines"
    yield machines
    yield machines / "parts"
    yield from sorted(folder for folder in (machines / "parts").rglob("*") if folder.is_dir())


class Reader:
    """Reads model files, each once.

    What a model includes or imports must lie in the folder of that model, below it, or in the library, whatever
    links lead there: a model from a stranger cannot read other files. `allow_outside` lifts that.
    """

    def __init__(self, allow_outside: bool = False) -> None:
        self.allow_outside = allow_outside
        self._texts: dict[Path, str] = {}

    def read(self, path: Path | str, span: Span | None = None) -> Source:
        """The text of a file; `span` is the place that asks for it. The source's path is the real one, absolute."""
        return self._source(_real(Path(path)), str(path), span)

    def include(self, name: str, including: Source, top: Source, span: Span | None = None) -> Source:
        """The file an `include` names: beside the including file, beside the model, then in the library."""
        return self._find(name, including, top, include_folders, span)

    def import_(self, name: str, importing: Source, top: Source, span: Span | None = None) -> Source:
        """The file an `import` names: beside the importing file, beside the model, then in the library."""
        return self._find(name, importing, top, lambda: [models_folder() / "apps"], span)

    def data(self, name: str, asking: Source, top: Source, span: Span | None = None) -> Source:
        """A file of data that a model names: beside the file that asks for it, then beside the model."""
        return self._find(name, asking, top, tuple, span)

    def _find(
        self, name: str, asking: Source, top: Source, library: Callable[[], Iterable[Path]], span: Span | None
    ) -> Source:
        beside = ((_folder_of(source), Path(source.name).parent) for source in (asking, top))
        for folder, shown in chain(beside, ((folder, folder) for folder in library())):
            if is_file(folder / name):
                file = _real(folder / name)
                self._require_inside(file, name, top, span)
                return self._source(file, str(shown / name), span)
        return _refuse_missing(name, asking, library(), span)

    def _source(self, file: Path, name: str, span: Span | None) -> Source:
        if file not in self._texts:
            self._texts[file] = _text_of(file, name, span)
        inside = _in_library(file) if Path(name).is_absolute() else None
        return Source(self._texts[file], name, file, in_library=inside)

    def _require_inside(self, file: Path, name: str, top: Source, span: Span | None) -> None:
        if self.allow_outside or any(file.is_relative_to(folder) for folder in (_folder_of(top), models_folder())):
            return
        message = f"`{name}` lies outside the folder of the model"
        hint = "a model reads only files beside it, below it and in the library; --allow-outside lets it read others"
        fail("outside", message, span, hint=hint)


def _folder_of(source: Source) -> Path:
    """Where a source is; a model that was given as a text is in the current folder."""
    return Path.cwd() if source.path is None else source.path.parent


def _in_library(file: Path) -> str | None:
    """The way to a file from the folder of the library, if it is in there."""
    library = models_folder()
    return file.relative_to(library).as_posix() if file.is_relative_to(library) else None


def _real(path: Path) -> Path:
    """The absolute path without links; the path itself where that cannot be told."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path


def is_file(path: Path) -> bool:
    """Whether there is such a file; no name is so long or so odd that the question itself fails."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """Whether there is a file or a folder of that name, in the same way."""
    with suppress(OSError, ValueError):
        return path.exists()
    return False


def opened(file: Path, name: str, span: Span | None = None, *, streams: bool = False) -> BinaryIO:
    """An ordinary file to read from, or with `streams` a pipe; nothing else, and none that would let us wait for ever,
    as /proc/kmsg: where that has nothing, `read` gives None. Raises AspenError and OSError."""
    if file.is_dir():
        fail("not-a-file", f"`{name}` is a folder, not a file", span)
    if file.exists() and not file.is_file() and not (streams and file.is_fifo()):
        fail("not-a-file", f"`{name}` is not an ordinary file", span)
    at_once = 0 if file.is_fifo() else getattr(os, "O_NONBLOCK", 0)
    return open(file, "rb", opener=lambda path, flags: os.open(path, flags | at_once))


def _text_of(file: Path, name: str, span: Span | None) -> str:
    """The text of a file, or an error that tells why there is none."""
    try:
        with opened(file, name, span) as stream:
            content: bytes | None = stream.read(MAXIMUM_SIZE + 1)
        if content is None:
            fail("file-not-readable", f"`{name}` cannot be read: it has nothing yet", span)
        if len(content) > MAXIMUM_SIZE:
            fail("too-large", f"`{name}` is too large: a file has at most {MAXIMUM_SIZE // 2**20} MiB", span)
    except FileNotFoundError:
        hint = nearest(file.stem, _models_in(file.parent), lambda stem: str(Path(name).with_name(f"{stem}.aspen")))
        fail("file-not-found", f"there is no file `{name}`", span, hint=hint)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        fail("file-not-readable", f"`{name}` cannot be read: {reason.lower()}", span)
    return _decoded(content, name, span)


def _decoded(content: bytes, name: str, span: Span | None) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = "save it as UTF-8"
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            fail("not-utf-8", f"`{name}` is not UTF-8 but UTF-16", span, hint=hint)
        line = content.count(b"\n", 0, error.start) + 1
        place = f"byte {error.start} (line {line}) is 0x{content[error.start]:02x}"
        fail("not-utf-8", f"`{name}` is not UTF-8: {place}", span, hint=hint)
    if "\0" in text:
        fail("not-text", f"`{name}` is not a text: byte {content.index(0)} is 0", span)
    return text


def _refuse_missing(name: str, asking: Source, library: Iterable[Path], span: Span | None) -> NoReturn:
    folders = [*library]
    if not folders:  # a file of data
        fail("file-not-found", f"there is no file `{name}`", span, hint=f"it was looked for beside `{asking.name}`")
    asked = Path(name)
    beside = Path() if asked.is_absolute() or ".." in asked.parts else asked.parent
    files = {stem: f"{stem}.aspen" for folder in (_folder_of(asking), *folders) for stem in _models_in(folder)}
    files |= {stem: (beside / f"{stem}.aspen").as_posix() for stem in _models_in(_folder_of(asking) / beside)}
    hint = nearest(asked.stem, files, files.__getitem__)
    hint = hint or f"it was looked for beside `{asking.name}` and in the library"
    fail("file-not-found", f"there is no file `{name}`", span, hint=hint)


def _models_in(folder: Path) -> list[str]:
    try:
        return [file.stem for file in folder.glob("*.aspen")]
    except (OSError, ValueError):
        return []


# -- writing ---------------------------------------------------------------------------------------


def write_whole(path: Path | str, text: str) -> None:
    """Puts a text into a file, new or old: all of it or, if that fails, nothing. Raises AspenError."""
    try:
        put_whole(path, text)
    except (OSError, ValueError) as error:
        _refuse_to_write(path, error)


def put_whole(path: Path | str, text: str) -> None:
    """As `write_whole`, for those with words of their own for what may go wrong. Raises OSError, and ValueError for
    what can be no path."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(text.encode())


@contextmanager
def replacing(path: Path | str, folder: Path | None = None) -> Iterator[Path]:
    """The name of an unfinished file, which takes the place of `path` when the block ends well; the one that was there
    stays until then. Links and the mode stay. A device such as /dev/stdout is written to as it is. The unfinished file
    is beside the other, or in a `folder` of the same file system; those that writers left who were killed are removed.
    Raises OSError."""
    import tempfile

    target = _real(Path(path))
    if target.exists() and not os.access(target, os.W_OK):  # a new file may take its place, but is not to
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if target.exists() and not target.is_file():
        yield target
        return
    beside, start = folder or target.parent, f".{target.name[:100]}."
    _remove_leftovers(beside, start)
    descriptor, name = tempfile.mkstemp(prefix=f"{start}{_host()}-{os.getpid()}-", dir=beside)
    os.close(descriptor)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        settle(unfinished)
        os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):  # what went wrong first is what is told
            unfinished.unlink(missing_ok=True)
        raise


def _host() -> str:
    """What tells the machines apart that write into one file system."""
    name = os.uname().nodename if hasattr(os, "uname") else ""
    return f"{zlib.crc32(name.encode()):08x}"


def _remove_leftovers(folder: Path, start: str) -> None:
    """Removes the unfinished files of processes of this machine that are no more."""
    if os.name == "nt":  # where asking for a process would end it
        return
    written = re.compile(re.escape(f"{start}{_host()}-") + r"(\d{1,9})-\w+")
    with suppress(OSError):  # who may not look here, or remove, leaves it
        for path in folder.iterdir():
            found = written.fullmatch(path.name)
            if found is not None and not _runs(int(found[1])):
                path.unlink()


def _runs(process: int) -> bool:
    """Whether there is a process of that number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def settle(path: Path) -> None:
    """Waits until a file, or all files of a folder, are on the disk: what is renamed before that may be empty after a
    loss of power."""
    for file in filter(Path.is_file, path.rglob("*")) if path.is_dir() else (path,):
        with open(file, "rb") as stream:
            os.fsync(stream.fileno())


def require_writable(path: Path | str) -> None:
    """Refuses, before the work is done, a file that could not be written after it."""
    target = _real(Path(path))
    try:
        problems = (
            (not str(path), errno.ENOENT),
            (target.is_dir(), errno.EISDIR),
            (not target.parent.exists(), errno.ENOENT),
            (not target.parent.is_dir(), errno.ENOTDIR),
            (not os.access(target if target.exists() else target.parent, os.W_OK), errno.EACCES),
        )
    except (OSError, ValueError) as error:  # the name is too long, or has a character that none has
        _refuse_to_write(path, error)
    for problem, number in problems:
        if problem:
            _refuse_to_write(path, OSError(number, os.strerror(number)))


def _refuse_to_write(path: Path | str, error: OSError | ValueError) -> NoReturn:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    fail("not-writable", f"cannot write `{path}`: {reason.lower()}")


def _umask() -> int:
    """The bits that this process leaves out of the modes of new files; it can be told only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
