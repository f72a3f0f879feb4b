"""A sweep as a picture: lines over one axis, a map over two."""

from __future__ import annotations

from typing import Any

import numpy

from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import readable
from aspenpy.report.comparison_picture import STYLES
from aspenpy.studies.sweeps.result import SweepResult
from aspenpy.studies.sweeps.study import label

MOST_LINES = 12  # lines that a reader tells apart in one picture
WIDE = 50  # an axis whose ends are so many times apart is drawn logarithmically


def draw(result: SweepResult) -> Any:
    """A matplotlib Figure of the first metric."""
    from matplotlib.figure import Figure

    name = next(iter(result))
    values = result[name].values
    numeric = [dimension.name for dimension in result.study.dimensions]
    if len(numeric) > 2 or "sample" in numeric or not numeric:
        fail("no-picture", "a picture is drawn over one or two numeric axes", hint="fix the others with --set")
    categories = [item.name for item in result.study.categories]
    maps = len(numeric) == 2
    if maps and values[..., 0, 0].size > 1:
        fail("no-picture", "a map is drawn over two axes alone", hint="draw one picture for each " + categories[0])
    if not maps and values[..., 0].size > MOST_LINES:
        fail("no-picture", f"a picture has at most {MOST_LINES} lines, and here are {values[..., 0].size}")
    figure = Figure(figsize=(7, 4.4), layout="constrained")
    axes = figure.add_subplot()
    (_map if maps else _lines)(figure, axes, result, name, numeric)
    axes.set_xlabel(numeric[-1])
    case = result.study.cases[0]
    title = f"by {', '.join(categories)}" if categories else f"{case.application.name} on {case.required_machine.name}"
    axes.set_title(f"{name}: {title}", loc="left", fontsize=11)
    return figure


def _lines(figure: Any, axes: Any, result: SweepResult, name: str, numeric: list[str]) -> None:
    """A line for each of the other things that were swept."""
    variable = result[name]
    x = result.coords[numeric[0]][1] if numeric[0] in result.coords else numpy.arange(variable.shape[-1])
    rows = variable.values.reshape(-1, variable.shape[-1])
    labels = [_label(result, place) for place in range(len(rows))]
    for place, (row, text) in enumerate(zip(rows, labels, strict=True)):
        axes.plot(x, row, label=text, linewidth=1.8, **STYLES[place % len(STYLES)], marker=_mark(row, place))
    axes.set_xscale(_scale(x))
    axes.set_yscale(_scale(rows))
    axes.set_ylabel(f"{name} ({variable.unit})" if variable.unit else name)
    axes.grid(visible=True, which="major", linewidth=0.5, alpha=0.4)
    if len(rows) > 1:
        axes.legend(frameon=False)


def _mark(row: Any, place: int) -> str | None:
    """Beyond four lines marks tell those of the same style apart; a value between two missing ones needs one."""
    alone = numpy.isfinite(row) & numpy.isnan(numpy.roll(row, 1)) & numpy.isnan(numpy.roll(row, -1))
    marks = (None, "o", "s")
    return marks[place // len(STYLES) % len(marks)] or ("." if alone.any() or len(row) == 1 else None)


def _label(result: SweepResult, place: int) -> str:
    case = result.study.cases[place]
    return ", ".join(label(case, item.name) for item in result.study.categories)


def _map(figure: Any, axes: Any, result: SweepResult, name: str, numeric: list[str]) -> None:
    """Colours over two axes; points without a value stay empty."""
    from matplotlib.colors import LogNorm

    variable = result[name]
    y, x = (result.coords[axis][1] for axis in numeric)
    values = variable.values.reshape(len(y), len(x))
    logarithmic = _scale(values) == "log"
    norm = LogNorm(numpy.nanmin(values), numpy.nanmax(values)) if logarithmic else None
    # The edges of cells lie between the points, in the scale of the axis.
    mesh = axes.pcolormesh(_edges(x), _edges(y), values, norm=norm, cmap="cividis", shading="flat")
    mesh.set_rasterized(True)
    axes.set_facecolor("#dddddd")
    axes.set_xscale(_scale(x))
    axes.set_yscale(_scale(y))
    axes.set_ylabel(numeric[0])
    bar = figure.colorbar(mesh, ax=axes)
    bar.set_label(f"{name} ({variable.unit})" if variable.unit else name)
    if variable.unit == "s":
        bar.ax.yaxis.set_major_formatter(lambda value, _: readable(value, "s", 3))


def _edges(values: Any) -> Any:
    """Between each two neighbours, and as far beyond the ends."""
    if len(values) == 1:
        return numpy.array([values[0] * 0.9, values[0] * 1.1]) if values[0] else numpy.array([-0.5, 0.5])
    scaled = numpy.log(values) if _scale(values) == "log" else values
    middles = (scaled[1:] + scaled[:-1]) / 2
    found = numpy.concatenate([[2 * scaled[0] - middles[0]], middles, [2 * scaled[-1] - middles[-1]]])
    return numpy.exp(found) if _scale(values) == "log" else found


def _scale(values: Any) -> str:
    """Logarithmic for what is positive and stretches wide."""
    finite = values[numpy.isfinite(values)]
    return "log" if finite.size and finite.min() > 0 and finite.max() >= WIDE * finite.min() else "linear"
