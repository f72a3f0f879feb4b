"""Text: a file as an editor has it, with its lines, and positions counted as the editor counts them."""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_END = re.compile(r"\r\n|\r|\n")  # an editor's lines; Python's `splitlines` knows more of them

UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""Bytes of a unit that columns are counted in."""


class Text:
    """A text with the offsets at which its lines begin. `encoding` says what columns count: bytes of UTF-8, the units
    of 16 bits that the protocol has by default, or characters. A position that lies nowhere is moved to the nearest
    place: to the end of its line, to the end of the text, in front of a character that it cuts."""

    __slots__ = ("_ascii", "encoding", "starts", "text")

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text, self.encoding = text, encoding
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._ascii = text.isascii()

    def offset(self, line: int, column: int) -> int:
        """Where a position is, in characters from the beginning."""
        if line < 0 or column < 0:
            return 0 if line < 0 else self._start(line)
        start = self._start(line)
        if line >= len(self.starts):
            return start
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        if self._ascii or self.encoding == "utf-32":
            return min(start + column, end)
        return start + self._characters(self.text[start:end], column)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 0."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.starts, offset) - 1
        return line, self.columns(self.starts[line], offset)

    def columns(self, start: int, end: int) -> int:
        """The columns between two offsets of a line."""
        return end - start if self._ascii else self._columns(self.text[start:end])

    def replace_part(self, start: int, end: int, text: str) -> Text:
        """The text with another one from one offset to another."""
        start, end = min(start, end), max(start, end)
        return Text(self.text[:start] + text + self.text[end:], self.encoding)

    def _start(self, line: int) -> int:
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def _columns(self, text: str) -> int:
        if self.encoding == "utf-32":
            return len(text)
        return (
            len(text.encode(f"{self.encoding}{'-le' if self.encoding == 'utf-16' else ''}", "surrogatepass"))
            // (UNITS[self.encoding])
        )

    def _characters(self, line: str, column: int) -> int:
        """How many characters of a line stand before a column."""
        reached = 0
        for place, character in enumerate(line):
            reached += self._columns(character)
            if reached > column:
                return place
        return len(line)


def move_offset(offset: int, start: int, end: int, length: int) -> int | None:
    """Where an offset is after the characters from `start` to `end` became `length` others; None if it was inside."""
    if offset <= start:
        return offset
    return offset + length - (end - start) if offset >= end else None
