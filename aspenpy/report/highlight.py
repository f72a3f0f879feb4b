"""A lexer of the language for Pygments: colours in terminals, editors and the documentation.

The words are those of the parser, by the pattern that the grammar gives; what a name is for is told from the words
around it. Text that is no model gets colours, too: what begins no word is an error token, and nothing is ever left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language import vocabulary
from aspenpy.language.lower import MORE_CONSTANTS
from aspenpy.language.tables import tables
from aspenpy.language.tokens import word_pattern
from aspenpy.language.vocabulary import (
    ATTRIBUTE,
    FUNCTION,
    KEYWORDS,
    MODULE,
    PARTS,
    PHRASES,
    REQUIREMENTS,
    SI_CONSTANTS,
    STATEMENTS,
    TYPE,
    VARIABLE,
)
from aspenpy.tables.table import make_visible
from aspenpy.tables.terminal import console_of

Colored = tuple[int, Any, str]  # where a piece of text begins, its token type, and the piece


class AspenLexer(Lexer):  # type: ignore[misc]  # Pygments has no type information
    """Aspen, application and machine models."""

    name = "Aspen"
    aliases: ClassVar = ["aspen"]
    filenames: ClassVar = ["*.aspen"]
    mimetypes: ClassVar = ["text/x-aspen"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[Colored]:
        """The whole text in pieces."""
        end = 0
        reader = _Reader(_list_words(text))
        for index, word in enumerate(reader.words):
            if word.start > end:
                yield end, Whitespace, text[end : word.start]
            end = word.start + len(word.text)
            yield from _split_pieces(word, reader.token_type(index))
        if end < len(text):
            yield end, Whitespace, text[end:]


class _Word(NamedTuple):
    """A word: its terminal, its characters and where they stand. Keywords have the kind `KEYWORD`."""

    kind: str
    text: str
    start: int


def _list_words(text: str) -> list[_Word]:
    keywords = tables().keywords
    words = []
    for match in word_pattern().finditer(text):
        kind = str(match.lastgroup)
        word = match[kind]
        kind = "KEYWORD" if kind == "NAME" and word in keywords else kind
        words.append(_Word(kind, word, match.end() - len(word)))
    return words


def _split_pieces(word: _Word, token_type: Any) -> Iterator[Colored]:
    """A number and its unit, and `include` and its file, are two pieces with white space between; all else is one."""
    if word.kind == "QUANTITY":
        length = len(word.text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/ "))
        types = (Number, Keyword.Type)
    elif word.kind == "INCLUDE":
        length = len("include")
        types = (Keyword.Namespace, String)
    else:
        yield word.start, token_type, word.text
        return
    rest = word.text[length:].lstrip()
    gap = word.text[length : len(word.text) - len(rest)]
    yield word.start, types[0], word.text[:length]
    if gap:
        yield word.start + length, Whitespace, gap
    yield word.start + length + len(gap), types[1], rest


PLAIN = {
    "NUMBER": Number,
    "STRING": String,
    "STRAY": Error,
    **dict.fromkeys(PHRASES, Keyword),
    **dict.fromkeys(("COMPARISON", "RANGE", "PLUS", "MINUS", "STAR", "SLASH", "CIRCUMFLEX", "EQUAL"), Operator),
}
"""Token types by terminal; all others are punctuation."""

NAMES = {
    TYPE: Name.Class,
    VARIABLE: Name.Variable,
    FUNCTION: Name.Function,
    MODULE: Name.Namespace,
    ATTRIBUTE: Name.Attribute,
}
"""Token types by what a name is."""


def _find_keyword(text: str) -> vocabulary.Keyword:
    """The row of a keyword; of no word one that says nothing."""
    return KEYWORDS.get(text.upper(), vocabulary.Keyword())


class _Reader:
    """Follows blocks and lists of traits from word to word. `blocks` are the open blocks, `depth` counts brackets and
    parentheses, `header` is the last keyword that was no constant, `traits` the depth of a list of traits, `typed` says
    whether a part still lacks its name."""

    def __init__(self, words: list[_Word]) -> None:
        self.words = words
        self.tokens = [word for word in words if word.kind != "COMMENT"]
        self.position = -1
        self.blocks: list[str] = [STATEMENTS]
        self.depth = 0
        self.header = ""
        self.traits: int | None = None
        self.typed = False

    def token_type(self, index: int) -> Any:
        """The token type of the word at that place; to be asked for in order."""
        word = self.words[index]
        if word.kind == "COMMENT":
            return Comment.Single
        self.position += 1
        if word.kind == "NAME":
            return self._type_of_name(word)
        if word.kind == "KEYWORD":
            return self._type_of_keyword(word)
        self._track_brackets(word)
        return PLAIN.get(word.kind, Punctuation)

    def _word_at(self, offset: int) -> _Word:
        """The word so far from this one, comments left out."""
        place = self.position + offset
        return self.tokens[place] if 0 <= place < len(self.tokens) else _Word("", "", 0)

    def _track_brackets(self, word: _Word) -> None:
        if word.kind in ("LPAR", "LSQB"):
            self.depth += 1
        elif word.kind in ("RPAR", "RSQB"):
            self.depth -= 1
        elif word.kind == "LBRACE":
            component = self._word_at(-1).kind == "NAME" and self._word_at(-2).kind in ("NAME", "LIKE")
            self.blocks.append(PARTS if component else _find_keyword(self.header).holds)
            self._forget_header()
        elif word.kind == "RBRACE":
            self._forget_header()
            if len(self.blocks) > 1:
                self.blocks.pop()

    def _forget_header(self) -> None:
        self.depth, self.header, self.traits, self.typed = 0, "", None, False

    def _type_of_keyword(self, word: _Word) -> Any:
        if word.text in SI_CONSTANTS:
            return Keyword.Constant
        self.header = word.text
        self.traits = self.depth if word.text in ("as", "with") else None
        if word.text in ("and", "or"):
            return Operator.Word
        return Keyword.Declaration if _find_keyword(word.text).declares else Keyword

    def _type_of_name(self, word: _Word) -> Any:
        before, after = self._word_at(-1), self._word_at(1)
        if self.traits == self.depth and (before.kind == "COMMA" or before.text in ("as", "with")):
            if after.kind == "EQUAL":
                return Name.Variable
            return Name.Class if self._word_at(-3).text == "data" else Name.Decorator
        if before.text == "from" and after.kind == "LPAR" and word.text in FUNCTIONS:
            return Name.Builtin
        if before.kind == "KEYWORD" and (named := _find_keyword(before.text).names):
            return NAMES[named]
        if before.kind == "DOT":
            return Name.Function if self.header == "call" and self.depth == 0 else Name
        if self.depth == 0 and (token := self._token_in_block(before, after)) is not None:
            return token
        if after.kind == "LPAR" and word.text in FUNCTIONS:
            return Name.Builtin
        return Name.Constant if word.text in MORE_CONSTANTS else Name

    def _token_in_block(self, before: _Word, after: _Word) -> Any:
        """Token type of a word outside of brackets: a resource, or the type or name of a component, else None."""
        block = self.blocks[-1]
        if block == REQUIREMENTS:
            return Name.Attribute
        if block == PARTS and before.kind == "COMMA":  # `conflict a, b`
            return Name.Attribute
        if before.kind in ("LIKE", "INSTEAD_OF"):
            return Name.Class
        if block == PARTS:
            self.typed = not self.typed
            return Keyword.Type if self.typed else Name.Class
        if after.kind == "NAME" and self._word_at(2).kind in ("LBRACE", "LIKE"):
            return Keyword.Type
        return Name.Class if before.kind == "NAME" and after.kind in ("LBRACE", "LIKE") else None


def highlight(text: str, columns: int) -> str:
    """The text of a model with its words in colour."""
    from rich.syntax import Syntax

    lines = "\n".join(map(make_visible, text.expandtabs().splitlines()))
    syntax = Syntax("", AspenLexer(stripnl=False), theme="ansi_dark", background_color="default")
    console = console_of(columns)
    with console.capture() as captured:
        console.print(syntax.highlight(lines), soft_wrap=True)
    return captured.get().rstrip("\n")
