"""The one table of keywords, held against the grammar, which says where each may stand."""

from __future__ import annotations

import re
from pathlib import Path

from aspenpy.language.files import grammar_path
from aspenpy.language.tables import tables
from aspenpy.language.vocabulary import DECLARATION, KEYWORDS, PART, STATEMENT, keywords_that_begin

RULE = re.compile(r"^\??([a-z_]+):(.*?)(?=^\S)", re.MULTILINE | re.DOTALL)

GRAMMAR = re.sub(r"(?<!\\/)//[^\n]*", "", Path(grammar_path()).read_text(encoding="utf-8"))
RULES = dict(RULE.findall(GRAMMAR))


def first_words(rule: str) -> set[str]:
    """The keywords with which the alternatives of a rule begin, read from the text of the grammar."""
    found = set()
    for alternative in re.split(r"\n\s*\|", RULES[rule]):
        first = re.match(r'\s*(\(?"[^)\[]*|[a-z_]+)?', alternative)
        assert first is not None
        if first[0].strip() in RULES:
            found |= first_words(first[0].strip())
        elif '"' in first[0]:
            words = re.findall(r'"([a-z]+)"', first[0])
            found |= set(words if first[0].strip().startswith("(") else words[:1])
    return {word.upper() for word in found}


def test_the_table_has_every_keyword_of_the_grammar_and_no_other() -> None:
    assert set(KEYWORDS) == set(tables().keywords.values())


def test_what_begins_what_is_as_in_the_grammar() -> None:
    assert first_words("statement") == keywords_that_begin(STATEMENT)
    assert first_words("declaration") == keywords_that_begin(DECLARATION)
    assert first_words("item") == keywords_that_begin(PART)


def test_every_bracket_behind_a_keyword_is_one_of_its_rule() -> None:
    """`iterate` has `[`, `seq` none: a phrase for a bracket that the grammar does not know would never be said."""
    signs = {"LBRACE": "{", "LPAR": "(", "LSQB": "["}
    for word, keyword in KEYWORDS.items():
        rules = "".join(text for text in RULES.values() if f'"{word.lower()}"' in text)
        known = {sign for sign, text in signs.items() if f'"{text}"' in rules}
        known |= {"LBRACE"} if re.search(r"\b(block|array|array_or_table)\b", rules) else set()
        known |= {"LPAR"} if "formals" in rules else set()
        known |= {"LSQB"} if "resource_trait" in rules else set()
        assert set(keyword.encloses) <= known, word
