"""Caches: what it takes to map an application that says of all its data how it touches them, and a million points
over the size of a cache and its ways."""

from __future__ import annotations

import re
from typing import Any

import numpy

import aspenpy
from aspenpy.answers.traffic import Traffic
from aspenpy.cost.mapper import map_application
from aspenpy.engine.backends import BACKENDS
from aspenpy.models.library import find_source
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.run import StudyRun
from benchmarks.measure import Benchmark, Subject, bare_python, seconds
from benchmarks.sweep_points import COMD, GCC, POINTS, agrees, nanoseconds, run_of, scattered, whole

ACCESS = re.compile(r"^( *(?:loads|stores) \[.*\w)$", re.MULTILINE)
"""A line of the library's LULESH; none of them has a trait."""

DISTANCES = "model distances { param far = 500 kernel main { execute { loads [1e6] of size [8] as rd(far) } } }"


def mapping() -> Subject:
    text, accesses = ACCESS.subn(r"\1 as stream", find_source("apps", "lulesh").text)
    lulesh: Any = aspenpy.parse(text)
    haswell = aspenpy.load_machine("haswell")

    def is_right(tree: Any) -> bool:
        costs = [cost for block in tree.blocks.values() for cost in block.requirements]
        return sum(cost.traffic is not None for cost in costs) == accesses > 100

    return Subject(lambda: map_application(lulesh, haswell), bare_python, is_right)


def many_arrays() -> Subject:
    """Forty arrays in three loops, each with two of them as its indices, in four orders."""
    orders = ("8, n, 0, n, 8*n, n", "8*n, n, 8, n, 0, n", "0, n, 8*n, n, 8, n", "8, n, 8*n, n, 0, n")
    data = " ".join(f"data A{number} as Matrix(n, n, 8)" for number in range(40))
    loads = " ".join(f"loads [n^3] of size [8] from A{number} as nest({orders[number % 4]})" for number in range(40))
    haswell = aspenpy.load_machine("haswell")
    text = f"model arrays {{ param n = 300 {data} kernel main {{ execute {{ {loads} }} }} }}"

    def mapped() -> Any:
        return map_application(aspenpy.parse(text), haswell)

    def is_right(tree: Any) -> bool:
        return all(cost.traffic is not None for block in tree.blocks.values() for cost in block.requirements)

    return Subject(mapped, bare_python, is_right)


def many_shapes() -> Subject:
    """The traffic of forty arrays in three loops, no two of which are walked alike, with its doubt."""
    orders = ("8, n, 0, n, {0}*n, n", "{0}*n, n, 8, n, 0, n", "0, n, {0}*n, n, 8, n", "8, n, {0}*n, n, 0, n")
    orders = (*orders, "{0}*n, n, 0, n, 8, n", "0, n, 8, n, {0}*n, n")
    shapes = [orders[number % 6].format(8 * (1 + number // 6)) for number in range(40)]
    data = " ".join(f"data A{number} [8*n^2*{1 + number // 6}]" for number in range(40))
    loads = " ".join(f"loads [n^3] of size [8] from A{number} as nest({shape})" for number, shape in enumerate(shapes))
    text = f"model shapes {{ param n = 300 {data} kernel main {{ execute {{ {loads} }} }} }}"
    haswell = aspenpy.load_machine("haswell")

    def moved() -> Any:
        shapes: Any = aspenpy.parse(text)
        return aspenpy.traffic(shapes, haswell).totals

    return Subject(moved, bare_python, lambda totals: totals[0].reads == 40 * 300**3)


def rows_of_a_sparse_matrix() -> Subject:
    """Five words of each of a million rows: a stream, whose traffic takes no longer than that of a thousand."""
    text = """model rows { param n = 1e6 data A [40*n] kernel main {
      execute { loads [5*n] of size [8] from A as nest(8, 5, 40, n) } } }"""
    haswell = aspenpy.load_machine("haswell")

    def moved() -> Any:
        rows: Any = aspenpy.parse(text)
        return aspenpy.traffic(rows, haswell).totals

    return Subject(moved, bare_python, lambda totals: totals[-1].read_misses == 40e6 / 64)


def references() -> Subject:
    """A product of matrices of 205 kB each, nine million references, most of them found in the first cache; made
    again in each run, where `aspenpy.traffic` would give the answer that it keeps."""
    product, haswell = aspenpy.load_application("cache_mm_blk16"), aspenpy.load_machine("haswell")
    case = aspenpy.Case(product, haswell, set={"n": 160, "tile": 8})

    def simulate() -> Any:
        return Traffic(aspenpy.predict(case), simulate=True).totals

    return Subject(simulate, bare_python, lambda totals: totals[0].reads == 2 * 160**3 + 160**2 * 160 / 8)


def sizes_and_ways() -> Subject:
    """A cache of 16 KiB and more, by whole lines, with 1 to 16 ways."""
    over = {"d1_capacity": 64 * numpy.arange(256.0, 256 + POINTS / 16), "d1_ways": numpy.arange(1.0, 17.0)}
    distances: Any = aspenpy.parse(DISTANCES)
    run = StudyRun(make_study(aspenpy.Case(distances, aspenpy.load_machine("cachegrind")), over), "auto", 1)
    return Subject(whole(run), whole(run_of("comd", scattered(COMD), "c")), agrees(run))


def available() -> tuple[Benchmark, ...]:
    """Those that this machine can run."""
    found = [
        Benchmark("map LULESH, a pattern on each access", "python -c pass", 220, mapping, seconds),
        Benchmark("map 40 arrays in three loops", "python -c pass", 80, many_arrays, seconds),
        Benchmark("traffic of 40 shapes in three loops", "python -c pass", 100, many_shapes, seconds),
        Benchmark("traffic of a million sparse rows", "python -c pass", 15, rows_of_a_sparse_matrix, seconds),
    ]
    if BACKENDS["c"].missing() is None:
        found.append(Benchmark("nine million references, simulated", "python -c pass", 60, references, seconds))
        title = "LRU hits over cache sizes and ways"
        found.append(Benchmark(title, GCC, 3, sizes_and_ways, nanoseconds(POINTS), "ns/point"))
    return tuple(found)


BENCHMARKS = available()
