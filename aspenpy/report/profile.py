"""A Profile as a report, and as a file for speedscope."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from aspenpy.answers.evaluation import KernelUse
from aspenpy.answers.profile import Profile
from aspenpy.tables.numbers import Amount, seconds
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Report, Table, columns, table

ARCS = (*columns("caller callee"), Column("arguments", get=lambda arc: list(arc.arguments)), Column("calls"))
LONG = (
    *columns("kind caller kernel arguments calls"),
    *columns("inclusive exclusive", unit="s"),
    *columns("share bound_by"),
)
"""Of the CSV form: a row for each kernel and, with the call graph, for each call in it."""

SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


def report(profile: Profile, *, calls: bool = False) -> Report:
    """The flat profile, the most expensive kernel first; with `calls`, who calls whom, too."""
    prediction = profile.prediction
    data = {
        "application": prediction.application.name,
        "machine": prediction.machine.name,
        "socket": prediction.socket,
        "kernel": prediction.kernel,
        "runtime": Amount(profile.runtime, "s"),
    }
    heads = (
        Column("name"),
        Column("arguments", get=lambda kernel: list(profile.arguments[kernel.name])),
        Column("calls"),
        *columns("inclusive exclusive", unit="s"),
        *columns("share bound_by"),
    )
    parts = (
        _flat(profile),
        *(_calls(profile) if calls else ()),
        table(heads, profile.kernels, "kernels", media=JSON),
        table((*ARCS, Column("time", unit="s")), profile.arcs, "calls", media=JSON),
        _long(profile, calls),
    )
    where = f"{prediction.application.name} on {prediction.machine.name}"
    headline = f"{where}: {prediction.kernel} takes {seconds(profile.runtime)}"
    return Report(headline, data, parts, tuple(prediction.diagnostics))


def _flat(profile: Profile) -> Table:
    ran = sorted(_ran(profile), key=lambda kernel: -kernel.exclusive)
    cumulative = dict(zip((kernel.name for kernel in ran), accumulate(kernel.share for kernel in ran), strict=True))
    heads = (
        Column("share", "share"),
        Column("cumulative", "share", get=lambda kernel: cumulative[kernel.name]),
        Column("exclusive", unit="s"),
        Column("inclusive", unit="s"),
        Column("calls", "count"),
        Column("exclusive/call", unit="s", get=lambda kernel: kernel.exclusive / kernel.calls),
        Column("inclusive/call", unit="s", get=lambda kernel: kernel.inclusive / kernel.calls),
        Column("bound by"),
        Column("kernel", get=lambda kernel: called(kernel.name, profile.arguments[kernel.name])),
    )
    return table(heads, ran, marked=frozenset([0]), media=TEXT)


def _ran(profile: Profile) -> list[KernelUse]:
    """A kernel in a branch that is not taken did not run."""
    return [kernel for kernel in profile.kernels if kernel.calls]


def called(name: str, arguments: Iterable[str]) -> str:
    """`solve(n, 2*k)`; the name alone where it takes nothing."""
    listed = ", ".join(arguments)
    return f"{name}({listed})" if listed else name


def _calls(profile: Profile) -> list[Table]:
    """A table a kernel: its callers, itself, what it calls."""
    taken = [arc for arc in profile.arcs if arc.calls]
    heads = (
        Column(""),
        Column("calls", "count"),
        Column("time", unit="s"),
        Column("of runtime", "share"),
        Column("kernel", wrapped=True),
    )

    def row(role: str, calls: float, time: float, kernel: str) -> tuple[Any, ...]:
        return role, calls, time, time / profile.runtime if profile.runtime else 0.0, kernel

    tables = []
    for kernel in _ran(profile):
        name = kernel.name
        callers = [row("from", arc.calls, arc.time, arc.caller) for arc in taken if arc.callee == name]
        own = [
            row("all", kernel.calls, kernel.inclusive, called(name, profile.arguments[name])),
            row("own", kernel.calls, kernel.exclusive, "in its own blocks"),
        ]
        callees = [
            row("to", arc.calls, arc.time, called(arc.callee, arc.arguments)) for arc in taken if arc.caller == name
        ]
        rows = (*callers, *own, *callees)
        tables.append(Table(heads, rows, frozenset([len(callers)]), title=name, media=TEXT))
    return tables


def _long(profile: Profile, calls: bool) -> Table:
    """A call has no exclusive time of its own."""
    rows: list[tuple[Any, ...]] = [
        (
            "kernel",
            None,
            it.name,
            profile.arguments[it.name],
            it.calls,
            it.inclusive,
            it.exclusive,
            it.share,
            it.bound_by,
        )
        for it in profile.kernels
    ]
    if calls:
        rows += [
            ("call", arc.caller, arc.callee, arc.arguments, arc.calls, arc.time, None, None, None)
            for arc in profile.arcs
        ]
    return Table(LONG, tuple(rows), media=CSV)


def as_speedscope(profile: Profile) -> dict[str, Any]:
    """A sampled profile in the file format of www.speedscope.app: each call path is a sample that weighs as many
    seconds as are spent in the blocks at its end."""
    prediction = profile.prediction
    spent = [use for use in profile.paths if use.exclusive > 0]
    names = list(dict.fromkeys(name for use in spent for name in use.path))
    number = {name: place for place, name in enumerate(names)}
    weights = [use.exclusive for use in spent]
    return {
        "$schema": SPEEDSCOPE,
        "name": f"{prediction.application.name} on {prediction.machine.name}",
        "exporter": "aspenpy",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in names]},
        "profiles": [
            {
                "type": "sampled",
                "name": prediction.kernel,
                "unit": "seconds",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": [[number[name] for name in use.path] for use in spent],
                "weights": weights,
            }
        ],
    }
