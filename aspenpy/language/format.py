"""Format: the text of a model, laid out the one way; only white space changes.

Items stand on lines of their own, two spaces deeper in each block. An item that was written on one line stays there
if it fits into 100 columns and no block in it holds more than one item; otherwise its blocks are opened up. Line breaks
inside an item are kept.
"""

from __future__ import annotations

from typing import NoReturn

from aspenpy.language.diagnostics import Related, fail
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.language.tables import tables
from aspenpy.language.tokens import MAXIMUM_NESTING, refuse_character, words
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
    PHRASES,
    REQUIREMENTS,
    STATEMENT,
    STATEMENTS,
    keywords_that_begin,
    word_for,
)
from aspenpy.record import NamedTuple


class SpacedWord:
    """A word and the line breaks before it.

    `header` is the first word of its item; `frame` is what it stands in directly, `opens` and `closes` what a bracket
    opens and closes: a kind of block, `LIST` (the braces of values) or `GROUP` (brackets and parentheses). A `sign`
    is a minus with one operand.
    """

    __slots__ = ("breaks", "closes", "frame", "header", "kind", "opens", "sign", "start", "starts_item", "text")

    def __init__(self, kind: str, text: str, start: int, breaks: int) -> None:
        self.kind, self.text, self.start, self.breaks = kind, text, start, breaks
        self.frame = self.opens = self.closes = ""
        self.header: SpacedWord | None = None
        self.starts_item = self.sign = False


class Item(NamedTuple):
    """Words and blocks in their order."""

    parts: list[SpacedWord | BracedItems]


class BracedItems(NamedTuple):
    """Items between braces, and a comment behind the opening brace."""

    opening: SpacedWord
    remarks: list[SpacedWord]
    items: list[Item]
    closing: list[SpacedWord]


BLOCKS = (STATEMENTS, REQUIREMENTS, PARTS, CASES)
GROUP = "group"

_ITEM_WORDS = keywords_that_begin(MODEL, DECLARATION, KERNEL, STATEMENT, PART)

_ENDS = frozenset({"NAME", "NUMBER", "QUANTITY", "STRING", "RPAR", "RSQB", "RBRACE", "INCLUDE", "PER_RANK"}) | CONSTANTS
"""What an expression, and so an item, may end with; a minus behind one of them subtracts."""


def outline_of(source: Source, file: list[SpacedWord] | None = None) -> list[Item]:
    """The items of a file, given its words or not. Raises AspenError for stray characters and brackets that do not
    match."""
    file = split_words(source) if file is None else file
    _annotate(source, [word for word in file if word.kind != "COMMENT"])
    return _gather_items(file)


def split_words(source: Source) -> list[SpacedWord]:
    """The words of a file, comments and includes too. Raises AspenError for stray characters."""
    keywords = tables().keywords
    read: list[SpacedWord] = []
    end = 0
    for match in words(source.text):
        kind = match.lastgroup or ""
        if kind == "STRAY":
            refuse_character(source, match.end() - 1)
        text = match[kind]
        start = match.end() - len(text)
        breaks = source.text.count("\n", end, start)
        if kind == "INCLUDE":
            text = f"include {text.removeprefix('include').strip()}"
        text = PHRASES.get(kind, text)
        read.append(SpacedWord(keywords.get(text, kind) if kind == "NAME" else kind, text.rstrip(), start, breaks))
        end = match.end()
    return read


# -- what each word is -----------------------------------------------------------------------------


class _Frame:
    """An open bracket, or the file itself: what it holds, and the item being read in it."""

    def __init__(self, kind: str, opening: SpacedWord | None) -> None:
        self.kind, self.opening = kind, opening
        self.header: SpacedWord | None = None
        self.names = 0


def _annotate(source: Source, code: list[SpacedWord]) -> None:
    """Finds out for each word what it stands in, whether it begins an item, which braces are blocks."""
    frames = [_Frame(STATEMENTS, None)]
    for index, word in enumerate(code):
        previous = code[index - 1] if index else None
        frame = frames[-1]
        if word.kind in CLOSING.values():
            _close_bracket(source, frames, word)
            continue
        if frame.kind not in (LIST, GROUP) and _starts_item(frame, previous, word, code[index + 1 : index + 3]):
            word.starts_item = True
            frame.header, frame.names = word, 0
        frame.names += word.kind == "NAME" and not (previous is not None and previous.kind == "INSTEAD_OF")
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


