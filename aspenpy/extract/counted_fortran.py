"""Units of Fortran as a run counts them: their text with marks, and the counts of statements from those of the marks.

Whole numbers that are read are recorded behind the statement that reads them, and outcomes of masks and of parts of
conditions in front of theirs. Blocks of the heap and the locality of accesses are recorded in C and C++ only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.counted_units import RunCounts, is_whole
from aspenpy.extract.effects import find_part_condition, has_record, walk_records
from aspenpy.extract.fortran_layout import MODULE, FortranLayout
from aspenpy.extract.fortran_operations import balance_parentheses
from aspenpy.extract.fortran_text import FortranText, is_expression
from aspenpy.extract.library_functions import INPUT
from aspenpy.extract.line_counts import ExecutionCounter, Flow, is_range
from aspenpy.language.source import Span
from aspenpy.record import Record

RECORDER = f"""module {MODULE}
  use, intrinsic :: iso_c_binding, only: c_int, c_double
  implicit none
  private
  public :: aspenpy_mark, aspenpy_record, aspenpy_outcome, aspenpy_share
  interface
    pure subroutine aspenpy_mark() bind(c)
    end subroutine
    pure subroutine aspenpy_record(place, number) bind(c)
      import :: c_int, c_double
      integer(c_int), value :: place
      real(c_double), value :: number
    end subroutine
  end interface
contains
  elemental subroutine aspenpy_outcome(place, holds)
    integer, intent(in) :: place
    logical, intent(in) :: holds
    call aspenpy_record(int(place, c_int), merge(1._c_double, 0._c_double, holds))
  end subroutine
  pure real(8) function aspenpy_share(mask, value) result(share)
    logical, intent(in) :: mask(:), value
    integer :: place
    do place = 1, size(mask) - 1
      if (mask(place) .eqv. value) exit
    end do
    share = real(min(place, size(mask)), 8)/max(1, size(mask))
  end function
