"""The text of a launch: a block of the model with an instance for each block of the grid.

Where the language has no word, the text has what costs as much: shared memory as accesses that the first
cache always has, once for each wavefront; stores of several warps that meet in the second cache as loads of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from fractions import Fraction
from itertools import pairwise

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.atomics import BANK, BANKS, MOST_PIECES, PIECE
from aspenpy.extract.blocks import BlockAccess, BlockSummary, Event, OperationCount, list_events
from aspenpy.extract.costs import (
    BEHIND,
    CUT,
    CYCLES,
    FIRST,
    ISSUED,
    LIBRARY,
    LINKS,
    MEETING,
    NEAR_TRIP,
    RESTARTED,
    ROUND_TRIP,
    ROWS,
    STEP,
    WAITING,
    WRONG,
    Item,
    Meaning,
    MemoryAccess,
    Nest,
    called_function,
    walk_items,
)
from aspenpy.extract.device import is_grid, is_threads
from aspenpy.extract.device_functions import SHARED
from aspenpy.extract.naming import Naming, source_line, write_comments
from aspenpy.extract.round_trips import TRIPS, select_longest
from aspenpy.extract.scope import unknown_symbols
from aspenpy.extract.triangles import CounterRange
from aspenpy.extract.values import ONE, ZERO, Value
from aspenpy.extract.warps import Divergence, LaunchFacts, WarpAccess
from aspenpy.language.diagnostics import warning
from aspenpy.record import Record

RESIDENT = "rd(0), warm"
"""The pattern of words that the first cache, or the shared memory beside it, always has."""

IN_SECOND_CACHE = "gather(1 MiB), shared, warm"


MOST_POINTS = 32
"""Words of a load at several places of which each has its own."""

LOOKUPS = 2
"""Cycles of the first cache for a request of a warp at least: a product of matrices whose threads lie beside each other
takes 4.1 cycles of a V100 for two loads that the first cache has (SGEMM_CUDA, kernel 2). This is told of words that
threads or warps share, on NVIDIA's devices; others wait for farther levels."""

_WAYS = {ROUND_TRIP: "load", NEAR_TRIP: "scratchpad", MEETING: "barrier", STEP: "integer"}
"""What the warps of a block wait for, in the language."""

ASSUMED_REGISTERS, BY_COMPILER = 32, "assumed, as many as leave room for all warps; `nvcc -Xptxas -v` says them"


class GroupedAccess(Record):
    """Accesses of one kind to an array in one order; `replays` are what the first cache serves beyond them,
    `meeting` the sectors of stores that meet in the second one, `begins` where they begin, from the first of them on,
    `outer` the loops of the grid, and `others` where words lie beside those of the first access."""

    kind: str
    array: str
    size: int
    words: Value
    strides: tuple[tuple[object, object], ...]
    anywhere: bool
    replays: Value = ZERO
    meeting: Value = ZERO
    is_shared_by_blocks: bool = False
    offset: Value | None = None
    begins: frozenset[Fraction] = frozenset((Fraction(0),))
    outer: tuple[tuple[object, object], ...] = ()
    first_words: Value = ZERO
    others: tuple[Value, ...] | None = ()

    def add_place(self, access: BlockAccess) -> GroupedAccess:
        """Adds the place of another access; drops all places where it has other words, or data say where it lies."""
        if self.offset is None or access.offset is None or self.others is None:
            return self.replace(others=None)
        apart = v.subtract(access.offset, self.offset)
        if not v.is_same(access.words, self.first_words) or v.counters(apart) or unknown_symbols(apart):
            return self.replace(others=None)
        is_known = any(v.is_same(apart, known) for known in (ZERO, *self.others))
        return self if is_known else self.replace(others=(*self.others, apart))


