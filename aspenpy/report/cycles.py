"""Cycles of loops as reports: the execution-cache-memory model of blocks, and what OSACA says of assembly."""

from __future__ import annotations

from math import ceil

from aspenpy.answers.ecm import Ecm, EcmBlock, Term, short
from aspenpy.answers.incore import InCore
from aspenpy.tables.numbers import Amount, count, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Report, Table, columns, facts, table


def report_ecm(ecm: Ecm) -> Report:
    """Block by block: the notation, what each term is, and how many cores saturate the memory."""
    prediction = ecm.prediction
    shown = (facts(_facts(block), title=_heading(block)) for block in ecm.blocks)
    where = f"{prediction.application.name} on {prediction.machine.name}"
    data = {"runtime": Amount(prediction.runtime, "s")}
    parts = (*shown, blocks(ecm, media=JSON), blocks(ecm, media=CSV))
    headline = (
        f"{where}: execution-cache-memory model, one core, cycles a cache line; {seconds(prediction.runtime)} in all"
    )
    return Report(headline, data, parts, ecm.diagnostics)


register_report(Ecm, report_ecm)


def blocks(ecm: Ecm, media: tuple[str, ...]) -> Table:
    """A row a block."""
    terms = Column("terms", get=lambda block: [_term(term) for term in block.terms], media=JSON)
    heads = (
        *columns("kernel block"),
        Column("iterations", "count"),
        Column("ecm", get="notation"),
        Column("one core", short, align="right", key="cycles"),
        Column("saturated by", _cores, align="right", key="cores"),
        *((Column("overlapping"), terms, Column("available")) if media == JSON else ()),
    )
    return table(heads, ecm.blocks, "ecm" if media == JSON else "", media=media)


def _term(term: Term) -> dict[str, object]:
    return {name: getattr(term, name) for name in ("symbol", "component", "cycles", "serial")}


def _facts(block: EcmBlock) -> list[tuple[str, str]]:
    rows = [
        ("a line of work", f"{count(block.iterations)} iterations"),
        ("cycles", f"{block.notation} = {short(block.cycles)}"),
        ("T_OL", f"{short(block.overlapping)}: the core computes, beside all else"),
    ]
    for term in block.terms:
        told = "adds up with the other serial levels" if term.serial else "overlaps"
        rows.append((term.symbol, f"{short(term.cycles)}: {term.component}, {told}"))
    if block.cores is not None:
        rows.append(("memory", f"saturated by {_cores(block.cores)} of {count(block.available)} cores"))
    return rows


def _heading(block: EcmBlock) -> str:
    return f'{block.kernel}, "{block.block}"' if block.block else block.kernel


def _cores(cores: float | None) -> str:
    """Whole cores; a rounding error asks for no more."""
    return "-" if cores is None else count(ceil(cores * (1 - 1e-9)))


# -- loops in a core -------------------------------------------------------------------------------


def report_incore(found: InCore) -> Report:
    """Cycles of an iteration, by port and by dependence, and the application that says the same."""
    rows = [
        ("ports", f"{found.ports:g} cycles of the busiest"),
        ("loop-carried dependence", f"{found.loop_carried:g} cycles from one iteration to the next"),
        ("critical path", f"{found.critical_path:g} cycles from begin to end"),
        ("an iteration takes", f"{found.cycles:g} cycles, bound by {_bound(found)}"),
    ]
    busy = [port for port in found.pressure if port[1]]
    heads = (
        Column("port", get=lambda port: port[0]),
        Column("cycles", "ratio", get=lambda port: port[1], align="right"),
    )
    operations = (*columns("name precision simd amount"),)
    data = {
        "architecture": found.architecture,
        "osaca": found.version,
        "ports": found.ports,
        "loop_carried": found.loop_carried,
        "critical_path": found.critical_path,
        "cycles": found.cycles,
        "pressure": dict(found.pressure),
        "aspen": found.to_aspen(),
    }
    parts = (
        facts(rows),
        table(heads, busy, title="cycles of an iteration", media=(*TEXT, *CSV)),
        table(operations, found.operations, "operations", media=JSON),
    )
    return Report(f"{found.name} on {found.architecture}, by OSACA {found.version}", data, parts, found.diagnostics)


register_report(InCore, report_incore)


def _bound(found: InCore) -> str:
    return "its ports" if found.ports >= found.loop_carried else "the dependence"
