"""The file of a trace: opened, decompressed, and read in the format it is in."""

from __future__ import annotations

import errno
import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

import numpy as np

from aspenpy.language.diagnostics import fail
from aspenpy.language.opening import open_file
from aspenpy.traces import text_formats
from aspenpy.traces.text_formats import DATA, REMARK, TEXT_FORMATS, Readable, References, read_references, shorten_line

BINARY = "binary"
FORMATS = ("lackey", BINARY, "dinero")  # lackey's text, 64-bit addresses with the lowest byte first, and Dinero's text
GUESSED_FROM = 1 << 16  # bytes at the beginning that tell the format
GZIP = b"\x1f\x8b"  # what a file that is compressed begins with

STANDARD_INPUT = "<standard input>"

EXPANDED = 50
"""Times its size to which a compressed trace may expand; text of programs that ran is five to thirty times as long."""

FEWEST_EXPANDED = 48 << 20  # bytes to which any compressed trace may expand: some seconds of work

WORD = 8  # bytes of an address in binary


class TraceFile:
    """A trace to be read once. `-` is standard input; what begins as gzip does is decompressed.

    AspenError where there is no such file, it cannot be read, or what is in it is no trace.
    """

    def __init__(self, path: Path | str, layout: str | None = None) -> None:
        self.name = STANDARD_INPUT if str(path) == "-" else str(path)
        self._stream = _open_trace(path, self.name)
        self._expanded = 0
        self.size = _measure_size(self._stream)
        """Bytes of the file as it is, or None where nobody knows them."""
        try:
            self._counted = _Counted(self._stream)
            self._file: Readable = self._counted
            if self._counted.is_packed:
                self._file = gzip.GzipFile(fileobj=cast(BinaryIO, self._counted))  # it calls `read` alone
            self._beginning = self._read(GUESSED_FROM)
            self.layout = layout or guess_format(self._beginning, self.name)
        except OSError as error:
            self.close()
            _refuse(self.name, error)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self.name != STANDARD_INPUT:
            self._stream.close()

    @property
    def position(self) -> int:
        """Bytes of the file, as it is, that have been read."""
        return self._counted.position

    def read_references(self, kinds: frozenset[int] | None = None) -> Iterator[References]:
        """All references of these kinds, a block at a time; loads and stores if nothing is said. A trace in binary
        does not tell kinds."""
        if self.layout != BINARY:
            return read_references(self, self.name, TEXT_FORMATS[self.layout], DATA if kinds is None else kinds)
        if kinds is not None:
            hint = "only a trace in text tells loads, stores and instructions apart"
            fail("no-kinds", f"`{self.name}` holds addresses alone", hint=hint)
        return self._read_words()

    def _read_words(self) -> Iterator[References]:
        rest = b""
        while block := self.read(text_formats.BLOCK):
            block = rest + block
            whole = len(block) - len(block) % WORD
            rest = block[whole:]
            yield References(np.frombuffer(block[:whole], "<u8").astype(np.uint64))
        if rest:
            message = f"`{self.name}` ends in the middle of an address: {len(rest)} bytes are left over"
            hint = "a trace in binary is a row of 64-bit addresses; --trace-format names another format"
            fail("cut-off", message, hint=hint)

    def read(self, size: int, /) -> bytes:
        """The next bytes, decompressed; none at the end."""
        beginning, self._beginning = self._beginning, b""
        return beginning or self._read(size)

    def _read(self, size: int) -> bytes:
        try:
            block = self._file.read(size)
            self._expanded += len(block)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            fail("cut-off", f"`{self.name}` cannot be decompressed: it is damaged or cut off")
        except OSError as error:
            _refuse(self.name, error)
        if self._counted.is_packed:
            self._refuse_expanded(self._expanded, "expands")
        return block

    def refuse_many(self, references: int) -> None:
        """Refuses a file with `references` references up to here, each counted as a binary address: accesses to many
        lines may make more of them than any program's trace has."""
        if self.name != STANDARD_INPUT or self._counted.is_packed:
            self._refuse_expanded(references * WORD, "has accesses of so many lines that it expands")

    def _refuse_expanded(self, size: int, expands: str) -> None:
        if size > max(FEWEST_EXPANDED, EXPANDED * self.position):
            message = f"`{self.name}` {expands} to more than {EXPANDED} times its size, and may take very long"
            command = "gunzip -c" if self._counted.is_packed else "cat"
            hint = f"`{command} TRACE | aspenpy rdd -` takes it all the same, however long it is"
            fail("too-large", message, hint=hint)


class _Counted:
    """A file that knows how many of its bytes have been read, and whether it begins as gzip does."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._first = _take_bytes(file, len(GZIP))
        self.is_packed = self._first == GZIP
        self.position = len(self._first)

    def read(self, size: int, /) -> bytes:
        first, self._first = self._first[:size], self._first[size:]
        rest = _take_bytes(self._file, size - len(first))
        self.position += len(rest)
        return first + rest


def _take_bytes(file: BinaryIO, size: int) -> bytes:
    """Bytes of a file; an error where it would have us wait for them, although it is none that others write into."""
    taken: bytes | None = file.read(size)
    if taken is None:
        raise BlockingIOError(errno.EAGAIN, "it has nothing yet")
    return taken


def _open_trace(path: Path | str, name: str) -> BinaryIO:
    if str(path) == "-":
        if sys.stdin is None:
            fail("file-not-readable", "standard input cannot be read: it is closed")
        return sys.stdin.buffer
    try:
        return open_file(Path(path), name, streams=True)
    except FileNotFoundError:
        fail("file-not-found", f"file not found: `{name}`")
    except (OSError, ValueError) as error:
        _refuse(name, error)


def _refuse(name: str, error: OSError | ValueError) -> NoReturn:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    fail("file-not-readable", f"`{name}` cannot be read: {reason.lower()}")


def _measure_size(file: BinaryIO) -> int | None:
    try:
        return os.fstat(file.fileno()).st_size or None
    except OSError:  # standard input of a program that has put another stream there
        return None


def guess_format(beginning: bytes, name: str) -> str:
    """The format of a trace that begins so."""
    if not beginning:
        fail("empty-trace", f"`{name}` is empty")
    if b"\0" in beginning:
        _require_addresses(beginning, name)
        return BINARY
    line = next((line for line in beginning.splitlines() if line.strip() and not REMARK.match(line)), b"")
    for layout, text_format in TEXT_FORMATS.items():
        if text_format.pattern.fullmatch(line):
            return layout
    message = f"`{name}` is in no format that is known: it begins with `{shorten_line(line)}`"
    fail("unknown-format", message, hint=f"--trace-format names the format: {', '.join(FORMATS)}")


def _require_addresses(beginning: bytes, name: str) -> None:
    """The two highest bytes of an address are both 0 or, in a system's kernel, both 255."""
    words = np.frombuffer(beginning[: len(beginning) - len(beginning) % WORD], "<u8")
    if not np.isin(words >> np.uint64(48), (0, 0xFFFF)).all():
        message = f"`{name}` is in no format that is known: it is not text, and its 64-bit words are not addresses"
        fail("unknown-format", message, hint="--trace-format binary reads it all the same")
