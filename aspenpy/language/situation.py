"""Situation: where a parser got stuck, in terms a message can be made of."""

from __future__ import annotations

from typing import Any, NamedTuple

from aspenpy.language import nodes
from aspenpy.language.source import Span
from aspenpy.language.tables import END, tables
from aspenpy.language.tokens import LONGEST_SHOWN, Token, TokenStream, shorten_word_line
from aspenpy.language.vocabulary import CLOSING, CONSTANTS, KEYWORDS, STATEMENT, keywords_that_begin, word_for

BLOCK_OF_EXECUTE = KEYWORDS["EXECUTE"].encloses["LBRACE"]


class Opening(NamedTuple):
    """A bracket that is still open, and what it encloses ("the quantity of `flops`")."""

    token: Token
    encloses: str


class Situation:
    """The token that cannot stand where it stands, and what was read before it."""

    def __init__(self, stream: TokenStream, token: Token, states: list[int], values: list[Any]) -> None:
        self.source = stream.source
        self.found = token
        self.previous = stream.previous
        self.values = values
        actions = tables().actions
        self.expected = frozenset(terminal for terminal in actions[states[-1]] if _accepts_terminal(states, terminal))
        self.opening = _innermost_opening(values)

    @property
    def span(self) -> Span:
        """The place of the token; at the end of the text, of the last thing before it."""
        return self.place(self.found)

    def place(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

    def is_after(self, *types: str) -> bool:
        """Whether what was read last, and is not complete yet, are symbols of these types; `*` is any."""
        return len(self.values) >= len(types) and all(
            wanted in ("*", _terminal_of(value))
            for wanted, value in zip(types, self.values[len(self.values) - len(types) :], strict=True)
        )

    def after_one_of(self, words: frozenset[str], *types: str) -> bool:
        """Whether what was read last are one of these words and symbols of these types."""
        return any(self.is_after(word, *types) for word in words)

    def is_inside(self, *types: str) -> bool:
        """Whether the innermost bracket and the words before it are of these types."""
        if self.opening is None:
            return False
        index = next(i for i, value in enumerate(self.values) if value is self.opening.token)
        return _terminals_of(self.values[: index + 1])[-len(types) :] == list(types)

    def allows(self, *terminals: str) -> bool:
        """Whether all of these could stand here."""
        return self.expected.issuperset(terminals)

    def wants_only(self, *terminals: str) -> bool:
        """Whether nothing but these could stand here."""
        return self.expected == frozenset(terminals)

    @property
    def value_wanted(self) -> bool:
        """Whether an expression is due."""
        return self.allows("NUMBER", "NAME", "LPAR")

    @property
    def value_complete(self) -> bool:
        """Whether an expression has been read that could end here."""
        return self.allows("PLUS") or (bool(self.values) and isinstance(self.values[-1], nodes.Expression))

    @property
    def statement_wanted(self) -> bool:
        """Whether a statement could stand here."""
        return self.allows(*keywords_that_begin(STATEMENT))

    @property
    def in_braces(self) -> bool:
        """Whether the innermost bracket is a brace, or none is open in a file."""
        return self.opening is None or self.opening.token.type == "LBRACE"

    @property
    def inside_requirements(self) -> bool:
        """Whether the innermost bracket is the block of an `execute`."""
        return self.opening is not None and self.opening.encloses == BLOCK_OF_EXECUTE

    # -- the token and its neighbours ------------------------------------------------------------

    def is_behind(self, *types: str) -> bool:
        """Whether the token before it is of one of these types."""
        return self.previous is not None and self.previous.type in types

    @property
    def adjacent(self) -> bool:
        """Whether nothing stands between the token and the one before."""
        return self.previous is not None and self.previous.end == self.found.start

    @property
    def on_new_line(self) -> bool:
        """Whether the token is the first of its line."""
        source, start, _ = self.span.resolve()
        return not source.text[source.text.rfind("\n", 0, start) + 1 : start].strip()

    def at_text(self, text: str) -> bool:
        """Whether the text starts where the token starts, or ends where the token ends."""
        source, start, end = self.span.resolve()
        return source.text.startswith(text, start) or source.text.endswith(text, 0, end)

    def is_followed_by(self, text: str) -> bool:
        """Whether these characters come next."""
        source, _, end = self.span.resolve()
        return source.text[end : end + 80].lstrip().startswith(text)

    @property
    def up_to_space(self) -> str:
        """The token and whatever touches it."""
        source, start, _ = self.span.resolve()
        return source.text[start : start + LONGEST_SHOWN].partition("\n")[0].partition(" ")[0]

    @property
    def is_keyword(self) -> bool:
        """Whether the token is a word of the language, and no constant."""
        return self.found.value in tables().keywords and self.found.type not in CONSTANTS

    @property
    def spelling(self) -> str:
        """The token as it is written, or the beginning of it."""
        return shorten_word_line(self.found.value)

    @property
    def previous_spelling(self) -> str:
        """The token before it, or the beginning of that."""
        return shorten_word_line(self.previous.value) if self.previous is not None else ""

    @property
    def found_words(self) -> str:
        """The token, as a message names it."""
        if self.found.type == END:
            return word_for(END)
        if self.found.type == "STRING":
            return f"the text {self.spelling}"
        return f"the keyword `{self.spelling}`" if self.is_keyword else f"`{self.spelling}`"


def _accepts_terminal(states: list[int], terminal: str) -> bool:
    """Whether the parser would reach the token, after all it has to reduce before."""
    language = tables()
    if terminal != END and not terminal.isupper():
        return False
    stack = list(states)
    while (action := language.actions[stack[-1]].get(terminal)) is not None and action < 0:
        rule = language.rules[~action]
        del stack[-rule.length :]
        stack.append(language.actions[stack[-1]][rule.symbol])
    return action is not None


def _terminal_of(value: Any) -> str:
    """The terminal of a token; the name of the class of anything built."""
    return value.type if isinstance(value, Token) else type(value).__name__


def _innermost_opening(values: list[Any]) -> Opening | None:
    """The last bracket that is not closed."""
    closed = 0
    for index in range(len(values) - 1, -1, -1):
        kind = _terminal_of(values[index])
        if kind in CLOSING.values():
            closed += 1
        elif kind in CLOSING:
            if not closed:
                return Opening(values[index], _describe_enclosed(values[max(0, index - 20) : index], kind))
            closed -= 1
    return None


def _describe_enclosed(before: list[Any], bracket: str) -> str:
    """Description of a bracket's contents, from the symbols before it; "" where it only groups."""
    for index in range(len(before) - 1, -1, -1):
        kind = _terminal_of(before[index])
        phrase = KEYWORDS[kind].encloses.get(bracket) if kind in KEYWORDS else None
        if phrase is not None:
            following = before[index + 1].value if _terminals_of(before[index + 1 :][:1]) == ["NAME"] else ""
            return phrase.format(name=following)
        if kind == "list" or (kind in CLOSING and CLOSING[kind] not in _terminals_of(before[index:])):
            break
    if bracket == "LBRACE" and _terminals_of(before[-2:]) == ["NAME", "NAME"]:
        return f"{before[-2].value} `{before[-1].value}`"
    if _terminals_of(before[-1:]) == ["NAME"]:
        return ("the quantity of" if bracket == "LSQB" else "the arguments of") + f" `{before[-1].value}`"
    if _terminals_of(before[-1:]) == ["Name"]:
        return ("the index of" if bracket == "LSQB" else "the arguments of") + f" `{before[-1].name}`"
    return ""


def _terminals_of(values: list[Any]) -> list[str]:
    return [_terminal_of(value) for value in values]
