"""A Profile as a page, as JSON, as rows of CSV, and as a file for speedscope."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import count, seconds, share
from aspenpy.present.page import Page, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.analysis.profile import Arc, Profile
    from aspenpy.prediction import KernelUse

FLAT = (
    Column("share", share, "right"),
    Column("cumulative", share, "right"),
    Column("exclusive", seconds, "unit"),
    Column("inclusive", seconds, "unit"),
    Column("calls", count, "right"),
    Column("exclusive/call", seconds, "unit"),
    Column("inclusive/call", seconds, "unit"),
    Column("waits for"),
    Column("kernel"),
)
CALLS = (
    Column(""),
    Column("calls", count, "right"),
    Column("time", seconds, "unit"),
    Column("of runtime", share, "right"),
    Column("kernel", wrapped=True),
)
RECORDS = tuple(
    map(Column, ("kind", "caller", "kernel", "arguments", "calls", "inclusive", "exclusive", "share", "waits for"))
)
"""Of the CSV form: a row for each kernel and, with the call graph, for each call in it; times in seconds."""

SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


# -- as a page -------------------------------------------------------------------------------------


def page(profile: Profile, *, calls: bool = False) -> Page:
    """The flat profile, the most expensive kernel first; with `calls`, who calls whom, too."""
    prediction = profile.prediction
    where = f"{prediction.application.name} on {prediction.machine.name}"
    title = Title(f"{where}: {prediction.kernel} takes {seconds(profile.runtime)}")
    return (title, _flat(profile), *(_calls(profile) if calls else ()))


def _flat(profile: Profile) -> Table:
    ran = sorted(_ran(profile), key=lambda kernel: -kernel.exclusive)
    cumulative = accumulate(kernel.share for kernel in ran)
    rows = tuple(
        (
            kernel.share,
            so_far,
            kernel.exclusive,
            kernel.inclusive,
            kernel.calls,
            kernel.exclusive / kernel.calls,
            kernel.inclusive / kernel.calls,
            kernel.bound_by,
            _head(profile, kernel.name),
        )
        for kernel, so_far in zip(ran, cumulative, strict=True)
    )
    return Table(FLAT, rows, frozenset([0]))


def _ran(profile: Profile) -> list[KernelUse]:
    """A kernel in a branch that is not taken did not run."""
    return [kernel for kernel in profile.kernels if kernel.calls]


def _head(profile: Profile, name: str) -> str:
    return called(name, profile.arguments[name])


def called(name: str, arguments: Iterable[str]) -> str:
    """`solve(n, 2*k)`; the name alone where it takes nothing."""
    listed = ", ".join(arguments)
    return f"{name}({listed})" if listed else name


def _calls(profile: Profile) -> list[Table]:
    """A table a kernel: its callers, itself, what it calls."""
    taken = [arc for arc in profile.arcs if arc.calls]

    def row(role: str, calls: float, time: float, kernel: str) -> tuple[Any, ...]:
        return role, calls, time, time / profile.runtime if profile.runtime else 0.0, kernel

    tables = []
    for kernel in _ran(profile):
        callers = [row("from", arc.calls, arc.time, arc.caller) for arc in taken if arc.callee == kernel.name]
        own = [
            row("all", kernel.calls, kernel.inclusive, _head(profile, kernel.name)),
            row("own", kernel.calls, kernel.exclusive, "in its own blocks"),
        ]
        callees = [
            row("to", arc.calls, arc.time, called(arc.callee, arc.arguments))
            for arc in taken
            if arc.caller == kernel.name
        ]
        tables.append(Table(CALLS, (*callers, *own, *callees), frozenset([len(callers)]), title=kernel.name))
    return tables


# -- as data ---------------------------------------------------------------------------------------


def as_json(profile: Profile) -> dict[str, Any]:
    """One object; times in seconds over the whole run."""
    prediction = profile.prediction
    return {
        "application": prediction.application.name,
        "machine": prediction.machine.name,
        "socket": prediction.socket,
        "kernel": prediction.kernel,
        "runtime": {"value": profile.runtime, "unit": "s"},
        "kernels": [
            {
                "name": kernel.name,
                "arguments": list(profile.arguments[kernel.name]),
                **{field: getattr(kernel, field) for field in ("calls", "inclusive", "exclusive", "share", "bound_by")},
            }
            for kernel in profile.kernels
        ],
        "calls": [_arc(arc) for arc in profile.arcs],
        "diagnostics": [diagnostic.to_json() for diagnostic in prediction.diagnostics],
    }


def _arc(arc: Arc) -> dict[str, Any]:
    return {
        "caller": arc.caller,
        "callee": arc.callee,
        "arguments": list(arc.arguments),
        "calls": arc.calls,
        "time": arc.time,
    }


def records(profile: Profile, *, calls: bool = False) -> Table:
    """Rows of `RECORDS`. A call has no exclusive time of its own."""
    rows: list[tuple[Any, ...]] = [
        (
            "kernel",
            None,
            kernel.name,
            ", ".join(profile.arguments[kernel.name]),
            kernel.calls,
            kernel.inclusive,
            kernel.exclusive,
            kernel.share,
            kernel.bound_by,
        )
        for kernel in profile.kernels
    ]
    if calls:
        rows += [
            ("call", arc.caller, arc.callee, ", ".join(arc.arguments), arc.calls, arc.time, None, None, None)
            for arc in profile.arcs
        ]
    return Table(RECORDS, tuple(rows))


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
