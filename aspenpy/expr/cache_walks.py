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

    def move_begin(self, first: int, way: int) -> Walk:
        """The walk with its begin as seen from that of the first, around a cache in which all sets have so many
        bytes."""
        return self._replace(place=(self.place - first) % way)

    @property
    def around(self) -> tuple[int, int]:
        return self.stride, self.trips

    @property
    def strides(self) -> tuple[int, ...]:
        return (*(stride for stride, _ in self.inner), self.stride, abs(self.shift), *self.outer, self.place)

    def most_lines_in_set(self, way: int) -> int:
        """Lines in a set of a cache with ways of so many bytes, at most: one for each way that the walk is long."""
        return self.reach_in_bytes(()) // way + 2

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


class Cache(NamedTuple):
    """Sets of lines of so many bytes; whatever lies in it begins at a multiple of `unit` bytes."""

    line: int
    sets: int
    unit: int

    @property
    def units(self) -> int:
        return self.line * self.sets // self.unit

    def join_runs(self, walk: Walk, loops: Loops) -> Runs:
        return join_loops(walk.run, loops, self.line)


# -- reading ---------------------------------------------------------------------------------------


def read_window(window: Sequence[Number]) -> tuple[list[int], list[list[Walk]]]:
    """The trips of the loops outside, and the walks of each structure."""
    numbers = list(reversed(window))
    try:
        trips = [_read_trips(numbers.pop()) for _ in range(require_whole(numbers.pop(), "a number of loops"))]
        structures = []
        while numbers:
            walks = range(require_whole(numbers.pop(), "a number of walks"))
            structures.append([_read_walk(numbers, len(trips)) for _ in walks])
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
    return Walk(run, tuple(inner), stride, trips, shift, outer, require_whole(numbers.pop(), "an address"))


def _read_loop(numbers: list[Number]) -> tuple[int, int]:
    return _read_stride(numbers.pop()), _read_trips(numbers.pop())


def _read_stride(value: Number) -> int:
    return require_whole(magnitude(value), "a stride")


def _read_trips(value: Number) -> int:
    return max(1, math.ceil(value))
