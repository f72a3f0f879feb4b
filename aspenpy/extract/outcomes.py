"""Branches that a processor guesses wrongly: outcomes of a run, guessed as its predictor does.

The counted program hands the outcome of each condition that is a jump in the compiled program to a predictor of
branches: the entry of the longest history of outcomes whose tag is found guesses, of histories whose lengths grow
geometrically (Seznec and Michaud, "A case for (partially) TAgged GEometric history length branch prediction", JILP
2006: seven tables, lengths from 5 to 200, tags of 15 bits, weights of 3 and usefulness of 2 bits). With 3,072 entries
in a table it learns half of a sequence of 50,000 outcomes that comes again, and half of four such sequences of 25,000,
a quarter of which hold (timed on a Zen 5: 36,000 and 26,000).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from aspenpy.extract import records as r
from aspenpy.extract.costs import (
    BEHIND,
    WRONG,
    Alternative,
    Arithmetic,
    Item,
    MemoryAccess,
    Nest,
    rewrite_inside,
    walk_items,
)
from aspenpy.extract.effects import walk_records
from aspenpy.extract.line_counts import ExecutionCount
from aspenpy.extract.values import Value, counters
from aspenpy.language.source import Span
from aspenpy.record import Record

OUTCOME = "aspenpy_outcome"
"""The function that a counted program calls with a number and whether a condition holds, which it returns."""

SELDOM = 2e-5
"""Wrong guesses at a condition, over all outcomes of a run, up to which they are left out: at some 20 cycles each they
take 0.04 % of the time where each outcome takes a cycle."""


class Guesses(Record):
    """Outcomes of a condition in a run: their `number`, and how many were guessed `wrong`. Those of comparisons of a
    library have the number of its `calls`."""

    number: float
    wrong: float
    calls: float = 0.0

    def add(self, other: Guesses | None) -> Guesses:
        """The outcomes of both."""
        if other is None:
            return self
        return Guesses(self.number + other.number, self.wrong + other.wrong, self.calls + other.calls)


MeasuredGuesses = Sequence[tuple[Mapping[str, float], Mapping[Span, float]]]
"""Wrong guesses each time that a test is made or a loop entered, by its span, for the sizes of each run."""


class ConditionTest(Record):
    """A condition of a branch or loop, or what `&&`, `||` and `?:` test inside another expression: the span of the
    statement, which may be a branch, or expression, of all that is tested, and of the parts that each may be a jump."""

    span: Span
    condition: Span
    parts: tuple[Span, ...]
    is_statement: bool
    is_branch: bool


def list_tests(function: r.Function) -> list[ConditionTest]:
    """The tests of a function, those inside others not."""
    tests: list[ConditionTest] = []
    inside: set[int] = set()
    for node in walk_records(function.body):
        is_statement = isinstance(node, r.Branch | r.LoopStatement)
        condition = node.condition if isinstance(node, r.Branch | r.LoopStatement | r.Selection) else node
        if id(node) in inside or condition is None or not (is_statement or _is_test(node)):
            continue
        inside |= {id(part) for part in walk_records(node if not is_statement else condition) if _is_test(part)}
        parts = tuple(span for part in _list_parts(condition) if (span := part.span) is not None)
        if node.span is not None and condition.span is not None and parts:
            tests.append(ConditionTest(node.span, condition.span, parts, is_statement, isinstance(node, r.Branch)))
    return tests


def _is_test(node: object) -> bool:
    return isinstance(node, r.Selection) or _is_junction(node)


def _is_junction(node: object) -> bool:
    return isinstance(node, r.Operation) and node.operator in ("&&", "||")


def _list_parts(condition: r.Expression) -> Iterator[r.Expression]:
    """The tests of `a && b || c`, in their order."""
    if isinstance(condition, r.Operation) and _is_junction(condition):
        for operand in condition.operands:
            yield from _list_parts(operand)
    elif isinstance(condition, r.Operation) and condition.operator == "not":
        yield from _list_parts(condition.operands[0])
    else:
        yield condition


def read_outcomes(text: str) -> dict[int, Guesses]:
    """The outcomes behind each number, from the lines of all processes; those that are guessed stand for all."""
    outcomes: dict[int, Guesses] = {}
    for line in text.splitlines():
        place, number, guessed, wrong, calls = map(int, line.split())
        outcomes[place] = Guesses(number, wrong * number / guessed, calls).add(outcomes.get(place))
    return outcomes


def find_rates(
    guessed: Mapping[Span, Guesses], ran: Mapping[Span, ExecutionCount], tests: Mapping[Span, Span]
) -> dict[Span, float]:
    """Wrong guesses each time that a test was made or a loop entered, by its span, from those at the parts of which
    `tests` says what they are parts of; few are left out."""
    least = SELDOM * sum(guesses.number for guesses in guessed.values())
    wrong: dict[Span, float] = {}
    times: dict[Span, float] = {}
    for part, guesses in guessed.items():
        span = tests[part]
        wrong[span] = wrong.get(span, 0.0) + guesses.wrong
        times[span] = max(times.get(span, 0.0), guesses.number)  # the first part is tested each time
    times |= {span: ran[span].entered for span in times if span in ran}
    return {span: number / times[span] for span, number in wrong.items() if number > least and times[span]}


class WrongGuesses(Record):
    """Rates of wrong guesses of branches: the rate at each statement or expression, None where they are few, the arrays
    from which the values in an offset are loaded, the tests that are no loop or branch of the items, by the spans of
    what they test, and the conditions of loops."""

    rate_of: Callable[[Span], Value | None]
    sources_of: Callable[[Value], Sequence[str]]
    apart: Mapping[Span, Span]
    of_loops: Mapping[Span, Span]

    def add_to(self, items: Sequence[Item], in_walk: bool = False) -> list[Item]:
        """The items with branches that are guessed wrongly before what they decide. In a loop whose end is guessed
        wrongly, steps of a walk, the place of a loop inside is known when the step before is decided, so that its
        condition waits for loads; rows at places of their own are on their way whichever way it goes."""
        result: list[Item] = []
        before: Span | None = None
        for place, item in enumerate(items):
            around = self._find_test(item)
            rate = self.rate_of(around) if around is not None and around is not before else None
            if rate is not None and around is not None:
                load = self._find_condition_load((*result, *items[place:]), around)
                if load is None and in_walk and isinstance(item, Nest) and around in self.of_loops:
                    load = self._find_condition_load(walk_items(item.body), self.of_loops[around])
                result.append(Arithmetic(WRONG, load.array if load is not None else "", 1, around, rate))
                for array in self.sources_of(load.offset) if load is not None and load.offset is not None else ():
                    result.append(Arithmetic(BEHIND, array, 1, around, rate))
            before = None if isinstance(item, Nest | Alternative) else around
            is_step = in_walk or (isinstance(item, Nest) and rate is not None)
            result.append(rewrite_inside(item, partial(self.add_to, in_walk=is_step)))
        return result

    def _find_test(self, item: Item) -> Span | None:
        """The statement that an item is, or the test that it is part of."""
        if isinstance(item, Nest | Alternative) or item.span is None:
            return item.span
        return next((test for span, test in self.apart.items() if _contains(span, item.span)), None)

    def _find_condition_load(self, around: Iterable[Item], span: Span) -> MemoryAccess | None:
        """The load that decides a condition: the last whose address comes from the most other loads, else the last from
        a place that changes; None where none does."""
        loads = (item for item in around if isinstance(item, MemoryAccess) and item.kind == "load" and item.span)
        inside = [item for item in loads if item.span is not None and _contains(span, item.span)]
        return max(reversed(inside), key=self._rank_load, default=None)

    def _rank_load(self, load: MemoryAccess) -> tuple[int, bool]:
        sources = 0 if load.offset is None else len(self.sources_of(load.offset))
        return sources, load.offset is None or sources > 0 or bool(counters(load.offset))


def _contains(outer: Span, inner: Span) -> bool:
    return outer.source is inner.source and outer.start <= inner.start and inner.end <= outer.end
