"""Format: the text of a model, laid out the one way; only white space changes.

Items stand on lines of their own, two spaces deeper in each block. An item that was written on one line stays there
if it fits into 100 columns and no block in it holds more than one item; otherwise its blocks are opened up. Line breaks
inside an item are kept.
"""

from __future__ import annotations

from aspenpy.language.diagnostics import fail
from aspenpy.language.files import Reader
from aspenpy.language.outline import GROUP, Block, Item, Word, outline_of, split_words
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.language.vocabulary import LIST

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
        parse_file(source.with_text(source.text), reader or Reader())
    writer = _Writer()
    writer.write_items(items, "")
    text = "".join(f"{line}\n" for line in writer.lines)
    _require_same_words(source, file, text)
    return text


def _is_whole_model(items: list[Item]) -> bool:
    """Whether a file is a model, or has the component of type `machine`, and not a piece to be included."""
    beginnings = ([part for part in item.parts if isinstance(part, Word) and part.kind != "COMMENT"] for item in items)
    return any(words and (words[0].kind == "MODEL" or words[0].text == "machine") for words in beginnings)


def _require_same_words(source: Source, before: list[Word], text: str) -> None:
    """Spaces can matter between words that do not belong beside each other: `3  s` is no quantity, `3 s` is."""
    for old, new in zip(before, split_words(source.with_text(text)), strict=False):
        if (old.kind, old.text) != (new.kind, new.text):
            place = Span(source, old.start, old.start + len(old.text))
            fail("syntax", f"`{old.text}` cannot stand here", place, hint="the line would mean something else laid out")


class _Writer:
    """Writes items line by line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_items(self, items: list[Item], indent: str) -> None:
        """Each item on its own line, blank lines between them as they were, but one at most."""
        for place, item in enumerate(items):
            first = item.parts[0] if isinstance(item.parts[0], Word) else item.parts[0].opening
            if place and first.breaks > 1:
                self.lines.append("")
            self._write_item(item, indent)

    def _write_item(self, item: Item, indent: str) -> None:
        parts, remark = item.parts, ""
        last = parts[-1]
        if len(parts) > 1 and isinstance(last, Word) and last.kind == "COMMENT" and not last.breaks:
            parts, remark = parts[:-1], f"  {last.text}"
        flat = _write_flat(parts)
        if flat is not None and (len(indent + flat) <= WIDTH or not any(isinstance(part, Block) for part in parts)):
            self.lines.append(indent + flat + remark)
        else:
            self._spread(item.parts, indent)

    def _spread(self, parts: list[Word | Block], indent: str) -> None:
        """An item over several lines: its blocks opened, its line breaks kept."""
        line = indent
        previous: Word | None = None
        lists = 0
        opened = False
        for part in parts:
            word = part.opening if isinstance(part, Block) else part
            joined = isinstance(part, Block) or (word.kind == "ELSE" and previous is not None and previous.closes)
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
            if isinstance(part, Block):
                self.lines.append(line + "".join(f"  {remark.text}" for remark in part.remarks))
                self.write_items(part.items, indent + INDENTATION)
                previous = part.closing[0]
                line = indent + previous.text
                opened = True
        self.lines.append(line)


def _write_flat(parts: list[Word | Block], first: bool = True) -> str | None:
    """An item on one line, if it was written so and no block in it has several items or a comment."""
    text = ""
    previous: Word | None = None
    for part in parts:
        word = part.opening if isinstance(part, Block) else part
        if (word.breaks and not (first and previous is None)) or (word.kind == "COMMENT" and len(parts) > 1):
            return None
        text += _gap_between(previous, word) + word.text
        previous = word
        if isinstance(part, Block):
            if part.remarks or len(part.items) > 1 or part.closing[0].breaks:
                return None
            inside = [_write_flat(item.parts, first=False) for item in part.items]
            if None in inside:
                return None
            previous = part.closing[0]
            text += "".join(f" {item}" for item in inside) + f" {previous.text}"
    return text


def _gap_between(left: Word | None, right: Word) -> str:
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


def _is_index_bracket(left: Word, bracket: Word) -> bool:
    """Whether a bracket is an index, or the brackets of an array: `v[1]`, `param v[]`, but `flops [n]`, and `add [4]`
    of a mixture."""
    header = bracket.header.kind if bracket.header is not None else ""
    if header == "MIXTURE" and bracket.frame == LIST:
        return False
    return left.kind in ("NAME", "RSQB") and (bracket.frame in (LIST, GROUP) or header in ("PARAM", "IMPORT"))
