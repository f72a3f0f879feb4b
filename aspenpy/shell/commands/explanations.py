"""Commands that explain a prediction: `explain`, `profile`, `trace` and `roofline` say where the time goes."""

from __future__ import annotations

import json

from aspenpy.answers.case import Case
from aspenpy.answers.prediction import predict
from aspenpy.answers.profile import Profile
from aspenpy.answers.roofline import Roofline
from aspenpy.answers.trace import MOST, PASSES, Trace
from aspenpy.cost.mapper import warnings_of
from aspenpy.learn.measured_roofline import measured_roofline
from aspenpy.models.library import load_application
from aspenpy.report.profile import draw_profile, write_speedscope
from aspenpy.report.roofline_picture import draw_roofline
from aspenpy.report.timeline_picture import draw_trace
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments, machine_named, only_entry, placement_arguments
from aspenpy.shell.option import Arguments, command, flag, option, positive, split_pairs
from aspenpy.shell.options import (
    MAP,
    MEASURED,
    MODEL,
    PICTURE,
    REPORT,
    RESULTS,
    SEED,
    SETTINGS,
    TABLES,
    formats,
    machine,
    settings_of,
)
from aspenpy.shell.output import deliver, deliver_text, report, require_page, save, write_page


@command(
    "explain",
    "predict",
    "Explain a prediction step by step, from the line in the model to the seconds",
    options=(
        MODEL,
        option("explained", "KERNEL", "explains the requirements of this kernel (default: all)", nargs="?"),
        machine(required=True),
        flag(
            "--ecm", "shows the execution-cache-memory model instead: cycles a cache line on one core, level by level"
        ),
        *SETTINGS,
        *RESULTS,
        SEED,
    ),
    examples=(
        ("every requirement of every kernel", "aspenpy explain stream --machine simple"),
        ("those of one kernel", "aspenpy explain comd lennard_jones_force --machine haswell"),
        ("cycles a cache line, level by level", "aspenpy explain cache_triad --machine epyc_7763 --ecm"),
        ("for a program", "aspenpy explain comd halo_exchange --machine haswell --format json"),
    ),
)
def run_explain(arguments: Arguments) -> int:
    case = case_of_arguments(arguments, "main")
    without_main = None if "main" in case.application.kernels else arguments.explained
    kernel = only_entry(case.application, arguments.kernel or without_main)
    prediction = predict(case.changed(kernel=kernel))
    explanation = prediction.ecm(arguments.explained) if arguments.ecm else prediction.explain(arguments.explained)
    return deliver(explanation.report(), arguments)


@command(
    "profile",
    "predict",
    "Show where the time goes, by kernel and by call",
    options=(
        MODEL,
        machine(required=True),
        *SETTINGS,
        flag("--graph", "also shows each kernel with its callers and callees"),
        formats("speedscope"),
        TABLES,
        PICTURE.adapt(": the call graph"),
        SEED,
    ),
    examples=(
        ("the kernels, the most expensive first", "aspenpy profile comd --machine haswell"),
        ("and who calls whom", "aspenpy profile comd --machine haswell --graph"),
        ("from one kernel on, with its argument", "aspenpy profile comd --machine haswell --kernel redistribute"),
        ("a flame graph: open it at www.speedscope.app", "aspenpy profile comd --machine haswell --format speedscope"),
    ),
)
def run_profile(arguments: Arguments) -> int:
    prediction = predict(case_of_arguments(arguments))
    profile = Profile(prediction)
    if arguments.format != "speedscope":
        return deliver(profile.report(calls=arguments.graph), arguments, lambda: draw_profile(profile))
    report(prediction.diagnostics)
    deliver_text(json.dumps(write_speedscope(profile), indent=2, allow_nan=False) + "\n", arguments)
    if arguments.picture:
        save(arguments.picture, lambda: draw_profile(profile))
    return 0


