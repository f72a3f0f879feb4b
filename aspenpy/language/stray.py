"""Stray characters: what to tell the user about a character that begins no word of the language."""

from __future__ import annotations

import re
from typing import NoReturn

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Source, Span

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


def refuse_stray(source: Source, position: int) -> NoReturn:
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
    """A name with letters that are not ASCII, told with the whole word."""
    first = position
    while first and re.match(r"\w", source.text[first - 1]):
        first -= 1
    word = re.compile(r"[\w\u0300-\u036f]*").match(source.text, first)
    end = max(position + 1, word.end() if word else 0)
    message = f"`{shorten_word_line(source.text[first:end])}` is not a name: identifiers are ASCII"
    fail("stray-character", message, Span(source, first, end), hint="use the letters A-Z and a-z, digits and `_`")
