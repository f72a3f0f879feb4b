"""Sweeps of a million points by back end; what compiling costs, what a second core gives, and what a file takes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from math import prod
from pathlib import Path
from typing import Any

import numpy

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.engine.backends import BACKENDS, compile_machine_code, compile_with_c, compile_with_llvm
from aspenpy.engine.program import Program
from aspenpy.sweeps.formats import format_of
from aspenpy.sweeps.grid import Layout, make_study
from aspenpy.sweeps.run import StudyRun, available_cores
from aspenpy.sweeps.store import Store
from benchmarks.measure import Action, Benchmark, Subject, bare_python, seconds

POINTS = 1_000_000

GCC = "gcc -O3, scattered"

COMD = ("nx", "ny", "nz")
LULESH = ("edge_elements", "steps", "ranks")


def scattered(names: Sequence[str], points: int | None = None) -> dict[str, Any]:
    """Whole numbers from 10 to 128, for as many ranks as the machine has cores, the same at each run."""
    draws = numpy.random.default_rng(1)
    return {name: draws.integers(10, 129, points or POINTS).astype(float) for name in names}


def grid(names: Sequence[str]) -> dict[str, Any]:
    return {name: numpy.arange(10.0, 110.0) for name in names}


def run_of(app: str, over: Mapping[str, Any], backend: str, cores: int = 1, *, zipped: bool = True) -> StudyRun:
    model, machine = aspenpy.load_application(app), aspenpy.load_machine("haswell")
    study = make_study(Case(model, machine), over, Layout(zip=[tuple(over)] if zipped else []))
    return StudyRun(study, backend, cores)


def whole(run: StudyRun) -> Callable[[], Any]:
    """All of a run, its results in one array."""

    def action() -> Any:
        found = numpy.empty(run.study.points)
        for stretch in run.stretches():
            found[stretch.start : stretch.start + stretch.values.shape[1]] = stretch.values[0]
        return found

    return action


def nanoseconds(points: int) -> Callable[[Action], float]:
    """Of a point."""
    return lambda action: seconds(action) / points * 1e9


def agrees(run: StudyRun) -> Callable[[Any], bool]:
    """The last point is what `predict` says of it."""

    def is_right(found: Any) -> bool:
        case, last = run.study.cases[0], run.study.points - 1
        exact = aspenpy.predict(case.application, case.machine, set=run.study.point(last)).runtime
        return bool(abs(found[last] / exact - 1) < 1e-12 and numpy.isfinite(found).all())

    return is_right


def points(
    title: str, app: str, names: Sequence[str], backend: str, limit: float, *, on_grid: bool = False
) -> Benchmark:
    """One core, against generated C on scattered points."""

    def subject() -> Subject:
        run = run_of(app, grid(names) if on_grid else scattered(names), backend, zipped=not on_grid)
        return Subject(whole(run), whole(run_of(app, scattered(names), "c")), agrees(run))

    size = prod(map(len, grid(names).values())) if on_grid else POINTS
    return Benchmark(title, GCC, limit, subject, nanoseconds(size), "ns/point")


def compiling() -> Subject:
    run = run_of("comd", scattered(COMD, 10), "numpy")
    program = Program(run.study.formulas[0], run.study.inputs)

    def action() -> Any:
        compile_machine_code.cache_clear()
        return compile_with_llvm(program)

    return Subject(action, bare_python, lambda kernel: len(kernel.leaves) == len(COMD))


def whole_call() -> Subject:
    """From models and axes to a result with its coordinates, on one core; C from columns to a column."""
    application, machine, over = (
        aspenpy.load_application("comd"),
        aspenpy.load_machine("haswell"),
        scattered(COMD, 8 * POINTS),
    )
    run, columns = run_of("comd", over, "numpy"), list(over.values())
    kernel = compile_with_c(Program(run.study.formulas[0], run.study.inputs))

    def loop() -> Any:
        found = numpy.empty(len(columns[0]))
        kernel.run(columns, [found])
        return found

    def is_right(found: Any) -> bool:
        return bool(numpy.allclose(found["runtime"].values, loop(), rtol=1e-12))

    return Subject(lambda: aspenpy.sweep(application, machine, over=over, zip=[COMD], cores=1), loop, is_right)


def again() -> Subject:
    """What a sweep takes besides its points, once the same models, axes and metrics were swept before."""
    application, machine = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")
    expected = aspenpy.predict(application, machine, set={"nx": 40}).runtime

    def sweep() -> Any:
        return aspenpy.sweep(application, machine, over={"nx": [20.0, 40.0]}, cores=1)

    def is_right(found: Any) -> bool:
        return bool(abs(found["runtime"].values[1] / expected - 1) < 1e-12)

    return Subject(sweep, lambda: aspenpy.predict(application, machine, set={"nx": 40}).runtime, is_right)


def two_cores() -> Subject:
    over = scattered(LULESH, 4 * POINTS)
    one, two = (run_of("lulesh", over, "llvm", cores) for cores in (1, 2))
    return Subject(whole(two), whole(one), agrees(two))


def separable() -> Subject:
    """A sum of a function of each axis: the axes, and one pass over the points."""
    model: Any = aspenpy.parse(
        "model separable { param a = 1 param b = 1 param c = 1 kernel main {"
        " execute { flops [a^0.3 + log2(a)] } execute { flops [sqrt(b)/7 + b^1.1] } execute { flops [exp(c/1000)] } } }"
    )
    machine: Any = aspenpy.parse("machine unit { socket [1] cpu } socket cpu { resource flops(n) [n] }")
    axes = {name: numpy.linspace(1, 500, 250) for name in "abc"}
    run = StudyRun(make_study(Case(model, machine), axes), "numpy", 1)
    ones = numpy.ones((250, 250, 250))
    return Subject(whole(run), lambda: ones + 1.0, agrees(run))


def to_parquet(size: int) -> Callable[[], Any]:
    fresh = count()
    run = run_of("comd", {"nx": numpy.linspace(10, 200, size)}, "auto", available_cores(), zipped=False)

    def action() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"r{next(fresh)}.parquet")
            store = Store(path, run, format_of(path).write)
            for _ in store.fill(run):
                pass
            store.finish()
            return path.stat().st_size

    return action


def parquet() -> Subject:
    return Subject(to_parquet(8 * POINTS), to_parquet(2 * POINTS), lambda size: size > 8 * POINTS)


def once(action: Action) -> float:
    """What is long enough is measured once."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def available() -> tuple[Benchmark, ...]:
    """Those that this machine can run."""
    found = [
        Benchmark("250^3 points of a separable model", "one pass over them", 6, separable, once),
        Benchmark("a second sweep, of two points", "predict", 6, again, seconds),
    ]
    if BACKENDS["c"].missing() is None:
        found += [
            points("CoMD, NumPy, scattered", "comd", COMD, "numpy", 8),
            points("CoMD, NumPy, 100^3 grid", "comd", ("nx", "steps", "ranks"), "numpy", 2, on_grid=True),
        ]
        if BACKENDS["llvm"].missing() is None:
            found += [
                points("CoMD, LLVM, scattered", "comd", COMD, "llvm", 2),
                points("LULESH, LLVM, scattered", "lulesh", LULESH, "llvm", 2),
                Benchmark("a whole sweep of CoMD, 8e6 points", "gcc -O3, its loop", 2, whole_call, once),
            ]
    if BACKENDS["llvm"].missing() is None:
        found.append(Benchmark("compiling CoMD with LLVM", "python -c pass", 20, compiling, seconds))
        if available_cores() > 1:
            found.append(Benchmark("4e6 points of LULESH, two cores", "one core", 1 / 1.7, two_cores, once))
    if not BACKENDS["llvm"].missing() and _has_parquet():
        found.append(Benchmark("8e6 points to Parquet", "2e6 points", 5, parquet, once))
    return tuple(found)


def _has_parquet() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


BENCHMARKS = available()
