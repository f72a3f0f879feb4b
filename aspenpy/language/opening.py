"""Opening: the one gate through which files are read that a user names.

What is opened is an ordinary file, for reading alone, and no more of it is read than its kind of content has use for:
a folder, a device, or a pipe into which nobody writes is refused before anything waits for it.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Span

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

MAXIMUM_SIZE = 8 * 2**20
"""Bytes of a file, and characters of a model with all it includes: the tree takes some 50 bytes for each."""


def open_file(file: Path | str, name: str, span: Span | None = None, *, streams: bool = False) -> BinaryIO:
    """An ordinary file to read from, or with `streams` a pipe; nothing else, and none that would let us wait for ever,
    as /proc/kmsg: where that has nothing, `read` gives None. Raises AspenError and OSError."""
    mode = os.stat(file).st_mode
    _require_kind(mode, name, span, streams)
    at_once = 0 if stat.S_ISFIFO(mode) else getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(file, os.O_RDONLY | at_once | getattr(os, "O_BINARY", 0))
    try:
        _require_kind(os.fstat(descriptor).st_mode, name, span, streams)  # another may have taken its place
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _require_kind(mode: int, name: str, span: Span | None, streams: bool) -> None:
    if stat.S_ISDIR(mode):
        fail("not-a-file", f"`{name}` is a folder, not a file", span)
    if not stat.S_ISREG(mode) and not (streams and stat.S_ISFIFO(mode)):
        fail("not-a-file", f"`{name}` is not an ordinary file", span)


def read_whole_file(
    file: Path | str,
    most: int = MAXIMUM_SIZE,
    *,
    name: str | None = None,
    span: Span | None = None,
    hint: str | None = None,
) -> bytes:
    """The bytes of an ordinary file, `most` of them. Every file that a user names is read here, or with `open_file` in
    pieces. `name` is what the messages call it, `hint` what helps where there is none. Raises AspenError."""
    name = str(file) if name is None else name
    content = _read_beginning(file, most + 1, name, span, hint)
    if len(content) > most:
        fail("too-large", f"`{name}` is too large: a file has at most {most // 2**20} MiB", span)
    return content


def read_first_bytes(file: Path | str, size: int) -> bytes:
    """The beginning of an ordinary file. Raises AspenError."""
    return _read_beginning(file, size, str(file))


def _read_beginning(file: Path | str, size: int, name: str, span: Span | None = None, hint: str | None = None) -> bytes:
    try:
        with open_file(file, name, span) as stream:
            content: bytes | None = stream.read(size)
    except FileNotFoundError:
        fail("file-not-found", f"file not found: `{name}`", span, hint=hint)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        fail("file-not-readable", f"`{name}` cannot be read: {reason.lower()}", span)
    if content is None:
        fail("file-not-readable", f"`{name}` cannot be read: it has nothing yet", span)
    return content


def read_text_file(
    file: Path | str,
    most: int = MAXIMUM_SIZE,
    *,
    name: str | None = None,
    span: Span | None = None,
    hint: str | None = None,
) -> str:
    """The text of an ordinary file in UTF-8. Raises AspenError."""
    return _decode_text(
        read_whole_file(file, most, name=name, span=span, hint=hint), str(file) if name is None else name, span
    )


def read_standard_input(most: int = MAXIMUM_SIZE) -> str:
    """The text in UTF-8 that comes on standard input. Raises AspenError."""
    if sys.stdin is None:
        fail("file-not-readable", "standard input cannot be read: it is closed")
    content = sys.stdin.buffer.read(most + 1)
    if len(content) > most:
        fail("too-large", f"standard input is too large: it has at most {most // 2**20} MiB")
    return _decode_text(content, "<standard input>", None)


def _decode_text(content: bytes, name: str, span: Span | None) -> str:
    try:
        text = content.decode().removeprefix("\ufeff")
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
