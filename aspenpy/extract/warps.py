"""Requests of the threads of a warp together: sectors, and wavefronts of shared memory.

A multiprocessor serves the loads or stores of a warp as one request. It moves sectors of 32 bytes (NVIDIA, CUDA C++
Best Practices Guide, section 10.2.1, "Coalesced Access to Global Memory"); the first cache looks up a line in a cycle
(a product of matrices in which each thread of a warp reads a row of its own takes 34 cycles a request on a V100).
Shared memory has 32 banks, each of which gives one word of 4 bytes in a cycle; threads that read one word share it, and
what meets in a bank otherwise waits (CUDA C++ Programming Guide, sections 16.4.3 and 16.5.3, "Shared Memory"). Requests
of 8 bytes a thread take half warps (Volkov, "Understanding Latency Hiding on GPUs", UCB/EECS-2016-143, chapter 2; for
16 bytes quarters).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from math import ceil, gcd

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.blocks import Event, list_events
from aspenpy.extract.costs import Alternative, Array, Guard, Item, MemoryAccess, Nest, rewrite_inside, walk_items
from aspenpy.extract.device import DeviceKernel
from aspenpy.extract.device_functions import SHARED
from aspenpy.extract.round_trips import LaunchBounds
from aspenpy.extract.scope import unknown_symbols
from aspenpy.extract.values import ZERO, TooLong, Value
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span
from aspenpy.record import Record

WARP, SECTOR, LINE, BANKS, BANK = 32, 32, 128, 32, 4
"""Threads of a warp, bytes of a sector and of a line, banks of shared memory and the bytes of each."""

MOST_THREADS = 1024
"""Threads of a block at most (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability")."""

MOST_PLACES = 64
"""Places in a line at which accesses may begin, that are looked at."""

Lane = tuple[object, int]
"""The part of a thread's address that depends on sizes, and its bytes."""


class WarpAccess(Record):
    """A load or store of the kernel, for a block of threads and on average over the passes of its loops: the warps that
    make it, their threads that do, the sectors that each warp asks for in all, the different ones of the block, the
    lines of the first cache in all, and the wavefronts of shared memory. What the source does not say is None."""

    kind: str
    array: str
    size: int
    warps: int
    threads: int
    sectors: Fraction | None = None
    block_sectors: Fraction | None = None
    lines: Fraction | None = None
    wavefronts: Fraction | None = None
    span: Span | None = None

    @property
    def fewest_sectors(self) -> int:
        """Sectors that as many words need where they are neighbours."""
        return ceil(self.threads * self.size / SECTOR)

    @property
    def fewest_wavefronts(self) -> int:
        return max(self.warps, ceil(self.threads * self.size / (BANKS * BANK)))


class _Place(Record):
    """An address by its parts: those of the threads' counters, and where it may begin within a sector."""

    offset: Value
    starts: tuple[int, ...]


def measure_accesses(kernel: DeviceKernel, items: list[Item]) -> dict[int, WarpAccess]:
    """Requests of the warps of a block, by the `id` of the access that makes them."""
    found: dict[int, WarpAccess] = {}
    sizes = [v.whole_number(nest.bounds[0]) for nest in kernel.threads]
    if any(size is None for size in sizes) or (kernel.block_threads() or 1) > MOST_THREADS:
        return found
    threads = dict(zip(kernel.counters, (int(size or 1) for size in sizes), strict=True))
    for event in list_events(items):
        if isinstance(event.item, MemoryAccess):
            found[id(event.item)] = _measure(event, event.item, threads)
    return found


def _measure(event: Event, access: MemoryAccess, threads: Mapping[Expr, int]) -> WarpAccess:
    guards = [guard for _, guards in event.terms[:1] for guard in guards]
    lanes = list(_list_lanes(threads))
    active = [lane for lane in lanes if all(_holds(guard, lane) for guard in guards)]
    places = {id(lane): number // WARP for number, lane in enumerate(lanes)}
    warps: dict[int, list[Mapping[Expr, int]]] = {}
    for lane in active:
        warps.setdefault(places[id(lane)], []).append(lane)
    result = WarpAccess(access.kind, access.array, access.size, len(warps), len(active), span=access.span)
    if access.offset is None or not active or unknown_symbols(access.offset):
        return result  # the program's data say where each thread reads
    try:
        addresses = [[_address(access.offset, lane) for lane in warp] for warp in warps.values()]
    except TooLong:
        return result
    if access.array.startswith(SHARED):
        waves = sum((Fraction(count_wavefronts(warp, access.size)) for warp in addresses), Fraction(0))
        return result.replace(wavefronts=waves)
    starts = _list_starts(access.offset, event.nests, threads)
    each = [sum(count_sectors(warp, access.size, start) for warp in addresses) for start in starts]
    together = [address for warp in addresses for address in warp]
    whole = [count_sectors(together, access.size, start) for start in starts]
    lines = [sum(count_sectors(warp, access.size, start, LINE) for warp in addresses) for start in starts]
    sectors, of_block, looked_up = (Fraction(sum(counts), len(starts)) for counts in (each, whole, lines))
    return result.replace(sectors=sectors, block_sectors=of_block, lines=looked_up)


def count_sectors(lanes: Sequence[Lane], size: int, start: int = 0, of: int = SECTOR) -> int:
    """Sectors, or pieces of another size, that some addresses of words lie in, from an address in a line on."""
    return len({
        (key, place) for key, at in lanes for place in range((at + start) // of, (at + start + size - 1) // of + 1)
    })  # fmt: skip


def count_wavefronts(lanes: Sequence[Lane], size: int) -> int:
    """Cycles that shared memory takes for a warp: of the words of 4 bytes in a bank, one in each."""
    part = max(1, WARP * BANK // max(size, BANK))
    waves = 0
    for first in range(0, len(lanes), part):
        words = {
            (key, word)
            for key, at in lanes[first : first + part]
            for word in range(at // BANK, (at + size - 1) // BANK + 1)
        }
        held: dict[int, int] = {}
        for _, word in words:
            held[word % BANKS] = held.get(word % BANKS, 0) + 1
        waves += max(held.values(), default=0)
    return waves


def _list_lanes(threads: Mapping[Expr, int]) -> Iterator[Mapping[Expr, int]]:
    """The threads of a block by their indices, x fastest."""
    counters = list(threads)  # z, y, x
    for values in product(*(range(threads[counter]) for counter in counters)):
        yield dict(zip(counters, values, strict=True))


def _holds(guard: Guard, lane: Mapping[Expr, int]) -> bool:
    """Whether a thread may be one for which a condition holds: that on its own indices is certain."""
    found = v.number(v.substitute(guard.value, {symbol: constant_polynomial(at) for symbol, at in lane.items()}))
    if found is None:
        return True
    return found == 0 if guard.operator == "==" else found >= 0


def _address(offset: Value, lane: Mapping[Expr, int]) -> Lane:
    """The address of a thread, but for what all threads have."""
    here = v.substitute(offset, {symbol: constant_polynomial(at) for symbol, at in lane.items()})
    zero = v.substitute(offset, {symbol: constant_polynomial(0) for symbol in lane})
    apart = v.subtract(here, zero)
    number = apart.terms.get(_NUMBER, Fraction(0))
    rest = frozenset((monomial, value) for monomial, value in apart.terms.items() if monomial != _NUMBER)
    return rest, int(number)


_NUMBER = next(iter(constant_polynomial(1).terms))


def _list_starts(offset: Value, nests: Sequence[Nest], threads: Mapping[Expr, int]) -> list[int]:
    """Where in a line the first thread's words begin, over the passes of all loops: sizes are taken to keep rows at
    whole lines, as `cudaMallocPitch` and sizes in multiples of 32 words do."""
    first = v.substitute(offset, {symbol: constant_polynomial(0) for symbol in threads})
    steps: list[range] = []
    for nest in nests:
        straight = v.linear_parts(first, nest.counter) if nest.counter not in threads else None
        stride = None if straight is None else v.whole_number(straight[1])
        if not stride or stride % LINE == 0:
            continue
        passes = v.whole_number(nest.bounds[0]) if len(nest.bounds) == 1 else None
        cycle = LINE // gcd(stride, LINE)
        steps.append(range(0, stride * (cycle if passes is None or passes >= cycle else max(1, passes)), stride))
    number = first.terms.get(_NUMBER, Fraction(0))
    base = int(number) if number.denominator == 1 else 0
    return [(base + sum(chosen)) % LINE for chosen in islice(product(*steps), MOST_PLACES)]


# -- divergence ------------------------------------------------------------------------------------


class Divergence(Record):
    """A condition on the place of a thread in its block: threads for which it holds, and the warps that have one."""

    threads: int
    warps: int
    span: Span | None = None

    @property
    def idle(self) -> Fraction:
        """The part of the threads of these warps that waits meanwhile."""
        return 1 - Fraction(self.threads, self.warps * WARP) if self.warps else Fraction(0)


def settle_lanes(kernel: DeviceKernel, items: list[Item]) -> tuple[list[Item], list[Divergence]]:
    """Items with shares of threads in place of conditions on their places in a block, and these conditions."""
    sizes = [v.whole_number(nest.bounds[0]) for nest in kernel.threads]
    if any(size is None for size in sizes) or not 1 < (kernel.block_threads() or 1) <= MOST_THREADS:
        return items, []
    lanes = list(_list_lanes(dict(zip(kernel.counters, (int(size or 1) for size in sizes), strict=True))))
    found: list[Divergence] = []
    return _settle_within(items, lanes, list(range(len(lanes))), found), found


def _settle_within(
    items: list[Item], lanes: Sequence[Mapping[Expr, int]], active: list[int], found: list[Divergence]
) -> list[Item]:
    result: list[Item] = []
    for item in items:
        if not isinstance(item, Alternative):
            result.append(rewrite_inside(item, lambda inner: _settle_within(inner, lanes, active, found)))
            continue
        mine = [guard for guard in item.guards if v.symbols(guard.value) and v.symbols(guard.value) <= lanes[0].keys()]
        kept = [number for number in active if all(_holds(guard, lanes[number]) for guard in mine)]
        rest = active if len(mine) < len(item.guards) or item.share is not None else sorted({*active} - {*kept})
        then = _settle_within(item.then, lanes, kept, found)
        otherwise = _settle_within(item.otherwise, lanes, rest, found)
        if not mine:
            result.append(item.replace(then=then, otherwise=otherwise))
            continue
        found.append(Divergence(len(kept), len({number // WARP for number in kept}), item.span))
        share = constant_polynomial(Fraction(len(kept), max(1, len(active))))
        share = share if item.share is None else v.multiply(share, item.share)
        guards = tuple(guard for guard in item.guards if guard not in mine)
        result.append(Alternative(guards, share, then, otherwise, item.span, item.negated))
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
    span: Span | None = None


def measure_launch(
    kernel: DeviceKernel, items: list[Item], arrays: Mapping[str, Array], launch: r.Launch, dynamic: Value | None
) -> tuple[list[Item], LaunchFacts]:
    """The items of a launch with shares of threads, and what is known of its warps; each block has `dynamic` bytes of
    shared memory beside what the kernel declares."""
    measured = measure_accesses(kernel, items)
    items, divergences = settle_lanes(kernel, items)
    used = {item.array for item in walk_items(items) if isinstance(item, MemoryAccess)}
    own = [key for key in sorted(used) if key.startswith(SHARED)]
    own = own if dynamic is None else [key for key in own if not key.endswith(launch.key)]
    scratchpad = v.add(dynamic or ZERO, *(arrays[key].volume or ZERO for key in own))
    scratchpad = v.substitute(scratchpad, kernel.known)
    return items, LaunchFacts("", kernel.block_threads(), measured, tuple(divergences), scratchpad)


def check_launch(launch: r.Launch, threads: int | None, most: int | None = None) -> Iterator[Diagnostic]:
    """A warning where a device would refuse the blocks of a launch, whose kernel may promise to have no more threads
    than so many."""
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
