"""A Prediction as a page, as text, JSON, HTML, LaTeX, and as rows of CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import (
    Amount,
    amount,
    count,
    plain,
    seconds,
    setting,
    share,
    unit_of_resource,
)
from aspenpy.present.page import Grid, Page, Part, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.prediction import KernelUse, ParameterUse, Prediction
    from aspenpy.samples import Samples

LONGEST_FORMULA = 2000
"""Characters of LaTeX that a notebook shows; beyond, the value stands alone."""

KERNELS = (
    Column("kernel"),
    Column("calls", count, "right"),
    Column("inclusive", seconds, "unit"),
    Column("exclusive", seconds, "unit"),
    Column("share", share, "right"),
    Column("waits for", wrapped=True),
)
RESOURCES = (
    Column("resource"),
    Column("amount", amount, "unit"),
    Column("busy", seconds, "unit"),
    Column("component", wrapped=True),
)
METRICS = (Column("metric"), Column("value", amount, "unit"))
RECORDS = tuple(map(Column, ("application", "machine", "socket", "kernel", "metric", "value", "unit")))
"""Of the CSV form: one value a row, in its base unit; times in seconds."""


# -- as a page -------------------------------------------------------------------------------------


def as_text(prediction: Prediction) -> str:
    """What the command line shows of it."""
    from aspenpy.present.plain import as_text as drawn

    return drawn(page(prediction))


def as_html(prediction: Prediction) -> str:
    """The same for a notebook."""
    from aspenpy.present.html import as_html as drawn

    return drawn(page(prediction))


def page(prediction: Prediction, samples: Samples | None = None) -> Page:
    """The runtime, what it waits for, the kernels, the resources, the parameters."""
    parts: list[Part] = [_title(prediction), _facts(prediction, samples)]
    if prediction.kernels:
        parts.append(_kernels(prediction))
    if prediction.resources:
        parts.append(_resources(prediction))
    return (*parts, *_parameters(prediction))


def metrics_page(prediction: Prediction, metrics: Sequence[str], samples: Samples | None = None) -> Page:
    """The values asked for and no more."""
    values = Table(METRICS, tuple(metric_values(prediction, metrics).items()))
    spread = () if samples is None else (_facts_table(_spread(samples, prediction.random)),)
    return (_title(prediction), values, *spread)


def _title(prediction: Prediction) -> Title:
    where = f"{prediction.application.name} on {prediction.machine.name}"
    return Title(f"{where}: {prediction.kernel} takes {seconds(prediction.runtime)}")


def _facts(prediction: Prediction, samples: Samples | None) -> Table:
    found = prediction.bottleneck
    waits = "nothing"
    if found is not None:
        together = _together(prediction, found.resource, found.group)
        waits = f"{together}, {share(found.share)} of the runtime"
    facts = {"socket": prediction.socket or "none", "waits for": waits}
    if allocated := _write_allocated(prediction):
        facts["write-allocate"] = f"stores to {', '.join(allocated)} also fetch the lines that they write"
    if prediction.random:
        facts["seed"] = f"{prediction.seed}; another one draws other numbers (--seed)"
    if samples is not None:
        facts |= _spread(samples, prediction.random)
    return _facts_table(facts)


def _write_allocated(prediction: Prediction) -> list[str]:
    """The data of the stores that fetch lines before they write them."""
    costs = [cost for block in prediction.tree.blocks.values() for cost in block.requirements]
    fetching = [cost.requirement for cost in costs if cost.traffic is not None and cost.traffic.allocates]
    return list(dict.fromkeys(need.target or "memory" for need in fetching))


def _facts_table(facts: dict[str, str]) -> Table:
    return Table((Column(""), Column("", wrapped=True)), tuple(facts.items()))


def _spread(samples: Samples, random: bool) -> dict[str, str]:
    if not random:
        return {"samples": f"{samples.count}, all alike: the runtime depends on no random draw"}
    quantiles = (f"{100 * quantile:g} %: {seconds(value)}" for quantile, value in samples.quantiles.items())
    return {
        "samples": f"{samples.count}, with seeds from {samples.first_seed} on",
        "mean": f"{seconds(samples.mean)}, standard deviation {seconds(samples.deviation)}",
        "quantiles": ", ".join(quantiles),
    }


def _served(resource: str, component: str | None) -> str:
    name = component.rpartition("/")[2] if component else resource
    return resource if name == resource else f"{resource.rpartition('.')[2]} on {name}"


def _together(prediction: Prediction, resource: str, group: Sequence[str]) -> str:
    """A resource with those that cannot overlap with it, which are waited for as well."""
    names = [resource, *(name for name in group if name != resource)]
    components = {prediction.component_of(name) for name in names}
    if len(components) == 1:
        return _served(" + ".join(names), prediction.component_of(resource))
    return " + ".join(_served(name, prediction.component_of(name)) for name in names)


def _kernels(prediction: Prediction) -> Table:
    kernels = prediction.kernels
    slowest = max(range(len(kernels)), key=lambda position: kernels[position].exclusive)
    rows = tuple(
        (item.name, item.calls, item.inclusive, item.exclusive, item.share, _waits_for(prediction, item))
        for item in kernels
    )
    return Table(KERNELS, rows, frozenset([slowest]))


def _waits_for(prediction: Prediction, kernel: KernelUse) -> str | None:
    if kernel.bound_by is None:
        return None
    return _together(prediction, kernel.bound_by, kernel.group)


def _resources(prediction: Prediction) -> Table:
    uses = prediction.resources.values()
    slowest = prediction.bottleneck.resource if prediction.bottleneck else None
    rows = tuple((use.name, Amount(use.amount, unit_of_resource(use.name)), use.time, use.component) for use in uses)
    return Table(RESOURCES, rows, frozenset(place for place, use in enumerate(uses) if use.name == slowest))


def _parameters(prediction: Prediction) -> list[Grid]:
    uses = list(prediction.parameters.values())
    theirs = [use for use in uses if use.machine and not use.overridden]
    ours = [use for use in uses if not use.machine and not use.overridden]
    grids = (
        Grid("set", _entries(prediction, [use for use in uses if use.overridden]), "marked"),
        Grid(f"parameters of {prediction.application.name}", _entries(prediction, ours)),
        Grid(f"parameters of {prediction.machine.name}", _entries(prediction, theirs)),
    )
    return [grid for grid in grids if grid.entries]


def _entries(prediction: Prediction, uses: Sequence[ParameterUse]) -> tuple[tuple[str, str], ...]:
    return tuple((use.name, _value(prediction, use)) for use in uses)


def _value(prediction: Prediction, use: ParameterUse) -> str:
    """The value, or the member of the enum that it stands for."""
    application = prediction.application
    node = None if use.machine else application.declared.get(use.name)
    if node is None or node.member_of is None:
        return setting(use.value)
    return application.enums[node.member_of].members[int(use.value)]


# -- as data ---------------------------------------------------------------------------------------


def metric_values(prediction: Prediction, metrics: Sequence[str]) -> dict[str, Amount]:
    """The metrics asked for: `runtime`, energies, or the amounts of resources."""
    from aspenpy.prediction import ENERGY_UNITS, metric_of

    exprs = [metric_of(prediction.tree, metric) for metric in metrics]
    values = prediction.scope.values(exprs, prediction.seed)
    known = {"runtime": "s"} | {name: unit for name, unit in ENERGY_UNITS.items() if name not in prediction.resources}
    units = [known[metric] if metric in known else unit_of_resource(metric) for metric in metrics]
    return {name: Amount(value, unit) for name, value, unit in zip(metrics, values, units, strict=True)}


def as_json(prediction: Prediction, metrics: Sequence[str] = (), samples: Samples | None = None) -> dict[str, Any]:
    """One object with everything; amounts in base units, times in seconds."""
    found: dict[str, Any] = {
        "application": prediction.application.name,
        "machine": prediction.machine.name,
        "socket": prediction.socket,
        "kernel": prediction.kernel,
        "parameters": {use.name: plain(use.value) for use in prediction.parameters.values()},
        "overridden": [use.name for use in prediction.parameters.values() if use.overridden],
        "runtime": {"value": prediction.runtime, "unit": "s"},
        "resources": {
            use.name: {
                "amount": use.amount,
                "unit": unit_of_resource(use.name),
                "time": use.time,
                "component": use.component,
            }
            for use in prediction.resources.values()
        },
        "kernels": [_kernel(prediction, item) for item in prediction.kernels],
        "bottleneck": _bottleneck(prediction),
    }
    if metrics:
        values = metric_values(prediction, metrics)
        found["metrics"] = {name: {"value": plain(item.value), "unit": item.unit} for name, item in values.items()}
    if prediction.random:
        found["seed"] = prediction.seed
    if samples is not None:
        found["samples"] = _samples(samples)
    found["diagnostics"] = [diagnostic.to_json() for diagnostic in prediction.diagnostics]
    return found


def _kernel(prediction: Prediction, kernel: KernelUse) -> dict[str, Any]:
    fields = ("name", "calls", "inclusive", "exclusive", "share", "bound_by")
    component = None if kernel.bound_by is None else prediction.component_of(kernel.bound_by)
    return {field: getattr(kernel, field) for field in fields} | {"component": component, "group": list(kernel.group)}


def _bottleneck(prediction: Prediction) -> dict[str, Any] | None:
    found = prediction.bottleneck
    if found is None:
        return None
    return {
        "resource": found.resource,
        "component": found.component,
        "time": found.time,
        "share": found.share,
        "group": list(found.group),
    }


def _samples(samples: Samples) -> dict[str, Any]:
    fields = ("count", "first_seed", "mean", "deviation", "minimum", "maximum")
    quantiles = {f"{quantile:g}": value for quantile, value in samples.quantiles.items()}
    return {field: getattr(samples, field) for field in fields} | {"quantiles": quantiles}


def records(prediction: Prediction, metrics: Sequence[str] = ()) -> list[tuple[Any, ...]]:
    """Rows of `RECORDS`: the metrics asked for, or all there are."""
    where = (prediction.application.name, prediction.machine.name, prediction.socket)
    if metrics:
        values = metric_values(prediction, metrics).items()
        return [(*where, prediction.kernel, name, item.value, item.unit) for name, item in values]
    found: list[tuple[Any, ...]] = [(*where, prediction.kernel, "runtime", prediction.runtime, "s")]
    for use in prediction.resources.values():
        found.append((*where, prediction.kernel, use.name, use.amount, unit_of_resource(use.name)))
        found.append((*where, prediction.kernel, f"{use.name}_time", use.time, "s"))
    for kernel in prediction.kernels:
        found.append((*where, kernel.name, "calls", kernel.calls, ""))
        found.append((*where, kernel.name, "inclusive", kernel.inclusive, "s"))
        found.append((*where, kernel.name, "exclusive", kernel.exclusive, "s"))
    return found


# -- as a formula ----------------------------------------------------------------------------------


def as_latex(prediction: Prediction) -> str:
    """The runtime in the parameters that the application gives a range, with its value; too long a formula is
    left out."""
    from aspenpy.expr.printer import TooLarge, to_latex

    known = prediction.application.parameters
    free = [use.name for use in prediction.parameters.values() if use.name in known and known[use.name].low is not None]
    number, _, unit = seconds(prediction.runtime).partition(" ")
    value = rf"{number}\,\mathrm{{{unit}}}"
    try:
        formula = to_latex(prediction.formula(free=free)) if free else value
    except TooLarge:
        formula = value
    if not free or formula == value or len(formula) > LONGEST_FORMULA:
        return rf"$\displaystyle T = {value}$"
    return rf"$\displaystyle T = {formula} = {value}$"
