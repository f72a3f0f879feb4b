"""Options of `aspenpy advise`: budgets, counters, prices, and the steps that decide under them."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Sequence
from typing import cast, get_args

from aspenpy.advice.advise import Advice, AdviceOptions, on_one_node
from aspenpy.advice.advise import decide_case as decided_within
from aspenpy.advice.configuration import LIMITS, Budget, Objective
from aspenpy.advice.counter_evidence import FUZZINESS, CounterOptions
from aspenpy.advice.decide import AS_IT_IS, ApplicationInput, ChoiceOptions, Decided
from aspenpy.advice.grouped import Grouped, Workload
from aspenpy.advice.throttled import NOISE, PIECES, Throttled
from aspenpy.answers.case import Case
from aspenpy.language.dimensions import DIMENSIONLESS, JOULES, SECONDS, WATTS
from aspenpy.language.files import STANDARD_OUTPUT, measurements_path, replace_file, require_writable, write_whole
from aspenpy.learn.measurements.measure import StoppingRule
from aspenpy.report.advice.advice import document
from aspenpy.shell.failure import CommandError, refuse_unwritable
from aspenpy.shell.operands import case_of_arguments, quantity_of
from aspenpy.shell.option import Arguments, option, positive, split_pairs, split_words
from aspenpy.shell.options import OUTPUT
from aspenpy.shell.output import report_written
from aspenpy.shell.study_options import BUDGET, COLUMN, MINIMISE, PRECISION
from aspenpy.tables.document import write_html, write_markdown
from aspenpy.tables.formats import build_json

OBJECTIVES = get_args(Objective)
DIMENSION_OF = {"energy": JOULES, "power": WATTS, "time": SECONDS, "money": DIMENSIONLESS}

DECIDE_OPTIONS = (
    BUDGET.adapt(": energy=1000J, power=5kW, time=2s, money=20000 (decide)"),
    option(
        "--price",
        "N",
        "decide: what a node costs, in any currency, for a budget of money (default: its `cost` or `hourly_price`)",
        type=float,
    ),
    MINIMISE.adapt(f": {', '.join(OBJECTIVES)} (default: runtime) (decide)"),
    option(
        "--groups",
        "N",
        "decide, of several applications: the most groups of nodes (default: 2)",
        type=positive,
        default=2,
    ),
    option("--runs", "NAME=N,...", "decide, of several applications: how often each runs (default: once)"),
    OUTPUT.adapt(": a report of all steps, .html, .md or .json, instead of what is shown"),
    option(
        "--uncertain",
        "NAME=S,...",
        "all steps: how sure values are, relative standard deviations of hardware components or of parameters "
        "(default: bandwidths and latencies, by what they were compared with, else 0.1)",
    ),
    option(
        "--error",
        "E",
        "all steps: median relative error of the predicted runtime (default: as the model was compared with "
        "measurements, else 0.3)",
        type=float,
    ),
    option("--pieces", "N", f"throttle: in N steps (default: {PIECES})", type=positive, default=PIECES),
    option(
        "--noise",
        "S",
        f"throttle: what noise takes of components, a relative standard deviation (default: {NOISE:g})",
        type=float,
        default=NOISE,
    ),
)


def budget_of(arguments: Arguments) -> Budget:
    """The limits of `--budget`."""
    form = f"LIMIT=QUANTITY, of {', '.join(LIMITS)}"
    given = split_pairs("--budget", form, [word for text in arguments.budget for word in split_words(text)])
    limits = {}
    for name, text in given.items():
        if name not in LIMITS:
            raise CommandError(f"--budget: expected {', '.join(LIMITS)}, not `{name}`")
        limits[name] = quantity_of(text, DIMENSION_OF[name], "--budget")
    return Budget(**limits)


def objective_of(arguments: Arguments) -> Objective:
    """The one metric of `--minimise`."""
    names = [name for text in arguments.minimise for name in split_words(text)]
    if len(names) > 1 or not set(names) <= {*OBJECTIVES}:
        raise CommandError(f"--minimise: expected one of {', '.join(OBJECTIVES)}, not `{', '.join(names)}`")
    return cast("Objective", names[0]) if names else "runtime"


def price_of(arguments: Arguments) -> float | None:
    """The price of a node."""
    price: float | None = arguments.price
    if price is not None and not 0 < price < float("inf"):
        raise CommandError(f"--price: expected a number above 0, not {price:g}")
    return price


def input_of(text: str) -> ApplicationInput:
    """`small: nx=20,ny=20`; the label may be left out."""
    label, colon, rest = text.partition(":")
    settings = split_pairs("--input", "NAME=EXPR,NAME=EXPR, such as nx=40,ny=40", split_words(rest if colon else text))
    return ApplicationInput(label.strip() if colon else "", dict(settings))


def decide_for(case: Case, options: AdviceOptions, arguments: Arguments) -> Decided:
    """Step 5 for one application."""
    if arguments.runs:
        raise CommandError("--runs says how often each of several applications runs")
    decided = decided_within(case, options)
    decided.require_met()
    return decided


def choice_options(options: AdviceOptions) -> ChoiceOptions:
    chosen = options.wanted, options.system, options.levels, options.nodes, options.energy, options.size
    return ChoiceOptions(*chosen, options.price)


def group_for(models: Sequence[str], options: AdviceOptions, arguments: Arguments) -> Grouped:
    """Step 5 for several applications; an input whose label is the name of one is of that one."""
    runs = {
        name: _read_runs(text) for name, text in split_pairs("--runs", "NAME=N", split_words(arguments.runs)).items()
    }
    inputs = {item.label: item for item in map(input_of, arguments.input)}
    for option_name, names in (("--runs", runs), ("--input", inputs)):
        for name in names:
            if name not in models:
                raise CommandError(f"{option_name}: expected one of {', '.join(models)}, not `{name}`")
    workloads = []
    for model in models:
        arguments.model = model
        case = case_of_arguments(arguments)
        given = inputs.get(model, AS_IT_IS).replace(label="")
        workloads.append(Workload(case, given, runs.get(model, 1.0)))
    return Grouped(workloads, budget_of(arguments), objective_of(arguments), arguments.groups, choice_options(options))


def _data_as_json(advice: Advice, command: str) -> str:
    return json.dumps({"command": command, **build_json(advice.report())}, indent=2, allow_nan=False) + "\n"


DOCUMENTS: dict[str, Callable[[Advice, str], str]] = {
    ".html": lambda advice, command: write_html(document(advice, command)),
    ".md": lambda advice, command: write_markdown(document(advice, command)),
    ".json": _data_as_json,
}
"""Writers of documents by the end of the file's name."""


