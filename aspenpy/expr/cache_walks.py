"""Walks: arrays in the loops between two touches of a line, as the arguments of `share_kept` tell them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from aspenpy.expr.arithmetic import DomainError, Number
from aspenpy.expr.cache_laws import magnitude, require_whole
from aspenpy.record import NamedTuple

Loops = tuple[tuple[int, int], ...]
"""A stride in bytes and trips of each."""


class Runs(NamedTuple):
    """Runs of `length` bytes that loops repeat, each with a gap of a line or more to the one before."""

    length: int
    loops: Loops

    def most_lines(self, line: int) -> int:
        """Lines that they have at most."""
        return math.prod(trips for _, trips in self.loops) * (self.length // line + 2)


@lru_cache(maxsize=10_000)
def join_loops(run: int, loops: Loops, line: int) -> Runs:
    """Loops that leave no line out make one longer run; one that goes on in the steps of another makes that longer."""
    length, apart = max(1, run), list[tuple[int, int]]()
    for stride, trips in sorted(loops):
        if stride < length + line:
            length += stride * (trips - 1)
        elif apart and stride % apart[-1][0] == 0 and stride // apart[-1][0] <= apart[-1][1]:
            step, count = apart[-1]
            apart[-1] = step, count + stride // step * (trips - 1)
        elif trips > 1:
            apart.append((stride, trips))
    return Runs(length, tuple(apart))


class Walk(NamedTuple):
    """An array in the window: runs of `run` bytes, repeated by the loops `inner` and then by one of `stride` and
    `trips`; the loops outside take it on by `outer`, and before the second touch it is `shift` bytes further. It begins
    at the address `place`."""

    run: int
    inner: Loops
    stride: int
    trips: int
    shift: int
    outer: tuple[int, ...]
    place: int

    def move_begin(self, index: int) -> Walk:
        """The walk from another address on."""
        return Walk(
            self.run, self.inner, self.stride, trips=self.trips, shift=self.shift, outer=self.outer, place=index
        )

    @property
    def around(self) -> tuple[int, int]:
        return self.stride, self.trips

    def all_loops(self, trips: Sequence[int]) -> Loops:
        """All its loops, with the trips of those outside."""
        return (*self.inner, self.around, *zip(self.outer, trips, strict=False))

    def reach_in_bytes(self, trips: Sequence[int]) -> int:
        """Bytes from the first to behind the last of what it touches."""
        return (
            self.place
            + self.run
            + abs(self.shift)
            + sum(stride * (count - 1) for stride, count in self.all_loops(trips))
        )


class MeasuredWalk(NamedTuple):
    """A walk with what is known of it wherever it begins: the lines that it touches at most; those that it has at least
    in each set of a cache whose ways have one line; bytes from its begin to behind the last of them, without the loops
    outside and with them; and what divides all its strides."""

    walk: Walk
    most: int
    least: int
    reach: int
    reach_outside: int
    divisor: int


@lru_cache(maxsize=20_000)
def measure_walk(numbers: tuple[Number, ...], trips: tuple[int, ...], line: int) -> MeasuredWalk:
    """A walk as `share_kept` takes it, in loops outside of `trips` trips: the same is there beside many others."""
    walk = _read_walk([*reversed(numbers)], len(trips))
    run = join_loops(walk.run, (*walk.inner, walk.around), line)
    most = run.most_lines(line) * (2 if walk.shift else 1)
    least = 0 if run.loops else run.length // line
    strides = (*(stride for stride, _ in walk.inner), walk.stride, abs(walk.shift), *walk.outer)
    reach = walk.reach_in_bytes(()) - walk.place, walk.reach_in_bytes(trips) - walk.place
    return MeasuredWalk(walk, most, least, *reach, math.gcd(line, *strides))


class Cache(NamedTuple):
    """Sets of lines of `line` bytes; whatever lies in it begins at a multiple of `unit` bytes."""

    line: int
    sets: int
    unit: int

    @property
    def units(self) -> int:
        return self.line * self.sets // self.unit

    def join_runs(self, walk: Walk, loops: Loops) -> Runs:
        return join_loops(walk.run, loops, self.line)


# -- reading ---------------------------------------------------------------------------------------


def read_window(window: Sequence[Number], line: int) -> tuple[tuple[int, ...], list[list[MeasuredWalk]]]:
    """The trips of the loops outside, and the walks of each structure, measured in lines of `line` bytes."""
    structures = list[list[MeasuredWalk]]()
    try:
        outside = require_whole(window[0], "a number of loops")
        trips = tuple([_read_trips(window[place]) for place in range(1, outside + 1)])
        place = outside + 1
        while place < len(window):
            walks, place = require_whole(window[place], "a number of walks"), place + 1
            structures.append([])
            for _ in range(walks):
                end = place + 6 + 2 * require_whole(window[place + 1], "a number of loops") + outside
                structures[-1].append(measure_walk(tuple(window[place:end]), trips, line))
                place = end
    except IndexError:
        structures = []
    if not structures or not all(structures):
        raise DomainError("share_kept takes loops outside, and for each data structure its walks")
    return trips, structures


def _read_walk(numbers: list[Number], outside: int) -> Walk:
    """Takes a walk from the end of the numbers."""
    run = max(1, math.ceil(numbers.pop()))
    inner = [_read_loop(numbers) for _ in range(require_whole(numbers.pop(), "a number of loops"))]
    stride, trips = _read_loop(numbers)
    shift = math.floor(numbers.pop())
    outer = tuple([_read_stride(numbers.pop()) for _ in range(outside)])
    return Walk(
        run,
        tuple(inner),
        stride,
        trips=trips,
        shift=shift,
        outer=outer,
        place=require_whole(numbers.pop(), "an address"),
    )


def _read_loop(numbers: list[Number]) -> tuple[int, int]:
    return _read_stride(numbers.pop()), _read_trips(numbers.pop())


def _read_stride(value: Number) -> int:
    return require_whole(magnitude(value), "a stride")


def _read_trips(value: Number) -> int:
    return max(1, math.ceil(value))
