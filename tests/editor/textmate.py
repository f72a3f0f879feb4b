"""What editors do with a TextMate grammar, as far as ours needs it: of the patterns that match furthest left in a line
the first; between a `begin` and its `end` only that pattern's own."""

from __future__ import annotations

import re
from functools import cache
from typing import Any


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


Rule = dict[str, Any]


class Tokeniser:
    """A grammar at work. Lines are read once, however often they come."""

    def __init__(self, grammar: dict[str, Any]) -> None:
        self.rules: list[Rule] = grammar["patterns"]
        self.known: dict[str, tuple[list[str], Rule | None]] = {}

    def scopes(self, text: str) -> list[str]:
        """The innermost scope of each character but line ends; empty where there is none."""
        found: list[str] = []
        inside: Rule | None = None
        for line in text.split("\n"):
            if inside is not None:
                marks, inside = self._read(line, inside)
            else:
                if line not in self.known:
                    self.known[line] = self._read(line, None)
                marks, inside = self.known[line]
            found += marks
        return found

    def _read(self, line: str, inside: Rule | None) -> tuple[list[str], Rule | None]:
        """The scopes of a line, and the rule that is open at its end."""
        marks = [""] * len(line)
        place, matches = 0, dict[str, re.Match[str] | None]()
        while place <= len(line):
            rules = self.rules if inside is None else [{**inside, "match": inside["end"]}, *inside["patterns"]]
            met = [(match, rule) for rule in rules if (match := _next(rule, line, place, matches)) is not None]
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
                matches = {}
            place = max(match.end(), place + (match.end() == place))
        return marks, inside


def _next(rule: Rule, line: str, place: int, known: dict[str, re.Match[str] | None]) -> re.Match[str] | None:
    """Where a rule matches next; `known` are the matches so far."""
    pattern = rule.get("match") or rule["begin"]
    if pattern not in known or ((last := known[pattern]) is not None and last.start() < place):
        known[pattern] = _compiled(pattern).search(line, place)
    return known[pattern]


def _mark(marks: list[str], start: int, end: int, scope: str) -> None:
    if scope:
        marks[start:end] = [scope] * (end - start)
