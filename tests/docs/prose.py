"""The prose of the project: sentences of its pages, of its messages and of its help, without code.

`docs/vocabulary.md` is the list of phrases that are not used, and of what is written in their place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
VOCABULARY = ROOT / "docs" / "vocabulary.md"
PAGES = (ROOT / "README.md", *(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts))

CODE = re.compile(r"^(```|~~~).*?^\1$|`+[^`]*?`+|\]\([^)\s]*\)|<!--.*?-->|\$\$.*?\$\$", re.MULTILINE | re.DOTALL)
WORDS_OF_A_SENTENCE = 3
REPEATED = re.compile(r"\b([a-z]+)(?: +|\n)\1\b(?<!that that)(?<!had had)(?<!long long)")
PLACEHOLDER = "{}"
LITERALS = (ast.Constant, ast.JoinedStr)


class Prose(NamedTuple):
    """Text for people, with the file and the line where it begins."""

    path: Path
    line: int
    text: str


class Finding(NamedTuple):
    """A phrase that is not used, and what is written in its place."""

    place: str
    phrase: str
    instead: str


def page(path: Path) -> list[Prose]:
    """A Markdown page without code, formulas and targets of links; its lines stay where they are."""
    return [Prose(path, 1, CODE.sub(lambda code: "\n" * code[0].count("\n") or "`", path.read_text(encoding="utf-8")))]


def strings(path: Path) -> list[Prose]:
    """The string literals of a module with some words in them, docstrings aside: messages, hints and help."""
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    left_out = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    left_out |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    literals = ((node.lineno, _text(node)) for node in nodes if isinstance(node, LITERALS) and id(node) not in left_out)
    return [Prose(path, line, text) for line, text in literals if _is_prose(text)]


def _text(literal: ast.Constant | ast.JoinedStr) -> str:
    """A string as its source has it, with a placeholder for each value that is put in."""
    if isinstance(literal, ast.Constant):
        return str(literal.value)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else PLACEHOLDER for part in literal.values)


def _is_prose(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= WORDS_OF_A_SENTENCE


def vocabulary(text: str) -> dict[str, str]:
    """What is written instead, by the phrase that is not used, from the rows of the page's tables."""
    rows = re.findall(r"^\| (`.*?`) \| (.+?) \|$", text, re.MULTILINE)
    return {phrase: instead for cell, instead in rows for phrase in re.findall(r"`(.+?)`", cell)}


def findings(proses: list[Prose], banned: dict[str, str]) -> Iterator[Finding]:
    """The banned phrases and the words written twice, where they stand. `…` in a phrase is some words."""
    words = {
        phrase: r"\b" + re.escape(phrase).replace("…", r"[^.;:|]{1,40}").replace(r"\ ", r"\s+") + r"\b"
        for phrase in banned
    }
    any_of = re.compile("|".join(words.values()), re.IGNORECASE) if words else None
    for prose in proses:
        for found in any_of.finditer(prose.text) if any_of else ():
            phrase = next(name for name, law in words.items() if re.fullmatch(law, found[0], re.IGNORECASE))
            yield _finding(prose, found, banned[phrase])
        for found in REPEATED.finditer(prose.text):
            yield _finding(prose, found, found[1])


def _finding(prose: Prose, found: re.Match[str], instead: str) -> Finding:
    line = prose.line + prose.text.count("\n", 0, found.start())
    return Finding(f"{prose.path.name}:{line}", " ".join(found[0].split()), instead)
