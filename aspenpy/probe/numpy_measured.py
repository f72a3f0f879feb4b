"""What NumPy can measure where there is no C compiler: rates of vectors in the first cache, and bandwidths by level."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from aspenpy.probe.benchmark import Watch, caches_of
from aspenpy.probe.number import Numbers, measured_number
from aspenpy.probe.quantities import Quantities, quantities
from aspenpy.probe.topology import Topology

PASSES = 5
WINDOW, SECONDS = 1e-4, 0.02
"""Seconds of a window, which is far longer than a call, and of all windows of a measurement in a pass."""

MEMORY = 64 << 20


def numbers_by_numpy(host: Topology, watch: Watch) -> Numbers:
    """Rates are those of whole calls: what a call costs is in them, so that they are a little low."""
    passes = []
    for number in range(PASSES):
        passes.append(_one_pass(host))
        watch(number + 1, PASSES)
    found = quantities(passes)
    cycle = 1 / (host.hertz or 2.5e9)
    rates = {
        f"{name}_dp_simd_rate": measured_number(found, f"{name}_throughput", "", "by NumPy, calls included", cycle)
        for name in ("divide", "square_root")
    }
    second = {"bandwidth": measured_number(found, "second_throughput", "B/s", "by NumPy, a sum of all words")}
    return {"core": {**rates}, **_memory(found), **({"l2": second} if host.cache(2) else {})}


def _memory(found: Quantities) -> Numbers:
    rate = measured_number(found, "memory_throughput", "B/s", "by NumPy, a sum of all words, one core")
    return {"memory": {"core_bandwidth": rate, "core_store_bandwidth": rate}}


def _one_pass(host: Topology) -> dict[str, float]:
    import numpy

    sizes = caches_of(host).sizes
    first = numpy.full(sizes[0] // 4 // 8, 1.5)
    result = numpy.empty_like(first)
    found = {
        "divide_throughput": first.size / _least(lambda: numpy.divide(first, 1.25, out=result)),
        "square_root_throughput": first.size / _least(lambda: numpy.sqrt(first, out=result)),
    }
    for name, size in (("second", sizes[1] // 2), ("memory", max(MEMORY, min(4 * sizes[2], 2 * MEMORY)))):
        data = numpy.ones(size // 8)
        found[f"{name}_throughput"] = data.nbytes / _least(data.sum)
    return found


def _least(call: Callable[[], Any]) -> float:
    """The least seconds of a call, in windows of several."""
    calls, best, until = 1, float("inf"), perf_counter() + SECONDS
    while perf_counter() < until:
        began = perf_counter()
        for _ in range(calls):
            call()
        spent = perf_counter() - began
        best = min(best, spent / calls)
        if spent < WINDOW:
            calls *= 2
    return best
