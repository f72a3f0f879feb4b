"""The report of a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.answers.evaluation import ENERGY_UNITS, KernelUse, ParameterUse
from aspenpy.answers.expected_error import expected_error
from aspenpy.answers.prediction import Prediction
from aspenpy.report.intervals import interval_as_data
from aspenpy.report.prediction_data import prediction_as_data
from aspenpy.report.prediction_facts import BOUND_BY, Facts, describe_group, describe_runtime, list_facts
from aspenpy.tables.numbers import Amount, format_setting, seconds, unit_of_resource
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import (
    CSV,
    JSON,
    TEXT,
    Column,
    Grid,
    Part,
    Report,
    Table,
    make_columns,
    make_facts,
    make_table,
)

if TYPE_CHECKING:
    from aspenpy.answers.samples import RuntimeSamples


RESOURCES = (
    Column("resource", get="name"),
    Column("amount", "amount", get=lambda use: Amount(use.amount, unit_of_resource(use.name))),
    Column("busy", unit="s", get="time"),
    Column("component", wrapped=True),
)
METRICS = (Column("metric"), Column("value", "amount"))
UNITS = {"resources": {"time": "s"}, "bottleneck": {"time": "s"}}
CSV_COLUMNS = make_columns("application machine socket kernel metric value unit")
"""Columns of the CSV form: one value per row, in its base unit."""


def report_prediction(
    prediction: Prediction, metrics: Sequence[str] = (), samples: RuntimeSamples | None = None, interval: bool = True
) -> Report:
    """The runtime, the `interval` to expect, what bounds it, kernels, resources and parameters; or only the metrics
    asked for."""
    values = metric_values(prediction, metrics) if metrics else {}
    spread = [] if samples is None else _spread_facts(samples, prediction.random)
    kernels = _kernels_table(prediction)
    shown: list[Part]
    if metrics:
        shown = [Table(METRICS, tuple(values.items()), media=TEXT), make_facts(spread)]
    else:
        shown = [
            make_facts([*list_facts(prediction, interval), *spread]),
            kernels,
            _resources_table(prediction),
            *_parameter_grids(prediction),
        ]
    data = prediction_as_data(prediction, values, samples)
    if interval:
        data["expected"] = interval_as_data(expected_error(prediction), prediction.runtime)
    rows = _metric_rows(prediction, values) if metrics else _run_rows(prediction)
    return Report(
        "prediction/1",
        headline=f"{prediction.where}: {prediction.kernel} takes {describe_runtime(prediction)}",
        data=data,
        parts=(*shown, kernels.replace(key="kernels", media=JSON), Table(CSV_COLUMNS, tuple(rows), media=CSV)),
        diagnostics=tuple(prediction.diagnostics),
        units=UNITS,
    )


register_report(Prediction, report_prediction)


def metric_values(prediction: Prediction, metrics: Sequence[str]) -> dict[str, Amount]:
    """The metrics asked for: `runtime`, energies, or the amounts of resources."""
    exprs = [prediction.metric(metric) for metric in metrics]
    values = prediction.scope.values(exprs, prediction.seed)
    known = {"runtime": "s"} | {name: unit for name, unit in ENERGY_UNITS.items() if name not in prediction.resources}
    units = [known[metric] if metric in known else unit_of_resource(metric) for metric in metrics]
    return {name: Amount(value, unit) for name, value, unit in zip(metrics, values, units, strict=True)}


def _spread_facts(samples: RuntimeSamples, random: bool) -> Facts:
    """The runtimes with several seeds."""
    if not random:
        return [("samples", f"{samples.count}, all alike: the runtime depends on no random draw")]
    quantiles = (f"{100 * quantile:g} %: {seconds(value)}" for quantile, value in samples.quantiles.items())
    return [
        ("samples", f"{samples.count}, with seeds from {samples.first_seed} on"),
        ("mean", f"{seconds(samples.mean)}, standard deviation {seconds(samples.deviation)}"),
        ("quantiles", ", ".join(quantiles)),
    ]


# -- tables ----------------------------------------------------------------------------------------


def _resources_table(prediction: Prediction) -> Table:
    """One row per resource; the one that bounds the run is marked."""
    slowest = prediction.bottleneck.resource if prediction.bottleneck else None
    uses = prediction.resources.values()
    marked = frozenset(index for index, use in enumerate(uses) if use.name == slowest)
    return make_table(RESOURCES, uses, marked=marked, media=TEXT)


def _kernels_table(prediction: Prediction) -> Table:
    """One row per kernel; the one that takes longest without its callees is marked."""

    def component(kernel: KernelUse) -> str | None:
        return None if kernel.bound_by is None else prediction.component_of(kernel.bound_by, kernel.name)

    def bound(kernel: KernelUse) -> str | None:
        if kernel.bound_by is None:
            return None
        return describe_group(prediction, kernel.bound_by, kernel.group, kernel.name)

    columns = (
        Column("kernel", key="name"),
        Column("calls", "count"),
        Column("inclusive", unit="s"),
        Column("exclusive", unit="s"),
        Column("share", "share"),
        Column(BOUND_BY, get=bound, wrapped=True, media=TEXT),
        Column(BOUND_BY, media=JSON),
        Column("component", get=component, media=JSON),
        Column("group", media=JSON),
    )
    kernels = prediction.kernels
    slowest = max(range(len(kernels)), key=lambda index: kernels[index].exclusive, default=0)
    return make_table(columns, kernels, marked=frozenset([slowest]), media=TEXT)


def _parameter_grids(prediction: Prediction) -> list[Grid]:
    """Values of the parameters: those that were set, those of the application, those of the machine."""
    uses = list(prediction.parameters.values())
    overridden = [use for use in uses if use.overridden]
    of_application = [use for use in uses if not use.machine and not use.overridden]
    of_machine = [use for use in uses if use.machine and not use.overridden]
    grids = (
        Grid("set", _list_entries(prediction, overridden), "marked"),
        Grid(f"parameters of {prediction.application.name}", _list_entries(prediction, of_application)),
        Grid(f"parameters of {prediction.machine.name}", _list_entries(prediction, of_machine)),
    )
    return [grid for grid in grids if grid.entries]


def _list_entries(prediction: Prediction, uses: Sequence[ParameterUse]) -> tuple[tuple[str, str], ...]:
    return tuple((use.name, _format_value(prediction, use)) for use in uses)


def _format_value(prediction: Prediction, use: ParameterUse) -> str:
    """The value, or the member of the enum that it stands for."""
    application = prediction.application
    node = None if use.machine else application.declared.get(use.name)
    if node is None or node.member_of is None:
        return format_setting(use.value)
    return application.enums[node.member_of].members[int(use.value)]


# -- rows of the CSV form --------------------------------------------------------------------------


def _metric_rows(prediction: Prediction, metrics: dict[str, Amount]) -> Iterator[tuple[Any, ...]]:
    where = (prediction.application.name, prediction.machine.name, prediction.socket, prediction.kernel)
    for name, amount in metrics.items():
        yield (*where, name, *amount)


def _run_rows(prediction: Prediction) -> Iterator[tuple[Any, ...]]:
    """The runtime, then two rows per resource and three per kernel."""
    where = (prediction.application.name, prediction.machine.name, prediction.socket)
    main = (*where, prediction.kernel)
    yield (*main, "runtime", prediction.runtime, "s")
    for use in prediction.resources.values():
        yield (*main, use.name, use.amount, unit_of_resource(use.name))
        yield (*main, f"{use.name}_time", use.time, "s")
    for kernel in prediction.kernels:
        yield (*where, kernel.name, "calls", kernel.calls, "")
        yield (*where, kernel.name, "inclusive", kernel.inclusive, "s")
        yield (*where, kernel.name, "exclusive", kernel.exclusive, "s")
