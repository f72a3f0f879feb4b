"""Tables: the grammar in the form the parser runs on, kept ready-made in the user's cache folder.

lark reads `grammar/aspen.lark` and computes the LALR(1) tables and the patterns of the tokens; what is kept is
plain data. A program that finds them in the cache never imports lark, which would be half of its start-up time.
"""

from __future__ import annotations

import marshal
import os
import re
import stat
import sys
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

from aspenpy.language.files import grammar_path, replace_file, user_folder
from aspenpy.record import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from lark import Lark
    from lark.grammar import Rule as LarkRule

START_SYMBOLS = ("file", "expression", "value", "condition")

END = "$END"  # the terminal behind the last token
PASS_ON = ""  # the handler of a rule that stands for its only symbol
COLLECT = "*"  # the handler of the repetitions lark makes of `*` and `+`: a list


class Rule(NamedTuple):
    """The action when a rule is recognised.

    `arrangement` says where the builder's arguments come from: None for an absent optional symbol, i for the i-th
    symbol, ~i for the elements of the list the i-th symbol is. None instead of it all: every symbol as it is.
    """

    symbol: str
    length: int
    handler: str
    arrangement: tuple[int | None, ...] | None


class Tables(NamedTuple):
    """`actions[state]` says what to do at a terminal, or which state follows a symbol that was recognised: a number
    from 0 is the next state, a negative one ~i reduces by the i-th rule."""

    actions: list[dict[str, int]]
    rules: list[Rule]
    first_state: dict[str, int]
    pattern: str
    keywords: dict[str, str]


@lru_cache(maxsize=1)
def tables() -> Tables:
    """The tables of the language, from the cache if they are there."""
    with open(grammar_path(), encoding="utf-8") as file:
        grammar = file.read()
    return load_or_compute_tables(grammar, cache_folder())


# -- made by lark --------------------------------------------------------------------------------


def compute_tables(grammar: str) -> Tables:
    """The tables of a grammar, computed."""
    from lark import Lark

    parser = Lark(
        grammar, parser="lalr", lexer="basic", start=list(START_SYMBOLS), keep_all_tokens=True, maybe_placeholders=True
    )
    table = parser.parser.parser._parse_table  # private: `pyproject.toml` holds lark below its next major version
    number = {rule: index for index, rule in enumerate(parser.rules)}
    actions = [
        {symbol: argument if kind.name == "Shift" else ~number[argument] for symbol, (kind, argument) in row.items()}
        for _, row in sorted(table.states.items())
    ]
    for last_state in table.end_states.values():
        actions[last_state][END] = last_state
    pattern, keywords = _token_patterns(parser)
    rules = [_convert_rule(rule) for rule in parser.rules]
    return Tables(actions, rules, dict(table.start_states), pattern, keywords)


def _convert_rule(rule: LarkRule) -> Rule:
    symbol, length = str(rule.origin.name), len(rule.expansion)
    if symbol.startswith("_"):
        handler = COLLECT
    elif rule.options.expand1 and not rule.alias and length == 1:
        handler = PASS_ON
    else:
        handler = rule.alias or symbol
    absent_before = "".join("-" if absent else "+" for absent in rule.options.empty_indices or (False,) * length)
    arrangement: list[int | None] = []
    index = 0
    for mark in absent_before:
        if mark == "-":
            arrangement.append(None)
        else:
            repetition = rule.expansion[index].name.startswith("__") and not rule.expansion[index].is_term
            arrangement.append(~index if repetition else index)
            index += 1
    plain = arrangement == list(range(length)) and handler != COLLECT
    return Rule(symbol, length, handler, None if plain else tuple(arrangement))


