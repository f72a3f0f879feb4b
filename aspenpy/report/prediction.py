"""The report of a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.answers.assumptions import DecidingAssumption
from aspenpy.answers.evaluation import ENERGY_UNITS, Bottleneck, Evaluation, KernelUse, ParameterUse
from aspenpy.answers.expected_error import expected_error
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.run_placement import run_placement, spread_over
from aspenpy.cost.instances import FILE_RESOURCES
from aspenpy.cost.prices import MEMORY_RESOURCES
from aspenpy.cost.rank_units import describe_component
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.intervals import interval_as_data, interval_rows
from aspenpy.tables.numbers import (
    Amount,
    format_count,
    format_setting,
    format_share,
    make_formatter,
    seconds,
    unit_of_resource,
)
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


BOUND_BY = "bound by"
"""What reports call the resource that limits a run, a kernel or a block."""

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
    spread = {} if samples is None else _describe_spread(samples, prediction.random)
    shown: tuple[Part, ...] = (Table(METRICS, tuple(values.items()), media=TEXT), make_facts([*spread.items()]))
    if not metrics:
        slowest = prediction.bottleneck.resource if prediction.bottleneck else None
        uses = prediction.resources.values()
        marked = frozenset(index for index, use in enumerate(uses) if use.name == slowest)
        busiest = make_table(RESOURCES, uses, marked=marked, media=TEXT)
        shown = (
            make_facts([*_list_facts(prediction, interval), *spread.items()]),
            _kernels_table(prediction),
            busiest,
            *_parameter_grids(prediction),
        )
    kernels = _kernels_table(prediction).replace(key="kernels", media=JSON)
    parts = (*shown, kernels, Table(CSV_COLUMNS, tuple(_csv_rows(prediction, values)), media=CSV))
    headline = f"{prediction.where}: {prediction.kernel} takes {describe_runtime(prediction)}"
    data = _values_as_data(prediction, values, samples)
    data |= {"expected": interval_as_data(expected_error(prediction), prediction.runtime)} if interval else {}
    return Report("prediction/1", headline, data, parts, tuple(prediction.diagnostics), units=UNITS)


register_report(Prediction, report_prediction)


def describe_runtime(prediction: Prediction, whole: str = "") -> str:
    """The runtime, with `whole` behind it, after the time under a power cap that makes the run longer."""
    alone, capped = seconds(prediction.runtime), prediction.capped_runtime
    if not prediction.cap_warnings or (capped is not None and seconds(capped) == alone):
        return alone + whole
    cap = f"the power cap of {prediction.socket or prediction.machine.name}"
    if capped is None:
        return f"{alone}{whole} without {cap}, which it cannot hold"
    return f"{seconds(capped)}{whole} under {cap}, {alone} without it"


def runtime_as_data(prediction: Prediction) -> dict[str, Any]:
    """The runtime, which knows no power cap, and that under the cap of the socket."""
    capped = prediction.capped_runtime
    return {
        "runtime": Amount(prediction.runtime, "s"),
        "capped_runtime": None if capped is None else Amount(capped, "s"),
    }


def _list_facts(prediction: Prediction, interval: bool) -> list[tuple[str, str]]:
    bottleneck = prediction.bottleneck
    bound = "nothing"
    if bottleneck is not None:
        bound = f"{_describe_bound(prediction, bottleneck)} ({format_share(bottleneck.share)} of runtime)"
    rows = [("socket", prediction.socket or "none"), *placement_rows(prediction), (BOUND_BY, bound)]
    if raised := prediction.raised_clock:
        now, highest = format_quantity(raised.now, "Hz"), format_quantity(raised.highest, "Hz")
        advice = f"one alone may have up to {highest}: --set {raised.parameter}={raised.highest:g}"
        rows.append(("clock", f"{now}, that of all cores; {advice}"))
    rows += [("assumed", describe_assumptions(prediction))] if prediction.assumptions else []
    if interval:
        rows += interval_rows(expected_error(prediction), prediction.runtime, "s")
    if allocated := _write_allocated(prediction):
        rows.append(("write-allocate", f"stores to {', '.join(allocated)} also fetch the lines that they write"))
    rows += lost_rows(prediction)
    rows += _list_warm_data(prediction)
    if prediction.random:
        rows.append(("seed", f"{prediction.seed}; another one draws other numbers (--seed)"))
    return rows


def name_assumption(item: DecidingAssumption) -> str:
    """`attained_bandwidth of hbm3`, or a parameter's name."""
    component, _, name = item.name.rpartition(".")
    return f"{name} of {component}" if component else name


def describe_assumptions(prediction: Prediction) -> str:
    """The assumed number that the runtime depends on most, with its reason, and how many others decide it."""
    from textwrap import shorten

    first, *others = prediction.assumptions
    why = f" ({shorten(first.reason, 70)})" if first.reason.lower() not in ("", "assumed") else ""
    changed = format_share(abs(first.sensitivity) / 10)
    more = f"; so do {len(others)} other assumed numbers" if len(others) > 1 else "; so does another" if others else ""
    return f"{name_assumption(first)}{why}: 10 % in it changes the runtime by {changed}{more}"


