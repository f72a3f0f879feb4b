"""`aspenpy sweep`: evaluate metrics at many points: grids and samples of parameters, machines and sockets."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace

from aspenpy.language.axis import Axis, parsed
from aspenpy.language.dimensions import UNITS
from aspenpy.report.sweep import summed_up
from aspenpy.report.sweep_picture import draw
from aspenpy.shell.entry import case_of_arguments, machine_named
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_seed, add_settings
from aspenpy.shell.pictures import save
from aspenpy.shell.progress_bar import progress
from aspenpy.studies.sweeps.cluster import connected
from aspenpy.studies.sweeps.formats import format_of
from aspenpy.studies.sweeps.grid import studied
from aspenpy.studies.sweeps.result import InMemory, Summary, SweepResult
from aspenpy.studies.sweeps.run import Run
from aspenpy.studies.sweeps.store import Store
from aspenpy.studies.sweeps.study import Study
from aspenpy.studies.sweeps.sweep import computed, result_bytes

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
        "aspenpy sweep comd --machine haswell --over nx=10..100 --over steps=1..1k:log --sample 1e4 --method uniform",
    ),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=False, why="; can be swept over instead: --over machine=A,B")
    parser.add_argument(
        "--over",
        metavar="AXIS",
        action="append",
        default=[],
        help="NAME=LOW..HIGH, with :lin, :log or :pow2, :whole and a number of points behind it; NAME=1,2,4; NAME alone"
        " for the range that the model declares; app, machine, socket and kernel with lists of them; may be repeated",
    )
    parser.add_argument(
        "--zip", metavar="NAME,NAME", action="append", default=[], help="these axes side by side, not all with all"
    )
    parser.add_argument("--sample", metavar="N", help="so many points scattered over the axes, instead of a grid")
    parser.add_argument(
        "--method", metavar="M", default="sobol", help="of --sample: sobol (the default), latin, uniform"
    )
    parser.add_argument(
        "--metric",
        metavar="NAME,...",
        default="runtime",
        help="runtime (the default), energy, power, edp, ed2p, resources, or properties summed over the machine",
    )
    add_settings(parser)
    parser.add_argument("--backend", metavar="B", default="auto", help="auto (the default), numpy, llvm or c")
    parser.add_argument("--cores", metavar="N", type=int, help="how many to use (default: all, for a large sweep)")
    parser.add_argument("--dask", metavar="ADDRESS", help="the workers of this Dask cluster compute: tcp://HOST:PORT")
    parser.add_argument("--memory", metavar="SIZE", default="1GiB", help="most to keep of the results (default: 1GiB)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="writes all points: a row each in .csv, .json or .parquet, an array a metric in .npz, .nc or .zarr",
    )
    parser.add_argument("--resume", action="store_true", help="with -o: takes up a sweep that was interrupted")
    parser.add_argument("--fail-fast", action="store_true", help="ends with the first point that has no value")
    parser.add_argument("--yes", action="store_true", help="computes even an absurd number of points")
    parser.add_argument("--picture", metavar="FILE", help="draws it over one or two axes: an .svg, .png or .pdf file")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="of the summary (default: table)")
    add_seed(parser, "draws and samples")


def run(arguments: Namespace) -> int:
    if arguments.resume and not arguments.output:
        raise CommandError("--resume belongs to -o FILE: it takes up what was begun there")
    memory = _bytes(arguments.memory)
    study = _study(arguments)
    run = Run(study, arguments.backend, arguments.cores, client=_client(arguments.dask), memory=memory)
    result, summary = (_stored if arguments.output else _computed)(run, memory, arguments)
    answer(summed_up(study, summary), arguments.format)
    if arguments.picture:
        if result is None:
            raise CommandError("too many points for a picture; --memory allows more")
        _draw(arguments.picture, result)
    return 0


def _study(arguments: Namespace) -> Study:
    over = _axes(arguments.over)
    if arguments.machine is None and "machine" not in over:
        raise CommandError("a machine is needed: --machine M, or --over machine=A,B")
    case = case_of_arguments(arguments, "main" if "kernel" in over else None)
    if case.machine is None:
        case = case.changed(machine=machine_named(over["machine"].items[0].text(), arguments))
    return studied(
        case,
        None,
        over,
        metrics=_names(arguments.metric, "--metric"),
        zip=[_names(group, "--zip") for group in arguments.zip],
        samples=None if arguments.sample is None else _count(arguments.sample),
        method=arguments.method,
        allow_outside=arguments.allow_outside,
        yes=arguments.yes,
    )


def _client(address: str | None) -> object:
    if address is None:
        return None

    return connected(address)


def _axes(texts: list[str]) -> dict[str, Axis]:
    if not texts:
        raise CommandError("a sweep goes over something: --over n=1k..1M:log:200")
    found: dict[str, Axis] = {}
    for axis in (parsed(text, "<--over>") for text in texts):
        if axis.name in found:
            raise CommandError(f"--over: there are two axes `{axis.name}`")
        found[axis.name] = axis
    return found


def _names(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise CommandError(f"{option}: expected different names with commas between them, not `{text}`")
    return names


def _count(text: str) -> int:
    try:
        found = float(text)
    except ValueError:
        found = 0.5
    if not found.is_integer() or found < 1:
        raise CommandError(f"--sample: expected a number of points, such as 1e6, not `{text}`")
    return int(found)


def _bytes(text: str) -> int:
    found = re.fullmatch(r"([\d.]+)\s*([A-Za-z]*)", text)
    unit = UNITS.get((found[2] or "B") if found else "")
    try:
        size = (
            float(found[1]) * float(unit.size) if found and unit and unit == UNITS["B"]._replace(size=unit.size) else 0
        )
    except ValueError:
        size = 0
    if size < 1:
        raise CommandError(f"--memory: expected a size, such as 500MB or 1GiB, not `{text}`")
    return int(size)


def _computed(run: Run, memory: int, arguments: Namespace) -> tuple[SweepResult | None, Summary]:
    """All of it where it can be kept, else what is to be said about it."""

    study = run.study
    with progress(study.points, run.backend.name) as seen:
        if result_bytes(study) <= memory:
            result = computed(run, memory, fail_fast=arguments.fail_fast, seen=seen)
            return result, result.summary
        summary = Summary(study)
        for stretch in run.stretches(fail_fast=arguments.fail_fast):
            summary.add(stretch)
            seen(stretch.values.shape[1])
    return None, summary


def _stored(run: Run, memory: int, arguments: Namespace) -> tuple[SweepResult | None, Summary]:
    """All of it in a file; it is kept, too, for a picture."""

    study = run.study
    store = Store(arguments.output, run, format_of(arguments.output).write, resume=arguments.resume)
    taken = InMemory(study) if result_bytes(study) <= memory else Summary(study)
    with progress(study.points, run.backend.name) as seen:
        for stretch in store.filled(run, fail_fast=arguments.fail_fast):
            taken.add(stretch)
            seen(stretch.values.shape[1])
    store.finish()
    if isinstance(taken, Summary):
        return None, taken
    result = taken.result()
    return result, result.summary


def _draw(path: str, result: SweepResult) -> None:
    save(path, lambda: draw(result))
