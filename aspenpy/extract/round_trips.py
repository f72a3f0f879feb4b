"""Round trips to memory: how often the warps of a block wait for loads, one time after the other.

Loads that nothing waits for in between are under way at once, and count as one trip: up to a barrier, to a load whose
address another load brings, and to a store that may overlap what is loaded behind it, where pointers are not
`__restrict__` (a multiprocessor begins the instructions of a warp in order: Volkov, "Better Performance at Lower
Occupancy", GTC 2010). Passes of an innermost loop are taken to be written out by the compiler: all of few, four of
others, or as many as its `#pragma unroll` says (CUDA C++ Programming Guide, "#pragma unroll"; four is assumed).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeGuard

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import (
    ISSUED,
    MEETING,
    NEAR_TRIP,
    ROUND_TRIP,
    STEP,
    Alternative,
    Arithmetic,
    Array,
    Guard,
    Item,
    MemoryAccess,
    MessageStatement,
    Nest,
    rewrite_inside,
    walk_items,
)
from aspenpy.extract.device_functions import SHARED
from aspenpy.extract.scope import unknown_symbols
from aspenpy.extract.values import ONE, ZERO, Value
from aspenpy.record import Record

MOST_REGISTERS = 65536
"""Registers of a multiprocessor, of which threads have equal parts (CUDA C++ Programming Guide, "Launch Bounds")."""

FEW_PASSES, PASSES_TOGETHER = 16, 4
"""Known passes of a loop up to which all are written out, and how many of other loops are."""

TRIPS = (ROUND_TRIP, NEAR_TRIP, MEETING, STEP)
"""Classes of waits of a warp, by which a block stays for the longest of its warps."""

WHOLE_BLOCK = ("__syncthreads", "sync")
"""Barriers at which all warps of a block wait for each other."""

_UNROLL = re.compile(r"unroll\b\s*+\(?\s*+(\d*+)")


def is_on_chip(array: str, arrays: Mapping[str, Array]) -> bool:
    """Whether an array is shared memory, or a thread's own."""
    return array.startswith(SHARED) or arrays[array].hold == "local"


class RoundTrips:
    """Counts the trips of one kernel to arrays that do not lie on the chip, or those to shared memory that `is_near`;
    stores keep loads behind them where its pointers `may_overlap`, and always in shared memory."""

    def __init__(self, arrays: Mapping[str, Array], may_overlap: bool, is_near: bool = False) -> None:
        self.arrays, self.may_overlap, self.is_near = arrays, may_overlap or is_near, is_near
        self.kind = NEAR_TRIP if is_near else ROUND_TRIP

    def is_elsewhere(self, array: str) -> bool:
        """Whether trips to an array are not counted here: those to a thread's own never are."""
        return not array.startswith(SHARED) if self.is_near else is_on_chip(array, self.arrays)

    def add(self, items: list[Item]) -> list[Item]:
        """The items with one for each trip, in front of what comes behind it."""
        found: list[Item] = []
        is_open = False
        for item in items:
            loads, orders, inner = self._look_at(item)
            if inner is not None:
                found += [self._trip(item)] if is_open else []
                found.append(inner)
                is_open = False
                continue
            if is_open and loads > 1:  # its address is what the loads before it bring
                found.append(self._trip(item))
            is_open = is_open or loads > 0
            if is_open and orders:
                found.append(self._trip(item))
                is_open = False
            found.append(item)
        return [*found, *([self._trip(items[-1])] if is_open else [])]

    def _trip(self, before: Item) -> Arithmetic:
        return Arithmetic(self.kind, "", span=before.span)

    def _look_at(self, item: Item) -> tuple[int, bool, Item | None]:
        """Whether an item loads (2 where data decide the address), whether loads behind it wait for those before, and
        the item with the trips inside it if it has loops."""
        if isinstance(item, MessageStatement):
            return 0, item.resource == "barrier", None
        if isinstance(item, Nest):
            return 0, True, self._write_out(item.replace(body=self.add(item.body)))
        if isinstance(item, Alternative):
            if any(isinstance(inner, Nest) for inner in walk_items([item])):
                return 0, True, item.replace(then=self.add(item.then), otherwise=self.add(item.otherwise))
            looked = [self._look_at(inner) for inner in (*item.then, *item.otherwise)]
            return max((loads for loads, _, _ in looked), default=0), any(orders for _, orders, _ in looked), None
        if not isinstance(item, MemoryAccess) or self.is_elsewhere(item.array):
            return 0, False, None
        if item.kind == "store" or item.atomic:
            return 0, self.may_overlap, None
        by_data = item.indirect or item.offset is None or bool(unknown_symbols(item.offset))
        return 2 if by_data else 1, False, None

    def _write_out(self, nest: Nest) -> Nest:
        """A loop several passes of which make their trips together."""
        trips = [item for item in nest.body if isinstance(item, Arithmetic) and item.name == self.kind]
        is_plain = len(trips) == 1 and not any(self._separates(item) for item in walk_items(nest.body))
        together = _passes_together(nest) if is_plain else ONE
        if together is None or v.number(together) == 1:
            return nest
        times = v.ratio(ONE, together)
        return nest.replace(body=[item.replace(times=times) if item in trips else item for item in nest.body])

    def _separates(self, item: Item) -> bool:
        if isinstance(item, Nest):
            return True
        if isinstance(item, MemoryAccess):
            return self._look_at(item)[1]
        return isinstance(item, MessageStatement)


