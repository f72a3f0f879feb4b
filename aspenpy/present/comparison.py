"""Comparisons as a page, as JSON, as rows of CSV, and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import plain, seconds
from aspenpy.present.page import Page, Paragraph, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.analysis.bounds import Real
    from aspenpy.explore.comparison import Comparison, Crossover, Sweep, Unproven

POINTS_DRAWN = 400
"""Points of a curve in a picture."""


def page(comparison: Comparison, sweep: Sweep | None = None) -> Page:
    """The times side by side, and with a parameter the places where the order changes."""
    fastest = comparison.fastest
    title = Title(f"{comparison.application.name}: {comparison.kernel} is fastest on {fastest}")
    if sweep is None:
        return title, _times(comparison)
    crossovers = (_crossovers(sweep),) if sweep.crossovers else ()
    unproven = tuple(Paragraph(_unproven(item, sweep)) for item in sweep.unproven)
    return title, _times(comparison), _stretches(sweep), *crossovers, *unproven


def _times(comparison: Comparison) -> Table:
    best = comparison.times[comparison.fastest]
    moved = any(comparison.transfers.values())
    columns = [Column("machine"), Column("runtime", seconds, "unit")]
    columns += [Column("of it transfer", seconds, "unit")] if moved else []
    columns += [Column("times the fastest", lambda ratio: f"{ratio:.3g}", "right"), Column("waits for")]
    rows = []
    for item in comparison.contenders:
        time = comparison.times[item.label]
        waits = item.prediction.bottleneck
        row: list[Any] = [item.label, time, *([comparison.transfers[item.label]] if moved else [])]
        rows.append((*row, time / best if best else None, waits and f"{waits.resource} on {_last(waits.component)}"))
    places = frozenset(place for place, row in enumerate(rows) if row[0] == comparison.fastest)
    return Table(tuple(columns), tuple(rows), places)


def _last(component: str | None) -> str:
    return (component or "nothing").rpartition("/")[2]


def _stretches(sweep: Sweep) -> Table:
    columns = (Column(f"{sweep.parameter} from", _number, "right"), Column("to", _number, "right"), Column("fastest"))
    rows = tuple((item.low, item.high, " = ".join((item.fastest, *item.tied))) for item in sweep.stretches)
    return Table(columns, rows, title=f"where which is the fastest, {sweep.parameter} = {_range(sweep)}")


def _crossovers(sweep: Sweep) -> Table:
    """With the time that both take; where one of them jumps, with the times of the two on either side."""
    head = (Column(f"at {sweep.parameter}"), Column("from"), Column("to"))
    met = [sweep.meets(item) for item in sweep.crossovers]
    ends = (("both take", 0),) if all(met) else (("times before", 0), ("times behind", 1))
    rows = []
    for item, meets in zip(sweep.crossovers, met, strict=True):
        sides = [[float(sweep.time(who, x)) for who in (item.first, item.second)] for x in (item.before, item.behind)]
        told = [seconds(times[0]) if meets else " and ".join(map(seconds, times)) for times in sides]
        rows.append((_place(item.before, item.behind), item.first, item.second, *(told[end] for _, end in ends)))
    return Table((*head, *(Column(name) for name, _ in ends)), tuple(rows), title="crossovers")


def _unproven(item: Unproven, sweep: Sweep) -> str:
    name = sweep.parameter
    found = [
        _place(place.before, place.behind)
        for place in sweep.crossovers
        if {place.first, place.second} == {item.first, item.second} and item.low <= place.before <= item.high
    ]
    few = f"only those between neighbours of the {item.looks} values that were tried are found"
    said = f"{few}: {name} = {', '.join(found)}" if found else f"at the {item.looks} values that were tried they do not"
    pair = f"{item.first} and {item.second}"
    where = f"between {name} = {_number(item.low)} and {_number(item.high)}"
    return f"Not proven: {pair} may change places more often {where}; {said}."


def _place(before: Any, behind: Any) -> str:
    """Two neighbours that read the same are one place: a step at a real number lies just behind it."""
    first, second = _number(before), _number(behind)
    return first if first == second else f"{first} .. {second}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{float(value):.9g}"


def _range(sweep: Sweep) -> str:
    return f"{_number(sweep.low)} .. {_number(sweep.high)}{', whole numbers' if sweep.whole else ''}"


def as_json(comparison: Comparison, sweep: Sweep | None = None) -> dict[str, Any]:
    """One object, times in seconds."""
    found: dict[str, Any] = {
        "application": comparison.application.name,
        "kernel": comparison.kernel,
        "fastest": comparison.fastest,
        "machines": [
            {
                "name": item.label,
                "machine": item.prediction.machine.name,
                "socket": item.prediction.socket,
                "runtime": {"value": comparison.times[item.label], "unit": "s"},
                "transfer": {"value": comparison.transfers[item.label], "unit": "s"},
            }
            for item in comparison.contenders
        ],
    }
    if sweep is not None:
        found["over"] = {"parameter": sweep.parameter, "low": plain(sweep.low), "high": plain(sweep.high)}
        found["fastest_where"] = [
            {"low": plain(item.low), "high": plain(item.high), "name": item.fastest, "tied": list(item.tied)}
            for item in sweep.stretches
        ]
        found["crossovers"] = [
            {
                "from": item.first,
                "to": item.second,
                "before": plain(item.before),
                "behind": plain(item.behind),
                "times_before": _both(sweep, item, item.before),
                "times_behind": _both(sweep, item, item.behind),
            }
            for item in sweep.crossovers
        ]
        found["unproven"] = [
            {
                "machines": [item.first, item.second],
                "low": plain(item.low),
                "high": plain(item.high),
                "tried": item.looks,
            }
            for item in sweep.unproven
        ]
    found["diagnostics"] = [item.to_json() for item in comparison.application.warnings]
    return found


def _both(sweep: Sweep, item: Crossover, x: Real) -> dict[str, float]:
    """Seconds of the two that change places."""
    return {who: float(sweep.time(who, x)) for who in (item.first, item.second)}


def records(comparison: Comparison, sweep: Sweep | None = None) -> Table:
    """Of the CSV form: a row for each machine, or for each stretch of the parameter."""
    if sweep is None:
        rows = tuple((label, time, comparison.transfers[label]) for label, time in comparison.times.items())
        return Table((Column("machine"), Column("runtime_s"), Column("transfer_s")), rows)
    stretches = tuple((float(item.low), float(item.high), item.fastest) for item in sweep.stretches)
    return Table((Column("low"), Column("high"), Column("fastest")), stretches)


def picture(sweep: Sweep) -> Any:
    """Runtimes over the parameter on logarithmic axes, crossovers marked: a matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.4), layout="constrained")
    axes = figure.add_subplot()
    xs = _grid(float(sweep.low), float(sweep.high), sweep.whole)
    for label, style in zip(sweep.formulas, STYLES * len(sweep.formulas), strict=False):
        axes.plot(xs, [float(sweep.time(label, x)) for x in xs], label=label, linewidth=1.8, **style)
    for item in sweep.crossovers:
        x, y = float(item.behind), float(sweep.time(item.second, item.behind))
        axes.plot([x], [y], "o", color="black", markersize=5)
        axes.annotate(_place(item.before, item.behind), (x, y), textcoords="offset points", xytext=(6, -12), fontsize=9)
    axes.set_xscale("log" if sweep.low > 0 else "linear")
    axes.set_yscale("log")
    axes.set_xlabel(sweep.parameter)
    axes.set_ylabel("runtime (s)")
    axes.set_title(f"{sweep.comparison.application.name}: {sweep.comparison.kernel}", loc="left", fontsize=11)
    axes.grid(visible=True, which="major", linewidth=0.5, alpha=0.4)
    axes.legend(frameon=False)
    return figure


STYLES: list[dict[str, Any]] = [
    {"color": "#0072B2", "linestyle": "-"},
    {"color": "#D55E00", "linestyle": "--"},
    {"color": "#009E73", "linestyle": "-."},
    {"color": "#CC79A7", "linestyle": ":"},
]
"""Colours that colour-blind readers tell apart (Okabe and Ito), each with a line of its own."""


def _grid(low: float, high: float, whole: bool) -> list[Any]:
    steps = [place / (POINTS_DRAWN - 1) for place in range(POINTS_DRAWN)]
    points = [low * (high / low) ** step if low > 0 else low + (high - low) * step for step in steps]
    return sorted({max(int(low), min(int(high), round(point))) for point in points}) if whole else points
