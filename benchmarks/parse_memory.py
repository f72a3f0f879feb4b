"""A large model is held in a memory that grows with its size and no faster."""

import gc
import tracemalloc

import aspenpy
from benchmarks.measure import Action, Benchmark, Subject
from benchmarks.models import application_text


def peak_mebibytes(action: Action) -> float:
    """The most that Python held at once while it ran."""
    gc.collect()
    tracemalloc.start()
    action()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def subject() -> Subject:
    large, small = application_text(1_000_000), application_text(100_000)
    kernels = large.count("kernel ")
    return Subject(
        lambda: aspenpy.parse(large), lambda: aspenpy.parse(small), lambda model: len(model.kernels) == kernels
    )


BENCHMARK = Benchmark("peak memory of loading 1 MB", "100 kB", 10, subject, peak_mebibytes, unit="MiB")
