"""Signatures of predictions, and choices among algorithms, under less memory bandwidth."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.answers.prediction import Prediction
from aspenpy.learn.estimators.bandwidth import ApplicationTime, analytical_slowdown, bandwidth_predictors
from aspenpy.tables.table import Column, Report, Table, table

ABOUT = {
    "d1m": "accesses an instruction that the first cache serves",
    "d2m": "that the second serves",
    "d3m": "that the third serves",
    "dmm": "that miss the last cache",
    "loads": "loads an instruction",
    "stores": "stores an instruction",
    "int_ops": "integer operations an instruction",
    "fops_ins": "flops an instruction",
    "fprat": "flops over accesses",
}
CHOICES = (
    Column("memory clock", unit="Hz", key="clock"),
    Column("application"),
    Column("time", unit="s"),
    Column("fastest", lambda value: "yes" if value else "", key="is_fastest"),
)


def report_signature(prediction: Prediction, factors: Sequence[float]) -> Report:
    """What trees learn from, of a prediction, and the slowdowns that the Aspen model has itself."""
    case = prediction.case
    heading = f"{case.application.name} on {case.required_machine.name}: predictors of sensitivity to memory bandwidth"
    columns = (Column("predictor"), Column("value", lambda value: f"{value:.4g}", "right"), Column("which is"))
    rows = tuple((name, value, ABOUT[name]) for name, value in bandwidth_predictors(prediction).items())
    slower = tuple((factor, analytical_slowdown(prediction, factor)) for factor in factors)
    heads = (Column("bandwidth", "ratio"), Column("slowdown", "ratio"))
    title = "runtime with a part of the bandwidth, over that with all of it, by the model"
    parts = (Table(columns, rows, key="signature"), Table(heads, slower, title=title, key="slowdowns"))
    return Report(heading, {}, parts, prediction.diagnostics)


def with_choices(report: Report, found: Sequence[ApplicationTime]) -> Report:
    """A report of slowdowns, with the times of all phases of each application at each memory clock."""
    listed = sorted(found, key=lambda item: (-item.clock, item.time))
    made = table(CHOICES, listed, "choices", title="all phases together, the fastest first")
    return report.replace(parts=(*report.parts, made))
