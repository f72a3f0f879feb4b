"""Counted units: translation units as a run counts them, their macros and headers expanded.

The compiler expands a unit; the result is read once more, and laid out with what is counted on lines of its own. A
macro is never split, and code of a header or an included source stands on lines of the unit itself. Both readings have
the same statements in the same order, so that what was counted in one is known in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.effects import walk_records
from aspenpy.extract.front_end import Reading
from aspenpy.extract.line_counts import ExecutionCount, ExecutionCounter, Layout
from aspenpy.extract.tree import read_program
from aspenpy.language.source import Span
from aspenpy.record import Record

_MARKER = re.compile(r'^#(?:line)? \d+ "(?:[^"\\\n]|\\.)*"([ \d]*)$', re.MULTILINE)
"""A line that says where the next ones are from; its third flag marks headers of the system (GCC, "Preprocessor
Output")."""

STATEMENTS = (r.LoopStatement, r.Branch, r.Switch)
"""What is counted."""


class Counts(Record):
    """How often loops and branches ran, by their spans, and how often functions were entered, by key."""

    ran: Mapping[Span, ExecutionCount]
    entered: Mapping[str, float]


class CountedUnit:
    """A unit that the compiler has expanded into the text of the file `path`."""

    def __init__(self, path: str, program: r.Program) -> None:
        self.path = path
        expanded, _ = read_program(Reading(path))
        self.layout = Layout(expanded)
        self.pairs: list[tuple[r.Function, r.Function]] = []
        self.different: list[r.Function] = []  # functions whose statements are not those of the source
        self._pair_functions(program.functions, expanded.functions)

    def _pair_functions(self, written: Iterable[r.Function], expanded: Iterable[r.Function]) -> None:
        """Pairs functions of one name in their order."""
        waiting: dict[str, list[r.Function]] = {}
        for function in expanded:
            waiting.setdefault(function.name, []).append(function)
        for function in written:
            others = waiting.get(function.name, [])
            other = others.pop(0) if others else None
            if other is not None and _shape(function) == _shape(other):
                self.pairs.append((function, other))
            elif any(_shape(function)):
                self.different.append(function)

    def text(self) -> str:
        """What is compiled: without the lines that say where others are from, which stay empty."""
        return _MARKER.sub("", self.layout.text())

    def count(self, lines: Mapping[int, float]) -> Counts:
        """Counts of statements and functions from those of the lines."""

        def at(span: Span | None) -> float | None:
            return None if span is None else lines.get(self.layout.find_line(span.start))

        counter = ExecutionCounter(at)
        entered: dict[str, float] = {}
        for written, expanded in self.pairs:
            count = counter.count_function(expanded)
            if count is not None:
                entered[written.key] = count
        ran: dict[Span, ExecutionCount] = {}
        for mine, other in {pair for functions in self.pairs for pair in _pair_spans(*functions)}:
            if (found := counter.found.get(other)) is not None:
                ran[mine] = found.plus(ran.get(mine))
        return Counts(ran, entered)


def merge_counts(parts: Iterable[Counts]) -> Counts:
    """Counts of a program from those of its units: code of headers runs in several."""
    ran: dict[Span, ExecutionCount] = {}
    entered: dict[str, float] = {}
    for part in parts:
        for span, count in part.ran.items():
            ran[span] = count.plus(ran.get(span))
        for key, number in part.entered.items():
            entered[key] = entered.get(key, 0.0) + number
    return Counts(ran, entered)


def mark_expanded(text: str) -> str:
    """The output of the preprocessor with places in itself, so that only what is of the system stays marked."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        match = _MARKER.fullmatch(line)
        if match is not None:
            lines[place] = f'# {place + 2} "expanded"{" 3" if "3" in match[1].split() else ""}'
    return "\n".join(lines)


def _counted_statements(function: r.Function) -> Iterator[Any]:
    return (node for node in walk_records(function.body) if isinstance(node, STATEMENTS))


def _shape(function: r.Function) -> list[str]:
    return [type(node).__name__ for node in _counted_statements(function)]


def _pair_spans(written: r.Function, expanded: r.Function) -> Iterator[tuple[Span, Span]]:
    pairs = zip(_counted_statements(written), _counted_statements(expanded), strict=True)
    return ((one.span, two.span) for one, two in pairs if one.span is not None and two.span is not None)