def _describe_opening(frame: _Frame, previous: SpacedWord | None, word: SpacedWord) -> str:
    header = frame.header.kind if frame.header is not None else ""
    if word.kind != "LBRACE":
        return GROUP
    holds = KEYWORDS[header].holds if header in KEYWORDS else PARTS if header in ("NAME", "LIKE") else STATEMENTS
    if frame.kind in (LIST, GROUP) or holds == LIST or (previous is not None and previous.kind == "EQUAL"):
        return LIST
    return STATEMENTS if frame.kind == CASES else holds


def _close_bracket(source: Source, frames: list[_Frame], word: SpacedWord) -> None:
    opening = frames[-1].opening
    if opening is None:
        _refuse(source, word, f"one `{word.text}` too many")
    if CLOSING[opening.kind] != word.kind:
        expected = word_for(CLOSING[opening.kind])
        _refuse(source, word, f"expected {expected} to close `{opening.text}`, found `{word.text}`", opening)
    word.closes = frames.pop().kind
    word.frame, word.header = frames[-1].kind, frames[-1].header


def _starts_item(frame: _Frame, previous: SpacedWord | None, word: SpacedWord, following: list[SpacedWord]) -> bool:
    """Whether a word begins an item of the block it stands in directly."""
    if frame.header is None:
        return True
    kinds = [word.kind, *(next_word.kind for next_word in following)]
    is_schedule = word.kind in ("STATIC", "DYNAMIC") and frame.header.kind == "EXECUTE"
    if word.kind in _ITEM_WORDS and not is_schedule:
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


def _refuse(source: Source, word: SpacedWord, message: str, opening: SpacedWord | None = None) -> NoReturn:
    related = () if opening is None else (Related(_span_of_word(source, opening), "opened here"),)
    fail("syntax", message, _span_of_word(source, word), related=related)


def _span_of_word(source: Source, word: SpacedWord) -> Span:
    return Span(source, word.start, word.start + len(word.text))


# -- putting them together -------------------------------------------------------------------------


def _gather_items(file: list[SpacedWord]) -> list[Item]:
    """Words in items and blocks. A comment goes with the item on its line; alone on a line between two items, it is
    an item itself."""
    items: list[Item] = []
    open_blocks: list[tuple[BracedItems, list[Item]]] = []
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
                block = BracedItems(word, [], [], closing=[])
                items[-1].parts.append(block)
                open_blocks.append((block, items))
                items = block.items
            else:
                items[-1].parts.append(word)
    return items


def _ends_of_items(file: list[SpacedWord]) -> list[bool]:
    """Whether each word ends an item: what follows, comments aside, begins another or closes a block, or nothing
    follows."""
    between: list[bool] = []
    ends = True
    for word in reversed(file):
        between.append(ends)
        if word.kind != "COMMENT":
            ends = word.starts_item or word.closes in BLOCKS
    return between[::-1]


WIDTH = 100  # columns of a line that holds blocks

INDENTATION = "  "

_NO_SPACE_BEFORE = frozenset({"COMMA", "RPAR", "RSQB", "DOT", "STAR", "SLASH", "CIRCUMFLEX"})
_NO_SPACE_BEHIND = frozenset({"LPAR", "LSQB", "DOT", "STAR", "SLASH", "CIRCUMFLEX"})


def format_text(source: Source, reader: Reader | None = None) -> str:
    """The text of a file, laid out. A file that is to be included may hold any piece of a model.

    Raises AspenError, and gives nothing, for a file with a syntax error; `reader` finds what a whole model includes.
    """
    file = split_words(source)
    items = outline_of(source, file)
    if _is_whole_model(items):
        parse_file(source.with_text(source.text), reader or Reader())  # for its error alone
    writer = _Writer()
    writer.write_items(items, "")
    text = "".join(f"{line}\n" for line in writer.lines)
    _require_same_words(source, file, text)
    return text


def _is_whole_model(items: list[Item]) -> bool:
    """Whether a file is a model, or has the component of type `machine`, and not a piece to be included."""
    beginnings = (
        [part for part in item.parts if isinstance(part, SpacedWord) and part.kind != "COMMENT"] for item in items
    )
    return any(words and (words[0].kind == "MODEL" or words[0].text == "machine") for words in beginnings)


