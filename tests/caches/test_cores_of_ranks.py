"""The private caches of a rank's cores: each sees its part of the work, which the oracle plays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from aspenpy import AspenError, predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import Reference, simulator
from tests.tiny import application, codes, machine

CORES = 4
FIRST, SECOND = ("L1", 8192, 8), ("L2", 65536, 8)
MACHINE = f"""
machine M {{ node box }}
node box {{ socket chip }}
socket chip {{ property rank core [{CORES}] C cache L3 memory D }}
core C {{ resource flops(x) [x] cache L1 cache L2 }}
cache L1 {{ property capacity [8192] property associativity [8] property cacheline [64] }}
cache L2 {{ property capacity [65536] property associativity [8] property cacheline [64] }}
cache L3 {{ property capacity [1048576] property associativity [16] property cacheline [64] }}
memory D {{ resource loads(x) [x] resource stores(x) [x] conflict loads, stores }}
"""

A, B, C = 1 << 24, (2 << 24) + 4096 * 5, (3 << 24) + 4096 * 11
Part = Callable[[int], Iterator[Reference]]


def traffic_of(body: str, data: str, kernels: str = "") -> Traffic:
    return Traffic(predict(application(body, data, kernels), machine(MACHINE)), simulate=False)


def misses(found: Traffic) -> list[float]:
    return [level.read_misses + level.write_misses for level in found.totals]


def misses_of_cores(part: Part) -> list[int]:
    """Misses in the first and second caches of all cores."""
    sums = [0, 0]
    for core in range(CORES):
        caches = simulator(FIRST, SECOND)
        caches.run(part(core))
        for place, level in enumerate(caches.levels):
            sums[place] += level.counts.read_misses + level.counts.write_misses
    return sums


def stream(size: int, sweeps: int) -> tuple[str, str, Part]:
    """An array that all cores sweep again and again, each its own part."""

    def part(core: int) -> Iterator[Reference]:
        for _ in range(sweeps):
            yield from (("L", A + byte, 8) for byte in range(core * size // CORES, (core + 1) * size // CORES, 8))

    block = f"execute [1] of [{size // 8}] {{ loads [{size // 8}] of size [8] from A as stream }}"
    return f"iterate [{sweeps}] {{ {block} }}", f"data A [{size}]", part


def matrix_vector(n: int, times: int) -> tuple[str, str, Part]:
    """Rows are shared out, and each core reads all of the vector."""

    def part(core: int) -> Iterator[Reference]:
        for _ in range(times):
            for i in range(core * n // CORES, (core + 1) * n // CORES):
                for j in range(n):
                    yield "L", A + 8 * (n * i + j), 8
                    yield "L", B + 8 * j, 8
                yield "S", C + 8 * i, 8

    block = f"""execute [1] of [{n}] {{
      loads [{n * n}] of size [8] from A as nest(8, {n}, {8 * n}, {n})
      loads [{n * n}] of size [8] from B as nest(8, {n}, 0, {n})
      stores [{n}] of size [8] to C as nest(0, 1, 8, {n}) }}"""
    return (
        f"iterate [{times}] {{ {block} }}",
        f"data A [{8 * n * n}] data B [{8 * n}] data C [{8 * n}]",
        part,
    )


def product(n: int) -> tuple[str, str, Part]:
    """C = A B, i, k and j from the outermost loop: the rows i are shared out, since cores do not store to the same."""

    def part(core: int) -> Iterator[Reference]:
        for i in range(core * n // CORES, (core + 1) * n // CORES):
            for k in range(n):
                yield "L", A + 8 * (n * i + k), 8
                for j in range(n):
                    yield "L", B + 8 * (n * k + j), 8
                    yield "L", C + 8 * (n * i + j), 8
                    yield "S", C + 8 * (n * i + j), 8

    block = f"""execute [1] of [{n}] {{
      loads [{n * n}] of size [8] from A as nest(0, 1, 8, {n}, {8 * n}, {n})
      loads [{n**3}] of size [8] from B as nest(8, {n}, {8 * n}, {n}, 0, {n})
      loads [{n**3}] of size [8] from C as nest(8, {n}, 0, {n}, {8 * n}, {n})
      stores [{n**3}] of size [8] to C as nest(8, {n}, 0, {n}, {8 * n}, {n}) }}"""
    return block, " ".join(f"data {name} [{8 * n * n}]" for name in "ABC"), part


def jacobi(n: int, sweeps: int) -> tuple[str, str, Part]:
    """Sweeps over a grid with a rim, of which each core has some rows."""
    row = 8 * (n + 2)

    def part(core: int) -> Iterator[Reference]:
        for _ in range(sweeps):
            for i in range(core * n // CORES, (core + 1) * n // CORES):
                for j in range(n):
                    place = A + row * (i + 1) + 8 * (j + 1)
                    for step in (-row, -8, 0, 8, row):
                        yield "L", place + step, 8
                    yield "S", B + 8 * (n * i + j), 8

    block = f"""execute [1] of [{n}] {{
      loads [{5 * n * n}] of size [8] from A as stencil(5, {n}, {n})
      stores [{n * n}] of size [8] to B as stream }}"""
    return f"iterate [{sweeps}] {{ {block} }}", f"data A [{row * (n + 2)}] data B [{8 * n * n}]", part


def draws(size: int, count: int) -> tuple[str, str, Part]:
    """A table that all cores draw from: each has lines of all of it."""

    def part(core: int) -> Iterator[Reference]:
        random = Random(core)
        return (("L", A + 8 * random.randrange(size // 8), 8) for _ in range(count // CORES))

    body = f"execute [1] of [{count}] {{ loads [{count}] of size [8] from A as random }}"
    return body, f"data A [{size}]", part


def triangle(n: int, times: int) -> tuple[str, str, Part]:
    """Rows up to the diagonal are shared out, equally many to each core."""

    def part(core: int) -> Iterator[Reference]:
        for _ in range(times):
            for i in range(core * n // CORES, (core + 1) * n // CORES):
                for j in range(i + 1):
                    yield "L", A + 8 * (n * i + j), 8
                    yield "L", B + 8 * j, 8
                yield "S", C + 8 * i, 8

    count = n * (n + 1) // 2
    block = f"""execute [1] of [{n}] {{
      loads [{count}] of size [8] from A as nest(8, j in 0 .. i, {8 * n}, i in 0 .. {n - 1})
      loads [{count}] of size [8] from B as nest(8, j in 0 .. i, 0, i in 0 .. {n - 1})
      stores [{n}] of size [8] to C as nest(0, 1, 8, {n}) }}"""
    return f"iterate [{times}] {{ {block} }}", f"data A [{8 * n * n}] data B [{8 * n}] data C [{8 * n}]", part


def triangular_product(n: int) -> tuple[str, str, Part]:
    """C = L B of a lower triangle L: the last rows need all of B, the first few of it."""

    def part(core: int) -> Iterator[Reference]:
        for i in range(core * n // CORES, (core + 1) * n // CORES):
            for k in range(i + 1):
                yield "L", A + 8 * (n * i + k), 8
                for j in range(n):
                    yield "L", B + 8 * (n * k + j), 8
                    yield "L", C + 8 * (n * i + j), 8
                    yield "S", C + 8 * (n * i + j), 8

    count, around = n * n * (n + 1) // 2, f"k in 0 .. i, {8 * n}, i in 0 .. {n - 1}"
    block = f"""execute [1] of [{n}] {{
      loads [{n * (n + 1) // 2}] of size [8] from A as nest(0, 1, 8, {around})
      loads [{count}] of size [8] from B as nest(8, {n}, {8 * n}, k in 0 .. i, 0, i in 0 .. {n - 1})
      loads [{count}] of size [8] from C as nest(8, {n}, 0, {around})
      stores [{count}] of size [8] to C as nest(8, {n}, 0, {around}) }}"""
    return block, " ".join(f"data {name} [{8 * n * n}]" for name in "ABC"), part


CASES = {
    "swept in the first caches": stream(24_576, 10),
    "swept in the second caches": stream(131_072, 10),
    "swept in no cache": stream(655_360, 4),
    "rows of a matrix in the second caches": matrix_vector(128, 4),
    "rows of a larger matrix": matrix_vector(256, 2),
    "product": product(48),
    "product beyond the first caches": product(96),
    "grid in the second caches": jacobi(96, 4),
    "grid beyond them": jacobi(240, 2),
    "table": draws(65_536, 80_000),
    "table beyond the second caches": draws(262_144, 80_000),
}


@pytest.mark.parametrize("case", CASES)
def test_private_caches_hold_the_part_of_their_core(case: str) -> None:
    body, data, part = CASES[case]
    found = misses(traffic_of(body, data))
    for ours, exact in zip(found, misses_of_cores(part), strict=False):
        assert ours == pytest.approx(exact, rel=0.06)
    assert found[2] <= found[1] * 1.000001


TRIANGLES = {
    "swept in the second caches": triangle(96, 4),
    "swept in most of the second caches": triangle(128, 4),
    "swept in the second caches of some cores": triangle(256, 2),
    "product in the second caches": triangular_product(48),
    "product in the second caches of some cores": triangular_product(96),
}


@pytest.mark.parametrize("case", TRIANGLES)
def test_private_caches_hold_the_rows_of_their_core(case: str) -> None:
    """Rows of triangles differ from core to core, and with them what a cache has room for."""
    body, data, part = TRIANGLES[case]
    for ours, exact in zip(misses(traffic_of(body, data)), misses_of_cores(part), strict=False):
        assert ours == pytest.approx(exact, rel=0.12)


def test_the_shared_cache_sees_all_of_a_rank() -> None:
    """Each line of an array that fits there comes from memory once, that of the vector, too."""
    body, data, _ = matrix_vector(128, 4)
    assert misses(traffic_of(body, data))[2] == (8 * 128 * 128 + 2 * 8 * 128) / 64


def test_a_rank_of_one_core_is_as_before() -> None:
    """One part keeps one core busy: its caches meet all of it."""
    body = "iterate [3] { execute [1] of [1] { loads [8192] of size [8] from A as stream } }"
    whole = "iterate [3] { execute [1] { loads [8192] of size [8] from A as stream } }"
    assert misses(traffic_of(body, "data A [65536]")) == misses(traffic_of(whole, "data A [65536]"))


def test_a_simulation_of_several_private_caches_is_refused() -> None:
    body, data, _ = stream(24_576, 10)
    prediction = predict(application(body, data), machine(MACHINE))
    with pytest.raises(AspenError) as raised:
        _ = Traffic(prediction, simulate=True).totals
    assert codes(raised.value) == ["parts-simulation"]
