"""A hierarchy of set-associative caches that is played exactly, reference by reference: `caches.c`, compiled."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Array, Structure, byref, c_int16, c_int64, c_uint64
from functools import lru_cache
from pathlib import Path
from typing import Any

from aspenpy.engine.shared_object import load_shared_object
from aspenpy.record import Record

MOST_LOOPS = 40
"""Loops of a block, `MOST_LOOPS` of caches.c."""

MOST_OWNERS = 8_000
"""Owners of accesses whose counts are kept apart; numbers of 16 bits say whose store made a line dirty."""

# caches.c knows each of these by its place in the row.
POLICIES = ("lru", "plru", "random")
WAYS_OF_TREES = (1, 2, 4, 8, 16, 32, 64)  # for `plru`, whose bits of a set are one word
WRITES = ("allocate", "no_allocate", "streaming")
IN_STEP, PACED, DRAWN = range(3)

SEED = 0x9E3779B97F4A7C15
"""The state that random draws begin with: any number but 0 will do (Vigna's xorshift stays at 0)."""


class CacheShape(Record):
    """A cache: `line` in bytes, whether it `adds` what the level before gave up (exclusive and victim caches), how it
    takes stores, lines that a miss fetches `together` where accesses go on by less than `reach` bytes."""

    sets: int
    ways: int
    line: int
    policy: str = "lru"
    adds: bool = False
    writes: str = "allocate"
    together: int = 1
    reach: int = 0


class PlayedAccess(Record):
    """An access of a block. `steps` are the bytes that each loop goes on by, the innermost first, `offsets` the points
    that it touches around each place, `owner` the number that its counts have.

    Of kind `IN_STEP` it takes part in the block's loops, with 1 of `trips` outside of those it does not: there a load
    comes first and a store last. `PACED` has loops of its own and comes `count` times, spread evenly over the passes;
    `DRAWN` takes any of `places` words, each as likely, drawn from `seed`. `bypasses` is a store past all caches.
    """

    kind: int
    stores: bool
    bypasses: bool
    owner: int
    base: int
    word: int
    stride: int
    steps: tuple[int, ...]
    trips: tuple[int, ...]
    offsets: tuple[int, ...] = (0,)
    count: int = 0
    places: int = 1
    seed: int = SEED


class PlayedBlock(Record):
    """Loops, the innermost first, with the accesses in them. The bounds of each are a constant and a factor for the
    counter of each loop."""

    low: tuple[tuple[int, ...], ...]
    high: tuple[tuple[int, ...], ...]
    accesses: tuple[PlayedAccess, ...]


class LevelCounts(Record):
    """Counts of one owner at one level: words or lines that came and missed, lines fetched, dirty lines that left, and
    clean ones that the next level took."""

    accesses: int
    misses: int
    fetched: int
    written_back: int
    victims: int


class _Level(Structure):
    _fields_ = [
        *((name, c_int64) for name in ("sets", "ways", "line", "policy", "adds", "writes", "together", "reach")),
        ("held", POINTER(c_uint64)),
        ("storer", POINTER(c_int16)),
        ("tree", POINTER(c_uint64)),
    ]


class _Counts(Structure):
    _fields_ = [(name, c_int64) for name in ("accesses", "misses", "fetched", "written_back", "victims")]


class _Caches(Structure):
    _fields_ = [("levels", POINTER(_Level)), ("depth", c_int64), ("counts", POINTER(_Counts)), ("draws", c_uint64)]


class _Access(Structure):
    _fields_ = [
        *((name, c_int64) for name in ("kind", "stores", "bypasses", "owner", "base", "word", "stride", "level")),
        ("steps", c_int64 * MOST_LOOPS),
        ("trips", c_int64 * MOST_LOOPS),
        ("loops", c_int64),
        ("offsets", POINTER(c_int64)),
        ("points", c_int64),
        ("count", c_int64),
        ("places", c_int64),
        ("draws", c_uint64),
        ("done", c_int64),
        ("counters", c_int64 * MOST_LOOPS),
        ("last", c_uint64),
    ]


class _Block(Structure):
    _fields_ = [
        ("loops", c_int64),
        ("low", POINTER(c_int64)),
        ("high", POINTER(c_int64)),
        ("accesses", POINTER(_Access)),
        ("number", c_int64),
        ("passes", c_int64),
    ]


@lru_cache(maxsize=1)
def _library() -> Any:
    text = Path(__file__).with_name("caches.c").read_text(encoding="utf-8")
    return load_shared_object(text, ("-O2", "-std=c11"), "simulated caches", "formulas count without --simulate")


class CacheHierarchy:
    """Caches, the nearest to the core first, empty until a block is played, and what the owners of accesses count in
    them. Raises AspenError without a C compiler."""

    def __init__(self, shapes: Sequence[CacheShape]) -> None:
        self._functions = _library()
        self._kept: list[Array[Any]] = []  # the memory that levels point to, alive as long as the hierarchy
        self._levels = (_Level * len(shapes))(*map(self._level, shapes))
        self._counts = (_Counts * (MOST_OWNERS * len(shapes)))()
        self._caches = _Caches(self._levels, len(shapes), self._counts, SEED)

    def _level(self, shape: CacheShape) -> _Level:
        lines = shape.sets * shape.ways
        places = (c_uint64 * lines)(), (c_int16 * lines)(), (c_uint64 * shape.sets)()
        self._kept += places
        policy, writes = POLICIES.index(shape.policy), WRITES.index(shape.writes)
        numbers = shape.sets, shape.ways, shape.line, policy, shape.adds, writes, shape.together, shape.reach
        return _Level(*numbers, *places)

    def play(self, block: PlayedBlock) -> None:
        """Makes all references of a block."""
        offsets = [(c_int64 * len(access.offsets))(*access.offsets) for access in block.accesses]
        accesses = (_Access * len(block.accesses))(*map(_access, block.accesses, offsets))
        low, high = (
            (c_int64 * max(1, sum(map(len, rows))))(*(n for row in rows for n in row))
            for rows in (block.low, block.high)
        )
        self._functions.play_block(
            byref(self._caches), byref(_Block(len(block.low), low, high, accesses, len(accesses)))
        )

    def flush(self) -> None:
        """Writes all dirty lines to memory, each once at every level."""
        self._functions.flush_caches(byref(self._caches))

    def counts(self, owner: int) -> tuple[LevelCounts, ...]:
        """Counts of an owner's references at each level so far."""
        depth = len(self._levels)
        rows = self._counts[owner * depth : (owner + 1) * depth]
        return tuple(LevelCounts(row.accesses, row.misses, row.fetched, row.written_back, row.victims) for row in rows)


def _level_of(access: PlayedAccess) -> int:
    """The number of innermost loops that make a single pass, which the access may stand outside of."""
    return next((depth for depth, trips in enumerate(access.trips) if trips != 1), len(access.trips))


def _access(access: PlayedAccess, offsets: Array[c_int64]) -> _Access:
    row = c_int64 * MOST_LOOPS
    return _Access(
        *(access.kind, access.stores, access.bypasses, access.owner, access.base, access.word, access.stride),
        _level_of(access),
        *(row(*access.steps), row(*access.trips), len(access.steps), offsets, len(offsets)),
        *(access.count, access.places, access.seed, 0, row(), 0),
    )
