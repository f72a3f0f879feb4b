"""An Energy as a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.answers.energy.account import Energy, KernelEnergy, TermUse, Verdict
from aspenpy.answers.energy.cap import Capped
from aspenpy.answers.energy.cap_warning import CODE
from aspenpy.answers.energy.hardware import HardwarePeak
from aspenpy.answers.energy.metered import Metered, find_metered
from aspenpy.answers.energy.optimum import MetricOptimum
from aspenpy.answers.energy.term import Key
from aspenpy.answers.energy.voltage import Voltage
from aspenpy.answers.evaluation import ENERGY_UNITS
from aspenpy.answers.expected_error import expected_error, with_watts
from aspenpy.expr.printer import shorten_text
from aspenpy.language.diagnostics import Diagnostic, drop_repeats
from aspenpy.language.dimensions import format_quantity
from aspenpy.language.source import Span
from aspenpy.models.units import unit_of_parameter
from aspenpy.report.intervals import interval_as_data, interval_rows
from aspenpy.report.prediction_data import ranks_as_data
from aspenpy.tables.drawing import EDGE, FILLS, INK, drop_middle, label_axis, set_title, use_shared_style
from aspenpy.tables.numbers import Amount, format_expected, format_setting_with_unit, make_formatter, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Report, Table, make_columns, make_facts, make_table

joules, watts = make_formatter("J"), make_formatter("W")

LONGEST_TERM = 40  # characters of the name of a term beside a picture
LONGEST_FORMULA = 2000  # characters of a formula; a long one ends with an ellipsis

HARDWARE = (
    Column("resources", media=JSON),
    Column("traits", media=JSON),
    Column("at most, as", get=lambda it: f"{', '.join(it.resources)}: {', '.join(it.traits) or 'plain'}", media=TEXT),
    Column("of a socket", "amount", key="rate", get=lambda it: Amount(it.rate, f"{it.unit}/s")),
    Column("power", unit="W", quantity=True),
    Column(
        "for a joule",
        "amount",
        key="per_joule",
        get=lambda it: None if it.per_joule is None else Amount(it.per_joule, f"{it.unit}/J"),
    ),
    Column("component", wrapped=True),
)
LIMITS = (
    Column("limit"),
    Column("holds"),
    Column("allowed", get=lambda verdict: Amount(verdict.allowed, verdict.unit)),
    Column("drawn", get=lambda verdict: Amount(verdict.drawn, verdict.unit)),
    Column("left", get=lambda verdict: Amount(verdict.left, verdict.unit)),
    Column("kernel", get="of"),
)
LONG = make_columns("application machine socket kernel component for metric value unit", media=CSV)
"""One value a row, in its base unit."""

KERNEL_FIGURES = (
    Column("calls", "count"),
    Column("energy", unit="J", key="total_energy", get="energy", quantity=True),
    Column("time", unit="s", quantity=True),
    Column("power", unit="W", quantity=True),
)
"""Figures of a kernel in text and JSON; in CSV each is a row, whose metric is the header."""

METRIC_NAMES = {"capped_runtime": "runtime under the cap", "power": "power", "edp": "EDP", "ed2p": "ED2P"}
UNIT_NAMES = {"edp": "J s", "ed2p": "J s^2"}
"""Units of products of energy and time, as they are written."""


def report_energy(
    energy: Energy,
    *,
    hardware: Sequence[HardwarePeak] = (),
    verdicts: Sequence[Verdict] = (),
    best: MetricOptimum | None = None,
    cap: Capped | None = None,
    warnings: Sequence[Diagnostic] = (),
    voltage: Voltage | None = None,
    interval: bool = True,
) -> Report:
    """The energy and the `interval` to expect of it, the hardware's peaks, the kernels, the terms; `warnings` are told
    with those of the prediction, the `voltage` is that at a clock that was found."""
    prediction, metered = energy.prediction, find_metered(energy)
    data: dict[str, Any] = {
        "machine": prediction.machine.name,
        "socket": prediction.socket,
        "kernel": prediction.kernel,
        **ranks_as_data(prediction),
        "options": {name: getattr(energy.options, name) for name in type(energy.options)._fields},
        "application": {"name": prediction.application.name, **_totals(energy)},
        "components": {name: Amount(total, "J") for name, total in energy.components.items()},
        "occupied": _numbers(energy, "idle") if energy.options.law == "responding" else {},
        "metered": {name: getattr(metered, name) for name in Metered._fields},
        "left_out": energy.left_out,
        "optimum": best
        and _optimum_as_data(best, unit_of_parameter(best.parameter, prediction.application, prediction.machine)),
        "cap": cap and _cap_as_data(cap),
        "voltage": voltage and {name: getattr(voltage, name) for name in type(voltage)._fields},
    }
    facts = _list_facts(energy, verdicts, best, cap) | _describe_voltage(voltage)
    if interval and energy.options.law == "responding":
        expected = with_watts(expected_error(prediction))
        data["expected"] = interval_as_data(expected, energy.value)
        facts |= dict(interval_rows(expected, energy.value, "J"))
    parts = (
        make_facts(facts.items()),
        make_table(HARDWARE, hardware, "hardware", title="the hardware at its peak", media=TEXT + JSON),
        _kernels_table(energy),
        _terms_table(energy),
        make_table(LIMITS, verdicts, "limits", media=JSON),
        _long_table(energy),
    )
    average = "" if energy.power is None else f" ({watts(energy.power)} on average)"
    warnings = [item for item in (*prediction.diagnostics, *warnings) if item.code != CODE]  # it is in the facts
    consumed = f"{joules(energy.value)} in {seconds(energy.capped_runtime)}{average}"
    headline = f"{prediction.where}: {prediction.kernel} consumes {consumed}"
    return Report("energy/1", headline, data, parts, tuple(drop_repeats(warnings)))


register_report(Energy, report_energy)


def _totals(energy: Energy) -> dict[str, Amount]:
    units = {"value": "J", "runtime": "s", "capped_runtime": "s", "power": "W", "edp": "J*s", "ed2p": "J*s^2"}
    return {{"value": "energy"}.get(name, name): Amount(getattr(energy, name), unit) for name, unit in units.items()}


def _list_facts(
    energy: Energy, verdicts: Sequence[Verdict], best: MetricOptimum | None, cap: Capped | None
) -> dict[str, str]:
    facts_by_name = {
        "socket": energy.prediction.socket or "none",
        "energy-delay product (EDP)": f"{energy.edp:.6g} J s",
        "energy-delay^2 product (ED2P)": f"{energy.ed2p:.6g} J s^2",
        "model": charges_in_words(energy),
    }
    if energy.options.law == "responding" and energy.capped_runtime:
        facts_by_name["charged"] = _parts_at_work(energy)
    facts_by_name["metered"] = _describe_metered(energy)
    if energy.left_out:
        facts_by_name["left out"] = f"power of {', '.join(energy.left_out)}"
    if cap is not None:
        facts_by_name["capped"] = _cap_in_words(cap)
    if sum(energy.waiting.values()) > 0:
        facts_by_name["power cap reached"] = _describe_waiting(energy)
    facts_by_name |= {verdict.limit: _describe_verdict(verdict) for verdict in verdicts}
    if best is not None:
        unit = unit_of_parameter(best.parameter, energy.prediction.application, energy.prediction.machine)
        written = UNIT_NAMES.get(best.metric)
        value = f"{best.value:.6g} {written}" if written else make_formatter(ENERGY_UNITS[best.metric])(best.value)
        least = f"{value} at {best.parameter} = {format_setting_with_unit(Amount(best.at, unit))}"
        name = "least" if best.metric == "energy" else f"least {METRIC_NAMES[best.metric]}"
        facts_by_name[name] = least if best.proved else f"{least}, searched on a grid"
    return facts_by_name


LAWS = {
    "responding": "power that responds to cores, clocks and traffic",
    "aeem": "AEEM (dissertation eq. 3.2-3.9)",
    "roofline": "energy roofline",
}
CHARGED = {
    "socket": "One socket is charged",
    "cores_used": "All sockets with work are charged",
    "nodes_used": "All sockets with work and idle partners on their nodes are charged",
    "machine": "The whole machine is charged",
}
MESSAGES = {
    "eq3.8": "network cards by volume (eq. 3.8)",
    "single_nic": "one network card for the time of its messages",
    "all_nics": "all network cards while messages last",
}
"""What the options say, in words."""


def charges_in_words(energy: Energy) -> str:
    """The law and the options by which the energy is counted, in words."""
    options = energy.options
    more = [name for name, on in (("active cores", options.active_cores), ("uncore", options.uncore)) if on]
    added = f"; added: {', '.join(more)}" if more else ""
    return f"{LAWS[options.law]}. {CHARGED[options.charged]}, and {MESSAGES[options.nic]}{added}"


def _describe_metered(energy: Energy) -> str:
    """Parts of the machine that a meter of this energy feeds, and whether the Green500 takes such a meter."""
    metered = find_metered(energy)
    parts = [name for name in ("nodes", "network", "storage") if getattr(metered, name)]
    held = f"sockets and memories, {', '.join(parts)}" if parts else "sockets and memories alone"
    at = "before supplies" if metered.supplies else "behind regulators and supplies"
    level = "" if metered.nodes and metered.supplies else "; less than the Green500 asks for"
    if not level:
        level = ", as the Green500 asks at levels 2 and 3" if metered.network else ", as the Green500 asks at level 1"
    return f"{held}, {at}{level}"


def _parts_at_work(energy: Energy) -> str:
    """The parts that work and those idle beside them, counted on average over the run."""
    working, idle = (
        ", ".join(f"{format_expected(number)} {name}" for name, number in _numbers(energy, cause).items() if number)
        for cause in ("idle", "idle partners")
    )
    return f"at work: {working}; idle beside: {idle}" if idle else f"at work: {working}"


def _numbers(energy: Energy, cause: str) -> dict[str, float]:
    """Mean number of each component that consume the power of a cause at once; of memories their sockets are
    counted."""
    uses = [use for use in energy.terms if use.key.cause == cause and energy.capped_runtime]
    return {use.key.component: (use.amount or 0.0) / energy.capped_runtime for use in uses}


def _describe_waiting(energy: Energy) -> str:
    """Words for how much the cap makes the run longer, and in which kernels."""
    names = [name for name, wait in energy.waiting.items() if wait > 0]
    listed = names[0] if len(names) == 1 else f"{len(names)} kernels"
    capped, alone = seconds(energy.capped_runtime), seconds(energy.runtime)
    slower = f"the run takes {capped} and not {alone}"
    if capped == alone:
        slower = f"the run takes {seconds(energy.capped_runtime - energy.runtime)} longer"
    return f"{listed} slowed down, {slower}; with --throttle the clock is lowered instead"


def _cap_in_words(cap: Capped) -> str:
    if cap.clock == cap.declared:
        return (
            f"{watts(cap.cap)} hold: a socket consumes at most {watts(cap.power)} at {format_quantity(cap.clock, 'Hz')}"
        )
    lowered = f"from {format_quantity(cap.declared, 'Hz')} to {format_quantity(cap.clock, 'Hz')}"
    if cap.power > cap.cap * (1 + 1e-9):
        return f"clock lowered {lowered}, the lowest, where a socket would still consume {watts(cap.power)}: it waits"
    return f"clock lowered {lowered}, so that a socket consumes {watts(cap.cap)} and not {watts(cap.uncapped)}"


def _describe_voltage(voltage: Voltage | None) -> dict[str, str]:
    if voltage is None:
        return {}
    lowest = ", the lowest" if voltage.is_floor else ""
    there = f"{voltage.value:.3g} of that for which power is stated{lowest}, at {format_quantity(voltage.clock, 'Hz')}"
    return {"voltage": f"{there}; the curve is {voltage.curve}"}


def _cap_as_data(cap: Capped) -> dict[str, Any]:
    return {
        "cap": Amount(cap.cap, "W"),
        "parameter": cap.parameter,
        "declared_clock": Amount(cap.declared, "Hz"),
        "clock": Amount(cap.clock, "Hz"),
        "uncapped_power": Amount(cap.uncapped, "W"),
        "power": Amount(cap.power, "W"),
    }


def _optimum_as_data(best: MetricOptimum, unit: str) -> dict[str, Any]:
    units = dict.fromkeys(("at", "low", "high"), unit) | dict.fromkeys(
        ("value", "value_low", "value_high"), ENERGY_UNITS[best.metric]
    )
    return {name: getattr(best, name) for name in type(best)._fields} | {"units": units}


def _describe_verdict(verdict: Verdict) -> str:
    allowed, drawn = (format_quantity(value, verdict.unit) for value in (verdict.allowed, verdict.drawn))
    apart = format_quantity(abs(verdict.left), verdict.unit)
    relative = f"{abs(verdict.left) / verdict.allowed:.1%}".replace("%", " %")
    by = f" (kernel {verdict.of})" if verdict.of else ""
    if verdict.holds:
        return f"{allowed} holds: {drawn}{by}, {apart} or {relative} are left"
    return f"{allowed} does not hold: {drawn}{by}, {apart} or {relative} too much"


def _kernels_table(energy: Energy) -> Table:
    """The energies of kernels; with several components, a column for each."""

    def make_column(name: str) -> Column:
        return Column(name, unit="J", get=lambda kernel: _energy_of(kernel, name), media=TEXT)

    several = len(energy.kernels) > 1 and len(energy.components) > 1
    calls, total, *others = KERNEL_FIGURES
    heads = (
        Column("kernel", key="name"),
        calls,
        Column("a call", unit="J", key="energy", get="per_call", quantity=True),
        total,
        Column("share", "share", get=lambda it: it.energy / energy.value if energy.value else 0.0),
        *others,
        Column(
            "components",
            get=lambda it: {name: Amount(_energy_of(it, name), "J") for name in energy.components},
            media=JSON,
        ),
        *(map(make_column, energy.components) if several else ()),
    )
    most = max(range(len(energy.kernels)), key=lambda place: energy.kernels[place].energy)
    return make_table(heads, energy.kernels, "kernels", marked=frozenset([most]), media=("text", "json"))


def _energy_of(kernel: KernelEnergy, component: str) -> float:
    return sum(energy for key, energy in kernel.by_term.items() if key.component == component)


def _terms_table(energy: Energy) -> Table:
    def rate(use: TermUse) -> Amount | None:
        return None if use.term is None or use.rate is None else Amount(use.rate, use.term.unit)

    def times(use: TermUse) -> Amount | None:
        return None if use.term is None or use.amount is None else Amount(use.amount, use.term.amount_unit)

    def formula(use: TermUse) -> str | None:
        return None if use.term is None else shorten_text(energy.totals.by_term[use.key], LONGEST_FORMULA)

    heads = (
        Column("component", get="key.component"),
        Column("for", get="key.cause"),
        Column("rate", "amount", get=rate),
        Column("times", "amount", key="amount", get=times),
        Column("energy", unit="J", quantity=True),
        Column("share", "share", get=lambda use: use.energy / energy.value if energy.value else 0.0),
        Column("equation", get=lambda use: use.term and use.term.equation),
        Column("from", get=lambda use: use.term and place(use.term.span), wrapped=True, media=TEXT),
        Column("formula", get=formula, media=JSON),
        Column("file", get=lambda use: _place(use)[0], media=JSON),
        Column("line", get=lambda use: _place(use)[1], media=JSON),
    )
    return make_table(heads, energy.terms, "terms", title="what consumes it", media=("text", "json"))


def _place(use: TermUse) -> tuple[str | None, int | None]:
    span = None if use.term is None else use.term.span
    return (None, None) if span is None else (span.resolve().source.name, span.position()[0])


def place(span: Span | None) -> str | None:
    """`file.aspen:12`, by the last part of the file's name."""
    if span is None:
        return None
    return f"{span.resolve().source.name.replace(chr(92), '/').rpartition('/')[2]}:{span.position()[0]}"


