"""An Energy as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.dimensions import readable
from aspenpy.present.numbers import Amount, amount, count, plain, quantity, seconds, share
from aspenpy.present.page import Page, Part, Title
from aspenpy.present.table import Column, Table
from aspenpy.source import Span

if TYPE_CHECKING:
    from aspenpy.energy.account import Energy, KernelEnergy, TermUse
    from aspenpy.energy.cap import Capped
    from aspenpy.energy.hardware import HardwarePeak
    from aspenpy.energy.limits import Verdict
    from aspenpy.energy.optimum import Optimum
    from aspenpy.energy.term import Key

joules = quantity("J")
watts = quantity("W")

HARDWARE = (
    Column("at most, as"),
    Column("of a socket", amount, "unit"),
    Column("draws", watts, "unit"),
    Column("for a joule", amount, "unit"),
    Column("component", wrapped=True),
)
KERNELS = (
    Column("kernel"),
    Column("calls", count, "right"),
    Column("a call", joules, "unit"),
    Column("energy", joules, "unit"),
    Column("share", share, "right"),
    Column("time", seconds, "unit"),
    Column("power", watts, "unit"),
)
TERMS = (
    Column("component"),
    Column("for"),
    Column("rate", amount, "unit"),
    Column("times", amount, "unit"),
    Column("energy", joules, "unit"),
    Column("share", share, "right"),
    Column("equation"),
    Column("from", wrapped=True),
)
RECORDS = tuple(
    map(Column, ("application", "machine", "socket", "kernel", "component", "for", "metric", "value", "unit"))
)
"""Of the CSV form: one value a row, in its base unit."""


# -- as a page -------------------------------------------------------------------------------------


def page(
    energy: Energy,
    hardware: Sequence[HardwarePeak] = (),
    verdicts: Sequence[Verdict] = (),
    best: Optimum | None = None,
    cap: Capped | None = None,
) -> Page:
    """The energy, the hardware's peaks, the kernels, the terms."""
    parts: list[Part] = [Title(_heading(energy)), _facts(energy, verdicts, best, cap)]
    if hardware:
        parts.append(_hardware(hardware))
    return (*parts, _kernels(energy), _terms(energy))


def _heading(energy: Energy) -> str:
    found = energy.prediction
    where = f"{found.application.name} on {found.machine.name}"
    return f"{where}: {found.kernel} draws {joules(energy.value)} in {seconds(energy.runtime)}"


def _facts(energy: Energy, verdicts: Sequence[Verdict], best: Optimum | None, cap: Capped | None) -> Table:
    facts = {
        "socket": energy.prediction.socket or "none",
        "power": "none, it takes no time" if energy.power is None else f"{watts(energy.power)} on average",
        "energy x time": f"{energy.edp:.6g} J s",
        "energy x time^2": f"{energy.ed2p:.6g} J s^2",
        "counted": counted(energy),
    }
    if energy.left_out:
        facts["left out"] = f"power of {', '.join(energy.left_out)}"
    if cap is not None:
        facts["capped"] = _capped(cap)
    facts |= {verdict.limit: _verdict(verdict) for verdict in verdicts}
    if best is not None:
        facts["least"] = f"{joules(best.value)} at {best.parameter} = {best.at:.10g}"
    return Table((Column(""), Column("", wrapped=True)), tuple(facts.items()))


def counted(energy: Energy) -> str:
    """By which law and options, in the words of the command line."""
    options = energy.options
    more = [name for name, on in (("active cores", options.active_cores), ("uncore", options.uncore)) if on]
    return ", ".join([f"{options.law}, charging {options.charged}, messages by {options.nic}", *more])


def _capped(cap: Capped) -> str:
    if cap.clock == cap.declared:
        return f"{watts(cap.cap)} hold: a socket draws at most {watts(cap.power)} at {readable(cap.clock, 'Hz')}"
    lowered = f"from {readable(cap.declared, 'Hz')} to {readable(cap.clock, 'Hz')}"
    return f"clock lowered {lowered}, so that a socket draws {watts(cap.cap)} and not {watts(cap.uncapped)}"


