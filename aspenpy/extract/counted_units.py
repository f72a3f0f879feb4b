"""Counted units: translation units as a run counts them, their macros and headers expanded.

The compiler expands a unit; the result is read once more, and laid out with what is counted on lines of its own. A
macro is never split, and code of a header or an included source stands on lines of the unit itself. Both readings have
the same statements in the same order, so that what was counted in one is known in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from itertools import zip_longest
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract import searches
from aspenpy.extract.effects import find_part_condition, walk_records, way_behind
from aspenpy.extract.front_end import ParsedUnit
from aspenpy.extract.heap_blocks import POINTER, Pointed
from aspenpy.extract.library_functions import ALLOCATIONS
from aspenpy.extract.line_counts import ExecutionCount, ExecutionCounter, SourceLayout
from aspenpy.extract.locality import TOUCH, Site, TouchCounts
from aspenpy.extract.outcomes import OUTCOME, Guesses, list_tests
from aspenpy.extract.places import count_fixed_elements
from aspenpy.extract.sorts import COMPARATOR, IN_C, IN_CPP, find_comparator
from aspenpy.extract.tree import read_program
from aspenpy.extract.tree_standard import STANDARD
from aspenpy.language.source import Span
from aspenpy.record import Record

_MARKER = re.compile(r'^#(?:line)? \d+ "(?:[^"\\\n]|\\.)*"([ \d]*)$', re.MULTILINE)
"""A line that says where the next ones are from; its third flag marks headers of the system (GCC, "Preprocessor
Output")."""

_SIZED = re.compile(r"\.\s*(?:c?end|back)\s*\(\s*\)\Z")

RECORD = "aspenpy_record"
"""The function that a counted program calls with a number and the whole number that it records under that."""

CONTAINER = "aspenpy_container"
"""The function that a counted program calls with a number, a pointer to a container, and 0."""

_TEMPLATES = (
    f"template <class T> inline auto {POINTER}(int n, const T &p) -> decltype(&*p, void()) "
    f"{{ {POINTER}(n, (const volatile void *)&*p); }} "
    f"template <class T> inline auto {CONTAINER}(int n, const T *p, int) -> decltype(p->data(), void()) "
    f"{{ {POINTER}(n, (const volatile void *)p->data()); }} "
    f"template <class T> inline void {CONTAINER}(int, const T *, long) {{}} "
)
"""What records where an iterator points, or the elements of a container that has them side by side."""


STATEMENTS = (r.LoopStatement, r.Branch, r.Switch)
"""What is counted."""

NOTHING: Mapping[Span, float] = {}
NO_BLOCKS: Mapping[Span, Pointed] = {}
NO_TOUCHES: Mapping[Site, TouchCounts] = {}
NO_GUESSES: Mapping[Span, Guesses] = {}
NO_SIZES: Mapping[str, float] = {}


class RunCounts(Record):
    """Counts of a run: of loops and branches by their spans, of functions that were entered by key, the means of whole
    numbers that were recorded, the blocks of the heap that pointers point into, by the spans of expressions, how often
    all lines of a function ran together, by the span of its name, the locality of accesses that have no order in the
    source, how often outcomes of conditions were guessed wrongly, by span, and those of comparisons of a library, by
    that of its call. Of a whole program also the `sizes` that its command was given, the `words` of that from the
    program on, its seconds, and a file that it wrote."""

    ran: Mapping[Span, ExecutionCount]
    entered: Mapping[str, float]
    recorded: Mapping[Span, float] = NOTHING
    pointed: Mapping[Span, Pointed] = NO_BLOCKS
    executed: Mapping[Span, float] = NOTHING
    touched: Mapping[Site, TouchCounts] = NO_TOUCHES
    guessed: Mapping[Span, Guesses] = NO_GUESSES
    compared: Mapping[Span, Guesses] = NO_GUESSES
    sizes: Mapping[str, float] = NO_SIZES
    words: int = 0
    seconds: float = 0.0
    written: str = ""


class Layer(IntEnum):
    """Layers of text around one span, the outermost first."""

    TEST = 0
    PART = 1
    RECORD = 2
    TOUCH = 3


class Insertion(Record):
    """A text to insert: what `opens` a layer around a span, or closes it."""

    span: Span
    layer: Layer
    opens: bool
    text: str

    @property
    def offset(self) -> int:
        return self.span.start if self.opens else self.span.end

    @property
    def sort_key(self) -> tuple[int, bool, int, int]:
        """Closing texts come first; of spans that begin or end together the wider ones stand outside."""
        partner = self.span.end if self.opens else self.span.start
        return self.offset, self.opens, -partner, self.layer if self.opens else -self.layer


def _surround(span: Span, layer: Layer, before: str, behind: str) -> tuple[Insertion, Insertion]:
    return Insertion(span, layer, opens=True, text=before), Insertion(span, layer, opens=False, text=behind)


class CountedUnit:
    """A unit that the compiler has expanded into the text of the file `path`."""

    def __init__(self, path: str, program: r.Program, is_cpp: bool) -> None:
        self.path, self.is_cpp = path, is_cpp
        self._auto = "auto" if is_cpp else "__auto_type"
        expanded, _ = read_program(ParsedUnit(path))
        self.layout = SourceLayout(expanded)
        self.pairs: list[tuple[r.Function, r.Function]] = []
        self.different: list[r.Function] = []  # functions whose statements are not those of the source
        self._pair_functions(program.functions, expanded.functions)

    def _pair_functions(self, written: Iterable[r.Function], expanded: Iterable[r.Function]) -> None:
        """Pairs functions of one name in their order."""
        waiting: dict[str, list[r.Function]] = {}
        for function in expanded:
            waiting.setdefault(function.name, []).append(function)
        for function in written:
            if function.key.startswith(STANDARD):
                continue  # its loop is counted in a header of the library
            others = waiting.get(function.name, [])
            other = others.pop(0) if others else None
            if other is not None and _shape(function) == _shape(other):
                self.pairs.append((function, other))
            elif any(_shape(function)):
                self.different.append(function)

    def text(
        self, recorded: Mapping[Span, int], touched: Mapping[Span, tuple[int, ...]], tested: Mapping[Span, int]
    ) -> str:
        """The text that is compiled: without the lines that say where others are from, which stay empty. Whole numbers
        and pointers that stand at some spans are `recorded` by number as they are computed, places that are `touched`
        as they are accessed, and outcomes of conditions that are `tested`."""
        language = '"C" ' if self.is_cpp else ""
        declared = f"{RECORD}(int, double), {POINTER}(int, const volatile void *)"
        declared += f", {TOUCH}(int, const volatile void *); extern {language}int {OUTCOME}(int, int)"
        is_used = recorded or touched or tested
        of_searches = searches.IN_CPP if self.is_cpp else searches.IN_C
        templates = f"{_TEMPLATES}{IN_CPP}{of_searches}" if self.is_cpp else IN_C + of_searches
        head = f"extern {language}void {declared}; {templates}" if is_used else ""
        inserted = [*self._insert_records(recorded), *self._insert_touches(touched), *self._insert_tests(tested)]
        inserted += self._insert_comparators(tested, touched)
        inserted.sort(key=lambda item: item.sort_key)
        return head + _MARKER.sub("", self.layout.text([(item.offset, item.text) for item in inserted]))

    def _insert_records(self, recorded: Mapping[Span, int]) -> list[Insertion]:
        """Texts to insert by place: around each recorded expression, those of an outer one outside."""
        records: dict[Span, tuple[int, str]] = {}
        containers: dict[Span, int] = {}
        parts: dict[Span, int] = {}
        sizes: dict[Span, str] = {}  # of containers, where another of their methods needs it
        for written, expanded in self.pairs if recorded else ():
            changed = {_changed_span(node) for node in walk_records(expanded.body)}
            declared = {node.span for node in walk_records(expanded.body) if isinstance(node, r.Declaration)}
            for mine, other in _matching_nodes(walk_records(written.body), walk_records(expanded.body)):
                number = recorded.get(mine.span)
                part = find_part_condition(mine)
                if part is not None and part.place is not None and part.place in recorded:
                    parts |= dict.fromkeys(_list_condition_spans(other), recorded[part.place])
                if number is None or other.span is None or other.span in declared:
                    continue
                if (container := _container_behind(other)) is not None:
                    records[other.span], sizes[other.span] = (number, RECORD), f"({container.text()}).size()"
                elif is_container(other):
                    containers[other.span] = number
                elif other.span in changed:
                    continue
                elif is_pointer(other):
                    records[other.span] = (number, POINTER)
                elif is_whole(other):
                    records.setdefault(other.span, (number, RECORD))
        begin = f"({{ {self._auto} {RECORD}d = ("
        texts: list[Insertion] = []
        for span, (number, recorder) in records.items():
            behind = f"); {recorder}({number}, {sizes.get(span, f'{RECORD}d')}); {RECORD}d; }})"
            texts += _surround(span, Layer.RECORD, begin, behind)
        for span, number in containers.items():
            behind = f"); {CONTAINER}({number}, {RECORD}d, 0); {RECORD}d; }}))"
            texts += _surround(span, Layer.RECORD, f"(*({{ auto *{RECORD}d = &(", behind)
        for span, number in parts.items():
            behind = f")); {RECORD}({number}, {RECORD}d); {RECORD}d; }})"
            texts += _surround(span, Layer.PART, f"({{ int {RECORD}d = (!!(", behind)
        return texts

    def _insert_touches(self, touched: Mapping[Span, tuple[int, ...]]) -> list[Insertion]:
        """Texts around places that are accessed, which stay places."""
        touches: dict[Span, list[int]] = {}
        for written, expanded in self.pairs if touched else ():
            nodes = walk_records(expanded.body)
            called = {node.span for node in nodes if isinstance(node, r.Call) and searches.is_search(node)}
            for mine, other in _matching_nodes(_list_places(written), _list_places(expanded)):
                numbers = touched.get(mine.span, ())
                place = other.target if isinstance(other, r.Assignment) else other
                is_place = isinstance(place, r.Element | r.Field) and place.span not in called
                if not numbers or not is_place or place.span is None:
                    continue
                known = touches.setdefault(place.span, [])
                known += [number for number in numbers if number not in known]
        texts: list[Insertion] = []
        for span, known in touches.items():
            calls = " ".join(f"{TOUCH}({number}, {TOUCH}d);" for number in sorted(known))  # loads first
            before, behind = f"(*({{ {self._auto} {TOUCH}d = &(", f"); {calls} {TOUCH}d; }}))"
            texts += _surround(span, Layer.TOUCH, before, behind)
        return texts

    def _insert_tests(self, tested: Mapping[Span, int]) -> list[Insertion]:
        """Texts around conditions and their parts."""
        found: dict[Span, int] = {}
        for written, expanded in self.pairs if tested else ():
            ours, others = list_tests(written), list_tests(expanded)
            if len(ours) != len(others):  # a macro has tests of its own
                ours, others = ([test for test in tests if test.is_statement] for tests in (ours, others))
            for mine, other in zip(ours, others, strict=True):
                parts = zip(mine.parts, other.parts, strict=True) if len(mine.parts) == len(other.parts) else ()
                for span, place in ((mine.condition, other.condition), *parts):
                    if span in tested:
                        found.setdefault(place, tested[span])
        around = ((span, f"({OUTCOME}({number}, !!(") for span, number in found.items())
        return [text for span, before in around for text in _surround(span, Layer.TEST, before, ")))")]

    def _insert_comparators(
        self, tested: Mapping[Span, int], touched: Mapping[Span, tuple[int, ...]]
    ) -> list[Insertion]:
        """Texts around what libraries compare by, or at the end of their calls."""
        texts: dict[Span, tuple[Insertion, ...]] = {}
        for written, expanded in self.pairs if tested else ():
            for mine, other in _matching_nodes(walk_records(written.body), walk_records(expanded.body)):
                found = find_comparator(other) if isinstance(mine, r.Call) and mine.span in tested else None
                if found is None or other.span is None or not other.span.text().endswith(")"):
                    continue
                before = f"{COMPARATOR}{'' if other.name == 'qsort' else '_of'}({tested[mine.span]}, "
                if searches.is_search(other):
                    before = searches.comparator_begin(other, tested[mine.span], touched.get(mine.span, ()))
                if found.by is not None and found.by.span is not None:
                    texts[other.span] = _surround(found.by.span, Layer.TEST, before, ")")
                elif found.by is None:
                    end = Span(other.span.source, other.span.end - 1, other.span.end - 1)
                    less = f", {before}{COMPARATOR}_less())"
                    texts[other.span] = (Insertion(end, Layer.TEST, opens=True, text=less),)
        return [text for some in texts.values() for text in some]

    def count(self, lines: Mapping[int, float]) -> RunCounts:
        """Counts of statements and functions from those of the lines."""

        def count_at(span: Span | None) -> float | None:
            return None if span is None else lines.get(self.layout.find_line(span.start))

        counter = ExecutionCounter(count_at)
        entered: dict[str, float] = {}
        for written, expanded in self.pairs:
            count = counter.count_function(expanded)
            if count is not None:
                entered[written.key] = count
        ran: dict[Span, ExecutionCount] = {}
        statements = [pair for functions in self.pairs for pair in _pair_statements(*functions)]
        spans = {(written.span, expanded.span) for written, expanded in statements}
        spans |= {(way_behind(written), way_behind(expanded)) for written, expanded in statements}
        # Sets: functions of a header come several times, at the same spans.
        for mine, other in spans:
            if mine is not None and other is not None and (counts := counter.found.get(other)):
                ran[mine] = counts.add(ran.get(mine))
        executed = {
            written.span: sum(lines.get(line, 0.0) for line in self._list_lines(expanded))
            for written, expanded in self.pairs
            if written.span is not None
        }
        return RunCounts(ran, entered, executed=executed)

    def _list_lines(self, function: r.Function) -> set[int]:
        """The lines on which statements and expressions of a function begin."""
        spans = (node.span for node in walk_records(function.body))
        return {self.layout.find_line(span.start) for span in spans if span is not None}


def merge_counts(parts: Iterable[RunCounts]) -> RunCounts:
    """Counts of a program from those of its units: code of headers runs in several."""
    ran: dict[Span, ExecutionCount] = {}
    entered: dict[str, float] = {}
    executed: dict[Span, float] = {}
    for part in parts:
        for span, count in part.ran.items():
            ran[span] = count.add(ran.get(span))
        for key, number in part.entered.items():
            entered[key] = entered.get(key, 0.0) + number
        for span, number in part.executed.items():
            executed[span] = executed.get(span, 0.0) + number
    return RunCounts(ran, entered, executed=executed)


def read_records(text: str) -> dict[int, float]:
    """The mean of what was recorded under each number, from the lines of all processes."""
    sums: dict[int, float] = {}
    counts: dict[int, float] = {}
    for line in text.splitlines():
        number, count, total = line.split()
        sums[int(number)] = sums.get(int(number), 0.0) + float(total)
        counts[int(number)] = counts.get(int(number), 0.0) + float(count)
    return {number: total / counts[number] for number, total in sums.items()}


def is_whole(node: Any) -> bool:
    """Whether a record is an expression of whole numbers."""
    return isinstance(node, r.Expression) and node.type.kind == "integer" and not isinstance(node, r.Constant)


def is_pointer(node: Any) -> bool:
    """Whether a record is an expression whose value is a pointer."""
    if isinstance(node, r.Call) and node.name in ALLOCATIONS:
        return True
    if not isinstance(node, r.Expression) or isinstance(node, r.Constant):
        return False
    return node.type.kind == "pointer" and not node.type.is_reference


def is_container(node: Any) -> bool:
    """Whether a record is a variable or member that is a container with its elements elsewhere."""
    if not isinstance(node, r.Variable | r.Field):
        return False
    type = node.type.of if node.type.is_reference and node.type.of is not None else node.type
    return type.kind == "record" and type.of is not None and count_fixed_elements(type) is None


def _matching_nodes(written: Iterable[Any], expanded: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs of the records of a function as it is written and expanded; none where macros changed the statements."""
    pairs = list(zip_longest(written, expanded))
    return iter(pairs if all(type(mine) is type(other) for mine, other in pairs) else ())


def _container_behind(node: Any) -> Span | None:
    """The container of which a method such as `end` asks the size; None for other records."""
    is_size = isinstance(node, r.Call) and node.name == "size" and node.span is not None
    return node.arguments[0].span if is_size and _SIZED.search(node.span.text()) else None


def _list_condition_spans(node: Any) -> Iterator[Span]:
    """The place of what decides on a part of an expression, where it is a text of its own."""
    part = find_part_condition(node)
    if part is not None and part.place is not None and part.condition.span is not None:
        yield from (part.condition.span,) if part.condition.span.end <= part.place.end else ()


def _changed_span(node: Any) -> Span | None:
    """The span of an expression that a record assigns to or takes the address of, which must stay a place."""
    changed = node.target if isinstance(node, r.Assignment) else node.operand if isinstance(node, r.Address) else None
    return None if changed is None else changed.span


def _list_places(function: r.Function) -> Iterator[Any]:
    """The elements, members and assignments of a function, which are the same where macros are expanded to numbers."""
    kinds = (r.Element, r.Field, r.Assignment)
    return (node for node in walk_records(function.body) if isinstance(node, kinds))


def mark_expanded(text: str) -> str:
    """The output of the preprocessor with places in itself, so that only what is of the system stays marked."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        match = _MARKER.fullmatch(line)
        if match is not None:  # names the line that follows
            lines[number - 1] = f'# {number + 1} "expanded"{" 3" if "3" in match[1].split() else ""}'
    return "\n".join(lines)


def _counted_statements(function: r.Function) -> Iterator[Any]:
    return (node for node in walk_records(function.body) if isinstance(node, STATEMENTS))


def _shape(function: r.Function) -> list[str]:
    return [type(node).__name__ for node in _counted_statements(function)]


def _pair_statements(written: r.Function, expanded: r.Function) -> Iterator[tuple[Any, Any]]:
    return zip(_counted_statements(written), _counted_statements(expanded), strict=True)
