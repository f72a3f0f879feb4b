"""Requests of the threads of a warp together: sectors, and wavefronts of shared memory.

A multiprocessor serves the loads or stores of a warp as one request. It moves sectors of 32 bytes (NVIDIA, CUDA C++
Best Practices Guide, section 10.2.1, "Coalesced Access to Global Memory"); the first cache looks up a line in a cycle
(a product of matrices in which each thread of a warp reads a row of its own takes 34 cycles a request on a V100).
Shared memory has 32 banks, each of which gives one word of 4 bytes in a cycle; threads that read one word share it, and
what meets in a bank otherwise waits (CUDA C++ Programming Guide, sections 16.4.3 and 16.5.3, "Shared Memory"). Requests
of 8 bytes a thread take half warps (Volkov, "Understanding Latency Hiding on GPUs", UCB/EECS-2016-143, chapter 2; for
16 bytes quarters).

AMD's compute units run wavefronts of 64 threads, whose first cache serves 64 bytes in a cycle; their local share has
32 banks, too, so that a wavefront takes two cycles at least (AMD, "AMD Instinct MI200" Instruction Set Architecture,
chapter 11; ROCm Compute Profiler's documentation, "Vector L1 cache" and "Local data share").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from math import ceil, gcd

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Monomial, Polynomial, constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.atomics import (
    AGGREGATED,
    BANK,
    BANKS,
    count_passes,
    count_updates,
    drop_stores_on_chip,
    expect_fullest,
)
from aspenpy.extract.blocks import Event, list_events
from aspenpy.extract.costs import (
    ISSUED,
    Alternative,
    Arithmetic,
    Array,
    Guard,
    Item,
    MemoryAccess,
    Nest,
    rewrite_inside,
    walk_items,
)
from aspenpy.extract.device import DeviceKernel
from aspenpy.extract.device_functions import SHARED
from aspenpy.extract.round_trips import LaunchBounds, has_trips, lengthen_trips
from aspenpy.extract.scope import unknown_symbols
from aspenpy.extract.values import ZERO, TooLong, Value
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span
from aspenpy.record import Record

MOST_SUBSTITUTED = 8_000
"""Threads of a launch at which addresses are looked at that have quotients and the like: they take long."""


class WarpShape(Record):
    """Threads of a warp; bytes of a sector, and of what the first cache serves in a cycle."""

    threads: int
    sector: int
    line: int


SHAPES = {32: WarpShape(32, 32, 128), 64: WarpShape(64, 64, 64)}
"""The warps of NVIDIA and the wavefronts of AMD, by their threads."""

MOST_THREADS = 1024
"""Threads of a block at most (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability")."""

MOST_PLACES, STARTS = 64, 128
"""Places at which accesses may begin, that are looked at, and the bytes behind which they are the same."""

WIDEST = 16
"""Bytes that a thread loads or stores at once at most."""

Lane = tuple[object, int | Fraction]
"""The part of a thread's address that depends on sizes, and its bytes."""


class WarpAccess(Record):
    """A load or store of the kernel, for a block of threads and on average over the passes of its loops: the warps that
    make it, their threads that do, the sectors that each warp asks for in all, the different ones of the block, the
    lines of the first cache in all, and the wavefronts of shared memory; of atomic operations the cycles of the second
    cache, and whether all are on one word. What the source does not say is None."""

    kind: str
    array: str
    size: int
    warps: int
    threads: int
    sectors: Fraction | None = None
    block_sectors: Fraction | None = None
    lines: Fraction | None = None
    wavefronts: Fraction | None = None
    updates: Fraction | None = None
    is_one_word: bool = False
    shape: WarpShape = SHAPES[32]
    span: Span | None = None

    @property
    def fewest_sectors(self) -> int:
        """Sectors that as many words need where they are neighbours."""
        return ceil(self.threads * self.size / self.shape.sector)

    @property
    def fewest_wavefronts(self) -> int:
        return max(self.warps, ceil(self.threads * self.size / (BANKS * BANK)))


class _Lanes:
    """The threads of a block by their indices, x fastest, and the warps that they make. What accesses of one order ask
    for is looked at once."""

    def __init__(self, threads: Mapping[Expr, int], shape: WarpShape, sizes: Mapping[Expr, Value]) -> None:
        self.threads, self.shape, self.sizes = threads, shape, sizes
        self.lanes = [  # of z, y, x
            dict(zip(threads, values, strict=True)) for values in product(*map(range, threads.values()))
        ]
        self._addresses: dict[object, list[Lane]] = {}
        self._holding: dict[object, frozenset[int]] = {}
        self._counts: dict[object, tuple[Fraction, ...]] = {}
        self.substituted, self.is_partial = 0, False

    def list_active(self, guards: Iterable[Guard], among: Iterable[int] | None = None) -> list[int]:
        """Threads for which conditions may hold: those on their own indices are certain."""
        active = list(range(len(self.lanes))) if among is None else list(among)
        for guard in guards:
            holding = self._find_holding(guard)
            active = [lane for lane in active if lane in holding]
        return active

    def _find_holding(self, guard: Guard) -> frozenset[int]:
        key = (guard.operator, v.value_key(guard.value))
        if key not in self._holding:
            try:
                placed = enumerate(self._place(guard.value))
                holding = frozenset(lane for lane, (rest, number) in placed if rest or _holds(guard, number))
            except TooLong:
                holding = frozenset(range(len(self.lanes)))
            self._holding[key] = holding
        return self._holding[key]

    def list_addresses(self, offset: Value) -> list[Lane]:
        """The address of each thread, but for what all threads have."""
        moving = _select_moving(offset, self.threads)
        key = v.value_key(moving)
        if key not in self._addresses:
            placed = self._place(moving)
            self._addresses[key] = [(rest, number - placed[0][1]) for rest, number in placed]
        return self._addresses[key]

    def _place(self, value: Value) -> list[Lane]:
        """A value at each thread: what depends on other symbols, and a number."""
        terms = [_split_term(monomial, coefficient, self.threads) for monomial, coefficient in value.terms.items()]
        if any(term is None for term in terms):
            return self._place_atoms(value)
        return [_sum_terms([term for term in terms if term is not None], lane) for lane in self.lanes]

    def _place_atoms(self, value: Value) -> list[Lane]:
        """A value with functions of the indices of threads, at each of them. Raises `TooLong` behind many of these."""
        if self.substituted > MOST_SUBSTITUTED:
            self.is_partial = True
            raise TooLong
        self.substituted += len(self.lanes)
        found: list[Lane] = []
        for lane in self.lanes:
            here = v.substitute(value, {symbol: constant_polynomial(at) for symbol, at in lane.items()})
            number = here.terms.get(_NUMBER, Fraction(0))
            found.append((frozenset(item for item in here.terms.items() if item[0] != _NUMBER), number))
        return found

    def find_warps(self, active: Iterable[int]) -> set[int]:
        return {lane // self.shape.threads for lane in active}

    def count_warps(self, active: Iterable[int]) -> int:
        return len(self.find_warps(active))

    def split_warps(self, offset: Value, active: Iterable[int]) -> list[list[Lane]]:
        """The addresses of active threads by warp."""
        addresses = self.list_addresses(offset)
        warps: dict[int, list[Lane]] = {}
        for lane in active:
            warps.setdefault(lane // self.shape.threads, []).append(addresses[lane])
        return list(warps.values())

    def count_pieces(self, offset: Value, size: int, active: list[int], starts: list[int]) -> tuple[Fraction, ...]:
        """Sectors of all warps, different ones of the block, and lines of all warps, on average over the places at
        which the first thread begins."""
        key = (v.value_key(_select_moving(offset, self.threads)), size, tuple(active), tuple(starts))
        if key not in self._counts:
            warps = self.split_warps(offset, active)
            together = [address for warp in warps for address in warp]
            sector, line = self.shape.sector, self.shape.line
            each = sum(count_sectors(warp, size, start, sector) for warp in warps for start in starts)
            whole = sum(count_sectors(together, size, start, sector) for start in starts)
            lines = sum(count_sectors(warp, size, start, line) for warp in warps for start in starts)
            self._counts[key] = tuple(Fraction(count, len(starts)) for count in (each, whole, lines))
        return self._counts[key]


def _make_lanes(kernel: DeviceKernel, shape: WarpShape, named: Mapping[Expr, Value]) -> _Lanes | None:
    """The threads of a block; None where their number is a formula, or more than a block has."""
    sizes = [v.whole_number(nest.bounds[0]) for nest in kernel.threads]
    if any(size is None for size in sizes) or (kernel.block_threads() or 1) > MOST_THREADS:
        return None
    return _Lanes(dict(zip(kernel.counters, (int(size or 1) for size in sizes), strict=True)), shape, named)


def measure_accesses(lanes: _Lanes, items: list[Item], arrays: Mapping[str, Array]) -> dict[int, WarpAccess]:
    """Requests of the warps of a block, by the `id` of the access that makes them."""
    found: dict[int, WarpAccess] = {}
    for event in list_events(items, most=2):
        item = event.item
        if isinstance(item, MemoryAccess):
            measured = _measure(event, item, lanes)
            is_update = item.atomic and item.kind == "load" and measured.threads
            found[id(item)] = _measure_updates(measured, event, item, lanes, arrays) if is_update else measured
    return found


def _find_active(event: Event, lanes: _Lanes) -> list[int]:
    """Threads that may make an access: those for which its conditions hold, but not what it is the other side of."""
    if not event.terms:
        return lanes.list_active(())
    (amount, guards), *others = event.terms
    active = lanes.list_active(guards)
    for less, held in others:
        if v.is_same(less, -amount) and all(v.symbols(guard.value) <= lanes.threads.keys() for guard in held):
            active = sorted({*active} - {*lanes.list_active(held, active)})
    return active


def _measure_updates(
    measured: WarpAccess, event: Event, access: MemoryAccess, lanes: _Lanes, arrays: Mapping[str, Array]
) -> WarpAccess:
    """An atomic operation with what its threads wait for each other, as far as the source says where they meet."""
    active = _find_active(event, lanes)
    by_data = access.offset is None or bool(unknown_symbols(access.offset))
    volume, whole = arrays[access.array].volume, Fraction(len(active))
    bins = None if volume is None else v.whole_number(v.scale(volume, Fraction(1, access.size)))
    if access.array.startswith(SHARED):
        if by_data or access.offset is None:
            fullest = expect_fullest(BANKS, min(bins, BANKS)) if bins else expect_fullest(BANKS, BANKS)
            return measured.replace(wavefronts=whole / BANKS * fullest * max(1, access.size // BANK))
        offset = v.substitute(access.offset, lanes.sizes) if lanes.sizes else access.offset
        together = (count_passes(warp, access.size) for warp in lanes.split_warps(offset, active))
        return measured.replace(wavefronts=Fraction(sum(together)))
    if by_data or access.offset is None:
        return measured.replace(updates=whole)
    try:
        warps = lanes.split_warps(access.offset, active)
    except TooLong:
        return measured
    sector = lanes.shape.sector
    updates = sum(count_updates(warp, sector) for warp in warps)
    is_alike = {*lanes.list_addresses(access.offset)} == {_NO_DISTANCE}
    if is_alike and access.atomic in AGGREGATED and not access.precision:
        updates = len(warps)
    return measured.replace(updates=Fraction(updates), is_one_word=is_alike and not v.counters(access.offset))


def _measure(event: Event, access: MemoryAccess, lanes: _Lanes) -> WarpAccess:
    active = _find_active(event, lanes)
    warps = lanes.count_warps(active)
    result = WarpAccess(access.kind, access.array, access.size, warps, len(active), shape=lanes.shape, span=access.span)
    if access.offset is None or not active or unknown_symbols(access.offset):
        return result  # the program's data say where each thread reads
    try:
        if access.array.startswith(SHARED):
            offset = v.substitute(access.offset, lanes.sizes) if lanes.sizes else access.offset
            together = (count_wavefronts(warp, access.size) for warp in lanes.split_warps(offset, active))
            return result.replace(wavefronts=Fraction(sum(together)))
        starts = _list_starts(access.offset, event.nests, lanes.threads)
        sectors, of_block, lines = lanes.count_pieces(access.offset, access.size, active, starts)
    except TooLong:
        return result
    return result.replace(sectors=sectors, block_sectors=of_block, lines=lines)


def count_sectors(lanes: Sequence[Lane], size: int, start: int = 0, of: int = 32) -> int:
    """Sectors, or pieces of another size, that some addresses of words lie in, from an address in a line on."""
    return len({
        (key, place)
        for key, at in lanes
        for place in range(int(at + start) // of, int(at + start + size - 1) // of + 1)
    })  # fmt: skip


def count_wavefronts(lanes: Sequence[Lane], size: int) -> int:
    """Cycles that shared memory takes for a warp: of the words of 4 bytes in a bank, one in each. A thread has at most
    16 bytes at once, as `ldmatrix` moves them (PTX ISA, "Warp-level matrix load instruction")."""
    if size > WIDEST:
        pieces = range(0, size, WIDEST)
        return sum(count_wavefronts([(key, at + piece) for key, at in lanes], WIDEST) for piece in pieces)
    part = max(1, BANKS * BANK // max(size, BANK))
    waves = 0
    for first in range(0, len(lanes), part):
        words = {
            (key, word)
            for key, at in lanes[first : first + part]
            for word in range(int(at) // BANK, int(at + size - 1) // BANK + 1)
        }
        held: dict[int, int] = {}
        for _, word in words:
            held[word % BANKS] = held.get(word % BANKS, 0) + 1
        waves += max(held.values(), default=0)
    return waves


_NUMBER = next(iter(constant_polynomial(1).terms))
_NO_DISTANCE: Lane = (frozenset(), 0)

_Term = tuple[int | Fraction, list[tuple[Expr, int]], Monomial]
"""A coefficient, indices of threads with their powers, and the rest of a term."""


def _select_moving(value: Value, threads: Mapping[Expr, int]) -> Value:
    """The terms of a value that depend on the indices of threads."""
    return Polynomial({
        monomial: coefficient
        for monomial, coefficient in value.terms.items()
        if any(_depends(base, threads) for base, _ in monomial)
    })  # fmt: skip


def _depends(base: Expr, threads: Mapping[Expr, int]) -> bool:
    return base in threads or (base.kind != "symbol" and not graph.free_symbols(base).isdisjoint(threads))


def _split_term(monomial: Monomial, coefficient: Fraction, threads: Mapping[Expr, int]) -> _Term | None:
    """A term by its parts; None where a function or a quotient has the index of a thread."""
    own = [(base, power) for base, power in monomial if base in threads]
    rest = [(base, power) for base, power in monomial if base not in threads]
    if any(power < 0 for _, power in own) or any(_depends(base, threads) for base, _ in rest):
        return None
    whole = coefficient.numerator if coefficient.denominator == 1 else coefficient
    return whole, own, Monomial(rest)


def _sum_terms(terms: Iterable[_Term], lane: Mapping[Expr, int]) -> Lane:
    total: dict[Monomial, int | Fraction] = {}
    for coefficient, own, rest in terms:
        for base, power in own:
            coefficient *= lane[base] ** power
        total[rest] = total.get(rest, 0) + coefficient
    number = total.pop(_NUMBER, 0)
    return frozenset(item for item in total.items() if item[1]), number


def _holds(guard: Guard, number: int | Fraction) -> bool:
    return number == 0 if guard.operator == "==" else number >= 0


def _list_starts(offset: Value, nests: Sequence[Nest], threads: Mapping[Expr, int]) -> list[int]:
    """Places in a line at which the first thread's words begin, over the passes of all loops: sizes are taken to keep
    rows at whole lines, as `cudaMallocPitch` and sizes in multiples of 32 words do."""
    first = v.substitute(offset, {symbol: constant_polynomial(0) for symbol in threads})
    steps: list[range] = []
    for nest in nests:
        straight = v.linear_parts(first, nest.counter) if nest.counter not in threads else None
        stride = None if straight is None else v.whole_number(straight[1])
        if not stride or stride % STARTS == 0:
            continue
        passes = v.whole_number(nest.bounds[0]) if len(nest.bounds) == 1 else None
        cycle = STARTS // gcd(stride, STARTS)
        steps.append(range(0, stride * (cycle if passes is None or passes >= cycle else max(1, passes)), stride))
    number = first.terms.get(_NUMBER, Fraction(0))
    base = int(number) if number.denominator == 1 else 0
    return [(base + sum(chosen)) % STARTS for chosen in islice(product(*steps), MOST_PLACES)]


# -- divergence ------------------------------------------------------------------------------------


class Divergence(Record):
    """A condition on the place of a thread in its block: threads for which it holds, and the warps that have one."""

    threads: int
    warps: int
    warp: int
    span: Span | None

    @property
    def idle(self) -> Fraction:
        """The part of the threads of these warps that waits meanwhile."""
        return 1 - Fraction(self.threads, self.warps * self.warp) if self.warps else Fraction(0)


def settle_lanes(lanes: _Lanes, items: list[Item]) -> tuple[list[Item], list[Divergence]]:
    """Items with shares of threads in place of conditions on their places in a block, and these conditions."""
    found: list[Divergence] = []
    return _settle_within(items, lanes, list(range(len(lanes.lanes))), found), found


def _settle_within(items: list[Item], lanes: _Lanes, active: list[int], found: list[Divergence]) -> list[Item]:
    result: list[Item] = []
    for item in items:
        if isinstance(item, Arithmetic) and item.name == ISSUED and active:  # of whole warps
            whole = Fraction(lanes.count_warps(active) * lanes.shape.threads, len(active))
            item = item.replace(times=constant_polynomial(whole))
        if not isinstance(item, Alternative):
            result.append(rewrite_inside(item, lambda inner: _settle_within(inner, lanes, active, found)))
            continue
        mine = [
            guard for guard in item.guards if v.symbols(guard.value) and v.symbols(guard.value) <= lanes.threads.keys()
        ]
        kept = lanes.list_active(mine, active)
        rest = active if len(mine) < len(item.guards) or item.share is not None else sorted({*active} - {*kept})
        then = _settle_within(item.then, lanes, kept, found)
        otherwise = _settle_within(item.otherwise, lanes, rest, found)
        if not mine:
            result.append(item.replace(then=then, otherwise=otherwise))
            continue
        # The block stays for those that make trips, one side after the other where a warp takes both.
        takes_both = has_trips(then) and has_trips(otherwise)
        if not takes_both or not lanes.find_warps(kept).isdisjoint(lanes.find_warps(rest)):
            then = lengthen_trips(then, Fraction(len(active), len(kept) or 1))
            otherwise = lengthen_trips(otherwise, Fraction(len(active), len(rest) or 1))
        found.append(Divergence(len(kept), lanes.count_warps(kept), lanes.shape.threads, item.span))
        share = constant_polynomial(Fraction(len(kept), max(1, len(active))))
        share = share if item.share is None else v.multiply(share, item.share)
        guards = tuple(guard for guard in item.guards if guard not in mine)
        result.append(Alternative(guards, share, then, otherwise, item.span, negated=item.negated))
    return result


class LaunchFacts(Record):
    """A launch of the kernel `name`: the threads of a block, where the source says them, what warps ask for by the `id`
    of each access, and the conditions that divide warps; the bytes of shared memory of a block, and what the kernel
    promises of its launches."""

    name: str
    threads: int | None
    accesses: Mapping[int, WarpAccess]
    divergences: tuple[Divergence, ...] = ()
    scratchpad: Value = ZERO
    bounds: LaunchBounds = LaunchBounds()
    shape: WarpShape = SHAPES[32]
    is_partial: bool = False
    span: Span | None = None


def measure_launch(
    kernel: DeviceKernel,
    items: list[Item],
    arrays: Mapping[str, Array],
    launch: r.Launch,
    *,
    dynamic: Value | None,
    named: Mapping[Expr, Value],
) -> tuple[list[Item], LaunchFacts]:
    """The items of a launch with shares of threads, and what is known of its warps; each block has `dynamic` bytes of
    shared memory beside what the kernel declares. Banks of it depend on the values of `named` numbers."""
    lanes = _make_lanes(kernel, SHAPES[launch.warp], named)
    measured = {} if lanes is None else measure_accesses(lanes, items, arrays)
    divergences: list[Divergence] = []
    items = drop_stores_on_chip(items, SHARED)
    if lanes is not None and len(lanes.lanes) > 1:
        items, divergences = settle_lanes(lanes, items)
    used = {item.array for item in walk_items(items) if isinstance(item, MemoryAccess)}
    own = [key for key in sorted(used) if key.startswith(SHARED)]
    own = own if dynamic is None else [key for key in own if not key.endswith(launch.key)]
    scratchpad = v.add(dynamic or ZERO, *(arrays[key].volume or ZERO for key in own))
    scratchpad = v.substitute(scratchpad, kernel.known)
    facts = LaunchFacts("", kernel.block_threads(), measured, tuple(divergences), scratchpad)
    return items, facts.replace(shape=SHAPES[launch.warp], is_partial=lanes is not None and lanes.is_partial)


def check_launch(launch: r.Launch, facts: LaunchFacts) -> Iterator[Diagnostic]:
    """A warning where a device would refuse the blocks of a launch, whose kernel may state a limit of threads
    (`__launch_bounds__`), and where not all requests of warps were looked at."""
    threads, most = facts.threads, facts.bounds.threads
    if facts.is_partial:
        message = f"`{facts.name}` divides indices of threads so often that sectors are not counted for all accesses"
        yield warning("too-large", message, launch.span, hint="these count as words side by side")
    if threads is not None and most is not None and MOST_THREADS >= threads > most:
        message = f"blocks of {threads:,} threads cannot be launched: the bounds of the kernel allow {most:,}"
        yield warning("bad-launch", message, launch.span, hint="`__launch_bounds__` names the most threads of a block")
    elif threads is not None and not 0 < threads <= MOST_THREADS:
        message = f"blocks of {threads:,} threads cannot be launched: at least 1, at most {MOST_THREADS:,}"
        yield warning("bad-launch", message, launch.span, hint="the second of `<<<grid, block>>>` is the block")
    elif threads is None or not launch.extents:
        assumed = "" if threads is None else f": {threads} are assumed"
        message = f"the source does not say how many threads the blocks have{assumed}"
        yield warning("unknown", message, launch.span, hint="sectors and bank conflicts need a number")