def _verdict(verdict: Verdict) -> str:
    allowed, drawn = (readable(value, verdict.unit) for value in (verdict.allowed, verdict.drawn))
    apart = readable(abs(verdict.left), verdict.unit)
    relative = f"{abs(verdict.left) / verdict.allowed:.1%}".replace("%", " %")
    by = f" (kernel {verdict.of})" if verdict.of else ""
    if verdict.holds:
        return f"{allowed} holds: {drawn}{by}, {apart} or {relative} are left"
    return f"{allowed} does not hold: {drawn}{by}, {apart} or {relative} too much"


def _hardware(hardware: Sequence[HardwarePeak]) -> Table:
    rows = tuple(
        (
            f"{', '.join(peak.resources)}: {', '.join(peak.traits) or 'plain'}",
            Amount(peak.rate, f"{peak.unit}/s"),
            peak.power,
            None if peak.per_joule is None else Amount(peak.per_joule, f"{peak.unit}/J"),
            peak.component,
        )
        for peak in hardware
    )
    return Table(HARDWARE, rows, title="the hardware at its peak")


def _kernels(energy: Energy) -> Table:
    """With several components, a column for each."""
    names = list(energy.components) if len(energy.kernels) > 1 and len(energy.components) > 1 else []
    columns = (*KERNELS, *(Column(name, joules, "unit") for name in names))
    rows = tuple((*_kernel(energy, kernel), *(_of(kernel, name) for name in names)) for kernel in energy.kernels)
    most = max(range(len(rows)), key=lambda place: energy.kernels[place].energy)
    return Table(columns, rows, frozenset([most]))


def _kernel(energy: Energy, kernel: KernelEnergy) -> tuple[Any, ...]:
    part = kernel.energy / energy.value if energy.value else 0.0
    return kernel.name, kernel.calls, kernel.per_call, kernel.energy, part, kernel.time, kernel.power


def _of(kernel: KernelEnergy, component: str) -> float:
    return sum(worth for key, worth in kernel.by_term.items() if key.component == component)


def _terms(energy: Energy) -> Table:
    rows = tuple(_term(energy, use) for use in energy.terms)
    return Table(TERMS, rows, title="what draws it")


def _term(energy: Energy, use: TermUse) -> tuple[Any, ...]:
    part = use.energy / energy.value if energy.value else 0.0
    if use.term is None or use.rate is None or use.amount is None:
        return use.key.component, use.key.cause, None, None, use.energy, part, None, None
    rate, times = Amount(use.rate, use.term.unit), Amount(use.amount, use.term.amount_unit)
    return use.key.component, use.key.cause, rate, times, use.energy, part, use.term.equation, place(use.term.span)


def place(span: Span | None) -> str | None:
    """`file.aspen:12`, by the last part of the file's name."""
    if span is None:
        return None
    return f"{span.resolve().source.name.replace(chr(92), '/').rpartition('/')[2]}:{span.position()[0]}"


# -- as data ---------------------------------------------------------------------------------------


def as_json(
    energy: Energy,
    hardware: Sequence[HardwarePeak] = (),
    verdicts: Sequence[Verdict] = (),
    best: Optimum | None = None,
    cap: Capped | None = None,
) -> dict[str, Any]:
    """One object; joules, watts, seconds, and products of them."""
    found = energy.prediction
    options = {name: getattr(energy.options, name) for name in type(energy.options)._fields}
    return {
        "machine": found.machine.name,
        "socket": found.socket,
        "kernel": found.kernel,
        "options": options,
        "hardware": [_peak_object(peak) for peak in hardware],
        "application": {
            "name": found.application.name,
            "energy": _quantity(energy.value, "J"),
            "runtime": _quantity(energy.runtime, "s"),
            "power": _quantity(energy.power, "W"),
            "edp": _quantity(energy.edp, "J*s"),
            "ed2p": _quantity(energy.ed2p, "J*s^2"),
        },
        "kernels": [_kernel_object(energy, kernel) for kernel in energy.kernels],
        "components": {name: _quantity(worth, "J") for name, worth in energy.components.items()},
        "terms": [_term_object(energy, use) for use in energy.terms],
        "left_out": list(energy.left_out),
        "limits": [_verdict_object(verdict) for verdict in verdicts],
        "optimum": None if best is None else {name: getattr(best, name) for name in type(best)._fields},
        "cap": None if cap is None else _cap_object(cap),
        "diagnostics": [diagnostic.to_json() for diagnostic in found.diagnostics],
    }


