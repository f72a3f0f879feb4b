"""Items: from where to where a declaration reaches."""

from __future__ import annotations

import re
from itertools import pairwise

from aspenpy.editor.names import DECLARED, Name, Word, words_in
from aspenpy.editor.pieces import pieces
from aspenpy.language.vocabulary import CONSTANT, KEYWORDS, Keyword

_OPERANDS = frozenset(("NAME", "NUMBER", "QUANTITY", "STRING", "RPAR", "RSQB", "RBRACE"))
"""What may end an item: a name behind one of them begins another."""

_LAST_WORD = re.compile(r"[A-Za-z_]\w*\Z")  # at the end of a text


def _end_of_item(code: list[Word], start: int) -> int:
    """Where the declaration ends whose name begins there: before a block of statements or parts that it opens, or
    before the next item; of what is declared in brackets, with the name. `code` are the words without comments."""
    place = next((place for place, word in enumerate(code) if word.start == start), None)
    if place is None:
        return start
    depth, end, opened = 0, start + len(code[place].text), code[place - 1].text if place else ""
    for before, word in pairwise(code[place:]):
        if word.kind == "LBRACE" and not depth and opened not in ("param", "enum", "mixture"):
            return end
        depth += (word.kind in ("LBRACE", "LPAR", "LSQB")) - (word.kind in ("RBRACE", "RPAR", "RSQB"))
        row = KEYWORDS.get(word.text.upper()) if word.kind == "KEYWORD" else None
        follows = word.kind == "INCLUDE" or (word.kind == "NAME" and before.kind in _OPERANDS)
        if depth < 0 or (not depth and (_begins(row) or follows)):
            return end
        if opened not in DECLARED and opened != "import":
            return end
        end = word.start + len(word.text)
    return end


def _begins(row: Keyword | None) -> bool:
    return row is not None and bool(row.begins) and row.begins != CONSTANT


def start_of(text: str, name: Name) -> int:
    """Where the keyword, or the type of the component, before a name begins."""
    before = text[max(0, name.start - 100) : name.start].rstrip()
    word = _LAST_WORD.search(before)
    return name.start if word is None else max(0, name.start - 100) + word.start()


def end_of(text: str, name: Name) -> int:
    """Where a declaration ends: before the next one, the block that it opens, or a word of another item."""
    part = next((part for part in pieces(text) if part.start <= name.start < part.start + len(part.text)), None)
    if part is None:
        return name.end
    words = [word for word in words_in(part.text) if word.kind != "COMMENT"]
    return part.start + _end_of_item(words, name.start - part.start)
