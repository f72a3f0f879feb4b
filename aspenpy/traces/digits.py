"""Numbers in text, many at once: the digits of each in one or two 64-bit words, eight digits a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARGIN = 16  # bytes that must stand before the first number: words are read from its end backwards
EIGHT = 8  # digits of a word


def _each(byte: int) -> np.uint64:
    """A word of eight such bytes."""
    return np.uint64(byte * 0x0101010101010101)


_ZEROS = _each(ord("0"))
_KEPT = np.array([(1 << 8 * digits) - 1 for digits in range(EIGHT + 1)], np.uint64)
"""Of a word, the bytes of its last 0, 1, ..., 8 characters."""


def words(text: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The eight characters before each place, the last in the lowest byte."""
    view = np.ndarray((len(text) - EIGHT + 1,), dtype=">u8", buffer=text.data, strides=(1,))
    return view[ends - EIGHT].astype(np.uint64)


def hexadecimal(
    text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.uint64] | None:
    """The values of hexadecimal numbers of 1 to 16 digits, or None if one of them is something else."""
    lengths = ends - starts
    if lengths.min() < 1 or lengths.max() > 2 * EIGHT:
        return None
    low, is_right = _eight(words(text, ends), np.minimum(lengths, EIGHT))
    if lengths.max() > EIGHT:
        high, is_high_right = _eight(words(text, ends - EIGHT), np.maximum(lengths - EIGHT, 0))
        low |= high << np.uint64(4 * EIGHT)
        is_right = is_right and is_high_right
    return low if is_right else None


def _eight(word: NDArray[np.uint64], lengths: NDArray[Any]) -> tuple[NDArray[np.uint64], bool]:
    """The values of the last so many hexadecimal digits of each word, and whether all are digits."""
    kept = _KEPT[lengths]
    word = (word & kept) | (_ZEROS & ~kept)
    # Four bits for each digit: the lowest of its character, and 9 more for a letter (0x41..0x46 and 0x61..0x66).
    values = (word & _each(0x0F)) + ((word >> np.uint64(6)) & _each(1)) * np.uint64(9)
    is_letter = ((values + _each(6)) >> np.uint64(4)) & _each(1)
    lower = word | ((word >> np.uint64(1)) & _each(0x20))
    written = values + _ZEROS + is_letter * np.uint64(0x27)
    is_right = bool((lower == written).all() and not (values & _each(0xF0)).any())
    values = (values | values >> np.uint64(4)) & np.uint64(0x00FF00FF00FF00FF)
    values = (values | values >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    return (values | values >> np.uint64(16)) & np.uint64(0xFFFFFFFF), is_right


def decimal(text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64] | None:
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
