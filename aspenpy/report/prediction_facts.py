"""Words of a report on a prediction: what bounds it, where its ranks are, what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aspenpy.answers.assumptions import DecidingAssumption
from aspenpy.answers.evaluation import Bottleneck, Evaluation
from aspenpy.answers.expected_error import expected_error
from aspenpy.answers.prediction import Prediction, RaisedClock
from aspenpy.answers.run_placement import run_placement, spread_over
from aspenpy.cost.instances import FILE_RESOURCES
from aspenpy.cost.prices import MEMORY_RESOURCES
from aspenpy.cost.rank_units import describe_component
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.intervals import interval_rows
from aspenpy.tables.numbers import format_count, format_share, make_formatter, seconds

BOUND_BY = "bound by"
"""What reports call the resource that limits a run, a kernel or a block."""

MOST_WARM = 3
"""Data structures that are named of those found in a cache."""

Facts = list[tuple[str, str]]
"""Names, and what there is to say of each."""


def list_facts(prediction: Prediction, interval: bool) -> Facts:
    """The facts of a whole run, with the `interval` in which its runtime is expected."""
    facts = [
        ("socket", prediction.socket or "none"),
        *placement_facts(prediction),
        (BOUND_BY, _describe_bottleneck(prediction)),
    ]
    if prediction.raised_clock:
        facts.append(("clock", _describe_clock(prediction.raised_clock)))
    if prediction.assumptions:
        facts.append(("assumed", describe_assumptions(prediction)))
    if interval:
        facts += interval_rows(expected_error(prediction), prediction.runtime, "s")
    if allocated := _list_write_allocated(prediction):
        facts.append(("write-allocate", f"stores to {', '.join(allocated)} also fetch the lines that they write"))
    facts += _late_rank_facts(prediction)
    facts += _warm_facts(prediction)
    if prediction.random:
        facts.append(("seed", f"{prediction.seed}; another one draws other numbers (--seed)"))
    return facts


def describe_runtime(prediction: Prediction, whole: str = "") -> str:
    """The runtime, with `whole` behind it, after the time under a power cap that makes the run longer."""
    uncapped = seconds(prediction.runtime)
    capped = prediction.capped_runtime
    if not prediction.cap_warnings or (capped is not None and seconds(capped) == uncapped):
        return uncapped + whole
    cap = f"the power cap of {prediction.socket or prediction.machine.name}"
    if capped is None:
        return f"{uncapped}{whole} without {cap}, which it cannot hold"
    return f"{seconds(capped)}{whole} under {cap}, {uncapped} without it"


def _describe_clock(clock: RaisedClock) -> str:
    now, highest = format_quantity(clock.now, "Hz"), format_quantity(clock.highest, "Hz")
    setting = f"--set {clock.parameter}={clock.highest:g}"
    return f"{now}, that of all cores; one alone may have up to {highest}: {setting}"


# -- what was assumed ------------------------------------------------------------------------------


def name_assumption(item: DecidingAssumption) -> str:
    """`attained_bandwidth of hbm3`, or a parameter's name."""
    component, _, name = item.name.rpartition(".")
    return f"{name} of {component}" if component else name


def describe_assumptions(prediction: Prediction) -> str:
    """The assumed number that the runtime depends on most, with its reason, and how many others decide it."""
    from textwrap import shorten

    first, *others = prediction.assumptions
    name = name_assumption(first)
    if first.reason.lower() not in ("", "assumed"):
        name += f" ({shorten(first.reason, 70)})"
    effect = f"10 % in it changes the runtime by {format_share(abs(first.sensitivity) / 10)}"
    match len(others):
        case 0:
            return f"{name}: {effect}"
        case 1:
            return f"{name}: {effect}; so does another"
        case count:
            return f"{name}: {effect}; so do {count} other assumed numbers"


# -- where the ranks are ---------------------------------------------------------------------------


