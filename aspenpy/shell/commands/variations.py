"""Commands that vary parameters: `sensitivity` ranks them, `optimise` chooses their values."""

from __future__ import annotations

from aspenpy.answers.metrics import find_metric
from aspenpy.answers.prediction import Prediction
from aspenpy.explore.optimise import Front, goals_of, require_scipy, search_goals
from aspenpy.explore.sensitivity import sensitivity
from aspenpy.explore.space import make_space
from aspenpy.language.axis import parse_axis, split_axes
from aspenpy.language.diagnostics import drop_repeats
from aspenpy.language.source import Source, Span
from aspenpy.report.optimum import draw_front, subject_of
from aspenpy.report.sensitivity import draw_sensitivity
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments, machine_named
from aspenpy.shell.option import Arguments, Option, choice, command, flag, option, positive, repeatable_option
from aspenpy.shell.options import (
    METRIC,
    MODEL,
    OUTSIDE,
    PAR,
    PICTURE,
    RANKS,
    RESULTS,
    SAMPLES,
    SEED,
    SOCKET,
    VALUES,
    machine_names,
    machines,
)
from aspenpy.shell.output import deliver
from aspenpy.shell.study_options import MAXIMISE, MINIMISE, VARY

METHODS = ("elasticity", "derivative", "normalised", "sobol", "morris")


def vary(default: str) -> Option:
    return VARY.adapt(
        ": NAME for its declared range; NAME=LOW..HIGH, with :whole, :real or :log behind it; NAME=1,2,4; "
        f"machine=A,B; socket=A,B ({default})"
    )


def split_names(texts: list[str]) -> list[str]:
    """The names in `--vary`: split at the commas between names, while those between values of a list stay."""
    names: list[str] = []
    for text in texts:
        parts = [part.text() for part in split_axes(Span(Source(text), 0, len(text)))]
        if not parts or not all(parts):
            raise CommandError(f"--vary: a name is missing in `{text}`")
        names.extend(parts)
    return names


def add_machines(arguments: Arguments) -> list[str]:
    """The parameters that vary; several machines of `--machine` are one of them. Without `--machine`, the first of the
    varied machines becomes the machine of the command."""
    names, varied = machine_names(arguments.machines), split_names(arguments.vary)
    if len(names) > 1:
        varied.append(f"machine={','.join(names)}")
    for axis in (parse_axis(text, "<--vary>") for text in varied if text.startswith("machine=")):
        names = names or [item.text() for item in axis.items]
    if not names:
        raise CommandError("a machine is needed: --machine M, or --vary machine=A,B")
    arguments.machine = names[0]
    return varied


@command(
    "sensitivity",
    "compare",
    "Rank parameters by their effect on runtime or another metric",
    options=(
        MODEL,
        machines(required=False, why=", which then vary, as with --vary machine=A,B"),
        SOCKET,
        *VALUES,
        PAR,
        *RANKS,
        METRIC.adapt(", or a property of the machine's parts (default: runtime)", default="runtime"),
        choice("--method", METHODS, "how effects are measured (default: elasticity)", default="elasticity"),
        vary("default: what the models declare a range for"),
        SAMPLES.adapt(" of sobol (default: 1024, of more than 14 variables 512) or morris (default: 100)"),
        flag("--pairs", "with sobol: also second-order indices"),
        *RESULTS,
        PICTURE.adapt(": the ranking"),
        SEED,
        OUTSIDE,
    ),
    examples=(
        ("which power of each parameter the runtime goes with", "aspenpy sensitivity matmul --machine simple"),
        (
            "components alone and in pairs, from one end of their range to the other",
            "aspenpy sensitivity matmul --machine simple --set ranks=64 --method normalised "
            "--vary simple_cores,simple_clock",
        ),
        (
            "shares of the variance, interactions included; machines may vary, too",
            "aspenpy sensitivity matmul --machine simple --method sobol --vary n=100..1000 --vary "
            "machine=simple,haswell",
        ),
        (
            "a quick screening of many parameters",
            "aspenpy sensitivity comd --machine haswell --method morris --vary nx=20..60,haswell_clock,potential",
        ),
    ),
)
def run_sensitivity(arguments: Arguments) -> int:
    if arguments.pairs and arguments.method != "sobol":
        raise CommandError("--pairs belongs to --method sobol; normalised has pairs of its own")
    if arguments.samples is not None and arguments.method not in ("sobol", "morris"):
        raise CommandError("--samples belongs to --method sobol and --method morris")
    names = add_machines(arguments)
    case = case_of_arguments(arguments)
    result = sensitivity(
        case,
        metric=arguments.metric,
        method=arguments.method,
        vary=make_space(case, names, lambda name: machine_named(name, arguments)) if names else None,
        samples=arguments.samples,
        pairs=arguments.pairs,
    )
    warnings = tuple(drop_repeats(Prediction(case).diagnostics))
    report = result.report().replace(diagnostics=warnings)
    return deliver(report, arguments, lambda: draw_sensitivity(result, result.subject, find_metric(result.metric).unit))


