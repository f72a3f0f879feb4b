"""Costs of a kernel of a device: a block of the model for its launch, with an instance for each block of the grid.

Threads of a block go through the text side by side, so that loops over threads are the innermost ones around each
access. Conditions that keep the last blocks of a grid within bounds become shares of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from fractions import Fraction

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import (
    Alternative,
    Arithmetic,
    Guard,
    Item,
    MemoryAccess,
    MessageStatement,
    Nest,
    rewrite_inside,
    walk_items,
)
from aspenpy.extract.device_launches import BLOCK, GRID
from aspenpy.extract.round_trips import has_trips, lengthen_trips
from aspenpy.extract.scope import SIZE, STEADY
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.record import Record


def is_grid(item: Item) -> bool:
    """Whether an item is a loop over the blocks of a grid."""
    return isinstance(item, Nest) and any(pragma.startswith(GRID) for pragma in item.pragmas)


def is_threads(item: Item) -> bool:
    """Whether an item is a loop over the threads of a block."""
    return isinstance(item, Nest) and any(pragma.startswith(BLOCK) for pragma in item.pragmas)


MOST_SPLITS = 2  # of the indices of threads; each rewrites all formulas

AxisCounters = tuple[Expr, Expr]
"""The counters of a loop over blocks and of one over threads."""


class ThreadAxis(Record):
    """Threads along one axis: `blocks` blocks of `threads` threads, with the counter of the blocks, and the counters of
    the threads with their steps: several where the kernel divides the index."""

    blocks: Value
    threads: Value
    block: Expr
    places: tuple[tuple[Expr, Value], ...]

    @property
    def length(self) -> Value:
        return v.multiply(self.blocks, self.threads)


class ThreadRange(Record):
    """The threads of an axis, from `low` up to below `high`, for which the conditions so far hold."""

    low: Value
    high: Value

    @property
    def length(self) -> Value:
        return v.subtract(self.high, self.low)


def _count_whole_blocks(within: ThreadRange, axis: ThreadAxis) -> Fraction:
    """The threads of the blocks that a range reaches by those in it; 1 where these are no numbers."""
    low, high, size = (v.whole_number(each) for each in (within.low, within.high, axis.threads))
    if low is None or high is None or not size or high <= low:
        return Fraction(1)
    return Fraction((-(-high // size) - low // size) * size, high - low)


class DeviceKernel:
    """Loops of one launch: those over blocks, those over the threads of a block, and what each thread does."""

    def __init__(self, items: list[Item], given: Mapping[Expr, Value], named: Mapping[Expr, Value]) -> None:
        self.grid: list[Nest] = []
        self.threads: list[Nest] = []
        self.known = {symbol: value for symbol, value in given.items() if v.owners(value) <= {SIZE, STEADY}}
        self.body = self._enter(substitute_items(items, self.known))
        alone = {nest.counter: ZERO for nest in self.grid if v.is_same(nest.bounds[0], ONE)}
        self.body = substitute_items(self.body, alone)
        self.body = _number_divisors(self.body, named)
        whole = {nest.counter: nest.bounds[0] for nest in self.threads}
        self.places: dict[Expr, tuple[tuple[Expr, Value], ...]] = {
            nest.counter: ((nest.counter, ONE),) for nest in self.threads
        }
        self._split_threads(MOST_SPLITS)
        self.axes = {
            (grid.counter, thread): ThreadAxis(grid.bounds[0], whole[thread], grid.counter, places)
            for grid in self.grid
            for thread, places in self.places.items()
        }

    def _enter(self, items: list[Item]) -> list[Item]:
        """The items within the loops over blocks and threads."""
        inner = next((item for item in items if is_grid(item) or is_threads(item)), None)
        if not isinstance(inner, Nest):
            return items
        (self.grid if is_grid(inner) else self.threads).append(inner)
        return self._enter(inner.body)

    def _split_threads(self, splits: int) -> None:
        """Two loops in place of one over threads whose index the kernel divides, as `threadIdx.x/32` does; at most
        `splits` times."""
        for place, nest in enumerate(self.threads):
            size = v.whole_number(nest.bounds[0])
            divisors = {} if size is None else _find_divisors(self.body, nest.counter)
            width = next(
                (width for width in sorted(divisors, reverse=True) if size and size % width == 0 and 1 < width < size),
                None,
            )
            if width is None or size is None:
                if size and size in divisors:  # such a quotient is 0
                    rest = graph.apply("floor", graph.div(nest.counter, size))
                    self.body = substitute_items(self.body, {nest.counter: atom_polynomial(nest.counter)}, {rest})
                continue
            outer, inner = (graph.symbol(f"{nest.counter.payload[0]}{part}", v.COUNTER) for part in ("_row", "_column"))
            whole = v.add(v.scale(atom_polynomial(outer), width), atom_polynomial(inner))
            rest = graph.apply("floor", graph.div(inner, width))
            self.body = substitute_items(self.body, {nest.counter: whole}, {rest})
            halves = ((outer, size // width), (inner, width))
            for thread, places in self.places.items():
                parts = [((outer, v.scale(step, width)), (inner, step)) for at, step in places if at is nest.counter]
                others = (each for each in places if each[0] is not nest.counter)
                self.places[thread] = (*others, *(part for pair in parts for part in pair))
            self.threads[place : place + 1] = [
                nest.replace(counter=counter, bounds=(constant_polynomial(passes),)) for counter, passes in halves
            ]
            if splits > 1:
                self._split_threads(splits - 1)
            return

    @property
    def counters_of_all(self) -> set[Expr]:
        return {nest.counter for nest in (*self.grid, *self.threads)}

    @property
    def counters(self) -> list[Expr]:
        return [nest.counter for nest in self.threads]

    def block_threads(self) -> int | None:
        """Threads of a block, None where their number is a formula."""
        sizes = [v.whole_number(nest.bounds[0]) for nest in self.threads]
        product = 1
        for size in sizes:
            if size is None:
                return None
            product *= size
        return product

    def arrange(
        self, spare: Callable[[list[Item]], list[Item]], add_trips: Callable[[list[Item]], list[Item]]
    ) -> list[Item]:
        """The items of the launch, with loops over threads innermost. `spare` leaves out what a thread has in
        registers, and `add_trips` adds items where warps wait for what they have loaded."""
        whole = {place: ThreadRange(ZERO, axis.length) for place, axis in self.axes.items()}
        body = self._settle_edges(_drop_barriers(add_trips(spare(self.body))), whole)
        for nest in self.grid[::-1]:
            body = [nest.replace(body=self._sink(body) if nest is self.grid[-1] else body, recurrences=())]
        return body if self.grid else self._sink(body)

    # -- edges -------------------------------------------------------------------------------------

    def _settle_edges(self, items: list[Item], within: Mapping[AxisCounters, ThreadRange]) -> list[Item]:
        """Items with shares of threads in place of conditions on the place of a thread in the whole grid."""
        found: list[Item] = []
        for item in items:
            if isinstance(item, Nest):
                mean = self._find_mean_passes(item.bounds[0]) if len(item.bounds) == 1 else None
                nest = item if mean is None else item.replace(bounds=(mean,))
                found.append(nest.replace(body=self._settle_edges(item.body, within), recurrences=()))
            elif isinstance(item, MemoryAccess):
                passing = (self._find_mean_passes(v.add(guard.value, ONE)) is not None for guard in item.guards)
                left = (guard for guard, passes in zip(item.guards, passing, strict=True) if not passes)
                found.append(item.replace(guards=tuple(left)))  # such a loop is taken to make a pass
            elif isinstance(item, Alternative):
                found.append(self._settle_alternative(item, within))
            else:
                found.append(item)
        return found

    def _settle_alternative(self, item: Alternative, within: Mapping[AxisCounters, ThreadRange]) -> Alternative:
        share, left, inner = ONE, list[Guard](), dict(within)
        for guard in item.guards:
            cut = self._cut(guard, inner)
            if cut is None:
                left.append(guard)
                continue
            inner[cut[0]] = cut[1]
        longer = Fraction(1)
        for name, interval in inner.items():
            if interval is not within[name]:
                share = v.multiply(share, v.ratio(interval.length, within[name].length))
                longer *= _count_whole_blocks(interval, self.axes[name]) / _count_whole_blocks(
                    within[name], self.axes[name]
                )
        then = self._settle_edges(item.then, inner)
        if longer != 1 and not has_trips(item.otherwise):  # a block stays for the threads of it that make round trips
            then = lengthen_trips(then, longer)
        otherwise = self._settle_edges(item.otherwise, within)
        if len(left) == len(item.guards):
            return item.replace(then=then, otherwise=otherwise)
        if v.is_same(share, ONE):
            return Alternative(tuple(left), item.share, then, otherwise, item.span, negated=item.negated)
        share = share if item.share is None else v.multiply(share, item.share)
        return Alternative(tuple(left), share, then, otherwise, item.span, negated=item.negated)

    def _cut(self, guard: Guard, within: Mapping[AxisCounters, ThreadRange]) -> tuple[AxisCounters, ThreadRange] | None:
        """The axis that a condition on the place of a thread in the grid cuts, and what is left of it. One on its place
        in the block alone cuts none."""
        if v.symbols(guard.value) <= {*self.counters}:
            return None
        for name, axis in self.axes.items():
            parts = _place_parts(guard.value, axis)
            if parts is None:
                continue
            rest, sign = parts
            if v.counters(rest):
                return None
            before = within[name]
            if guard.operator == "==":
                return name, ThreadRange(v.scale(rest, -sign), v.add(v.scale(rest, -sign), ONE))
            if sign > 0:
                return name, before.replace(low=v.extreme_of("max", (before.low, -rest)))
            return name, before.replace(high=self._smaller(before.high, v.add(rest, ONE), axis))
        return None

    def _smaller(self, length: Value, limit: Value, axis: ThreadAxis) -> Value:
        """The smaller of the number of threads and a limit: the limit where the grid covers it."""
        rounded = (
            v.ceil_quotient(limit, axis.threads),
            v.floor_quotient(v.subtract(v.add(limit, axis.threads), ONE), axis.threads),
        )
        if v.is_same(length, axis.length):
            if any(v.is_same(axis.blocks, each) for each in rounded) or self._covers(axis, limit):
                return limit
            if v.is_same(axis.blocks, v.floor_quotient(limit, axis.threads)):
                return length
        return v.extreme_of("min", (length, limit))

    @staticmethod
    def _covers(axis: ThreadAxis, limit: Value) -> bool:
        """Whether blocks by a rounded quotient hold as many threads as a limit, which the quotient may exceed."""
        for function, missing in (("ceil", ZERO), ("floor", v.subtract(axis.threads, ONE))):
            found = _numerator(axis.blocks, function)
            if found is not None and v.is_same(found[1], axis.threads):
                return v.is_never_negative(v.subtract(v.subtract(found[0], missing), limit))
        return False

    def _find_mean_passes(self, bound: Value) -> Value | None:
        """The mean passes of a loop whose step is the number of threads (a grid-stride loop); None for other bounds."""
        found = _numerator(bound)
        if found is None:
            return None
        above, below = found
        for axis in self.axes.values():
            places = [*axis.places]
            # Those of a row that the index is divided into, as a warp's, of a block and of the whole grid.
            rows = [(places[at:], places[at - 1][1]) for at in range(1, len(places))]
            for way, length in (*rows, (places, axis.threads), ([*places, (axis.block, axis.threads)], axis.length)):
                rest = _take_away(above, way)
                if rest is None or v.counters(rest) & self.counters_of_all:
                    continue
                if v.is_same(below, length):
                    return v.ratio(rest, below)
                elements, step, threads = (v.whole_number(each) or 0 for each in (rest, below, length))
                if 0 < threads < step and elements > 0:  # such a loop does several elements a pass
                    whole, left = divmod(elements, step)
                    return v.ratio(constant_polynomial(whole * threads + min(left, threads)), length)
        return None

    # -- threads innermost -------------------------------------------------------------------------

    def _sink(self, items: list[Item]) -> list[Item]:
        """Items with the loops over threads around each run of them that has no other loop."""
        found: list[Item] = []
        waiting: list[Item] = []
        for item in items:
            if not any(isinstance(inner, Nest) for inner in walk_items([item])):
                waiting.append(item)
                continue
            found += self._wrap(waiting)
            waiting = []
            found += self._sink_into(item)
        return found + self._wrap(waiting)

    def _sink_into(self, item: Item) -> list[Item]:
        if isinstance(item, Nest):
            if any(v.has_any_symbol(bound, self.counters) for bound in item.bounds):
                return self._wrap([item])
            return [item.replace(body=self._sink(item.body))]
        assert isinstance(item, Alternative)
        if item.otherwise:
            return self._wrap([item])
        return [self._guard_inside(inner, item) for inner in self._sink(item.then)]

    def _guard_inside(self, item: Item, condition: Alternative) -> Item:
        """An item with a condition around what is within its loops."""
        if isinstance(item, Nest):
            inner = [self._guard_inside(part, condition) for part in item.body]
            plain = all(not isinstance(part, Nest) for part in item.body)
            return item.replace(body=[condition.replace(then=item.body)] if plain else inner)
        return condition.replace(then=[item])

    def _wrap(self, items: list[Item]) -> list[Item]:
        if not items:
            return []
        for nest in self.threads[::-1]:
            items = [nest.replace(body=items, recurrences=())]
        return items


def _place_parts(value: Value, axis: ThreadAxis) -> tuple[Value, int] | None:
    """The rest and the sign of the place of a thread in its grid, in a value that is linear in it with the factor 1 or
    -1."""
    for sign in (1, -1):
        rest = _take_away(v.scale(value, -sign), [*axis.places, (axis.block, axis.threads)])
        if rest is not None:
            return v.scale(rest, -sign), sign
    return None


def _take_away(value: Value, places: list[tuple[Expr, Value]]) -> Value | None:
    """The rest of a value that falls by the steps of some counters; None for others."""
    for counter, step in places:
        straight = v.linear_parts(value, counter)
        if straight is None or not v.is_same(straight[1], -step):
            return None
        value = straight[0]
    return value


def _numerator(bound: Value, function: str = "ceil") -> tuple[Value, Value] | None:
    """Dividend and divisor of a bound that rounds a quotient, by default up; None for other bounds."""
    atoms = [
        (monomial[0][0], coefficient)
        for monomial, coefficient in bound.terms.items()
        if len(monomial) == 1 and monomial[0][0].kind == "apply"
    ]
    if len(atoms) != 1 or atoms[0][1] != 1 or atoms[0][0].payload != function:
        return None
    (atom, _) = atoms[0]
    inside, sign = (atom.args[0].args[0], -1) if atom.args[0].kind == "neg" else (atom.args[0], 1)
    if inside.kind != "div":
        return None
    rest = v.subtract(bound, atom_polynomial(atom))
    above, below = map(v.from_expression, inside.args)
    return v.add(v.scale(above, sign), v.multiply(rest, below)), below


def _drop_barriers(items: list[Item]) -> list[Item]:
    """Items without barriers, which only say what a thread has to read again."""
    left = (item for item in items if not isinstance(item, MessageStatement) or item.resource != "barrier")
    return [rewrite_inside(item, _drop_barriers) for item in left]


# -- substitution ----------------------------------------------------------------------------------


def _find_divisors(items: list[Item], counter: Expr) -> set[int]:
    """Whole numbers by which some items divide a counter alone."""
    found: set[int] = set()
    values = [value for item in walk_items(items) for value in list_values(item)]
    for base in {base for value in values for monomial in value.terms for base, _ in monomial}:
        is_floor = base.kind == "apply" and base.payload == "floor" and base.args[0].kind == "div"
        if is_floor and counter in graph.free_symbols(base):
            number = v.whole_number(v.from_expression(base.args[0].args[1]))
            found |= {number} if number is not None else set()
    return found


def list_values(item: Item) -> list[Value]:
    """The formulas of an item."""
    if isinstance(item, MemoryAccess):
        return [*([] if item.offset is None else [item.offset]), *(guard.value for guard in item.guards)]
    if isinstance(item, Alternative):
        return [guard.value for guard in item.guards]
    return list(item.bounds) if isinstance(item, Nest) else []


def _number_divisors(items: list[Item], named: Mapping[Expr, Value]) -> list[Item]:
    """Items with numbers in place of their names in quotients that are rounded: what warps do depends on them."""
    used = {
        symbol
        for item in walk_items(items)
        for value in list_values(item)
        for monomial in value.terms
        for base, _ in monomial
        if base.kind == "apply"
        for symbol in graph.free_symbols(base)
    }
    given = {symbol: value for symbol, value in named.items() if symbol in used}
    return [_number_quotients(item, given) for item in items] if given else items


def _number_quotients(item: Item, given: Mapping[Expr, Value]) -> Item:
    if isinstance(item, Nest):
        return item.replace(body=[_number_quotients(inner, given) for inner in item.body])
    has_quotient = any(base.kind == "apply" for value in list_values(item) for m in value.terms for base, _ in m)
    if isinstance(item, Alternative):
        sides = ([_number_quotients(inner, given) for inner in side] for side in (item.then, item.otherwise))
        then, otherwise = sides
        item = item.replace(then=then, otherwise=otherwise)
        if has_quotient:
            plain = _substitute_item(item.replace(then=[], otherwise=[]), given, frozenset())
            assert isinstance(plain, Alternative)
            return item.replace(guards=plain.guards)
        return item
    return _substitute_item(item, given, frozenset()) if has_quotient else item


def substitute_items(items: list[Item], given: Mapping[Expr, Value], zeros: Set[Expr] = frozenset()) -> list[Item]:
    """Items with values in place of symbols, where formulas do not become too long; atoms that are `zeros` are left
    out."""
    return [_substitute_item(item, given, zeros) for item in items] if given else items


def _substitute_item(item: Item, given: Mapping[Expr, Value], zeros: Set[Expr]) -> Item:
    def put(value: Value) -> Value:
        try:
            found = v.substitute(value, given)
        except TooLong:
            return value
        if all(zeros.isdisjoint(graph.topological_order(base)) for each in found.terms for base, _ in each):
            return found
        (whole,) = graph.substitute([v.to_expression(found)], dict.fromkeys(zeros, graph.ZERO))
        return v.from_expression(whole)

    def put_all(guards: tuple[Guard, ...]) -> tuple[Guard, ...]:
        return tuple(guard.replace(value=put(guard.value)) for guard in guards)

    if isinstance(item, Nest):
        inner = substitute_items(item.body, given, zeros)
        return item.replace(bounds=tuple(map(put, item.bounds)), body=inner)
    if isinstance(item, Alternative):
        share = None if item.share is None else put(item.share)
        then, otherwise = (substitute_items(side, given, zeros) for side in (item.then, item.otherwise))
        return item.replace(guards=put_all(item.guards), share=share, then=then, otherwise=otherwise)
    if isinstance(item, MemoryAccess):
        offset = None if item.offset is None else put(item.offset)
        return item.replace(offset=offset, guards=put_all(item.guards))
    if isinstance(item, Arithmetic) and item.times is not None:
        return item.replace(times=put(item.times))
    return item
