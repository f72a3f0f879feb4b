"""The command `aspenpy empirical`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.prediction import predict
from aspenpy.cost.placement_options import PlacementOptions
from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import HERTZ
from aspenpy.language.files import measurements_path, require_writable
from aspenpy.language.source import Source, Span, split_at_commas
from aspenpy.learn.estimators.acee import Acee
from aspenpy.learn.estimators.bandwidth import ApplicationTime, BandwidthSensitivity, choose_applications
from aspenpy.learn.estimators.cos import Cos, predict_stages
from aspenpy.learn.estimators.cos_trace import PUBLISHED_PLAN, plan_training, read_traces
from aspenpy.learn.estimators.model import LearntModel
from aspenpy.learn.estimators.model_files import KINDS, load_learnt, save_model, write_parameters
from aspenpy.learn.estimators.speedup import predict_dvfs
from aspenpy.learn.estimators.training_rows import model_name
from aspenpy.learn.estimators.validation import (
    Assumption,
    Split,
    check_assumptions,
    predict_and_compare,
    rows_learnt_from,
    validate,
)
from aspenpy.learn.measurements.records import RecordStore, is_record_store
from aspenpy.learn.measurements.sheet import MeasurementSheet
from aspenpy.models.library import load_application, load_machine
from aspenpy.report.learnt import draw as draw_traces
from aspenpy.report.learnt import draw_validation, report_plan, report_stages, report_throttling_plan
from aspenpy.report.speedup import add_choices, report_signature
from aspenpy.report.speedup import draw as draw_spots
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import only_entry, placement_arguments, quantity_of, standard_input
from aspenpy.shell.option import (
    Arguments,
    Examples,
    choice,
    command,
    flag,
    option,
    positive,
    repeatable_option,
    split_pairs,
    split_words,
)
from aspenpy.shell.options import ALL_FORMATS, OUTPUT, PICTURE, SEED, SETTINGS, machine, settings_of
from aspenpy.shell.output import deliver
from aspenpy.shell.progress import report_activity
from aspenpy.shell.study_options import COLUMN, CONFIDENCE, LEARNT
from aspenpy.tables.table import Report

EXAMPLES: Examples = (
    (
        "runtimes on 8 threads from those on 2 and 4",
        'aspenpy empirical cos fit cos_example --train "threads in (2, 4)" -o cos.json',
    ),
    ("with the model that was saved", "aspenpy empirical cos predict cos_example --model cos.json"),
    ("energy by stepwise regression, each code left out in turn, with its assumptions",
     "aspenpy empirical acee report acee_example --leave-out application"),
    ("when a core computes and waits at three clocks", "aspenpy empirical cos trace cos_trace_example"),
    ("what to measure, training on 2 and 4", 'aspenpy empirical cos plan cos_example --train "threads in (2, 4)"'),
    ("the same of any model: what goes with the clock, and sweet spots of energy and delay",
     "aspenpy empirical power-aware predict matmul --machine pentium_m --clocks 600MHz,1GHz,1.4GHz"),
    ("for a program", "aspenpy empirical leading-loads fit leading_loads_example --format json"),
)  # fmt: skip

OF_A_MODEL = ("output", "model", "parameters", "record_model", "choices", "predictors")
OF_ROWS = ("train", "test", "leave_out")
OF_A_PREDICTION = (
    "socket", "kernel", "settings", *PlacementOptions._fields, "allow_outside", "clocks", "volts",
    "factors", "processors",
)  # fmt: skip
"""Options by what they are about."""

REFUSALS: tuple[tuple[set[str], tuple[str, ...], str], ...] = (
    ({"plan"}, ("picture", *OF_A_MODEL, "test", "leave_out", *OF_A_PREDICTION), "does not belong to plan"),
    ({"trace"}, (*OF_A_MODEL, *OF_ROWS, *OF_A_PREDICTION), "does not belong to trace"),
    (
        {"prediction"},
        (*OF_A_MODEL, *OF_ROWS, "columns", "choose"),
        "is about measurements, and --machine about a prediction",
    ),
    ({"prediction", "bandwidth"}, ("clocks", "volts", "processors", "picture"), "belongs to power-aware"),
    ({"prediction", "power-aware"}, ("factors",), "belongs to bandwidth"),
    ({"measurements"}, OF_A_PREDICTION, "needs --machine M: it is about an application on a machine"),
    ({"measurements", "predict"}, ("output",), "belongs to fit"),
    ({"measurements", "report"}, ("output",), "belongs to fit"),
    ({"measurements", "predict"}, ("parameters",), "belongs to fit and report"),
    (
        {"measurements", "saved model"},
        ("choices", "predictors", "train", "leave_out"),
        "belongs to fit: --model is a model that has learnt",
    ),
    ({"measurements", "fit"}, ("model",), "belongs to predict and report"),
)
"""Options that would be passed over, each row for the uses that have all of its facts, and why."""

KINDS_OF = {"plan": ("cos", "cos-throttling"), "trace": ("cos",)}
"""The models that an action belongs to, where it does not belong to all."""


def _read_counts(text: str) -> list[int]:
    return [positive(word) for word in split_words(text)]


def _read_amounts(text: str) -> list[float]:
    try:
        amounts = [float(word) for word in split_words(text)]
    except ValueError:
        amounts = [0.0]
    if not all(0 < value < math.inf for value in amounts):
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(f"expected numbers above zero, not `{text}`")
    return amounts


OPTIONS = (
    choice("kind", KINDS, "; ".join(f"{name}: {kind.about}" for name, kind in KINDS.items()), metavar="MODEL"),
    choice(
        "action",
        ("fit", "predict", "report", "plan", "trace"),
        "fit, predict or report; of cos and cos-throttling also plan: which configurations to measure; of cos also "
        "trace: computation, overlap and stalls in time",
        metavar="ACTION",
    ),
    option(
        "data",
        "DATA",
        "measurements: a CSV file, - for standard input, or the name of an example; plan: the clocks and threads that "
        "there are (default: those of the paper); trace: intervals in which core and memory are busy, in columns "
        "`busy`, `begin` and `end`",
        nargs="?",
    ),
    option("--train", "WHERE", "rows to learn from, such as 'threads in (4, 6)' (default: all that are not tested)"),
    option("--test", "WHERE", "rows to predict (default: those not learnt from)"),
    option("--leave-out", "COLUMN", "leaves out each value of a column in turn and predicts it from the others"),
    LEARNT.adapt(" (predict, report)"),
    OUTPUT.adapt(": the model, in JSON (fit)"),
    option(
        "--parameters",
        "FILE",
        "fit, report: writes what was learnt as parameters of the Aspen language, a file that models include",
    ),
    flag("--record-model", "fit of a record store: writes into it which model was learnt from which runs").adapt(
        former="--record"
    ),
    option("--predictors", "NAME,...", "acee, bandwidth: columns, or formulas of them such as cycles/runtime"),
    repeatable_option("--option", "NAME=VALUE", "of the model, such as form=stall; may be repeated", dest="choices"),
    COLUMN,
    CONFIDENCE,
    machine(required=False, why="; power-aware predict and bandwidth predict: DATA is an application"),
    *SETTINGS,
    option("--clocks", "HZ,...", "with --machine: core clocks, such as 600MHz,1GHz (default: five over their range)"),
    option("--volts", "V,...", "with --machine: the voltage at each of --clocks, power being V² f", type=_read_amounts),
    option(
        "--factors",
        "F,...",
        "bandwidth predict with --machine: of the bandwidth (default: 0.8,0.6,0.4)",
        type=_read_amounts,
    ),
    flag("--choose", "bandwidth: also says which application, or algorithm, is the fastest at each memory clock"),
    option("--processors", "N,...", "with --machine: how many share the work (default: 1,2,4,8,16)", type=_read_counts),
    PICTURE.adapt(": predictions, errors and residuals, or the trace"),
    ALL_FORMATS,
    SEED,
)


@command(
    "empirical",
    "measure",
    "Learn runtime or energy from measurements: ACEE, COS, Leading Loads, Power-Aware Speedup, bandwidth",
    OPTIONS,
    EXAMPLES,
)
def run_empirical(arguments: Arguments) -> int:
    for path in (arguments.output, arguments.picture, arguments.parameters):
        if path:
            require_writable(path)
    if not 0 < arguments.confidence < 1:
        raise CommandError(f"--confidence: expected a number between 0 and 1, not {arguments.confidence:g}")
    _refuse_options(arguments)
    if arguments.action == "plan":
        return deliver(_report_plan(arguments), arguments)
    if arguments.action == "trace":
        return _run_trace(arguments)
    if arguments.machine:
        return _run_split(arguments)
    sheet = _read_sheet(model := _load_model(arguments), arguments)
    split = Split(arguments.train, arguments.test, arguments.leave_out)
    if arguments.model:
        errors = predict_and_compare(model, sheet, split, arguments.confidence)
    else:
        model.watch = lambda done, total: report_activity(f"cross-validation, {done} of {total} fits", done / total)
        errors = validate(model, sheet, split, arguments.confidence, report_activity)
    if arguments.output:
        save_model(model, arguments.output)
    if arguments.parameters:
        write_parameters(model, arguments.parameters)
    if arguments.record_model and model.training is not None:
        RecordStore(arguments.data).name_model(model_name(model), rows_learnt_from(model, sheet, split))
    whole = arguments.action == "report"
    assumed: tuple[Assumption, ...] = ()
    left = None
    if whole and isinstance(model, Acee):
        measured = model.select_rows(model.drop_unmeasured(sheet))
        assumed, left = check_assumptions(model, measured), model.regression_residuals(measured)[0][3]
    stages = predict_stages(model, sheet) if isinstance(model, Cos) and arguments.picture else {}
    page = errors.report(assumed=assumed, whole=whole)
    if arguments.choose:
        page = add_choices(page, _times_of_applications(model, sheet))
    return deliver(page, arguments, lambda: draw_validation(errors, left, stages))


def _read_sheet(model: LearntModel, arguments: Arguments) -> MeasurementSheet:
    if arguments.data is None:
        raise CommandError(f"{arguments.action} needs DATA: a file of measurements")
    data = standard_input() if arguments.data == "-" else measurements_path(arguments.data)
    return model.sheet(data, split_pairs("--column", "NAME=HEADER, such as n=size", arguments.columns))


def _run_split(arguments: Arguments) -> int:
    """An application on a machine, at other clocks or with less bandwidth."""
    if arguments.kind not in ("power-aware", "bandwidth") or arguments.action != "predict" or arguments.data is None:
        raise CommandError("--machine belongs to power-aware predict APPLICATION, and to bandwidth predict APPLICATION")
    outside = arguments.allow_outside
    application = load_application(arguments.data, allow_outside=outside)
    kernel = only_entry(application, arguments.kernel)
    computer = load_machine(arguments.machine, allow_outside=outside)
    settings, ranks = settings_of(arguments), placement_arguments(arguments)
    predicted = predict(
        Case(
            application,
            computer,
            arguments.socket,
            kernel=kernel,
            set=settings,
            seed=arguments.seed,
            overlap=arguments.par == "overlap",
            **ranks,
        )
    )
    if arguments.kind == "bandwidth":
        return deliver(report_signature(predicted, arguments.factors or (0.8, 0.6, 0.4)), arguments)
    clocks = [quantity_of(text, HERTZ, "--clocks") for text in split_words(arguments.clocks)]
    surface = predict_dvfs(predicted, arguments.processors or (1, 2, 4, 8, 16), clocks, arguments.volts or ())
    return deliver(surface.report(), arguments, lambda: draw_spots(surface))


def _times_of_applications(model: LearntModel, sheet: MeasurementSheet) -> tuple[ApplicationTime, ...]:
    if not isinstance(model, BandwidthSensitivity):
        raise CommandError(f"--choose belongs to bandwidth, not to {model.kind}")
    return choose_applications(model, sheet)


def _run_trace(arguments: Arguments) -> int:
    """Reports when the core and the memory are busy, as COS traces."""
    traces = read_traces(_read_sheet(KINDS["cos"](), arguments))
    return deliver(report_stages(traces), arguments, lambda: draw_traces(traces))


def _report_plan(arguments: Arguments) -> Report:
    """Reports which configurations to measure."""
    if arguments.data is None and not arguments.train:
        return report_plan(PUBLISHED_PLAN) if arguments.kind == "cos" else report_throttling_plan()
    if arguments.kind == "cos-throttling":
        raise CommandError("the plan of cos-throttling is that of Blue Gene/Q: it takes no DATA and no --train")
    if not arguments.train:
        raise CommandError("plan needs --train with the threads to train on, such as 'threads in (4, 6)'")
    return report_plan(plan_training(_read_sheet(KINDS["cos"](), arguments), arguments.train))


def _load_model(arguments: Arguments) -> LearntModel:
    """The model of a command line: read from its file, or new."""
    if arguments.action == "predict" and not arguments.model:
        raise CommandError("predict needs a model: --model FILE, which fit writes with -o")
    if arguments.record_model and (arguments.action != "fit" or not is_record_store(Path(arguments.data or ""))):
        raise CommandError("--record-model belongs to fit, and DATA is then a record store")
    if not arguments.model:
        return KINDS[arguments.kind](**_read_options(arguments))
    model = load_learnt(arguments.model)
    if model.kind != arguments.kind:
        fail("model-kind", f"`{arguments.model}` holds a model `{model.kind}`, not `{arguments.kind}`")
    return model


def _refuse_options(arguments: Arguments) -> None:
    """Refuses options that would be passed over, and models that an action does not belong to."""
    action, kind = arguments.action, arguments.kind
    use = action if action in KINDS_OF else "prediction" if arguments.machine else "measurements"
    facts = {use, action, kind, *(("saved model",) if arguments.model else ())}
    for needed, names, why in REFUSALS:
        for name in names if needed <= facts else ():
            if getattr(arguments, name):
                spelled = {"choices": "option", "columns": "column", "settings": "set"}.get(name, name)
                raise CommandError(f"--{spelled.replace('_', '-')} {why}")
    if kind not in KINDS_OF.get(action, (kind,)):
        raise CommandError(f"{action} belongs to {' and '.join(KINDS_OF[action])}, not to {kind}")


def _read_options(arguments: Arguments) -> dict[str, Any]:
    """The options of the model, each in the kind that its default has."""
    defaults = KINDS[arguments.kind].defaults
    options: dict[str, Any] = {}
    for name, text in split_pairs("--option", "NAME=VALUE, such as form=stall", arguments.choices).items():
        default = defaults.get(name)
        options[name] = text
        if isinstance(default, bool):
            if text not in ("yes", "no"):
                raise CommandError(f"--option {name}: expected yes or no, not `{text}`")
            options[name] = text == "yes"
        elif isinstance(default, int | float):
            try:
                options[name] = type(default)(text)
            except ValueError:
                raise CommandError(f"--option {name}: expected a number, not `{text}`") from None
    if arguments.predictors:
        if "predictors" not in defaults:
            raise CommandError(f"--predictors: `{arguments.kind}` takes none")
        whole = Source(arguments.predictors, "<--predictors>")
        options["predictors"] = tuple(part.text() for part in split_at_commas(Span(whole, 0, len(whole.text))))
    return options
