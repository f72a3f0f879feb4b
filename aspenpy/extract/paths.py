"""Cycles of the path that a run took: passes of a loop with the loops inside, its branches and the functions it calls.

A loop whose passes hold several short loops, branches on data or calls has no body of its own to be priced. Its
compiled blocks are walked as they ran: each inner loop makes the mean of its passes, branches go either way as often as
they did, and calls of functions of the program are followed.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from random import Random
from statistics import median

from aspenpy.assembly.forwarding import HandedOn, read_entry
from aspenpy.assembly.library_calls import is_opaque_call, write_out_calls
from aspenpy.assembly.listing import CompiledFunction, Instruction
from aspenpy.assembly.loops import NaturalLoop, find_loops
from aspenpy.assembly.mending import mend
from aspenpy.assembly.recurrences import keep_condition
from aspenpy.assembly.windows import LONGEST, SimulationWindow
from aspenpy.extract import values as v
from aspenpy.extract.costs import Alternative, Arithmetic, Item, Nest, walk_items
from aspenpy.extract.line_counts import ExecutionCount
from aspenpy.extract.outcomes import Guesses
from aspenpy.language.source import Source, Span
from aspenpy.record import Record

Ran = Mapping[Span, ExecutionCount]
Located = tuple[str, int]
"""A file by its real path, and a line."""

LoopEntry = tuple[str, int]
"""A compiled function, and the number of a block in it at which a loop is entered."""

Region = tuple[int, int, float]
"""Columns of a line, and how often what stands there runs in a pass, or a jump for it is guessed wrongly."""

DEEPEST_CALL = 6
"""Calls inside one another that a walk follows."""

PATH = 2_000
"""Instructions of the shorter of two walks: some passes of branches that go either way."""

LONGEST_LAP = LONGEST // 2
"""Instructions of a pass, up to which it is walked as a whole."""

SELDOM_WRONG = 0.02
"""Share of wrong guesses of a jump up to which what stands behind it is taken to have begun: a core looks ahead over
several hundred instructions, and from one wrong guess to the next there are more."""

FARTHEST = 40
"""Letters from `if` to its condition at most, which may be in brackets."""

SURE = 0.02
"""How far apart the weights of two blocks lie at least for one of them to be rarer."""


@cache
def real_path(name: str) -> str:
    """The path of a file without links."""
    return os.path.realpath(name)


@cache
def line_starts(source: Source) -> list[int]:
    """Where the lines of a source begin."""
    return [0, *(place + 1 for place, letter in enumerate(source.text) if letter == "\n")]


def line_of(span: Span) -> Located:
    """The line at which a span begins."""
    source, start, _ = span.resolve()
    return real_path(source.path or source.name), bisect_right(line_starts(source), start) - 1 + source.first_line


def locate_columns(span: Span) -> tuple[Located, int, int]:
    """The line on which a span begins, and its columns there."""
    source, start, end = span.resolve()
    text = source.text
    line = text.count("\n", 0, start) + source.first_line
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    stop = text.find("\n", start, end)
    width = (stop if stop >= 0 else end) - start
    return (real_path(source.path or source.name), line), column, column + max(1, width)


def list_marks(condition: Span) -> Iterator[Span]:
    """The places beside a condition at which GCC may put the jump for it: the `if` before it, where an operator that it
    calls returns a reference, and the question mark and the colon of `a < b ? x : y` behind it."""
    source, start, end = condition.resolve()
    if (word := _IF.search(source.text, max(0, start - FARTHEST), start)) is not None:
        yield Span(source, word.start(), word.start() + len("if"))
    mark = _QUESTION_MARK.match(source.text, end)
    depth = 0
    for found in _SIGNS.finditer(source.text, mark.end() - 1) if mark is not None else ():
        depth += found[0] in "([{?"
        depth -= found[0] in ")]}:"
        if (found[0] == "?" and depth == 1) or depth <= 0:
            yield Span(source, found.start(), found.end())
        if depth <= 0:
            return


_IF = re.compile(r"\bif\s*\([\s(!]*\Z")
_QUESTION_MARK = re.compile(r"[\s)]*\?")
_SIGNS = re.compile(r"::|[][(){}?:;]")


class WrongJumps:
    """Shares of wrong guesses of conditional jumps each time that they run, by the conditions that a run guessed."""

    def __init__(self, guessed: Mapping[Span, Guesses]) -> None:
        self.regions: dict[Located, list[Region]] = {}
        for span, guesses in guessed.items():
            if guesses.number and guesses.wrong / guesses.number >= SELDOM_WRONG:
                for each in (span, *list_marks(span)):
                    place, start, end = locate_columns(each)
                    self.regions.setdefault(place, []).append((start, end, guesses.wrong / guesses.number))

    def find(self, one: Instruction) -> float:
        """The share of wrong guesses of a jump; its column is that of the condition or of the bracket before it."""
        regions = self.regions.get((real_path(one.place[0]), one.place[1]), ()) if one.is_conditional else ()
        around = [region for region in regions if region[0] - 1 <= one.place[2] <= region[1]]
        return min(around, key=lambda region: region[1] - region[0], default=(0, 0, 0.0))[2]


class PassWeights:
    """Executions of each place of a loop's body per pass, by the counts of a run; of a loop inside for each of its own
    passes, but where both `is_merged` into one."""

    def __init__(self, nest: Nest, ran: Ran, is_merged: bool = False) -> None:
        self.ran, self.is_merged = ran, is_merged
        self.regions: dict[tuple[str, int], list[Region]] = {}
        self._add_items(nest.body, 1.0)
        self._add_span(nest.span, 1.0)

    def _add_items(self, items: Iterable[Item], weight: float) -> None:
        for item in items:
            if isinstance(item, Alternative):
                self._add_span(item.span, weight)
                share = self.share_of(item)
                then, otherwise = (item.otherwise, item.then) if item.negated else (item.then, item.otherwise)
                self._add_items(then, weight * share)
                self._add_items(otherwise, weight * (1 - share))
            else:
                self._add_span(item.span, weight)
                if isinstance(item, Nest):
                    passes = mean_passes(item, self.ran) if self.is_merged else None
                    self._add_items(item.body, weight * (1.0 if passes is None else passes))

    def share_of(self, item: Alternative) -> float:
        counted = self.ran.get(item.span) if item.span is not None else None
        if counted is not None and counted.entered:
            return min(1.0, counted.passes[item.case] / counted.entered)
        return 0.5

    def _add_span(self, span: Span | None, weight: float) -> None:
        if span is None:
            return
        place, start, end = locate_columns(span)
        self.regions.setdefault(place, []).append((start, end, weight))

    def find(self, one: Instruction) -> float | None:
        """The weight of the smallest place around that of an instruction, else of the nearest one on its line: the
        place of a condition is its bracket."""
        regions = self.regions.get((real_path(one.place[0]), one.place[1]))
        if not regions:
            return None
        column = one.place[2]

        def rank(region: Region) -> tuple[int, int, float]:
            start, end, weight = region
            return max(start - column, column - end + 1, 0), end - start, weight

        return min(regions, key=rank)[2]


def _source_name(compiled: str) -> str:
    """The name of a function in its source: copies of a compiler end in `.constprop.0` and the like."""
    return compiled.split(".")[0]


class FollowedCode(Record):
    """Compiled functions by their names, and those that are not followed."""

    functions: Mapping[str, CompiledFunction]
    apart: frozenset[str]


class PathWalk:
    """A walk along the passes of a compiled loop. `trips` are the mean laps of loops inside, by the function and block
    where each is entered; a loop that is not among them makes one. `calls` are those that it came to, and `cuts` the
    numbers of instructions up to each wrong guess: where a loop is left, of jumps that lead out of it."""

    def __init__(
        self,
        code: FollowedCode,
        weights: PassWeights,
        trips: Mapping[LoopEntry, float],
        longest: int = LONGEST,
        wrong: WrongJumps | None = None,
        is_even: bool = False,
    ) -> None:
        self.is_even = is_even
        self.owed: dict[tuple[str, int], float] = {}  # of what comes about, by its place
        self.code, self.weights, self.trips = code, weights, trips
        self.wrong = wrong or WrongJumps({})
        self.random, self.guesses = Random(1), Random(1)
        self.due = 0.0
        self.cuts: list[int] = []
        self.known: dict[tuple[str, int], float | None] = {}
        self.longest = longest
        self.calls = 0
        self.found: list[Instruction] = []

    @property
    def is_cut(self) -> bool:
        """Whether the walk was ended before its last lap was."""
        return len(self.found) > self.longest

    def run(self, loop: NaturalLoop, laps: int) -> list[Instruction]:
        """The instructions of `laps` passes of a loop."""
        for _ in range(laps):
            self._walk(loop, (_source_name(loop.function.name),))
            self._leave()
            if self.is_cut:
                break
        return self.found

    def _walk(self, loop: NaturalLoop, callers: tuple[str, ...]) -> None:
        """Blocks of a lap, from its begin until it comes again, or the way leads out. `callers` are the functions that
        the walk is in."""
        inside = {inner.header: inner for inner in loop.inner}
        blocks = loop.function.blocks
        number, left = loop.header, set(inside)
        for _ in range(4 * len(loop.blocks) + 4):
            if number in inside:
                inner = inside[number]
                mean = self.trips.get((loop.function.name, number), 1.0)
                times = int(mean) + self._draw((loop.function.name, number), mean - int(mean))
                for _ in range(times):
                    if not self.is_cut:
                        self._walk(inner, callers)
                self._leave()
                left.discard(number)
                exits = [after for block in sorted(inner.blocks) for after in blocks[block].successors]
                following = [after for after in exits if after in loop.blocks and after not in inner.blocks]
            else:
                self._take(loop.function, number, callers)
                self._guess(loop, number)
                following = [after for after in blocks[number].successors if after in loop.blocks]
            number = self._choose(loop, number, list(dict.fromkeys(following)), left)
            if number in (loop.header, -1) or self.is_cut:
                return

    def _guess(self, loop: NaturalLoop, number: int) -> None:
        """Draws whether the jump at the end of a block is guessed wrongly; of one that leads out of a loop, when
        that is left."""
        block = loop.function.blocks[number]
        share = self.wrong.find(block.instructions[-1]) if block.instructions else 0.0
        if all(after in loop.blocks for after in block.successors):
            if share and self.guesses.random() < share:
                self.cuts.append(len(self.found))
        else:
            self.due += share

    def _leave(self) -> None:
        """Cuts the path where a wrong guess is due."""
        if self.due >= 1:
            self.cuts.append(len(self.found))
            self.due = max(0.0, self.due - 1)

    def _take(self, function: CompiledFunction, number: int, callers: tuple[str, ...]) -> None:
        """The instructions of a block and of what it calls. A function that calls itself is not followed into itself:
        its runs are all counted, each with its own passes."""
        for one in function.blocks[number].instructions:
            name = one.operands[0].split("@")[0] if (one.is_call or one.is_jump) and one.operands else ""
            called = self.code.functions.get(name)
            source = _source_name(name)
            self.calls += one.is_call
            if called is not None and len(callers) <= DEEPEST_CALL and source not in {*self.code.apart, *callers}:
                whole = frozenset(range(len(called.blocks)))
                self._walk(NaturalLoop(called, 0, whole, find_loops(called)), (*callers, source))
            elif not is_opaque_call(one) and not one.mnemonic.startswith("ret"):
                self.found.extend(write_out_calls((one,)))

    def _choose(self, loop: NaturalLoop, number: int, following: list[int], left: set[int]) -> int:
        """The block that follows: by how often each runs, else one that leads to a loop that was not walked."""
        if len(following) < 2:
            return following[0] if following else -1
        share = self._find_share(loop, number, following[0], following[1])
        if share is not None:
            return following[0] if self._draw((loop.function.name, number), share) else following[1]
        reached = [len(left & self._reach(loop, after)) for after in following]
        if len(set(reached)) > 1:
            return following[reached.index(max(reached))]
        calm = [after for after in following if not self._calls(loop.function, after)] or following
        return self.random.choice(calm)

    def _draw(self, place: tuple[str, int], share: float) -> bool:
        """Whether something comes about this time that does for a share of all times."""
        if not self.is_even:
            return self.random.random() < share
        owed = self.owed.get(place, 0.5) + share
        self.owed[place] = owed - (owed >= 1)
        return owed >= 1

    def _find_share(self, loop: NaturalLoop, number: int, one: int, other: int) -> float | None:
        """Share of executions in which the first of two blocks follows: of a way around, by how often it runs for each
        pass of where it leads to, or of the block before, where other ways lead there, too, or the place is that of
        another way; of two ways apart, by how often each runs. None where counts tell nothing."""
        first, second = (self._weight_ahead(loop, block) for block in (one, other))
        if first is None or second is None:
            return self._find_share_of_known(loop, number, first, second)
        ahead, back = self._leads(loop, one, other), self._leads(loop, other, one)
        if ahead != back:
            around, joined = (first, second) if ahead else (second, first)
            before = self._weight(loop.function, number) or 0.0
            whole = before if joined < around or around <= before < joined else joined
            share = min(1.0, around / whole) if whole else None
            return share if ahead or share is None else 1 - share
        return first / (first + second) if abs(first - second) > SURE * max(first, second) else None

    def _find_share_of_known(
        self, loop: NaturalLoop, number: int, first: float | None, second: float | None
    ) -> float | None:
        """Share of executions in which the first of two blocks follows, of which counts tell one at most: by how often
        the block before runs."""
        before = self._weight(loop.function, number)
        if not before or (first is None and second is None):
            return None
        return min(1.0, first / before) if first is not None else 1 - min(1.0, (second or 0.0) / before)

    def _leads(self, loop: NaturalLoop, one: int, other: int) -> bool:
        """Whether a block leads to another before the loop begins anew."""
        return one != loop.header and (other == loop.header or other in self._reach(loop, one))

    def _calls(self, function: CompiledFunction, number: int) -> bool:
        """Whether a block calls what is not followed, as those do that report errors."""
        called = (one.operands[0].split("@")[0] for one in function.blocks[number].instructions if is_opaque_call(one))
        return any(name not in self.code.functions for name in called)

    def _weight(self, function: CompiledFunction, number: int) -> float | None:
        key = (function.name, number)
        if key not in self.known:
            found = [self.weights.find(one) for one in function.blocks[number].instructions]
            said = [weight for weight in found if weight is not None]
            self.known[key] = median(said) if said else None
        return self.known[key]

    def _weight_ahead(self, loop: NaturalLoop, number: int) -> float | None:
        """The weight of a block; of one that only leads into a loop inside, that of the loop: what does not change in a
        loop is computed ahead of it, whatever condition it stands behind there."""
        inside = {inner.header: inner.blocks for inner in loop.inner}
        ahead = number
        while ahead not in inside:
            following = loop.function.blocks[ahead].successors
            if len(following) != 1 or following[0] not in loop.blocks:
                return self._weight(loop.function, number)
            before, ahead = ahead, following[0]
            from_outside = loop.blocks - inside.get(ahead, frozenset())
            entries = {block for block in from_outside if ahead in loop.function.blocks[block].successors}
            if entries != {before} or ahead == loop.header:
                return self._weight(loop.function, number)
        weights = (self._weight(loop.function, block) for block in sorted(inside[ahead]))
        return max((weight for weight in weights if weight is not None), default=None)

    @staticmethod
    def _reach(loop: NaturalLoop, start: int) -> set[int]:
        seen, waiting = set[int](), [start]
        while waiting:
            number = waiting.pop()
            if number not in seen and number in loop.blocks and number != loop.header:
                seen.add(number)
                waiting.extend(loop.function.blocks[number].successors)
        return seen


def mean_passes(nest: Nest, ran: Ran) -> float | None:
    """Passes of a loop each time it is entered: those of the run, else its constant bound."""
    counted = ran.get(nest.span) if nest.span is not None else None
    if counted is not None and counted.entered:
        return counted.passes[0] / counted.entered
    known = v.number(nest.bounds[0]) if len(nest.bounds) == 1 else None
    return None if known is None else float(known)


def make_path_window(
    loop: NaturalLoop,
    code: FollowedCode,
    weights: PassWeights,
    trips: Mapping[LoopEntry, float],
    handed: Sequence[HandedOn] = (),
    wrong: WrongJumps | None = None,
) -> SimulationWindow | None:
    """A window of the passes of a loop as they ran; None where one is too long."""
    inside = [inner for inner in loop.walk() if inner is not loop]
    longest = (trips.get((loop.function.name, one.header), 1) * len(list(one.instructions())) for one in inside)
    lap = PathWalk(code, weights, trips).run(loop, 1)
    if not lap or max(len(lap), *longest, 0) > LONGEST_LAP:
        return None
    entry = read_entry(loop)
    laps = max(1, min(max(2, -(-PATH // len(lap))), LONGEST // (2 * len(lap))))
    while True:
        walks = PathWalk(code, weights, trips), PathWalk(code, weights, trips, LONGEST, wrong)
        first, second = (walk.run(loop, times) for walk, times in zip(walks, (laps, 2 * laps), strict=True))
        if not walks[1].is_cut:
            ends = sorted({0, *walks[1].cuts})
            parts = (second[start:end] for start, end in pairwise(ends))
            pieces = tuple(mend(keep_condition(part), entry, handed) for part in parts)
            whole = Fraction(2 * laps * ends[-1], len(second)) if pieces else Fraction(1)
            return SimulationWindow(laps, mend(first, entry, handed), mend(second, entry, handed), pieces, whole)
        if laps == 1:
            return None
        laps //= 2


def list_inner_nests(items: Iterable[Item]) -> Iterator[Nest]:
    """All loops inside some items."""
    return (item for item in walk_items(items) if isinstance(item, Nest))


def flops_of_path(items: Iterable[Item], weights: PassWeights) -> Fraction:
    """Flops of a pass in the mean of a run."""
    total = Fraction(0)
    for item in items:
        if isinstance(item, Arithmetic) and item.name in ("add", "multiply", "divide", "square_root", "fma"):
            total += item.amount
        elif isinstance(item, Alternative):
            share = Fraction(weights.share_of(item)).limit_denominator(1000)
            then, otherwise = (item.otherwise, item.then) if item.negated else (item.then, item.otherwise)
            total += flops_of_path(then, weights) * share + flops_of_path(otherwise, weights) * (1 - share)
        elif isinstance(item, Nest):
            passes = mean_passes(item, weights.ran)
            total += flops_of_path(item.body, weights) * Fraction(passes or 1).limit_denominator(1000)
    return total
