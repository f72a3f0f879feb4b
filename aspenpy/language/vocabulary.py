"""Vocabulary: the keywords of the language, each with what it begins, what it encloses and what it names.

The messages of the parser, the outline that the formatter follows, and the colours all read this one table. The
grammar says where each word may stand; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from aspenpy.record import Record

MODEL, DECLARATION, KERNEL = "model", "declaration", "kernel"
STATEMENT, PART, CONSTANT = "statement", "part", "constant"
"""What a keyword begins; a constant is a value by itself."""

STATEMENTS, REQUIREMENTS, PARTS, CASES, LIST = "statements", "requirements", "parts", "cases", "list"
"""What a pair of braces holds; a list is the values of a parameter or the members of an enum."""

TYPE, VARIABLE, FUNCTION, MODULE, ATTRIBUTE = "type", "variable", "function", "module", "attribute"
"""What the name behind a keyword is, for colours."""

PARAMETER, DATA, ENUM, ENUM_MEMBER, TRAIT = "parameter", "data", "enum", "enum member", "trait"
PROPERTY, RESOURCE, REQUIREMENT = "property", "resource", "requirement"
"""What a name or a part of a model is called, to users and in editors."""

SI_CONSTANTS: dict[str, int] = {
    "nano": -9, "micro": -6, "milli": -3, "kilo": 3, "mega": 6, "giga": 9, "tera": 12, "peta": 15, "exa": 18,
}  # fmt: skip
"""The language's constants, powers of ten. They are keywords: no model can redefine them."""

OPERATION_CLASSES = (
    *("add", "multiply", "fma", "divide", "square_root", "compare", "convert"),
    *("integer", "address", "load", "store", "tensor"),
)
"""The traits that tell operations apart which a core completes at different rates."""

INTEGER_CLASSES = ("integer", "logic", "shift", "minmax", "permute", "integer_compare", "integer_multiply", "dot")
"""What properties of operations of whole numbers begin with."""

