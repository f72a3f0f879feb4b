"""Every command is answered or refused within seconds and some hundred megabytes, whatever the shape of the question.

What a child process took is what the system says of it: processor time, and the most memory that was resident.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy
import pytest

from aspenpy import AspenError, load_application, load_machine, parse, predict, sweep
from aspenpy.allowance import INTERPRETED, OPERATIONS, Allowance, allowance, one_allowance, separate_allowance, spending
from aspenpy.engine.arrays import loop_operations
from aspenpy.engine.backends import BACKENDS
from aspenpy.explore.space import most_affordable
from aspenpy.expr import cache_sets, cache_windows, graph
from aspenpy.expr.cache_laws import OF_A_LAW, apply_by_point
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.failures import NoOperationsLeft

SECONDS = 7.5
"""Of processor time at the pace of a quiet machine: five, and half as much again."""

MEASURED = """
import json, resource, subprocess, sys, time, numpy

def paces():
    for _ in range(4):
        begun, ones, table = time.process_time(), numpy.ones(5000), {}
        for _ in range(4000):
            ones = ones * 1.0
        for number in range(100_000):
            table[number % 997] = table.get(number % 997, 0) + number
        yield (time.process_time() - begun) / 0.024  # seconds of a quiet core of 2.7 GHz

before = list(paces())
done = subprocess.run([sys.executable, *sys.argv[1:]], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = (used.ru_utime + used.ru_stime) / max(1, sum(before + list(paces())) / 8)
print(json.dumps([done.returncode, done.stdout, done.stderr, seconds, used.ru_maxrss]))
"""
"""A program whose processor time is divided by what a fixed work of NumPy's and Python's takes longer, before and after
it, than on a quiet machine: a slow machine, or a busy thread of the same core, slows both."""

SMALLER = """
import sys
from aspenpy import allowance
share = int(sys.argv.pop(1))
allowance.OPERATIONS //= share
for function in (allowance.Allowance.__init__, allowance.separate_allowance):
    function.__defaults__ = (allowance.OPERATIONS,)
from aspenpy.__main__ import main
sys.exit(main())
"""
"""The command with a part of its allowance: what refuses is the same, and costs as much less."""

START_UP = 1.0
"""Seconds of processor time in which a command is imported, and NumPy with it."""


class Ran(NamedTuple):
    """A command that has run: what it wrote, its seconds of a quiet machine's processor, its peak memory in KiB."""

    status: int
    out: str
    err: str
    seconds: float
    kibibytes: int


def run(*arguments: str, share: int = 1) -> Ran:
    """Runs a command, with one of so many shares of what it may spend."""
    program = ["-m", "aspenpy"] if share == 1 else ["-c", SMALLER, str(share)]
    return measure(*program, *arguments)


def measure(*arguments: str) -> Ran:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", MEASURED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return Ran(*json.loads(done.stdout))


@lru_cache(1)
def import_of_salib() -> float:
    """Seconds that SALib takes to import pandas and SciPy, twice as long as a command to start."""
    pytest.importorskip("SALib")
    return measure("-c", "import SALib.sample.sobol, SALib.analyze.sobol").seconds


def nested(depth: int, size: int, folder: Path, *, triangular: bool = False) -> str:
    """A model of so many loops around a condition that has no closed form; `triangular`: each as long as the counter of
    the one around it."""
    counters = "ijklm"[:depth]
    counts = ["n", *(f"{name}+1" for name in counters[:-1])] if triangular else ["n"] * depth
    loops = " ".join(f"iterate {name} [{count}] {{" for name, count in zip(counters, counts, strict=True))
    body = f"if (mod({'*'.join(counters)}, 7) < 3) {{ execute {{ flops [1] as dp }} }}"
    path = folder / f"nested_{depth}_{size}.aspen"
    path.write_text(
        f"model nested {{ param n = {size} in 1 .. {size}\n kernel main {{ {loops} {body} {'}' * depth} }} }}",
        encoding="utf-8",
    )
    return str(path)


def flops(depth: int, size: int) -> int:
    """Passes in which the product of the counters leaves less than 3 when it is divided by 7."""
    products = {1: 1}
    for _ in range(depth):
        following: dict[int, int] = {}
        for product, times in products.items():
            for counter in range(size):
                following[product * counter % 7] = following.get(product * counter % 7, 0) + times
        products = following
    return sum(times for product, times in products.items() if product < 3)


@pytest.mark.parametrize(("depth", "size"), [(2, 1000), (3, 100), (4, 30), (5, 16)])
def test_nested_loops_are_added(depth: int, size: int, tmp_path: Path) -> None:
    ran = run("eval", nested(depth, size, tmp_path), "--machine", "simple", "--format", "json")
    assert ran.status == 0
    assert ran.seconds < SECONDS

    assert json.loads(ran.out)["resources"]["flops"]["amount"] == flops(depth, size)


@pytest.mark.parametrize(("depth", "size"), [(2, 20_000), (3, 460), (4, 200), (5, 60)])
@pytest.mark.parametrize("command", ["eval", "sensitivity"])
def test_nested_loops_of_too_many_passes_are_refused(command: str, depth: int, size: int, tmp_path: Path) -> None:
    """All loops are as long in each pass: how many passes there are is known before any is added."""
    ran = run(command, nested(depth, size, tmp_path), "--machine", "simple")
    assert ran.seconds < START_UP
    assert_refused(ran)


@pytest.mark.parametrize(("depth", "size"), [(2, 40_000), (3, 900), (5, 130)])
@pytest.mark.parametrize("command", ["eval", "sensitivity"])
def test_loops_as_long_as_a_counter_are_refused(command: str, depth: int, size: int, tmp_path: Path) -> None:
    """How long inner loops are shows while they are added; an eighth of the allowance is spent in an eighth of the
    time."""
    share = 1 if (command, depth) == ("eval", 5) else 8
    ran = run(command, nested(depth, size, tmp_path, triangular=True), "--machine", "simple", share=share)
    assert ran.seconds < START_UP + SECONDS / share
    assert_refused(ran)


def assert_refused(ran: Ran) -> None:
    assert ran.status == 2
    assert ran.kibibytes < 400 * 1024
    assert "passes" in ran.err or "pass by pass" in ran.err
    assert "iterate i [n]" in ran.err
    assert "= hint:" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_what_is_left_decides_before_anything_is_added(share: float, tmp_path: Path) -> None:
    """Operations of a nest of loops are those that adding it spends: with a little less it is refused at once."""
    application, machine = load_application(nested(3, 100, tmp_path)), load_machine("simple")
    with separate_allowance() as needed:
        runtime = predict(application, machine).runtime
    with separate_allowance(needed.spent * share) as given:
        if share > 1:
            assert predict(application, machine).runtime == runtime
        else:
            with pytest.raises(AspenError, match="operations that one command may spend"):
                _ = predict(application, machine).runtime
            assert given.spent < 0.1 * needed.spent


# -- from Python -----------------------------------------------------------------------------------


def test_loops_of_one_command_share_what_it_may_spend(tmp_path: Path) -> None:
    """A loop that is added within half of the operations is refused the third time."""
    loop = "iterate i{n} [250000] {{ if (mod(i{n}, {n}) < 3) {{ execute {{ flops [1] as dp }} }} }}"
    one, three = (" ".join(loop.format(n=7 + number) for number in range(count)) for count in (1, 3))
    machine = load_machine("simple")
    with separate_allowance() as needed:
        assert predict(parse(f"model one {{ kernel main {{ {one} }} }}"), machine).runtime > 0
    assert 0 < needed.spent < OPERATIONS
    application = parse(f"model three {{ kernel main {{ {three} }} }}")
    with separate_allowance(2 * needed.spent), pytest.raises(AspenError, match="operations that one command may spend"):
        _ = predict(application, machine).runtime
    assert predict(application, machine).runtime > 0


def test_an_allowance_is_spent_once() -> None:
    limit = Allowance(10)
    assert limit.spend(10)
    assert limit.left == 0
    assert not limit.exceeded
    assert not limit.spend(1)
    assert limit.exceeded
    assert not limit.spend(0)  # what was refused once stays refused: other values may miss it


@one_allowance
def spent_together(depth: int = 2) -> Allowance:
    """The allowance of the innermost of nested calls."""
    return spent_together(depth - 1) if depth else allowance()


def test_calls_within_a_call_spend_its_allowance() -> None:
    with separate_allowance() as outer:
        assert spent_together() is outer
    assert spent_together() is not spent_together()


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "over",
    [
        ["nx=10..1000:lin:20000000"],
        ["nx=10..1000:lin:20000000", "ny=1..2"],
        ["nx=10..1000:lin:5000000", "ny=10..1000:lin:5000000", "nz=10..1000:lin:5000000"],
        ["nx=10..100:lin:5000", "ny=10..100:lin:4000"],
        ["nx=10..100:lin:300", "ny=10..100:lin:300", "nz=10..100:lin:200"],
        ["nx=10..1000:lin:2000000"],
    ],
)
def test_a_sweep_keeps_to_its_memory(over: list[str]) -> None:
    """64 MiB beside those of the program, whatever the points lie on: an answer, or a refusal with what is enough."""
    axes = [word for axis in over for word in ("--over", axis)]
    if len(over) == 3 and "5000000" in over[0]:
        axes += ["--zip", "nx,ny,nz"]
    limits = ["--memory-limit", "64MiB", "--metric", "runtime,flops,loads", "--backend", "numpy", "--jobs", "1"]
    ran = run("sweep", "comd", "--machine", "haswell", *axes, *limits)
    assert ran.status in (0, 2), ran.err
    assert ran.kibibytes < (64 + 90) * 1024
    if ran.status == 2:
        assert "--memory-limit" in ran.err


