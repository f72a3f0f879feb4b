"""Machines compared, kernels placed on sockets, and kinds of sockets by energy, as reports."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from aspenpy.answers.energy.cap_warning import CODE as POWER_CAP
from aspenpy.answers.placement.placement import Placement
from aspenpy.explore.comparison import Comparison, Efficiency
from aspenpy.explore.crossovers import Crossover, Crossovers, Unproven
from aspenpy.explore.problem_size import sizes_per_rank
from aspenpy.explore.scaling import RANKS
from aspenpy.expr.intervals import Real
from aspenpy.language.diagnostics import drop_repeats
from aspenpy.report.energy import charges_in_words
from aspenpy.report.intervals import describe_interval, interval_as_data
from aspenpy.report.prediction_data import assumptions_as_data, ranks_as_data
from aspenpy.report.prediction_facts import BOUND_BY, name_assumption, resource_on_component
from aspenpy.tables.drawing import BLACK, INK, LINE, STYLES, label_axis, name_ends, set_title, use_shared_style
from aspenpy.tables.numbers import Amount, make_formatter, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import ALL, DATA, JSON, TEXT, Column, Paragraph, Part, Report, Table, make_columns, make_table


def report_comparison(comparison: Comparison, sweep: Crossovers | None = None, interval: bool = True) -> Report:
    """The times side by side with the `interval` to expect, and with a parameter the places where the order changes."""
    shows_errors = interval and sweep is None
    data: dict[str, Any] = {
        "application": comparison.case.application.name,
        "kernel": comparison.case.kernel,
        "fastest": comparison.fastest,
        "per_rank": list(sizes_per_rank(comparison.case.application)),
    }
    parts: list[Part] = [_times_table(comparison, shows_errors)]
    if shows_errors:
        data["not_told_apart_from_fastest"] = list(comparison.alike)
        parts += [Paragraph(_note_alike(comparison))] if comparison.alike else []
    if sweep is None and (note := _note_assumptions(comparison)):
        parts.append(Paragraph(note))
    if sweep is not None:
        data["over"] = {"parameter": sweep.parameter, "low": sweep.low, "high": sweep.high}
        times = _times_table(comparison, shows_errors).replace(media=("text", "json"))
        notes = [Paragraph(_note_unproven(item, sweep)) for item in sweep.unproven]
        if data["per_rank"] and sweep.parameter in RANKS:
            sizes = ", ".join(f"`{name}`" for name in data["per_rank"])
            notes.append(Paragraph(f"Sizes of each rank stay ({sizes}): with more ranks the whole problem is larger."))
        parts = [
            times,
            _stretches_table(sweep),
            *_crossover_tables(sweep),
            *notes,
            make_table(UNPROVEN, sweep.unproven, "unproven", media=JSON),
        ]
    predictions = [one.prediction for one in comparison.contenders]
    of_predictions = (item.diagnostics if sweep is None else item.tree.warnings for item in predictions)
    capped = () if sweep is None else sweep.cap_warnings
    warnings = drop_repeats([*comparison.warnings, *(item for found in of_predictions for item in found), *capped])
    if capped or (sweep is None and any(item.cap_warnings for item in predictions)):
        parts.append(Paragraph(_note_uncapped_order(comparison)))
    headline = f"{comparison.case.application.name}: {comparison.case.kernel} is fastest on {comparison.fastest}"
    return Report("comparison/1", headline, data, tuple(parts), tuple(warnings))


register_report(Comparison, report_comparison)


def _note_uncapped_order(comparison: Comparison) -> str:
    """A sentence that says by which times machines are ranked, and whether others would rank them otherwise."""
    ranked = "Ranked by runtimes without power caps, since not every machine states one"
    best = comparison.fastest_under_caps
    return f"{ranked}." if best in (None, comparison.fastest) else f"{ranked}; under the caps {best} is the fastest."


def _note_alike(comparison: Comparison) -> str:
    names = " and ".join((comparison.fastest, *comparison.alike))
    return f"{names} cannot be told apart: their intervals overlap. Errors that they have in common cancel."


MOST_ASSUMED = 4
"""Machines of which the assumed number is named that decides."""


def _note_assumptions(comparison: Comparison) -> str:
    """A sentence that names the machines whose runtime an assumed number decides; empty where there is none."""
    found = {item.label: item.prediction.assumptions for item in comparison.contenders if item.prediction.assumptions}
    named = [f"{label} ({name_assumption(numbers[0])})" for label, numbers in found.items()]
    more = [f"{len(named) - MOST_ASSUMED} more"] if len(named) > MOST_ASSUMED else []
    return f"Assumed numbers decide on {', '.join([*named[:MOST_ASSUMED], *more])}." if found else ""


def _times_table(comparison: Comparison, shows_errors: bool) -> Table:
    best = comparison.times[comparison.fastest]
    moved = any(comparison.transfers.values())
    contenders = comparison.contenders

    def relative_time(item: Any) -> float | None:
        return comparison.times[item.label] / best if best else None

    heads = (
        Column("machine", key="name", get="label"),
        Column("machine", get="prediction.machine.name", media=DATA),
        Column("socket", get="prediction.socket", media=DATA),
        Column("ranks", get=lambda item: ranks_as_data(item.prediction).get("ranks"), media=JSON),
        *((Column("each rank has", get=_describe_rank, media=TEXT),) if any(map(_describe_rank, contenders)) else ()),
        Column("runtime", unit="s", get=lambda item: comparison.times[item.label], quantity=True),
        Column(
            "under power caps",
            unit="s",
            key="capped_runtime",
            get=lambda item: comparison.capped_times[item.label],
            quantity=True,
            media=ALL if any(item.prediction.cap_warnings for item in contenders) else DATA,
        ),
        Column(
            "of it transfer",
            unit="s",
            key="transfer",
            get=lambda item: comparison.transfers[item.label],
            quantity=True,
            media=ALL if moved else DATA,
        ),
        Column("times the fastest", "ratio", get=relative_time, media=TEXT),
        *(_columns_of_errors(comparison) if shows_errors else ()),
        Column(BOUND_BY, get=_bound_text, media=TEXT),
        Column("assumed", get=lambda item: assumptions_as_data(item.prediction), media=JSON),
    )
    places = [place for place, item in enumerate(contenders) if item.label == comparison.fastest]
    return make_table(heads, contenders, "machines", marked=frozenset(places))


def _columns_of_errors(comparison: Comparison) -> tuple[Column, ...]:
    errors, times = comparison.errors, comparison.times
    return (
        Column("nine of ten", get=lambda it: describe_interval(errors[it.label], times[it.label], "s"), media=TEXT),
        Column("expected", get=lambda it: interval_as_data(errors[it.label], times[it.label]), media=JSON),
    )


def _describe_rank(item: Any) -> str | None:
    """The components that a rank occupies, where blocks say that ranks share their work out."""
    placement = item.prediction.tree.rank_placement
    return placement and f"a {placement.unit.component.type}"


def _bound_text(item: Any) -> str | None:
    bottleneck = item.prediction.bottleneck
    return bottleneck and resource_on_component(bottleneck.resource, bottleneck.component)


def _stretches_table(sweep: Crossovers) -> Table:
    heads = (
        Column(f"{sweep.parameter} from", format_number, "right", key="low"),
        Column("to", format_number, "right", key="high"),
        Column("fastest", get=lambda item: " = ".join((item.fastest, *item.tied)), media=TEXT),
        Column("name", get="fastest", media=DATA),
        Column("tied", media=DATA, get=lambda item: list(item.tied)),
    )
    return make_table(
        heads,
        sweep.stretches,
        "fastest_where",
        title=f"where which is the fastest, {sweep.parameter} = {_range_of_sweep(sweep)}",
    )


def _crossover_tables(sweep: Crossovers) -> tuple[Table, Table]:
    """The crossovers with the time that both take and, where one of them jumps, with the times of the two on either
    side."""

    def both_times(item: Crossover, x: Real) -> dict[str, float]:
        return {who: float(sweep.time(who, x)) for who in (item.first, item.second)}

    def times_in_words(item: Crossover, x: Real) -> str:
        times = [seconds(time) for time in both_times(item, x).values()]
        return times[0] if sweep.meets(item) else " and ".join(times)

    before = Column("times before", get=lambda item: times_in_words(item, item.before))
    behind = Column("times behind", get=lambda item: times_in_words(item, item.behind))
    meet = all(map(sweep.meets, sweep.crossovers))
    names = (Column("from", get="first"), Column("to", get="second"))
    where = Column(f"at {sweep.parameter}", get=lambda item: merge_neighbours(item.before, item.behind))
    shown = (where, *names, *((before.replace(header="both take"),) if meet else (before, behind)))
    heads = (
        *names,
        *make_columns("before behind"),
        Column("times before", unit="s", get=lambda item: both_times(item, item.before)),
        Column("times behind", unit="s", get=lambda item: both_times(item, item.behind)),
    )
    return (
        make_table(shown, sweep.crossovers, title="crossovers", media=TEXT),
        make_table(heads, sweep.crossovers, "crossovers", media=JSON),
    )


UNPROVEN = (
    Column("machines", get=lambda item: [item.first, item.second]),
    *make_columns("low high"),
    Column("tried", get="looks"),
)


def _note_unproven(item: Unproven, sweep: Crossovers) -> str:
    name = sweep.parameter
    ranges = [
        merge_neighbours(crossover.before, crossover.behind)
        for crossover in sweep.crossovers
        if {crossover.first, crossover.second} == {item.first, item.second}
        and item.low <= crossover.before <= item.high
    ]
    few = f"only those between neighbours of the {item.looks} values that were tried are found"
    said = (
        f"{few}: {name} = {', '.join(ranges)}" if ranges else f"at the {item.looks} values that were tried they do not"
    )
    pair = f"{item.first} and {item.second}"
    where = f"between {name} = {format_number(item.low)} and {format_number(item.high)}"
    return f"Not proven: {pair} may change places more often {where}; {said}."


def merge_neighbours(before: Any, behind: Any) -> str:
    """Two neighbours that read the same are one place: a step at a real number lies just behind it."""
    first, second = format_number(before), format_number(behind)
    return first if first == second else f"{first} .. {second}"


def format_number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{float(value):,.9g}"


def _range_of_sweep(sweep: Crossovers) -> str:
    return f"{format_number(sweep.low)} .. {format_number(sweep.high)}{', whole numbers' if sweep.whole else ''}"


# -- as a picture ----------------------------------------------------------------------------------


WIDTH, UP = 7, 4.4  # inches
POINTS_DRAWN = 400  # of a curve
MOST_NAMED = 8  # crossovers whose places are written
ROOM = 0.3  # of the axes that the place of a crossover takes


@use_shared_style
def draw_comparison(sweep: Crossovers) -> Any:
    """A matplotlib figure: runtimes over the parameter on logarithmic axes, with the crossovers marked."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, UP), layout="constrained")
    axes = figure.add_subplot()
    xs = _points_between(float(sweep.low), float(sweep.high), sweep.whole)
    for label, style in zip(sweep.formulas, cycle(STYLES), strict=False):
        axes.plot(xs, [float(sweep.time(label, x)) for x in xs], label=label, **style)
    for item in sweep.crossovers:
        axes.plot([float(item.behind)], [float(sweep.time(item.second, item.behind))], "o", color=BLACK)
    axes.set_xscale("log" if sweep.low > 0 else "linear")
    axes.set_yscale("log")
    axes.set_xlabel(sweep.parameter)
    axes.set_ylabel("runtime")
    set_title(axes, f"{sweep.contenders[0].prediction.application.name}: {sweep.contenders[0].prediction.kernel}")
    label_axis(axes.xaxis)
    label_axis(axes.yaxis, "s")
    ends = [
        (label, xs[-1], float(sweep.time(label, xs[-1])), style["color"])
        for label, style in zip(sweep.formulas, cycle(STYLES), strict=False)
    ]
    name_ends(axes, UP - 0.9, ends)
    _name_crossovers(axes, sweep)
    return figure


