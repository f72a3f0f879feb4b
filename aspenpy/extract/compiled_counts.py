"""Counts of compiled loops beside those of the source: flops that a compiler computes once, loads and stores of what it
keeps on the stack, of constants, and of what it has no register for.

Of each loop whose compiled path is known, the flops of the source are scaled to those of the path, class by class, and
bytes that the path loads or stores beyond those of the source stand apart. The first cache has them: the source's own
accesses have touched their lines, or they are of the stack. Where the path has fewer bytes, the fewer are those of
places that the pass has touched before or that all passes touch, which the source may have to load again since stores
may lie between, and then those of arrays that the compiler may keep in registers: a function's own, and constant ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction

from aspenpy.assembly.listing import Instruction
from aspenpy.assembly.memory_operands import STACK_WORD, Moves, count_moves
from aspenpy.assembly.strides import count_flops
from aspenpy.expr.node import Expr
from aspenpy.extract import values as v
from aspenpy.extract.costs import BESIDE, Alternative, Arithmetic, Item, MemoryAccess, Nest
from aspenpy.extract.paths import PassWeights, mean_passes
from aspenpy.extract.registers import list_accesses
from aspenpy.extract.scope import depends_on_data
from aspenpy.language.source import Span
from aspenpy.record import Record

FLOPS = ("add", "multiply", "divide", "square_root")
"""Classes of flops that both sides count."""

LEAST = Fraction(1, 50)
"""Difference of both counts, over that of the compiled path, from which on they differ."""

MOST = 3
"""How many times as many or as few flops a path has at most as the source: more is another loop's."""

Factors = Mapping[str, Fraction]
"""Flops of the compiled path over those of the source, by class."""

Shares = Mapping[int, Fraction]
"""The part of an access that is left in the compiled path, by its identity."""

Touch = tuple[str, tuple[str, object]]
"""A kind of access, and the place that it touches."""

ALL_LEFT: Shares = {}
"""Where the compiled path has all loads and stores of the source."""


class SourceCounts(Record):
    """Flops by class of a pass of the source, bytes that it loads and stores, and those of each access by its identity,
    in the mean of a run."""

    flops: dict[str, Fraction]
    moved: dict[str, Fraction]
    moved_by: dict[int, Fraction]

    def add_items(self, items: Iterable[Item], weights: PassWeights, often: Fraction = Fraction(1)) -> SourceCounts:
        for item in items:
            if isinstance(item, Arithmetic) and item.name in FLOPS:
                self.flops[item.name] = self.flops.get(item.name, Fraction(0)) + often * item.amount
            elif isinstance(item, MemoryAccess):
                self.moved[item.kind] = self.moved.get(item.kind, Fraction(0)) + often * item.size
                self.moved_by[id(item)] = self.moved_by.get(id(item), Fraction(0)) + often * item.size
            elif isinstance(item, Alternative):
                share = Fraction(weights.share_of(item)).limit_denominator(1000)
                then, otherwise = (item.otherwise, item.then) if item.negated else (item.then, item.otherwise)
                self.add_items(then, weights, often * share)
                self.add_items(otherwise, weights, often * (1 - share))
            elif isinstance(item, Nest):
                passes = Fraction(mean_passes(item, weights.ran) or 1).limit_denominator(1000)
                self.add_items(item.body, weights, often * passes)
        return self


class CompiledCounts(Record):
    """Factors of a loop's flops, accesses of a pass beside the source's, and which part is left of the loads and stores
    that its compiled path spares."""

    factors: Factors
    beside: tuple[Arithmetic, ...]
    left: Shares = ALL_LEFT

    def scale_items(self, items: Iterable[Item]) -> list[Item]:
        """The items with flops, loads and stores as in the compiled path."""
        return [self._scale(item) for item in items] if self.factors or self.left else list(items)

    def _scale(self, item: Item) -> Item:
        if isinstance(item, Alternative):
            return item.replace(then=self.scale_items(item.then), otherwise=self.scale_items(item.otherwise))
        if isinstance(item, Nest):
            return item.replace(body=self.scale_items(item.body))
        if isinstance(item, MemoryAccess) and id(item) in self.left:
            return Alternative((), v.scale(v.ONE, self.left[id(item)]), then=[item], otherwise=[])
        if isinstance(item, Arithmetic) and item.name in self.factors:
            return item.replace(times=v.scale(v.ONE if item.times is None else item.times, self.factors[item.name]))
        return item


