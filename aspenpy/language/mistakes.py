"""Mistakes: the ones people make, each with what tells it apart and what to say about it.

The first that fits is reported; where none fits, `complaint` says what was expected.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from aspenpy.language.diagnostics import Related, fail, suggest_nearest
from aspenpy.language.dimensions import UNITS
from aspenpy.language.situation import Opening, Situation
from aspenpy.language.tables import END, tables
from aspenpy.language.tokens import Token, TokenStream
from aspenpy.language.vocabulary import (
    CLOSING,
    CONSTANTS,
    CONTINUATIONS,
    DECLARATION,
    STATEMENT,
    keywords_that_begin,
    statements_with_bracket,
    word_for,
    word_for_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Mistake(NamedTuple):
    """`found` are the terminals it may be stuck at (empty: any); `when` says more. The texts may name the token,
    `{found}` or as it is spelled `{spelling}`, the `{previous}` one, and the `{block}` the innermost bracket opens."""

    found: frozenset[str]
    when: Callable[[Situation], bool]
    message: str
    hint: str | None = None


ANY: frozenset[str] = frozenset()
STATEMENTS = keywords_that_begin(STATEMENT)
DECLARATIONS = keywords_that_begin(DECLARATION)
LOOPS = statements_with_bracket("LSQB") - {"EXECUTE"}
CHOICES = statements_with_bracket("LPAR") - {"SAMPLE"}
CLOSERS = frozenset({"RPAR", "RSQB", "RBRACE"})
NUMBERS = frozenset({"NUMBER", "QUANTITY"})


def _at(*terminals: str) -> frozenset[str]:
    return frozenset(terminals)


# A row is two lines, where the formatter would make six: at what and when, and what is said.
# fmt: off
_FOREIGN_SIGNS = (
    Mistake(_at("SLASH", "STAR"), lambda s: s.at_text("/*"),
            "there are no block comments", "comments start with `//` and end with the line"),
    Mistake(_at("STAR"), lambda s: s.adjacent and s.is_behind("STAR"),
            "`**` is not an operator; powers are written `^`"),
)

_FILES = (
    Mistake(_at("INCLUDE"), lambda s: True,
            "`include` needs the name of a file", "write `include FILE`; no parameter can be called `include`"),
    Mistake(_at(END), lambda s: s.previous is None and s.allows("MODEL"),
            "the file is empty",
            "an application starts with `model NAME {{`, a machine with its parameters and components"),
    Mistake(_at(END), lambda s: s.previous is None, "there is nothing here: expected {expected}"),
    Mistake(_at("MODEL"), lambda s: s.wants_only(END),
            "a file holds one model, and this is the second",
            'put it into a file of its own; `import NAME from "FILE"` brings it in'),
    Mistake(_at("MODEL"), lambda s: s.allows(END),
            "a file holds either a machine or an application, and this one has begun with a machine",
            "put the application into a file of its own"),
    Mistake(_at("KERNEL", "IMPORT", "DATA", *STATEMENTS), lambda s: s.opening is None and s.allows("NAME", "ENUM"),
            "{found} stands in a model, and this file has none",
            "an application starts with `model NAME {{`; a machine is of parameters, enums and components only"),
    Mistake(ANY, lambda s: s.allows("MODEL"),
            "a file cannot start with {found}",
            "an application starts with `model NAME {{`, a machine with its parameters and components"),
    Mistake(_at("RBRACE"), lambda s: s.opening is None and s.allows(END),
            "one `}}` too many", "its `{{` was closed before"),
    Mistake(ANY, lambda s: s.wants_only(END) and s.is_behind("RBRACE"),
            "{found} stands behind the `}}` that closes the model", "one `}}` may be too many above"),
    Mistake(_at("LBRACE"), lambda s: s.opening is None and s.is_after("NAME") and s.wants_only("NAME"),
            "the name of this `{previous}` is missing", "write `{previous} NAME {{`"),
    Mistake(_at("LIKE"), lambda s: s.opening is None and s.is_after("NAME"),
            "the name of this `{previous}` is missing", "write `{previous} NAME like OTHER {{`"),
    Mistake(_at("NAME"), lambda s: s.opening is None and s.is_after("NAME", "NAME") and s.spelling == "like",
            "expected the name of one component and `{{` behind `like`", "write `like OTHER {{ ... }}`"),
    Mistake(_at("NAME"), lambda s: s.opening is None and s.is_after("NAME", "NAME") and s.allows("LIKE"),
            "expected `{{` or `like` behind `{previous}`, found {found}", "a variant is `like OTHER {{ ... }}`"),
)

_OTHER_LANGUAGES = (
    Mistake(_at("EQUAL"), lambda s: s.is_inside("CALL", "Name", "LPAR"),
            "an argument of a call has no name",
            "write its value alone: values go to the kernel's arguments in their order"),
    Mistake(_at("EQUAL"), lambda s: s.allows("COMPARISON") or s.is_after("COMPARISON", "*"),
            "`=` gives a value to a name; a comparison is written `==`"),
    Mistake(_at("COMPARISON"), lambda s: s.is_after("COMPARISON", "*"),
            "comparisons do not chain", "write `a < b and b < c`"),
    Mistake(_at("COMPARISON", "AND", "OR", "EQUAL"),
            lambda s: s.value_complete and not s.allows("COMPARISON") and not s.in_braces,
            "{found} belongs in a condition", "conditions stand in `if (...)`"),
    Mistake(_at("AND", "OR", "RPAR"), lambda s: s.allows("COMPARISON") and not s.allows("RPAR"),
            "the condition compares nothing: expected a comparison such as `==` before {found}",
            "write `n != 0` for `n`"),
    Mistake(_at("NAME"), lambda s: s.spelling in ("elif", "elseif", "elsif"),
            "{found} is not a word of the language", "write `else if`"),
    Mistake(_at("NAME"), lambda s: s.statement_wanted and s.spelling in ("for", "while", "do", "loop", "repeat"),
            "{found} is not a word of the language",
            "write `iterate [n] {{ ... }}` for passes in a row, `execute [n] {{ ... }}` for instances side by side"),
    Mistake(_at("NAME"), lambda s: s.statement_wanted and s.is_followed_by("("),
            "{found} looks like a call", "write `call {spelling}(...)`"),
    Mistake(_at("ELSE"), lambda s: s.statement_wanted,
            "`else` without an `if`", "it stands right behind the block of the `if`"),
    Mistake(_at("NAME"), lambda s: s.statement_wanted and s.is_followed_by("["),
            "{found} looks like a requirement, and requirements stand in an `execute` block",
            "write `execute {{ {spelling} [...] }}`"),
)

_EMPTY_BLOCKS = (
    Mistake(_at("RBRACE"), lambda s: s.is_behind("LBRACE") and s.statement_wanted,
            "{block} is empty", "it needs a statement, such as `execute {{ flops [n] }}`"),
    Mistake(_at("RBRACE"), lambda s: s.is_behind("LBRACE") and s.is_inside("EXECUTE", "LBRACE"),
            "{block} is empty", "it needs a requirement, such as `flops [n]`"),
    Mistake(_at("RBRACE"), lambda s: s.is_behind("LBRACE") and s.wants_only("LSQB"),
            "{block} are missing", "write `[value] {{ ... }}` for each"),
    Mistake(_at("RBRACE"), lambda s: s.is_behind("LBRACE") and s.value_wanted, "a row of a table may not be empty"),
    Mistake(_at("RBRACE"), lambda s: s.is_after("LIKE", "NAME", "LBRACE"),
            "a variant that changes nothing is the component that it is like",
            "write a part, a property or a resource in which it differs, or use that component"),
    Mistake(_at("RBRACE"), lambda s: s.is_behind("LBRACE") and s.allows("PROPERTY"),
            "{block} is empty", "it needs a part, a property or a resource"),
    Mistake(_at("RBRACE"), lambda s: s.allows("KERNEL"), "{block} has no kernel", "write `kernel main {{ ... }}`"),
    Mistake(_at("RBRACE"), lambda s: s.is_behind("LBRACE"), "{block} is empty"),
    Mistake(_at("RBRACE"), lambda s: s.statement_wanted and s.allows("PARAM"),
            "{block} has no statement", "it needs one behind its declarations, such as `execute {{ flops [n] }}`"),
)

_ORDER = (
    Mistake(STATEMENTS, lambda s: s.allows("KERNEL"),
            "{found} stands in a kernel", "write `kernel main {{ ... }}` around the statements"),
    Mistake(DECLARATIONS, lambda s: s.allows("KERNEL"), "`{spelling}` must come before the kernels of the model"),
    Mistake(DECLARATIONS, lambda s: s.statement_wanted,
            "`{spelling}` must come before the statements of its kernel",
            "declarations stand at the beginning of a kernel or of the model"),
    Mistake(_at("KERNEL", *STATEMENTS, *DECLARATIONS), lambda s: s.inside_requirements and s.allows("RBRACE"),
            "{found} cannot stand in {block}", "close {block} with `}}` first"),
    Mistake(_at("KERNEL"), lambda s: s.opening is not None and (s.statement_wanted or s.allows("RBRACE")),
            "a kernel cannot stand in {block}", "close {block} with `}}` first"),
    Mistake(_at("LSQB"), lambda s: s.is_after("STRING") or s.is_after("EXECUTE", "NAME"),
            "the label comes after the quantity", 'write `execute [n] "label" {{`'),
    Mistake(_at("STRING"), lambda s: s.after_one_of(LOOPS),
            "the label comes after the count", "write `{previous} [n] {spelling} {{`"),
    Mistake(_at("TO", "FROM"), lambda s: s.is_after("FROM", "NAME") or s.is_after("TO", "NAME"),
            "a requirement goes either `to` or `from` its data", "make two requirements of it"),
    Mistake(_at("OF", "TO", "FROM"), lambda s: s.is_inside("EXECUTE", "LBRACE") or s.inside_requirements,
            "{found} comes too late", "the order is `RESOURCE [quantity] of size [size] from DATA as TRAIT, TRAIT`"),
    Mistake(_at("IN"), lambda s: s.is_after("PARAM", "NAME"),
            "the value of `{previous}` comes before its range", "write `param {previous} = 5 in 1 .. 10`"),
    Mistake(_at("IN"), lambda s: s.is_after("DATA", "NAME"),
            "the size of `{previous}` comes before its memory", "write `data {previous} [8*n] in hbm`"),
    Mistake(_at("AS"), lambda s: s.is_after("DATA", "NAME", "LSQB", "*", "RSQB"),
            "data has either a size `[...]` or a shape `as ...`, not both"),
    Mistake(_at("ELSE"), lambda s: s.allows("LSQB") and s.is_behind("LBRACE"),
            "`else` needs a case before it", "write `[value] {{ ... }} else {{ ... }}`"),
)

_BRACKETS = (
    Mistake(STATEMENTS, lambda s: s.allows("LBRACE"), "expected `{{` before {found}: blocks stand in braces"),
    Mistake(_at("LSQB"), lambda s: s.is_after("RESOURCE", "NAME"),
            "resource `{previous}` needs an argument, the amount", "write `resource {previous}(amount) [...]`"),
    Mistake(_at("RPAR"), lambda s: s.is_after("RESOURCE", "NAME", "LPAR"),
            "a resource needs an argument, the amount", "write `(amount) [...]`"),
    Mistake(_at("COMMA"), lambda s: s.is_after("RESOURCE", "NAME", "LPAR", "NAME"),
            "a resource has one argument, the amount"),
    Mistake(_at("COMMA"), lambda s: s.is_after("CONFLICT", "NAME", "COMMA", "NAME"),
            "a conflict is between two resources", "write another `conflict` for each further pair"),
    Mistake(_at("LPAR"), lambda s: s.allows("LSQB") and not s.value_wanted,
            "expected `[`, found `(`", "quantities, counts and sizes stand in `[ ]`"),
    Mistake(ANY, lambda s: s.is_after("NAME") and s.wants_only("LSQB") and s.inside_requirements,
            "the quantity of `{previous}` is missing: expected `[`, found {found}", "write `{previous} [...]`"),
    Mistake(ANY, lambda s: s.is_behind(*LOOPS) and s.allows("LSQB"),
            "the count of `{previous}` is missing: expected `[`, found {found}", "write `{previous} [n] {{ ... }}`"),
    Mistake(ANY, lambda s: s.after_one_of(LOOPS, "NAME"),
            "the count of the loop is missing: expected `[`, found {found}",
            "write `[{previous}]` if `{previous}` is the count, or `{previous} [n]` if it is the counter"),
    Mistake(ANY, lambda s: s.allows("LSQB") and s.opening is not None and s.opening.encloses.startswith("the cases"),
            "expected a case, found {found}", "a case is written `[value] {{ ... }}`"),
    Mistake(ANY, lambda s: s.is_after("SAMPLE", "NAME"),
            "expected `from`, found {found}", "write `sample {previous} from uniform(0, 1)`"),
    Mistake(CLOSERS,
            lambda s: s.value_wanted and s.is_behind("LSQB") and s.opening is not None and s.opening.encloses != "",
            "{block} is missing: expected a value before {found}"),
    Mistake(_at("COMMA"), lambda s: s.wants_only("RANGE"), "expected `..`, found `,`", "a range is written `1 .. 10`"),
    Mistake(ANY, lambda s: s.is_behind(*CHOICES) and s.wants_only("LPAR"),
            "expected `(` behind `{previous}`, found {found}", "write `{previous} (...) {{`"),
    Mistake(_at("INSTEAD_OF"), lambda s: s.allows("PROPERTY"),
            "`instead of` stands behind a part", "write `TYPE [quantity] NEW instead of OLD`"),
    Mistake(NUMBERS, lambda s: s.is_after("PROPERTY", "NAME"),
            "the value of a property stands in brackets", "write `property {previous} [{spelling}]`"),
    Mistake(NUMBERS, lambda s: s.is_after("NAME") and s.allows("LSQB", "NAME"),
            "the number of parts stands in brackets", "write `{previous} [{spelling}]` and the name of the part"),
    Mistake(_at("LSQB"), lambda s: s.is_after("NAME", "NAME") and s.allows("PROPERTY"),
            "the number of parts comes before the name of the part", "write `[...] {previous}`"),
    Mistake(ANY, lambda s: s.is_after("PARAM", "NAME", "LSQB"),
            "the length of an array is not written here: it has as many elements as values",
            "write `[] = {{1, 2, 3}}`"),
    Mistake(_at("LSQB", "LBRACE", "LPAR"), lambda s: s.is_behind("IN") and s.opening is not None,
            "a range has no brackets", "write `in 1 .. 10`"),
    Mistake(_at("NAME", "RPAR"),
            lambda s: s.allows("PARAM", "DATA") and s.is_inside("KERNEL", "NAME", "LPAR") and not s.is_behind("COMMA"),
            "an argument of a kernel is declared with `param` or `data`",
            "write `param {spelling}`, or `data {spelling}`"),
    Mistake(CLOSERS, lambda s: s.is_behind("COMMA"), "nothing stands between `,` and {found}", "leave the comma out"),
    Mistake(_at("DOT"), lambda s: s.is_behind("NAME"),
            "a name with a dot cannot stand here",
            "it would belong to an imported model; such names stand in expressions and behind `call`"),
    Mistake(_at("NAME"), lambda s: s.is_after("IMPORT", "NAME", "FROM"),
            "the file stands in double quotes", 'write `from "{whole}"`'),
)

_VALUES = (
    Mistake(_at("NAME", *CONSTANTS), lambda s: s.is_behind("NUMBER", "QUANTITY") and not s.on_new_line,
            "a number may not be followed by a name", "{unit_hint}"),
    Mistake(NUMBERS, lambda s: s.is_behind("NUMBER", "QUANTITY") and not s.on_new_line,
            "a number may not be followed by another number",
            "something is missing between `{previous}` and `{spelling}`; digits are not grouped"),
    Mistake(_at("LPAR"), lambda s: s.is_behind("NUMBER", "QUANTITY"),
            "a number may not be followed by `(`", "write `{previous}*(...)` for a product"),
    Mistake(ANY, lambda s: s.is_keyword and s.value_wanted and not s.on_new_line,
            "`{spelling}` is a keyword: expected a value", "give the parameter another name"),
    Mistake(ANY, lambda s: s.is_keyword and s.wants_only("NAME"), "`{spelling}` is a keyword and cannot be a name"),
    Mistake(CONSTANTS, lambda s: s.allows("NAME") and not s.value_wanted,
            "`{spelling}` is a constant of the language and cannot be another name"),
)
# fmt: on

MISTAKES = (*_FOREIGN_SIGNS, *_FILES, *_OTHER_LANGUAGES, *_EMPTY_BLOCKS, *_ORDER, *_BRACKETS, *_VALUES)


def refuse(stream: TokenStream, token: Token, states: list[int], values: list[Any]) -> NoReturn:
    """Raises the error for a parser that is stuck at a token, with what it has read so far."""
    situation = Situation(stream, token, states, values)
    for mistake in MISTAKES:
        if (not mistake.found or token.type in mistake.found) and mistake.when(situation):
            _raise_mistake(mistake, situation)
    opening = situation.opening
    closable = opening is not None and _can_close(opening, situation)
    related = (Related(situation.place(opening.token), "opened here"),) if opening and closable else ()
    fail("syntax", _describe_expectation(situation), situation.span, related=related, hint=_find_hint(situation))


def _raise_mistake(mistake: Mistake, situation: Situation) -> NoReturn:
    facts = {
        "found": situation.found_words,
        "spelling": situation.spelling,
        "whole": situation.up_to_space,
        "previous": situation.previous_spelling,
        "block": situation.opening.encloses if situation.opening else "",
        "expected": word_for_all(situation.expected),
        "unit_hint": _find_unit_hint(situation),
    }
    hint = mistake.hint and mistake.hint.format(**facts)
    fail("syntax", mistake.message.format(**facts), situation.span, hint=hint)


def _describe_expectation(situation: Situation) -> str:
    """Words for the symbols that were expected, the place, and the token found instead."""
    wanted = word_for_all(situation.expected)
    if situation.opening is not None and _can_close(situation.opening, situation):
        closing = CLOSING[situation.opening.token.type]
        others = situation.expected - {closing} - CONTINUATIONS
        close = f"{word_for(closing)} to close {situation.opening.encloses or word_for(situation.opening.token.type)}"
        wanted = f"{word_for_all(others)}, or {close}" if others else close
    elif situation.previous is not None and not situation.is_behind("STRING", *CLOSING, *CLOSING.values()):
        wanted += f" behind `{situation.previous_spelling}`"
    return f"expected {wanted}, found {situation.found_words}"


def _can_close(opening: Opening, situation: Situation) -> bool:
    """Whether a bracket could be closed here."""
    return CLOSING[opening.token.type] in situation.expected


def _find_hint(situation: Situation) -> str | None:
    """Perhaps a misspelt keyword, or a text whose closing quote was forgotten."""
    for token in (situation.found, situation.previous):
        if token is not None and token.type == "STRING" and "\n" in token.value:
            line = situation.place(token).position().line
            return f"the text that begins in line {line} goes on over several lines: is its closing quote missing?"
    if situation.found.type != "NAME":
        return None
    return suggest_nearest(
        situation.spelling, [word for word, name in tables().keywords.items() if name in situation.expected]
    )


def _find_unit_hint(situation: Situation) -> str:
    """A number and a name: a product, or a unit that does not exist?"""
    from difflib import get_close_matches

    number = situation.previous_spelling
    name = situation.spelling
    if number == "0" and name[:1] in "xX" and name[1:]:
        return "numbers are decimal"
    if name in UNITS:
        return "a unit stands right behind its number, or one space behind it"
    if situation.is_behind("NUMBER") and (in_bytes := _amount_in_bytes(number, name)) is not None:
        return in_bytes
    product = f"write `{number}*{name}` for a product"
    similar = [unit for unit in UNITS if unit.lower() == name.lower().removesuffix("s")]
    similar = similar or (get_close_matches(name, UNITS, n=1, cutoff=0.85) if len(name) > 2 else [])
    if not similar or name in tables().keywords:
        return product
    return f"`{name}` is not a unit, {' and '.join(f'`{unit}`' for unit in similar)} is; {product}"


BITS_OF_A_BYTE = 8
_SHORT = re.compile(r"\d{1,9}(\.\d{1,9})?")
_COUNTED = re.compile(r"([kKmMgGtTpP]?)(i?)(?:(?P<bits>b|[bB]its?)|(?P<bytes>[bB]ytes?|B(?=ps)))(?P<second>ps)?")


def _amount_in_bytes(number: str, name: str) -> str | None:
    """Advice on a number of bits, or of bytes under another name; one lower-case `b` may have meant either."""
    counted = _COUNTED.fullmatch(name)
    if counted is None:
        return None
    prefix = counted[1].upper() if counted[1] not in ("k", "K") or counted[2] else "k"
    unit = f"{prefix}{counted[2]}B{'/s' if counted['second'] else ''}"
    if counted["bytes"]:
        return f"`{name}` is not a unit: write `{number} {unit}`"
    reason = f"`{name}` is not a unit, and {BITS_OF_A_BYTE} bits are a byte"
    if not _SHORT.fullmatch(number):
        return f"{reason}: `{unit}`"
    write = f"{reason}: write `{float(Fraction(number) / BITS_OF_A_BYTE):g} {unit}`"
    either = counted["bits"] == "b" and not counted["second"]
    return f"{write} if these are bits, `{number} {unit}` if they are bytes" if either else write
