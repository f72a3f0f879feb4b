"""The command `aspenpy sweep`."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from tempfile import TemporaryDirectory

from aspenpy.allowance import MEMORY, OPERATIONS, separate_allowance
from aspenpy.language.axis import Axis
from aspenpy.language.dimensions import BYTES, UNITS
from aspenpy.language.files import STANDARD_OUTPUT
from aspenpy.language.opening import open_file
from aspenpy.report.sweep import draw
from aspenpy.shell.failure import FAILURE, CommandError
from aspenpy.shell.operands import axes_of, case_of_arguments, machine_named
from aspenpy.shell.option import Arguments, Examples, choice, command, flag, option, repeatable_option
from aspenpy.shell.options import (
    METRIC,
    MODEL,
    NO_INTERVAL,
    OUTPUT,
    PICTURE,
    SAMPLES,
    SEED,
    SETTINGS,
    formats,
    machine_names,
    machines,
    require_machine,
)
from aspenpy.shell.output import DEFAULT_FORMAT, complain, deliver
from aspenpy.shell.progress import report_count
from aspenpy.shell.study_options import FAIL_FAST, OVER
from aspenpy.sweeps.formats import format_of
from aspenpy.sweeps.grid import Layout, make_study
from aspenpy.sweeps.run import StudyRun
from aspenpy.sweeps.store import Store
from aspenpy.sweeps.study import Study
from aspenpy.sweeps.sweep import compute
from aspenpy.tables.formats import FORMATS

EXAMPLES: Examples = (
    ("where the runtime is least, and where largest", "aspenpy sweep comd --machine haswell --over nx=10..100:whole"),
    (
        "a grid, in equal ratios and in powers of two",
        "aspenpy sweep comd --machine haswell --over nx=10..1k:log:50 --over ranks=1..64:pow2",
    ),
    (
        "several machines, and amounts of resources",
        "aspenpy sweep matmul --over machine=haswell,simple --over n=100..10k --metric runtime,flops",
    ),
    (
        "points scattered over the ranges",
        "aspenpy sweep comd --machine haswell --over nx=10..100 --over steps=1..1k:log --samples 1e4 --sampling latin",
    ),
)

METHODS = ("sobol", "latin", "uniform")


def _parse_memory_size(text: str) -> int:
    """The type of an option that takes an amount of memory."""
    matched = re.fullmatch(r"(\d++\.?\d*+|\.\d++)\s*+([A-Za-z]*)", text)
    unit = UNITS.get((matched[2] or "B") if matched else "")
    size = float(matched[1]) * float(unit.size) if matched and unit and unit.dimension == BYTES else 0.0
    if size < 1:
        raise ArgumentTypeError(f"expected a size, such as 500MB or 1GiB, not `{text}`")
    return int(size)


OPTIONS = (
    MODEL,
    machines(required=False, why="; several are an axis, as --over machine=A,B"),
    OVER.adapt(
        "; :lin, :log or :pow2, :whole and a number of points stand behind a range; NAME alone is the range that the "
        "model declares; app, machine, socket and kernel take lists of them; may be repeated"
    ),
    repeatable_option("--zip", "NAME,NAME", "these axes side by side, not all with all"),
    SAMPLES.adapt(": points scattered over the axes instead of a grid"),
    choice("--sampling", METHODS, "how --samples are drawn (default: sobol)", default="sobol").adapt(former="--method"),
    METRIC.adapt(
        ", or a property summed over the machine; several by commas (default: runtime)",
        metavar="NAME,...",
        default="runtime",
    ),
    *SETTINGS,
    option("--backend", "B", "auto (the default), numpy, llvm or c", default="auto"),
    option("--jobs", "N", "points computed at once, each on a core (default: all, for a large sweep)", type=int),
    option("--dask", "ADDRESS", "the workers of this Dask cluster compute: tcp://HOST:PORT"),
    option("--memory-limit", "SIZE", "the most memory of results alone (default: 1GiB)", type=_parse_memory_size),
    OUTPUT.adapt(": all points, a row each in .csv, .json or .parquet, an array a metric in .npz, .nc or .zarr"),
    flag("--resume", "with -o: resumes an interrupted sweep"),
    FAIL_FAST.adapt(", a point without a value"),
    flag("--yes", "allows any number of points"),
    PICTURE.adapt(": the metrics over one or two axes"),
    formats(of=": the summary"),
    NO_INTERVAL,
    SEED,
)


@command(
    "sweep",
    "compare",
    "Evaluate metrics at many points: grids and samples of parameters, machines and sockets",
    OPTIONS,
    EXAMPLES,
)
def run_sweep(arguments: Arguments) -> int:
    if arguments.resume and not arguments.output:
        raise CommandError("--resume belongs to -o FILE: it takes up what was begun there")
    memory = arguments.memory_limit or MEMORY
    study = _make_study(arguments, memory)
    with separate_allowance(inf if arguments.yes else OPERATIONS):
        run = StudyRun(study, arguments.backend, arguments.jobs, client=arguments.dask, memory=memory)
        seen = report_count(study.points, f"points by {run.backend.name}")
        with _file_of_points(arguments) as output:
            store = Store(output, run, format_of(output).write, resume=arguments.resume) if output else None
            result = compute(run, memory, store=store, fail_fast=arguments.fail_fast, seen=seen)
    status = deliver(result.report(interval=not arguments.no_interval), arguments, lambda: draw(result))
    if result.has_values:
        return status
    complain("none of the points has a value")
    return FAILURE


@contextmanager
def _file_of_points(arguments: Arguments) -> Iterator[str | None]:
    """The file of `-o`. Where that is standard output, all points go there when they are known, in the format of
    --format, as CSV where that is a table; the summary goes to standard error."""
    if arguments.output != STANDARD_OUTPUT:
        yield arguments.output
        return
    if arguments.resume:
        raise CommandError("--resume: standard output has no beginning that could be taken up")
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "points" + (FORMATS[arguments.format].suffix or ".csv"))
        arguments.format = DEFAULT_FORMAT
        yield path
        with io.TextIOWrapper(open_file(path, path), encoding="utf-8", newline="") as points:
            shutil.copyfileobj(points, sys.stdout)


def _make_study(arguments: Arguments, memory: int) -> Study:
    metrics = _split_names(arguments.metric, "--metric")
    groups = [_split_names(group, "--zip") for group in arguments.zip]
    layout = Layout(groups, arguments.samples, arguments.sampling, arguments.yes, memory)
    over = _read_axes(arguments)
    require_machine(arguments)
    case = case_of_arguments(arguments, "main" if "kernel" in over else None)
    if case.machine is None:
        case = case.changed(machine=machine_named(over["machine"].items[0].text(), arguments))
    return make_study(case, over, layout, metrics=metrics, allow_outside=arguments.allow_outside)


def _read_axes(arguments: Arguments) -> dict[str, Axis]:
    """The axes of `--over`; several machines of `--machine` are one, and a single one is that of the case."""
    names = machine_names(arguments.machines)
    arguments.machine = names[0] if len(names) == 1 else None
    texts = [*arguments.over, *([f"machine={','.join(names)}"] if len(names) > 1 else [])]
    if not texts:
        raise CommandError("a sweep goes over something: --over n=1k..1M:log:200")
    axes = axes_of(texts)
    if not names and "machine" not in axes:
        raise CommandError("a machine is needed: --machine M, or --over machine=A,B")
    return axes


def _split_names(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise CommandError(f"{option}: expected different names with commas between them, not `{text}`")
    return names
