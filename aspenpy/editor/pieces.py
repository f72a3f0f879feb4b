"""Pieces: the declarations, kernels and components of a file, each by itself.

After a keystroke all but one of them are what they were: what is known of a piece is kept under its text. A file that
is being typed has pieces, too: a keyword that begins a kernel begins a piece wherever it stands.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.language.vocabulary import DECLARATION, KERNEL, KEYWORDS, MODEL, keywords_that_begin
from aspenpy.record import NamedTuple

MOST_KEPT = 16_384  # pieces of which something is kept; a model of 100 kB has some hundred
MOST_FILES_KEPT = 64  # whole texts of which something is kept

_FIRST_WORDS = sorted(word.lower() for word in keywords_that_begin(MODEL, DECLARATION, KERNEL))

_MARKS = re.compile(
    rf"""//[^\n]*+ | "[^"\\]*+(?:\\.[^"\\]*+)*+" | include(?![A-Za-z0-9_])[ \t\r\n]+[^ \t\r\n]+
    | (?P<word>(?<![A-Za-z0-9_.])(?:{"|".join(_FIRST_WORDS)})(?![A-Za-z0-9_]))
    | (?P<sign>[][(){{}}])""",
    re.VERBOSE | re.DOTALL,
)

LONGEST_READ = 30_000  # characters of a piece whose syntax is looked at while it is typed: 50 ms

OPENING = {"{": "}", "[": "]", "(": ")"}


class DocumentPiece(NamedTuple):
    """A part of a file and where it begins."""

    start: int
    text: str


@lru_cache(MOST_FILES_KEPT)
def pieces(text: str) -> tuple[DocumentPiece, ...]:
    """The pieces of a file, in order; together they are the file."""
    cuts = [0]
    blocks, groups, top = 0, 0, 0  # open braces, other open brackets, and the braces around what is at the top
    for mark in _MARKS.finditer(text):
        word, sign = mark["word"], mark["sign"]
        if word == "model":
            top, blocks = 1, 0
        elif word == "kernel" or (word and blocks == top and not groups):
            cuts.append(mark.start())
            blocks, groups = (top, 0) if word == "kernel" else (blocks, groups)
        elif sign == "{":
            blocks, groups = blocks + 1, 0
        elif sign == "}":
            blocks, groups = max(blocks - 1, 0), 0
            if not blocks and not top:
                cuts.append(mark.end())
        elif sign:
            groups = max(0, groups + (1 if sign in OPENING else -1))
    places = [*dict.fromkeys(cuts), len(text)]
    return tuple(DocumentPiece(start, text[start:end]) for start, end in pairwise(places) if start < end)


# -- the syntax of a piece -------------------------------------------------------------------------

_SIMPLE = {word.lower(): row.example for word, row in KEYWORDS.items() if row.example}
"""What may follow a piece, by its first word: the parser stops there if the piece is not complete."""

_BEGINNING = re.compile(r"(?:[ \t\r\n]|//[^\n]*+)*+([A-Za-z_]\w*)")


def syntax_errors(text: str) -> list[tuple[int, Diagnostic]]:
    """The first mistake in each piece that is read by itself, with the offset at which the piece begins. A mistake of
    the file as a whole, such as a brace that is missing, is not among them."""
    parts = [piece for piece in pieces(text) if _first_word(piece.text)]
    application = bool(parts) and _first_word(parts[0].text) == "model"
    errors = []
    for index, piece in enumerate(parts):
        last = index == len(parts) - 1
        following = "" if last else _first_word(parts[index + 1].text)
        error = _error(piece.text.rstrip().removesuffix("}") if last and application else piece.text, following)
        if error is not None and application:
            errors.append((piece.start, error))
    return errors


def _first_word(text: str) -> str:
    beginning = _BEGINNING.match(text)
    return beginning[1] if beginning else ""


@lru_cache(MOST_KEPT)
def _error(text: str, following: str) -> Diagnostic | None:
    """The first mistake inside a piece of an application, its spans counted from the beginning of the piece."""
    beginning = _first_word(text)
    if beginning not in _SIMPLE or "include" in text or len(text) > LONGEST_READ:
        return None
    before = "model m {"
    kernel = "" if "kernel" in (beginning, following) else _SIMPLE["kernel"]
    tail = f"{_SIMPLE.get(following, '')} {kernel}}}"
    try:
        parse_file(Source(before + text + tail), None, [])
    except AspenError as error:
        mistake = error.diagnostics[0]
        spans = [mistake.span, *(related.span for related in mistake.related)]
        if all(span is not None and len(before) <= span.start <= len(before + text) for span in spans):
            return _move_mistake(mistake, Source(text), len(before))
    return None


def _move_mistake(mistake: Diagnostic, source: Source, by: int) -> Diagnostic:
    def shift_span(span: Span | None) -> Span | None:
        return None if span is None else Span(source, span.start - by, span.end - by)

    related = tuple(item.replace(span=shift_span(item.span)) for item in mistake.related)
    return mistake.replace(span=shift_span(mistake.span), related=related)
