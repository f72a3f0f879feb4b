"""An Energy as a picture: power over time, kernel after kernel, in the colours of its terms; areas are energies."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.energy.account import Energy, KernelEnergy
from aspenpy.answers.energy.term import Key
from aspenpy.language.dimensions import readable
from aspenpy.report.energy import joules, watts
from aspenpy.tables.numbers import seconds

COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#444444")
"""Okabe and Ito, which colour-blind people tell apart."""

LEAST_WIDTH = 0.015  # of the picture, for a bar to have a number above it and its kernel a line beside the picture
LINE = 0.047  # between two lines beside the picture, as a part of its height


def draw(energy: Energy) -> Any:
    """A matplotlib Figure. All passes of a kernel stand together, in the order in which kernels call each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5))
    axes = figure.add_axes((0.08, 0.11, 0.55, 0.79))
    kernels = [kernel for kernel in energy.kernels if kernel.time > 0]
    keys = [key for key in energy.totals.by_term if any(kernel.by_term.get(key) for kernel in kernels)]
    named = [kernel for kernel in kernels if kernel.time > LEAST_WIDTH * energy.runtime]
    start = 0.0
    for kernel in kernels:
        _bars(axes, kernel, keys, start)
        if kernel in named:
            top = (start + kernel.time / 2, kernel.power or 0.0)
            number = str(named.index(kernel) + 1)
            axes.annotate(number, top, (0, 3), textcoords="offset points", ha="center", fontsize=8)
        start += kernel.time
    axes.set(xlim=(0, start or 1), xlabel="time, kernel after kernel (s)")
    axes.set_ylim(0, 1.12 * max((kernel.power or 0.0 for kernel in kernels), default=1.0) or 1.0)
    if energy.power is not None:
        axes.axhline(energy.power, color="#222222", linewidth=1, linestyle="--")
    found = energy.prediction
    title = f"{found.application.name} on {found.machine.name}: {joules(energy.value)} in {seconds(energy.runtime)}"
    axes.set_title(title, fontsize=11, fontweight="bold", loc="left")
    axes.yaxis.set_major_formatter(lambda value, _: readable(value, "W", 3))
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    _legend(axes, energy, keys, named)
    return figure


def _bars(axes: Any, kernel: KernelEnergy, keys: list[Key], start: float) -> None:
    """One on top of the other."""
    below = 0.0
    for number, key in enumerate(keys):
        height = kernel.by_term.get(key, 0.0) / kernel.time
        axes.bar(
            start,
            height,
            kernel.time,
            below,
            align="edge",
            color=COLOURS[number % len(COLOURS)],
            edgecolor="white",
            linewidth=0.4,
        )
        below += height


def _legend(axes: Any, energy: Energy, keys: list[Key], named: list[KernelEnergy]) -> None:
    """The terms from the top to the bottom, as they are stacked, with their joules; the average; the kernels."""
    worth = {use.key: use.energy for use in energy.terms}
    lines = [
        ("\N{BLACK SQUARE}", COLOURS[number % len(COLOURS)], f"{key.component}, {key.cause}: {joules(worth[key])}")
        for number, key in reversed(list(enumerate(keys)))
    ]
    if energy.power is not None:
        lines.append(("--", "#222222", f"on average: {watts(energy.power)}"))
    lines += [
        (str(number), "#222222", f"{kernel.name}: {watts(kernel.power or 0.0)}")
        for number, kernel in enumerate(named, 1)
    ]
    for place, (mark, colour, text) in enumerate(lines):
        y = 0.98 - LINE * place
        axes.text(1.045, y, mark, transform=axes.transAxes, color=colour, fontsize=9, va="center", ha="center")
        axes.text(1.07, y, text, transform=axes.transAxes, fontsize=8, va="center")
