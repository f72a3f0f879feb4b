"""Executions of a program's statements, from counts of its lines.

Where a line says nothing (a `while`, whose line counts tests and not entries), what enters a statement is what left the
one before: Kirchhoff's law, as profilers use it (Knuth and Stevenson, "Optimal measurement points for program frequency
counts", BIT 13, 1973). gcov counts lines, so that a source is laid out with what is counted on lines of its own.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.effects import list_leaving, walk_records, way_behind
from aspenpy.language.source import Span
from aspenpy.record import Record

CountAt = Callable[[Span | None], float | None]
"""How often the line ran on which something stands; None where the compiler has no code there."""


class ExecutionCount(Record):
    """Entries of a loop and its passes; or evaluations of a condition, and those in which it held, case by case for a
    switch."""

    entered: float
    passes: tuple[float, ...]

    def add(self, other: ExecutionCount | None) -> ExecutionCount:
        """Counts of both together, as of code that is compiled twice."""
        if other is None or len(other.passes) != len(self.passes):
            return self
        passes = tuple(one + two for one, two in zip(self.passes, other.passes, strict=True))
        return ExecutionCount(self.entered + other.entered, passes)


class Flow(Record):
    """Counts of what goes on behind a statement, and of the breaks and returns inside it; None where unknown."""

    onwards: float | None
    breaks: float | None = 0
    returns: float | None = 0


class ExecutionCounter:
    """The loops, branches and switches of one run, by the span of a loop's head, a condition or a subject."""

    def __init__(self, at: CountAt) -> None:
        self.at = at
        self.found: dict[Span, ExecutionCount] = {}

    def count_function(self, function: r.Function) -> float | None:
        """Counts the statements of a function; returns how often it was entered, None where no line tells."""
        entered = self._count_entries(function.body)
        if entered is None:
            entered = self.at(function.span)
        self._follow(function.body, entered)
        return entered

    # -- lines -------------------------------------------------------------------------------------

    def _count_entries(self, node: r.Statement | None) -> float | None:
        """Entries of a statement by the count of its first line; of a block by that of the first statement with one
        and what has left it before."""
        if isinstance(node, r.CompoundStatement):
            left: float | None = 0.0
            for inner in node.statements:
                if (count := self._count_entries(inner)) is not None:
                    return sum_known(left, count)
                left = sum_known(left, self._count_leaving(inner))
            return None
        if isinstance(node, r.LoopStatement):
            if is_range(node):
                return None
            if node.start is not None:
                return self._count_entries(node.start)
            return None if node.tested_first else self._count_single_pass(node)
        if isinstance(node, r.Branch):
            tests = self._count_tests(node.condition, node.span)
            tests = self._count_at_keyword(node) if tests is None else tests
            is_known = tests is not None or node.otherwise is None
            return tests if is_known else self._sum_entries(node.then, node.otherwise)
        if isinstance(node, r.Switch):  # a plain variable has no code of its own
            counted = self.at(node.span)
            return self._sum_entries(*node.cases) if counted is None and node.exhaustive else counted
        if node is None or _has_lambda(node) or (isinstance(node, r.Declaration) and node.value is None):
            return None
        return self.at(node.span)

    def _count_leaving(self, node: r.Statement | None) -> float | None:
        """Jumps that led out of a statement; None where one has no count, or may lead anywhere."""
        return self._sum_jumps(list_leaving(node))

    def _count_leaving_loop(self, body: r.Statement) -> float | None:
        """Passes of a loop that end with a jump out of it."""
        return self._sum_jumps(jump for jump in list_leaving(body) if jump.kind != "continue")

    def _sum_jumps(self, jumps: Iterable[r.Jump]) -> float | None:
        return sum_known(*(None if jump.kind == "goto" else self.at(jump.span) for jump in jumps))

    def _sum_entries(self, *ways: r.Statement | None) -> float | None:
        """Entries of a statement that always goes one of some ways, by those of the ways."""
        return sum_known(*map(self._count_entries, ways))

    def _count_at_keyword(self, node: r.Branch) -> float | None:
        """Evaluations of a condition counted at its `if`, where GCC counts comparisons of two registers."""
        span, condition = node.span, node.condition
        is_plain = isinstance(condition, r.Operation) and condition.operator not in ("&&", "||")
        if span is None or not is_plain or not span.source.text[: span.start].rstrip().endswith("("):
            return None
        return self.at(Span(span.source, span.start - 1, span.start))

    def _count_tests(self, condition: r.Expression, span: Span | None) -> float | None:
        """Evaluations of a condition; None for one in several parts, of which GCC counts the last."""
        parts = walk_records(condition)
        for part in parts:
            if isinstance(part, r.Selection) or (isinstance(part, r.Operation) and part.operator in ("&&", "||")):
                return None
        return self.at(span)

    def _count_single_pass(self, node: r.LoopStatement) -> float | None:
        """Entries of `do { } while (0)`, which macros are made of: those of its body."""
        is_once = isinstance(node.condition, r.Constant) and not node.condition.value
        return self._count_entries(node.body) if is_once else None

    # -- statements --------------------------------------------------------------------------------

    def _follow(self, node: r.Statement | None, entering: float | None) -> Flow:
        counted = self._count_entries(node)
        entering = entering if counted is None else counted
        flow = self._follow_parts(node, entering)
        if node is not None and (way := way_behind(node)) is not None and node.span in self.found:
            self._add_count(way, self.found[node.span].entered, flow.onwards)
        return flow

    def _follow_parts(self, node: r.Statement | None, entering: float | None) -> Flow:
        if isinstance(node, r.CompoundStatement):
            return self._follow_block(node, entering)
        if isinstance(node, r.LoopStatement):
            return self._follow_loop(node, entering)
        if isinstance(node, r.Branch):
            return self._follow_branch(node, entering)
        if isinstance(node, r.Switch):
            return self._follow_switch(node, entering)
        if isinstance(node, r.Jump):
            breaks = entering if node.kind == "break" else 0
            returns = entering if node.kind in ("return", "goto") else 0
            return Flow(0, breaks, returns)
        return Flow(entering)

    def _follow_block(self, node: r.CompoundStatement, entering: float | None) -> Flow:
        flow = Flow(entering)
        for inner in node.statements:
            after = self._follow(inner, flow.onwards)
            breaks, returns = sum_known(flow.breaks, after.breaks), sum_known(flow.returns, after.returns)
            flow = Flow(after.onwards, breaks, returns)
        return flow

    def _follow_branch(self, node: r.Branch, entering: float | None) -> Flow:
        held, failed = self._count_entries(node.then), self._count_entries(node.otherwise)
        if held is None and entering is not None and failed is not None:
            held = entering - failed
        if failed is None and entering is not None and held is not None:
            failed = entering - held
        self._add_count(node.span, entering, held)
        sides = [self._follow(node.then, held), self._follow(node.otherwise, failed)]
        return Flow(*(sum_known(*(getattr(side, name) for side in sides)) for name in ("onwards", "breaks", "returns")))

    def _follow_switch(self, node: r.Switch, entering: float | None) -> Flow:
        sides = [self._follow(case, None) for case in node.cases]
        self._add_count(node.span, entering, *(self._count_entries(case) for case in node.cases))
        returns = sum_known(*(side.returns for side in sides))
        return Flow(None if entering is None or returns is None else entering - returns, 0, returns)

    def _follow_loop(self, node: r.LoopStatement, entering: float | None) -> Flow:
        body = _body_without_variable(node) if is_range(node) else node.body
        passes = self._count_entries(body)
        tested = None if is_range(node) else node.condition
        tests = None if tested is None else self._count_tests(tested, tested.span)
        cut = self._count_leaving_loop(node.body)
        if passes is None and node.tested_first and tests is not None and entering is not None and cut is not None:
            passes = tests - entering + cut
        if passes is None and node.step is not None and not is_range(node):
            passes = sum_known(self._count_steps(node), cut)
        inside = self._follow(body, passes)
        left = sum_known(inside.breaks, inside.returns)
        if entering is None and node.tested_first and tests is not None and passes is not None and left is not None:
            entering = tests - passes + left
        self._add_count(node.span, entering, passes)
        returns = inside.returns
        return Flow(None if entering is None or returns is None else entering - returns, 0, returns)

    def _count_steps(self, node: r.LoopStatement) -> float | None:
        """Executions of the step of a `for`, which GCC counts at its place, or in C++ at the keyword: the passes of a
        loop whose body begins with what has no count, as a loop over a container."""
        steps = None if node.step is None else self.at(node.step.span)
        return self.at(node.span) if steps is None and node.start is not None else steps

    def _add_count(self, span: Span | None, entered: float | None, *passes: float | None) -> None:
        """Adds the count of a statement. One text may run in several places, as arguments of macros do."""
        if span is not None and entered is not None and None not in passes:
            self.found[span] = ExecutionCount(entered, tuple(max(count or 0, 0) for count in passes))


