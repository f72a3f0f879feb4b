"""Placements as a report."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.placement.placement import Placement
from aspenpy.tables.numbers import Amount, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import DATA, JSON, TEXT, Column, Paragraph, Report, Table, table


def _times(value: float) -> str:
    return f"{value:.6g}"


KERNELS = (
    Column("kernel", key="name"),
    Column("socket"),
    Column("calls", _times, "right"),
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
    Column("times", _times, "right"),
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
        "alternatives": [_alternative(socket, found) for socket, found in placement.alternatives.items()],
    }
    parts = (
        Paragraph(_summary(placement)),
        table(KERNELS, placement.kernels, "kernels"),
        table(MOVES, placement.moves, "transfers", title="transfers", media=TEXT + JSON),
        _beside(placement),
    )
    where = f"{placement.application.name} on {placement.machine.name}"
    headline = f"{where}: {placement.kernel} takes {seconds(placement.runtime)}"
    return Report(headline, data, parts, tuple(placement.diagnostics))


register_report(Placement, report_placement)


def _alternative(socket: str, found: Any) -> dict[str, Any]:
    if isinstance(found, float):
        return {"socket": socket, "runtime": Amount(found, "s"), "reason": None}
    return {"socket": socket, "runtime": None, "reason": found.message}


def _summary(placement: Placement) -> str:
    """How it was found, and what moving data and overlap are of the whole."""
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


def _beside(placement: Placement) -> Table:
    rows: list[tuple[Any, ...]] = [("this", placement.runtime, 1.0, None)]
    for socket, found in placement.alternatives.items():
        if isinstance(found, float):
            ratio = found / placement.runtime if placement.runtime else None
            rows.append((f"all on {socket}", found, ratio, None))
        else:
            rows.append((f"all on {socket}", None, None, found.message))
    return Table(BESIDE, tuple(rows), frozenset({0}), title="beside it", media=TEXT, sparse=True)
