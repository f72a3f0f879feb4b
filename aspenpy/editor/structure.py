"""Structure: what a file declares, as a tree, which of its lines belong together, and what each word is, for editors
that colour by meaning. Colours are those of the Pygments lexer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pygments.token import Comment, Keyword, Number, Operator, String
from pygments.token import Name as NameToken

from aspenpy.editor import names
from aspenpy.editor.names import Name, TextWord, words_in
from aspenpy.editor.pieces import MOST_KEPT, OPENING, pieces
from aspenpy.record import NamedTuple
from aspenpy.report.highlight import AspenLexer

SHOWN = {*names.DECLARED.values(), names.COMPONENT} - {names.COUNTER}
"""What an outline shows; traits, arguments and counters would be too much."""


class Symbol(NamedTuple):
    """A declaration: its name, from where to where it reaches, and what is declared in it."""

    name: Name
    start: int
    end: int
    inner: list[Symbol]


class Fold(NamedTuple):
    """Lines that belong together, from one offset to another: a block, or comments."""

    start: int
    end: int
    comment: bool


def symbols(text: str) -> list[Symbol]:
    """Symbols that a file declares, in order; declarations of kernels and components are nested in them."""
    outline: list[Symbol] = []
    top: list[Symbol] = outline
    for start, piece in pieces(text):
        end = start + _length(piece)
        around: Symbol | None = None  # the kernel or component of the piece
        for name in (name for name in names.names_in(piece).names if name.declares):
            placed = name._replace(start=name.start + start)
            if name.kind == names.MODEL:
                model = Symbol(placed, placed.start, len(text.rstrip()), inner=[])
                outline.append(model)
                top = model.inner
            elif name.kind in (names.KERNEL, names.COMPONENT):
                behind = _INCLUDES.match(piece)
                around = Symbol(placed, start + (behind.end() if behind else 0), end, inner=[])
                top.append(around)
            elif name.kind in SHOWN:
                reach = placed.end if around else max(placed.end, end)
                (around.inner if around else top).append(Symbol(placed, placed.start, reach, inner=[]))
    return outline


def _length(piece: str) -> int:
    """The length of what is declared: the closing brace of the model, which stands in its last piece, is left out."""
    text = piece.rstrip()
    brackets = [word.text for word in words_in(piece) if word.text in ("{", "}")]
    return len(text.removesuffix("}").rstrip() if brackets.count("}") > brackets.count("{") else text)


def folds(text: str) -> list[Fold]:
    """Blocks, brackets and runs of comments that take more than one line."""
    ranges = []
    for start, piece in pieces(text):
        ranges += [Fold(fold.start + start, fold.end + start, fold.comment) for fold in _folds(piece)]
    model = next((start + piece.index("{") for start, piece in pieces(text)[:2] if _MODEL.match(piece)), None)
    return ranges if model is None else [Fold(model, len(text.rstrip()) - 1, False), *ranges]


_INCLUDES = re.compile(r"(?:\s*+include\b[^\n]*+)*+\s*+")
_MODEL = re.compile(r"(?:\s|//[^\n]*+)*+model\s+\w+\s*\{")


@lru_cache(MOST_KEPT)
def _folds(text: str) -> tuple[Fold, ...]:
    """Folds of a piece, counted from its beginning."""
    ranges: list[Fold] = []
    open_brackets: list[tuple[str, int]] = []
    run: list[TextWord] = []
    for word in words_in(text):
        if run and (word.kind != "COMMENT" or text.count("\n", run[-1].start, word.start) > 1):
            ranges += _fold_comments(run)
            run = []
        if word.kind == "COMMENT":
            alone = not text[text.rfind("\n", 0, word.start) + 1 : word.start].strip()
            run = [*run, word] if alone else []
        elif word.text in OPENING:
            open_brackets.append((OPENING[word.text], word.start))
        elif open_brackets and word.text == open_brackets[-1][0]:
            ranges.append(Fold(open_brackets.pop()[1], word.start, False))
    ranges += _fold_comments(run)
    return tuple(fold for fold in ranges if "\n" in text[fold.start : fold.end])


def _fold_comments(comments: list[TextWord]) -> list[Fold]:
    return [Fold(comments[0].start, comments[-1].start + len(comments[-1].text), True)] if len(comments) > 1 else []


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
    (NameToken.Builtin, "function"),
    (NameToken.Function, "function"),
    (NameToken.Class, "class"),
    (NameToken.Attribute, "property"),
    (NameToken.Namespace, "namespace"),
    (NameToken.Decorator, "decorator"),
    (NameToken, "variable"),
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
    tokens = []
    for start, token, word in AspenLexer().get_tokens_unprocessed(text):
        kind = _type_of(token)
        if kind is None:
            continue
        for line in word.splitlines(keepends=True):
            shown = line.rstrip("\r\n")
            if shown:
                tokens.append((start, len(shown), kind))
            start += len(line)
    return tuple(tokens)


@lru_cache
def _type_of(token: Any) -> int | None:
    return next((WORD_TYPES.index(name) for known, name in _BY_TOKEN if token in known), None)
