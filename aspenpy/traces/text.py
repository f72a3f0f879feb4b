"""Traces in text, one reference a line: read in blocks, each at once where all its lines are as they should be.

A format has two readers. `quick` reads a whole block of regular lines, and gives up if there is another one. `tidy`
makes any line regular, drops it, or says what is wrong with it; it is slow, and needed for few blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from aspenpy.language.diagnostics import fail
from aspenpy.traces.digits import MARGIN
from aspenpy.traces.references import References

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 20  # bytes that are read at once
LONGEST_SHOWN = 60  # characters of a line that a message shows
MOST_BYTES = 99_999  # of one reference; the largest that a processor makes have a few thousand


class Lines(NamedTuple):
    """A block: its bytes, and where each line starts and ends."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class TextFormat(Protocol):
    """A format of traces, in one line each."""

    def quick(self, lines: Lines, kinds: frozenset[int]) -> References | None: ...

    def tidy(self, line: bytes) -> bytes | None: ...


class Readable(Protocol):
    """Where bytes come from."""

    def read(self, size: int, /) -> bytes: ...


def references(file: Readable, name: str, layout: TextFormat, kinds: frozenset[int]) -> Iterator[References]:
    """What a trace holds of the kinds that are wanted. AspenError for a line that is no reference."""
    number = 1
    for block in _blocks(file, name):
        read = layout.quick(_lines(block), kinds)
        if read is None:
            regular = b"".join(_tidy_lines(block, number, name, layout))
            read = layout.quick(_lines(regular), kinds) if regular else None
        if read is not None:
            yield read
        number += block.count(b"\n")


def _blocks(file: Readable, name: str) -> Iterator[bytes]:
    """Whole lines, each with its end."""
    rest = b""
    while block := file.read(BLOCK):
        text, end, begun = (rest + block).rpartition(b"\n")
        if not end and len(begun) > BLOCK:
            fail("not-a-trace", f"`{name}` is not a trace in text: it has a line of more than {BLOCK >> 20} MiB")
        if end:
            yield text + end
        rest = begun
    if rest:
        yield rest + b"\n"


def _lines(block: bytes) -> Lines:
    text = np.frombuffer(bytes(MARGIN) + block, np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    return Lines(text, np.concatenate(([MARGIN], ends[:-1] + 1)), ends)


def _tidy_lines(block: bytes, number: int, name: str, layout: TextFormat) -> Iterator[bytes]:
    """The lines of a block that hold references, each in the regular form."""
    for place, line in enumerate(block.splitlines(), number):
        if not line.strip():
            continue
        try:
            regular = layout.tidy(line)
        except ValueError as error:
            fail(
                "not-a-reference", f"`{name}`, line {place}: `{shorten_line(line)}` is not a reference", hint=str(error)
            )
        if regular is not None:
            yield regular


def shorten_line(line: bytes) -> str:
    """The beginning of a line, for a message."""
    text = line.decode("ascii", "backslashreplace").strip()
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def are_possible(addresses: NDArray[np.uint64], sizes: NDArray[np.int64]) -> bool:
    """Whether all have a byte at least, and none goes beyond the last address."""
    last = addresses + (sizes - 1).astype(np.uint64)
    return bool(sizes.min() > 0 and (last >= addresses).all())


def require_possible(address: int, size: int) -> None:
    """ValueError for what no reference can be."""
    if not 0 < size <= MOST_BYTES:
        raise ValueError(f"a reference has 1 to {MOST_BYTES} bytes")
    if address + size > 1 << 64:
        raise ValueError("it goes beyond the last 64-bit address")
