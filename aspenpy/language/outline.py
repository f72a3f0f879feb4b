"""Outline: the words of a file, comments and includes among them, grouped into blocks and the items of blocks.

It needs no more than words, so that a file meant to be included, which may hold any piece of a model, has an outline,
too. Items are what stands on a line of its own: a declaration, a statement, a requirement, a part, a case.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from aspenpy.language.diagnostics import Related, fail
from aspenpy.language.source import Source, Span
from aspenpy.language.stray import refuse_stray
from aspenpy.language.tables import tables
from aspenpy.language.tokens import MAXIMUM_NESTING, words
from aspenpy.language.vocabulary import (
    CASES,
    CLOSING,
    CONSTANTS,
    DECLARATION,
    KERNEL,
    KEYWORDS,
    LIST,
    MODEL,
    PART,
    PARTS,
    REQUIREMENTS,
    STATEMENT,
    STATEMENTS,
    keywords_that_begin,
    word_for,
)


class Word:
    """A word and the line breaks before it.

    `header` is the first word of its item; `frame` is what it stands in directly, `opens` and `closes` what a bracket
    opens and closes: a kind of block, `LIST` (the braces of values) or `GROUP` (brackets and parentheses). A `sign`
    is a minus with one operand.
    """

    __slots__ = ("breaks", "closes", "frame", "header", "kind", "opens", "sign", "start", "starts_item", "text")

    def __init__(self, kind: str, text: str, start: int, breaks: int) -> None:
        self.kind, self.text, self.start, self.breaks = kind, text, start, breaks
        self.frame = self.opens = self.closes = ""
        self.header: Word | None = None
        self.starts_item = self.sign = False


class Item(NamedTuple):
    """Words and blocks in their order."""

    parts: list[Word | Block]


class Block(NamedTuple):
    """What stands in braces, and a comment behind the opening brace."""

    opening: Word
    remarks: list[Word]
    items: list[Item]
    closing: list[Word]


BLOCKS = (STATEMENTS, REQUIREMENTS, PARTS, CASES)
GROUP = "group"

_ITEM_WORDS = keywords_that_begin(MODEL, DECLARATION, KERNEL, STATEMENT, PART)

_ENDS = frozenset({"NAME", "NUMBER", "QUANTITY", "STRING", "RPAR", "RSQB", "RBRACE", "INCLUDE", "PER_RANK"}) | CONSTANTS
"""What an expression, and so an item, may end with; a minus behind one of them subtracts."""


def outline_of(source: Source, file: list[Word] | None = None) -> list[Item]:
    """The items of a file, given its words or not. Raises AspenError for stray characters and brackets that do not
    match."""
    file = split_words(source) if file is None else file
    _annotate(source, [word for word in file if word.kind != "COMMENT"])
    return _gather_items(file)


def split_words(source: Source) -> list[Word]:
    """The words of a file, comments and includes too. Raises AspenError for stray characters."""
    keywords = tables().keywords
    read: list[Word] = []
    end = 0
    for match in words(source.text):
        kind = match.lastgroup or ""
        if kind == "STRAY":
            refuse_stray(source, match.end() - 1)
        text = match[kind]
        start = match.end() - len(text)
        breaks = source.text.count("\n", end, start)
        if kind == "INCLUDE":
            text = f"include {text.removeprefix('include').strip()}"
        elif kind == "PER_RANK":
            text = "per rank"
        read.append(Word(keywords.get(text, kind) if kind == "NAME" else kind, text.rstrip(), start, breaks))
        end = match.end()
    return read


# -- what each word is -----------------------------------------------------------------------------


class _Frame:
    """An open bracket, or the file itself: what it holds, and the item being read in it."""

    def __init__(self, kind: str, opening: Word | None) -> None:
        self.kind, self.opening = kind, opening
        self.header: Word | None = None
        self.names = 0


def _annotate(source: Source, code: list[Word]) -> None:
    """Finds out for each word what it stands in, whether it begins an item, which braces are blocks."""
    frames = [_Frame(STATEMENTS, None)]
    for place, word in enumerate(code):
        previous = code[place - 1] if place else None
        frame = frames[-1]
        if word.kind in CLOSING.values():
            _close(source, frames, word)
            continue
        if frame.kind not in (LIST, GROUP) and _starts_item(frame, previous, word, code[place + 1 : place + 3]):
            word.starts_item = True
            frame.header, frame.names = word, 0
        frame.names += word.kind == "NAME"
        word.frame, word.header = frame.kind, frame.header
        word.sign = word.kind == "MINUS" and (previous is None or previous.kind not in _ENDS)
        if word.kind in CLOSING:
            word.opens = _describe_opening(frame, previous, word)
            frames.append(_Frame(word.opens, word))
            frames[-1].header = frame.header if word.opens == LIST else None
            if len(frames) > MAXIMUM_NESTING:
                _refuse(source, word, f"more than {MAXIMUM_NESTING} brackets are nested here")
    if frames[-1].opening is not None:
        _refuse(source, frames[-1].opening, f"this `{frames[-1].opening.text}` is not closed")


def _describe_opening(frame: _Frame, previous: Word | None, word: Word) -> str:
    header = frame.header.kind if frame.header is not None else ""
    if word.kind != "LBRACE":
        return GROUP
    holds = KEYWORDS[header].holds if header in KEYWORDS else PARTS if header == "NAME" else STATEMENTS
    if frame.kind in (LIST, GROUP) or holds == LIST or (previous is not None and previous.kind == "EQUAL"):
        return LIST
    return STATEMENTS if frame.kind == CASES else holds


def _close(source: Source, frames: list[_Frame], word: Word) -> None:
    opening = frames[-1].opening
    if opening is None:
        _refuse(source, word, f"one `{word.text}` too many")
    if CLOSING[opening.kind] != word.kind:
        expected = word_for(CLOSING[opening.kind])
        _refuse(source, word, f"expected {expected} to close `{opening.text}`, found `{word.text}`", opening)
    word.closes = frames.pop().kind
    word.frame, word.header = frames[-1].kind, frames[-1].header


def _starts_item(frame: _Frame, previous: Word | None, word: Word, following: list[Word]) -> bool:
    """Whether a word begins an item of the block it stands in directly."""
    if frame.header is None:
        return True
    kinds = [word.kind, *(next_word.kind for next_word in following)]
    if word.kind in _ITEM_WORDS:
        return not (word.kind == "IF" and previous is not None and previous.kind == "ELSE")
    if word.kind == "INCLUDE" or (previous is not None and previous.kind == "INCLUDE"):
        return word.breaks > 0
    if frame.kind == CASES:
        return word.kind == "ELSE" or (word.kind == "LSQB" and previous is not None and previous.kind == "RBRACE")
    if word.kind != "NAME" or previous is None or previous.kind not in _ENDS:
        return False
    if frame.kind == REQUIREMENTS:
        return kinds[1:2] == ["LSQB"]
    if frame.kind == PARTS:
        return frame.names == 2 if frame.header.kind == "NAME" else True
    return kinds == ["NAME", "NAME", "LBRACE"] or word.breaks > 0


def _refuse(source: Source, word: Word, message: str, opening: Word | None = None) -> NoReturn:
    related = () if opening is None else (Related(_place(source, opening), "opened here"),)
    fail("syntax", message, _place(source, word), related=related)


def _place(source: Source, word: Word) -> Span:
    return Span(source, word.start, word.start + len(word.text))


# -- putting them together -------------------------------------------------------------------------


def _gather_items(file: list[Word]) -> list[Item]:
    """Words in items and blocks. A comment goes with the item on its line; alone on a line between two items, it is
    an item itself."""
    items: list[Item] = []
    open_blocks: list[tuple[Block, list[Item]]] = []
    for word, between in zip(file, _ends_of_items(file), strict=True):
        if word.kind == "COMMENT" and not word.breaks and open_blocks and not items:
            open_blocks[-1][0].remarks.append(word)
        elif word.closes in BLOCKS:
            block, items = open_blocks.pop()
            block.closing.append(word)
        else:
            if word.starts_item or not items or (word.kind == "COMMENT" and word.breaks and between):
                items.append(Item([]))
            if word.opens in BLOCKS:
                block = Block(word, [], [], [])
                items[-1].parts.append(block)
                open_blocks.append((block, items))
                items = block.items
            else:
                items[-1].parts.append(word)
    return items


def _ends_of_items(file: list[Word]) -> list[bool]:
    """For each word, whether what follows, comments aside, begins an item or closes a block, or nothing follows."""
    between: list[bool] = []
    ends = True
    for word in reversed(file):
        between.append(ends)
        if word.kind != "COMMENT":
            ends = word.starts_item or word.closes in BLOCKS
    return between[::-1]
