"""Sobol's indices of the runtime of CoMD over six variables: a million runs of the model, end to end."""

import aspenpy
from aspenpy.explore.variance import Sobol
from benchmarks.measure import Benchmark, Subject, seconds

SAMPLES = 1 << 17
"""With six variables and no pairs, eight runs a sample: 1,048,576."""

VARY = ["nx=20..100", "steps=10..1000", "ranks=1,2,4,8,16,32", "haswell_clock", "ddr4_2133_bandwidth", "potential"]


def subject() -> Subject:
    comd, haswell = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")

    def indices() -> object:
        return aspenpy.sensitivity(comd, haswell, method="sobol", vary=VARY, samples=SAMPLES)

    def is_right(found: object) -> bool:
        """First-order shares add up to no more than the whole, totals to no less."""
        assert isinstance(found, Sobol)
        first, total = (sum(getattr(item, name) for item in found.indices) for name in ("first", "total"))
        return found.runs == 8 * SAMPLES and first < 1.01 and total > 0.99

    values = {"nx": 40, "steps": 100, "ranks": 8}
    return Subject(indices, lambda: aspenpy.predict(comd, haswell, set=values).runtime, is_right)


BENCHMARK = Benchmark("Sobol of CoMD, 1,048,576 runs", "predict", 8_000, subject, seconds)
