"""`aspenpy eval`, from the shell's prompt to the answer."""

import aspenpy
from aspenpy.language.dimensions import format_quantity
from benchmarks.measure import Benchmark, Subject, aspenpy_command, bare_python, seconds


def subject() -> Subject:
    runtime = aspenpy.predict(aspenpy.load_application("comd"), aspenpy.load_machine("haswell")).runtime
    return Subject(
        lambda: aspenpy_command("eval", "comd", "--machine", "haswell"),
        bare_python,
        lambda printed: f"takes {format_quantity(runtime, 's')}" in printed,
    )


BENCHMARK = Benchmark("aspenpy eval comd", "python -c pass", 6.5, subject, seconds)