def _has_lambda(node: r.Statement) -> bool:
    """Whether a function begins inside a statement: GCC counts that at the statement's line, too."""
    return any(isinstance(part, r.Constant) and part.type.name.startswith(r.LAMBDA) for part in walk_records(node))


def is_range(node: r.LoopStatement) -> bool:
    """Whether a loop goes over a container: all of its head stands in one place."""
    start = node.start.span if isinstance(node.start, r.Declaration) else None
    return start is not None and node.span is not None and start.start == node.span.start


def _body_without_variable(node: r.LoopStatement) -> r.Statement:
    """The body of a loop over a container without its variable, which is declared in the head."""
    body = node.body
    if (
        isinstance(body, r.CompoundStatement)
        and len(body.statements) == 2
        and isinstance(body.statements[0], r.Declaration)
    ):
        return body.statements[1]
    return body


def sum_known(*counts: float | None) -> float | None:
    counted = [count for count in counts if count is not None]
    return sum(counted) if len(counted) == len(counts) else None


# -- layout ----------------------------------------------------------------------------------------

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\\r?\n|\\.)*\n?", re.MULTILINE)


class SourceLayout:
    """A source with line breaks where statements, conditions and the parts of a `for` begin and end, which are white
    space to the compiler; and the line on which each place of the source then stands."""

    def __init__(self, program: r.Program) -> None:
        self.source = program.source
        breaks = {place for function in program.functions for place in self._list_breaks(function)}
        fixed = [match.span() for match in _DIRECTIVE.finditer(self.source.text)]
        starts = [start for start, _ in fixed]

        def is_free(offset: int) -> bool:
            at = bisect_right(starts, offset) - 1
            return at < 0 or offset >= fixed[at][1]

        self.breaks = sorted(filter(is_free, breaks))
        self._lines = [match.start() for match in re.finditer("\n", self.source.text)]

    def _list_breaks(self, function: r.Function) -> Iterator[int]:
        for node in walk_records(function.body):
            for span in _spans_to_lay_out(node):
                if span is not None and span.source is self.source:
                    yield from (span.start, span.end)

    def text(self, inserted: Sequence[tuple[int, str]] = ()) -> str:
        """The text with its line breaks, and with other texts `inserted` at some offsets in their order: those that
        begin something behind a line break there, those that end something before it."""
        pieces = [(place, 2 if text.startswith("(") else 0, text) for place, text in inserted]
        pieces += [(place, 1, "\n") for place in self.breaks]
        pieces.sort(key=lambda piece: piece[:2])
        edges = [0, *(place for place, _, _ in pieces), len(self.source.text)]
        parts = (self.source.text[start:end] for start, end in itertools.pairwise(edges))
        return "".join(itertools.chain(*itertools.zip_longest(parts, (text for *_, text in pieces), fillvalue="")))

    def find_line(self, offset: int) -> int:
        """Line, from 1 on, of a place of the source in the laid-out text."""
        return bisect_right(self._lines, offset - 1) + bisect_right(self.breaks, offset) + 1


def _spans_to_lay_out(node: Any) -> Iterator[Span | None]:
    """Spans of a statement before and behind which the layout breaks the line."""
    if isinstance(node, r.ExpressionStatement | r.Declaration | r.Jump | r.LoopStatement):
        yield node.span
    if isinstance(node, r.LoopStatement):
        yield from (part.span for part in (node.condition, node.step) if part is not None)
    elif isinstance(node, r.Branch | r.Switch):
        yield node.span
