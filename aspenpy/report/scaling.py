"""A Scaling as a report."""

from __future__ import annotations

from aspenpy.studies.explore.scaling import Point, Scaling
from aspenpy.tables.numbers import count, seconds, share
from aspenpy.tables.table import ALL, CSV, DATA, JSON, TEXT, Column, Report, Table, facts, table

CALLS = 3  # calls that are named for a number of ranks, those that take longest


def report(scaling: Scaling) -> Report:
    """Each number of ranks, the fastest, and the calls that talk."""
    prediction = scaling.prediction
    data = {
        "application": prediction.application.name,
        "machine": prediction.machine.name,
        "socket": prediction.socket,
        "kernel": prediction.kernel,
        **{name: getattr(scaling, name) for name in ("mode", "parameter", "problem", "isoefficiency")},
        "optimal_ranks": scaling.fastest.ranks,
        "optimal_time": scaling.fastest.time,
        "turns": scaling.turns,
        "dominant_calls": list(scaling.calls),
    }
    parts = (facts(_facts(scaling)), _points(scaling))
    return Report(heading(scaling), data, parts, tuple(prediction.diagnostics), {"optimal_time": "s"})


def heading(scaling: Scaling) -> str:
    prediction = scaling.prediction
    return f"{scaling.mode} scaling of {prediction.application.name} on {prediction.machine.name}"


def _facts(scaling: Scaling) -> list[tuple[str, str]]:
    first, last = scaling.ranks[0], scaling.ranks[-1]
    fastest = scaling.fastest
    rows = [("ranks", f"`{scaling.parameter}` from {count(first)} to {count(last)}")]
    if scaling.mode == "weak":
        rows.append(("problem", f"{' * '.join(scaling.problem)} grows with the ranks"))
    if scaling.mode == "strong":
        more = "; more of them take longer" if scaling.turns else ""
        rows.append(("fastest", f"{_ranks(fastest.ranks)}, {seconds(fastest.time)}{more}"))
    if scaling.calls:
        rows.append(("calls", f"{', '.join(scaling.calls)}: the longest first, on {_ranks(last)}"))
    return rows


def _ranks(number: int) -> str:
    return "1 rank" if number == 1 else f"{count(number)} ranks"


def _points(scaling: Scaling) -> Table:
    """In CSV a column for each call."""

    def call(name: str) -> Column:
        return Column(name, key=name, unit="s", get=lambda point: dict(point.calls).get(name, 0.0), media=CSV)

    asked = scaling.isoefficiency
    heads = (
        Column("ranks", "count"),
        Column("time", unit="s"),
        Column("speedup", _short, "right"),
        Column("efficiency", "share"),
        Column("communication", "share", get="share", media=TEXT),
        Column("communication", unit="s", media=DATA),
        Column("communication share", get="share", media=JSON),
        Column(
            f"problem for {share(asked or 0)}",
            _times,
            "right",
            key="problem_growth",
            get="growth",
            media=DATA if asked is None else ALL,
        ),
        Column("energy", unit="J", media=DATA if scaling.energy is None else ALL),
        Column("longest calls", get=_calls, wrapped=True, media=TEXT),
        Column("calls", get=lambda point: dict(point.calls), unit="s", media=JSON),
        *map(call, scaling.calls),
    )
    fastest = [place for place, point in enumerate(scaling.points) if point.ranks == scaling.fastest.ranks]
    return table(heads, scaling.points, "points", marked=frozenset(fastest if scaling.mode == "strong" else ()))


def _calls(point: Point) -> str | None:
    return ", ".join(f"{name} {seconds(time)}" for name, time in point.calls[:CALLS]) or None


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def _times(value: float) -> str:
    return f"x {value:,.4g}" if value < 1e6 else f"x {value:.3g}"
