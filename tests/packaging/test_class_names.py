"""One meaning for each class name, so that a name at the place of its use says what it stands for."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "aspenpy"

SYNTAX = ("language/nodes.py", "extract/records.py")
"""Syntax trees, of Aspen and of C, in the words of those languages. Other rooms read them by their modules:
`nodes.Machine` is the text of a `Machine`, `r.Variable` a variable of C."""

SAME_AS_SYNTAX = {
    "the syntax of the same thing, before names are resolved": (
        "Application Call Component CountRule Counted Data Formal Kernel Machine Parameter Part Property Requirement "
        "Resource ResourceTrait Trait"
    ),
    "a word of Aspen's expressions and statements": "Array Case Comparison Index Name Number Power Switch",
    "a word of C's grammar": "Call Constant Declaration Function Program Switch Variable",
}
"""Names that a syntax tree shares with another class, by the reason; a name may leave this table and none may enter."""

MOST_SHARED = 29


@cache
def classes_by_name() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(file.relative_to(PACKAGE).as_posix())
    return found


def test_a_class_name_has_one_meaning() -> None:
    beside_syntax = {name: files - set(SYNTAX) for name, files in classes_by_name().items()}
    assert {name: sorted(files) for name, files in beside_syntax.items() if len(files) > 1} == {}


def test_names_shared_with_syntax_are_listed_and_grow_no_more() -> None:
    listed = {name for names in SAME_AS_SYNTAX.values() for name in names.split()}
    assert {name for name, files in classes_by_name().items() if len(files) > 1} == listed
    assert len(listed) <= MOST_SHARED


def test_shared_names_of_syntax_are_read_by_their_module() -> None:
    """Outside of the tree's own room nobody imports a name bare that another class has, too."""
    listed = {name for names in SAME_AS_SYNTAX.values() for name in names.split()}
    rooms = {f"aspenpy.{file.removesuffix('.py').replace('/', '.')}": file.split("/")[0] for file in SYNTAX}
    bare = []
    for file in PACKAGE.rglob("*.py"):
        room = file.relative_to(PACKAGE).parts[0]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and rooms.get(node.module or "", room) != room:
                bare += [f"{file.name}: {alias.name}" for alias in node.names if alias.name in listed]
    assert bare == []
