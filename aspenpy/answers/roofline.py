"""Roofline: what a machine can do at most, by operational intensity, and where kernels stand below it.

After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009: a kernel
of I flops a byte does no more than min(peak, I * bandwidth). Ceilings are idealised: the time of large amounts, in
which latencies drop out, over all components, none of which is idle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions
from aspenpy.answers.ceilings import COMPUTE, Ceiling, cache_ceilings, compute_ceilings, file_ceilings, memory_ceilings
from aspenpy.answers.peaks import TENSOR, Peak, peaks
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.roofline_points import PLACED_BY, RooflinePoint, roofline_points
from aspenpy.answers.scope import Setting
from aspenpy.cost.cost import CostTree
from aspenpy.cost.instances import FILE_RESOURCES
from aspenpy.cost.sharing import sharing
from aspenpy.cost.target import choose_socket
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, fail, refuse_float_overflow
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import OWNER, Machine, Place
from aspenpy.tables.result import Result


class Roofline(Result):
    """The ceilings of a machine, and applications (or cases) below them; the options are those of `Case`. A setting
    holds for every model that has the name. Raises AspenError where the machine offers no flops."""

    def __init__(
        self, machine: Machine, apps: Iterable[Application | Case] = (), **options: Unpack[CaseOptions]
    ) -> None:
        self.machine = machine
        self.socket = choose_socket(machine, options.get("socket"))
        settings = dict(options.get("set") or {})
        plain: CaseOptions = {**options, "socket": self.socket, "set": None}
        cases = [
            app.changed(machine=machine, socket=self.socket) if isinstance(app, Case) else Case(app, machine, **plain)
            for app in apps
        ]
        self.settings = _settings_of_machine(machine, settings, bool(cases))
        self.predictions = [
            Prediction(case.with_set(known))
            for case, known in zip(cases, _share_settings(cases, settings), strict=True)
        ]
        if not self.compute:
            message = f"machine `{machine.name}` states no rate of `{COMPUTE}` that depends on the machine alone"
            fail("no-ceiling", message, machine.root.name_span, hint="a core offers `resource flops(n) [n/clock]`")

    @cached_property
    def _peaks(self) -> list[Peak]:
        return peaks(self.machine, self.socket, set=self.settings, everywhere=True)

    @cached_property
    def compute(self) -> tuple[Ceiling, ...]:
        """The ceilings of flops, each combination of traits; of units for products of matrices where an application
        asks for them."""
        blocks = (block for prediction in self.predictions for block in prediction.tree.blocks)
        asked = {trait.name for block in blocks for need in block.requirements for trait in need.traits}
        return compute_ceilings(peak for peak in self._peaks if not peak.is_tensor or TENSOR in asked)

    @cached_property
    def memory(self) -> tuple[Ceiling, ...]:
        """The bandwidths of memories; loads and stores that take turns at the same rate are one ceiling."""
        return memory_ceilings(self._peaks, self.machine, self.socket, self.settings)

    @cached_property
    def caches(self) -> tuple[Ceiling, ...]:
        """The bandwidths of caches, the nearest to the core first; caches without `bandwidth` have no ceiling."""
        return cache_ceilings(self.machine, self.socket, self.settings)

    @cached_property
    def files(self) -> tuple[Ceiling, ...]:
        """The bandwidths of file systems, where an application reads or writes files."""
        costs = (cost for prediction in self.predictions for cost in prediction.tree.requirements)
        asked = any(cost.requirement.resource in FILE_RESOURCES for cost in costs)
        return file_ceilings(self._peaks) if asked else ()

    @property
    def bandwidths(self) -> tuple[Ceiling, ...]:
        """All ceilings of bandwidth: caches, then memories."""
        return (*self.caches, *self.memory)

    @staticmethod
    def ridge(compute: Ceiling, memory: Ceiling) -> float:
        """The operational intensity, in flops a byte, from which on the memory is no longer what bounds."""
        return compute.rate / memory.rate

    def at_work(self, ceiling: Ceiling) -> Ceiling:
        """The ceiling of the components that the applications use, in the block that spreads widest, at the rate that
        the working cores draw. A cache is limited by the caches in front of it. Without applications, every component
        counts."""
        restricted = self._restrict_to_used(ceiling)
        inner = self.caches[: self.caches.index(ceiling)] if ceiling in self.caches else ()
        return restricted.replace(rate=min([restricted.rate, *(self._restrict_to_used(cache).rate for cache in inner)]))

    def _restrict_to_used(self, ceiling: Ceiling) -> Ceiling:
        parts = [_evaluate_taking_part(prediction, ceiling) for prediction in self.predictions]
        used = max((used for used, _ in parts), default=ceiling.count)
        drawn = max((drawn for _, drawn in parts), default=ceiling.count)
        if not ceiling.count or drawn >= ceiling.count:
            return ceiling
        part = drawn / ceiling.count
        peak = None if ceiling.peak is None else ceiling.peak * part
        return ceiling.replace(count=min(used, ceiling.count), rate=ceiling.rate * part, peak=peak)

    @cached_property
    def points(self) -> tuple[RooflinePoint, ...]:
        """Points of the applications, each followed by its kernels that do flops, the one that takes longest first."""
        return tuple(point for prediction in self.predictions for point in roofline_points(prediction))


@refuse_float_overflow
@one_allowance
def roofline(machine: Machine, apps: Iterable[Application | Case] = (), **options: Unpack[CaseOptions]) -> Roofline:
    """The ceilings of a machine, and `apps` (applications or cases) below them. A setting holds for all models that
    have the name; the options are those of `Case`.

    :returns: ceilings in flop/s and B/s, and a point for each application and kernel: flop/B, flop/s
    :raises AspenError: where the machine offers no flops, and as `predict`
    """
    return Roofline(machine, apps, **options)


def _evaluate_taking_part(prediction: Prediction, ceiling: Ceiling) -> tuple[float, float]:
    """Number of a ceiling's components that have work, and the number that would serve as much at their full rate; all
    of them where it is not known outside of loops."""
    tree = prediction.tree
    place = next((place for place in tree.machine.places(tree.socket) if place.path == ceiling.path), None)
    known = [] if place is None else count_participants(tree, place, ceiling.resources[0])
    values = prediction.scope.values_if_known([expr for pair in known for expr in pair], prediction.seed)
    numbers = [*map(float, values or ())]
    return max(numbers[::2], default=ceiling.count), max(numbers[1::2], default=ceiling.count)


def count_participants(tree: CostTree, place: Place, resource: str) -> list[tuple[Expr, Expr]]:
    """Number of components of a place that each block of the roofline has work for, and the number that would serve as
    much at their full rate, where both are known outside of loops. A memory on which few cores draw sends less than its
    full rate (`cost.sharing`)."""
    blocks = (
        cost for cost in tree.blocks.values() if any(it.requirement.resource in PLACED_BY for it in cost.requirements)
    )
    core_and_line = _core_and_line(tree, place)
    pairs: dict[tuple[Expr, Expr], None] = {}
    for instances in (cost.instances for cost in blocks):
        used = instances.count_used(place)
        pairs[used, graph.mul(used, sharing(instances, place, *core_and_line, resource).saturation)] = None
    return [pair for pair in pairs if all(graph.free_symbols(expr) <= tree.definitions.keys() for expr in pair)]


def _core_and_line(tree: CostTree, place: Place) -> tuple[Place | None, Expr | None]:
    """The core that draws on a level of memory, and the bytes of a line of that level."""
    where = tree.residence.where
    return where.core, place.component.value("cacheline") or where.line


# -- settings --------------------------------------------------------------------------------------


def _settings_of_machine(machine: Machine, settings: dict[str, Setting], has_applications: bool) -> dict[str, Setting]:
    """Settings that concern the machine; without an application all do."""
    if not has_applications:
        return settings
    names = {name: graph.symbol(name.removeprefix("machine:"), OWNER) for name in settings}
    return {name: value for name, value in settings.items() if names[name] in machine.definitions}


def _share_settings(cases: Sequence[Case], settings: dict[str, Setting]) -> list[dict[str, Setting]]:
    """The settings of the parameters that each application has. A parameter that no application has is an error."""
    scopes = [Prediction(case).scope for case in cases]
    known: list[dict[str, Setting]] = [{} for _ in cases]
    for name, value in settings.items():
        errors = []
        for scope, found in zip(scopes, known, strict=True):
            try:
                scope.symbol(name)
                found[name] = value
            except AspenError as error:
                errors.append(error)
                if error.diagnostics[0].code != "unknown-parameter":
                    raise
        if errors and len(errors) == len(cases):
            raise errors[0]
    return known
