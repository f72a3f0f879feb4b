"""The micro-benchmarks of `benchmark.c`, compiled with the machine's compiler and run in short passes; and what NumPy
can measure where there is no C compiler: rates of vectors in the first cache, and bandwidths by level."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter
from typing import Any, Literal

from aspenpy.language.diagnostics import fail
from aspenpy.probe.number import Numbers, make_measured_number
from aspenpy.probe.quantity import combine_passes
from aspenpy.probe.topology import HostTopology
from aspenpy.record import Record

HERE = Path(__file__).parent
SOURCES = tuple(HERE / name for name in ("benchmark.c", "integers.c", "timing.c"))
OPTIONS = (
    *("-std=gnu11", "-march=native", "-O1", "-fexpensive-optimizations", "-fopenmp-simd", "-fno-math-errno"),
    *("-I", str(HERE)),
)
"""Fused multiply-adds are formed, and nothing is vectorised that does not say so."""

Watch = Callable[[int, int], None]
"""Is told how many passes are done, of how many."""

Part = Literal["core", "memory"]
SECONDS = {"core": 0.0015, "memory": 0.002}
"""Seconds of each measurement in a pass: some fifty windows."""

PASSES: tuple[Part, ...] = 4 * (*(4 * ("core",)), "memory", "core")
"""A disturbance of some tenths of a second meets one of them."""

FEWEST = 3
"""Passes of each part, which a spread takes."""

PATIENCE, LONGEST = 6.0, 30.0
"""Seconds after which no further pass begins, once each part has had its fewest, or one."""

LIMIT = 60.0
"""Seconds after which a pass is given up."""

MOST_BYTES = 320 << 20
STARTS = 3
ASSUMED_CACHES = (32 << 10, 512 << 10, 0)


class Caches(Record):
    """Bytes of the caches that a core reaches, 0 for one that there is not, and of a way of the first."""

    sizes: tuple[int, int, int]
    way: int


def ignore_progress(done: int, passes: int) -> None:
    """Ignores the progress of a measurement."""


def find_caches(host: HostTopology) -> Caches:
    """The caches as the system tells them, else small ones: where latency turns is measured in any case."""
    levels = [host.cache(level) for level in (1, 2, 3)]
    sizes = tuple(cache.capacity if cache else size for cache, size in zip(levels, ASSUMED_CACHES, strict=True))
    first, second, third = sizes
    ways = levels[0].ways if levels[0] is not None else None
    return Caches((first, max(second, 2 * first), third), first // (ways or 8))


@contextmanager
def compile_program(chosen: str) -> Iterator[Path]:
    """The compiled program, in a folder that is removed afterwards. Raises AspenError where it cannot be compiled."""
    with TemporaryDirectory(prefix="aspenpy-") as folder:
        target = Path(folder, "benchmark")
        command = [chosen, *OPTIONS, *map(str, SOURCES), "-o", str(target), "-lm", "-lpthread"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.CalledProcessError as error:
            reason = next((line for line in error.stderr.splitlines() if "error" in line), "no reason given")
            fail("not-compiled", f"{chosen} cannot compile the micro-benchmarks: {reason}")
        except (OSError, subprocess.TimeoutExpired) as error:
            fail("not-compiled", f"{chosen} cannot be run: {error}")
        yield target


def run_benchmarks(
    target: Path, host: HostTopology, watch: Watch = ignore_progress, passes: tuple[Part, ...] = PASSES
) -> list[dict[str, float]]:
    """Output of each pass, and of a start of a process behind each; `watch` is told how many are done of how many.
    Passes that would begin late are left out."""
    began, done, starts = monotonic(), list[tuple[Part, dict[str, float]]](), list[float]()
    for number, part in enumerate(passes):
        fewest = min(sum(done_part == each for done_part, _ in done) for each in set(passes))
        if monotonic() - began > (PATIENCE if fewest >= FEWEST else LONGEST) and fewest:
            break
        done.append((part, run_pass(target, part, host)))
        starts.append(_time_start(target))
        watch(number + 1, len(passes))
    return [*(times for _, times in done), *({"process_start_latency": seconds} for seconds in starts)]


def run_pass(target: Path, part: Part, host: HostTopology, seconds: float | None = None) -> dict[str, float]:
    """The quantities that one pass measures, by name. Raises AspenError where the program fails."""
    caches = find_caches(host)
    arguments = (part, *caches.sizes, caches.way, MOST_BYTES, seconds or SECONDS[part], *host.processors)
    command = [str(target), *map(str, arguments)]
    try:
        text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or [f"status {error.returncode}"])[-1]
        fail("not-measured", f"the micro-benchmarks ended early: {reason}")
    except (OSError, subprocess.TimeoutExpired) as error:
        fail("not-measured", f"the micro-benchmarks could not be run: {error}")
    return {name: float(value) for name, value in (line.split() for line in text.splitlines())}


def _time_start(target: Path) -> float:
    """Least seconds from the start of a process that does nothing to its end, of few at each of several moments: others
    disturb all that is done within some milliseconds."""
    moments = [perf_counter()]
    for _ in range(STARTS):
        subprocess.run([str(target), "start"], check=True)
        moments.append(perf_counter())
    return min(after - before for before, after in pairwise(moments))


# -- by NumPy ----------------------------------------------------------------------------------------

NUMPY_PASSES = 5
NUMPY_WINDOW, NUMPY_SECONDS = 1e-4, 0.02
"""Seconds of a window, which is far longer than a call, and of all windows of a measurement in a pass."""

NUMPY_MEMORY = 64 << 20


def measure_by_numpy(host: HostTopology, watch: Watch) -> Numbers:
    """Rates are those of whole calls: what a call costs is in them, so that they are a little low."""
    passes = []
    for number in range(NUMPY_PASSES):
        passes.append(_run_numpy_pass(host))
        watch(number + 1, NUMPY_PASSES)
    times = combine_passes(passes)
    cycle = 1 / (host.hertz or 2.5e9)
    rates = {
        f"{name}_dp_simd_rate": make_measured_number(times, f"{name}_throughput", "", "by NumPy, calls included", cycle)
        for name in ("divide", "square_root")
    }
    second = {"bandwidth": make_measured_number(times, "second_throughput", "B/s", "by NumPy, a sum of all words")}
    rate = make_measured_number(times, "memory_throughput", "B/s", "by NumPy, a sum of all words, one core")
    memory = {"core_bandwidth": rate, "core_store_bandwidth": rate}
    return {"core": rates, "memory": memory, **({"l2": second} if host.cache(2) else {})}


def _run_numpy_pass(host: HostTopology) -> dict[str, float]:
    import numpy

    sizes = find_caches(host).sizes
    first = numpy.full(sizes[0] // 4 // 8, 1.5)
    result = numpy.empty_like(first)
    times = {
        "divide_throughput": first.size / _time_call(lambda: numpy.divide(first, 1.25, out=result)),
        "square_root_throughput": first.size / _time_call(lambda: numpy.sqrt(first, out=result)),
    }
    for name, size in (("second", sizes[1] // 2), ("memory", max(NUMPY_MEMORY, min(4 * sizes[2], 2 * NUMPY_MEMORY)))):
        data = numpy.ones(size // 8)
        times[f"{name}_throughput"] = data.nbytes / _time_call(data.sum)
    return times


def _time_call(call: Callable[[], Any]) -> float:
    """The least seconds of a call, in windows of several."""
    calls, best, until = 1, float("inf"), perf_counter() + NUMPY_SECONDS
    while perf_counter() < until:
        began = perf_counter()
        for _ in range(calls):
            call()
        spent = perf_counter() - began
        best = min(best, spent / calls)
        if spent < NUMPY_WINDOW:
            calls *= 2
    return best
