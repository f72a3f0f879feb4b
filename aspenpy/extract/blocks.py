"""Blocks: what a nest of loops asks for in all, by operation and by array, with the order in which words are
touched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import (
    CYCLES,
    FIRST,
    Alternative,
    Arithmetic,
    Guard,
    Invocation,
    Item,
    MemoryAccess,
    MessageStatement,
    Nest,
    walk_items,
)
from aspenpy.extract.count import Counter, GuardedLoops, NoClosedForm
from aspenpy.extract.device import list_values, substitute_items
from aspenpy.extract.scope import Names, unknown_symbols
from aspenpy.extract.triangles import CounterRange, StridedLoop, find_ranges, is_triangular, loop_key
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.source import Span
from aspenpy.record import Record

Terms = tuple[tuple[Value, tuple[Guard, ...]], ...]
"""How often something happens within its loops: a sum of amounts, each where some conditions hold."""

ALWAYS: Terms = ((ONE, ()),)
MOST_TERMS = 32

COUNTED = ("integer",)
"""The chain of a loop that has no other: its counter."""

MOST_SWEEPS = 4
"""Loops that follow each other within a loop, up to which the cache model tells them apart."""


class Event(Record):
    """An access or operation with the loops around it."""

    item: MemoryAccess | Arithmetic
    nests: tuple[Nest, ...]
    terms: Terms


class Pattern(Record):
    """In which order an access touches words: its loops, the innermost first; `anywhere` has no order, but for the
    words of a `run`, which follow each other. Runs that are not `in_order` begin where data that are not read in order
    say."""

    loops: tuple[StridedLoop, ...] = ()
    anywhere: bool = False
    in_order: bool = True
    run: int = 1

    def key(self) -> object:
        return self.anywhere, self.in_order, self.run, tuple(map(loop_key, self.loops))

    def add_sweeps(self, sweeps: Value) -> Pattern:
        """Adds a loop of `sweeps` passes around the innermost loop."""
        return self.replace(loops=(self.loops[0], (ZERO, sweeps), *self.loops[1:]))

    @property
    def is_ranged(self) -> bool:
        """Whether a loop is given by the values of its counter."""
        return any(isinstance(trips, CounterRange) for _, trips in self.loops)


class BlockAccess(Record):
    """Words of an array that a block loads or stores, none of them at `reach` bytes or more from its begin. `sweeps`
    are the counters of the innermost loops that contain the access."""

    kind: str
    array: str
    size: int
    words: Value
    pattern: Pattern | None
    offset: Value | None
    reach: Value | None = None
    spans: tuple[Span, ...] = ()
    sweeps: frozenset[Expr] = frozenset()


class OperationCount(Record):
    """Number of operations of one class in a block."""

    name: str
    precision: str
    amount: Value


class DependenceChain(Record):
    """Operations that wait for each other, from pass to pass of a loop."""

    classes: tuple[str, ...]
    subject: str
    passes: Value


class BlockAmounts(Record):
    """Operations, accesses and chains of a block."""

    operations: tuple[OperationCount, ...]
    accesses: tuple[BlockAccess, ...]
    chains: tuple[DependenceChain, ...]
    depth: int


def list_events(
    items: list[Item], nests: tuple[Nest, ...] = (), terms: Terms = ALWAYS, most: int | None = None
) -> Iterator[Event]:
    """Accesses and operations inside some items, with their loops and conditions, or the first `most` terms of these;
    calls are left out. Raises `NoClosedForm` for more than MOST_TERMS."""
    for item in items:
        if isinstance(item, Nest):
            yield from list_events(item.body, (*nests, item), terms, most)
        elif isinstance(item, Alternative):
            held = tuple(
                (amount if item.share is None else v.multiply(amount, item.share), (*guards, *item.guards))
                for amount, guards in terms
            )
            if item.share is not None and not item.share.terms:
                held = ()
            yield from list_events(item.then, nests, held, most)
            rest = _terms_of_otherwise(item, terms) or _subtract(terms, held)
            rest = rest[:most]
            if item.otherwise and len(rest) > MOST_TERMS:
                raise NoClosedForm
            yield from list_events(item.otherwise, nests, rest, most)
        elif isinstance(item, MemoryAccess):
            guarded = tuple((amount, (*guards, *item.guards)) for amount, guards in terms)
            yield Event(item, nests, guarded)
        elif isinstance(item, Arithmetic):
            often = terms
            if item.times is not None:
                often = tuple((v.multiply(amount, item.times), guards) for amount, guards in terms)
            yield Event(item, nests, often)


def _subtract(terms: Terms, held: Terms) -> Terms:
    """Terms without those that hold; under the same conditions they are one."""
    left: dict[tuple[Guard, ...], Value] = {}
    for amount, guards in (*terms, *((-amount, guards) for amount, guards in held)):
        left[guards] = v.add(left[guards], amount) if guards in left else amount
    return tuple((amount, guards) for guards, amount in left.items() if amount.terms)


def _innermost_nests(items: Iterable[Item], nests: tuple[Nest, ...] = ()) -> Iterator[tuple[Nest, ...]]:
    """Innermost loops, each with the loops around it."""
    for item in items:
        if isinstance(item, Nest):
            inside = [*_innermost_nests(item.body, (*nests, item))]
            yield from inside or [(*nests, item)]
        elif isinstance(item, Alternative):
            yield from _innermost_nests((*item.then, *item.otherwise), nests)


def _has_cycles(nests: tuple[Nest, ...]) -> bool:
    """Whether an innermost loop, or one around it, has cycles of compiled code; a block has those of all its loops, or
    none."""
    return any(isinstance(item, Arithmetic) and item.name == CYCLES for nest in nests for item in nest.body)


def _terms_of_otherwise(item: Alternative, terms: Terms) -> Terms | None:
    """Terms of the `otherwise` side where one condition on counters decides, by the opposite condition."""
    if item.share is not None or len(item.guards) != 1 or item.guards[0].operator != ">=":
        return None
    other = item.guards[0].replace(value=v.subtract(-item.guards[0].value, ONE))
    return tuple((amount, (*guards, other)) for amount, guards in terms)


def average_roundings(nest: Nest) -> Nest | None:
    """A nest with the mean in place of what it rounds of its counters: floor(a/k) of whole numbers a, of which each
    remainder is as frequent, is (a - (k - 1)/2)/k in the mean, and ceil(a/k) is (a + (k - 1)/2)/k. Grids whose points
    are red and black begin their rows at 1 + (i + colour) % 2. None where nothing is rounded."""
    means: dict[Expr, Value] = {}
    counters: dict[Expr, Value] = {}
    for item in walk_items([nest]):
        if isinstance(item, Nest):
            counters[item.counter] = atom_polynomial(item.counter)
        for value in list_values(item):
            atoms = {base for monomial in value.terms for base, _ in monomial if base.kind == "apply"}
            for base in atoms - means.keys():
                if (mean := _average_rounding(base)) is not None:
                    means[base] = mean
    if not means:
        return None
    (found,) = substitute_items([nest], counters | means)
    assert isinstance(found, Nest)
    return found


def _average_rounding(base: Expr) -> Value | None:
    if base.payload not in ("floor", "ceil") or base.args[0].kind != "div" or not v.counters(atom_polynomial(base)):
        return None
    whole, by = base.args[0].args
    step = v.whole_number(v.from_expression(by))
    if step is None or step < 2:
        return None
    middle = Fraction(step - 1, 2) if base.payload == "ceil" else -Fraction(step - 1, 2)
    return v.scale(v.add(v.from_expression(whole), constant_polynomial(middle)), Fraction(1, step))


class BlockSummary:
    """Sums up blocks with one counter, whose assumptions hold for all of them. The passes of a block that `is_parted`
    are shared out, which wants their number."""

    def __init__(self, counter: Counter, names: Names, is_parted: bool = False) -> None:
        self.counter = counter
        self.varying, self.read = names.varying, names.read
        self.is_parted = is_parted
        self.is_triangular = False

    def sum_amounts(self, items: list[Item]) -> BlockAmounts:
        """Sums up the operations, accesses and chains of some items. Raises `NoClosedForm`."""
        operations: dict[tuple[str, str], Value] = {}
        moved: dict[object, BlockAccess] = {}
        totals: dict[object, Value] = {}
        events = list(list_events(items))
        if not all(map(_has_cycles, _innermost_nests(items))):
            events = [event for event in events if not isinstance(event.item, Arithmetic) or event.item.name != CYCLES]
        deepest = max((event.nests for event in events), key=len, default=())
        self.is_triangular = not self.is_parted and is_triangular(event.nests for event in events)
        for event in events:
            counted = self.count_event(event, totals)
            if isinstance(event.item, Arithmetic):
                kind = event.item.name, event.item.precision
                operations[kind] = v.add(operations.get(kind, ZERO), v.scale(counted, event.item.amount))
            elif counted.terms:
                pattern = self._try_pattern(event, counted, totals, deepest)
                self._add_access(moved, event, len(event.nests) == len(deepest), pattern, counted)
        done = tuple(
            OperationCount(name, precision, amount) for (name, precision), amount in operations.items() if amount.terms
        )
        done += tuple(self._list_first(events))
        return BlockAmounts(
            done, tuple(_merge_sweeps(moved.values())), tuple(self._list_chains(items, totals)), len(deepest)
        )

    def _list_first(self, events: Sequence[Event]) -> Iterator[OperationCount]:
        """Arrays that are loaded at places that data decide, with the step of indirection as their amount: each step
        begins when the first load of the one before is back."""
        steps: dict[str, int] = {}
        for event in events:
            item = event.item
            if isinstance(item, MemoryAccess) and item.kind == "load" and item.offset is not None:
                step = self._count_indirections(item.offset)
                steps[item.array] = max(step, steps.get(item.array, 0))
        yield from (OperationCount(FIRST, array, v.scale(ONE, step)) for array, step in steps.items() if step)

    def _count_indirections(self, offset: Value, most: int = 8) -> int:
        """Loads that follow each other until the place of an access is known, and itself; 0 where no data say it."""
        unknown = unknown_symbols(offset)
        behind = [self.read[symbol].offset for symbol in unknown if symbol in self.read] if most else []
        inner = [self._count_indirections(each, most - 1) for each in behind]
        return 1 + max(inner, default=0) if unknown else 0

    def _try_pattern(
        self, event: Event, counted: Value, totals: dict[object, Value], deepest: tuple[Nest, ...]
    ) -> Pattern | None:
        try:
            return self._find_pattern(event, counted, totals, deepest)
        except TooLong:
            return None

    def _add_access(
        self, moved: dict[object, BlockAccess], event: Event, is_deep: bool, pattern: Pattern | None, counted: Value
    ) -> None:
        item = event.item
        assert isinstance(item, MemoryAccess)
        offset = _start_offset(item.offset)
        begin = None if offset is None else v.value_key(offset)
        key = (item.kind, item.array, item.size, pattern and pattern.key(), begin)
        sweeps = frozenset(nest.counter for nest in event.nests[-1:] if is_deep)
        known = moved.get(key)
        if known is None:
            spans = (item.span,) if item.span is not None else ()
            reach = self._reach_of_rows(event, pattern) or _reach_of_access(item, event.nests)
            moved[key] = BlockAccess(
                item.kind,
                item.array,
                item.size,
                counted,
                pattern,
                offset=offset,
                reach=reach,
                spans=spans,
                sweeps=sweeps,
            )
        else:
            spans = (item.span,) if item.span is not None and item.span not in known.spans else ()
            moved[key] = known.replace(
                words=v.add(known.words, counted), sweeps=known.sweeps | sweeps, spans=(*known.spans, *spans)
            )

    def _reach_of_rows(self, event: Event, pattern: Pattern | None) -> Value | None:
        """Bytes of runs that follow each other: one for each pass of the loops that change where runs begin. None where
        runs begin at a formula in sizes, or their begin is unknown."""
        item = event.item
        assert isinstance(item, MemoryAccess)
        offset = item.offset
        varying = {} if offset is None else {c for symbol in v.symbols(offset) for c in self.varying.get(symbol, ())}
        if not varying or pattern is None or pattern.anywhere or len(pattern.loops) < 2:
            return None
        trips = pattern.loops[0][1]
        bounds = [nest.bounds for nest in event.nests[:-1] if nest.counter in varying]
        if isinstance(trips, CounterRange) or any(len(each) != 1 or v.counters(each[0]) for each in bounds):
            return None
        try:
            for (rows,) in bounds:
                trips = v.multiply(trips, rows)
            return v.multiply(trips, constant_polynomial(item.size))
        except TooLong:
            return None

    def count_event(self, event: Event, totals: dict[object, Value]) -> Value:
        """Number of times that an event happens in all; `totals` has the known ones."""
        result = ZERO
        for amount, guards in event.terms:
            key = (
                v.value_key(amount),
                tuple(nest.counter for nest in event.nests),
                tuple((guard.operator, v.value_key(guard.value)) for guard in guards),
            )
            if key not in totals:
                totals[key] = self.counter.total(amount, GuardedLoops(event.nests, guards))
            result = v.add(result, totals[key])
        return result

    def _count_passes(self, nests: tuple[Nest, ...], totals: dict[object, Value]) -> Value:
        key = ("passes", tuple(nest.counter for nest in nests))
        if key not in totals:
            totals[key] = self.counter.total(ONE, GuardedLoops(nests))
        return totals[key]

    def _find_pattern(
        self, event: Event, counted: Value, totals: dict[object, Value], deepest: tuple[Nest, ...]
    ) -> Pattern | None:
        """Order of an access's words, None where it is unknown. Loops that the access shares with the deepest nest of
        its block stand at their places there, others innermost; missing loops make one pass."""
        item = event.item
        assert isinstance(item, MemoryAccess)
        if item.offset is None:
            return Pattern((), True)
        unknown = unknown_symbols(item.offset)
        if unknown:
            return self._find_runs(event, unknown, totals, deepest)
        if self.is_triangular and len(event.terms) == 1 and v.is_same(event.terms[0][0], ONE):
            guards = event.terms[0][1]
            open_guards = tuple(
                guard
                for place, guard in enumerate(guards)
                if guard.operator == "==" or not self.counter.is_nonnegative(guard.value, event.nests, guards[:place])
            )
            named = find_ranges(item.offset, event.nests, open_guards)
            if named is not None:
                return self._align_loops(named[::-1], event.nests, deepest)
        loops: list[tuple[Value, Value]] = []
        before = ONE
        for place, nest in enumerate(event.nests):
            straight = v.linear_parts(item.offset, nest.counter)
            if straight is None or v.has_any_symbol(straight[1], [other.counter for other in event.nests]):
                return None
            passes = self._count_passes(event.nests[: place + 1], totals)
            loops.insert(0, (straight[1], v.ratio(passes, before)))
            before = passes
        if not v.is_same(before, counted) and not v.is_same(counted, ONE):
            share = v.ratio(counted, before)
            if v.number(share) is None and not loops:
                return None
            loops = self._reduce_trips(loops, share)
        return self._align_loops(loops, event.nests, deepest)

    @staticmethod
    def _align_loops(loops: Sequence[StridedLoop], nests: tuple[Nest, ...], deepest: tuple[Nest, ...]) -> Pattern:
        """Fills up the loops of a pattern to as many as the deepest nest of the block has."""
        shared = sum(mine is theirs for mine, theirs in zip(nests, deepest, strict=False))
        place = len(loops) if shared == len(nests) else len(nests) - shared
        missing = [(ZERO, ONE)] * (len(deepest) - len(loops))
        if shared == len(nests):
            return Pattern((*missing, *loops))
        return Pattern((*loops[:place], *missing, *loops[place:]))

    def _find_runs(
        self, event: Event, unknown: list[Expr], totals: dict[object, Value], deepest: tuple[Nest, ...]
    ) -> Pattern | None:
        """Pattern of words that begin where data decide: anywhere if each pass of the innermost loop begins anew, or
        runs of a length in numbers begin at elements, as of a structure; else runs that are taken to follow each other,
        as rows of a sparse matrix do, which begin at words."""
        item = event.item
        assert isinstance(item, MemoryAccess)
        assert item.offset is not None
        varying = {counter for symbol in unknown for counter in self.varying.get(symbol, ())}
        inner = next((nest for nest in reversed(event.nests) if v.has_symbol(item.offset, nest.counter)), None)
        if not varying:
            return self._find_pattern(
                event.replace(item=item.replace(offset=v.substitute(item.offset, dict.fromkeys(unknown, ZERO)))),
                ONE,
                totals,
                deepest,
            )
        if inner is None or inner.counter in varying or inner is not event.nests[-1]:
            return Pattern((), True)
        straight = v.linear_parts(item.offset, inner.counter)
        if straight is None or v.number(straight[1]) not in (item.size, -item.size):
            return Pattern((), True)
        passes = [self._count_passes(event.nests[: place + 1], totals) for place in range(len(event.nests))]
        in_order = not any(unknown_symbols(self.read[symbol].offset) for symbol in unknown if symbol in self.read)
        if len(passes) == 1:
            return self._align_loops([(straight[1], passes[0])], event.nests, deepest).replace(in_order=False)
        trips = v.ratio(passes[-1], passes[-2])
        begins = [v.linear_parts(item.offset, symbol) for symbol in unknown]
        if not all(parts is not None and v.number(parts[1]) in (item.size, -item.size) for parts in begins):
            run = v.number(trips)
            if run is not None and run.denominator == 1 and run >= 1:
                return Pattern((), anywhere=True, run=int(run))
            in_order = False
        outer = [(ZERO, ONE)] * (len(deepest) - 2)
        row = v.multiply(straight[1], trips)
        if any(coefficient.denominator > 1 for coefficient in row.terms.values()):
            row = v.from_expression(graph.apply("floor", v.to_expression(row)))
        return Pattern(((straight[1], trips), (row, passes[-2]), *outer), in_order=in_order)

    @staticmethod
    def _reduce_trips(loops: list[tuple[Value, Value]], share: Value) -> list[tuple[Value, Value]]:
        """Reduces the trips of the innermost loop to the share of passes that make the access."""
        if not loops:
            return loops
        (stride, trips), *outer = loops
        return [(stride, v.multiply(trips, share)), *outer]

    def _list_chains(self, items: list[Item], totals: dict[object, Value]) -> Iterator[DependenceChain]:
        """Chains of the innermost loops. Beside a loop with a chain, each other one has a chain of its counter's
        updates: it runs before or behind."""
        innermost = [*_innermost_nests(items)]
        waits = any(around[-1].recurrences for around in innermost)
        for around in innermost:
            for recurrence in around[-1].recurrences:
                yield DependenceChain(recurrence.classes, recurrence.subject, self._count_passes(around, totals))
            if waits and not around[-1].recurrences:
                yield DependenceChain(COUNTED, around[-1].variable, self._count_passes(around, totals))


def _merge_sweeps(accesses: Iterable[BlockAccess]) -> list[BlockAccess]:
    """Adds to each access a loop over its sweeps, where several innermost loops of a block follow each other."""
    merged = list(accesses)
    most = max((len(access.sweeps) for access in merged), default=0)
    patterns = [access.pattern for access in merged if access.pattern is not None and not access.pattern.anywhere]
    if not 1 < most <= MOST_SWEEPS or any(len(pattern.loops) < 2 for pattern in patterns):
        return merged
    return [
        access
        if access.pattern is None or access.pattern.anywhere
        else access.replace(pattern=access.pattern.add_sweeps(constant_polynomial(max(1, len(access.sweeps)))))
        for access in merged
    ]


def _start_offset(offset: Value | None) -> Value | None:
    """An offset with all counters at 0."""
    try:
        return None if offset is None else v.substitute(offset, dict.fromkeys(v.counters(offset), ZERO))
    except TooLong:
        return None


def _reach_of_access(item: MemoryAccess, nests: tuple[Nest, ...]) -> Value | None:
    """Bytes from the begin of an array to the end of the furthest access; None where that is unknown. Offsets that data
    decide count from 0."""
    end = item.offset
    rows = {} if end is None else dict.fromkeys(unknown_symbols(end), ZERO)
    if end is not None and rows and not v.counters(end):
        return None
    try:
        end = end and v.substitute(end, rows)
        for nest in reversed(nests):
            straight = None if end is None else v.linear_parts(end, nest.counter)
            if straight is None or v.counters(straight[1]):
                return None
            start, step = straight
            end = start
            if v.is_never_negative(step):
                end = v.add(start, v.multiply(step, v.subtract(nest.bounds[0], ONE)))
        if end is None or v.counters(end):
            return None
        return v.add(end, constant_polynomial(item.size))
    except TooLong:
        return None


def nesting_depth(item: Item) -> int:
    """Depth of the loops nested in an item."""
    if isinstance(item, Nest):
        return 1 + max(map(nesting_depth, item.body), default=0)
    if isinstance(item, Alternative):
        return max(map(nesting_depth, (*item.then, *item.otherwise)), default=0)
    return 0


def has_calls(items: Iterable[Item]) -> bool:
    """Whether items contain calls of kernels or messages, so that they are more than one block."""
    return any(isinstance(item, Invocation | MessageStatement) for item in walk_items(items))


def list_invocations(items: list[Item]) -> Iterator[Invocation]:
    return (item for item in walk_items(items) if isinstance(item, Invocation))
