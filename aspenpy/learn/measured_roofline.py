"""Measured kernels on the roofs of a machine, beside the points of the model (Williams, Waterman and Patterson, CACM
52(4), 2009): their share of the roof, what bounds them, and what to do first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aspenpy.answers.ceilings import COMPUTE, Ceiling
from aspenpy.answers.roofline import Roofline
from aspenpy.answers.roofline_points import RooflinePoint
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.learn.measured_kernels import MeasuredKernel, match_kernels, read_kernels
from aspenpy.learn.measurements.sheet import Data
from aspenpy.record import Record
from aspenpy.tables.result import Result

AT_THE_ROOF = 0.8
"""The share of its roof from which on a kernel is at it: a choice, no law."""

SURE = 1.02
"""The share above which a point is above its roof, beyond what clocks and counters are wrong by."""

APART = 1.25
"""The factor from which on two counts, or two times, are told apart."""


class MeasuredPoint(Record):
    """A measured region on the roofs. `kernel` is the model's kernel of it, `time` what was measured (s), `predicted`
    the model's time (s). What was not counted is the model's: `of_model` names it. `roof` are the flops a second that
    the ceilings of flops and of memory leave at its intensity, `bound_by` the lower of the two."""

    name: str
    kernel: str | None
    time: float | None
    predicted: float | None
    flops: float | None
    volume: float | None
    of_model: tuple[str, ...]
    roof: float | None
    bound_by: str
    advice: str = ""

    @property
    def intensity(self) -> float | None:
        return self.flops / self.volume if self.flops and self.volume else None

    @property
    def rate(self) -> float | None:
        """Flops a second, as measured."""
        return self.flops / self.time if self.flops and self.time else None

    @property
    def share(self) -> float | None:
        """The part of the roof that was reached."""
        return self.rate / self.roof if self.rate and self.roof else None


class MeasuredRoofline(Record, Result):
    """The roofs of a machine with the points of models, and measured ones beside them, the longest first."""

    roofline: Roofline
    measured: tuple[MeasuredPoint, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def measured_roofline(roofline: Roofline, files: Iterable[Data], kernels: Mapping[str, str]) -> MeasuredRoofline:
    """Puts the regions of files on the roofs. A region belongs to the kernel that `kernels` states, or that has its
    name; a run without a region to the application. Raises AspenError."""
    read = read_kernels(files)
    applications = {point.application for point in roofline.points}
    points: dict[str, RooflinePoint] = {}
    for point in sorted(roofline.points, key=lambda point: point.kernel is None):  # a kernel before its namesake
        short = point.kernel or point.application
        if len(applications) == 1:
            points.setdefault(short, point)
        points.setdefault(point.name, point)
    names = [item.name for item in read.kernels]
    matched, notes = match_kernels(names, list(points), kernels)
    whole = next(iter(roofline.points), None) if len(applications) == 1 else None
    known = points if whole is None else points | {"": whole}
    made = [_place_on_roofs(item, known.get(matched.get(item.name, item.name)), roofline) for item in read.kernels]
    made.sort(key=lambda point: -(point.time or 0.0))
    return MeasuredRoofline(roofline, tuple(made), (*read.diagnostics, *notes))


def _place_on_roofs(item: MeasuredKernel, point: RooflinePoint | None, roofline: Roofline) -> MeasuredPoint:
    flops, volume = item.flops, item.volume
    of_model = []
    if point is not None and flops is None and item.time is not None:
        flops, of_model = point.flops, ["flops"]
    if point is not None and volume is None and flops is not None:
        volume = flops * point.volume / point.flops
        of_model.append("bytes")
    roof, bound_by = _find_roof(flops, volume, point, roofline)
    measured_point = MeasuredPoint(
        name=item.name or (point.name if point else "the run"),
        kernel=None if point is None else _name_of(point, roofline),
        time=item.time,
        predicted=None if point is None else point.time,
        flops=flops,
        volume=volume,
        of_model=tuple(of_model),
        roof=roof,
        bound_by=bound_by,
    )
    return measured_point.replace(advice=_advise(measured_point, item, point, roofline))


def _name_of(point: RooflinePoint, roofline: Roofline) -> str:
    """The kernel's name, with that of its application where there are several."""
    alone = all(other.application == point.application for other in roofline.points)
    return point.kernel or point.name if alone else point.name


def _find_roof(
    flops: float | None, volume: float | None, point: RooflinePoint | None, roofline: Roofline
) -> tuple[float | None, str]:
    """The lower of the two ceilings at an intensity, and its name."""
    if not flops:
        return None, ""
    compute = point.compute_roof if point is not None else _highest(roofline, roofline.compute)
    bus = (point.bus_roof if point is not None else None) or _highest(roofline, roofline.memory)
    on_bus = bus * flops / volume if bus and volume else None
    if on_bus is None or compute <= on_bus:
        return compute, COMPUTE
    return on_bus, roofline.memory[0].component if roofline.memory else "memory"


def _highest(roofline: Roofline, ceilings: Iterable[Ceiling]) -> float:
    return max((roofline.at_work(ceiling).rate for ceiling in ceilings), default=0.0)


# -- what to do first ------------------------------------------------------------------------------


def _advise(
    measured_point: MeasuredPoint, item: MeasuredKernel, point: RooflinePoint | None, roofline: Roofline
) -> str:
    """One sentence: the first of these findings that holds."""
    share = measured_point.share
    if share is None:
        missing = (
            "measure its time"
            if measured_point.time is None
            else "count flops and bytes, or name its kernel with --map"
        )
        return f"no point yet: {missing}"
    if share > SURE:
        return "above its roof: check the counts, what runs (--set, ranks), and the machine's bandwidth and clock"
    if point is not None and item.volume and item.volume > APART * point.volume > 0:
        return (
            f"moves {item.volume / point.volume:.2g} times the model's bytes: block for caches, avoid write-allocates"
        )
    if point is not None and item.flops and item.flops > APART * point.flops:
        return f"does {item.flops / point.flops:.2g} times the model's flops: look for work that is done twice"
    in_flops = measured_point.bound_by == COMPUTE
    if share >= AT_THE_ROOF:
        return (
            _raise_roof(measured_point, roofline)
            if in_flops
            else "at the memory's roof: move fewer bytes (fuse loops, block)"
        )
    if (
        point is not None
        and measured_point.time
        and point.time * APART > measured_point.time
        and point.bottleneck not in (None, COMPUTE)
    ):
        return f"slow as predicted, by {point.bottleneck}: see `aspenpy explain`"
    if in_flops:
        return "below the roof of flops: check that it is vectorised, and for chains of dependent operations"
    return "below the memory's roof: check the threads and their placement, prefetching, strides and load balance"


def _raise_roof(measured_point: MeasuredPoint, roofline: Roofline) -> str:
    """Advice for a kernel that has reached its roof of flops."""
    best = max(roofline.compute, key=lambda ceiling: roofline.at_work(ceiling).rate)
    times = roofline.at_work(best).rate / (measured_point.roof or 1.0)
    if times < APART:
        return "at the machine's roof: do fewer flops, or in a lower precision"
    return f"at its roof of flops: as {', '.join(best.traits) or 'plain'} that is {times:.2g} times as high"
