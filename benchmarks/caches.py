"""Caches: what it takes to map an application that says of all its data how it touches them, and a million points
over the size of a cache and its ways."""

from __future__ import annotations

import re
from typing import Any

import numpy

import aspenpy
from aspenpy.cost.mapper import map_application
from aspenpy.engine.backends import BACKENDS
from aspenpy.models.library import find
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.run import Run
from benchmarks.measure import Benchmark, Subject, bare_python, seconds
from benchmarks.sweep_points import COMD, GCC, POINTS, agrees, nanoseconds, run_of, scattered, whole

ACCESS = re.compile(r"^( *(?:loads|stores) \[.*\w)$", re.MULTILINE)
"""A line of the library's LULESH; none of them has a trait."""

DISTANCES = "model distances { param far = 500 kernel main { execute { loads [1e6] of size [8] as rd(far) } } }"


def mapping() -> Subject:
    text, accesses = ACCESS.subn(r"\1 as stream", find("apps", "lulesh").text)
    lulesh: Any = aspenpy.parse(text)
    haswell = aspenpy.load_machine("haswell")

    def is_right(tree: Any) -> bool:
        costs = [cost for block in tree.blocks.values() for cost in block.requirements]
        return sum(cost.traffic is not None for cost in costs) == accesses > 100

    return Subject(lambda: map_application(lulesh, haswell), bare_python, is_right)


def references() -> Subject:
    """A product of matrices of 205 kB each, nine million references, most of them found in the first cache."""
    product, haswell = aspenpy.load_application("cache_mm_blk16"), aspenpy.load_machine("haswell")
    case = aspenpy.Case(product, haswell, set={"n": 160, "tile": 8})

    def simulate() -> Any:
        return aspenpy.traffic(case, simulate=True).totals

    return Subject(simulate, bare_python, lambda totals: totals[0].reads == 2 * 160**3 + 160**2 * 160 / 8)


def sizes_and_ways() -> Subject:
    """A cache of 16 KiB and more, by whole lines, with 1 to 16 ways."""
    over = {"d1_capacity": 64 * numpy.arange(256.0, 256 + POINTS / 16), "d1_ways": numpy.arange(1.0, 17.0)}
    distances: Any = aspenpy.parse(DISTANCES)
    run = Run(make_study(aspenpy.Case(distances, aspenpy.load_machine("cachegrind")), over), "auto", 1)
    return Subject(whole(run), whole(run_of("comd", scattered(COMD), "c")), agrees(run))


def available() -> tuple[Benchmark, ...]:
    """Those that this machine can run."""
    found = [Benchmark("map LULESH, a pattern on each access", "python -c pass", 100, mapping, seconds)]
    if BACKENDS["c"].missing() is None:
        found.append(Benchmark("nine million references, simulated", "python -c pass", 60, references, seconds))
        title = "LRU hits over cache sizes and ways"
        found.append(Benchmark(title, GCC, 3, sizes_and_ways, nanoseconds(POINTS), "ns/point"))
    return tuple(found)


BENCHMARKS = available()
