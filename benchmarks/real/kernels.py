"""The kernels, their models, and sizes at which their data lie in one level of the memory hierarchy or another."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

from aspenpy.probe.benchmark import Caches
from benchmarks.real.programs import HERE

LEVELS = ("L1", "L2", "L3", "memory")
ANY = ("registers",)
"""The level of kernels without data."""


class Size(NamedTuple):
    """`n` of a kernel, and its second size `m`, where it has one."""

    n: int
    m: int = 0


class Kernel(NamedTuple):
    """A kernel of the C programs and its model, both called `name`; `title` tells variants apart. `size` has data of
    about so many bytes."""

    name: str
    size: Callable[[int], Size]
    title: str = ""
    levels: tuple[str, ...] = LEVELS

    @property
    def label(self) -> str:
        return self.title or self.name

    @property
    def model(self) -> str:
        folders = (HERE / "models", HERE / "classes" / "models")
        return next(path for folder in folders if (path := folder / f"{self.name}.aspen").exists()).read_text(
            encoding="utf-8"
        )


def vectors(count: int) -> Callable[[int], Size]:
    """So many vectors of doubles, of a multiple of 64 elements."""
    return lambda data: Size(max(64, data // (8 * count) // 64 * 64))


def grids(count: int, axes: int) -> Callable[[int], Size]:
    """So many grids with a rim; rows of an odd number of pairs, so that they lie in different sets."""
    return lambda data: Size(max(4, (round((data / (8 * count)) ** (1 / axes)) - 2) // 4 * 4))


def odd(side: float, multiple: int) -> int:
    """The largest odd multiple not above a side."""
    return max(multiple, (int(side / multiple) - 1) // 2 * 2 * multiple + multiple)


def power(side: float) -> int:
    return 1 << int(side).bit_length() - 1


def matrices(count: int, multiple: int) -> Callable[[int], Size]:
    """So many square matrices with an odd multiple of elements a row."""
    return lambda data: Size(odd(sqrt(data / (8 * count)), multiple))


def products(count: int, multiple: int, rows: int) -> Callable[[int], Size]:
    """Square matrices as long as they are small; else a panel of so many rows times a square matrix."""

    def size(data: int) -> Size:
        square = odd(sqrt(data / (8 * count)), multiple)
        return Size(square, square) if square <= 512 else Size(odd(sqrt(data / (8 * (count - 2))), multiple), rows)

    return size


def powers(count: int, rows: int = 0) -> Callable[[int], Size]:
    """Matrices whose rows have a power of two of elements."""

    def size(data: int) -> Size:
        square = power(sqrt(data / (8 * count)))
        return Size(square, min(square, rows) if rows else 0)

    return size


def table(data: int) -> Size:
    """A table, and half as much gathered from it."""
    return Size(data // 12, data // 36)


def bodies(data: int) -> Size:
    return Size(data // 32 // 64 * 64, max(1, min(64, (1 << 24) // data)))


REGULAR = (
    Kernel("triad", vectors(3)),
    Kernel("dot", vectors(2)),
    Kernel("dgemm_naive", products(3, 8, 2)),
    Kernel("dgemm_naive", powers(3, 2), "dgemm_naive 2^k"),
    Kernel("dgemm_blocked", products(3, 32, 128)),
    Kernel("dgemm_tuned", products(4, 32, 128)),
    Kernel("stencil5", grids(2, 2)),
    Kernel("stencil7", grids(2, 3)),
    Kernel("gauss_seidel", grids(1, 2)),
    Kernel("spmv_band", lambda data: Size(data // 208)),
    Kernel("spmv_random", lambda data: Size(data // 208)),
    Kernel("gather", table),
    Kernel("transpose", matrices(2, 8)),
    Kernel("transpose", powers(2), "transpose 2^k"),
    Kernel("nbody", bodies),
    Kernel("montecarlo", lambda data: Size(20000), levels=ANY),
    Kernel("ordered_sum", vectors(1)),
    Kernel("horner", vectors(1)),
)

LARGE = ("L2", "L3", "memory")
"""Levels of kernels whose branches a processor learns where they are few."""

STEPS = 512

IRREGULAR = (
    Kernel("list", lambda data: Size(data // 64, 4096)),
    Kernel("search", lambda data: Size(data // 8, STEPS)),
    Kernel("branchy_sum", lambda data: Size(max(64, data // 4), 1), levels=LARGE),
    Kernel("branchy_sum", lambda data: Size(max(64, data // 4), 0), "branchy_sum in order"),
    Kernel("byte_dot", lambda data: Size(max(64, data // 2 // 64 * 64))),
    Kernel("scan", vectors(2)),
)
"""Kernels that latency, wrong guesses and whole numbers decide, and that the pricing was made with."""

HELD_BACK = (
    Kernel("look_up", lambda data: Size(power(data / 16), STEPS)),
    Kernel("partition", vectors(2), levels=LARGE),
    Kernel("escape", lambda data: Size(100, 100), levels=ANY),
    Kernel("find_sign", lambda data: Size(max(64, data))),
    Kernel("histogram", lambda data: Size(max(64, data))),
    Kernel("tree", lambda data: Size(data // 64, STEPS // 2)),
)
"""Kernels of the same classes that were compared when the pricing was finished."""

LAST = (
    Kernel("merge", vectors(2), levels=LARGE),
    Kernel("checksum", lambda data: Size(max(64, data // 4))),
    Kernel("largest_byte", lambda data: Size(max(64, data))),
    Kernel("four_walks", lambda data: Size(data // 64, 4096)),
)
"""Kernels that were written, and compared, behind all others."""

KERNELS = (*REGULAR, *IRREGULAR, *HELD_BACK, *LAST)


def bytes_of(level: str, found: Caches) -> int:
    """Bytes of data that lie in a level: half of a core's first and second cache, two and a half times the second, of
    which the third holds most even where others use it too, and four times the third."""
    first, second, third = found.sizes
    return {"L1": first // 2, "L2": second // 2, "L3": second // 2 * 5, "memory": 4 * third}.get(level, 0)
