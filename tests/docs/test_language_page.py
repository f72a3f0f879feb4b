"""The page about the language lists what the language has."""

import re
from pathlib import Path

from aspenpy.dimensions import UNITS
from aspenpy.expr.functions import FUNCTIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language.md").read_text()


def words_in_code(text: str) -> list[str]:
    """The words between back quotes."""
    return " ".join(re.findall(r"`(.*?)`", text, re.DOTALL)).split()


def table(heading: str) -> list[str]:
    """The rows of the table whose heading begins so."""
    lines = PAGE[PAGE.index(f"\n| {heading} ") + 1 :].split("\n")
    return lines[2 : lines.index("")]


def test_keywords() -> None:
    grammar = re.sub(r"//.*", "", (ROOT / "grammar" / "aspen.lark").read_text())
    (listed,) = re.findall(r"^Keywords\n: (.*?)\. They cannot", PAGE, re.MULTILINE | re.DOTALL)
    assert sorted(words_in_code(listed)) == sorted({"include", *re.findall(r'"([a-z]+)"', grammar)})


def test_functions() -> None:
    listed = {name for row in table("functions") for name in re.findall(r"`(\w+)\(", row.split("|")[1])}
    assert listed == set(FUNCTIONS)


def test_units() -> None:
    listed = {word for row in table("dimension") for word in words_in_code(row.split("|")[3]) if word.isalpha()}
    assert listed == set(UNITS)