def placement_facts(prediction: Evaluation) -> Facts:
    """The placement of the ranks of a run, or the number of nodes over which its instances are spread."""
    ranks = run_placement(prediction)
    if ranks is not None:
        return [("ranks", str(ranks))]
    if prediction.tree.rank_placement is not None:
        return rank_bound_facts(prediction)
    spread = spread_over(prediction)
    return [] if spread is None else [("placement", spread)]


def rank_bound_facts(prediction: Evaluation) -> Facts:
    """The bounds of each rank, where blocks say that ranks share their work out."""
    placement = prediction.tree.rank_placement
    if placement is None:
        return []
    most = prediction.case.placement.ranks_per_node
    few = "" if most is None else f"; {format_count(most)} on a node"
    return [("each rank has", f"{describe_component(placement.unit)}{few}; {placement.distribution}")]


def _late_rank_facts(prediction: Evaluation) -> Facts:
    """Seconds that ranks lose to the slowest of them, by cause."""
    causes = [
        f"{cause} {seconds(lost)}, {format_share(lost / prediction.runtime)} of runtime"
        for cause, lost in prediction.lost.items()
        if lost > 0
    ]
    return [("late ranks", "; ".join(causes))] if causes else []


# -- what caches hold ------------------------------------------------------------------------------


def _warm_facts(prediction: Prediction) -> Iterator[tuple[str, str]]:
    """The data that each cache holds when blocks begin, by how much the run finds there in all."""
    levels = dict.fromkeys(level for level, _ in prediction.warm)
    for level in levels:
        held = {name: amount for (cache, name), amount in prediction.warm.items() if cache == level and amount >= 1}
        if not held:
            continue
        largest = sorted(held, key=lambda name: -held[name])[:MOST_WARM]
        named = [f"{name} {make_formatter('B')(held[name])}" for name in largest]
        if len(held) > MOST_WARM:
            named.append(f"{len(held) - MOST_WARM} more")
        yield "found warm", f"in {level}, over the whole run: {', '.join(named)}"


def _list_write_allocated(prediction: Prediction) -> list[str]:
    """The data of the stores that fetch lines before they write them."""
    costs = prediction.tree.requirements
    fetching = [cost.requirement for cost in costs if cost.traffic is not None and cost.traffic.allocates]
    return list(dict.fromkeys(need.target or "memory" for need in fetching))


# -- what bounds it --------------------------------------------------------------------------------


def _describe_bottleneck(prediction: Prediction) -> str:
    """`memory bandwidth of ddr4_2133 (99.2 % of runtime)`."""
    bottleneck = prediction.bottleneck
    if bottleneck is None:
        return "nothing"
    return f"{_describe_bound(prediction, bottleneck)} ({format_share(bottleneck.share)} of runtime)"


def _describe_bound(prediction: Prediction, bottleneck: Bottleneck) -> str:
    """`memory bandwidth of ddr4_2133`, `write on the file system scratch`, `flops on core`."""
    name = describe_group(prediction, bottleneck.resource, bottleneck.group)
    resources, on, component = name.partition(" on ")
    if not on or " on " in component:  # several components
        return name
    names = set(resources.split(" + "))
    if names.issubset(MEMORY_RESOURCES):
        return f"memory bandwidth of {component}"
    if names.issubset(FILE_RESOURCES):
        return f"{resources} on the file system {component}"
    return name


def describe_group(prediction: Prediction, resource: str, group: Sequence[str], kernel: str | None = None) -> str:
    """A resource and the resources that cannot overlap with it, which share the bound, over the run or in a kernel."""
    names = [resource, *(name for name in group if name != resource)]
    components = {name: prediction.component_of(name, kernel) for name in names}
    if len(set(components.values())) == 1:
        return resource_on_component(" + ".join(names), components[resource])
    return " + ".join(resource_on_component(name, component) for name, component in components.items())


def resource_on_component(resource: str, component: str | None) -> str:
    """`loads on ddr4_2133`."""
    name = component.rpartition("/")[2] if component else resource
    return resource if name == resource else f"{resource.rpartition('.')[2]} on {name}"
