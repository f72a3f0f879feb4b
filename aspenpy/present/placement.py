"""Placements as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import Amount, amount, seconds
from aspenpy.present.numbers import plain as plain_number
from aspenpy.present.page import Page, Paragraph, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.diagnostics import Diagnostic
    from aspenpy.placement.placement import Placement

KERNELS = (
    Column("kernel"),
    Column("socket"),
    Column("calls", lambda calls: f"{calls:.6g}", "right"),
    Column("time", seconds, "unit"),
    Column("moved for it", amount, "unit"),
    Column("in", seconds, "unit"),
)
MOVES = (
    Column("data"),
    Column("from"),
    Column("to"),
    Column("times", lambda times: f"{times:.6g}", "right"),
    Column("volume", amount, "unit"),
    Column("in", seconds, "unit"),
)
BESIDE = (
    Column("placement"),
    Column("runtime", seconds, "unit"),
    Column("times this", lambda ratio: f"{ratio:.3g}", "right"),
    Column("because"),
)
RECORDS = tuple(map(Column, ("kernel", "socket", "calls", "time_s", "moved_bytes", "transfer_s")))
"""Of the CSV form: a row for each kernel."""


def page(placement: Placement) -> Page:
    """The answer, where each kernel runs, what moves, and what the run takes on one kind of socket alone."""
    parts = [Title(heading(placement)), Paragraph(summary(placement)), _kernels(placement)]
    return (*parts, *((_moves(placement),) if placement.moves else ()), _beside(placement))


def heading(placement: Placement) -> str:
    where = f"{placement.application.name} on {placement.machine.name}"
    return f"{where}: {placement.kernel} takes {seconds(placement.runtime)}"


def summary(placement: Placement) -> str:
    """How it was found, and what moving data and overlap are of the whole."""
    search = placement.search
    found = ""
    if search is not None:
        priced = f"{search.method}, {search.tried} {'step' if search.tried == 1 else 'steps'} priced"
        found = (
            f"the fastest of all placements ({priced}); "
            if search.proven
            else (f"the fastest that was found ({priced}), perhaps not the fastest of all; ")
        )
    moving = f"transfers take {seconds(placement.transfer)}" if placement.moves else "nothing is moved"
    hidden = f"; branches that overlap save {seconds(placement.hidden)}" if placement.hidden > 0 else ""
    return f"{found}{moving}{hidden}"


def _kernels(placement: Placement) -> Table:
    rows = tuple(
        (item.name, item.socket, item.calls, item.time, *_moved(item.volume, item.transfer))
        for item in placement.kernels
    )
    return Table(KERNELS, rows)


def _moved(volume: float, time: float) -> tuple[Amount | None, float | None]:
    return (Amount(volume, "B"), time) if volume else (None, None)


def _moves(placement: Placement) -> Table:
    rows = tuple(
        (move.data, move.source, move.destination, move.times, Amount(move.volume, "B"), move.seconds)
        for move in placement.moves
    )
    return Table(MOVES, rows, title="transfers")


def _beside(placement: Placement) -> Table:
    rows: list[tuple[Any, ...]] = [("this", placement.runtime, 1.0, None)]
    for socket, found in placement.alternatives.items():
        name = f"all on {socket}"
        if isinstance(found, float):
            ratio = found / placement.runtime if placement.runtime else None
            rows.append((name, found, ratio, None))
        else:
            rows.append((name, None, None, found.message))
    columns = BESIDE if any(row[-1] for row in rows) else BESIDE[:-1]
    return Table(columns, tuple(row[: len(columns)] for row in rows), frozenset({0}), title="beside it")


def as_json(placement: Placement) -> dict[str, Any]:
    """One object, numbers in base units."""
    search = placement.search
    return {
        "application": placement.application.name,
        "machine": placement.machine.name,
        "kernel": placement.kernel,
        "runtime": _seconds(placement.runtime),
        "transfer": _seconds(placement.transfer),
        "hidden": _seconds(placement.hidden),
        "search": search and {"method": search.method, "proven": search.proven, "tried": search.tried},
        "kernels": [
            {
                "name": item.name,
                "socket": item.socket,
                "calls": plain_number(item.calls),
                "time": _seconds(item.time),
                "moved": _bytes(item.volume),
                "transfer": _seconds(item.transfer),
            }
            for item in placement.kernels
        ],
        "transfers": [
            {
                "data": move.data,
                "from": move.source,
                "to": move.destination,
                "times": plain_number(move.times),
                "volume": _bytes(move.volume),
                "time": _seconds(move.seconds),
            }
            for move in placement.moves
        ],
        "alternatives": [_alternative(socket, found) for socket, found in placement.alternatives.items()],
        "diagnostics": [item.to_json() for item in placement.diagnostics],
    }


def _alternative(socket: str, found: float | Diagnostic) -> dict[str, Any]:
    if isinstance(found, float):
        return {"socket": socket, "runtime": _seconds(found), "reason": None}
    return {"socket": socket, "runtime": None, "reason": found.message}


def _bytes(value: float) -> dict[str, Any]:
    return {"value": value, "unit": "B"}


def _seconds(value: float) -> dict[str, Any]:
    return {"value": value, "unit": "s"}


def records(placement: Placement) -> Table:
    """Rows of `RECORDS`."""
    rows = tuple(
        (item.name, item.socket, item.calls, item.time, item.volume, item.transfer) for item in placement.kernels
    )
    return Table(RECORDS, rows)
