"""One more prediction with models that are loaded already, at a new value of a parameter."""

from itertools import count

import aspenpy
from benchmarks.measure import Benchmark, Subject, bare_python, seconds


def subject() -> Subject:
    comd, haswell = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")
    steps = count(1)

    def predict() -> tuple[int, float]:
        step = next(steps)
        return step, aspenpy.predict(comd, haswell, set={"steps": step}).runtime

    first = aspenpy.predict(comd, haswell, set={"steps": 1}).runtime
    return Subject(predict, bare_python, lambda got: got[1] >= first * (1 - 1e-12))


BENCHMARK = Benchmark("predict CoMD, models loaded", "python -c pass", 0.5, subject, seconds)