end module
"""
"""The module of what a counted program calls. Its procedures are pure to the compiler, so that pure ones may call
them."""

LENIENT = ("-std=legacy", "-ffree-line-length-none", "-fallow-argument-mismatch", "-ffrontend-optimize")
"""Options that take what others refuse: old programs, and lines that have grown by their macros; and what leaves the
second part of `.and.` out where the first decides, as from `-O1` on."""

MARKER = "void aspenpy_mark(void) {}\n"


_KEYWORD = re.compile(r"\s*+(?:if|where|elsewhere|forall|while)\s*+\(", re.IGNORECASE)
_CONTINUATION = re.compile(r"&[ \t]*+(?:![^\n]*+)?\n(?:[ \t]*+(?:![^\n]*+)?\n)*+[ \t]*+&?+|\n {5}[^ 0\n]")
"""The end of a line that another one continues, in free or in fixed form."""

_DESIGNATOR = re.compile(r"\w++(?:%\w++|\([\w, +*-]*+\))*+")
"""A variable, a component or an element."""


class FortranCounter(ExecutionCounter):
    """Counts by marks in front of statements. Loops that a statement makes over its elements are not counted."""

    def _count_entries(self, node: r.Statement | None) -> float | None:
        if isinstance(node, r.Declaration):
            return None  # of a value that is needed in several places
        if isinstance(node, r.LoopStatement):
            return None if _is_made_of_jumps(node) else self.at(node.span)
        if isinstance(node, r.Branch):
            return None if node.is_mask else self.at(node.span)
        return super()._count_entries(node)

    def _count_tests(self, condition: r.Expression, span: Span | None) -> float | None:
        return None

    def _count_steps(self, node: r.LoopStatement) -> float | None:
        return None

    def _follow_loop(self, node: r.LoopStatement, entering: float | None) -> Flow:
        if is_range(node):  # of one statement
            self._follow(node.body, None)
            return Flow(entering)
        innermost, loops = node, 1
        while isinstance(innermost.body, r.LoopStatement) and innermost.body.span == node.span:
            innermost, loops = innermost.body, loops + 1
        if innermost is not node:  # of one statement, which says the passes of all: each has their geometric mean
            passes = self._count_entries(innermost.body)
            self._follow(innermost.body, passes)
            if passes is not None and entering and not isinstance(innermost.body, r.Branch):
                mean = (passes / entering) ** (1 / loops)
                entries = sum(entering * mean**inside for inside in range(loops))
                self._add_count(node.span, entries, entries * mean)
            return Flow(entering)
        return super()._follow_loop(node, entering)


def _is_made_of_jumps(node: r.LoopStatement) -> bool:
    """Whether a loop is that of a jump back, at which it has its place."""
    spans = (getattr(inner, "span", None) for inner in walk_records(node.body))
    first = next((span for span in spans if span is not None), None)
    return first is not None and node.span is not None and first.start < node.span.start


class CountedFortran:
    """A unit of Fortran, in the text of the file `path`."""

    def __init__(self, path: str, text: FortranText, program: r.Program) -> None:
        self.path, self.program = path, program
        self.layout = FortranLayout(text)

    def text(
        self, recorded: Mapping[Span, int], touched: Mapping[Span, tuple[int, ...]], tested: Mapping[Span, int]
    ) -> str:
        """The text that is compiled: whole numbers at some spans are `recorded` by number."""
        numbers = dict(recorded)
        record, outcome = "aspenpy_record({number}, real({value}, 8))", "aspenpy_outcome({number}, logical({value}))"
        for mask in self.layout.masks:
            if mask.mask in numbers:
                call = record if mask.is_share else outcome
                self.layout.call(call.format(number=numbers.pop(mask.mask), value=mask.value), mask.statement)
        for node in (node for function in self.program.functions for node in walk_records(function.body)):
            for place, span, is_behind in _list_whole_numbers(node):
                is_named = place is not None and _DESIGNATOR.fullmatch(place.text()) is not None
                if is_named and place is not None and span in numbers:
                    call = record.format(number=numbers.pop(span), value=place.text())
                    self.layout.call(call, place, is_behind=is_behind)
            for span, value in _list_extents(node):
                if span in numbers:
                    self.layout.call(record.format(number=numbers.pop(span), value=value), span)
            for test in _list_outcomes(node):
                if test.place in numbers:
                    template = record if test.is_share else outcome
                    call = template.format(number=numbers.pop(test.place), value=test.condition)
                    self.layout.call(call, test.place, guard=test.guard)
        return self.layout.write()

    def count(self, lines: Mapping[int, float]) -> RunCounts:
        """Counts of statements and functions from those of the lines."""

        def count_mark(number: int) -> float:
            return lines.get(self.layout.lines[number], 0.0)

        def count_at(span: Span | None) -> float | None:
            marks = self.layout.find_marks(span) if span is not None and lines else []
            return sum(map(count_mark, marks)) if marks else None

        counter = FortranCounter(count_at)
        entered: dict[str, float] = {}
        executed: dict[Span, float] = {}
        for function in self.program.functions:
            counter.count_function(function)
            if function.span is not None and (count := count_at(function.span)) is not None:
                entered[function.key] = count
                executed[function.span] = sum(map(count_mark, self._list_marks(function)))
        return RunCounts(counter.found, entered, executed=executed)

    def _list_marks(self, function: r.Function) -> set[int]:
        """The marks of a function's statements."""
        spans = (getattr(node, "span", None) for node in walk_records(function.body))
        return {mark for span in spans if span is not None for mark in self.layout.find_marks(span)}


def _list_whole_numbers(node: Any) -> Iterator[tuple[Span | None, Span | None, bool]]:
    """Whole numbers that a statement uses or gives a value to: the place, the span by which the number is known, and
    whether its value is that behind the statement."""
    if isinstance(node, r.Call) and node.name == INPUT:
        places = (part.operand for part in node.arguments if isinstance(part, r.Address))
        yield from ((place.span, place.span, True) for place in places if is_whole(place))
    elif isinstance(node, r.Assignment) and is_whole(node.target):
        yield node.target.span, node.span, True
        yield node.target.span, node.target.span, True
    elif isinstance(node, r.Variable | r.Element | r.Field) and is_whole(node):
        yield node.span, node.span, False