def _name_crossovers(axes: Any, sweep: Crossovers) -> None:
    """Labels each crossover with its place; labels of close crossovers are stacked."""
    to_axes = axes.transAxes.inverted()
    rows: list[tuple[float, int]] = []
    for item in sweep.crossovers[:MOST_NAMED]:
        at = float(item.behind), float(sweep.time(item.second, item.behind))
        across = float(to_axes.transform(axes.transData.transform(at))[0])
        taken = {row for other, row in rows if abs(other - across) < ROOM}
        row = next(number for number in range(len(taken) + 1) if number not in taken)
        rows.append((across, row))
        text = merge_neighbours(item.before, item.behind)
        axes.annotate(text, at, textcoords="offset points", xytext=(8, -14 - LINE * row), color=INK)


def _points_between(low: float, high: float, whole: bool) -> list[Any]:
    steps = [step / (POINTS_DRAWN - 1) for step in range(POINTS_DRAWN)]
    points = [low * (high / low) ** step if low > 0 else low + (high - low) * step for step in steps]
    return sorted({max(int(low), min(int(high), round(point))) for point in points}) if whole else points


# -- kinds of sockets by energy --------------------------------------------------------------------


def report_efficiency(efficiency: Efficiency) -> Report:
    """The sockets side by side, and the most efficient."""
    best, moved = efficiency.best, ALL if efficiency.transfer else DATA
    waits = ALL if any(item.energy.capped_runtime > item.energy.runtime for item in efficiency.devices) else DATA
    heads = (
        Column("socket"),
        Column("runtime", unit="s", get="energy.runtime", quantity=True),
        Column("under caps", unit="s", key="capped_runtime", get="energy.capped_runtime", quantity=True, media=waits),
        Column("transfer", unit="s", key="transfer_time", quantity=True, media=moved),
        Column("energy", unit="J", get="energy.value", media=TEXT),
        Column("with transfer", unit="J", get="value", media=TEXT if efficiency.transfer else ()),
        Column("energy", unit="J", get="value", quantity=True, media=DATA),
        Column("transfer energy", unit="J", quantity=True, media=DATA),
        Column("power", unit="W", get="energy.power", quantity=True),
        Column("edp", unit="J*s", get=lambda device: device.value * device.time, quantity=True, media=DATA),
        Column("the best saves", "share", get=lambda it: None if it is best else efficiency.benefit(it), media=TEXT),
        Column("best saves", get=efficiency.benefit, media=DATA),
    )
    data = {
        "application": {"name": efficiency.comparison.case.application.name},
        "machine": efficiency.machine.name,
        "kernel": efficiency.comparison.case.kernel,
        "options": {name: getattr(efficiency.options, name) for name in type(efficiency.options)._fields},
        "most_efficient": best.socket,
    }
    devices = make_table(
        heads, efficiency.devices, "devices", marked=frozenset([efficiency.devices.index(best)]), sparse=True
    )
    where = f"{efficiency.comparison.case.application.name} on {efficiency.machine.name}"
    headline = f"{where}: {best.socket} consumes least, {make_formatter('J')(best.value)}"
    return Report("socket_energy/1", headline, data, (devices, Paragraph(f"model: {charges_in_words(best.energy)}")))


