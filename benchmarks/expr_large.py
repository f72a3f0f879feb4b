"""The formula of an application with 3,000 requirements, from its text to SymPy's expression."""

from itertools import count
from typing import Any

import aspenpy
from benchmarks.measure import Benchmark, Subject, bare_python, seconds
from benchmarks.models import COUNTING_MACHINE, blocks_text

REQUIREMENTS = 3000


def subject() -> Subject:
    import sympy

    machine: Any = aspenpy.parse(COUNTING_MACHINE)
    fresh = count()

    def formula() -> Any:
        model: Any = aspenpy.parse(blocks_text(REQUIREMENTS, f"blocks{next(fresh)}"))
        return aspenpy.predict(model, machine).expression(free=["n"])

    def is_right(formula: Any) -> bool:
        expected = sum(-(-1000 // i) * i for i in range(1, REQUIREMENTS + 1))
        return bool(formula.xreplace({sympy.Symbol("n"): sympy.Integer(1000)}).doit() == expected)

    return Subject(formula, bare_python, is_right)


BENCHMARK = Benchmark("formula of 3,000 requirements", "python -c pass", 60, subject, seconds)