def _list_extents(node: Any) -> Iterator[tuple[Span, str]]:
    """The extents of a component's dimensions: the spans by which they are known, and what Fortran calls them."""
    type = node.type if isinstance(node, r.Field) else None
    while type is not None:
        if isinstance(extent := type.extent, r.Field) and extent.span is not None:
            place = int(extent.name.rpartition("_")[2])
            array = Span(extent.span.source, extent.span.start, extent.span.end + 1 - place).text()
            if _DESIGNATOR.fullmatch(array):
                yield extent.span, f"size({array}, {place})"
        type = type.of


def list_masks(nodes: Sequence[Any]) -> list[Span]:
    """The masks among some records that are computed once more to be recorded: those that call no procedures, whose
    calls would be counted."""
    masks = {node.span for node in nodes if isinstance(node, r.Branch) and node.is_mask and node.span}
    calls = [node.span for node in nodes if masks and _is_procedure_call(node) and node.span is not None]
    return [
        mask
        for mask in sorted(masks, key=lambda span: span.start)
        if not any(call.source is mask.source and mask.start <= call.start < mask.end for call in calls)
    ]


class PartOutcome(Record):
    """A condition whose outcome is recorded in front of its statement, as Fortran writes it: the name of the outcome,
    and the condition without which it is not computed, if any. One that `is_share` is the part of a mask's elements
    that a search looks at."""

    place: Span
    condition: str
    guard: str = ""
    is_share: bool = False


def _list_outcomes(node: Any) -> Iterator[PartOutcome]:
    """The outcomes on which later parts of a statement's conditions depend, and of masks of its reductions."""
    if isinstance(node, r.Branch) and node.is_mask:
        checked = node.then if node.search else node.condition
        if node.span is not None and (text := _write_condition(node.condition, checked)) is not None:
            share = f"aspenpy_share(logical(pack({text}, .true.)), .{str(node.search == 'any').lower()}.)"
            yield PartOutcome(node.span, share if node.search else text, is_share=bool(node.search))
        return
    if isinstance(node, r.Selection):
        yield from _list_parts(node, "")
    expression = node.condition if isinstance(node, r.Branch | r.LoopStatement) else getattr(node, "value", None)
    while isinstance(expression, r.Assignment):
        expression = expression.value
    yield from _list_parts(expression, "")


def _list_parts(node: Any, guard: str) -> Iterator[PartOutcome]:
    part = find_part_condition(node)
    if part is None or part.place is None:
        return
    yield from _list_parts(part.condition, guard)
    if (text := _write_condition(part.condition)) is None:
        return
    yield PartOutcome(part.place, text, guard)
    if isinstance(node, r.Selection):
        return
    holds = f"({text})" if node.operator == "&&" else f".not. ({text})"
    yield from _list_parts(node.operands[1], f"{guard} .and. {holds}" if guard else holds)


def _write_condition(condition: r.Expression, checked: r.Expression | r.Statement | None = None) -> str | None:
    """A condition as Fortran has it; None for one that calls procedures, or whose text names what has no value in front
    of its statement, such as the counter of an implied `do`. What is `checked` for that may be what it stands for."""
    checked = checked or condition
    span = None if condition.span is None else balance_parentheses(condition.span)
    if span is None or has_record(checked, _is_procedure_call):
        return None
    text = _CONTINUATION.sub(" ", span.text())
    made = (part.name for part in walk_records(checked) if isinstance(part, r.Variable) and _is_made(part))
    is_named = any(re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in made)
    return None if is_named or _KEYWORD.match(text) or not is_expression(text) else text


def _is_made(variable: r.Variable) -> bool:
    """Whether a variable is none of the program's: it has a number behind its owner."""
    return variable.key.rpartition(" ")[2].isdigit()


def _is_procedure_call(part: Any) -> bool:
    """Whether a record calls what is no function of the language."""
    return isinstance(part, r.Call) and part.key != part.name


def order_by_modules(units: Sequence[CountedFortran]) -> list[CountedFortran]:
    """Units in an order in which modules are compiled before what uses them."""
    owners = {module: unit for unit in units for module in unit.layout.modules}
    order: dict[int, CountedFortran] = {}
    entered: set[int] = set()

    def visit(unit: CountedFortran) -> None:
        if id(unit) in entered:
            return
        entered.add(id(unit))
        for module in sorted(unit.layout.used & owners.keys()):
            visit(owners[module])
        order[id(unit)] = unit

    for unit in units:
        visit(unit)
    return list(order.values())
