"""What editors do with a TextMate grammar, as far as ours needs it: of the patterns that match furthest left in a line
the first; between a `begin` and its `end` only that pattern's own."""

from __future__ import annotations

import re
from functools import cache
from typing import Any


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def scopes(grammar: dict[str, Any], text: str) -> list[str]:
    """The innermost scope of each character but line ends; empty where there is none."""
    found: list[str] = []
    inside: dict[str, Any] | None = None
    for line in text.split("\n"):
        marks = [""] * len(line)
        inside = _tokenise(grammar["patterns"], inside, line, marks)
        found += marks
    return found


def _tokenise(outer: list[Any], inside: dict[str, Any] | None, line: str, marks: list[str]) -> dict[str, Any] | None:
    """Marks the characters of a line, and returns the pattern that is open at its end."""
    place, known = 0, dict[str, re.Match[str] | None]()
    while place <= len(line):
        rules = outer if inside is None else [{**inside, "match": inside["end"]}, *inside["patterns"]]
        met = []
        for rule in rules:
            pattern = rule.get("match") or rule["begin"]
            if pattern not in known or ((last := known[pattern]) is not None and last.start() < place):
                known[pattern] = _compiled(pattern).search(line, place)
            if (match := known[pattern]) is not None:
                met.append((match, rule))
        first = min((match.start() for match, _ in met), default=len(line) + 1)
        if inside is not None:
            _mark(marks, place, min(first, len(line)), inside["name"])
        if first > len(line):
            break
        match, rule = next((match, rule) for match, rule in met if match.start() == first)
        _mark(marks, match.start(), match.end(), rule.get("name", ""))
        for group, capture in rule.get("captures", {}).items():
            _mark(marks, *match.span(int(group)), capture["name"])
        if "begin" in rule:
            inside = None if inside is not None and match.re.pattern == inside["end"] else rule
            known = {}
        place = max(match.end(), place + (match.end() == place))
    return inside


def _mark(marks: list[str], start: int, end: int, scope: str) -> None:
    if scope:
        marks[start:end] = [scope] * (end - start)