def select_longest(items: list[Item], sizes: Mapping[Expr, Value]) -> list[Item]:
    """The trips alone of loops over threads, as many for each as one has for which conditions that are linear in its
    indices hold if they do for any of its block: a block stays until its last warp is done. Indices have `sizes`."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, Nest):
            found.append(item.replace(body=select_longest(item.body, sizes)))
        elif isinstance(item, Alternative):
            guards = tuple(guard.replace(value=_find_largest(guard, sizes)) for guard in item.guards)
            then, otherwise = (select_longest(side, sizes) for side in (item.then, item.otherwise))
            found.append(item.replace(guards=guards, then=then, otherwise=otherwise))
        elif _is_trip(item):
            found.append(item)
    return found


def _find_largest(guard: Guard, sizes: Mapping[Expr, Value]) -> Value:
    """The largest value of a condition among threads, where it says at least 0 and is linear in their indices."""
    value = guard.value
    for index, size in sizes.items() if guard.operator == ">=" else ():
        start, step = v.linear_parts(value, index) or (value, ZERO)
        slope = v.number(step)
        if slope is not None and not v.has_symbol(start, index):
            value = start if slope <= 0 else v.add(start, v.multiply(step, v.subtract(size, ONE)))
    return value


def lengthen_trips(items: list[Item], factor: Fraction) -> list[Item]:
    """Items whose trips count `factor` times: those of some threads of a block as if all made them."""
    return [
        item.replace(times=v.scale(item.times or ONE, factor))
        if _is_trip(item)
        else rewrite_inside(item, lambda inner: lengthen_trips(inner, factor))
        for item in items
    ]


def has_trips(items: list[Item]) -> bool:
    return any(map(_is_trip, walk_items(items)))


def _is_trip(item: Item) -> TypeGuard[Arithmetic]:
    return isinstance(item, Arithmetic) and item.name in TRIPS


def add_meetings(items: list[Item]) -> list[Item]:
    """Items with what the threads of a block wait for each other at its barriers."""
    found: list[Item] = []
    for item in items:
        found.append(rewrite_inside(item, add_meetings))
        if isinstance(item, MessageStatement) and item.resource == "barrier" and item.note in WHOLE_BLOCK:
            found.append(Arithmetic(MEETING, span=item.span))
    return found


def add_instructions(items: list[Item], arrays: Mapping[str, Array], in_loop: bool = False) -> list[Item]:
    """Items with the instructions that a warp issues for them: one for each load, store, operation, exchange and
    barrier. Outside of loops each waits for the one before (Volkov, "Understanding Latency Hiding on GPUs", chapter 4);
    of loops, passes that are written out overlap. What a loop does on whole numbers is left out: compilers turn its
    counters and addresses into sums that passes share, and loads state a distance of their own (PTX ISA, "Addresses as
    Operands")."""
    found: list[Item] = []
    number = 0
    for item in items:
        if isinstance(item, Nest):
            found.append(item.replace(body=add_instructions(item.body, arrays, in_loop=True)))
        elif isinstance(item, Alternative):
            found.append(rewrite_inside(item, lambda inner: add_instructions(inner, arrays, in_loop)))
        else:
            found.append(item)
            if isinstance(item, MemoryAccess):
                number += item.array.startswith(SHARED) or not is_on_chip(item.array, arrays)
            elif isinstance(item, Arithmetic):
                number += item.times is None and not (item.name == "integer" and in_loop)
            else:
                number += isinstance(item, MessageStatement)
    kinds = (ISSUED,) if in_loop else (ISSUED, STEP)
    return [*(Arithmetic(kind, "", number) for kind in kinds if number), *found]


def _passes_together(nest: Nest) -> v.Value | None:
    """Number of passes of a loop that a compiler writes out as one."""
    passes = v.whole_number(nest.bounds[0]) if len(nest.bounds) == 1 else None
    said = next((match for pragma in nest.pragmas if (match := _UNROLL.match(pragma.strip()))), None)
    if said is not None and said[1]:
        number = max(1, int(said[1]))
    else:
        number = PASSES_TOGETHER if passes is None or (passes > FEW_PASSES and said is None) else max(1, passes)
    if passes:  # the last ones take a trip of their own
        return constant_polynomial(Fraction(passes, -(-passes // number)))
    return constant_polynomial(number)


class LaunchBounds(Record):
    """The most threads of a block, and the fewest blocks on a multiprocessor, that a kernel promises."""

    threads: int | None = None
    blocks: int | None = None

    @property
    def registers(self) -> int | None:
        """The most registers that each thread may have."""
        return None if not self.threads else max(1, MOST_REGISTERS // (self.threads * (self.blocks or 1)))


def find_launch_bounds(pragmas: tuple[str, ...], macros: tuple[r.Macro, ...]) -> LaunchBounds:
    """The bounds that `__launch_bounds__` states, by numbers or names of numbers."""
    text = next((pragma for pragma in pragmas if pragma.startswith("launch_bounds(")), "launch_bounds()")
    words = (word.strip() for word in text.removeprefix("launch_bounds(").removesuffix(")").split(","))
    named = {macro.name: macro.value for macro in macros}
    numbers = [int(word) if word.isdigit() else named.get(word) for word in words]
    return LaunchBounds(*numbers[:2])


def may_overlap(function: r.Function) -> bool:
    """Whether a compiler has to take it that pointers of a kernel point into the same memory."""
    return any(formal.type.kind == "pointer" and not formal.type.restrict for formal in function.formals)