register_report(Efficiency, report_efficiency)


def six_digits(value: float) -> str:
    return f"{value:.6g}"


KERNELS = (
    Column("kernel", key="name"),
    Column("socket"),
    Column("calls", six_digits, "right"),
    Column("time", unit="s", quantity=True),
    Column("moved for it", unit="B", get=lambda item: item.volume or None, media=TEXT),
    Column("in", unit="s", get=lambda item: item.transfer if item.volume else None, media=TEXT),
    Column("moved", unit="B", get="volume", quantity=True, media=DATA),
    Column("transfer", unit="s", quantity=True, media=DATA),
)
MOVES = (
    Column("data"),
    Column("from", get="source"),
    Column("to", get="destination"),
    Column("times", six_digits, "right"),
    Column("volume", unit="B", quantity=True),
    Column("in", unit="s", key="time", get="seconds", quantity=True),
)
BESIDE = (Column("placement"), Column("runtime", unit="s"), Column("times this", "ratio"), Column("because"))


def report_placement(placement: Placement) -> Report:
    """The answer, where each kernel runs, what moves, and what the run takes on one kind of socket alone."""
    search = placement.search
    data = {
        "application": placement.application.name,
        "machine": placement.machine.name,
        "kernel": placement.kernel,
        "runtime": Amount(placement.runtime, "s"),
        "transfer": Amount(placement.transfer, "s"),
        "hidden": Amount(placement.hidden, "s"),
        "search": search and {"method": search.method, "proven": search.proven, "tried": search.tried},
        "alternatives": [_alternative_as_data(socket, found) for socket, found in placement.alternatives.items()],
    }
    parts = (
        Paragraph(_describe_search(placement)),
        make_table(KERNELS, placement.kernels, "kernels"),
        make_table(MOVES, placement.moves, "transfers", title="transfers", media=TEXT + JSON),
        _alternatives_table(placement),
    )
    where = f"{placement.application.name} on {placement.machine.name}"
    warnings = tuple(placement.diagnostics)
    uncapped = " without power caps" if any(item.code == POWER_CAP for item in warnings) else ""
    headline = f"{where}: {placement.kernel} takes {seconds(placement.runtime)}{uncapped}"
    return Report("placement/1", headline, data, parts, warnings)


