"""The cost of restricting a machine: a report, and a section of the document of advice."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

from aspenpy.advice.advise import Advice
from aspenpy.advice.configuration import COMPONENTS
from aspenpy.advice.throttled import Restriction, Throttled
from aspenpy.advice.uncertain import Sampled
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.advice.document import link_text, picture_of, problem_note
from aspenpy.tables.document import Block, Section, Sentence, Words, make_sheet
from aspenpy.tables.drawing import STYLES, label_axis, name_ends, use_shared_style
from aspenpy.tables.numbers import format_count, format_ratio, format_share, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Paragraph, Report, make_table

ROUNDED = 1e-9  # by which a lowest value may be missed by rounding


def report_throttling(throttled: Throttled) -> Report:
    """A column for each restriction, a row for each part that is left."""
    case = throttled.case
    runtime, energy = throttled.noisy
    data = {
        "application": case.application.name,
        "machine": case.required_machine.name,
        "noise": throttled.noise,
        "noisy": {"runtime": _interval_fields(runtime), "energy": None if energy is None else _interval_fields(energy)},
    }
    return Report("throttling/1", heading(throttled), data, parts(throttled), throttled.diagnostics)


register_report(Throttled, report_throttling)


def _interval_fields(sampled: Sampled) -> dict[str, float]:
    return {name: getattr(sampled, name) for name in ("stated", "mean", "low", "high", "count")}


def heading(throttled: Throttled) -> str:
    where = throttled.space.prediction.where
    halves = [(item.losses[_row_of_half(item)], item.component) for item in throttled.restrictions]
    if not halves:
        return f"{where}: nothing that it states is restricted"
    loss, worst = max(halves)
    return f"{where}: loses most by less {name_restriction(worst)}, {format_ratio(loss)} the runtime with half of it"


def _row_of_half(item: Restriction) -> int:
    return min(range(len(item.parts)), key=lambda index: abs(item.parts[index] - 0.5))


def name_restriction(component: str) -> str:
    return "power" if component == "power" else COMPONENTS[component].title


def _format_value(component: str, value: float) -> str:
    return format_quantity(value, "W" if component == "power" else COMPONENTS[component].unit)


def parts(throttled: Throttled) -> tuple[Any, ...]:
    def make_column(item: Restriction, header: str, said: Callable[[int], str]) -> Column:
        """Empty where so little is left that there is no value."""
        return Column(header, align="right", get=lambda row: said(row) if row < len(item.parts) else None)

    def make_columns(item: Restriction) -> tuple[Column, ...]:
        value = make_column(item, item.component, lambda row: _format_value(item.component, item.values[row]))
        runtime = make_column(item, "runtime", lambda row: format_ratio(item.losses[row]))
        if not item.energies:
            return (value, runtime)
        return (
            value,
            runtime,
            make_column(item, "energy", lambda row: format_ratio(item.energies[row] / item.energies[0])),
        )

    heads = [Column("left", "share", get=lambda row: throttled.parts[row])]
    for item in throttled.restrictions:
        heads += make_columns(item)
    rows = range(len(throttled.parts))
    return (
        make_table(heads, rows, title="runtime and energy, in times of those with nothing restricted", media=TEXT),
        _data_table(throttled),
        *map(Paragraph, _list_notes(throttled)),
    )


def _data_table(throttled: Throttled) -> Any:
    rows = [(item, index) for item in throttled.restrictions for index in range(len(item.parts))]

    def make_column(name: str, plural: str) -> Column:
        return Column(name, get=lambda row: dict(enumerate(getattr(row[0], plural))).get(row[1]))

    heads = (
        Column("component", get=lambda row: row[0].component),
        make_column("left", "parts"),
        make_column("value", "values"),
        make_column("runtime", "runtimes").replace(unit="s"),
        make_column("energy", "energies").replace(unit="J"),
        make_column("loss", "losses"),
    )
    return make_table(heads, rows, "restrictions", media=(*JSON, *CSV))


def _list_notes(throttled: Throttled) -> list[str]:
    runtime, energy = throttled.noisy
    notes = [
        f"Noise: where clock, bandwidths and network each lose {format_share(throttled.noise)} (standard "
        "deviation), the run "
        f"takes {_format_interval(runtime, 's')}"
        + (f" and consumes {_format_interval(energy, 'J')}" if energy is not None else "")
        + f": 95 % of {format_count(runtime.count)} samples."
    ]
    if any(item.component == "power" for item in throttled.restrictions):
        notes.append(
            "Power: a cap of the socket, from what the kernel that draws most draws; the clock is lowered until it "
            "holds, and below the lowest clock the socket waits."
        )
    notes += _note_below_declared(throttled)
    problem = throttled.space.problem
    return notes if problem.ranks is None else [*notes, problem_note([throttled.case], problem)]


def _note_below_declared(throttled: Throttled) -> list[str]:
    """A note on rows below the lowest value that the machine declares."""
    notes = []
    for item in throttled.restrictions:
        parameter = throttled.space.machine.parameter(item.component)
        if parameter is not None and parameter.low is not None and min(item.values) < parameter.low * (1 - ROUNDED):
            notes.append(f"{item.component} below {_format_value(item.component, parameter.low)}")
    return [f"Extrapolated, below the lowest that the machine declares: {', '.join(notes)}."] if notes else []


def _format_interval(sampled: Sampled, unit: str) -> str:
    low, high, stated = (format_quantity(value, unit) for value in (sampled.low, sampled.high, sampled.stated))
    return f"{low} to {high} instead of {stated}"


WIDTH, UP = 7, 4.2  # inches


@use_shared_style
def draw(throttled: Throttled) -> Any:
    """A matplotlib figure: the runtime over what is left of each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, UP), layout="constrained")
    axes = figure.subplots()
    ends = []
    for item, style in zip(throttled.restrictions, cycle(STYLES), strict=False):
        percents = [100 * part for part in item.parts]
        axes.plot(percents, item.losses, label=name_restriction(item.component), **style)
        ends.append((name_restriction(item.component), percents[-1], item.losses[-1], style["color"]))
    axes.set(xlabel="% left", ylabel="times the runtime", xlim=(100, 100 * throttled.parts[-1]))
    label_axis(axes.yaxis)
    name_ends(axes, UP - 0.8, ends)
    return figure


