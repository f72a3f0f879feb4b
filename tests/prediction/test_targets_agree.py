"""Every model of the library at random points: exact arithmetic, prepared functions, sweeps by each back end, C,
JavaScript and SymPy give the same runtime, energy and amounts. By default a third is compiled."""

import ctypes
import json
import math
import random
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy
import pytest

import aspenpy
from aspenpy.answers.metrics import find_metric, has_metric
from aspenpy.engine.backends import BACKENDS
from aspenpy.engine.c_text import HEADERS, find_used_helpers, read_helpers, to_c_fragment
from aspenpy.engine.compiled import is_compilable
from aspenpy.engine.javascript_text import NotInJavaScript, add_helpers, to_javascript
from aspenpy.engine.program import Program
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.node import topological_order
from aspenpy.expr.printer import to_latex
from aspenpy.expr.sympy_view import from_sympy, to_sympy
from aspenpy.sweeps.work import PointSheet
from tests.thorough import THOROUGH

APPLICATIONS = sorted(path.stem for path in (Path(__file__).parents[2] / "models" / "apps").glob("*.aspen"))
POINTS = 6
METRICS = ("runtime", "energy", "loads", "flops", "messages")


def machines_for(name):
    kept = ("perlmutter_cpu",) if name == "jacobi_checkpoint" else ("haswell", "pentium_m", "keeneland_kids")
    return ("cachegrind",) if name.startswith("cache_") else kept


class Formula:
    """A metric of an application in some of its parameters, and random points with what exact arithmetic says."""

    def __init__(self, title, prediction, metric_name, free):
        self.title, self.prediction = title, prediction
        self.symbols = [prediction.scope.symbol(name) for name in free]
        self.metric, self.free = metric_name, free
        self.expr = prediction.scope.formulas([find_metric(metric_name).expr(prediction)], free)[0]
        draws = random.Random(title)
        base = prediction.scope.values(self.symbols)
        self.points = []
        self.exact = []
        for _ in range(40):
            point = [type(value)(max(1, round(value * draws.uniform(0.5, 3)))) for value in base]
            try:
                value = float(evaluate(self.expr, dict(zip(self.symbols, point, strict=True)), prediction.seed))
            except EvaluationError:
                continue
            self.points.append(point)
            self.exact.append(value)
            if len(self.points) == POINTS:
                break

    def program(self):
        return Program([self.expr], self.symbols, self.prediction.seed)


@cache
def formulas():
    found = []
    for name in APPLICATIONS:
        app = aspenpy.load_application(name)
        for machine in machines_for(name):
            try:
                prediction = aspenpy.predict(app, aspenpy.load_machine(machine))
                prediction.runtime  # noqa: B018 (where the application does not fit the machine, it fails)
            except aspenpy.AspenError:
                continue
            numbers = [
                key
                for key, item in app.parameters.items()
                if not prediction.scope.is_array(item.symbol) and _worth(prediction, item.symbol)
            ]
            for metric_name in METRICS:
                if has_metric(prediction, metric_name) and (metric_name != "energy" or machine != "cachegrind"):
                    found.append(Formula(f"{name} {machine} {metric_name}", prediction, metric_name, numbers[:2]))
            break
    return [formula for formula in found if formula.points]


def _worth(prediction, symbol):
    try:
        return prediction.scope.values([symbol])[0] > 1
    except aspenpy.AspenError:
        return False


def close(values, formula):
    assert values == pytest.approx(formula.exact, rel=1e-9, abs=0), formula.title


def test_enough_is_compared():
    """Every application, and most with their energy."""
    titles = [formula.title.split() for formula in formulas()]
    assert {name for name, _, _ in titles} == set(APPLICATIONS)
    assert sum(name == "energy" for _, _, name in titles) > len(APPLICATIONS) / 2


def test_prepared_functions():
    for formula in formulas():
        prepared = formula.prediction.prepare(formula.free, formula.metric)
        close([prepared(*map(float, point)) for point in formula.points], formula)


