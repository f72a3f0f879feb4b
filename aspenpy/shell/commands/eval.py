"""The command `aspenpy eval`."""

from __future__ import annotations

from aspenpy.answers.case import Case
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.cost.mapper import warnings_of
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats
from aspenpy.shell.operands import case_of_arguments, entry_kernels
from aspenpy.shell.option import Arguments, Examples, command, split_words
from aspenpy.shell.options import METRIC, MODEL, NO_INTERVAL, RESULTS, SAMPLES, SEED, SETTINGS, machine
from aspenpy.shell.output import deliver
from aspenpy.tables.formats import build_json
from aspenpy.tables.table import CSV, Report, Table

EXAMPLES: Examples = (
    ("the runtime, the kernels, the resources", "aspenpy eval comd --machine haswell"),
    ("other values: numbers, or expressions", "aspenpy eval comd --machine haswell --set nx=40 --set 'ny=2*nx'"),
    ("one of several kinds of sockets", "aspenpy eval comd --machine keeneland --socket intel_xeon_x5660"),
    ("one kernel of the application", "aspenpy eval stream --machine haswell --kernel triad"),
    ("a rank on each socket, not on what the machine says", "aspenpy eval hpcg --machine frontera --bind socket"),
    ("only some numbers", "aspenpy eval comd --machine haswell --metric runtime,flops,bytes"),
    ("everything, for a program", "aspenpy eval comd --machine haswell --format json"),
)

OPTIONS = (
    MODEL,
    machine(required=True),
    *SETTINGS,
    NO_INTERVAL,
    METRIC.adapt("; only these are shown, several by commas", metavar="NAME,..."),
    *RESULTS,
    SEED,
    SAMPLES.adapt(": also their mean, deviation and quantiles"),
)


@command(
    "eval", "predict", "Predict the runtime of an application on a machine, by kernel and resource", OPTIONS, EXAMPLES
)
def run_eval(arguments: Arguments) -> int:
    case = case_of_arguments(arguments, "main")
    predictions = [
        _predict_with_warnings(case.changed(kernel=kernel))
        for kernel in entry_kernels(case.application, arguments.kernel)
    ]
    reports = [_make_report(prediction, arguments) for prediction in predictions]
    single = arguments.kernel or "main" in case.application.kernels
    return deliver(reports[0] if single else _join_reports(predictions, reports), arguments)


def _predict_with_warnings(case: Case) -> Prediction:
    """The prediction; what is wrong is told with what the models are warned of, which may be its reason."""
    try:
        return predict(case)
    except AspenError as error:
        warnings = warnings_of(case.application, case.machine, case.socket, case.kernel)
        raise AspenError(*drop_repeats([*error.diagnostics, *warnings])) from None


def _gather_warnings(predictions: list[Prediction]) -> list[Diagnostic]:
    """Warnings of all predictions, each once however many kernels it concerns."""
    return list({str(item): item for prediction in predictions for item in prediction.diagnostics}.values())


def _make_report(prediction: Prediction, arguments: Arguments) -> Report:
    samples = prediction.samples(arguments.samples) if arguments.samples else None
    return prediction.report(metrics=split_words(arguments.metric), samples=samples, interval=not arguments.no_interval)


def _join_reports(predictions: list[Prediction], reports: list[Report]) -> Report:
    """Several kernels, for lack of `main`: an object with theirs, their pages, and their rows in one table."""
    first = predictions[0]
    names = {"application": first.application.name, "machine": first.machine.name}
    data = {**names, "socket": first.socket, "kernel": None, "predictions": [build_json(item) for item in reports]}
    tables = [item.tables("csv")[0] for item in reports]
    rows = tables[0].replace(rows=sum((table.rows for table in tables), ()), key="", media=CSV)
    pages = (part.replace(key="") if isinstance(part, Table) else part for item in reports for part in item.page)
    return Report("predictions/1", "", data, (rows, *pages), tuple(_gather_warnings(predictions)))
