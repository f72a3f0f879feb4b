"""How the code reads: functions are named for what they do or for what they return, and docstrings stand alone."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.prose import ROOT, Prose

LEAST_VERBS = 0.35
MOST_PARTICIPLES = 0.03

VERBS = frozenset(
    """abandon accept acquire add adopt align allocate announce answer append apply are ask assemble assign assume
    blame blank begin bind bisect build call can carry change check choose clamp classify clear climb close
    coerce collect color colour combine compare compile complain complete compute conclude configure connect
    construct continue convert copy count cut deal decide declare deduce define deliver derive descend describe
    differentiate divide drop draw emit encode enter escape estimate evaluate evolve exchange expand explain
    express extend extract factor fail fill filter find finish fit flatten flush fold follow forget format
    gather generate get give go grow group guard guess handle has hash hoist import improve infer inline install
    instantiate intern interpolate interrupt invoke isolate jam join judge keep label lay learn leave let lift
    limit list load locate look lower make map mark match may measure mend merge mirror move multiply name
    negate normalise note offer open order parse pause pick place plot predict prepare price print profile
    propose publish put qualify raise read rebuild recognise record recover redefine reduce refine refuse
    register remember remove rename render replace report request require resolve restrict retry reuse rewrite
    rotate round run save say scale scatter search select separate serve set settle shift shorten show simplify
    simulate skip solve sort spell spend splice split spread start stop store strip substitute subtract suggest
    sum summarise sweep switch tabulate take tell tile trace train translate transpose trim try turn undo unload
    unroll update use validate vary visit wait walk warn weigh widen wrap write""".split()
)
NOUNS = frozenset(
    """binding bisecting bracketing ceiling counting crossing heading leading meaning meeting nesting ring setting
    sharing string training warning writing waiting doubling halving""".split()
)
"""Words that end as participles do, and are nouns of the field."""

RIDDLES = (
    *(
        "What ",
        "Those ",
        "That of ",
        "What's ",
        "Which of ",
        "A row a ",
        "Of ",
        "Than ",
        "Until ",
        "None where ",
        "None for ",
    ),
    *(
        "With a ",
        "With its ",
        "With the ",
        "With several ",
        "All of them",
        "All that is",
        "Nothing ",
        "Both ways",
        "As many ",
    ),
    *(
        "The same, ",
        "The same in ",
        "The same of ",
        "The same before ",
        "The same asked ",
        "By which ",
        "By how ",
        "Than ",
        "Only ",
    ),
)
"""Beginnings of docstrings that need the line above them to be understood."""

FRAGMENTS = ("How ", "Where ", "Each ", "By ", "As `", "So many ", "For so ")
"""Beginnings that name no value: "Number of …", "Position of …", "Metrics by name" do."""

FEW = 5  # new ones that wait for the next reader


@cache
def functions() -> list[tuple[Path, ast.FunctionDef]]:
    """Functions and methods of the package; properties and special methods are named otherwise."""
    found = []
    for path in sorted((ROOT / "aspenpy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__") and not _is_property(node):
                found.append((path, node))
    return found


def _is_property(node: ast.FunctionDef) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def first_word(name: str) -> str:
    return name.strip("_").split("_")[0]


def is_participle(name: str) -> bool:
    """Whether a name begins with a word such as `changed` or `taking`, which says neither what is done nor returned."""
    word = first_word(name)
    return word.endswith(("ed", "ing")) and word not in NOUNS | VERBS


def test_functions_say_what_they_do() -> None:
    names = [node.name for _, node in functions()]
    verbs = sum(first_word(name) in VERBS | {"is"} for name in names)
    assert verbs / len(names) >= LEAST_VERBS


def test_few_functions_are_participles() -> None:
    names = [node.name for _, node in functions()]
    participles = sorted(name for name in names if is_participle(name))
    assert len(participles) / len(names) <= MOST_PARTICIPLES, participles


@pytest.mark.parametrize(
    ("name", "expected"), [("_changed", True), ("taking_part", True), ("read", False), ("ring", False)]
)
def test_participles_are_told(name: str, expected: bool) -> None:
    assert is_participle(name) == expected


@cache
def docstrings() -> list[Prose]:
    """All docstrings of the package."""
    found = []
    for path in sorted((ROOT / "aspenpy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                found.append(Prose(path, getattr(node, "lineno", 1), text))
    return found


def test_docstrings_stand_alone() -> None:
    riddles = [
        f"{each.path.name}:{each.line} {each.text[:40]}" for each in docstrings() if each.text.startswith(RIDDLES)
    ]
    assert riddles == []


def test_docstrings_name_what_is_returned() -> None:
    fragments = [
        f"{each.path}:{each.line} {each.text[:40]}" for each in docstrings() if each.text.startswith(FRAGMENTS)
    ]
    assert len(fragments) <= FEW, fragments


def test_a_number_in_a_docstring_has_a_name() -> None:
    """`at most so many points` makes a reader look for the parameter that says how many."""
    nameless = [
        f"{each.path}:{each.line}" for each in docstrings() if re.search(r"\bso (many|much)\b(?! that)", each.text)
    ]
    assert len(nameless) <= FEW, nameless
