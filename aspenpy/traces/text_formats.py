"""References of a program that ran, many at once, and traces in text, one reference a line: read in blocks, each at
once where all its lines are as they should be.

A format has two readers. `read_regular` reads a whole block of regular lines, and gives up if there is another one.
`make_regular` makes any line regular, drops it, or says what is wrong with it; it is slow, and needed for few blocks.

Lackey (`valgrind --tool=lackey --trace-mem=yes`): `I addr,size`, and ` L`, ` S` and ` M` for loads, stores and both;
addresses in hexadecimal, sizes in decimal. What Valgrind says besides begins with `==` or `--`.

Dinero's `din` (Edler and Hill): a label (0 or `r` a load, 1 or `w` a store, 2 or `i` an instruction), an address and,
in the extended form, a size, both hexadecimal. Without a size, it is the line of the address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from aspenpy.language.diagnostics import fail
from aspenpy.record import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOAD, STORE, INSTRUCTION = 0, 1, 2

KINDS = {"loads": LOAD, "stores": STORE, "instructions": INSTRUCTION}  # what references are, as an option names them

DATA = frozenset({LOAD, STORE})


class References(NamedTuple):
    """References in the order of the program: first byte, number of bytes, kind. Where a trace does not tell sizes, a
    reference has one byte; where it does not tell kinds, there are none."""

    addresses: NDArray[np.uint64]
    sizes: NDArray[np.int64] | None = None
    kinds: NDArray[np.uint8] | None = None

    def split(self, shift: int, most: int) -> Iterator[References]:
        """The references in parts of at most about `most` lines."""
        if not len(self.addresses):
            return
        if self.sizes is None:
            cuts = np.arange(0, len(self.addresses), most)
        else:
            touched = np.cumsum(_count_lines(self.addresses, self.sizes, shift))
            cuts = np.searchsorted(touched, np.arange(0, touched[-1], most))
        for start, end in zip(cuts, [*cuts[1:], len(self.addresses)], strict=True):
            part = slice(start, end)
            sizes = None if self.sizes is None else self.sizes[part]
            yield References(self.addresses[part], sizes, None if self.kinds is None else self.kinds[part])

    def split_by_line(self, shift: int) -> References:
        """One reference for each line, of 2**shift bytes, that a reference touches: the first byte in it."""
        if self.sizes is None:
            return self
        lines = _count_lines(self.addresses, self.sizes, shift)
        if not (lines > 1).any():
            return self
        owner = np.repeat(np.arange(len(lines)), lines)
        number = np.arange(len(owner)) - np.repeat(np.cumsum(lines) - lines, lines)
        first = self.addresses >> np.uint64(shift)
        starts = (first[owner] + number.astype(np.uint64)) << np.uint64(shift)
        addresses = np.maximum(starts, self.addresses[owner])
        return References(addresses, None, None if self.kinds is None else self.kinds[owner])


def _count_lines(addresses: NDArray[np.uint64], sizes: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    last = addresses + (sizes - 1).astype(np.uint64)
    return ((last >> np.uint64(shift)) - (addresses >> np.uint64(shift))).astype(np.int64) + 1


MARGIN = 16  # bytes that must stand before the first number: words are read from its end backwards
EIGHT = 8  # digits of a word


def _fill_word(byte: int) -> np.uint64:
    """A word of eight such bytes."""
    return np.uint64(byte * 0x0101010101010101)


_ZEROS = _fill_word(ord("0"))
_KEPT = np.array([(1 << 8 * digits) - 1 for digits in range(EIGHT + 1)], np.uint64)
"""Masks of the bytes of a word's last 0, 1, ..., 8 characters."""


