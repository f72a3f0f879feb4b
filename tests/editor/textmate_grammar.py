"""A TextMate grammar of the language, for editors and pages that colour by patterns.

It is made from the terminals of `grammar/aspen.lark` and from the tables of keywords and functions; a test holds the
file of the Visual Studio Code extension to it. Patterns see one line at a time: a quantity is not told from a
parameter's value with a component behind it where the component is on the next line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language.files import grammar_path
from aspenpy.language.vocabulary import CONSTANT, FUNCTION, KEYWORDS, MODULE, PHRASES, TYPE, Keyword

SCOPE = "source.aspen"

_BEGIN, _END = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"

_NAMED = {FUNCTION: "entity.name.function", TYPE: "entity.name.type", MODULE: "entity.name.namespace"}
"""Scopes of names by what the keyword before them declares; of others `variable.other`."""


def textmate_grammar() -> dict[str, Any]:
    """The grammar as an object, as the files of editors have it."""
    with open(grammar_path(), encoding="utf-8") as file:
        terminal = dict(re.findall(r"^([A-Z_]+)(?:\.\d+)?: /(.*)/s?(?: [A-Z_]+)?$", file.read(), re.MULTILINE))
    number = f"{terminal['DECIMAL']}(?:{terminal['EXPONENT']})?"
    unit = terminal["UNIT"]
    end = terminal["END_OF_QUANTITY"] + terminal["NO_COMPONENT_NAME"]
    patterns = [
        _pattern("comment.line.double-slash", r"//.*$"),
        {
            "name": f"string.quoted.double{_ASPEN}",
            "begin": '"',
            "end": '"',
            "patterns": [_pattern("constant.character.escape", r"\\.")],
        },
        _captures(
            rf'{_BEGIN}(include){_END}[ \t]+("[^"]*"|[^ \t"]\S*)', "keyword.control.import", "string.unquoted.path"
        ),
        _captures(f"({_drop_captures(number)}) ?({_drop_captures(unit)}(?:/{_drop_captures(unit)})?){end}",
                  "constant.numeric", "keyword.other.unit"),
        _pattern("constant.numeric", _drop_captures(number)),
        _pattern("keyword.control", f"{_BEGIN}(?:{_phrases()}){_END}"),
        _pattern("keyword.control", f"{_BEGIN}{_drop_captures(terminal['LIKE'])}"),
        *_keywords(),
        _pattern("support.function", rf"{_BEGIN}(?:{_any(FUNCTIONS)})(?=[ \t]*\()"),
        _pattern("support.type", rf"{_BEGIN}{_NAME}(?=[ \t]+\[)"),
        _pattern("variable.other", _NAME),
        _pattern("keyword.operator.comparison", r"[=!<>]=|[<>]"),
        _pattern("keyword.operator.range", r"\.\."),
        _pattern("keyword.operator", r"[-+*/^=]"),
        _pattern("punctuation", r"[\]\[(){},.]"),
    ]  # fmt: skip
    return {"name": "Aspen", "scopeName": SCOPE, "fileTypes": ["aspen"], "patterns": patterns}


def textmate_text() -> str:
    """The grammar as the text of its file."""
    return json.dumps(textmate_grammar(), indent=2) + "\n"


_ASPEN = ".aspen"


def _pattern(scope: str, match: str) -> dict[str, Any]:
    return {"name": scope + _ASPEN, "match": match}


def _captures(match: str, *scopes: str) -> dict[str, Any]:
    return {"match": match, "captures": {str(i): {"name": scope + _ASPEN} for i, scope in enumerate(scopes, 1)}}


def _phrases() -> str:
    """The phrases of several words, with any spaces between them."""
    return "|".join(words.replace(" ", "[ \t]+") for words in PHRASES.values() if " " in words)


def _drop_captures(pattern: str) -> str:
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern)


def _any(words: Any) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def _keywords() -> list[dict[str, Any]]:
    """A keyword that declares something and the name behind it; all keywords by what they begin."""
    rows = {name.lower(): row for name, row in KEYWORDS.items()}
    name = f"(?!(?:{_any(rows)}){_END}){_NAME}"
    declaring: dict[str, list[str]] = {}
    scopes: dict[str, list[str]] = {}
    for word, row in rows.items():
        scopes.setdefault(_scope(word, row), []).append(word)
        if row.declares:
            declaring.setdefault(_NAMED.get(row.names, "variable.other"), []).append(word)
    return [
        *(
            _captures(rf"{_BEGIN}({_any(words)})[ \t]+({name})", "storage.type", named)
            for named, words in declaring.items()
        ),
        *(_pattern(scope, f"{_BEGIN}(?:{_any(words)}){_END}") for scope, words in scopes.items()),
    ]


def _scope(word: str, row: Keyword) -> str:
    if row.begins == CONSTANT:
        return "constant.language"
    if word in ("and", "or"):
        return "keyword.operator.word"
    return "storage.type" if row.declares else "keyword.control"
