"""A Profile as a report, and as a file for speedscope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any, NamedTuple

from aspenpy.answers.ecm import ecm, is_serial
from aspenpy.answers.evaluation import MESSAGES, KernelUse
from aspenpy.answers.profile import Profile
from aspenpy.report.explanation import blocks
from aspenpy.report.prediction_data import runtime_as_data, subject_as_data
from aspenpy.report.prediction_facts import BOUND_BY, describe_runtime, resource_on_component
from aspenpy.tables.drawing import BLUE, GREY, LONGEST_TITLE, drop_middle, use_shared_style
from aspenpy.tables.numbers import Amount, format_amount, format_count, format_share, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Report, Table, Title, make_columns, make_table

ARCS = (*make_columns("caller callee"), Column("arguments", get=lambda arc: list(arc.arguments)), Column("calls"))
LONG = (
    *make_columns("kind caller kernel arguments calls"),
    *make_columns("inclusive exclusive", unit="s"),
    *make_columns("share bound_by"),
)
"""Columns of the CSV form: a row for each kernel and, with the call graph, for each call in it."""

SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


def report_profile(profile: Profile, *, calls: bool = False) -> Report:
    """The flat profile, the most expensive kernel first; with `calls`, who calls whom, too."""
    prediction = profile.prediction
    data = {**subject_as_data(prediction), **runtime_as_data(prediction)}
    heads = (
        Column("name"),
        Column("arguments", get=lambda kernel: list(profile.arguments[kernel.name])),
        Column("calls"),
        *make_columns("inclusive exclusive", unit="s"),
        *make_columns("share bound_by"),
    )
    parts = (
        _flat_table(profile),
        *(_call_tables(profile) if calls else ()),
        make_table(heads, profile.kernels, "kernels", media=JSON),
        *_exchange_tables(profile),
        make_table((*ARCS, Column("time", unit="s")), profile.arcs, "calls", media=JSON),
        *_ecm_tables(profile),
        _long_table(profile, calls),
    )
    headline = f"{prediction.where}: {prediction.kernel} takes {describe_runtime(prediction)}"
    return Report("profile/1", headline, data, parts, tuple(prediction.diagnostics))


register_report(Profile, report_profile)


def _exchange_tables(profile: Profile) -> tuple[Table, ...]:
    """Collectives and halos, with what was chosen for each."""
    heads = (
        Column("exchange", get="name"),
        Column("kernel"),
        Column("ranks", get=lambda use: "differ" if use.ranks is None else format_count(use.ranks), align="right"),
        Column(
            "bytes",
            get=lambda use: "differ" if use.size is None else format_amount(Amount(use.size, "B")),
            align="right",
        ),
        Column("time", unit="s"),
        Column("of runtime", "share", get="share"),
        Column("how", get=lambda use: use.algorithm or "goes with the bytes", wrapped=True),
    )
    numbers = (Column("size", unit="B"), Column("time", unit="s"))
    data = (*make_columns("name kernel block ranks"), *numbers, *make_columns("share algorithm"))
    shown = (
        make_table(heads, profile.exchanges, title="collectives and halos", media=TEXT) if profile.exchanges else None
    )
    return (*((shown,) if shown else ()), make_table(data, profile.exchanges, "exchanges", media=JSON))


def _ecm_tables(profile: Profile) -> tuple[Any, ...]:
    """The execution-cache-memory model, where the machine has levels that take turns."""
    if not is_serial(profile.prediction.tree):
        return ()
    models = ecm(profile.prediction)
    return (
        Title("execution-cache-memory model: one core, cycles a cache line"),
        blocks(models, TEXT),
        blocks(models, JSON),
    )


def _flat_table(profile: Profile) -> Table:
    ran = sorted(_kernels_that_ran(profile), key=lambda kernel: -kernel.exclusive)
    cumulative = dict(zip((kernel.name for kernel in ran), accumulate(kernel.share for kernel in ran), strict=True))
    heads = (
        Column("share", "share"),
        Column("cumulative", "share", get=lambda kernel: cumulative[kernel.name]),
        Column("exclusive", unit="s"),
        Column("inclusive", unit="s"),
        Column("calls", "count"),
        Column("exclusive/call", unit="s", get=lambda kernel: kernel.exclusive / kernel.calls),
        Column("inclusive/call", unit="s", get=lambda kernel: kernel.inclusive / kernel.calls),
        Column(BOUND_BY, get=lambda kernel: _describe_bound(profile, kernel)),
        Column("kernel", get=lambda kernel: format_call(kernel.name, profile.arguments[kernel.name])),
    )
    return make_table(heads, ran, marked=frozenset([0]), media=TEXT)


def _describe_bound(profile: Profile, kernel: KernelUse) -> str | None:
    """The resource, with the path where messages have several."""
    path = profile.prediction.path_of_messages(kernel.name) if kernel.bound_by == MESSAGES else None
    return kernel.bound_by if path is None else resource_on_component(MESSAGES, path)


def _kernels_that_ran(profile: Profile) -> list[KernelUse]:
    """A kernel in a branch that is not taken did not run."""
    return [kernel for kernel in profile.kernels if kernel.calls]


def format_call(name: str, arguments: Iterable[str]) -> str:
    """`solve(n, 2*k)`; the name alone where it takes nothing."""
    listed = ", ".join(arguments)
    return f"{name}({listed})" if listed else name


def _call_tables(profile: Profile) -> list[Table]:
    """A table a kernel: its callers, itself, what it calls."""
    taken = [arc for arc in profile.arcs if arc.calls]
    heads = (
        Column(""),
        Column("calls", "count"),
        Column("time", unit="s"),
        Column("of runtime", "share"),
        Column("kernel", wrapped=True),
    )

    def row(role: str, calls: float, time: float, kernel: str) -> tuple[Any, ...]:
        return role, calls, time, time / profile.runtime if profile.runtime else 0.0, kernel

    tables = []
    for kernel in _kernels_that_ran(profile):
        name = kernel.name
        callers = [row("from", arc.calls, arc.time, arc.caller) for arc in taken if arc.callee == name]
        own = [
            row("all", kernel.calls, kernel.inclusive, format_call(name, profile.arguments[name])),
            row("own", kernel.calls, kernel.exclusive, "in its own blocks"),
        ]
        callees = [
            row("to", arc.calls, arc.time, format_call(arc.callee, arc.arguments))
            for arc in taken
            if arc.caller == name
        ]
        rows = (*callers, *own, *callees)
        tables.append(Table(heads, rows, frozenset([len(callers)]), title=name, media=TEXT))
    return tables


def _long_table(profile: Profile, calls: bool) -> Table:
    """A call has no exclusive time of its own."""
    numbers = attrgetter("calls", "inclusive", "exclusive", "share", "bound_by")
    rows: list[tuple[Any, ...]] = [
        ("kernel", None, it.name, profile.arguments[it.name], *numbers(it)) for it in profile.kernels
    ]
    if calls:
        rows += [
            ("call", arc.caller, arc.callee, arc.arguments, arc.calls, arc.time, None, None, None)
            for arc in profile.arcs
        ]
    return Table(LONG, tuple(rows), media=CSV)


def write_speedscope(profile: Profile) -> dict[str, Any]:
    """A sampled profile in the file format of www.speedscope.app: each call path is a sample that weighs as many
    seconds as are spent in the blocks at its end."""
    prediction = profile.prediction
    spent = [use for use in profile.paths if use.exclusive > 0]
    names = list(dict.fromkeys(name for use in spent for name in use.path))
    number = {name: index for index, name in enumerate(names)}
    weights = [use.exclusive for use in spent]
    return {
        "$schema": SPEEDSCOPE,
        "name": prediction.where,
        "exporter": "aspenpy",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in names]},
        "profiles": [
            {
                "type": "sampled",
                "name": prediction.kernel,
                "unit": "seconds",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": [[number[name] for name in use.path] for use in spent],
                "weights": weights,
            }
        ],
    }


# -- the call graph as a picture: callers left of callees, boxes and arrows the stronger the more time -------------

BOX_HEIGHT = 0.5
GAP = 0.22  # inches between two boxes of a layer
ARROWS = 1.0  # inches between two layers
NARROWEST = 7.0  # inches
MARGIN = 0.2
HEADING = 0.45
FOOTING = 0.3

MOST_BOXES = 30  # kernels that are drawn, those that take longest with what they call
CHARACTER = 0.083  # inches of a character of a box's text
SWEEPS = 8  # passes over the layers that bring boxes closer to their neighbours
DARKEST = tuple(
    int(BLUE[place : place + 2], 16) / 255 for place in (1, 3, 5)
)  # boxes go from white to this: one hue, which colour-blind people and printers see alike
Graph = Mapping[str, Sequence[str]]  # the callees of each kernel


class KernelBox(NamedTuple):
    """The box of a kernel in a picture, in inches: its left edge, its middle from the top, its width."""

    left: float
    middle: float
    width: float


@use_shared_style
def draw_profile(profile: Profile) -> Any:
    """A matplotlib Figure. A kernel that did not run is left out."""
    from matplotlib.figure import Figure

    called = sorted((kernel for kernel in profile.kernels if kernel.calls), key=lambda kernel: -kernel.inclusive)
    chosen = {kernel.name for kernel in called[:MOST_BOXES]}  # no caller takes less time than those it calls
    ran = {kernel.name: kernel for kernel in profile.kernels if kernel.name in chosen}
    weights = {arc: weight for arc, weight in _seconds_between(profile).items() if chosen.issuperset(arc)}
    callees = {name: [callee for caller, callee in weights if caller == name] for name in ran}
    texts = {
        name: f"{drop_middle(name)}\n{format_share(_part_of_run(kernel.inclusive, profile))}, "
        f"own {format_share(kernel.share)}"
        for name, kernel in ran.items()
    }
    boxes = place_boxes(
        callees, {name: CHARACTER * max(map(len, text.split("\n"))) + 0.2 for name, text in texts.items()}
    )
    across = max(NARROWEST, max(box.left + box.width for box in boxes.values()) + MARGIN)
    depth = max(box.middle for box in boxes.values()) + BOX_HEIGHT / 2 + FOOTING
    figure = Figure(figsize=(across, depth))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, across), ylim=(depth, 0))
    axes.axis("off")
    _write_words(axes, profile, depth, len(called) - len(ran))
    for (caller, callee), (calls, time) in weights.items():
        _draw_arrow(axes, boxes[caller], boxes[callee], _part_of_run(time, profile), calls)
    for name, kernel in ran.items():
        _draw_box(axes, boxes[name], texts[name], kernel.share)
    return figure


def _seconds_between(profile: Profile) -> dict[tuple[str, str], tuple[float, float]]:
    """The calls, and the seconds in them, from one kernel to another."""
    weights: dict[tuple[str, str], tuple[float, float]] = {}
    for arc in profile.arcs:
        if arc.calls:
            calls, time = weights.get((arc.caller, arc.callee), (0.0, 0.0))
            weights[arc.caller, arc.callee] = (calls + arc.calls, time + arc.time)
    return weights


def _part_of_run(time: float, profile: Profile) -> float:
    return time / profile.runtime if profile.runtime else 0.0


# -- layout ----------------------------------------------------------------------------------------


def layers_of(callees: Graph) -> list[list[str]]:
    """The kernels in layers, each behind all that call it: the longest way from the entry decides."""
    from networkx import DiGraph, topological_generations

    graph = DiGraph()
    graph.add_nodes_from(callees)
    graph.add_edges_from((caller, callee) for caller, called in callees.items() for callee in called)
    return [list(layer) for layer in topological_generations(graph)]


def place_boxes(callees: Graph, widths: Mapping[str, float]) -> dict[str, KernelBox]:
    """Boxes that do not overlap, each close to its neighbours (barycentres, swept there and back)."""
    layers = layers_of(callees)
    neighbours: dict[str, list[str]] = {name: list(called) for name, called in callees.items()}
    for caller, called in callees.items():
        for callee in called:
            neighbours[callee].append(caller)
    middle = {name: y for layer in layers for name, y in _spread_layer(layer, dict.fromkeys(layer, 0.0)).items()}
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = {name: _mean([middle[other] for other in neighbours[name]] or [middle[name]]) for name in layer}
            middle |= _spread_layer(sorted(layer, key=wanted.__getitem__), wanted)
    top = min(middle.values()) - BOX_HEIGHT / 2 - HEADING
    columns = [max(widths[name] for name in layer) + ARROWS for layer in layers]
    lefts = list(accumulate(columns, initial=MARGIN))
    return {
        name: KernelBox(left, middle[name] - top, widths[name])
        for left, layer in zip(lefts, layers, strict=False)
        for name in layer
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _spread_layer(layer: Sequence[str], wanted: Mapping[str, float]) -> dict[str, float]:
    """Stacks the boxes of a layer in this order, each as near as possible to its wanted height."""
    places: dict[str, float] = {}
    free = float("-inf")
    for name in layer:
        places[name] = max(wanted[name], free)
        free = places[name] + BOX_HEIGHT + GAP
    back = _mean([places[name] - wanted[name] for name in layer])
    return {name: y - back for name, y in places.items()}


# -- drawing ---------------------------------------------------------------------------------------


def _write_words(axes: Any, profile: Profile, depth: float, left_out: int) -> None:
    said = drop_middle(f"{profile.prediction.where}: {seconds(profile.runtime)}", LONGEST_TITLE)
    said += f" ({left_out} kernels that take less are left out)" if left_out else ""
    legend = "share of the runtime with callees; own: without, the darker the more; on arrows: calls"
    axes.text(MARGIN, 0.12, said, fontweight="bold", va="top")
    axes.text(MARGIN, depth - 0.1, legend, color=GREY, va="bottom")


def _draw_box(axes: Any, box: KernelBox, text: str, own: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    strength = min(own, 1.0) ** 0.6
    corner = (box.left, box.middle - BOX_HEIGHT / 2)
    fill = tuple(1 - strength * (1 - part) for part in DARKEST)
    style: dict[str, Any] = {
        "boxstyle": "round,pad=0,rounding_size=0.07",
        "edgecolor": BLUE,
        "linewidth": 0.8,
        "zorder": 2,
    }
    axes.add_patch(FancyBboxPatch(corner, box.width, BOX_HEIGHT, facecolor=fill, **style))
    colour = "white" if strength > 0.5 else "black"
    middle = box.left + box.width / 2
    axes.text(middle, box.middle, text, ha="center", va="center", color=colour, zorder=3)


def _draw_arrow(axes: Any, caller: KernelBox, callee: KernelBox, part: float, calls: float) -> None:
    """Draws an arrow from the right edge of the caller to the left edge of the callee, the calls close to where it
    arrives."""
    from matplotlib.patches import FancyArrowPatch

    start, end = (caller.left + caller.width, caller.middle), (callee.left, callee.middle)
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 8,
        "color": GREY,
        "shrinkA": 0,
        "shrinkB": 0,
        "zorder": 1,
    }
    axes.add_patch(FancyArrowPatch(start, end, linewidth=0.6 + 3.5 * part, alpha=0.35 + 0.6 * part, **style))
    back = 0.45 / (end[0] - start[0])
    x, y = end[0] - 0.45, end[1] + back * (start[1] - end[1])
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    axes.text(x, y, f"{format_count(calls)}×", ha="center", va="center", zorder=4, bbox=ground)
