"""The call graph of a Profile as a picture: callers left of callees, boxes and arrows the stronger the more time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from aspenpy.answers.profile import Profile
from aspenpy.tables.numbers import count, seconds, share

BOX_HEIGHT = 0.5
GAP = 0.22  # inches between two boxes of a layer
ARROWS = 1.0  # inches between two layers
MARGIN = 0.2
HEADING = 0.45
FOOTING = 0.3

CHARACTER = 0.078  # inches of a character of a box's text
SWEEPS = 8  # passes over the layers that bring boxes closer to their neighbours
BLUE = (0.03, 0.19, 0.42)  # boxes go from white to this: one hue, which colour-blind people and printers see alike
Graph = Mapping[str, Sequence[str]]  # the callees of each kernel


class Box(NamedTuple):
    """Where a kernel stands, in inches: its left edge, its middle from the top, its width."""

    left: float
    middle: float
    width: float


def draw(profile: Profile) -> Any:
    """A matplotlib Figure. A kernel that did not run is left out."""
    from matplotlib.figure import Figure

    ran = {kernel.name: kernel for kernel in profile.kernels if kernel.calls}
    weights = _weights(profile)
    callees = {name: [callee for caller, callee in weights if caller == name] for name in ran}
    texts = {
        name: f"{name}\n{share(_part(kernel.inclusive, profile))}, own {share(kernel.share)}"
        for name, kernel in ran.items()
    }
    boxes = placed(callees, {name: CHARACTER * max(map(len, text.split("\n"))) + 0.2 for name, text in texts.items()})
    across = max(5.5, max(box.left + box.width for box in boxes.values()) + MARGIN)
    depth = max(box.middle for box in boxes.values()) + BOX_HEIGHT / 2 + FOOTING
    figure = Figure(figsize=(across, depth))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, across), ylim=(depth, 0))
    axes.axis("off")
    _words(axes, profile, depth)
    for (caller, callee), (calls, time) in weights.items():
        _arrow(axes, boxes[caller], boxes[callee], _part(time, profile), calls)
    for name, kernel in ran.items():
        _box(axes, boxes[name], texts[name], kernel.share)
    return figure


def _weights(profile: Profile) -> dict[tuple[str, str], tuple[float, float]]:
    """The calls, and the seconds in them, from one kernel to another."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for arc in profile.arcs:
        if arc.calls:
            calls, time = found.get((arc.caller, arc.callee), (0.0, 0.0))
            found[arc.caller, arc.callee] = (calls + arc.calls, time + arc.time)
    return found


def _part(time: float, profile: Profile) -> float:
    return time / profile.runtime if profile.runtime else 0.0


# -- layout ----------------------------------------------------------------------------------------


def layers_of(callees: Graph) -> list[list[str]]:
    """The kernels in layers, each behind all that call it: the longest way from the entry decides."""
    from networkx import DiGraph, topological_generations

    graph = DiGraph()
    graph.add_nodes_from(callees)
    graph.add_edges_from((caller, callee) for caller, found in callees.items() for callee in found)
    return [list(layer) for layer in topological_generations(graph)]


def placed(callees: Graph, widths: Mapping[str, float]) -> dict[str, Box]:
    """Boxes that do not overlap, each close to its neighbours (barycentres, swept there and back)."""
    layers = layers_of(callees)
    neighbours: dict[str, list[str]] = {name: list(found) for name, found in callees.items()}
    for caller, found in callees.items():
        for callee in found:
            neighbours[callee].append(caller)
    middle = {name: y for layer in layers for name, y in _spread(layer, dict.fromkeys(layer, 0.0)).items()}
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = {name: _mean([middle[other] for other in neighbours[name]] or [middle[name]]) for name in layer}
            middle |= _spread(sorted(layer, key=wanted.__getitem__), wanted)
    top = min(middle.values()) - BOX_HEIGHT / 2 - HEADING
    columns = [max(widths[name] for name in layer) + ARROWS for layer in layers]
    lefts = list(accumulate(columns, initial=MARGIN))
    return {
        name: Box(left, middle[name] - top, widths[name])
        for left, layer in zip(lefts, layers, strict=False)
        for name in layer
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _spread(layer: Sequence[str], wanted: Mapping[str, float]) -> dict[str, float]:
    """The boxes of a layer one below the other in this order, each as near as can be to where it is wanted."""
    found: dict[str, float] = {}
    free = float("-inf")
    for name in layer:
        found[name] = max(wanted[name], free)
        free = found[name] + BOX_HEIGHT + GAP
    back = _mean([found[name] - wanted[name] for name in layer])
    return {name: y - back for name, y in found.items()}


# -- drawing ---------------------------------------------------------------------------------------


def _words(axes: Any, profile: Profile, depth: float) -> None:
    prediction = profile.prediction
    said = f"{prediction.application.name} on {prediction.machine.name}: {seconds(profile.runtime)}"
    legend = "share of the runtime with callees; own: without, the darker the more; on arrows: calls"
    axes.text(MARGIN, 0.12, said, fontsize=11, fontweight="bold", va="top")
    axes.text(MARGIN, depth - 0.1, legend, fontsize=7, color="#555555", va="bottom")


def _box(axes: Any, box: Box, text: str, own: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    strength = min(own, 1.0) ** 0.6
    axes.add_patch(
        FancyBboxPatch(
            (box.left, box.middle - BOX_HEIGHT / 2),
            box.width,
            BOX_HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.07",
            facecolor=tuple(1 - strength * (1 - part) for part in BLUE),
            edgecolor=BLUE,
            linewidth=0.8,
            zorder=2,
        )
    )
    colour = "white" if strength > 0.5 else "black"
    middle = box.left + box.width / 2
    axes.text(middle, box.middle, text, ha="center", va="center", fontsize=8.5, color=colour, zorder=3)


def _arrow(axes: Any, caller: Box, callee: Box, part: float, calls: float) -> None:
    """From the right edge of the caller to the left edge of the callee, the calls close to where it arrives."""
    from matplotlib.patches import FancyArrowPatch

    start, end = (caller.left + caller.width, caller.middle), (callee.left, callee.middle)
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=8,
            linewidth=0.6 + 3.5 * part,
            color="#4a4a4a",
            alpha=0.35 + 0.6 * part,
            shrinkA=0,
            shrinkB=0,
            zorder=1,
        )
    )
    back = 0.45 / (end[0] - start[0])
    x, y = end[0] - 0.45, end[1] + back * (start[1] - end[1])
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    axes.text(x, y, f"{count(calls)}×", fontsize=7, ha="center", va="center", zorder=4, bbox=ground)
