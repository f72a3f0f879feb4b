"""Sweep: metrics at many points.

study = make_study(case, over)  # cases, values along the axes, and each metric as a formula of the axes
run = Run(study)                # the formulas as programs, and what runs them
result = compute(run)           # the points, stretch by stretch
report = result.report()        # the extremes, where they are, and the points without a value
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any, Unpack, cast

from aspenpy.allowance import MEMORY, one_allowance, separate_allowance
from aspenpy.answers.case import Case, CaseOptions, split_options
from aspenpy.language.axis import parse_axis
from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.sweeps.grid import Layout, make_study
from aspenpy.sweeps.result import SweepResult, SweepSummary
from aspenpy.sweeps.run import StudyRun
from aspenpy.sweeps.store import Store


class SweepOptions(CaseOptions, total=False):
    """Options of `sweep` besides the axes and metrics."""

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
    `samples`, that number of points is scattered over the axes by a `method`: sobol (if nothing is said), latin or
    uniform. `yes` allows more points than anybody waits for. The other options are those of `Case`.

    An `xarray.Dataset` where xarray is installed, else a `SweepResult`: one variable per metric, one dimension per
    axis. Where a point has no value it is NaN, and the coordinate `reason` says why by a code; with `fail_fast` it is
    an error. A `backend` is auto (if nothing is said), numpy, llvm or c, on a number of `cores`, and keeps at most
    `memory` bytes of results. With a `client`, a `distributed.Client`, the workers of its cluster compute.

    :returns: an `xarray.Dataset` or a `SweepResult`: an array for each metric with a dimension for each axis, in
        base units (seconds, flop, B)
    :raises AspenError: for an axis or a metric that is unknown, and for more points than `memory` holds
    """
    case, own = split_options(app, machine, options)
    running = {name: own.pop(name) for name in ("backend", "cores", "client") if name in own}
    layout = Layout(**own, memory=memory)
    axes = {name: parse_axis(f"{name}={axis}") if isinstance(axis, str) else axis for name, axis in over.items()}
    study = make_study(case, axes, layout, metrics=[metric] if isinstance(metric, str) else metric)
    with separate_allowance(math.inf) if layout.yes else nullcontext():
        result = compute_in_memory(
            StudyRun(study, processes=False, memory=memory, **running), memory, fail_fast=fail_fast
        )
    return result.to_xarray() if find_spec("xarray") else result


def compute(
    run: StudyRun,
    memory: int = MEMORY,
    *,
    store: Store | None = None,
    fail_fast: bool = False,
    seen: Callable[[int], None] = lambda points: None,
) -> SweepResult | SweepSummary:
    """All points of a run, kept in a `store` if there is one; `seen` is told of each stretch how many points it has.
    Points whose results take more than `memory` bytes are only summarised."""
    result = SweepResult(run.study) if run.study.result_bytes <= memory else SweepSummary(run.study)
    if store is not None:
        stretches = store.fill(run, fail_fast=fail_fast)
    else:
        into = result.all_values if isinstance(result, SweepResult) else None
        stretches = run.stretches(fail_fast=fail_fast, into=into)
    for stretch in stretches:
        result.add(stretch)
        seen(stretch.values.shape[1])
    if store is not None:
        store.finish()
    return result


def compute_in_memory(run: StudyRun, memory: int = MEMORY, *, fail_fast: bool = False) -> SweepResult:
    """All points of a run. Raises AspenError where the results would take more than `memory` bytes."""
    needed = run.study.result_bytes
    if needed > memory:
        sizes = f"{format_quantity(needed, 'B')} of results, and {format_quantity(memory, 'B')} may be used"
        hint = "allow more memory, or let the results go to a Parquet file"
        fail("too-large", f"{run.study.points:,} points are {sizes}", hint=hint)
    return cast(SweepResult, compute(run, memory, fail_fast=fail_fast))
