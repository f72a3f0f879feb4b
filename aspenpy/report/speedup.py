"""Speedup over clocks and processors, and signatures under less memory bandwidth, as reports and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.answers.prediction import Prediction
from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.estimators.bandwidth import ApplicationTime, analytical_slowdown, bandwidth_predictors
from aspenpy.learn.estimators.speedup import Dvfs, Spot, find_sweet_spots, surface_tables
from aspenpy.tables.drawing import MAP, VERMILION, set_title, use_shared_style
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, Column, Report, Table, make_facts, make_table


def report_speedup(dvfs: Dvfs) -> Report:
    """The split at the machine's clock, then the surface."""
    model, work = dvfs.workload, dvfs.workload.works[0]
    case = dvfs.prediction.case
    what = f"{case.application.name} on {case.required_machine.name}"
    share = f"{100 * model.off_chip_share:.1f} % off-chip" if model.time(1, model.clock) else "no work"
    heading = f"{what}: {share} at {format_quantity(model.clock, 'Hz')}"
    seconds = {"on_chip": work.on, "off_chip": work.off, "messages": model.overhead_off}
    notes = [
        ("on-chip", f"{format_quantity(work.on, 's')}, goes with the clock: cores and caches"),
        ("off-chip", f"{format_quantity(work.off, 's')}, does not: memory"),
        ("messages", f"{format_quantity(model.overhead_off, 's')}, the overhead of running in parallel"),
    ]
    columns = (Column("processors", "count"), Column("clock", unit="Hz"), Column("time", unit="s"), Column("speedup"))
    energies = (Column("energy"), Column("energy_delay"))
    every = make_table((*columns, *energies), dvfs.spots, "spots", media=JSON + CSV)
    parts = (make_facts(notes), *surface_tables(dvfs.spots, what), every)
    return Report("speedup/1", heading, {"clock": model.clock, **seconds}, parts, dvfs.prediction.diagnostics)


register_report(Dvfs, report_speedup)


@use_shared_style
def draw(dvfs: Dvfs) -> Any:
    """A matplotlib figure of the surface."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    draw_surface(figure, figure.add_subplot(), dvfs.spots, dvfs.prediction.case.application.name)
    return figure


def draw_surface(figure: Any, axes: Any, spots: Sequence[Spot], what: str) -> None:
    """A heat map of speedup over clock and processors, each cell with its number; a frame around the least
    energy-delay product."""
    from matplotlib.colors import LogNorm

    clocks = list(dict.fromkeys(spot.clock for spot in spots))
    counts = list(dict.fromkeys(spot.processors for spot in spots))
    values = {(spot.processors, spot.clock): spot.speedup for spot in spots}
    low, high = min(values.values()), max(values.values())
    norm = LogNorm(low, high if high > low else 1.01 * low)
    rows = [[values[count, clock] for clock in clocks] for count in counts]
    image = axes.imshow(rows, origin="lower", aspect="auto", norm=norm, cmap=MAP)
    for (count, clock), value in values.items():
        colour = "white" if norm(value) < 0.5 else "black"
        place = clocks.index(clock), counts.index(count)
        axes.text(*place, f"{value:.3g}", ha="center", va="center", color=colour)
    axes.set_xticks(range(len(clocks)), [format_quantity(clock, "Hz") for clock in clocks])
    axes.set_yticks(range(len(counts)), [str(count) for count in counts])
    axes.set_xlabel("clock")
    axes.set_ylabel("processors")
    axes.grid(visible=False)
    bar = figure.colorbar(image, ax=axes, ticks=[tick for tick in (1, 2, 5, 10, 20, 50, 100) if low <= tick <= high])
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    bar.ax.minorticks_off()
    bar.set_label("speedup over one processor at the lowest clock")
    set_title(axes, f"speedup of {what}")
    for aim, spot in find_sweet_spots(spots):
        if aim == "energy-delay":
            corner = clocks.index(spot.clock) - 0.48, counts.index(spot.processors) - 0.48
            _draw_frame(axes, corner)


def _draw_frame(axes: Any, corner: tuple[float, float]) -> None:
    from matplotlib.patches import Rectangle

    label = "least energy-delay product"
    axes.add_patch(Rectangle(corner, 0.96, 0.96, fill=False, edgecolor=VERMILION, linewidth=2.5, label=label))
    axes.legend(loc="upper right", bbox_to_anchor=(1, -0.1))


# -- less memory bandwidth -------------------------------------------------------------------------


ABOUT = {
    "d1m": "accesses an instruction that the first cache serves",
    "d2m": "that the second serves",
    "d3m": "that the third serves",
    "dmm": "that miss the last cache",
    "loads": "loads an instruction",
    "stores": "stores an instruction",
    "int_ops": "integer operations an instruction",
    "fops_ins": "flops an instruction",
    "fprat": "flops over accesses",
}
CHOICES = (
    Column("memory clock", unit="Hz", key="clock"),
    Column("application"),
    Column("time", unit="s"),
    Column("fastest", lambda value: "yes" if value else "", key="is_fastest"),
)


def report_signature(prediction: Prediction, factors: Sequence[float]) -> Report:
    """Reports the features of a prediction that trees learn from, and the slowdowns that the Aspen model has itself."""
    case = prediction.case
    heading = f"{case.application.name} on {case.required_machine.name}: predictors of sensitivity to memory bandwidth"
    columns = (Column("predictor"), Column("value", lambda value: f"{value:.4g}", "right"), Column("which is"))
    rows = tuple((name, value, ABOUT[name]) for name, value in bandwidth_predictors(prediction).items())
    slower = tuple((factor, analytical_slowdown(prediction, factor)) for factor in factors)
    heads = (Column("bandwidth", "ratio"), Column("slowdown", "ratio"))
    title = "runtime with a part of the bandwidth, over that with all of it, by the model"
    parts = (Table(columns, rows, key="signature"), Table(heads, slower, title=title, key="slowdowns"))
    return Report("speedup_signature/1", heading, {}, parts, prediction.diagnostics)


def add_choices(report: Report, times: Sequence[ApplicationTime]) -> Report:
    """A report of slowdowns, with the times of all phases of each application at each memory clock."""
    listed = sorted(times, key=lambda item: (-item.clock, item.time))
    table = make_table(CHOICES, listed, "choices", title="all phases together, the fastest first")
    return report.replace(parts=(*report.parts, table))
