"""UnitState: what the readers of types, expressions, calls and statements share of one translation unit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.effects import walk_records
from aspenpy.extract.front_end import ParsedUnit
from aspenpy.extract.pragmas import is_atomic
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span

GRAPH_BEGIN, GRAPH_END, GRAPH_LAUNCH = "device graph begin", "device graph end", "device graph launch"
"""Keys of the calls that capture a device's graph, and of those that launch it."""


class UnitState:
    """The part of a translation unit that has been read so far."""

    def __init__(self, reading: ParsedUnit, macros: dict[str, r.Macro]) -> None:
        self.reading = reading
        self.diagnostics: list[Diagnostic] = []
        self.macros = macros  # of all units of the program
        self.tables: list[r.ExpressionStatement] = []  # functions that lists give to elements and members
        self.statics: list[r.Declaration] = []  # variables of functions that keep their values
        self.made: dict[str, r.Function] = {}  # lambdas, and functions of the standard library
        self.never_return: set[str] = set()  # functions that are called and declared so
        self.instances: dict[str, Any] = {}  # functions that templates become in calls, by key
        self.overriding: dict[str, list[str]] = {}  # methods that override a virtual one, by its key
        self.classes: dict[str, tuple[Any, bool]] = {}  # those of templates, whose methods others may call
        self.launches: dict[str, r.Launch] = {}  # of kernels, by the key of the call
        self.has_told_graphs = False
        self.graph: r.Statement | None = None  # the launches that were captured last
        self._statements: dict[tuple[str, int], list[int]] = {}  # those that begin at one place, by libclang's hash
        self._depth = 0
        self._loops = 0

    @cached_property
    def has_atomic(self) -> bool:
        """Whether a directive of the file, or of one that it includes, makes an update atomic."""
        return any(is_atomic((pragma,)) for text in self.reading.texts.values() for _, pragma in text.pragmas)

    def span(self, cursor: Any) -> Span | None:
        return self.reading.span(cursor)

    def capture(self, statements: list[r.Statement]) -> list[r.Statement]:
        """Statements without those that a device's graph captures, where the last one ends that: they stand where the
        graph is launched."""
        if not statements or not _has_call(statements[-1], GRAPH_END):
            return statements
        begins = [at for at, each in enumerate(statements) if _has_call(each, GRAPH_BEGIN)]
        if not begins:
            return statements
        self.graph = r.CompoundStatement(tuple(statements[begins[-1] + 1 : -1]))
        return statements[: begins[-1]]

    def launch_graph(self, statement: r.Statement) -> r.Statement:
        """A statement with what it launches, where that is a graph: the one that was captured last."""
        if not _has_call(statement, GRAPH_LAUNCH):
            return statement
        message = "launches of a graph count as launches: machines state no shorter latency for them"
        if self.graph is None:
            message = "no launches were captured in front of this graph: it is not counted"
        if self.graph is None or not self.has_told_graphs:
            self.diagnostics.append(warning("not-counted", message, statement.span))
            self.has_told_graphs = True
        return statement if self.graph is None else r.CompoundStatement((statement, self.graph), statement.span)

    def begin_function(self) -> None:
        """Forgets the statements of the function before: those of a template stand at one place in all it becomes."""
        self._statements.clear()

    def distinct_span(self, cursor: Any, span: Span | None) -> Span | None:
        """The span of a statement, one character shorter for each statement before it that begins at the same place.

        All statements of one macro begin where its name stands, and spans are what later stages tell them apart by."""
        if span is None:
            return None
        cursors = self._statements.setdefault((span.source.name, span.start), [])
        if cursor.hash not in cursors:
            cursors.append(cursor.hash)
        return Span(span.source, span.start, max(span.start + 1, span.end - cursors.index(cursor.hash)))

    def member_span(self, cursor: Any) -> Span | None:
        """The span of a member. One that a macro names begins where the macro's name stands, as all of it does, and has
        a span of its own."""
        span = self.span(cursor)
        if span is None or cursor.spelling in span.text():
            return span
        self._statements.setdefault((span.source.name, span.start), [0])
        return self.distinct_span(cursor, span)

    @contextmanager
    def enter(self) -> Iterator[bool]:
        """Enters one level of nesting; yields whether that is not too deep."""
        self._depth += 1
        try:
            yield self._depth <= r.MOST_DEPTH
        finally:
            self._depth -= 1

    @contextmanager
    def enter_loop(self, span: Span | None) -> Iterator[None]:
        """Enters the body of a loop. Raises AspenError where too many are inside one another."""
        self._loops += 1
        r.check_loops(self._loops, span)
        yield
        self._loops -= 1


def _has_call(statement: r.Statement, key: str) -> bool:
    return any(isinstance(node, r.Call) and node.key == key for node in walk_records(statement))