def assumptions_as_data(prediction: Prediction) -> list[dict[str, Any]]:
    """The assumed numbers that decide a prediction, for programs."""
    return [_fields(item, "name reason sensitivity") for item in prediction.assumptions]


def lost_rows(prediction: Evaluation) -> list[tuple[str, str]]:
    """Seconds that ranks lose to the slowest of them, by cause."""
    parts = [
        f"{cause} {seconds(lost)}, {format_share(lost / prediction.runtime)} of runtime"
        for cause, lost in prediction.lost.items()
        if lost > 0
    ]
    return [("late ranks", "; ".join(parts))] if parts else []


def placement_rows(prediction: Evaluation) -> list[tuple[str, str]]:
    """Rows on the placement of the ranks of a run, or the number of nodes over which its instances are spread."""
    ranks = run_placement(prediction)
    if ranks is not None:
        return [("ranks", str(ranks))]
    if prediction.tree.rank_placement is not None:
        return bound_ranks(prediction)
    spread = spread_over(prediction)
    return [] if spread is None else [("placement", spread)]


def bound_ranks(prediction: Evaluation) -> list[tuple[str, str]]:
    """The bounds of each rank, where blocks say that ranks share their work out."""
    placement = prediction.tree.rank_placement
    if placement is None:
        return []
    most = prediction.case.placement.ranks_per_node
    few = "" if most is None else f"; {format_count(most)} on a node"
    return [("each rank has", f"{describe_component(placement.unit)}{few}; {placement.distribution}")]


MOST_WARM = 3
"""Data structures that are named of those found in a cache."""


def _list_warm_data(prediction: Prediction) -> list[tuple[str, str]]:
    """The data that each cache holds when blocks begin, by how much the run finds there in all."""
    rows = []
    for level in dict.fromkeys(level for level, _ in prediction.warm):
        held = {name: amount for (cache, name), amount in prediction.warm.items() if cache == level and amount >= 1}
        named = sorted(held, key=lambda name: -held[name])
        shown = [f"{name} {make_formatter('B')(held[name])}" for name in named[:MOST_WARM]]
        more = [f"{len(named) - MOST_WARM} more"] if len(named) > MOST_WARM else []
        if shown:
            rows.append(("found warm", f"in {level}, over the whole run: {', '.join([*shown, *more])}"))
    return rows


def _write_allocated(prediction: Prediction) -> list[str]:
    """The data of the stores that fetch lines before they write them."""
    costs = prediction.tree.requirements
    fetching = [cost.requirement for cost in costs if cost.traffic is not None and cost.traffic.allocates]
    return list(dict.fromkeys(need.target or "memory" for need in fetching))


def _describe_bound(prediction: Prediction, bottleneck: Bottleneck) -> str:
    """`memory bandwidth of ddr4_2133`, `write on the file system scratch`, `flops on core`."""
    name = _describe_group(prediction, bottleneck.resource, bottleneck.group)
    resources, on, component = name.partition(" on ")
    asked = {*resources.split(" + ")} if on and " on " not in component else set()
    if asked and asked <= {*MEMORY_RESOURCES}:
        return f"memory bandwidth of {component}"
    return f"{resources} on the file system {component}" if asked and asked <= {*FILE_RESOURCES} else name


def _describe_group(prediction: Prediction, resource: str, group: Sequence[str], kernel: str | None = None) -> str:
    """A resource and the resources that cannot overlap with it, which share the bound, over the run or in a kernel."""
    names = [resource, *(name for name in group if name != resource)]
    components = {prediction.component_of(name, kernel) for name in names}
    if len(components) == 1:
        return resource_on_component(" + ".join(names), prediction.component_of(resource, kernel))
    return " + ".join(resource_on_component(name, prediction.component_of(name, kernel)) for name in names)


def _describe_spread(samples: RuntimeSamples, random: bool) -> dict[str, str]:
    if not random:
        return {"samples": f"{samples.count}, all alike: the runtime depends on no random draw"}
    quantiles = (f"{100 * quantile:g} %: {seconds(value)}" for quantile, value in samples.quantiles.items())
    return {
        "samples": f"{samples.count}, with seeds from {samples.first_seed} on",
        "mean": f"{seconds(samples.mean)}, standard deviation {seconds(samples.deviation)}",
        "quantiles": ", ".join(quantiles),
    }


def resource_on_component(resource: str, component: str | None) -> str:
    """`loads on ddr4_2133`."""
    name = component.rpartition("/")[2] if component else resource
    return resource if name == resource else f"{resource.rpartition('.')[2]} on {name}"


