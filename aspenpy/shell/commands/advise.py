"""The command `aspenpy advise`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.advice.advise import (
    AdviceOptions,
    advise_case,
    best_of,
    classify_case,
    scale_case,
    significant_of,
    space_of,
)
from aspenpy.advice.alternatives import KINDS
from aspenpy.advice.configuration import COMPONENTS
from aspenpy.advice.decide import AS_IT_IS
from aspenpy.advice.ranges import EVERY
from aspenpy.advice.scalability import MOST_NODES, THRESHOLD
from aspenpy.advice.system_ranges import system_ranges
from aspenpy.answers.case import Case
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.language.files import STANDARD_OUTPUT
from aspenpy.report.advice.decision import draw as draw_decided
from aspenpy.report.advice.design_space import draw as draw_space
from aspenpy.report.advice.scalability import draw as draw_scaled
from aspenpy.report.advice.throttling import draw as draw_throttled
from aspenpy.shell.advice_options import (
    COUNTER_OPTIONS,
    DECIDE_OPTIONS,
    budget_of,
    counting_of,
    decide_for,
    group_for,
    input_of,
    objective_of,
    price_of,
    require_document,
    require_error,
    throttle_for,
    uncertain_of,
    write_document,
)
from aspenpy.shell.commands.variations import split_names
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments
from aspenpy.shell.option import Arguments, Examples, command, option, positive, repeatable_option, split_words
from aspenpy.shell.options import ALL_FORMATS, PICTURE, SEED, SETTINGS, machine
from aspenpy.shell.output import deliver, report
from aspenpy.shell.progress import report_activity
from aspenpy.shell.study_options import LAW, PROBLEM, STEPS, VARY

EXAMPLES: Examples = (
    (
        "all steps, on a node and over nodes",
        "aspenpy advise comd --machine haswell --vary clock,cores,memory_bandwidth",
    ),
    ("what it is bound by, in time and in energy", "aspenpy advise classify lulesh --machine haswell"),
    ("which components matter, by the model", "aspenpy advise significance lulesh --machine haswell"),
    (
        "components alone and in pairs, over ranges of this system",
        "aspenpy advise configure lulesh --machine haswell --vary clock,cores=1..8,memory_clock",
    ),
    (
        "other memories of the library in the place of the machine's",
        "aspenpy advise configure cg --machine haswell --vary cores=1..8,memory_kind=ddr4_2133,ddr5_4800_8_channels",
    ),
    (
        "how many nodes are worth it, for two inputs",
        "aspenpy advise scale comd --machine haswell --most-nodes 64 --input nx=40,ny=40 --input nx=80,ny=80",
    ),
    (
        "nodes, clock and cores under a budget, for two inputs",
        "aspenpy advise decide comd --machine haswell --budget energy=1000J --input 'small: nx=20,ny=20,nz=20' "
        "--input 'large: nx=60,ny=60,nz=60'",
    ),
    (
        "groups of nodes for several applications",
        "aspenpy advise decide lulesh cg --machine haswell --most-nodes 64 --budget power=5kW --input 'cg: class=B'",
    ),
    ("what is lost where the machine is restricted", "aspenpy advise throttle cg --machine haswell"),
)

OPTIONS = (
    option(
        "words",
        "[STEP] MODEL",
        "an application: a file, or a name of `aspenpy list apps`; before it classify, significance, configure, scale, "
        "decide or throttle for one step alone; decide takes several applications",
        nargs="+",
    ),
    machine(required=True),
    *SETTINGS,
    VARY.adapt(
        ": hardware components such as clock, cores, memory_clock; NAME=LOW..HIGH or NAME=1,2,4 gives a range; "
        "topology and memory_kind are parts of the library, such as topology=torus,star (default: those that are "
        "significant; `all`: all that the machine states, without parts)"
    ),
    repeatable_option(
        "--system",
        "FILE",
        "takes ranges from saved output of cpupower frequency-info, lscpu, nvidia-smi -q -d SUPPORTED_CLOCKS or of "
        "cpufreq's files; `host` reads this machine; may be repeated",
    ),
    option("--levels", "N", "values of each component (default: 10)", type=positive, default=10),
    option("--most-nodes", "N", "scale: the most nodes (default: 1024)", type=positive, default=MOST_NODES),
    option(
        "--threshold",
        "E",
        "efficiency below which more nodes are not worth it (default: 0.5)",
        type=float,
        default=THRESHOLD,
    ),
    *COUNTER_OPTIONS,
    repeatable_option(
        "--input",
        "[LABEL:] NAME=EXPR,...",
        "scale, decide: settings of the application that make an input; may be repeated",
    ),
    *DECIDE_OPTIONS,
    PROBLEM,
    LAW,
    ALL_FORMATS,
    PICTURE.adapt(": sensitivities of pairs, scaling, the Pareto front, or throttling"),
    SEED,
)


@command(
    "advise",
    "compare",
    "Advise which hardware to run on: what bounds an application, which components matter, the best of them",
    OPTIONS,
    EXAMPLES,
)
def run_advise(arguments: Arguments) -> int:
    step, models = _split_step(arguments.words)
    arguments.model = models[0]
    if not 0 < arguments.threshold <= 1:
        raise CommandError(f"--threshold: an efficiency is above 0 and 1 at most, not {arguments.threshold:g}")
    if arguments.levels < 2:
        raise CommandError("--levels: a range has at least two values")
    if step in ("classify", "significance") and arguments.picture:
        raise CommandError("--picture draws what configure and scale find")
    if arguments.output:
        if step:
            raise CommandError("--output writes the report of all steps: leave the step out")
        require_document(arguments)
    require_error(arguments)
    wanted = tuple(split_names(arguments.vary))
    if EVERY[0] in wanted and wanted != EVERY:
        raise CommandError("--vary all varies all components: leave the others out")
    counters, counting = counting_of(arguments)
    if counters is not None and step not in ("", "significance"):
        raise CommandError(f"--counters are for significance and for all steps, not for {step}")
    options = AdviceOptions(
        tuple(_join_parts(wanted)),
        tuple(item for name in arguments.system for item in system_ranges(name)),
        levels=arguments.levels,
        energy=EnergyOptions(arguments.law),
        size=tuple(split_words(arguments.problem)),
        inputs=tuple(map(input_of, arguments.input)) or (AS_IT_IS,),
        nodes=arguments.most_nodes,
        threshold=arguments.threshold,
        budget=budget_of(arguments),
        objective=objective_of(arguments),
        price=price_of(arguments),
        deviations=uncertain_of(arguments),
        error=arguments.error,
        counters=counters,
        counting=counting,
    )
    if len(models) > 1:
        if arguments.picture:
            raise CommandError("--picture draws what is decided for one application")
        return deliver(group_for(models, options, arguments).report(), arguments)
    return _ANSWERS[step](case_of_arguments(arguments), options, arguments)


def _join_parts(texts: Sequence[str]) -> list[str]:
    """Names behind an alternative's first one, `topology=torus,star`, are of the same list."""
    joined: list[str] = []
    for text in texts:
        listed = joined and "=" in joined[-1] and joined[-1].partition("=")[0] in KINDS
        if listed and "=" not in text and text not in COMPONENTS:
            joined[-1] += f",{text}"
        else:
            joined.append(text)
    return joined


