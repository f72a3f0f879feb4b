"""The command `aspenpy measure`."""

from __future__ import annotations

from typing import Any

from aspenpy.language.files import require_writable, write_whole
from aspenpy.learn.estimators.model_files import load_learnt
from aspenpy.learn.estimators.training_rows import model_name
from aspenpy.learn.measurements.columns import read_numbers, recognise_columns
from aspenpy.learn.measurements.measure import Measured, StoppingRule, measure, tabulate_runs
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.learn.measurements.records import RecordStore, RunRecord
from aspenpy.learn.measurements.sheet import MeasurementSheet, add_labels, tabulate_rows
from aspenpy.report.measurements import report_sheet
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, command, flag, option, repeatable_option, split_pairs
from aspenpy.shell.options import ALL_FORMATS, OUTPUT
from aspenpy.shell.output import deliver
from aspenpy.shell.progress import report_activity
from aspenpy.shell.study_options import CONFIDENCE, LEARNT, PRECISION, runs
from aspenpy.tables.formats import write_csv

EXAMPLES: Examples = (
    ("a command, until its mean runtime is known to 20 %", "aspenpy measure --precision 0.2 --most-runs 8 -- true"),
    (
        "what perf stat has measured, as a table",
        r"printf '1200,,cycles,100,100.00,,\n800,,instructions,100,100.00,,\n' > run.csv;"
        " aspenpy measure --read run.csv --label threads=4",
    ),
)

OPTIONS = (
    option("command", "COMMAND", "what is run, behind --", nargs="*"),
    repeatable_option(
        "--read",
        "FILE",
        "instead: a file of LIKWID, perf, gprof, Caliper, TAU, nvprof, ncu, Nsight Systems (SQLite), rocprof, "
        "nvidia-smi, DCGM, PAPI, Slurm's sacct -P, ReFrame, CSV, Parquet, or a record store; may be repeated",
    ),
    repeatable_option(
        "--label", "NAME=VALUE", "says in each row what ran and where, such as threads=4; may be repeated"
    ),
    PRECISION,
    CONFIDENCE.adapt(", by Student's t"),
    *runs(5, 50),
    flag("--trimmed", "leaves the shortest and the longest run out of the mean"),
    option(
        "--record",
        "STORE",
        "adds the runs to a record store; columns, or --label application=... and input=..., name them",
    ),
    LEARNT.adapt(", from these rows, to be noted with them (with --record)"),
    OUTPUT.adapt(": the rows, in CSV"),
    ALL_FORMATS,
)


@command(
    "measure",
    "measure",
    "Repeat a command until its mean runtime is known; read what other tools have measured",
    OPTIONS,
    EXAMPLES,
)
def run_measure(arguments: Arguments) -> int:
    labels = split_pairs("--label", "NAME=VALUE, such as threads=4", arguments.label)
    if bool(arguments.command) == bool(arguments.read):
        raise CommandError("measure takes a command behind --, or files with --read")
    if arguments.model and not arguments.record:
        raise CommandError("--model says which model the runs of --record STORE were learnt by")
    if arguments.output:
        require_writable(arguments.output)
    if arguments.read:
        sheets = [recognise_columns(add_labels(read_measurements(path), labels)) for path in arguments.read]
        sheet = _join_sheets(sheets)
        report = report_sheet(sheet, ", ".join(arguments.read))
    else:
        result = _run_measurement(arguments)
        sheet, report = tabulate_rows(tabulate_runs(result, labels)), result.report()
        sheet = recognise_columns(sheet)
    if arguments.record:
        _record_runs(arguments.record, sheet, arguments.model)
    if arguments.output:
        write_whole(arguments.output, write_csv(report_sheet(sheet, "")))
    return deliver(report, arguments)


def _run_measurement(arguments: Arguments) -> Measured:
    if not (0 < arguments.confidence < 1 and arguments.precision > 0):
        raise CommandError("--confidence lies between 0 and 1, and --precision above 0")
    if arguments.most_runs < arguments.least_runs:
        raise CommandError(f"--most-runs {arguments.most_runs} is fewer than --least-runs {arguments.least_runs}")
    target = StoppingRule(
        arguments.precision, arguments.confidence, arguments.least_runs, arguments.most_runs, arguments.trimmed
    )
    return measure(
        arguments.command, target, lambda runs, share: report_activity(f"{runs} runs, the mean to {100 * share:.2g} %")
    )


def _join_sheets(sheets: list[MeasurementSheet]) -> MeasurementSheet:
    """Joins the rows of several sheets; a cell is blank where its sheet lacks the column."""
    if len(sheets) == 1:
        return sheets[0]
    rows: list[dict[str, Any]] = []
    names = list(dict.fromkeys(_write_header(item) for sheet in sheets for item in sheet.headings))
    for sheet in sheets:
        for row in sheet.rows:
            own = {_write_header(item): row[item.name].value for item in sheet.headings}
            rows.append({name: own.get(name, "") for name in names})
    return recognise_columns(tabulate_rows(rows, 10**6))


def _write_header(item: Any) -> str:
    return f"{item.name} [{item.unit}]" if item.unit else str(item.name)


def _record_runs(path: str, sheet: MeasurementSheet, model: str | None) -> None:
    if "application" not in sheet.names:
        raise CommandError("--record: say what ran with a column `application` or --label application=NAME")
    learnt = model_name(load_learnt(model)) if model else None
    amounts = {name: read_numbers(sheet, name, blank=True) for name in ("runtime", "energy") if name in sheet.names}
    records = []
    for index, row in enumerate(sheet.rows):
        cells = {item.name: (_write_header(item), row[item.name].value) for item in sheet.headings}
        facts: dict[str, Any] = {
            name: str(cells.pop(name, ("", ""))[1]) for name in ("application", "input", "hardware", "device")
        }
        facts |= {name: float(values[index]) for name, values in amounts.items() if values[index] == values[index]}
        counters = {header: value for name, (header, value) in cells.items() if name not in amounts and value != ""}
        records.append(RunRecord(**facts, counters=counters, model=learnt))
    RecordStore(path).add(records)