def last_characters(text: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The eight characters before each place, the last in the lowest byte."""
    view = np.ndarray((len(text) - EIGHT + 1,), dtype=">u8", buffer=text.data, strides=(1,))
    return view[ends - EIGHT].astype(np.uint64)


def read_hexadecimal(
    text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.uint64] | None:
    """The values of hexadecimal numbers of 1 to 16 digits, or None if one of them is something else."""
    lengths = ends - starts
    if lengths.min() < 1 or lengths.max() > 2 * EIGHT:
        return None
    low, is_right = _read_word(last_characters(text, ends), np.minimum(lengths, EIGHT))
    if lengths.max() > EIGHT:
        high, is_high_right = _read_word(last_characters(text, ends - EIGHT), np.maximum(lengths - EIGHT, 0))
        low |= high << np.uint64(4 * EIGHT)
        is_right = is_right and is_high_right
    return low if is_right else None


def _read_word(word: NDArray[np.uint64], lengths: NDArray[Any]) -> tuple[NDArray[np.uint64], bool]:
    """The values of the last `lengths` hexadecimal digits of each word, and whether all are digits."""
    kept = _KEPT[lengths]
    word = (word & kept) | (_ZEROS & ~kept)
    # Four bits for each digit: the lowest of its character, and 9 more for a letter (0x41..0x46 and 0x61..0x66).
    values = (word & _fill_word(0x0F)) + ((word >> np.uint64(6)) & _fill_word(1)) * np.uint64(9)
    is_letter = ((values + _fill_word(6)) >> np.uint64(4)) & _fill_word(1)
    lower = word | ((word >> np.uint64(1)) & _fill_word(0x20))
    written = values + _ZEROS + is_letter * np.uint64(0x27)
    is_right = bool((lower == written).all() and not (values & _fill_word(0xF0)).any())
    values = (values | values >> np.uint64(4)) & np.uint64(0x00FF00FF00FF00FF)
    values = (values | values >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    return (values | values >> np.uint64(16)) & np.uint64(0xFFFFFFFF), is_right


def read_decimal(
    text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """The values of decimal numbers of 1 to 5 digits, or None if one of them is something else."""
    lengths = ends - starts
    if lengths.min() < 1 or lengths.max() > 5:
        return None
    values = np.zeros(len(starts), np.int64)
    scale = 1
    for position in range(int(lengths.max())):
        digit = text[ends - 1 - position] - np.uint8(ord("0"))  # what is below "0" becomes large
        digit[lengths <= position] = 0
        if digit.max() > 9:
            return None
        values += digit * np.int64(scale)
        scale *= 10
    return values


BLOCK = 1 << 20  # bytes that are read at once
LONGEST_SHOWN = 60  # characters of a line that a message shows
MOST_BYTES = 99_999  # of one reference; the largest that a processor makes have a few thousand


class Lines(NamedTuple):
    """A block: its bytes, and where each line starts and ends."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class TextFormat(Record):
    """A format of traces with a line for each reference. `pattern` matches a line of one."""

    pattern: re.Pattern[bytes]
    read_regular: Callable[[Lines, frozenset[int]], References | None]
    make_regular: Callable[[bytes], bytes | None]


class Readable(Protocol):
    """An open file, as far as the readers of traces need it: a source of bytes."""

    def read(self, size: int, /) -> bytes: ...


def read_references(file: Readable, name: str, layout: TextFormat, kinds: frozenset[int]) -> Iterator[References]:
    """References of a trace of the kinds that are wanted. AspenError for a line that is no reference."""
    number = 1
    for block in _read_blocks(file, name):
        read = layout.read_regular(_find_lines(block), kinds)
        if read is None:
            regular = b"".join(_make_regular(block, number, name, layout))
            read = layout.read_regular(_find_lines(regular), kinds) if regular else None
        if read is not None:
            yield read
        number += block.count(b"\n")


def _read_blocks(file: Readable, name: str) -> Iterator[bytes]:
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


def _find_lines(block: bytes) -> Lines:
    text = np.frombuffer(bytes(MARGIN) + block, np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    return Lines(text, np.concatenate(([MARGIN], ends[:-1] + 1)), ends)


def _make_regular(block: bytes, number: int, name: str, layout: TextFormat) -> Iterator[bytes]:
    """The lines of a block that hold references, each in the regular form."""
    for index, line in enumerate(block.splitlines(), number):
        if not line.strip():
            continue
        try:
            regular = layout.make_regular(line)
        except ValueError as error:
            fail(
                "not-a-reference", f"`{name}`, line {index}: `{shorten_line(line)}` is not a reference", hint=str(error)
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


# -- Lackey ------------------------------------------------------------------------------------------

LACKEY_LINE = re.compile(rb"\s*([ILSM])\s+([0-9a-fA-F]{1,16}),(\d{1,5})\s*")
REMARK = re.compile(rb"(==|--|\*\*)\d*(==|--|\*\*)")
PREFIXES = {b"I  ": INSTRUCTION, b" L ": LOAD, b" S ": STORE, b" M ": LOAD}
MODIFY = b" M "
PREFIX = 3  # characters before an address

_NOTHING = References(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint8))


def _read_lackey(lines: Lines, kinds: frozenset[int]) -> References | None:
    """All references, or None if a line is not regular. Of kinds that are not wanted the letters are looked at."""
    commas = np.flatnonzero(lines.text == ord(","))
    if len(commas) != len(lines.ends) or (lines.ends - lines.starts).min() < PREFIX:
        return None
    prefixes = last_characters(lines.text, lines.starts + PREFIX) & np.uint64(0xFFFFFF)
    wanted = np.zeros(len(prefixes), np.bool_)
    known = 0
    for prefix, kind in PREFIXES.items():
        having = prefixes == np.uint64(int.from_bytes(prefix, "big"))
        known += int(np.count_nonzero(having))
        if kind in kinds or (prefix == MODIFY and STORE in kinds):
            wanted |= having
    if known != len(prefixes):
        return None
    chosen = np.flatnonzero(wanted)
    if not len(chosen):
        return _NOTHING
    commas = commas[chosen]
    starts = lines.starts[chosen]
    if (commas < starts + PREFIX).any() or (commas >= lines.ends[chosen]).any():  # two in one line, none in another
        return None
    addresses = read_hexadecimal(lines.text, starts + PREFIX, commas)
    sizes = read_decimal(lines.text, commas + 1, lines.ends[chosen])
    if addresses is None or sizes is None or not are_possible(addresses, sizes):
        return None
    return _split_modifications(addresses, sizes, prefixes[chosen], kinds)


def _split_modifications(
    addresses: NDArray[np.uint64], sizes: NDArray[np.int64], prefixes: NDArray[np.uint64], kinds: frozenset[int]
) -> References:
    """A modification is a load, then a store."""
    letters = (prefixes >> np.uint64(8)).astype(np.uint8)
    labels = np.full(len(letters), LOAD, np.uint8)
    labels[letters == ord("S")] = STORE
    labels[letters == ord(" ")] = INSTRUCTION
    both = letters == ord("M")
    if not both.any():
        return References(addresses, sizes, labels)
    if LOAD not in kinds or STORE not in kinds:
        labels[both] = LOAD if LOAD in kinds else STORE
        return References(addresses, sizes, labels)
    owner = np.repeat(np.arange(len(letters)), both + 1)
    labels = labels[owner]
    labels[1:][owner[1:] == owner[:-1]] = STORE
    return References(addresses[owner], sizes[owner], labels)


def _make_lackey_regular(line: bytes) -> bytes | None:
    """The regular form of a reference, None for a remark. ValueError for anything else."""
    if REMARK.match(line):
        return None
    matched = LACKEY_LINE.fullmatch(line)
    if not matched:
        raise ValueError(
            "Lackey writes ` L 1ffe8fe3a0,8`; keep what the program prints out of it: valgrind --log-file=FILE"
        )
    letter, address, size = matched.groups()
    require_possible(int(address, 16), int(size))
    return (b"I  " if letter == b"I" else b" %b " % letter) + b"%b,%b\n" % (address, size)


# -- Dinero ------------------------------------------------------------------------------------------

DINERO_LINE = re.compile(rb"\s*([012rwi])\s+(?:0[xX])?([0-9a-fA-F]{1,16})(?:\s+(?:0[xX])?([0-9a-fA-F]{1,5}))?\s*")
LABELS = {b"0": LOAD, b"r": LOAD, b"1": STORE, b"w": STORE, b"2": INSTRUCTION, b"i": INSTRUCTION}
DIGITS = {LOAD: b"0", STORE: b"1", INSTRUCTION: b"2"}


def _read_dinero(lines: Lines, kinds: frozenset[int]) -> References | None:
    """All references, or None if a line is not regular."""
    text, starts, ends = lines
    spaces = np.flatnonzero(text == ord(" "))
    fields = len(spaces) // len(ends)
    if fields not in (1, 2) or len(spaces) != fields * len(ends):
        return None
    if (spaces[::fields] != starts + 1).any():
        return None
    labels = text[starts] - np.uint8(ord("0"))
    stops = ends if fields == 1 else spaces[1::2]
    addresses = read_hexadecimal(text, starts + 2, stops)
    sizes = read_hexadecimal(text, stops + 1, ends) if fields == 2 else np.ones(len(ends), np.uint64)
    if labels.max() > INSTRUCTION or addresses is None or sizes is None or sizes.max() > MOST_BYTES:
        return None
    counts = sizes.astype(np.int64)
    if not are_possible(addresses, counts):
        return None
    wanted = np.isin(labels, list(kinds))
    return References(addresses[wanted], counts[wanted], labels[wanted])


def _make_dinero_regular(line: bytes) -> bytes:
    """The regular form of a reference. ValueError for anything else."""
    matched = DINERO_LINE.fullmatch(line)
    if not matched:
        raise ValueError("Dinero's lines are `0 7ffe8fe3a0`: 0 for a load, 1 for a store, 2 for an instruction")
    label, address, size = matched.groups()
    require_possible(int(address, 16), int(size or b"1", 16))
    return b"%b %b %b\n" % (DIGITS[LABELS[label]], address, size or b"1")


TEXT_FORMATS = {
    "lackey": TextFormat(LACKEY_LINE, _read_lackey, _make_lackey_regular),
    "dinero": TextFormat(DINERO_LINE, _read_dinero, _make_dinero_regular),
}