def _split_step(words: list[str]) -> tuple[str, list[str]]:
    """(step, models) of the words of the command line; the step is empty where all steps are wanted."""
    if len(words) == 1:
        return "", words
    if words[0] not in STEPS or (len(words) > 2 and words[0] != "decide"):
        raise CommandError(f"expected one of {', '.join(STEPS)} and a model, not `{' '.join(words)}`")
    return words[0], words[1:]


# -- the steps -------------------------------------------------------------------------------------


def _run_classify(case: Case, options: AdviceOptions, arguments: Arguments) -> int:
    return deliver(classify_case(case, options).report(), arguments)


def _run_significance(case: Case, options: AdviceOptions, arguments: Arguments) -> int:
    return deliver(significant_of(case, options).report(), arguments)


def _run_configure(case: Case, options: AdviceOptions, arguments: Arguments) -> int:
    space = space_of(case, options)
    return deliver(space.report(), arguments, lambda: draw_space(space))


def _run_scale(case: Case, options: AdviceOptions, arguments: Arguments) -> int:
    scaled = scale_case(case, best_of(space_of(case, options)), options)
    return deliver(scaled.report(), arguments, lambda: draw_scaled(scaled))


def _run_decide(case: Case, options: AdviceOptions, arguments: Arguments) -> int:
    decided = decide_for(case, options, arguments)
    return deliver(decided.report(), arguments, lambda: draw_decided(decided))


def _run_throttle(case: Case, options: AdviceOptions, arguments: Arguments) -> int:
    throttled = throttle_for(case, options, arguments)
    return deliver(throttled.report(), arguments, lambda: draw_throttled(throttled))


def _run_all(case: Case, options: AdviceOptions, arguments: Arguments) -> int:
    advice = advise_case(case, options, report_activity)
    if arguments.output:
        write_document(advice, arguments)
        if arguments.format == "table" or arguments.output == STANDARD_OUTPUT:
            report(advice.report().diagnostics or ())
            return 0
    return deliver(advice.report(), arguments, lambda: draw_space(advice.space))


_ANSWERS: dict[str, Callable[[Case, AdviceOptions, Arguments], int]] = {
    "classify": _run_classify,
    "significance": _run_significance,
    "configure": _run_configure,
    "scale": _run_scale,
    "decide": _run_decide,
    "throttle": _run_throttle,
    "": _run_all,
}
