"""Tokens: the words of a source, with those of included files in the places of the includes.

The pattern of the words comes from the grammar; this module adds what a grammar of words cannot say: includes,
the bound on nesting, and an explanation of characters that begin no word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

from aspenpy.language.diagnostics import fail
from aspenpy.language.files import Reader
from aspenpy.language.opening import MAXIMUM_SIZE
from aspenpy.language.source import Source, Span
from aspenpy.language.stray import refuse_stray
from aspenpy.language.tables import END, tables
from aspenpy.language.vocabulary import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator


MAXIMUM_NESTING = 200  # brackets open at one place, with the signs and powers that wait for an operand
MAXIMUM_BLOCKS = 64  # braces open at one place: what works on the tree may recurse, with several calls a block

MAXIMUM_WORDS = 600_000
"""Words of a model with all it includes, and signs between them: reading a word takes some 10 us, and what has as many
blocks as that takes some seconds to work out."""

MAXIMUM_INCLUDES = 10_000  # files one model may include, counted as often as they are included

_OPENING = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
_NESTING = (
    _OPENING | _CLOSING | {"CIRCUMFLEX", "MINUS", "PLUS", "STAR", "SLASH", "COMMA", "EQUAL", "RANGE", "COMPARISON"}
)
"""What changes the depth: brackets, `^` and a sign add to it, an operator that binds less ends a row of these."""

_OPERANDS = frozenset({"NAME", "NUMBER", "QUANTITY", "RPAR", "RSQB"}) | CONSTANTS
"""A minus behind one of these subtracts; elsewhere it is a sign."""


class Token:
    """A word: its type (a terminal of the grammar), its characters, and where they stand in the source."""

    __slots__ = ("end", "start", "type", "value")

    def __init__(self, type: str, value: str, start: int, end: int) -> None:
        self.type = type
        self.value = value
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Token({self.type}, {self.value!r}, {self.start})"


@lru_cache(maxsize=1)
def word_pattern() -> re.Pattern[str]:
    """Matches white space and the word behind it; the group that matched is its terminal, but for keywords."""
    return re.compile(tables().pattern)


def words(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Every word of a text, or of a part of it: comments and includes too. It ends where the match ends."""
    last = len(text[:end].rstrip(" \t\r\n"))
    return word_pattern().finditer(text, max(start, int(text.startswith("\ufeff"))), last)


class TokenStream:
    """The tokens the grammar sees: no comments, and included files in their places. `previous` is the last one. Of a
    source with a `part`, given by its first offset and the one behind it, those in it."""

    def __init__(self, source: Source, reader: Reader | None, part: tuple[int, int] | None = None) -> None:
        self.source = source
        self._part = part or (0, len(source.text))
        self.reader = reader
        self.previous: Token | None = None
        self._files = [source]
        self._length = len(source.text)

    def __iter__(self) -> Iterator[Token]:
        """Yields the tokens, and at last the one of type `END`."""
        self._require_size(None)
        keyword = tables().keywords.get
        waiting = [(0, words(self.source.text, *self._part))]
        nesting = _Nesting()
        left = MAXIMUM_WORDS
        while waiting:
            base, rest = waiting[-1]
            for word in rest:
                kind: str = word.lastgroup  # type: ignore[assignment]  # every alternative of the pattern is a group
                text, end = word[kind], base + word.end()
                if kind == "NAME":
                    token = Token(keyword(text, "NAME"), text, end - len(text), end)
                elif kind == "COMMENT":
                    continue
                elif kind == "STRAY":
                    refuse_stray(self._files[-1], word.end() - 1)
                elif kind == "INCLUDE":
                    place = Span(self._files[-1], word.end() - len(text), word.end())
                    waiting.append(self._include(text, place))
                    break
                else:
                    token = Token(kind, text, end - len(text), end)
                    if kind in _NESTING and nesting.too_deep_after(kind, self.previous):
                        self._refuse_nesting(token)
                left -= 1
                if left < 0:
                    self._refuse_length(token)
                yield token
                self.previous = token
            else:
                waiting.pop()
                self._files.pop()
        end = len(self.source.text[: self._part[1]].rstrip())
        yield Token(END, "", end, end)

    def _include(self, text: str, place: Span) -> tuple[int, Iterator[re.Match[str]]]:
        """The words of the file an include names, and the offset its text has in the source."""
        name = text.removeprefix("include").strip().strip('"')
        if self.reader is None:
            fail("include", f"`{name}` cannot be included here: only model files may include files", place)
        file = self.reader.include(name, place.source, self.source, place)
        open_paths = [open_file.path for open_file in self._files]
        if file.path in open_paths:
            chain = [*self._files[open_paths.index(file.path) :], file]
            story = " includes ".join(f"`{member.name}`" for member in chain)
            fail("include-cycle", f"a file may not include itself: {story}", place)
        self._length += len(file.text)
        self._require_size(place)
        if len(self.source.included) >= MAXIMUM_INCLUDES:
            fail("too-large", f"the model includes more than {MAXIMUM_INCLUDES:,} files", place)
        self._files.append(file)
        return self.source.splice(file), words(file.text)

    def _require_size(self, place: Span | None) -> None:
        if self._length > MAXIMUM_SIZE:
            fail("too-large", f"the model is too large: it has more than {MAXIMUM_SIZE // 2**20} MiB", place)

    def _refuse_length(self, token: Token) -> NoReturn:
        place = Span(self.source, token.start, token.end)
        hint = "write what repeats once, with `iterate`, `map` or `kernel`, and a formula for a long table"
        fail("too-large", f"more than {MAXIMUM_WORDS:,} words and signs stand before this one", place, hint=hint)

    def _refuse_nesting(self, token: Token) -> NoReturn:
        message = f"more than {MAXIMUM_BLOCKS} braces, or {MAXIMUM_NESTING} brackets, signs and powers, are nested here"
        hint = "give parts of the expression names of their own with `param`, or blocks with `kernel`"
        fail("nesting", message, Span(self.source, token.start, token.end), hint=hint)


class _Nesting:
    """Counts what is open at a token: brackets, and the signs and powers that wait for their operand."""

    __slots__ = ("blocks", "depth", "outer")

    def __init__(self) -> None:
        self.blocks = 0
        self.depth = 0
        self.outer: list[int] = []

    def too_deep_after(self, kind: str, previous: Token | None) -> bool:
        """Takes notice of a token of this kind; whether more is open now than may be."""
        if kind in _OPENING:
            self.outer.append(self.depth)
            self.depth += 1
            self.blocks += kind == "LBRACE"
        elif kind in _CLOSING:
            self.depth = self.outer.pop() if self.outer else 0
            self.blocks -= kind == "RBRACE"
        elif kind == "CIRCUMFLEX" or (kind == "MINUS" and (not previous or previous.type not in _OPERANDS)):
            self.depth += 1
        else:
            self.depth = self.outer[-1] + 1 if self.outer else 0
        return self.depth > MAXIMUM_NESTING or self.blocks > MAXIMUM_BLOCKS
