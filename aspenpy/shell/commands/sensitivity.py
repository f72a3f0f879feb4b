"""`aspenpy sensitivity`: rank parameters by their effect on runtime or another metric."""

from __future__ import annotations

from aspenpy.answers.metrics import metric
from aspenpy.answers.prediction import Prediction
from aspenpy.explore.methods import sensitivity
from aspenpy.explore.space import make_space
from aspenpy.language.axis import parse_axis, split_axes
from aspenpy.language.diagnostics import drop_repeats
from aspenpy.language.source import Source, Span
from aspenpy.report.sensitivity import draw
from aspenpy.shell.entry import case_of_arguments, machine_named
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, Option, choice, flag
from aspenpy.shell.options import (
    ALL_FORMATS,
    METRIC,
    MODEL,
    OUTSIDE,
    PAR,
    PICTURE,
    RANKS,
    SAMPLES,
    SEED,
    SOCKET,
    TABLES,
    VALUES,
    machine_names,
    machines,
)
from aspenpy.shell.output import deliver
from aspenpy.shell.study_options import VARY

EXAMPLES: Examples = (
    ("which power of each parameter the runtime goes with", "aspenpy sensitivity matmul --machine simple"),
    (
        "components alone and in pairs, from one end of their range to the other",
        "aspenpy sensitivity matmul --machine simple --set ranks=64 --method normalised "
        "--vary simple_cores,simple_clock",
    ),
    (
        "shares of the variance, interactions included; machines may vary, too",
        "aspenpy sensitivity matmul --machine simple --method sobol --vary n=100..1000 --vary machine=simple,haswell",
    ),
    (
        "a quick screening of many parameters",
        "aspenpy sensitivity comd --machine haswell --method morris --vary nx=20..60,haswell_clock,potential",
    ),
)

METHODS = ("elasticity", "derivative", "normalised", "sobol", "morris")


def vary(default: str) -> Option:
    return VARY.here(
        ": NAME for its declared range; NAME=LOW..HIGH, with :whole, :real or :log behind it; NAME=1,2,4; "
        f"machine=A,B; socket=A,B ({default})"
    )


OPTIONS = (
    MODEL,
    machines(required=False, why=", which then vary, as with --vary machine=A,B"),
    SOCKET,
    *VALUES,
    PAR,
    *RANKS,
    METRIC.here(", or a property of the machine's parts (default: runtime)", default="runtime"),
    choice("--method", METHODS, "how effects are measured (default: elasticity)", default="elasticity"),
    vary("default: what the models declare a range for"),
    SAMPLES.here(" of sobol (default: 1024) or morris (default: 100)"),
    flag("--pairs", "with sobol: also second-order indices"),
    ALL_FORMATS,
    TABLES,
    PICTURE.here(": the ranking"),
    SEED,
    OUTSIDE,
)


def split_names(texts: list[str]) -> list[str]:
    """What `--vary` names: at the commas between names, while those between values of a list stay."""
    names: list[str] = []
    for text in texts:
        parts = [part.text() for part in split_axes(Span(Source(text), 0, len(text)))]
        if not parts or not all(parts):
            raise CommandError(f"--vary: a name is missing in `{text}`")
        names.extend(parts)
    return names


def add_machines(arguments: Arguments) -> list[str]:
    """What varies, the machines of `--machine` among it where they are several; one of those that vary is the machine
    where `--machine` names none."""
    names, found = machine_names(arguments.machines), split_names(arguments.vary)
    if len(names) > 1:
        found.append(f"machine={','.join(names)}")
    for axis in (parse_axis(text, "<--vary>") for text in found if text.startswith("machine=")):
        names = names or [item.text() for item in axis.items]
    if not names:
        raise CommandError("a machine is needed: --machine M, or --vary machine=A,B")
    arguments.machine = names[0]
    return found


def run(arguments: Arguments) -> int:
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
    return deliver(report, arguments, lambda: draw(result, result.subject, metric(result.metric).unit))
