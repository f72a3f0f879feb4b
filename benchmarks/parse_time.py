"""A large model is read in a time that grows with its size and no faster.

The limit is ten times the text, and a fifth more for what else the computer does.
"""

import aspenpy
from benchmarks.measure import Benchmark, Subject, seconds
from benchmarks.models import application_text


def subject() -> Subject:
    large, small = application_text(1_000_000), application_text(100_000)
    kernels = large.count("kernel ")
    return Subject(
        lambda: aspenpy.parse(large), lambda: aspenpy.parse(small), lambda model: len(model.kernels) == kernels
    )


BENCHMARK = Benchmark("load a model of 1 MB", "100 kB", 12, subject, seconds)
