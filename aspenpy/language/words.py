"""Words: what the terminals of the grammar are called when people are told about them."""

from __future__ import annotations

from aspenpy.language.vocabulary import CONSTANTS, DECLARATION, PART, STATEMENT, keywords_that_begin

TERMINALS = {
    "$END": "the end of the text",
    "NAME": "a name",
    "NUMBER": "a number",
    "QUANTITY": "a number with a unit",
    "STRING": "a text in double quotes",
    "COMPARISON": "a comparison such as `==`",
    "RANGE": "`..`",
    "PER_RANK": "`per rank`",
    "COMMENT": "a comment",
    "INCLUDE": "an `include`",
    "STRAY": "a stray character",
    "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`",
    "COMMA": "`,`", "DOT": "`.`", "EQUAL": "`=`",
    "PLUS": "`+`", "MINUS": "`-`", "STAR": "`*`", "SLASH": "`/`", "CIRCUMFLEX": "`^`",
}  # fmt: skip
"""All but the keywords, which are their own names."""

GROUPS = (
    (frozenset({"NUMBER", "QUANTITY", "NAME", "MINUS", "LPAR"}), "a value"),
    (keywords_that_begin(STATEMENT), "a statement"),
    (keywords_that_begin(DECLARATION), "a declaration"),
    (keywords_that_begin(PART) | {"NAME"}, "a part, a property, a resource, a conflict, a power"),
    (frozenset({"NAME", "OF", "TO", "FROM", "AS"}), "the rest of the requirement, another requirement"),
)
"""Terminals that begin the same thing are told as that thing, if all of them are possible."""

CONTINUATIONS = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "CIRCUMFLEX", "DOT", "LPAR", "LSQB", "PER_RANK"})
"""What may follow any value, or that of a parameter; of no interest where the value could as well have ended."""

CLOSING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}  # the bracket that closes each bracket


def word_for(terminal: str) -> str:
    """The terminal in the user's words."""
    return TERMINALS.get(terminal) or f"`{terminal.lower()}`"


def word_for_all(terminals: frozenset[str]) -> str:
    """An enumeration such as "a value or `]`"; what only goes on with a value that is complete is left out."""
    left = set(terminals) - CONSTANTS
    if not left.isdisjoint({"PLUS", "STAR"}):
        left = left - CONTINUATIONS or {"PLUS"}
    told: list[str] = []
    for group, word in GROUPS:
        if group <= left:
            left -= group
            told.append(word)
    told += sorted(word_for(terminal) for terminal in left)
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} or {told[-1]}"