def _kernels_table(prediction: Prediction) -> Table:
    def component(kernel: KernelUse) -> str | None:
        return None if kernel.bound_by is None else prediction.component_of(kernel.bound_by, kernel.name)

    def bound(kernel: KernelUse) -> str | None:
        return (
            None if kernel.bound_by is None else _describe_group(prediction, kernel.bound_by, kernel.group, kernel.name)
        )

    heads = (
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
    return make_table(heads, kernels, marked=frozenset([slowest]), media=TEXT)


def _parameter_grids(prediction: Prediction) -> list[Grid]:
    uses = list(prediction.parameters.values())
    theirs = [use for use in uses if use.machine and not use.overridden]
    ours = [use for use in uses if not use.machine and not use.overridden]
    grids = (
        Grid("set", _list_entries(prediction, [use for use in uses if use.overridden]), "marked"),
        Grid(f"parameters of {prediction.application.name}", _list_entries(prediction, ours)),
        Grid(f"parameters of {prediction.machine.name}", _list_entries(prediction, theirs)),
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


# -- as data ---------------------------------------------------------------------------------------


def metric_values(prediction: Prediction, metrics: Sequence[str]) -> dict[str, Amount]:
    """The metrics asked for: `runtime`, energies, or the amounts of resources."""
    exprs = [prediction.metric(metric) for metric in metrics]
    values = prediction.scope.values(exprs, prediction.seed)
    known = {"runtime": "s"} | {name: unit for name, unit in ENERGY_UNITS.items() if name not in prediction.resources}
    units = [known[metric] if metric in known else unit_of_resource(metric) for metric in metrics]
    return {name: Amount(value, unit) for name, value, unit in zip(metrics, values, units, strict=True)}


def _values_as_data(
    prediction: Prediction, metrics: dict[str, Amount], samples: RuntimeSamples | None
) -> dict[str, Any]:
    uses, worst = prediction.parameters.values(), prediction.bottleneck
    data: dict[str, Any] = {
        **subject(prediction),
        "parameters": {use.name: use.value for use in uses},
        "overridden": [use.name for use in uses if use.overridden],
        **runtime_as_data(prediction),
        "resources": {
            use.name: {"amount": use.amount, "unit": unit_of_resource(use.name), **_fields(use, "time component")}
            for use in prediction.resources.values()
        },
        "bottleneck": worst and _fields(worst, "resource component time share group"),
        "assumed": assumptions_as_data(prediction),
        "lower_bounds": [_fields(bound, "kernel exchange reason") for bound in prediction.lower_bounds],
    }
    data |= {"metrics": metrics} if metrics else {}
    data |= {"seed": prediction.seed} if prediction.random else {}
    data |= (
        {"late_ranks": {cause: Amount(lost, "s") for cause, lost in prediction.lost.items()}} if prediction.lost else {}
    )
    if samples is not None:
        quantiles = {f"{quantile:g}": value for quantile, value in samples.quantiles.items()}
        data["samples"] = {
            **_fields(samples, "count first_seed mean deviation minimum maximum"),
            "quantiles": quantiles,
        }
    return data


def subject(prediction: Evaluation) -> dict[str, Any]:
    names = {"application": prediction.application.name, "machine": prediction.machine.name}
    return {**names, "socket": prediction.socket, "kernel": prediction.kernel, **describe_ranks(prediction)}


def describe_ranks(prediction: Evaluation) -> dict[str, Any]:
    """Placement of its ranks; empty where neither the machine nor the user says so."""
    placement, asked = prediction.tree.residence.where.ranks, prediction.case.placement
    if placement is None:
        return {}
    place = {
        "on": placement.unit.component.name,
        "per_node": asked.ranks_per_node,
        "distribution": str(placement.distribution),
    }
    placed = run_placement(prediction)
    counts = {} if placed is None else _fields(placed, "ranks nodes of_node sockets of_socket")
    return {"ranks": {**place, **counts}}


def _fields(item: Any, names: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names.split()}


def _csv_rows(prediction: Prediction, metrics: dict[str, Amount]) -> Iterator[tuple[Any, ...]]:
    """Rows of the CSV form: the requested metrics, or runtime, resources and kernels."""
    where = (prediction.application.name, prediction.machine.name, prediction.socket)
    main = (*where, prediction.kernel)
    for name, item in metrics.items():
        yield (*main, name, *item)
    if metrics:
        return
    yield (*main, "runtime", prediction.runtime, "s")
    for use in prediction.resources.values():
        yield (*main, use.name, use.amount, unit_of_resource(use.name))
        yield (*main, f"{use.name}_time", use.time, "s")
    for kernel in prediction.kernels:
        yield (*where, kernel.name, "calls", kernel.calls, "")
        yield (*where, kernel.name, "inclusive", kernel.inclusive, "s")
        yield (*where, kernel.name, "exclusive", kernel.exclusive, "s")
