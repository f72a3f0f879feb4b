"""`aspenpy advise`, all steps, for the largest application of the library, from the shell's prompt to the answer."""

from benchmarks.measure import Benchmark, Subject, aspenpy_command, bare_python, seconds


def subject() -> Subject:
    return Subject(
        lambda: aspenpy_command("advise", "lulesh", "--machine", "haswell"),
        bare_python,
        lambda printed: printed.startswith("advice for lulesh on haswell"),
    )


BENCHMARK = Benchmark("aspenpy advise lulesh", "python -c pass", 450, subject, seconds)