@pytest.mark.parametrize("backend", [name for name, item in BACKENDS.items() if name != "c" and not item.missing()])
def test_sweeps(backend):
    compiled = 0
    make = BACKENDS[backend].kernel
    tried = formulas() if THOROUGH or not make else formulas()[::5]
    for formula in tried:
        program = formula.program()
        few = len(program.ops) < 300  # compiling a larger one takes longer than all else here
        kernel = make(program) if make and few and is_compilable(program) else None
        compiled += kernel is not None
        columns = [(0, numpy.array(column, dtype=float)) for column in zip(*formula.points, strict=True)]
        sheet = PointSheet(program, (len(formula.points),), columns, kernel)
        values = numpy.empty(len(formula.points))
        reasons = sheet.block((slice(None),), [values])
        assert reasons is None
        close(values.tolist(), formula)
    assert make is None or compiled > 0.5 * len(tried)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")
def test_c(tmp_path):
    """All in one file, which takes a second; a draw has no form in C."""
    functions, written = [], []
    tried = formulas() if THOROUGH else formulas()[1::5]
    for formula in tried:
        names = {symbol: f"x{place}" for place, symbol in enumerate(formula.symbols)}
        if any(node.kind == "draw" for node in topological_order(formula.expr)):
            continue
        body, result = to_c_fragment(formula.expr, names, set(names.values()))
        arguments = ", ".join(f"double {name}" for name in names.values()) or "void"
        functions.append(f"double f{len(written)}({arguments})\n{{\n" + "\n".join(body) + f"\nreturn {result};\n}}")
        written.append(formula)
    text = "\n".join(functions)
    (tmp_path / "all.c").write_text(
        "\n".join([*HEADERS, *find_used_helpers(text, read_helpers()), text, ""]), encoding="utf-8"
    )
    command = ["gcc", "-std=c99", "-ffp-contract=off", "-fPIC", "-shared", "all.c", "-o", "all.so", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "all.so"))
    assert len(written) > 0.9 * len(tried)
    for number, formula in enumerate(written):
        function = library[f"f{number}"]
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * len(formula.symbols)
        close([function(*map(float, point)) for point in formula.points], formula)


def test_sympy_says_the_same_and_latex_is_balanced():
    """Read back from SymPy, a formula has the value that it had."""
    for formula in formulas():
        if len(topological_order(formula.expr)) > 300:
            continue
        names = {f"x{place}": symbol for place, symbol in enumerate(formula.symbols)}
        again = from_sympy(to_sympy(formula.expr, {symbol: name for name, symbol in names.items()}), names)
        values = [
            float(evaluate(again, dict(zip(formula.symbols, point, strict=True)), formula.prediction.seed))
            for point in formula.points
        ]
        close(values, formula)
        text = to_latex(formula.expr)
        assert text.count("{") == text.count("}")
        assert text.count(r"\left") == text.count(r"\right")
        assert math.isfinite(values[0])


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
def test_javascript(tmp_path):
    """All in one script, every formula; a draw has no form in JavaScript."""
    functions, written = [], []
    for formula in formulas():
        try:
            functions.append(
                to_javascript([formula.expr], formula.symbols, f"f{len(written)}", formula.prediction.seed)
            )
        except NotInJavaScript:
            continue
        written.append(formula)
    calls = [f"{json.dumps([list(map(float, point)) for point in item.points])}" for item in written]
    listed = ", ".join(f"{call}.map(f{number}).map(([value]) => value)" for number, call in enumerate(calls))
    script = tmp_path / "all.js"
    script.write_text(
        add_helpers("\n".join(functions)) + f"console.log(JSON.stringify([{listed}]));\n", encoding="utf-8"
    )
    done = subprocess.run(["node", str(script)], check=True, capture_output=True, text=True)
    assert len(written) > 0.9 * len(formulas())
    for formula, values in zip(written, json.loads(done.stdout), strict=True):
        close(values, formula)
