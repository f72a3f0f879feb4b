"""Complaint: the diagnostic for a token that cannot stand where it stands."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NoReturn

from aspenpy.language.diagnostics import Related, fail, suggest_nearest
from aspenpy.language.dimensions import UNITS
from aspenpy.language.mistakes import MISTAKES, Mistake
from aspenpy.language.situation import Opening, Situation
from aspenpy.language.tables import tables
from aspenpy.language.tokens import Token, TokenStream
from aspenpy.language.vocabulary import CLOSING, CONTINUATIONS, word_for, word_for_all


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
    """What was expected, and where, and what was found instead."""
    wanted = word_for_all(situation.expected)
    if situation.opening is not None and _can_close(situation.opening, situation):
        closing = CLOSING[situation.opening.token.type]
        others = situation.expected - {closing} - CONTINUATIONS
        close = f"{word_for(closing)} to close {situation.opening.encloses or word_for(situation.opening.token.type)}"
        wanted = f"{word_for_all(others)}, or {close}" if others else close
    elif situation.previous is not None and not situation.behind("STRING", *CLOSING, *CLOSING.values()):
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
    if situation.behind("NUMBER") and (in_bytes := _amount_in_bytes(number, name)) is not None:
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
    """What a number of bits, or of bytes under another name, is called; one lower-case `b` may have meant either."""
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
