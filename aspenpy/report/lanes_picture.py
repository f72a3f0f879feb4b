"""Pictures of what runs where: kernels in the lanes of their sockets, and how many parts each block has at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.tables.drawing import EDGE, FILLS, SHADE, drop_middle, label_axis, set_title, use_shared_style
from aspenpy.tables.numbers import seconds

if TYPE_CHECKING:
    from aspenpy.answers.parallelism import Parallelism
    from aspenpy.answers.placement.placement import Placement

MOST_BARS = 40


@use_shared_style
def draw_placement(placement: Placement) -> Any:
    """A matplotlib figure of a placement: the kernels that take time, in the order in which they call each other, each
    in the lane of its socket and as long as all its calls together; before it, what is moved for it."""
    from matplotlib.figure import Figure

    kernels = [item for item in placement.kernels if item.time + item.transfer > 0]
    sockets = list(dict.fromkeys([*placement.machine.sockets, *(item.socket for item in kernels)]))
    figure = Figure(figsize=(8, 1.6 + 0.34 * max(3, len(kernels))), layout="constrained")
    axes = figure.add_subplot()
    begin = 0.0
    for index, item in enumerate(kernels):
        fill = FILLS[sockets.index(item.socket) % (len(FILLS) - 1)]
        axes.barh(index, item.transfer, left=begin, height=0.62, facecolor=SHADE, edgecolor="black", linewidth=0.4)
        axes.barh(index, item.time, left=begin + item.transfer, height=0.62, **EDGE, **fill)
        begin += item.transfer + item.time
        axes.annotate(
            seconds(item.time), (begin, index), (4, 0), textcoords="offset points", va="center", annotation_clip=False
        )
    axes.set_yticks(range(len(kernels)), [drop_middle(item.name) for item in kernels])
    axes.set_ylim(max(3, len(kernels)) - 0.4, -0.6)
    axes.set_xlim(0, 1.12 * begin or 1.0)
    label_axis(axes.xaxis, "s")
    axes.set_xlabel("time of all calls, one kernel behind the other")
    axes.grid(visible=False, axis="y")
    for number, socket in enumerate(sockets):
        axes.barh(0, 0, label=socket, **EDGE, **FILLS[number % (len(FILLS) - 1)])
    if any(item.transfer for item in kernels):
        axes.barh(0, 0, facecolor=SHADE, edgecolor="black", linewidth=0.4, label="data moved for it")
    figure.legend(loc="outside lower left", ncols=3)
    title = f"{placement.application.name} on {placement.machine.name}: {seconds(placement.runtime)}"
    hidden = f", {seconds(placement.hidden)} of it at once" if placement.hidden else ""
    set_title(axes, title + hidden)
    return figure


@use_shared_style
def draw_parallelism(parallelism: Parallelism) -> Any:
    """A matplotlib figure of the parts of each block that could run at once, on a logarithmic axis, in the order of the
    call paths."""
    from matplotlib.figure import Figure

    known = [block for block in parallelism.blocks if block.together is not None and block.together >= 1]
    blocks = known[:MOST_BARS]
    figure = Figure(figsize=(8, 1.4 + 0.26 * max(3, len(blocks))), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log")
    for index, block in enumerate(blocks):
        together = float(block.together or 1)
        axes.barh(index, together - 0.8, left=0.8, height=0.62, **EDGE, **FILLS[0])
        axes.annotate(f"{together:,.6g}", (together, index), (4, 0), textcoords="offset points", va="center")
    names = ["/".join(map(str, block.region[1:] or block.region)) for block in blocks]
    axes.set_yticks(range(len(blocks)), [drop_middle(name, 44) for name in names])
    axes.set_ylim(max(3, len(blocks)) - 0.4, -0.6)
    axes.set_xlim(0.8, 4 * max((float(block.together or 1) for block in blocks), default=1.0))
    label_axis(axes.xaxis)
    left_out = len(parallelism.blocks) - len(blocks)
    axes.set_xlabel(f"instances at once{(left_out and f' ({left_out} blocks are not drawn)') or ''}")
    axes.grid(visible=False, axis="y")
    set_title(axes, f"{parallelism.application.name}: what {parallelism.kernel} can run at once")
    return figure