INTEGER_WIDTHS = ("int8", "int16", "int32", "int64")
"""The traits that say how wide whole numbers are."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Keyword(Record):
    """Facts of a keyword of the language.

    `begins`: the kind of thing whose first word it is; "" for a word within a thing, which `continues` that kind.
    `encloses`: what stands in the brackets behind it, by opening bracket, in messages, with the `{name}` before them.
    `holds`: what its braces hold; `members`: what the names in them are. `names`: the colour of the name behind it;
    `declares`: what that name is; `used_as`: what it is where models use it, if something else. `example`: the shortest
    declaration."""

    begins: str = ""
    encloses: Mapping[str, str] = _NOTHING
    holds: str = STATEMENTS
    names: str = ""
    declares: str = ""
    used_as: str = ""
    members: str = ""
    continues: str = ""
    example: str = ""


KEYWORDS: dict[str, Keyword] = {
    "MODEL": Keyword(MODEL, {"LBRACE": "model `{name}`"}, names=TYPE, declares=MODEL),
    "PARAM": Keyword(DECLARATION, {"LBRACE": "the values of `{name}`"}, LIST, VARIABLE, declares=PARAMETER,
                     example="param p = 1"),
    "ENUM": Keyword(DECLARATION, {"LBRACE": "enum `{name}`"}, LIST, TYPE, declares=ENUM, members=ENUM_MEMBER,
                    example="enum e { a }"),
    "DATA": Keyword(DECLARATION, {"LSQB": "the size of data `{name}`", "LPAR": "the factors of data `{name}`"},
                    names=VARIABLE, declares=DATA, example="data d [1]"),
    "IMPORT": Keyword(DECLARATION, names=MODULE, declares=MODEL, example='import i from ""'),
    "MIXTURE": Keyword(DECLARATION, {"LBRACE": "mixture `{name}`"}, LIST, ATTRIBUTE, declares="mixture", used_as=TRAIT,
                       members=TRAIT, example="mixture m { add [1] }"),
    "KERNEL": Keyword(KERNEL, {"LBRACE": "kernel `{name}`", "LPAR": "the arguments of kernel `{name}`"},
                      names=FUNCTION, declares=KERNEL, example="kernel k { execute { flops [0] } }"),
    # statements
    "EXECUTE": Keyword(STATEMENT, {"LSQB": "the parallelism of `execute`", "LBRACE": "the block of `execute`"},
                       REQUIREMENTS),
    "CALL": Keyword(STATEMENT, names=FUNCTION),
    "SAMPLE": Keyword(STATEMENT, {"LPAR": "the arguments of the distribution"}, names=VARIABLE),
    "SEQ": Keyword(STATEMENT, {"LBRACE": "the block of `seq`"}),
    "PAR": Keyword(STATEMENT, {"LBRACE": "the block of `par`"}),
    "ITERATE": Keyword(STATEMENT, {"LSQB": "the count of `iterate`", "LBRACE": "the block of `iterate`"}),
    "MAP": Keyword(STATEMENT, {"LSQB": "the count of `map`", "LBRACE": "the block of `map`"}),
    "IF": Keyword(STATEMENT, {"LPAR": "the condition of `if`", "LBRACE": "the block of `if`"}),
    "SWITCH": Keyword(STATEMENT, {"LPAR": "the name `switch` looks at", "LBRACE": "the cases of `switch`"}, CASES),
    "PROBABILITY": Keyword(STATEMENT, {"LBRACE": "the cases of `probability`"}, CASES),
    # what a component holds
    "PROPERTY": Keyword(PART, {"LSQB": "the value of property `{name}`"}, names=ATTRIBUTE,
                        declares=PROPERTY),
    "RESOURCE": Keyword(PART, {"LPAR": "the argument of resource `{name}`", "LSQB": "the time of resource `{name}`"},
                        names=ATTRIBUTE, declares=RESOURCE),
    "CONFLICT": Keyword(PART, names=ATTRIBUTE),
    "STATIC": Keyword(PART),
    "DYNAMIC": Keyword(PART),
    # words within
    "ELSE": Keyword(encloses={"LBRACE": "the block of `else`"}),
    "OF": Keyword(encloses={"LSQB": "the width of `execute`"}, continues=REQUIREMENT),
    "SIZE": Keyword(encloses={"LSQB": "the size"}),
    "WITH": Keyword(encloses={"LSQB": "the time of the trait"}),
    "POWER": Keyword(encloses={"LSQB": "the watts"}),
    "FROM": Keyword(names=VARIABLE, continues=REQUIREMENT),
    "TO": Keyword(names=VARIABLE, continues=REQUIREMENT),
    "AS": Keyword(continues=REQUIREMENT),
    **dict.fromkeys(("IN", "AND", "OR", "INCLUDE"), Keyword()),
    **dict.fromkeys((name.upper() for name in SI_CONSTANTS), Keyword(CONSTANT)),
}  # fmt: skip
"""Keywords by the terminal of the grammar."""


def keywords_that_begin(*kinds: str) -> frozenset[str]:
    """The keywords that begin a thing of one of these kinds."""
    return frozenset(word for word, keyword in KEYWORDS.items() if keyword.begins in kinds)


def keywords_that_continue(kind: str) -> frozenset[str]:
    """The keywords that begin a further part of a thing of this kind."""
    return frozenset(word for word, keyword in KEYWORDS.items() if keyword.continues == kind)


def statements_with_bracket(bracket: str) -> frozenset[str]:
    """The statements that have such a bracket."""
    return frozenset(word for word in keywords_that_begin(STATEMENT) if bracket in KEYWORDS[word].encloses)


CONSTANTS = keywords_that_begin(CONSTANT)  # keywords that are values

# -- what messages call the terminals of the grammar -----------------------------------------------

PHRASES = {"PER_RANK": "per rank", "COUNTED_AT": "counted at", "LIKE": "like", "INSTEAD_OF": "instead of"}
"""Words of the language that are no keywords, as they are written: what stands around tells them from names."""

TERMINALS = {
    "$END": "the end of the text",
    "NAME": "a name",
    "NUMBER": "a number",
    "QUANTITY": "a number with a unit",
    "STRING": "a text in double quotes",
    "COMPARISON": "a comparison such as `==`",
    "RANGE": "`..`",
    **{terminal: f"`{words}`" for terminal, words in PHRASES.items()},
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
    (keywords_that_continue(REQUIREMENT) | {"NAME"}, "the rest of the requirement, another requirement"),
)
"""Terminals that begin the same thing are told as that thing, if all of them are possible."""

CONTINUATIONS = frozenset(
    {"PLUS", "MINUS", "STAR", "SLASH", "CIRCUMFLEX", "DOT", "LPAR", "LSQB", "PER_RANK", "WITH", "COUNTED_AT"}
)
"""What may follow any value, or that of a parameter; of no interest where the value could as well have ended."""

VARIANTS = frozenset({"LIKE", "INSTEAD_OF"})
"""What only variants of components have: of no interest where something else was written."""

CLOSING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}  # the bracket that closes each bracket


def word_for(terminal: str) -> str:
    """The terminal in the user's words."""
    return TERMINALS.get(terminal) or f"`{terminal.lower()}`"


def word_for_all(terminals: frozenset[str]) -> str:
    """An enumeration such as "a value or `]`"; what only goes on with a value that is complete is left out."""
    left = set(terminals) - CONSTANTS - VARIANTS
    if not left.isdisjoint({"PLUS", "STAR"}):
        left = left - CONTINUATIONS or {"PLUS"}
    words: list[str] = []
    for group, word in GROUPS:
        if group <= left:
            left -= group
            words.append(word)
    words += sorted(word_for(terminal) for terminal in left)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