QUANTITIES = (
    ": a metric (runtime, flops, a property such as cost, ...), a parameter, or an expression of them; of several "
    "the Pareto front"
)


@command(
    "optimise",
    "compare",
    "Minimise or maximise a metric under constraints",
    options=(
        MODEL,
        machines(required=False, why=", which then vary, as with --vary machine=A,B"),
        SOCKET,
        *VALUES,
        PAR,
        *RANKS,
        MINIMISE.adapt(QUANTITIES),
        MAXIMISE.adapt(QUANTITIES),
        repeatable_option(
            "--subject-to", "CONSTRAINTS", "comparisons by commas, units allowed: 'cost <= 1000, runtime <= 2 s'"
        ),
        vary("required"),
        option("--top", "N", "lists the N best points and what bounds each; equal ones once", type=positive, default=1),
        *RESULTS,
        PICTURE.adapt(": the Pareto front"),
        SEED,
        OUTSIDE,
    ),
    examples=(
        (
            "the fastest machine of several",
            "aspenpy optimise comd --machine simple,haswell,cori_haswell --minimise runtime",
        ),
        (
            "the largest problem within a time",
            "aspenpy optimise matmul --machine simple --maximise n --subject-to 'runtime <= 1 s' --vary n=1..4000",
        ),
        (
            "real and whole numbers, with what binds",
            "aspenpy optimise matmul --machine simple --set ranks=64 --minimise runtime --vary "
            "simple_clock,simple_cores --subject-to 'simple_clock * simple_cores <= 16 GHz'",
        ),
        (
            "two quantities at once: a Pareto front",
            "aspenpy optimise matmul --machine simple --set ranks=64 --minimise 'runtime, simple_cores' "
            "--vary simple_cores",
        ),
        (
            "the three best choices, and what each is bound by",
            "aspenpy optimise transformer_training --machine h100 --set h100_boards=8 --set ranks=8 --with llama3_8b "
            "--set batch=32 --minimise runtime --vary tensor=1,2,4,8 --vary recomputation --vary micro_batch=1,2 "
            "--subject-to 'held <= 76 GB' --top 3",
        ),
    ),
)
def run_optimise(arguments: Arguments) -> int:
    if not (arguments.minimise or arguments.maximise):
        raise CommandError("nothing to optimise: --minimise QUANTITY or --maximise QUANTITY")
    if not (arguments.vary or len(machine_names(arguments.machines)) > 1):
        raise CommandError("nothing varies: --vary NAME,...")
    require_scipy()
    names = add_machines(arguments)
    goals = goals_of(arguments.minimise, arguments.maximise)
    if arguments.picture and len(goals) < 2:
        raise CommandError("--picture draws a Pareto front: give several quantities")
    case = case_of_arguments(arguments)
    space = make_space(case, names, lambda name: machine_named(name, arguments))
    result = search_goals(space, goals, arguments.subject_to, arguments.seed, arguments.top)
    drawn = (lambda: draw_front(result, space, subject_of(space))) if isinstance(result, Front) else None
    return deliver(result.report(), arguments, drawn)