@command(
    "roofline",
    "predict",
    "Show the roofline of a machine, and applications below it",
    options=(
        option(
            "applications",
            "MODEL",
            "applications to place below the roof: files, or names of `aspenpy list apps`",
            nargs="*",
        ),
        machine(required=True),
        *SETTINGS,
        *RESULTS,
        PICTURE.adapt(": the roofline"),
        REPORT.adapt(", with the picture and the tables, an .html or .md file; may be repeated"),
        MEASURED.adapt(
            ", kernel by kernel: a file of LIKWID, perf, ncu, nvprof or CSV with times, flops and bytes, or with times "
            "alone"
        ),
        MAP,
        SEED,
    ),
    examples=(
        ("the ceilings of a machine, and from which intensity on they hold", "aspenpy roofline --machine haswell"),
        ("of one of its sockets", "aspenpy roofline --machine keeneland --socket nvidia_m2090"),
        ("applications, and their kernels, below them", "aspenpy roofline comd lulesh --machine haswell"),
        ("for a program", "aspenpy roofline spmv --machine haswell --format json"),
        (
            "what was measured, here of one kernel, beside the model",
            r"printf 'kernel,time [ms],flops [Mflop],bytes [MB]\ntriad,300,200,2400\n' > runs.csv; "
            "aspenpy roofline stream --machine simple --measured runs.csv",
        ),
    ),
)
def run_roofline(arguments: Arguments) -> int:
    at = machine_named(arguments.machine, arguments)
    applications = [load_application(name, allow_outside=arguments.allow_outside) for name in arguments.applications]
    overlap = arguments.par == "overlap"
    cases = [
        Case(
            item,
            at,
            kernel=only_entry(item, arguments.kernel),
            seed=arguments.seed,
            overlap=overlap,
            **placement_arguments(arguments),
        )
        for item in applications
    ]
    roofline = Roofline(at, cases, socket=arguments.socket, set=settings_of(arguments))
    for page in arguments.report:
        require_page(page)
    pairs = split_pairs("--map", "REGION=KERNEL, such as triad_loop=triad", arguments.map)
    if pairs and not arguments.measured:
        raise CommandError("--map names the kernels of --measured FILE")
    measured = measured_roofline(roofline, [arguments.measured], pairs) if arguments.measured else None
    stars = () if measured is None else measured.measured
    result = (measured or roofline).report()
    deliver(result, arguments, lambda: draw_roofline(roofline, stars))
    for page in arguments.report:
        write_page(page, result, lambda: draw_roofline(roofline, stars))
    return 0


@command(
    "trace",
    "count",
    "List what runs, in order",
    options=(
        MODEL,
        machine(required=False, why=", for the times"),
        *SETTINGS,
        option("--most", "N", f"at most N steps (default: {MOST})", type=positive, default=MOST),
        option("--passes", "N", f"of each loop (default: {PASSES})", type=positive, default=PASSES),
        *RESULTS,
        PICTURE.adapt(": kernels over time, and what of the machine each keeps busy; needs --machine"),
        SEED,
    ),
    examples=(
        ("the beginning of every loop", "aspenpy trace jacobi"),
        ("with the time on a machine", "aspenpy trace comd --machine haswell --passes 1"),
        ("more of it", "aspenpy trace comd --machine haswell --most 1000 --passes 10"),
        ("drawn over time", "aspenpy trace comd --machine haswell --passes 1 --picture comd.svg"),
        ("for a program", "aspenpy trace stream --machine simple --format json"),
    ),
)
def run_trace(arguments: Arguments) -> int:
    case = case_of_arguments(arguments)
    if arguments.picture and case.machine is None:
        raise CommandError("--picture needs --machine M, whose times it draws")
    trace = Trace(case, most=arguments.most, passes=arguments.passes)
    warnings = warnings_of(case.application, case.machine, case.socket, case.kernel)
    return deliver(trace.report().replace(diagnostics=tuple(warnings)), arguments, lambda: draw_trace(trace))
