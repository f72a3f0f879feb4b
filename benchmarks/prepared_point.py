"""One evaluation of a prepared prediction, as a search or a fit makes them by the thousand."""

import aspenpy
from benchmarks.measure import Benchmark, Subject, seconds

FREE = ["nx", "steps", "ranks"]
POINT = (40.0, 10.0, 64.0)


def subject() -> Subject:
    comd, haswell = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")
    prepared = aspenpy.prepare(comd, haswell, FREE)
    values = dict(zip(FREE, POINT, strict=True))
    expected = aspenpy.predict(comd, haswell, set=values).runtime
    return Subject(
        lambda: prepared(*POINT),
        lambda: aspenpy.predict(comd, haswell, set=values).runtime,
        lambda got: abs(got / expected - 1) < 1e-12,
    )


BENCHMARK = Benchmark("one point of prepared CoMD", "predict", 0.01, subject, seconds)
