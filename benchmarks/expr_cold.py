"""`aspenpy expr` with three free parameters, from the shell's prompt to the formula."""

import math

import aspenpy
from benchmarks.measure import Benchmark, Subject, aspenpy_command, bare_python, seconds

POINT = {"nx": 40, "steps": 10, "ranks": 64}


def value_at_point(formula: str) -> float:
    """The printed formula, read as Python."""
    functions = {"max": max, "ceil": math.ceil, "floor": math.floor, "log2": math.log2}
    choice = {"if_": lambda condition, then, otherwise: then if condition else otherwise}
    return float(eval(formula.replace("^", "**").replace("if(", "if_("), functions | choice | POINT))


def subject() -> Subject:
    expected = aspenpy.predict(aspenpy.load_application("comd"), aspenpy.load_machine("haswell"), set=POINT).runtime
    return Subject(
        lambda: aspenpy_command("expr", "comd", "--machine", "haswell", "--free", ",".join(POINT)),
        bare_python,
        lambda formula: math.isclose(value_at_point(formula), expected, rel_tol=1e-12),
    )


BENCHMARK = Benchmark("aspenpy expr comd, 3 parameters free", "python -c pass", 12, subject, seconds)