class LaunchText:
    """Writes one launch in the kernel that `naming` names things for; `facts` are those of its warps."""

    def __init__(self, naming: Naming, nest: Nest, facts: LaunchFacts | None) -> None:
        self.naming, self.nest = naming, nest
        self.facts = facts or LaunchFacts("", None, {})
        self.measured, self.shape = self.facts.accesses, self.facts.shape
        self.grid = list(_list_grid(nest))
        self.depth = sum(1 for _ in _list_threads(nest.body))
        self.is_kept: list[bool] = []
        self.in_grid = False
        self.fused = ZERO
        self.blocks = ONE
        for each in self.grid:
            self.blocks = v.multiply(self.blocks, each.bounds[0])

    def write(self) -> list[str]:
        """The block of the launch. Raises `NoClosedForm`."""
        summary = BlockSummary(self.naming.counter, self.naming.names, True)
        amounts = summary.sum_amounts([self.nest])
        lines = [*self._write_operations(amounts.operations), *self._write_accesses(summary, amounts.accesses)]
        lines += [*self._write_trips(amounts.operations)] if lines else []
        if not lines:
            return []
        blocks = self.naming.write_formula(self.blocks)
        blocks = blocks if _is_whole(self.blocks) else f"ceil({blocks})"
        return [*write_comments(self.nest.comment, None), *self._write_remarks(), f"execute [{blocks}] {{", *lines, "}"]

    def _each(self, amount: Value) -> str:
        """The part of an amount that each block of the grid has."""
        return self.naming.write_formula(v.ratio(amount, self.blocks))

    # -- operations --------------------------------------------------------------------------------

    def _write_operations(self, operations: tuple[OperationCount, ...]) -> Iterator[str]:
        """Operations on all lanes; as many products and sums as there are pairs of are fused, as nvcc does unless told
        otherwise (CUDA C++ Programming Guide, section 13: `-fmad=true`)."""
        done = {(each.name, each.precision): each.amount for each in operations}
        for (name, precision), amount in list(done.items()):
            if name in (CYCLES, WAITING, RESTARTED, CUT, ROWS, LINKS, WRONG, BEHIND, FIRST, LIBRARY, ISSUED, *TRIPS):
                continue
            if name == "integer":
                if self.naming.writer.options.integers:
                    yield f"intops [{self._each(amount)}]"
            elif function := called_function(name):
                each = self.naming.names.find_library_flops(function)
                yield f"flops [{self._each(v.multiply(amount, each))}] as {precision or 'sp'}, simd  // {name}"
            elif name == "tensor":
                yield f"flops [{self._each(amount)}] as tensor, {precision}"
            elif name == "multiply" and (added := done.get(("add", precision))) is not None:
                fused = _find_smaller(amount, added)
                self.fused = v.add(self.fused, fused)
                yield f"flops [{self._each(v.scale(fused, 2))}] as {precision}, simd, fmad"
                for rest in (v.subtract(amount, fused), v.subtract(added, fused)):
                    if rest.terms:
                        yield f"flops [{self._each(rest)}] as {precision}, simd"
            elif name != "add" or ("multiply", precision) not in done:
                kind = f"{name}, " if name in ("divide", "square_root") else ""
                yield f"flops [{self._each(amount)}] as {kind}{precision}, simd"

    def _write_trips(self, operations: tuple[OperationCount, ...]) -> Iterator[str]:
        """Waits of the warps of a block that has the most, with what it takes of a multiprocessor, and instructions of
        all its warps."""
        trips = {each.name: each.amount for each in operations if each.name in TRIPS}
        threads, sizes = ONE, dict[Expr, Value]()
        for each in _list_threads(self.nest.body):
            threads = v.multiply(threads, each.bounds[0])
            sizes[each.counter] = each.bounds[0]
        if trips:
            summary = BlockSummary(self.naming.counter, self.naming.names, True)
            longest = summary.sum_amounts(select_longest([self.nest], sizes)).operations
            trips |= {each.name: each.amount for each in longest if each.name in TRIPS}
        taken = ", ".join(map(self.naming.write_formula, (threads, self.facts.scratchpad, self._find_registers())))
        for kind, way in _WAYS.items():
            if kind in trips or kind == ROUND_TRIP:
                links = self._each(v.ratio(trips.get(kind, ZERO), threads))
                together = self._count_together() if kind == ROUND_TRIP else 1
                way = f"{way}, together({together})" if together > 1 else way
                yield f"chain [{links}] as {way}, occupancy({taken})"
        issued = next((each.amount for each in operations if each.name == ISSUED), ZERO)
        issued = v.subtract(issued, self.fused)
        if issued.terms:
            yield f"issues [{self._each(v.scale(issued, Fraction(1, self.shape.threads)))}]"

    def _count_together(self) -> int:
        """Number of warps of a block to each that asks for other sectors, by the load for which most do: the rest wait
        side by side with it, or load nothing."""
        threads = self.facts.threads
        asking = [
            each.warps * each.block_sectors / each.sectors
            for each in self.measured.values()
            if each.kind == "load" and each.sectors and each.block_sectors
        ]
        warps = 0 if threads is None else -(-threads // self.shape.threads)
        return max(1, int(warps / max(asking))) if asking else 1

    def _find_registers(self) -> Value:
        """The parameter for the registers of a thread, which the compiler alone knows."""
        name, most = self.facts.name, self.facts.bounds.registers
        number = ASSUMED_REGISTERS if most is None else max(1, min(ASSUMED_REGISTERS, most))
        meaning = Meaning(f"registers of a thread of {name}")
        value = constant_polynomial(number)
        names = self.naming.names
        return names.add_hole(f"{name}_registers", meaning, value, self.facts.span, low=1, rule=BY_COMPILER)

    # -- accesses ----------------------------------------------------------------------------------

    def _write_accesses(self, summary: BlockSummary, accesses: tuple[BlockAccess, ...]) -> Iterator[str]:
        totals: dict[object, Value] = {}
        events = [event for event in list_events([self.nest]) if isinstance(event.item, MemoryAccess)]
        yield from self._write_updates(summary, events, totals)
        groups = self._group(accesses, self._sum_extra(summary, events, totals))
        ordered = [group.strides for group in groups if group.strides]
        self.is_kept = [
            any(not _is_one(loops[at][1]) for loops in ordered) for at in range(max(map(len, ordered), default=0))
        ]
        places = {place for group in groups if (place := self._find_piece_place(group)) is not None}
        self.in_grid = all(group.anywhere or self._has_place_in_grid(group) for group in groups)
        for group in groups:
            name = self.naming.name_array(group.array)
            direction = "from" if group.kind == "load" else "to"
            way = f"of size [{group.size}] {direction} {name}"
            if group.array.startswith(SHARED) or self._is_private(group.array):
                words = v.add(group.words, group.replays)
                yield f"{group.kind}s [{self._each(words)}] {way} as {RESIDENT}"
                continue
            words, again = group.words, ZERO
            if points := self._find_points(group):  # the compiler keeps what is loaded from one of them again
                words = v.scale(group.first_words, len(points))
                again = v.subtract(group.words, words)
            yield f"{group.kind}s [{self._each(words)}] {way} as {self._write_order(group, places, points)}"
            if again.terms:
                yield f"{group.kind}s [{self._each(again)}] {way} as {RESIDENT}"
            if group.replays.terms:
                yield f"loads [{self._each(group.replays)}] of size [{self.shape.line}] from {name} as {RESIDENT}"
            if group.meeting.terms:
                size = self.shape.sector
                yield f"loads [{self._each(group.meeting)}] of size [{size}] from {name} as {IN_SECOND_CACHE}"

    def _write_updates(self, summary: BlockSummary, events: list[Event], totals: dict[object, Value]) -> Iterator[str]:
        """Cycles of the part of the second cache that atomic operations on an array meet in, all blocks at once."""
        cycles: dict[str, Value] = {}
        for event in events:
            measured = self.measured.get(id(event.item))
            if measured is None or not measured.threads or measured.updates is None:
                continue
            volume = constant_polynomial(1) if measured.is_one_word else self.naming.find_volume(measured.array)
            if volume is None:
                message = "threads of this atomic operation may meet: the source does not say in how many bytes"
                hint = "it counts as a load and a store, without the wait"
                self.naming.names.diagnostics.append(warning("not-priced", message, measured.span, hint=hint))
                continue
            pieces = v.ceil_quotient(volume, constant_polynomial(PIECE))
            if (v.number(pieces) or 0) <= MOST_PIECES:
                each = v.scale(summary.count_event(event, totals), measured.updates / measured.threads)
                cycles[measured.array] = v.add(cycles.get(measured.array, ZERO), v.ratio(each, pieces))
        blocks = self.naming.write_formula(self.blocks)
        for array, amount in cycles.items():
            yield f"atomics [{self._each(amount)}] as contended({blocks})  // on {self.naming.name_array(array)}"

    def _is_private(self, array: str) -> bool:
        """Whether an array is a thread's own, in its registers or in local memory that the first cache holds."""
        return self.naming.names.arrays[array].hold == "local"

    def _sum_extra(
        self, summary: BlockSummary, events: list[Event], totals: dict[object, Value]
    ) -> dict[tuple[str, str, int], tuple[Value, Value]]:
        """Beyond the words themselves: what the first cache serves and what meets in the second one, by access."""
        found: dict[tuple[str, str, int], tuple[Value, Value]] = {}
        for event in events:
            item = event.item
            assert isinstance(item, MemoryAccess)
            measured = self.measured.get(id(item))
            if measured is None or not measured.threads:
                continue
            replays, meeting = _extra_of_word(measured)
            words = summary.count_event(event, totals)
            key = (item.kind, item.array, item.size)
            first, second = found.get(key, (ZERO, ZERO))
            found[key] = v.add(first, v.scale(words, replays)), v.add(second, v.scale(words, meeting))
        return found

    def _group(
        self, accesses: tuple[BlockAccess, ...], extra: Mapping[tuple[str, str, int], tuple[Value, Value]]
    ) -> list[GroupedAccess]:
        groups: dict[object, GroupedAccess] = {}
        left = dict(extra)
        for access in accesses:
            loops = () if access.pattern is None else access.pattern.loops
            inner = loops[: len(loops) - len(self.grid)] if access.pattern and not access.pattern.anywhere else ()
            is_on_chip = access.array.startswith(SHARED) or self._is_private(access.array)
            place = None if is_on_chip else access.pattern and access.pattern.key()
            key = (access.kind, access.array, access.size, place)
            if key in groups:
                first = groups[key].offset
                apart = None if first is None or access.offset is None else v.distance(access.offset, first)
                begins = groups[key].begins | ({apart} if apart is not None else set())
                words = v.add(groups[key].words, access.words)
                groups[key] = groups[key].replace(words=words, begins=begins).add_place(access)
                continue
            replays, meeting = left.pop((access.kind, access.array, access.size), (ZERO, ZERO))
            outer = loops[len(inner) :]
            groups[key] = GroupedAccess(
                access.kind,
                access.array,
                access.size,
                access.words,
                strides=inner,
                anywhere=access.pattern is None or access.pattern.anywhere,
                replays=replays,
                meeting=meeting,
                is_shared_by_blocks=any(_stays(stride) for stride, trips in outer if not _is_one(trips)),
                offset=access.offset,
                first_words=access.words,
                outer=tuple((stride, trips) for stride, trips in outer if not _is_one(trips)),
            )
        return list(groups.values())

    def _has_place_in_grid(self, group: GroupedAccess) -> bool:
        """Whether loops say where each block of the grid finds the data of an access, if it is one of the device's
        memory."""
        if group.array.startswith(SHARED) or self._is_private(group.array):
            return True
        parts = [part for loop in (*group.strides, *group.outer) for part in loop]
        return bool(group.outer) and not group.anywhere and not any(isinstance(part, CounterRange) for part in parts)

    def _find_points(self, group: GroupedAccess) -> tuple[Value, ...]:
        """Bytes from the loops of loads to each of their words, such as the points of a stencil."""
        others = group.others or ()
        is_walk = self.in_grid and group.kind == "load" and 0 < len(others) < MOST_POINTS
        return (ZERO, *others) if is_walk and self._find_piece_place(group) is None else ()

    def _write_order(self, group: GroupedAccess, places: Set[int], points: tuple[Value, ...]) -> str:
        """The order of an access in a block, neighbours first: its warps' sectors are told apart elsewhere. All have
        loops at the `places` where one has pieces."""
        is_shared = group.is_shared_by_blocks or group.anywhere  # all blocks draw from one table
        shared = ", shared" if is_shared and group.kind == "load" else ""
        if group.anywhere:
            return f"random{shared}"
        if any(isinstance(part, CounterRange) for loop in group.strides for part in loop):
            return "stream"
        loops, own = self._list_loops(group), self._find_piece_place(group)
        pieces = [loop for at, loop in enumerate(loops) if self.is_kept[at]]
        kept: list[tuple[object, object]] = []
        for place in range(len(pieces) + 1):
            if place in places:
                kept.append(_loop_over_pieces(group) if place == own else (ZERO, ONE))
            kept += pieces[place : place + 1]
        kept = kept or [(constant_polynomial(group.size), ONE)]
        texts = [self.naming.write_formula(part) for loop in kept for part in loop]  # type: ignore[arg-type]
        threads = (stride for stride, trips in loops[: self.depth] if not _stays(stride) and not _is_one(trips))
        moving = next(threads, None)
        is_streaming = group.kind == "store" and (moving is None or _is_size(moving, group.size))
        around = ""
        if points:
            around = f", offsets({', '.join(map(self.naming.write_formula, points))})"
        if self.in_grid:
            steps = [self.naming.write_formula(part) for loop in group.outer for part in loop]  # type: ignore[arg-type]
            around += f", grid({', '.join(steps)})"
        return f"nest({', '.join(texts)}){around}{shared}{', streaming' if is_streaming else ''}"

    def _list_loops(self, group: GroupedAccess) -> list[tuple[object, object]]:
        """The loops of an access within a block, over threads first, neighbours innermost."""
        return [*sorted(group.strides[: self.depth], key=_by_stride), *group.strides[self.depth :]]

    def _find_piece_place(self, group: GroupedAccess) -> int | None:
        """The place of a loop over pieces of an array that lie apart, where all of them lie within a step of the loops
        around it, so that no other block touches them."""
        begins = sorted(group.begins)
        if len(begins) < 2 or group.anywhere:
            return None
        loops = [loop for at, loop in enumerate(self._list_loops(group)) if self.is_kept[at]]
        around = [(stride, ONE) for stride, _ in group.outer]
        numbers = [_find_number(part) for loop in [*loops, *around] for part in loop]
        if None in numbers:
            return None
        whole = [number for number in numbers if number is not None]
        step = min(after - before for before, after in pairwise(begins))
        far, extent = begins[-1] - begins[0], Fraction(group.size)
        for place in range(len(loops)):
            stride, trips = abs(whole[2 * place]), whole[2 * place + 1]
            if step >= extent and far < stride:
                return place
            extent += stride * (trips - 1)
        steps = [abs(stride) for stride in whole[2 * len(loops) :: 2] if stride]
        return len(loops) if step >= extent and far < min(steps, default=far + 1) else None

    # -- remarks -----------------------------------------------------------------------------------

    def _write_remarks(self) -> Iterator[str]:
        """Comments on requests of warps that take more than the fewest sectors or wavefronts."""
        seen: set[str] = set()
        for item in walk_items([self.nest]):
            access = self.measured.get(id(item))
            if access is None:
                continue
            text = describe_access(access, self.naming.names.arrays[access.array].name)
            if text and text not in seen:
                seen.add(text)
                yield f"// {text}"
        for divergence in self.facts.divergences:
            text = describe_divergence(divergence)
            if text and text not in seen:
                seen.add(text)
                yield f"// {text}"


def describe_access(access: WarpAccess, array: str) -> str:
    """A remark on a request of warps; empty for one that takes the fewest sectors and wavefronts."""
    where = f" ({source_line(access.span)})" if access.span is not None else ""
    if not access.warps:
        return ""
    if access.sectors is not None and access.sectors > access.fewest_sectors:
        each, fewest = _mean(access.sectors, access.warps), _mean(Fraction(access.fewest_sectors), access.warps)
        size = access.shape.sector
        return f"{access.kind}s of {array}: a warp takes {each} sectors of {size} B, at best {fewest}{where}"
    if access.wavefronts is not None and access.wavefronts > access.fewest_wavefronts:
        each, fewest = _mean(access.wavefronts, access.warps), _mean(Fraction(access.fewest_wavefronts), access.warps)
        return f"{access.kind}s of {array}: banks serve a warp in {each} wavefronts, at best {fewest}{where}"
    return ""


def describe_divergence(divergence: Divergence) -> str:
    """A sentence on the share of a warp's threads that work under a condition; empty where all or none do."""
    if not divergence.warps or not divergence.idle:
        return ""
    each = float(Fraction(divergence.threads, divergence.warps))
    where = f" ({source_line(divergence.span)})" if divergence.span is not None else ""
    return f"{each:.4g} of {divergence.warp} threads of a warp work{where}"


def _loop_over_pieces(group: GroupedAccess) -> tuple[object, object]:
    begins = sorted(group.begins)
    step = min(after - before for before, after in pairwise(begins))
    return constant_polynomial(step), constant_polynomial(len(begins))


def _find_number(stride: object) -> Fraction | None:
    return None if isinstance(stride, CounterRange) else v.number(stride)  # type: ignore[arg-type]


def _mean(amount: Fraction, warps: int) -> str:
    return f"{float(amount / warps):.4g}"


def _extra_of_word(measured: WarpAccess) -> tuple[Fraction, Fraction]:
    """Words or lines per word of an access that the first cache serves beyond it, and sectors that meet in the second
    cache."""
    threads = measured.threads
    if measured.wavefronts is not None:
        slower = Fraction(measured.shape.line, BANKS * BANK)  # what the first cache serves in a cycle, of what banks do
        return max(Fraction(0), slower * measured.wavefronts / measured.fewest_wavefronts - 1), Fraction(0)
    if measured.sectors is None or measured.block_sectors is None or measured.lines is None:
        return Fraction(0), Fraction(0)
    if measured.kind == "store":
        return Fraction(0), max(Fraction(0), (measured.sectors - measured.block_sectors) / threads)
    is_shared = measured.sectors < measured.fewest_sectors or measured.block_sectors < measured.sectors
    fewest = LOOKUPS * measured.warps if is_shared and measured.shape.threads == 32 else 0
    lookups = max(measured.lines, Fraction(fewest))
    spare = lookups - Fraction(threads * measured.size, measured.shape.line)
    return max(Fraction(0), spare / threads), Fraction(0)


def _list_grid(nest: Nest) -> Iterator[Nest]:
    yield nest
    for item in nest.body:
        if is_grid(item) and isinstance(item, Nest):
            yield from _list_grid(item)


def _list_threads(items: list[Item]) -> Iterator[Nest]:
    """The loops over the threads of a block."""
    inner = next((item for item in walk_items(items) if is_threads(item)), None)
    while isinstance(inner, Nest) and is_threads(inner):
        yield inner
        inner = next((item for item in inner.body if is_threads(item)), None)


def _find_smaller(a: Value, b: Value) -> Value:
    """The smaller of two amounts, by their quotient or signs where those say it."""
    quotient = v.number(v.ratio(b, a)) if a.terms else None
    if quotient is not None:
        return a if quotient >= 1 else b
    return a if v.is_never_negative(v.subtract(b, a)) else v.extreme_of("min", (a, b))


def _is_whole(value: Value) -> bool:
    """Whether a formula is certainly a whole number."""
    return all(
        coefficient.denominator == 1
        and all(power > 0 and (base.kind == "symbol" or base.payload in ("floor", "ceil")) for base, power in monomial)
        for monomial, coefficient in value.terms.items()
    )


def _is_one(trips: object) -> bool:
    return not isinstance(trips, CounterRange) and v.number(trips) == 1  # type: ignore[arg-type]


def _stays(stride: object) -> bool:
    return not isinstance(stride, CounterRange) and not stride.terms  # type: ignore[attr-defined]


def _is_size(stride: object, size: int) -> bool:
    number = _find_number(stride)
    return number is not None and abs(number) == size


def _by_stride(loop: tuple[object, object]) -> tuple[bool, Fraction]:
    number = v.number(loop[0])  # type: ignore[arg-type]
    return number is None, abs(number or Fraction(0))
