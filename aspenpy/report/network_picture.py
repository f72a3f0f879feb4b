"""A Network as a picture: how long a message takes by its size, to an average node and to the farthest, and with what
of the bandwidth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.answers.network import Network
from aspenpy.language.dimensions import readable

SIZES = tuple(2 ** (power / 2) for power in range(47))  # bytes, from 1 B to 8 MiB
TIME, RATE = "#0072B2", "#D55E00"  # blue and vermilion of Okabe and Ito, which colour-blind people tell apart


def draw(network: Network) -> Any:
    """A matplotlib Figure: seconds at the left, bytes a second at the right, over the size; all logarithmic."""
    from matplotlib.figure import Figure

    messages = network.messages(SIZES)
    figure = Figure(figsize=(8, 5))
    axes = figure.add_axes((0.11, 0.12, 0.77, 0.78))
    axes.set(xscale="log", yscale="log", xlim=(SIZES[0], SIZES[-1]))
    axes.set_title(f"one message on {network.machine.name}", loc="left")
    axes.set_xlabel("size")
    axes.set_ylabel("time", color=TIME)
    axes.plot(SIZES, [item.time for item in messages], color=TIME, label="time, to an average node")
    if messages[0].farthest > messages[0].time:
        axes.plot(SIZES, [item.farthest for item in messages], color=TIME, linestyle="--", label="to the farthest")
    rates = axes.twinx()
    rates.set(yscale="log")
    rates.set_ylabel("rate", color=RATE)
    rates.plot(SIZES, [item.rate for item in messages], color=RATE, label="rate, to an average node")
    for axis, unit in ((axes.xaxis, "B"), (axes.yaxis, "s"), (rates.yaxis, "B/s")):
        axis.set_major_formatter(_readable_in(unit))
    axes.grid(color="#dddddd", linewidth=0.6)
    lines = [*axes.get_lines(), *rates.get_lines()]
    axes.legend(lines, [str(line.get_label()) for line in lines], frameon=False, loc="upper left")
    return figure


def _readable_in(unit: str) -> Callable[[float, float], str]:
    """What writes the numbers of an axis."""
    return lambda value, _: readable(value, unit)
