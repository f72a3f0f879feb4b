"""A Scaling as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import count, quantity, seconds, share
from aspenpy.present.page import Page, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.explore.scaling import Point, Scaling

CALLS = 3
"""Calls that are named for a number of ranks, those that take longest."""


def page(scaling: Scaling) -> Page:
    """Each number of ranks, the fastest, and the calls that talk."""
    return (Title(heading(scaling)), _facts(scaling), _points(scaling))


def heading(scaling: Scaling) -> str:
    prediction = scaling.prediction
    return f"{scaling.mode} scaling of {prediction.application.name} on {prediction.machine.name}"


def _facts(scaling: Scaling) -> Table:
    first, last = scaling.ranks[0], scaling.ranks[-1]
    fastest = scaling.fastest
    rows = [("ranks", f"`{scaling.parameter}` from {count(first)} to {count(last)}")]
    if scaling.mode == "weak":
        product = " * ".join(scaling.problem)
        rows.append(("problem", f"{product} grows with the ranks"))
    if scaling.mode == "strong":
        more = "; more of them take longer" if scaling.turns else ""
        rows.append(("fastest", f"{_ranks(fastest.ranks)}, {seconds(fastest.time)}{more}"))
    if scaling.calls:
        rows.append(("calls", f"{', '.join(scaling.calls)}: the longest first, on {_ranks(last)}"))
    return Table((Column(""), Column("", wrapped=True)), tuple(rows))


def _ranks(number: int) -> str:
    return "1 rank" if number == 1 else f"{count(number)} ranks"


def _points(scaling: Scaling) -> Table:
    asked = scaling.isoefficiency
    growth = () if asked is None else (Column(f"problem for {share(asked)}", _times, "right"),)
    columns = (
        Column("ranks", count, "right"),
        Column("time", seconds, "unit"),
        Column("speedup", _short, "right"),
        Column("efficiency", share, "right"),
        Column("communication", share, "right"),
        *growth,
        *(() if scaling.energy is None else (Column("energy", quantity("J"), "unit"),)),
        Column("longest calls", wrapped=True),
    )
    rows = tuple(
        (
            point.ranks,
            point.time,
            point.speedup,
            point.efficiency,
            point.share,
            *(() if asked is None else (point.growth,)),
            *(() if scaling.energy is None else (point.energy,)),
            _calls(point),
        )
        for point in scaling.points
    )
    fastest = frozenset(place for place, point in enumerate(scaling.points) if point.ranks == scaling.fastest.ranks)
    return Table(columns, rows, fastest if scaling.mode == "strong" else frozenset())


def _calls(point: Point) -> str | None:
    return ", ".join(f"{name} {seconds(time)}" for name, time in point.calls[:CALLS]) or None


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def _times(value: float) -> str:
    return f"x {value:,.4g}" if value < 1e6 else f"x {value:.3g}"


def as_json(scaling: Scaling) -> dict[str, Any]:
    """One object, times in seconds."""
    prediction = scaling.prediction
    return {
        "application": prediction.application.name,
        "machine": prediction.machine.name,
        "socket": prediction.socket,
        "kernel": prediction.kernel,
        "mode": scaling.mode,
        "parameter": scaling.parameter,
        "problem": list(scaling.problem),
        "isoefficiency": scaling.isoefficiency,
        "optimal_ranks": scaling.fastest.ranks,
        "optimal_time": scaling.fastest.time,
        "turns": scaling.turns,
        "dominant_calls": list(scaling.calls),
        "points": [_object(point) for point in scaling.points],
        "diagnostics": [diagnostic.to_json() for diagnostic in prediction.diagnostics],
    }


def _object(point: Point) -> dict[str, Any]:
    return {
        "ranks": point.ranks,
        "time": point.time,
        "speedup": point.speedup,
        "efficiency": point.efficiency,
        "communication": point.communication,
        "communication_share": point.share,
        "calls": dict(point.calls),
        "problem_growth": point.growth,
        "energy": point.energy,
    }


def records(scaling: Scaling) -> Table:
    """A row for each number of ranks, a column for each call."""
    names = ("ranks", "time", "speedup", "efficiency", "communication", "problem growth", "energy", *scaling.calls)
    rows = []
    for point in scaling.points:
        calls = dict(point.calls)
        own = (
            point.ranks,
            point.time,
            point.speedup,
            point.efficiency,
            point.communication,
            point.growth,
            point.energy,
        )
        rows.append((*own, *(calls.get(name, 0.0) for name in scaling.calls)))
    return Table(tuple(map(Column, names)), tuple(rows))
