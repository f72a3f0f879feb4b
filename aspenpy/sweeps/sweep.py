"""Sweep: a metric at many points, from Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any, Unpack

from aspenpy.allowance import MEMORY, one_allowance, separate_allowance
from aspenpy.answers.case import Case, CaseOptions
from aspenpy.language.axis import parse_axis
from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.result import InMemory, SweepResult
from aspenpy.sweeps.run import Run
from aspenpy.sweeps.study import Study


class SweepOptions(CaseOptions, total=False):
    """What `sweep` takes besides the axes and metrics."""

    zip: Sequence[Sequence[str]]
    samples: int | None
    method: str
    yes: bool
    backend: str
    cores: int | None
    client: Any


@one_allowance
def sweep(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    over: Mapping[str, Any],
    metric: str | Sequence[str] = "runtime",
    memory: int = MEMORY,
    fail_fast: bool = False,
    **options: Unpack[SweepOptions],
) -> Any:
    """Metrics at all points of a grid, in double precision.

    `over` names what is swept: parameters with their values (an array, or a text such as `"1k..1M:log:200"`), and
    `app`, `machine`, `socket` and `kernel` with lists of them. Axes of one group of `zip` go side by side. With
    `samples`, so many points are scattered over the axes by a `method`: sobol (if nothing is said), latin or uniform.
    `yes` allows more points than anybody waits for. The other options are those of `Case`.

    An `xarray.Dataset` where xarray is installed, else a `SweepResult`: a variable a metric, one dimension an axis.
    Where a point has no value it is NaN, and the coordinate `reason` says why by a code; with `fail_fast` it is an
    error. A `backend` is auto (if nothing is said), numpy, llvm or c, on so many `cores`, and keeps so many bytes of
    results in `memory`. With a `client`, a `distributed.Client`, the workers of its cluster compute.

    :returns: an `xarray.Dataset` or a `SweepResult`: an array for each metric with a dimension for each axis, in
        base units (seconds, flop, B)
    :raises AspenError: for an axis or a metric that is unknown, and for more points than `memory` holds
    """
    running: dict[str, Any] = {name: options.pop(name) for name in ("backend", "cores", "client") if name in options}
    axes = {name: parse_axis(f"{name}={axis}") if isinstance(axis, str) else axis for name, axis in over.items()}
    study = make_study(
        app, machine, axes, metrics=[metric] if isinstance(metric, str) else metric, memory=memory, **options
    )
    with separate_allowance(math.inf) if options.get("yes") else nullcontext():
        result = compute_in_memory(Run(study, processes=False, memory=memory, **running), memory, fail_fast=fail_fast)
    return result.to_xarray() if find_spec("xarray") else result


def compute_in_memory(
    run: Run, memory: int = MEMORY, *, fail_fast: bool = False, seen: Callable[[int], None] | None = None
) -> SweepResult:
    """All of a run in memory; `seen` is told of each stretch how many points it has.

    Raises AspenError where the results would take more than so many bytes.
    """
    study = run.study
    needed = result_bytes(study)
    if needed > memory:
        sizes = f"{format_quantity(needed, 'B')} of results, and {format_quantity(memory, 'B')} may be used"
        hint = "allow more memory, or let the results go to a Parquet file"
        fail("too-large", f"{study.points:,} points are {sizes}", hint=hint)
    kept = InMemory(study)
    for stretch in run.stretches(fail_fast=fail_fast, into=kept.values):
        kept.add(stretch)
        if seen is not None:
            seen(stretch.values.shape[1])
    return kept.result()


def result_bytes(study: Study) -> int:
    """A float64 a metric and a byte for the reason, at each point, and a float64 for each value of an axis."""
    axes = sum(len(values) for _, values in study.columns.values())
    return 8 * axes + study.points * (8 * len(study.metrics) + 1)
