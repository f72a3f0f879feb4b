"""`aspenpy eval`: predict the runtime of an application on a machine, by kernel and resource."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.cost.mapper import warnings_of
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats
from aspenpy.shell.entry import case_of_arguments, entries
from aspenpy.shell.option import Arguments, Examples, words
from aspenpy.shell.options import ALL_FORMATS, METRIC, MODEL, SAMPLES, SEED, SETTINGS, TABLES, machine
from aspenpy.shell.output import deliver, deliver_json, deliver_pages, report
from aspenpy.tables.formats import as_csv, as_json
from aspenpy.tables.table import Report

EXAMPLES: Examples = (
    ("the runtime, the kernels, the resources", "aspenpy eval comd --machine haswell"),
    ("other values: numbers, or expressions", "aspenpy eval comd --machine haswell --set nx=40 --set 'ny=2*nx'"),
    ("one of several kinds of sockets", "aspenpy eval comd --machine keeneland --socket intel_xeon_x5660"),
    ("one kernel of the application", "aspenpy eval stream --machine haswell --kernel triad"),
    ("a rank on each socket, not on what the machine says", "aspenpy eval hpcg --machine frontera --ranks-on socket"),
    ("only some numbers", "aspenpy eval comd --machine haswell --metric runtime,flops,bytes"),
    ("everything, for a program", "aspenpy eval comd --machine haswell --format json"),
)

OPTIONS = (
    MODEL,
    machine(required=True),
    *SETTINGS,
    METRIC.here("; only these are shown, several by commas", metavar="NAME,..."),
    ALL_FORMATS,
    TABLES,
    SEED,
    SAMPLES.here(": also their mean, deviation and quantiles"),
)


def run(arguments: Arguments) -> int:
    case = case_of_arguments(arguments, "main")
    predictions = [_predicted(case.changed(kernel=kernel)) for kernel in entries(case.application, arguments.kernel)]
    if arguments.format == "json":
        deliver_json(_object(case, predictions, arguments), arguments)
        return 0
    report(_warnings(predictions))
    if arguments.format == "csv":
        deliver(_rows(predictions, words(arguments.metric)), arguments)
    else:
        deliver_pages([_report(prediction, arguments).page for prediction in predictions], arguments)
    return 0


def _predicted(case: Case) -> Prediction:
    """The prediction; what is wrong is told with what the models are warned of, which may be its reason."""
    try:
        return predict(case)
    except AspenError as error:
        warnings = warnings_of(case.application, case.machine, case.socket, case.kernel)
        raise AspenError(*drop_repeats([*error.diagnostics, *warnings])) from None


def _warnings(predictions: list[Prediction]) -> list[Diagnostic]:
    """Each once, however many kernels it concerns."""
    return list({str(item): item for prediction in predictions for item in prediction.diagnostics}.values())


def _report(prediction: Prediction, arguments: Arguments) -> Report:
    samples = prediction.samples(arguments.samples) if arguments.samples else None
    return prediction.report(metrics=words(arguments.metric), samples=samples)


def _rows(predictions: list[Prediction], metrics: list[str]) -> str:
    """The rows of all in one table."""
    first, *rest = (prediction.report(metrics=metrics).tables("csv")[0] for prediction in predictions)
    return as_csv(first.replace(rows=sum((table.rows for table in rest), first.rows)))


def _object(case: Case, predictions: list[Prediction], arguments: Arguments) -> dict[str, Any]:
    """Of one kernel its own object; of several, for lack of `main`, one that holds theirs."""
    objects = [as_json(_report(item, arguments)) for item in predictions]
    if arguments.kernel or "main" in case.application.kernels:
        return objects[0]
    first = predictions[0]
    names = {"application": first.application.name, "machine": first.machine.name}
    head = {**names, "socket": first.socket, "kernel": None}
    diagnostics = [diagnostic.to_json() for diagnostic in _warnings(predictions)]
    return {**head, "predictions": objects, "diagnostics": diagnostics}