@pytest.mark.parametrize("levels", [100, 300, 100_000])
def test_configurations_that_are_too_many_are_refused(levels: int) -> None:
    ran = run("advise", "configure", "comd", "--machine", "haswell", "--vary", "all", "--levels", str(levels))
    assert ran.status == 2
    assert "--levels" in ran.err
    assert ran.seconds < SECONDS
    assert ran.kibibytes < 300 * 1024


# -- compressed input ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b" L 1000,8\n", b"0 1000\n", (4096).to_bytes(8, "little")])
def test_a_compressed_trace_is_not_followed_for_ever(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.gz"
    path.write_bytes(gzip.compress(text * (1_000_000 // len(text))) * 700)  # parts of a file, which are read as one
    ran = run("rdd", str(path))
    assert ran.status == 2
    assert "gunzip" in ran.err
    assert ran.seconds < SECONDS
    assert ran.kibibytes < 300 * 1024


@pytest.mark.parametrize("packed", [True, False])
def test_accesses_of_many_lines_are_counted_as_so_many(packed: bool, tmp_path: Path) -> None:
    """1.3 million accesses of 8 KiB are 166 million references to lines: read from a pipe alone."""
    text = b"".join(b" L %x,8192\n" % (64 * line) for line in range(3000))
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(text) * 430 if packed else text * 430)
    ran = run("rdd", str(path))
    assert ran.status == 2
    assert f"`{'gunzip -c' if packed else 'cat'} TRACE | aspenpy rdd -`" in ran.err
    assert ran.seconds < SECONDS


def test_few_accesses_of_many_lines_are_taken_whole(tmp_path: Path) -> None:
    """Each access of 4 KiB from the beginning of a line is 64 references to lines."""
    path = tmp_path / "trace"
    path.write_bytes(b"".join(b" L %x,4096\n" % (64 * line) for line in range(3000)))
    ran = run("rdd", str(path), "--format", "json")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["references"] == 64 * 3000


def test_a_compressed_trace_of_many_addresses_is_taken_whole(tmp_path: Path) -> None:
    """Addresses that do not repeat compress to a few times less."""
    path = tmp_path / "trace.gz"
    numbers = [number * 2_654_435_761 % 2**32 for number in range(300_000)]
    path.write_bytes(gzip.compress(b"".join(number.to_bytes(8, "little") for number in numbers)))
    ran = run("rdd", str(path), "--format", "json")
    assert ran.status == 0, ran.err
    assert "300000" in ran.out.replace(",", "")


@pytest.mark.parametrize(
    "command",
    [
        ("place", "lulesh", "--machine", "keeneland"),
        ("sensitivity", "lulesh", "--machine", "haswell", "--method", "sobol"),
        ("sensitivity", "cache_jacobi5", "--machine", "haswell", "--method", "normalised"),
        ("sensitivity", "cache_mm_blk16", "--machine", "frontera"),
        ("sensitivity", "hpl", "--machine", "frontera"),
        (
            "advise",
            "configure",
            "hpcg",
            "--machine",
            "frontera",
            "--set",
            "ranks=64",
        ),  # for which few cores are no room
    ],
)
def test_the_library_is_answered_within_seconds(command: tuple[str, ...]) -> None:
    share = 2 if "--method" in command else 1
    ran = run(*command, share=share)
    assert ran.seconds < START_UP + SECONDS / share + import_of_salib() * ("sobol" in command)
    assert ran.status == 0 or "--vary" in ran.err or "vary" in ran.err
    assert ran.kibibytes < 400 * 1024


def test_advice_leaves_out_what_takes_more_than_is_left() -> None:
    """Steps that have no place in what the command may spend, and which one finds them."""
    ran = run("advise", "comd", "--machine", "frontera", "--format", "json", share=10)
    assert ran.status == 0, ran.err
    some = json.loads(ran.out)
    whole = json.loads(run("advise", "comd", "--machine", "frontera", "--format", "json").out)
    assert whole.keys() - some.keys() == {"scale", "decide"}
    assert [(item["code"], item["hint"]) for item in some["diagnostics"]] == [
        ("left-out", f"`aspenpy advise {step} comd --machine frontera` may spend them alone")
        for step in ("scale", "decide")
    ]
    assert "left-out" not in [item["code"] for item in whole["diagnostics"]]


@pytest.mark.parametrize("app", ["cache_mm_blk16", "cache_mm_reg"])
@pytest.mark.parametrize(("method", "usual"), [("sobol", "1,024"), ("normalised", "33")])
def test_a_study_that_takes_too_long_is_a_smaller_one_that_says_so(method: str, usual: str, app: str) -> None:
    """Each point asks laws of caches whose lines are counted one by one."""
    share = 2 if app == "cache_mm_reg" else 1  # half of it is not enough for one point of the other
    ran = run("sensitivity", app, "--machine", "haswell", "--method", method, share=share)
    assert ran.status == 0, ran.err
    assert ran.seconds < START_UP + SECONDS / share + import_of_salib() * (method == "sobol")
    assert f", {usual} where the work of one command allows it: vary fewer" in " ".join(ran.out.split())


@pytest.mark.parametrize(("each", "chosen"), [(0, 8), (1, 8), (2, 4), (3, 2), (90, 1)])
def test_the_largest_affordable_study_is_taken(each: int, chosen: int) -> None:
    """Of 14 operations one point is tried, and 0.7 of what it leaves is for all: 9.1 points of one operation, 4.2 of
    two, 2.6 of three."""
    spent: list[int] = []

    def evaluate(points: numpy.ndarray) -> numpy.ndarray:
        spent.append(len(points))
        allowance().spend(each * len(points))
        return points

    with separate_allowance(14) as given:
        assert most_affordable((8, 4, 2, 1), evaluate, numpy.ones) == chosen
    assert spent == [1]
    assert given.spent == (each if each <= 14 else 0)


# -- laws of caches --------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [1, 7, 30])
def test_a_law_at_points_spends_for_each_that_is_different(points: int) -> None:
    law, column = apply_by_point(lambda size: 2 * size), numpy.repeat(numpy.arange(float(points)), 3)
    needed = points * OF_A_LAW * INTERPRETED
    with separate_allowance(needed) as given:
        assert law(numpy, column).tolist() == (2 * column).tolist()
    assert given.spent == needed
    with separate_allowance(needed - 1), pytest.raises(NoOperationsLeft):
        law(numpy, column)


def forget_windows() -> None:
    """Makes windows count their lines anew."""
    for table in (cache_sets._count_begins, cache_sets._count_lines_by_trip):
        table.clear()
    cache_windows._window.cache_clear()


@pytest.mark.parametrize("backend", BACKENDS)
def test_lines_counted_at_points_are_spent(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each count of a walk's lines spends what is said of one. With one operation less the sweep is refused, with one
    more it is not."""
    require_backend(backend)
    app, machine = load_application("cache_mm_blk16"), load_machine("haswell")
    count, counted = cache_sets._count_lines_between, list[object]()
    monkeypatch.setattr(cache_sets, "_count_lines_between", lambda *args: (counted.append(args), count(*args))[1])

    def spend(sizes: list[int], operations: float = OPERATIONS) -> float:
        forget_windows()
        with separate_allowance(operations) as given:
            values = sweep(app, machine, over={"n": sizes}, backend=backend, cores=1)["runtime"].values
        assert numpy.isfinite(values).all()
        return given.spent

    spend([96, 112])  # what is computed while formulas are lowered is kept with them
    counted.clear()
    needed = spend([96, 112])
    assert 10 * cache_sets.OF_A_WALK * INTERPRETED < len(counted) * cache_sets.OF_A_WALK * INTERPRETED < needed
    assert max(spend([96]), spend([112])) < needed
    assert spend([96, 112], needed) == spend([96, 112], needed + 1) == needed
    with pytest.raises(AspenError, match="the points take too long"):
        spend([96, 112], needed - 1)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_lines_counted_in_one_prediction_spend_its_allowance(share: float) -> None:
    app, machine = load_application("cache_mm_blk16"), load_machine("haswell")
    forget_windows()
    with separate_allowance() as needed:
        runtime = predict(app, machine).runtime
    forget_windows()
    with separate_allowance(share * needed.spent):
        if share > 1:
            assert predict(app, machine).runtime == runtime
        else:
            with pytest.raises(AspenError, match="lines of caches that are counted"):
                _ = predict(app, machine).runtime


@pytest.mark.parametrize("machine", ["haswell", "h100"])
@pytest.mark.parametrize("app", ["cache_mm_blk16", "cache_mm_ikj", "cache_mm_reg", "cache_transpose", "cache_jacobi5"])
def test_a_search_over_laws_of_caches_is_answered_or_refused(app: str, machine: str) -> None:
    ran = run("optimise", app, "--machine", machine, "--minimise", "runtime", "--vary", "n", share=8)
    assert ran.seconds < START_UP + SECONDS / 8
    assert ran.status == 0 or (ran.status == 2 and "= hint:" in ran.err and "Traceback" not in ran.err)


# -- accesses of nested loops ----------------------------------------------------------------------


def arrays(count: int, loops: int, folder: Path) -> str:
    """A model of one block that reads so many arrays by nested loops, each in another order."""
    sizes = ["8*" + "*".join(["n"] * place) if place else "8" for place in range(loops)]
    lines = []
    for number in range(count):
        strides = ", ".join(f"{sizes[(number + place) % loops]}, n" for place in range(loops))
        lines.append(f"loads [n^{loops}] of size [8] from a{number} as nest({strides})")
    data = " ".join(f"data a{number} as Array(n^{loops}, 8)" for number in range(count))
    path = folder / f"arrays_{count}_{loops}.aspen"
    block = "\n".join(lines)
    path.write_text(
        f"model arrays {{ param n = 100 {data} kernel main {{ execute {{\n{block}\n}} }} }}", encoding="utf-8"
    )
    return str(path)


@pytest.mark.parametrize(("count", "loops"), [(12, 2), (12, 3), (8, 4), (40, 3), (100, 2), (200, 1)])
def test_traffic_of_many_arrays_is_answered_or_refused(count: int, loops: int, tmp_path: Path) -> None:
    """Each access brings in each of its lines once at least: 8 words of 8 bytes."""
    ran = run("traffic", arrays(count, loops, tmp_path), "--machine", "haswell", "--format", "json")
    assert ran.seconds < SECONDS
    assert ran.kibibytes < 300 * 1024
    if count * loops <= 36:
        assert ran.status == 0, ran.err
        rows = {row["array"] for row in json.loads(ran.out)["accesses"]}
        assert len(rows) == count
    else:
        assert ran.status in (0, 2)
        assert ran.status == 0 or "arrays_" in ran.err
        assert "Traceback" not in ran.err


# -- sweeps, whatever computes them ----------------------------------------------------------------

FEW, MANY = "n=400..460:whole:8", "n=1000..2000:lin:1500000"


def require_backend(name: str) -> None:
    missing = BACKENDS[name].missing()
    if missing:
        pytest.skip(missing)


@pytest.mark.parametrize(
    ("backend", "jobs", "depth", "over"),
    [
        *(("numpy", 1, *shape) for shape in ((3, FEW), (2, "n=9000..9999:whole:1000"), (4, "n=100,200"))),
        *((backend, jobs, 1, MANY) for backend in BACKENDS for jobs in (1, 2)),
        *((backend, 1, 3, FEW) for backend in ("llvm", "c")),
    ],
)
def test_a_sweep_of_nested_loops_is_refused(backend: str, jobs: int, depth: int, over: str, tmp_path: Path) -> None:
    """Two jobs are processes with NumPy, and threads with the others."""
    require_backend(backend)
    options = ["--machine", "simple", "--over", over, "--backend", backend, "--jobs", str(jobs)]
    processes = jobs if backend == "numpy" else 1  # each of them spends what was left
    share = 1 if depth == 3 else 8
    ran = run("sweep", nested(depth, 460, tmp_path), *options, share=share)
    assert ran.status == 2
    assert "--yes" in ran.err
    assert "Traceback" not in ran.err
    assert ran.seconds < (START_UP + SECONDS / share) * processes


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_that_are_written_out_spend_nothing(backend: str) -> None:
    """Two levels of a fat tree are two terms: a sweep of a network is refused at no number of points."""
    require_backend(backend)
    app, machine = load_application("lulesh"), load_machine("haswell")
    with separate_allowance(100):
        found = sweep(
            app, machine, over={"steps": [float(place) for place in range(1, 2000)]}, backend=backend, cores=1
        )
    assert found["runtime"].values[99] == pytest.approx(predict(app, machine, set={"steps": 100}).runtime, rel=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sweep_of_fewer_passes_is_computed(backend: str, tmp_path: Path) -> None:
    require_backend(backend)
    path = tmp_path / "points.csv"
    options = ["--machine", "simple", "--over", "n=10..30:whole:3", "--metric", "flops", "--backend", backend]
    ran = run("sweep", nested(3, 460, tmp_path), *options, "-o", str(path))
    assert ran.status == 0, ran.err
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    assert [float(row[1]) for row in rows] == [flops(3, int(float(row[0]))) for row in rows]
    assert len(rows) == 3


def operations_at(text: str, size: int) -> float:
    """Operations that the loops of a model take."""
    prediction = predict(parse(f"model m {{ param n = {size} kernel main {{ {text} }} }}"), load_machine("simple"))
    formula = prediction.scope.formulas([prediction.tree.runtime])[0]
    return float(evaluate(loop_operations([formula])))


INNERMOST = "if (mod(i*j + 1, 7) < 3) { execute { flops [1] as dp } }"


@pytest.mark.parametrize("inner", ["n", "i", "mod(i, 5)"])
def test_the_operations_of_loops_are_those_of_their_passes(inner: str) -> None:
    """a passes of the outer loop and b of the inner one, counted here, take x*a + y*b: x and y from two sizes say what
    a third one takes."""
    text = f"iterate i [n] {{ iterate j [{inner}] {{ {INNERMOST} }} }}"
    trips = {"n": lambda i, n: n, "i": lambda i, n: i, "mod(i, 5)": lambda i, n: i % 5}[inner]
    counted = {size: (size, sum(trips(i, size) for i in range(size))) for size in (12, 31, 57)}
    (a1, b1), (a2, b2), (a3, b3) = counted.values()
    first, second, third = (operations_at(text, size) for size in counted)
    determinant = a1 * b2 - a2 * b1
    x, y = (first * b2 - second * b1) / determinant, (a1 * second - a2 * first) / determinant
    assert x > 0
    assert y > 10
    assert third == pytest.approx(x * a3 + y * b3, rel=1e-12)


def test_a_loop_of_too_many_passes_is_not_made() -> None:
    """10^7 is the most: a sweep has no value beyond, and makes no pass."""
    counter, n = graph.counter("i"), graph.symbol("n")
    operations = loop_operations([graph.summation(counter, n, graph.apply("sqrt", graph.add(counter, n)))])
    assert evaluate(operations, {n: 10**7}) >= 10**7
    assert evaluate(operations, {n: 10**7 + 1}) == 0


def test_threads_spend_one_allowance() -> None:
    def spend() -> bool:
        with spending(shared):
            return allowance().spend(4)

    shared = Allowance(10)
    with ThreadPoolExecutor(1) as pool:
        assert [pool.submit(spend).result() for _ in range(3)] == [True, True, False]
    assert shared.spent == 8
