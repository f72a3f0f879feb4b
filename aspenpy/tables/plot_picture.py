"""Plots as pictures, drawn by matplotlib."""

from __future__ import annotations

import io

from aspenpy.tables.table import Plot

COLOR = "#0072B2"  # a blue that colour-blind readers tell from other lines (Okabe and Ito)


def as_svg(plot: Plot) -> str:
    """The picture as an element of a page; the same plot is the same text."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "aspenpy", "font.family": "sans-serif"}):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(plot.xs, plot.heights, color=COLOR, linewidth=1.8)
        known = [height for height in plot.heights if height == height]
        axes.set_xscale("log" if plot.log else "linear")
        axes.set_yscale("log" if min(known) > 0 and max(known) > 1000 * min(known) else "linear")
        axes.set_xlabel(plot.parameter)
        axes.set_ylabel(f"{plot.what} ({plot.unit})" if plot.unit else plot.what)
        axes.grid(visible=True, which="major", linewidth=0.5, alpha=0.4)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :].strip()
