"""One kernel called from many places costs one kernel and many calls: the time grows with the calls and no faster.

The limit is ten times the calls, and a fifth more for what else the computer does.
"""

from itertools import count
from typing import Any

import aspenpy
from benchmarks.measure import Benchmark, Subject, seconds
from benchmarks.models import COUNTING_MACHINE, calls_text


def subject() -> Subject:
    machine: Any = aspenpy.parse(COUNTING_MACHINE)
    fresh = count()

    def runtime(calls: int) -> float:
        model: Any = aspenpy.parse(calls_text(calls, f"calls{next(fresh)}"))
        return aspenpy.predict(model, machine).runtime

    return Subject(lambda: runtime(10_000), lambda: runtime(1_000), lambda seconds: seconds == 10_000 * 10_001 / 2)


BENCHMARK = Benchmark("load and predict 10,000 calls of one kernel", "1,000 calls", 12, subject, seconds)