def _quantity(value: float | None, unit: str) -> dict[str, Any]:
    return {"value": value, "unit": unit}


def _peak_object(peak: HardwarePeak) -> dict[str, Any]:
    return {
        "resources": list(peak.resources),
        "traits": list(peak.traits),
        "rate": _quantity(peak.rate, f"{peak.unit}/s"),
        "power": _quantity(peak.power, "W"),
        "per_joule": _quantity(peak.per_joule, f"{peak.unit}/J"),
        "component": peak.component,
    }


def _kernel_object(energy: Energy, kernel: KernelEnergy) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "calls": kernel.calls,
        "energy": _quantity(kernel.per_call, "J"),
        "total_energy": _quantity(kernel.energy, "J"),
        "time": _quantity(kernel.time, "s"),
        "power": _quantity(kernel.power, "W"),
        "components": {name: _quantity(_of(kernel, name), "J") for name in energy.components},
    }


def _term_object(energy: Energy, use: TermUse) -> dict[str, Any]:
    found: dict[str, Any] = {"component": use.key.component, "for": use.key.cause, "energy": _quantity(use.energy, "J")}
    if use.term is not None:
        span = use.term.span
        found |= {
            "rate": _quantity(use.rate, use.term.unit),
            "amount": _quantity(use.amount, use.term.amount_unit),
            "equation": use.term.equation,
            "formula": formula(energy, use.key),
            "file": None if span is None else span.resolve().source.name,
            "line": None if span is None else span.position()[0],
        }
    return found


def formula(energy: Energy, key: Key) -> str:
    """A term's joules in the symbols of the models, as text; a long one ends with an ellipsis."""
    from aspenpy.expr.printer import excerpt

    return excerpt(energy.totals.by_term[key], LONGEST_FORMULA)


LONGEST_FORMULA = 2000
"""Characters of a formula."""


def _verdict_object(verdict: Verdict) -> dict[str, Any]:
    return {
        "limit": verdict.limit,
        "holds": verdict.holds,
        "allowed": _quantity(verdict.allowed, verdict.unit),
        "drawn": _quantity(verdict.drawn, verdict.unit),
        "left": _quantity(verdict.left, verdict.unit),
        "kernel": verdict.of,
    }


def _cap_object(cap: Capped) -> dict[str, Any]:
    return {
        "cap": _quantity(cap.cap, "W"),
        "parameter": cap.parameter,
        "declared_clock": _quantity(cap.declared, "Hz"),
        "clock": _quantity(cap.clock, "Hz"),
        "uncapped_power": _quantity(cap.uncapped, "W"),
        "power": _quantity(cap.power, "W"),
    }


def records(energy: Energy) -> Table:
    """Rows of `RECORDS`: of the application, of its kernels, of its kernels' terms."""
    found = energy.prediction
    where = (found.application.name, found.machine.name, found.socket)
    rows: list[tuple[Any, ...]] = []

    def add(kernel: str | None, key: tuple[str | None, str | None], name: str, value: Any, unit: str) -> None:
        rows.append((*where, kernel, *key, name, plain(value), unit))

    whole = (None, None)
    for name, value, unit in (
        ("energy", energy.value, "J"),
        ("runtime", energy.runtime, "s"),
        ("power", energy.power, "W"),
        ("edp", energy.edp, "J*s"),
        ("ed2p", energy.ed2p, "J*s^2"),
    ):
        add(None, whole, name, value, unit)
    for kernel in energy.kernels:
        add(kernel.name, whole, "calls", kernel.calls, "")
        add(kernel.name, whole, "energy", kernel.energy, "J")
        add(kernel.name, whole, "time", kernel.time, "s")
        add(kernel.name, whole, "power", kernel.power, "W")
        for key, worth in kernel.by_term.items():
            add(kernel.name, (key.component, key.cause), "energy", worth, "J")
    return Table(RECORDS, tuple(rows))