# -- as a section of the document ------------------------------------------------------------------


LEFT = (0.9, 0.7, 0.5, 0.3)  # parts in the table; the picture has all


def restriction_blocks(advice: Advice) -> list[Block]:
    """The runtime with a part of one thing left, and with noise in all."""
    throttled = advice.throttled
    rows: list[list[Any]] = []
    for item in throttled.restrictions:
        by_part = {round(part, 6): loss for part, loss in zip(item.parts, item.losses, strict=True)}
        cells: list[Any] = []
        for part in LEFT:
            loss = by_part.get(part)
            cells.append("" if loss is None else link_text(f"x {format_ratio(loss)}", "restricted"))
        rows.append([name_restriction(item.component), *cells])
    runtime, _ = throttled.noisy
    noise: Words = (
        "Noise that takes ",
        link_text(format_share(throttled.noise), "noise"),
        " (standard deviation) from each of clock, bandwidths and network makes the run take ",
        link_text(f"{seconds(runtime.low)} to {seconds(runtime.high)}", "noise"),
        " instead of ",
        link_text(seconds(runtime.stated), "runtime"),
        ".",
    )
    return [
        Section("If something is cut", "cut"),
        Sentence(("The runtime on one node with only a part of one thing left, in times of that with all of it:",)),
        make_sheet(("restricted", *(f"{format_share(part)} left" for part in LEFT)), rows, range(1, 1 + len(LEFT))),
        Sentence(noise),
        *picture_of(draw, throttled, "The runtime over what is left."),
    ]