def _long_table(energy: Energy) -> Table:
    """Energies of the application, of its kernels, and of its kernels' terms, one in a row."""
    prediction = energy.prediction
    where = (prediction.application.name, prediction.machine.name, prediction.socket)
    rows: list[tuple[Any, ...]] = [(*where, None, None, None, name, *total) for name, total in _totals(energy).items()]
    for kernel in energy.kernels:
        for figure in KERNEL_FIGURES:
            rows.append((*where, kernel.name, None, None, figure.header, figure.cell(kernel), figure.unit))
        rows += [
            (*where, kernel.name, key.component, key.cause, "energy", joules, "J")
            for key, joules in kernel.by_term.items()
        ]
    return Table(LONG, tuple(rows), media=CSV)


# -- as a picture ----------------------------------------------------------------------------------


BY_CAUSE = {
    "idle": FILLS[0],
    "active cores": FILLS[1],
    "uncore": FILLS[2],
    "active": FILLS[3],
    "flops": FILLS[4],
    "bytes": FILLS[5],
    "messages": FILLS[7],
}
"""The same in all pictures; `dp flops` are flops, all that is not here has what is left."""
ANOTHER = "++"  # the hatch of a further component, or class of flops, with the same cause
LEAST_WIDTH = 0.015  # of the picture: narrower bars get no name
MOST_NAMED = 12  # kernels with a name, those that take longest
ACROSS = 5.4  # inches from the first kernel to the last
CHARACTER = 0.075  # inches of a character of a name above its bar