def _require_same_words(source: Source, before: list[SpacedWord], text: str) -> None:
    """Spaces can matter between words that do not belong beside each other: `3  s` is no quantity, `3 s` is."""
    for old, new in zip(before, split_words(source.with_text(text)), strict=False):
        if (old.kind, old.text) != (new.kind, new.text):
            span = Span(source, old.start, old.start + len(old.text))
            fail("syntax", f"`{old.text}` cannot stand here", span, hint="the line would mean something else laid out")


class _Writer:
    """Writes items line by line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_items(self, items: list[Item], indent: str) -> None:
        """Writes each item on its own line, blank lines between them as they were, but one at most."""
        for index, item in enumerate(items):
            first = item.parts[0] if isinstance(item.parts[0], SpacedWord) else item.parts[0].opening
            if index and first.breaks > 1:
                self.lines.append("")
            self._write_item(item, indent)

    def _write_item(self, item: Item, indent: str) -> None:
        parts, remark = item.parts, ""
        last = parts[-1]
        if len(parts) > 1 and isinstance(last, SpacedWord) and last.kind == "COMMENT" and not last.breaks:
            parts, remark = parts[:-1], f"  {last.text}"
        flat = _write_flat(parts)
        if flat is not None and (
            len(indent + flat) <= WIDTH or not any(isinstance(part, BracedItems) for part in parts)
        ):
            self.lines.append(indent + flat + remark)
        else:
            self._spread(item.parts, indent)

    def _spread(self, parts: list[SpacedWord | BracedItems], indent: str) -> None:
        """An item over several lines: its blocks opened, its line breaks kept."""
        line = indent
        previous: SpacedWord | None = None
        lists = 0
        opened = False
        for part in parts:
            word = part.opening if isinstance(part, BracedItems) else part
            joined = isinstance(part, BracedItems) or (word.kind == "ELSE" and previous is not None and previous.closes)
            if previous is None:
                line += word.text
            elif previous.kind == "COMMENT" or (word.breaks and not joined):
                self.lines.append(line)
                deeper = lists - (word.closes == LIST) if lists else 0 if opened or joined else 2
                line = indent + INDENTATION * deeper + word.text
            else:
                line += _gap_between(previous, word) + word.text
            lists += (word.opens == LIST) - (word.closes == LIST)
            previous = word
            if isinstance(part, BracedItems):
                self.lines.append(line + "".join(f"  {remark.text}" for remark in part.remarks))
                self.write_items(part.items, indent + INDENTATION)
                previous = part.closing[0]
                line = indent + previous.text
                opened = True
        self.lines.append(line)


def _write_flat(parts: list[SpacedWord | BracedItems], first: bool = True) -> str | None:
    """An item on one line, if it was written so and no block in it has several items or a comment."""
    text = ""
    previous: SpacedWord | None = None
    for part in parts:
        word = part.opening if isinstance(part, BracedItems) else part
        if (word.breaks and not (first and previous is None)) or (word.kind == "COMMENT" and len(parts) > 1):
            return None
        text += _gap_between(previous, word) + word.text
        previous = word
        if isinstance(part, BracedItems):
            if part.remarks or len(part.items) > 1 or part.closing[0].breaks:
                return None
            inside = [_write_flat(item.parts, first=False) for item in part.items]
            if None in inside:
                return None
            previous = part.closing[0]
            text += "".join(f" {item}" for item in inside) + f" {previous.text}"
    return text


def _gap_between(left: SpacedWord | None, right: SpacedWord) -> str:
    """The space between two words of a line."""
    if left is None:
        return ""
    if right.kind == "COMMENT":
        return "  "
    if "INCLUDE" in (left.kind, right.kind):
        return " "
    if left.opens == LIST or right.closes == LIST or left.sign:
        return ""
    if left.kind in _NO_SPACE_BEHIND or right.kind in _NO_SPACE_BEFORE:
        return ""
    if right.kind == "LPAR":
        return "" if left.kind == "NAME" else " "
    if right.kind == "LSQB":
        return "" if _is_index_bracket(left, right) else " "
    return " "


def _is_index_bracket(left: SpacedWord, bracket: SpacedWord) -> bool:
    """Whether a bracket is an index, or the brackets of an array: `v[1]`, `param v[]`, but `flops [n]`, and `add [4]`
    of a mixture."""
    header = bracket.header.kind if bracket.header is not None else ""
    if bracket.frame == LIST and header in KEYWORDS and KEYWORDS[header].members:
        return False
    return left.kind in ("NAME", "RSQB") and (bracket.frame in (LIST, GROUP) or header in ("PARAM", "IMPORT"))