def compare_counts(
    nest: Nest,
    path: Iterable[Instruction],
    calls: Fraction,
    passes: Fraction,
    weights: PassWeights,
    kept: Collection[str] = (),
) -> CompiledCounts:
    """The counts of a loop whose `path` makes `passes`, with `calls` in all, beside those of the source."""
    path = tuple(path)
    source = SourceCounts({}, {}, {}).add_items(nest.body, weights)
    factors = _find_factors(source.flops, path, passes)
    if not all(Fraction(1, MOST) <= factor <= MOST for factor in factors.values()):
        return CompiledCounts({}, ())
    moves = count_moves(path)
    beside = _list_beside(source, moves, calls, passes, nest.span)
    different = {name: factor for name, factor in factors.items() if abs(factor - 1) > LEAST}
    again = _list_again(nest.body, nest.counter, frozenset())
    own = [access for access in list_accesses(nest.body) if access.array in kept and access not in again]
    return CompiledCounts(different, tuple(beside), _find_left(source, moves, passes, (again, own)))


def _list_again(items: Iterable[Item], counter: Expr, before: frozenset[Touch]) -> list[MemoryAccess]:
    """Accesses of a pass to places that it has touched `before`, or that do not move with its `counter`: a load where
    the pass has loaded or stored, a store where it has stored."""
    found: list[MemoryAccess] = []
    for item in items:
        if isinstance(item, Nest):
            found += _list_again(item.body, item.counter, before)
        elif isinstance(item, Alternative):
            found += [*_list_again(item.then, counter, before), *_list_again(item.otherwise, counter, before)]
        elif isinstance(item, MemoryAccess) and item.offset is not None and not item.atomic:
            stays = not v.has_symbol(item.offset, counter) and not depends_on_data(item.offset)
            if stays or (item.kind, item.place()) in before:
                found.append(item)
            before |= {("load", item.place()), (item.kind, item.place())}
    return found


def _find_left(
    source: SourceCounts, moves: Moves, passes: Fraction, spared: Iterable[Sequence[MemoryAccess]]
) -> Shares:
    """The part of accesses that the path has, where it has fewer bytes than the source: those that come first in
    `spared` are left out first."""
    left: dict[int, Fraction] = {}
    for kind, volume in (("load", moves.loaded), ("store", moves.stored)):
        fewer = source.moved.get(kind, Fraction(0)) - volume / passes
        if fewer <= LEAST * source.moved.get(kind, Fraction(0)):
            continue
        for accesses in spared:
            some = {id(access) for access in accesses if access.kind == kind}
            whole = sum(source.moved_by.get(each, Fraction(0)) for each in some)
            if whole and fewer > 0:
                part = Fraction(round(max(Fraction(0), 1 - fewer / whole) * 1000), 1000)
                left |= dict.fromkeys(some, part)
                fewer -= whole
    return left


def _find_factors(source: Mapping[str, Fraction], path: Iterable[Instruction], passes: Fraction) -> Factors:
    done: dict[str, Fraction] = {}
    for each in count_flops(path):
        done[each.operation] = done.get(each.operation, Fraction(0)) + each.flops / passes
    if "fma" in done:  # sums and products together, since either may be part of it
        whole = sum(done.pop(name, Fraction(0)) for name in ("fma", "add", "multiply"))
        both = source.get("add", Fraction(0)) + source.get("multiply", Fraction(0))
        done |= {name: whole * source.get(name, Fraction(0)) / both for name in ("add", "multiply") if both}
    factors = {name: done.get(name, Fraction(0)) / of_source for name, of_source in source.items() if of_source}
    return {name: Fraction(round(factor * 1000), 1000) for name, factor in factors.items()}


def _list_beside(
    source: SourceCounts, moves: Moves, calls: Fraction, passes: Fraction, span: Span | None
) -> Iterable[Arithmetic]:
    """Accesses of words that the path has in a pass beyond the source's. A call stores the address to return to, and
    its return loads it."""
    counted = (("load", moves.loads, moves.loaded), ("store", moves.stores, moves.stored))
    for kind, number, volume in counted:
        bytes_of_pass = (volume + STACK_WORD * calls) / passes
        more = bytes_of_pass - source.moved.get(kind, Fraction(0))
        if more > LEAST * bytes_of_pass:
            size = 4 if volume < 6 * number else 8
            words = Fraction(round(more / size * 1000), 1000)
            yield Arithmetic(BESIDE[kind], str(size), 1, span, v.scale(v.ONE, words))
