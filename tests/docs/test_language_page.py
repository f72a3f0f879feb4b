"""The page about the language lists what the language has."""

import re
from pathlib import Path

from aspenpy.cost.caches.level import INCLUSIONS, WRITES
from aspenpy.cost.caches.policies import POLICIES
from aspenpy.cost.network.placement import ORDERS
from aspenpy.cost.network.topologies import TOPOLOGIES
from aspenpy.cost.trait_names import ADDITIONS, EXCHANGES, PATTERN_NAMES
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language.dimensions import UNITS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")


def words_in_code(text: str) -> list[str]:
    """The words between back quotes."""
    return " ".join(re.findall(r"`(.*?)`", text, re.DOTALL)).split()


def table(heading: str) -> list[str]:
    """The rows of the table whose heading begins so."""
    lines = PAGE[PAGE.index(f"\n| {heading} ") + 1 :].split("\n")
    return lines[2 : lines.index("")]


def test_keywords() -> None:
    grammar = re.sub(r"//.*", "", (ROOT / "grammar" / "aspen.lark").read_text(encoding="utf-8"))
    (listed,) = re.findall(r"^Keywords\n: (.*?)\. They cannot", PAGE, re.MULTILINE | re.DOTALL)
    assert sorted(words_in_code(listed)) == sorted({"include", *re.findall(r'"([a-z]+)"', grammar)})


def test_functions() -> None:
    listed = {name for row in table("functions") for name in re.findall(r"`(\w+)\(", row.split("|")[1])}
    assert listed == set(FUNCTIONS)


def test_units() -> None:
    listed = {word for row in table("dimension") for word in words_in_code(row.split("|")[3]) if word.isalpha()}
    assert listed == set(UNITS)


def test_patterns_of_access() -> None:
    listed = {name for row in table("access pattern") for name in re.findall(r"`(\w+)", row.split("|")[1])}
    assert listed == set(PATTERN_NAMES)
    beside = {name for row in table("beside a pattern") for name in re.findall(r"`(\w+)", row.split("|")[1])}
    assert beside == set(ADDITIONS)


def test_exchanges() -> None:
    listed = {name for row in table("exchange") for name in re.findall(r"`(\w+)", row.split("|")[1])}
    assert listed == set(EXCHANGES)


def test_words_of_properties() -> None:
    rows = table("component")
    for name, words in {"policy": POLICIES, "inclusion": INCLUSIONS, "writes": WRITES, "topology": TOPOLOGIES}.items():
        (row,) = (row for row in rows if f"`{name}`" in row.split("|")[2])
        assert set(words_in_code(row.split("|")[3])) == set(words), name
    (row,) = (row for row in rows if "`placement`" in row.split("|")[2])
    assert set(words_in_code(row.split("|")[3])) == set(ORDERS)