register_report(Placement, report_placement)


def _alternative_as_data(socket: str, found: Any) -> dict[str, Any]:
    if isinstance(found, float):
        return {"socket": socket, "runtime": Amount(found, "s"), "reason": None}
    return {"socket": socket, "runtime": None, "reason": found.message}


def _describe_search(placement: Placement) -> str:
    """The search of the placement in words, and what moving data and overlap contribute."""
    search = placement.search
    text = ""
    if search is not None:
        priced = f"{search.method}, {search.tried} {'step' if search.tried == 1 else 'steps'} priced"
        text = f"the fastest that was found ({priced}), perhaps not the fastest of all; "
        if search.proven:
            text = f"the fastest of all placements ({priced}); "
    moving = f"transfers take {seconds(placement.transfer)}" if placement.moves else "nothing is moved"
    hidden = f"; branches that overlap save {seconds(placement.hidden)}" if placement.hidden > 0 else ""
    return f"{text}{moving}{hidden}"


def _alternatives_table(placement: Placement) -> Table:
    rows: list[tuple[Any, ...]] = [("this", placement.runtime, 1.0, None)]
    for socket, found in placement.alternatives.items():
        if isinstance(found, float):
            ratio = found / placement.runtime if placement.runtime else None
            rows.append((f"all on {socket}", found, ratio, None))
        else:
            rows.append((f"all on {socket}", None, None, found.message))
    return Table(BESIDE, tuple(rows), frozenset({0}), title="beside it", media=TEXT, sparse=True)