@use_shared_style
def draw(energy: Energy) -> Any:
    """A matplotlib figure: power over time, kernel after kernel, by term; the areas are energies."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.8), layout="constrained")
    axes = figure.add_subplot()
    kernels = [kernel for kernel in energy.kernels if kernel.time > 0]
    keys = [key for key in energy.totals.by_term if any(kernel.by_term.get(key) for kernel in kernels)]
    fills, named = _fills_of_terms(keys), _kernels_with_names(energy, kernels)
    start, numbered = 0.0, []
    for kernel in kernels:
        below = 0.0
        for key in keys:
            height = kernel.by_term.get(key, 0.0) / kernel.time
            axes.bar(start, height, kernel.time, below, align="edge", **EDGE, **fills[key])
            below += height
        if kernel in named:
            fits = CHARACTER * len(kernel.name) < ACROSS * kernel.time / energy.capped_runtime
            numbered += [] if fits else [kernel]
            _write_above(
                axes, kernel.name if fits else str(len(numbered)), start + kernel.time / 2, kernel.power or 0.0
            )
        start += kernel.time
    axes.set(xlim=(0, start or 1), xlabel="time, kernel after kernel")
    axes.set_ylim(0, 1.12 * max((kernel.power or 0.0 for kernel in kernels), default=1.0) or 1.0)
    axes.grid(visible=False)
    if energy.power is not None:
        axes.axhline(energy.power, color=INK, linewidth=1, linestyle="--")
    set_title(axes, f"{energy.prediction.where}: {joules(energy.value)} in {seconds(energy.capped_runtime)}")
    label_axis(axes.xaxis, "s")
    label_axis(axes.yaxis, "W")
    _draw_legend(axes, energy, fills, numbered)
    return figure


def _fills_of_terms(keys: list[Key]) -> dict[Key, dict[str, Any]]:
    fills: dict[Key, dict[str, Any]] = {}
    for key in keys:
        cause = "flops" if key.cause.endswith("flops") else key.cause
        fill = BY_CAUSE.get(cause, FILLS[6])
        fills[key] = fill | {"hatch": ANOTHER} if fill in fills.values() else fill
    return fills


def _kernels_with_names(energy: Energy, kernels: list[KernelEnergy]) -> list[KernelEnergy]:
    """The kernels that take longest, and the one with the highest power."""
    wide = [kernel for kernel in kernels if kernel.time > LEAST_WIDTH * energy.capped_runtime]
    peak = sorted(kernels, key=lambda kernel: -(kernel.power or 0.0))[:1]
    return [*peak, *(kernel for kernel in sorted(wide, key=lambda it: -it.time)[:MOST_NAMED] if kernel not in peak)]


def _write_above(axes: Any, text: str, x: float, y: float) -> None:
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    axes.annotate(text, (x, y), (0, 4), textcoords="offset points", ha="center", color=INK, bbox=ground)


def _draw_legend(axes: Any, energy: Energy, fills: dict[Key, dict[str, Any]], numbered: list[KernelEnergy]) -> None:
    """The terms in the order of their bars, with their joules; the average; kernels whose names are no place above."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    energies = {use.key: use.energy for use in energy.terms}
    handles: list[Any] = [
        Patch(
            label=f"{drop_middle(f'{key.component}, {key.cause}', LONGEST_TERM)}: {joules(energies[key])}",
            **EDGE,
            **fill,
        )
        for key, fill in reversed(fills.items())
    ]
    if energy.power is not None:
        handles.append(Line2D([], [], color=INK, linewidth=1, linestyle="--", label=f"average: {watts(energy.power)}"))
    handles += [
        Patch(alpha=0, label=f"{number}  {drop_middle(kernel.name)}: {watts(kernel.power or 0.0)}")
        for number, kernel in enumerate(numbered, 1)
    ]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.02), handlelength=1.4)