def _token_patterns(parser: Lark) -> tuple[str, dict[str, str]]:
    """One pattern for every token and the white space before it, and the terminals of the keywords."""
    name = re.compile(next(t.pattern.to_regexp() for t in parser.terminals if t.name == "NAME"))
    literals = {t.pattern.value: t.name for t in parser.terminals if t.pattern.type == "str"}
    keywords = {word: terminal for word, terminal in literals.items() if name.fullmatch(word)}
    others = [t for t in parser.terminals if t.pattern.value not in keywords and t.name != "SPACE"]
    others.sort(key=lambda t: (t.pattern.type == "str", -t.priority, -len(t.pattern.value)))
    space = next(t.pattern.to_regexp() for t in parser.terminals if t.name == "SPACE")
    groups = [f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in others]
    pattern = f"(?:{space})?+(?:{'|'.join([*groups, '(?P<STRAY>.)'])})"
    return pattern, {**keywords, "include": "INCLUDE"}  # the word alone: a file's name is missing behind it


# -- the cache -----------------------------------------------------------------------------------


def cache_folder() -> str | None:
    """The user's folder for the tables, made if need be; None if anyone else could write to it."""
    try:
        folder = os.path.join(user_folder("XDG_CACHE_HOME", ".cache"), "aspenpy")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except OSError:
        return None
    foreign = hasattr(os, "getuid") and status.st_uid != os.getuid()
    return None if foreign or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else folder


def load_or_compute_tables(grammar: str, folder: Path | str | None) -> Tables:
    """The tables of a grammar from the folder, or new ones, which are left there."""
    if folder is None:
        return compute_tables(grammar)
    with open(__file__, "rb") as own:
        made_from = own.read() + grammar.encode()
    file = os.path.join(folder, f"grammar-{crc32(made_from):08x}.{sys.implementation.cache_tag}")
    kept = _load_file(file, made_from)
    if kept is None:
        kept = compute_tables(grammar)
        plain = {**kept._asdict(), "rules": [tuple(rule) for rule in kept.rules], "made_from": made_from}
        write_kept(file, plain)
    return kept


def _load_file(file: str, made_from: bytes) -> Tables | None:
    """The tables in a file; None if it is absent, damaged, or made from something else."""
    try:
        kept: dict[str, Any] = read_kept(file)
        if kept.pop("made_from") != made_from:
            return None
        tables = Tables(**{**kept, "rules": [Rule(*rule) for rule in kept["rules"]]})
        return tables if _are_plausible(tables) else None
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        return None


def read_kept(file: str) -> Any:
    """The tables that `write_kept` left in a file. Raises OSError where it cannot be read, ValueError where it is
    damaged."""
    with open(file, "rb") as stream:
        content = stream.read()
    if len(content) < 4 or crc32(content[4:]) != int.from_bytes(content[:4], "big"):
        raise ValueError("the file is damaged")
    try:
        return marshal.loads(content[4:])
    except (EOFError, TypeError) as error:
        raise ValueError("the file is damaged") from error


def write_kept(file: str, data: Any) -> None:
    """Leaves plain data for the next time; gives up if it cannot."""
    content = marshal.dumps(data)
    with suppress(OSError), replace_file(file) as unfinished:
        unfinished.write_bytes(crc32(content).to_bytes(4, "big") + content)


def _are_plausible(tables: Tables) -> bool:
    """Whether tables are of the shape that the parser runs on: what stands in a file can be anything."""
    actions = {action for row in tables.actions for action in row.values()} | set(tables.first_state.values())
    words = [*tables.first_state, *tables.keywords, *tables.keywords.values()]
    words += [word for rule in tables.rules for word in (rule.symbol, rule.handler)]
    try:
        re.compile(tables.pattern)
    except re.error:
        return False
    return (
        set(tables.first_state) == set(START_SYMBOLS)
        and {*map(type, actions), *(type(rule.length) for rule in tables.rules)} == {int}
        and -len(tables.rules) <= min(actions) <= max(actions) < len(tables.actions)
        and set(map(type, words)) == {str}
        and all(rule.arrangement is None or isinstance(rule.arrangement, tuple) for rule in tables.rules)
    )
