"""Colours: what each word of a file is, for editors that colour by meaning. They are those of the Pygments lexer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pygments.token import Comment, Keyword, Name, Number, Operator, String

from aspenpy.editor.pieces import MOST_KEPT, pieces
from aspenpy.report.highlight import AspenLexer

WORD_TYPES = tuple(
    "comment keyword operator string number function class type property variable namespace decorator".split()
)

_BY_TOKEN = (
    (Comment, "comment"),
    (Keyword.Type, "type"),
    (Keyword, "keyword"),
    (Operator, "operator"),
    (String, "string"),
    (Number, "number"),
    (Name.Builtin, "function"),
    (Name.Function, "function"),
    (Name.Class, "class"),
    (Name.Attribute, "property"),
    (Name.Namespace, "namespace"),
    (Name.Decorator, "decorator"),
    (Name, "variable"),
)
"""The first that a token is one of; white space and punctuation have no colour."""


def colour_words(text: str) -> Iterator[tuple[int, int, int]]:
    """The words of a file that have a colour, in order: where each begins, its length, and the place of its type in
    `WORD_TYPES`. None is on two lines."""
    for begin, piece in pieces(text):
        for start, length, kind in _colour_cached(piece):
            yield begin + start, length, kind


@lru_cache(MOST_KEPT)
def _colour_cached(text: str) -> tuple[tuple[int, int, int], ...]:
    found = []
    for start, token, word in AspenLexer().get_tokens_unprocessed(text):
        kind = _type_of(token)
        if kind is None:
            continue
        for line in word.splitlines(keepends=True):
            shown = line.rstrip("\r\n")
            if shown:
                found.append((start, len(shown), kind))
            start += len(line)
    return tuple(found)


@lru_cache
def _type_of(token: Any) -> int | None:
    return next((WORD_TYPES.index(name) for known, name in _BY_TOKEN if token in known), None)
