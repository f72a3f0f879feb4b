"""The command `aspenpy validate`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from aspenpy.answers.case import Case
from aspenpy.answers.prediction import predict
from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.mca import find_simulator
from aspenpy.cost.windows import MODEL
from aspenpy.extract.compile_options import CompileOptions, count_threads, program_of_command, read_compile_options
from aspenpy.extract.costs import THREADS, Hole
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.extract.units import find_units
from aspenpy.language.diagnostics import AspenError, Diagnostic, Severity
from aspenpy.language.files import write_whole
from aspenpy.learn.measurements.measure import CounterSources, StoppingRule, run_once
from aspenpy.learn.model_validation import PROCESSOR, WALL, CommandTemplate, run_and_compare
from aspenpy.learn.profile_validation import compare_profile
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_application, parse
from aspenpy.models.machine.model import Machine
from aspenpy.report.measurements import draw, write_profile_verdicts, write_verdicts
from aspenpy.shell.commands.extract import list_sizes
from aspenpy.shell.commands.machine import probe_with_progress
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import axes_of, machine_named, only_entry
from aspenpy.shell.option import Arguments, Examples, command, flag, option, read_percent, split_pairs
from aspenpy.shell.options import MAP, PICTURE, PROFILE, REPORT, RESULTS, SEED, SETTINGS, machine, settings_of
from aspenpy.shell.output import deliver, report, report_written, require_page, write_page
from aspenpy.shell.progress import report_activity
from aspenpy.shell.study_options import COMPILER, FLAGS, LEVEL, LINK, OVER, PRECISION, RUN, STRICT, runs

EXAMPLES: Examples = (
    (
        "runs of a program, here of true, beside what its source lets expect on a machine",
        "printf '#define N 9\\ndouble x[N]; int main(void) { for (int i = 0; i < N; i++) x[i] = 2; return 0; }' > x.c; "
        'aspenpy validate x.c --run "true {N}" --over N=1e3,1e5 --machine simple --least-runs 2 --most-runs 2',
    ),
    (
        "the same of a model that is written already, in processor time",
        "printf 'model x { param n = 9  kernel main { execute { flops [n] as dp } } }' > x.aspen; "
        'aspenpy validate x.aspen --run "true {n}" --over n=1e3,1e5 --machine simple --cpu-time',
    ),
)

OPTIONS = (
    option(
        "sources",
        "FILE",
        "a program in C, C++ or Fortran: files, a folder, or compile_commands.json; or an application model",
        nargs="+",
    ),
    RUN.adapt("; or --profile"),
    PROFILE.adapt("; it is compared with the model by kernel"),
    MAP,
    OVER.adapt(": sizes, for commands with {NAME}; may be repeated"),
    machine(required=False, why=" (default: this host is measured first)"),
    LEVEL.adapt(" (default: as the program was compiled, else o2)", former="--level"),
    *FLAGS,
    LINK,
    COMPILER,
    STRICT.adapt(" of a parameter without a known value that changes the runtime, with status 2"),
    *SETTINGS,
    PRECISION,
    *runs(5, 20, ("--least", "--most")),
    flag("--cpu-time", "compares processor time, for programs of one thread on a host that others use"),
    option("--fail-over", "PERCENT", "ends with status 1 where a prediction is off by so many percent, either way"),
    REPORT.adapt(", a .md, .html or .xml (JUnit) file; may be repeated"),
    PICTURE.adapt(": predicted and measured times over the first axis"),
    *RESULTS,
    SEED,
)

MOST_COUNTED = 4
"""The smallest sizes of --over at which what runs is counted."""

MOST_TRIED = 20
"""Parameters without a known value whose effect on the runtime is tried."""

NOTED, LEAST_TIME = 0.01, 1e-30
"""The part of the runtime from which on an effect is told, and a time that only nothing takes less than (s)."""

LEFT_OUT = frozenset({"not-counted", "unmodelled", "not-priced", "comparisons-only", "differs"})
"""Warnings of what a program does and its model does not have, or has another number of times."""

NOT_COUNTED = frozenset({"no-compiler", "not-compiled", "no-counts", "command-failed", "fixed-macro", "no-size"})
"""Errors of a run behind which the model is made of the source alone."""

NO_OPTIONS = CompileOptions((), "--as source")
"""Options of a program that is taken as its source says."""


@command("validate", "measure", "Predict a program from its source, run it, and compare the times", OPTIONS, EXAMPLES)
def run_validate(arguments: Arguments) -> int:
    if (arguments.run is None) == (arguments.profile is None):
        raise CommandError("validate takes --run COMMAND, or --profile FILE of a run")
    if arguments.profile is not None:
        return _validate_profile(arguments)
    if arguments.picture and not arguments.over:
        raise CommandError("a picture goes over sizes: --over n=100..2000:log:5")
    if arguments.most_runs < arguments.least_runs:
        raise CommandError(f"--most-runs {arguments.most_runs} is fewer than --least-runs {arguments.least_runs}")
    for path in arguments.report:
        require_page(path, more=(".xml",))
    limit = None if arguments.fail_over is None else read_percent("--fail-over", arguments.fail_over)
    command = CommandTemplate(arguments.run, list(axes_of(arguments.over)))  # is refused before the program is read
    smallest = {name: min(sizes) for name, sizes in list_sizes(arguments).items()}
    run_once(command.words_at(smallest), CounterSources((), None))  # one that fails is refused before anything is built
    machine = machine_named(arguments.machine, arguments) if arguments.machine else _host_machine()
    application, left = _extract_model(arguments, machine)
    kernel = only_entry(application, arguments.kernel)
    case = Case(application, machine, arguments.socket, kernel, settings_of(arguments))
    case = case.replace(set={**_known_threads(arguments, left), **case.set})
    axes = axes_of(arguments.over)
    _report_placeholders(case, [hole for hole in left if hole.name not in axes], arguments.strict)
    target = StoppingRule(precision=arguments.precision, least=arguments.least_runs, most=arguments.most_runs)
    validation = run_and_compare(
        case,
        arguments.run,
        axes,
        target,
        lambda done, points, text: report_activity(f"{done} of {points} points, {text}", done / points),
        PROCESSOR if arguments.cpu_time else WALL,
    )
    validation = validation.replace(limit=limit)
    deliver(validation.report(), arguments, lambda: draw(validation))
    for path in arguments.report:
        if path.endswith(".xml"):
            write_whole(path, write_verdicts(validation))
            report_written(path)
        else:
            write_page(path, validation.report(), (lambda: draw(validation)) if axes else None)
    return 1 if validation.failed else 0


def _validate_profile(arguments: Arguments) -> int:
    """Compares the kernels of a model with a profile; 1 where one is beyond the limit."""
    if arguments.over or arguments.picture:
        raise CommandError("--profile is of one run: --set gives its sizes, and there is nothing to draw over")
    for path in arguments.report:
        require_page(path, more=(".xml",))
    limit = None if arguments.fail_over is None else read_percent("--fail-over", arguments.fail_over)
    machine = machine_named(arguments.machine, arguments) if arguments.machine else _host_machine()
    application, left = _extract_model(arguments, machine)
    kernel = only_entry(application, arguments.kernel)
    case = Case(application, machine, arguments.socket, kernel, settings_of(arguments))
    case = case.replace(set={**_known_threads(arguments, left), **case.set})
    _report_placeholders(case, left, arguments.strict)
    pairs = split_pairs("--map", "REGION=KERNEL, such as triad_loop=triad", arguments.map)
    validation = compare_profile(case, arguments.profile, pairs, limit)
    deliver(validation.report(), arguments)
    for path in arguments.report:
        if path.endswith(".xml"):
            write_whole(path, write_profile_verdicts(validation))
            report_written(path)
        else:
            write_page(path, validation.report(), None)
    return 1 if validation.failed else 0


def _report_placeholders(case: Case, left: Sequence[Hole], refused: bool) -> None:
    """Names the parameters without a known value on which the runtime depends. Raises AspenError where that is
    refused."""
    stated = {*case.set}
    placeholders: list[Diagnostic] = []
    scope = predict(case).scope if left else None
    for hole in [hole for hole in left if hole.name not in stated][:MOST_TRIED]:
        is_count = scope is not None and scope.is_count(hole.name)
        other = "twice as much" if is_count else "half of it"  # what counts has no halves
        values = (hole.text(), f"2*({hole.text()})" if is_count else f"({hole.text()})/2")
        runtimes = [float(predict(case.with_set({hole.name: value})).runtime) for value in values]
        change = abs(runtimes[1] - runtimes[0]) / max(*runtimes, LEAST_TIME)
        if change >= NOTED or hole.meaning.is_call:
            effect = f"{other} changes the runtime by {change:.0%}"
            if change < NOTED:
                effect = "next to nothing of the runtime, but such a call may take any time"
            message = f"`{hole.name}` has a placeholder, {hole.text()}: {effect}"
            severity: Severity = "error" if refused else "warning"
            placeholders.append(
                Diagnostic("placeholder", message, hole.span, hint=f"--set {hole.name}=...", severity=severity)
            )
    if placeholders and refused:
        raise AspenError(*placeholders)
    report(placeholders)


def _known_threads(arguments: Arguments, left: Sequence[Hole]) -> dict[str, int]:
    """The threads of the program that is run, where its model has a parameter for them; reports them."""
    threads = next((hole for hole in left if hole.meaning.text == THREADS), None)
    program = program_of_command(arguments.run)
    count = count_threads(program) if threads is not None and program else None
    if threads is None or count is None:
        return {}
    message = f"`{threads.name}` is {count}, as `{program}` has here"
    report([Diagnostic("threads", message, hint=f"--set {threads.name}=... says otherwise", severity="note")])
    return {threads.name: count}


def _host_machine() -> Machine:
    found = parse(probe_with_progress("host").text)
    assert isinstance(found, Machine)
    return found


def _compile_options(arguments: Arguments) -> CompileOptions:
    """Options with which the program was compiled; reports them."""
    if arguments.level is not None:
        return CompileOptions((f"-O{arguments.level[1:]}",), "--as") if arguments.level != "source" else NO_OPTIONS
    options = read_compile_options(find_units(arguments.sources)[0].path, program_of_command(arguments.run))
    message = f"extracted with --as {options.level}: {options.said_by}"
    report([Diagnostic("level", message, hint="--as names another", severity="note")])
    return options


def _find_recipe(compile_options: CompileOptions, machine: Machine) -> Recipe | None:
    """The recipe by which the program is compiled; None unless the machine takes cycles of compiled loops."""
    takes = any(MODEL in component.properties for component in machine.components.values())
    if not takes or find_simulator() is None or shutil.which("gcc") is None or compile_options is NO_OPTIONS:
        return None
    return Recipe(compile_options.options or ("-O2",))


def _extract_model(arguments: Arguments, machine: Machine) -> tuple[Application, tuple[Hole, ...]]:
    """The model of the program, and its parameters without a known value; chains of operations are asked for where the
    machine has latencies for them."""
    name = arguments.sources[0]
    if os.path.splitext(name)[1] == ".aspen" or not (os.path.exists(name) or os.path.splitext(name)[1]):
        return load_application(name, allow_outside=arguments.allow_outside), ()
    flags = (*(f"-I{folder}" for folder in arguments.folders), *(f"-D{macro}" for macro in arguments.macros))
    chains = any("chain" in component.resources for component in machine.components.values())
    options = _compile_options(arguments)
    recipe = _find_recipe(options, machine)
    level = arguments.level or options.level
    sizes = {name: sorted(given)[:MOST_COUNTED] for name, given in list_sizes(arguments).items()}
    links = tuple(f"-l{name}" for name in arguments.links)
    run = ProgramRun(arguments.run, sizes, links, arguments.compiler) if arguments.run else None
    try:
        made = extract(arguments.sources, level=level, flags=flags, chains=chains, recipe=recipe, run=run)
    except AspenError as error:
        if not {item.code for item in error.diagnostics} <= NOT_COUNTED:
            raise
        hint = "what the source does not say has the values that extract gives it without a run"
        message = f"no counts of a run: {error.diagnostics[0].message}"
        report([Diagnostic("no-counts", message, hint=hint, severity="warning")])
        made = extract(arguments.sources, level=level, flags=flags, chains=chains, recipe=recipe)
    report([item for item in made.diagnostics if item.code in LEFT_OUT])
    application = parse(made.text, name)
    assert isinstance(application, Application)
    return application, made.left()