def require_document(arguments: Arguments) -> None:
    """Refuses a report that could not be written, before the work is done."""
    if _document_suffix(arguments) not in DOCUMENTS:
        if arguments.output == STANDARD_OUTPUT:
            raise CommandError(f"--format {arguments.format} --output -: a report is written as Markdown or JSON")
        raise CommandError(f"cannot write `{arguments.output}`: the name of a report ends with {', '.join(DOCUMENTS)}")
    require_writable(arguments.output)


def _document_suffix(arguments: Arguments) -> str:
    """The end of the report's name; of what goes to standard output by `--format`, Markdown where that is a table."""
    if arguments.output == STANDARD_OUTPUT:
        return ".md" if arguments.format == "table" else f".{arguments.format}"
    return suffix_of(arguments.output)


def suffix_of(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def require_error(arguments: Arguments) -> None:
    if arguments.error is not None and not 0 <= arguments.error < MOST_ERROR:
        raise CommandError(f"--error: expected a number from 0 on, not {arguments.error:g}")


def uncertain_of(arguments: Arguments) -> dict[str, float] | None:
    """The standard deviations of `--uncertain`."""
    given = split_pairs("--uncertain", "NAME=S", split_words(arguments.uncertain))
    return {name: _read_deviation(text) for name, text in given.items()} or None


def write_document(advice: Advice, arguments: Arguments) -> None:
    """The report into the file of `--output`."""
    text = DOCUMENTS[_document_suffix(arguments)](advice, command_line(arguments.command_line))
    if arguments.output == STANDARD_OUTPUT:
        write_whole(STANDARD_OUTPUT, text)
        return
    with refuse_unwritable(arguments.output), replace_file(arguments.output) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    report_written(arguments.output)


def _read_deviation(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise CommandError(f"--uncertain: expected a number from 0 to below 1, not `{text}`")
    return number


def command_line(line: Sequence[str]) -> str:
    return shlex.join(["aspenpy", *line])


def _read_runs(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise CommandError(f"--runs: expected a number above 0, not `{text}`")
    return number


def throttle_for(case: Case, options: AdviceOptions, arguments: Arguments) -> Throttled:
    """The loss on one node if it is restricted."""
    if not 0 <= arguments.noise < 1:
        raise CommandError(f"--noise: expected a number from 0 to below 1, not {arguments.noise:g}")
    if arguments.pieces > MOST_PIECES:
        raise CommandError(f"--pieces: at most {MOST_PIECES:,}, not {arguments.pieces:,}")
    return Throttled(on_one_node(case, options), options.energy, arguments.pieces, arguments.noise)


MOST_PIECES = 1000
MOST_ERROR = 100

COUNTER_OPTIONS = (
    option(
        "--counters",
        "FILE",
        "significance and all steps: counters over several runs, in any form that `aspenpy measure --read` takes, with "
        "runtimes and, where they were measured, energies or powers",
    ),
    option("--where", "CONDITION", "of --counters: runs to use, such as 'threads <= 18' (default: all)"),
    option("--use", "NAME,...", "of --counters: columns to use (default: all that may be counters)"),
    COLUMN.adapt(" (of --counters)"),
    option(
        "--fuzziness",
        "M",
        f"of --counters: how far clusters overlap, above 1 (default: {FUZZINESS:g})",
        type=float,
        default=FUZZINESS,
    ),
    PRECISION.adapt(", that is narrow enough (of --counters)"),
)


def counting_of(arguments: Arguments) -> tuple[str | None, CounterOptions]:
    """The file of `--counters`, and how it is read."""
    if not 1 < arguments.fuzziness <= 100:
        raise CommandError(f"--fuzziness: expected a number above 1, not {arguments.fuzziness:g}")
    if not arguments.precision > 0:
        raise CommandError(f"--precision: expected a number above 0, not {arguments.precision:g}")
    if not arguments.counters:
        for name, given in (("where", arguments.where), ("use", arguments.use), ("column", arguments.columns)):
            if given:
                raise CommandError(f"--{name} chooses among --counters FILE")
        return None, CounterOptions(fuzziness=arguments.fuzziness)
    target = StoppingRule(precision=arguments.precision)
    columns = split_pairs("--column", "NAME=HEADER, such as runtime=time", arguments.columns)
    options = CounterOptions(tuple(split_words(arguments.use)), arguments.where, columns, arguments.fuzziness, target)
    return measurements_path(arguments.counters), options
