"""Tokens: the words of a source, with those of included files in the places of the includes.

The pattern of the words comes from the grammar; this module adds what a grammar of words cannot say: includes,
the bound on nesting, and an explanation of characters that begin no word.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import parse_unit
from aspenpy.language.files import Reader
from aspenpy.language.opening import MAXIMUM_SIZE
from aspenpy.language.source import Source, Span
from aspenpy.language.tables import END, tables
from aspenpy.language.vocabulary import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator


_STRAY = (
    (r"/\*(?:.*?\*/)?", "there are no block comments", "comments start with `//` and end with the line"),
    (r'"', "this string is not closed", 'end it with `"`'),
    (r"'[^'\n]*'?", "strings stand in double quotes", None),
    (r"[\u201c-\u201f]", "`{0}` is not a double quote", 'write `"`'),
    (r"%", "`%` is not an operator", "write `mod(a, b)` for the remainder"),
    (r"&&?", "`{0}` is not an operator", "conditions are joined by `and`"),
    (r"\|\|?", "`{0}` is not an operator", "conditions are joined by `or`"),
    (r"!", "`!` is not an operator", "write `!=` for `is not equal to`, or turn the comparison round"),
    (r"#[^\n]*", "`#` does not start a comment", "comments start with `//`"),
    (r";", "`;` separates nothing here", "leave it out: statements end by themselves"),
    (r"[\u2212\u2013\u2014]", "`{0}` is not a minus sign", "write `-`"),
    (r"[\u00d7\u00b7\u22c5]", "`{0}` is not an operator", "write `*`"),
    (r"\ufeff", "stray byte order mark (U+FEFF)", "it may only stand at the very beginning of a file"),
)

LONGEST_SHOWN = 40  # characters of the user's text that a message repeats


def shorten_word_line(text: str) -> str:
    """The beginning of the first line of a text."""
    line = text.partition("\n")[0]
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 3] + "..."


def refuse_character(source: Source, position: int) -> NoReturn:
    """Raises the error for the character at this position of the file's text."""
    text = source.text
    for pattern, message, hint in _STRAY:
        match = re.compile(pattern, re.DOTALL).match(text, position)
        if match is not None:
            fail("stray-character", message.format(shorten_word_line(match[0])), Span(source, *match.span()), hint=hint)
    import unicodedata

    character = text[position]
    code = f"U+{ord(character):04X}"
    if unicodedata.category(character)[0] in "LM":
        _refuse_name(source, position)
    span = Span(source, position, position + 1)
    if unicodedata.category(character) == "Cc":
        fail("stray-character", f"stray control character {code}", span, hint="delete it")
    if unicodedata.category(character)[0] in "ZC":
        name = unicodedata.name(character, "no name").lower()
        fail("stray-character", f"stray invisible character {code} ({name})", span, hint="write a space")
    fail("stray-character", f"stray character `{character}`", span)


def _refuse_name(source: Source, position: int) -> NoReturn:
    """Refuses a name with letters that are not ASCII, and quotes the whole word."""
    first = position
    while first and re.match(r"\w", source.text[first - 1]):
        first -= 1
    word = re.compile(r"[\w\u0300-\u036f]*").match(source.text, first)
    end = max(position + 1, word.end() if word else 0)
    message = f"`{shorten_word_line(source.text[first:end])}` is not a name: identifiers are ASCII"
    fail("stray-character", message, Span(source, first, end), hint="use the letters A-Z and a-z, digits and `_`")


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
                    refuse_character(self._files[-1], word.end() - 1)
                elif kind == "INCLUDE":
                    span = Span(self._files[-1], word.end() - len(text), word.end())
                    waiting.append(self._include(text, span))
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

    def _include(self, text: str, span: Span) -> tuple[int, Iterator[re.Match[str]]]:
        """The words of the file an include names, and the offset its text has in the source."""
        name = text.removeprefix("include").strip().strip('"')
        if self.reader is None:
            fail("include", f"`{name}` cannot be included here: only model files may include files", span)
        file = self.reader.include(name, span.source, self.source, span)
        open_paths = [open_file.path for open_file in self._files]
        if file.path in open_paths:
            chain = [*self._files[open_paths.index(file.path) :], file]
            story = " includes ".join(f"`{member.name}`" for member in chain)
            fail("include-cycle", f"a file may not include itself: {story}", span)
        self._length += len(file.text)
        self._require_size(span)
        if len(self.source.included) >= MAXIMUM_INCLUDES:
            fail("too-large", f"the model includes more than {MAXIMUM_INCLUDES:,} files", span)
        self._files.append(file)
        return self.source.splice(file), words(file.text)

    def _require_size(self, span: Span | None) -> None:
        if self._length > MAXIMUM_SIZE:
            fail("too-large", f"the model is too large: it has more than {MAXIMUM_SIZE // 2**20} MiB", span)

    def _refuse_length(self, token: Token) -> NoReturn:
        span = Span(self.source, token.start, token.end)
        hint = "write what repeats once, with `iterate`, `map` or `kernel`, and a formula for a long table"
        fail("too-large", f"more than {MAXIMUM_WORDS:,} words and signs stand before this one", span, hint=hint)

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


LONGEST_NUMBER = 4_000  # characters of a number: converting more takes quadratic time, and nobody can read them
LARGEST_EXPONENT = 400  # behind `e`; a floating-point number ends at about 308


class LiteralError(ValueError):
    """A literal that is not accepted; the text says why in the user's words."""


@lru_cache(maxsize=4096)
def read_number(spelling: str) -> int | Fraction:
    """The exact value: an int where it is one, a Fraction elsewhere."""
    if len(spelling) > LONGEST_NUMBER:
        raise LiteralError(f"this number is {len(spelling):,} characters long; {LONGEST_NUMBER:,} are the most")
    if spelling.isdigit():
        return int(spelling)
    mantissa, _, exponent = spelling.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    if len(exponent) > LONGEST_EXPONENT or abs(int(exponent or 0)) > LARGEST_EXPONENT:
        raise LiteralError(f"the exponent of `{_shorten_spelling(spelling)}` is beyond {LARGEST_EXPONENT}")
    scale = int(exponent or 0) - len(fraction)
    digits = int(whole + fraction)
    return digits * 10**scale if scale >= 0 else _reduce_fraction(Fraction(digits, 10**-scale))


LONGEST_EXPONENT = 12  # characters of an exponent that are looked at


@lru_cache(maxsize=4096)
def read_quantity(spelling: str) -> tuple[int | Fraction, str]:
    """The value in base units, and the unit as it is spelled."""
    match = re.match(r"([0-9.]++(?:[eE][+-]?[0-9]+)?+) ?(.*)", spelling)
    assert match is not None, f"{spelling!r} is no quantity"
    number, unit = match.groups()
    return _reduce_fraction(read_number(number) * parse_unit(unit).size), unit


def read_string(spelling: str) -> str:
    r"""The text between the quotes; `\"` stands for a quote and `\\` for a backslash."""
    return re.sub(r'\\(["\\])', r"\1", spelling[1:-1])


def write_string(value: str) -> str:
    """The inverse of `read_string`."""
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def _reduce_fraction(value: int | Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _shorten_spelling(spelling: str) -> str:
    return spelling if len(spelling) <= 20 else spelling[:9] + "..." + spelling[-8:]
