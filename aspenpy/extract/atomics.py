"""Atomic operations of the threads of a device that meet at one place.

The second cache does one operation on a word in a cycle (NVIDIA, "Kepler GK110" whitepaper, 2012, "Atomic Operations":
"one operation per clock" on a common address). Words of a sector that a warp asks for at once are done together, others
one after the other, and pieces of 512 bytes lie in different parts of the cache, which work side by side: 256 random
bins, two pieces, take 2.0 operations a cycle of an H100 (yencal/gpu-histogram-optimization), one bin 1.0 of an RTX 3070
Ti and 512 bins beside each other, four pieces, 3.2 sectors a cycle (R100001/Programming-Massively-Parallel-Processors,
Performance-Tests-NvBench). Of a whole number at the same address for all threads a compiler makes one operation a warp
(NVIDIA, "CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics", 2014, update; LLVM,
`AMDGPUAtomicOptimizer`).

Each bank of shared memory does one in a cycle, at equal addresses, too: 32 threads at random bins have 3.53 in the
fullest bank on average, that is 9.1 operations a cycle; 8.8 on an H100 (the first source, with loads of 16 bytes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import comb

from aspenpy.extract import records as r
from aspenpy.extract.costs import Item, MemoryAccess, rewrite_inside

PIECE = 512
"""Bytes that lie in one part of the second cache."""

MOST_PIECES = 1024
"""Pieces from which on threads are taken not to meet: more than any cache has parts."""

AGGREGATED = frozenset({"Add", "Sub", "And", "Or", "Xor", "Max", "Min"})
"""Operations on whole numbers that compilers do once for a warp."""

_WORDS = {"+": "Add", "-": "Sub", "&": "And", "|": "Or", "^": "Xor", "": "Exch"}


def make_atomic(statement: r.Statement) -> r.Statement:
    """An update that a directive makes atomic (OpenMP 5.2, section 15.8.4; OpenACC 3.3, section 2.12): `x += e`, or
    `x = x + e`, whose operation is that of its value."""
    value = statement.value if isinstance(statement, r.ExpressionStatement) else None
    if not isinstance(value, r.Assignment):
        return statement
    said = value.value.operator if not value.operator and isinstance(value.value, r.Operation) else value.operator
    return statement.replace(value=value.replace(atomic=_WORDS.get(said, "CAS")))


BANKS, BANK = 32, 4
"""Banks of shared memory, and the bytes of each."""


def mark_atomic(items: list[Item], word: str) -> list[Item]:
    """Items of an atomic operation, whose store comes last, with the word on that and on the load before it."""
    store = next((item for item in reversed(items) if isinstance(item, MemoryAccess)), None)
    if store is None or store.kind != "store":
        return items
    same = (item for item in reversed(items) if isinstance(item, MemoryAccess) and item.array == store.array)
    load = next((item for item in same if item.kind == "load"), None)
    return [item.replace(atomic=word, pinned=True) if item is store or item is load else item for item in items]


def drop_stores_on_chip(items: list[Item], shared: str) -> list[Item]:
    """Items without the stores of atomic operations in shared memory, which one pass does with the load."""
    left = (
        item
        for item in items
        if not (isinstance(item, MemoryAccess) and item.kind == "store" and item.atomic)
        or not item.array.startswith(shared)
    )
    return [rewrite_inside(item, lambda inner: drop_stores_on_chip(inner, shared)) for item in left]


def count_passes(addresses: Iterable[tuple[object, int | Fraction]], size: int) -> int:
    """Cycles that the banks of shared memory take for the atomic operations of a warp, with those at equal words one
    after the other."""
    held = Counter(int(at) // BANK % BANKS for _, at in addresses)
    return max(held.values(), default=0) * max(1, size // BANK)


def count_updates(addresses: Iterable[tuple[object, int | Fraction]], sector: int) -> int:
    """Cycles of the second cache for the atomic operations of a warp: for each sector those at its fullest word."""
    words = Counter(addresses)
    fullest: dict[tuple[object, int], int] = {}
    for (key, at), number in words.items():
        place = (key, int(at) // sector)
        fullest[place] = max(fullest.get(place, 0), number)
    return sum(fullest.values())


@cache
def expect_fullest(balls: int, bins: int) -> Fraction:
    """The expected number of balls in the fullest of some bins: of b**n ways to throw n balls into b bins, those with
    at most m in each are sums of multinomial coefficients (Feller, "An Introduction to Probability Theory", volume 1,
    section II.5)."""
    ways = (Fraction(_list_ways(balls, bins, most)[balls], bins**balls) for most in range(balls))
    return sum((1 - share for share in ways), Fraction(0)).limit_denominator(1000)


def _list_ways(balls: int, bins: int, most: int) -> list[int]:
    """Ways to throw 0, 1, ... balls into bins with at most `most` in each, by halves of the bins."""
    if bins == 1:
        return [int(number <= most) for number in range(balls + 1)]
    half = _list_ways(balls, bins // 2, most)
    ways = _join(half, half)
    return _join(ways, _list_ways(balls, 1, most)) if bins % 2 else ways


def _join(one: list[int], two: list[int]) -> list[int]:
    return [sum(comb(n, k) * one[k] * two[n - k] for k in range(n + 1)) for n in range(len(one))]
