"""Roofline: what a machine can do at most, by operational intensity, and where kernels stand below it.

After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009: a kernel
of I flops a byte does no more than min(peak, I * bandwidth). Ceilings are idealised: the time of large amounts, in
which latencies drop out, over all components, none of which is idle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from aspenpy.analysis.peaks import LARGE, Peak, peaks
from aspenpy.application import flow
from aspenpy.application.model import Application
from aspenpy.application.total import Totaller, Totals, added
from aspenpy.diagnostics import AspenError, fail
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.machine.model import OWNER, Machine
from aspenpy.mapping.compute import choose_socket, price, target
from aspenpy.mapping.cost import CostTree, conflict_groups
from aspenpy.mapping.mapper import map_application
from aspenpy.prediction import Prediction
from aspenpy.record import Record
from aspenpy.scope import DEFAULT_SEED, Setting

COMPUTE = "flops"
MEMORY = ("loads", "stores")
PLACED_BY = (COMPUTE, *MEMORY)
"""The resources that a roofline knows."""


class Ceiling(Record):
    """The most flops, or bytes, a second under some traits: of one of the `count` components, and of all."""

    resources: tuple[str, ...]
    traits: tuple[str, ...]
    path: tuple[str, ...]
    count: float
    one: float
    rate: float

    @property
    def component(self) -> str:
        return self.path[-1]


class Point(Record):
    """A kernel's own blocks, or a whole application (`kernel` is None), below the roof.

    `intensity` is flops a byte, None where no byte crosses the memory bus. `attainable` is what the ceilings of its own
    traits leave, `bound_by` the resources whose ceiling that is; `predicted` is what it does, `waits_for` the resource
    that it then waits for longest. Rates in flops a second, `time` in seconds.
    """

    application: str
    kernel: str | None
    flops: float
    volume: float
    intensity: float | None
    attainable: float
    bound_by: tuple[str, ...]
    predicted: float
    waits_for: str | None
    time: float

    @property
    def name(self) -> str:
        return self.application if self.kernel is None else f"{self.application}.{self.kernel}"


class Roofline:
    """The ceilings of a machine, and applications below them. Raises AspenError where it offers no flops."""

    def __init__(
        self,
        machine: Machine,
        applications: Sequence[tuple[Application, str]] = (),
        *,
        socket: str | None = None,
        set: Mapping[str, Setting] | None = None,
        seed: int = DEFAULT_SEED,
        overlap: bool = False,
    ) -> None:
        self.machine = machine
        self.socket = choose_socket(machine, socket)
        settings = dict(set or {})
        trees = [
            map_application(application, machine, socket=self.socket, kernel=kernel, overlap=overlap)
            for application, kernel in applications
        ]
        self.settings = _of_machine(machine, settings, bool(trees))
        self.predictions = [Prediction(tree, known, seed) for tree, known in _shared_out(trees, settings)]
        if not self.compute:
            message = f"machine `{machine.name}` does no `{COMPUTE}` at a rate that it alone tells"
            fail("no-ceiling", message, machine.root.name_span, hint="a core offers `resource flops(n) [n/clock]`")

    @cached_property
    def _peaks(self) -> list[Peak]:
        return peaks(self.machine, self.socket, set=self.settings, everywhere=True)

    @cached_property
    def compute(self) -> tuple[Ceiling, ...]:
        """The ceilings of flops, each combination of traits."""
        return tuple(_ceiling(peak) for peak in self._peaks if peak.resource == COMPUTE and peak.of_all)

    @cached_property
    def memory(self) -> tuple[Ceiling, ...]:
        """The bandwidths. Loads and stores of one memory that take turns at the same rate are one ceiling."""
        found: list[Ceiling] = []
        conflicts = target(self.machine, self.socket).conflicts
        together = not conflicts.isdisjoint((MEMORY, MEMORY[::-1]))
        for ceiling in (_ceiling(peak) for peak in self._peaks if peak.resource in MEMORY and peak.of_all):
            same = [other for other in found if together and _alike(other, ceiling)]
            if same:
                found[found.index(same[0])] = same[0].replace(resources=(*same[0].resources, *ceiling.resources))
            else:
                found.append(ceiling)
        return tuple(found)

    @staticmethod
    def ridge(compute: Ceiling, memory: Ceiling) -> float:
        """The operational intensity, in flops a byte, from which on the memory is no longer what bounds."""
        return compute.rate / memory.rate

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Each application and behind it its kernels that do flops, the one that takes longest first."""
        return tuple(point for prediction in self.predictions for point in _points(prediction))

    def __str__(self) -> str:
        from aspenpy.present.plain import as_text
        from aspenpy.present.roofline import page

        return as_text(page(self))


def roofline(
    machine: Machine,
    apps: Iterable[Application] = (),
    *,
    socket: str | None = None,
    kernel: str = "main",
    set: Mapping[str, Setting] | None = None,
    seed: int = DEFAULT_SEED,
    overlap: bool = False,
) -> Roofline:
    """The ceilings of a machine, and `kernel` of each application below them; the arguments are those of `predict`.
    A setting holds for every model that has the name."""
    asked = [(app, kernel) for app in apps]
    return Roofline(machine, asked, socket=socket, set=set, seed=seed, overlap=overlap)


# -- ceilings --------------------------------------------------------------------------------------


def _ceiling(peak: Peak) -> Ceiling:
    one, count = float(peak.limit or 0), float(peak.count or 0)
    return Ceiling((peak.resource,), peak.traits, peak.path, count, one, float(peak.of_all or 0))


def _alike(first: Ceiling, second: Ceiling) -> bool:
    return (first.path, first.traits, first.rate) == (second.path, second.traits, second.rate)


# -- settings --------------------------------------------------------------------------------------


def _of_machine(machine: Machine, settings: dict[str, Setting], has_applications: bool) -> dict[str, Setting]:
    """What is set of the machine; without an application everything is meant for it."""
    if not has_applications:
        return settings
    names = {name: graph.symbol(name.removeprefix("machine:"), OWNER) for name in settings}
    return {name: value for name, value in settings.items() if names[name] in machine.definitions}


def _shared_out(trees: Sequence[CostTree], settings: dict[str, Setting]) -> list[tuple[CostTree, dict[str, Setting]]]:
    """What is set of each application. What none of them has is an error, told for the first."""
    scopes = [Prediction(tree, {}).scope for tree in trees]
    known: list[dict[str, Setting]] = [{} for _ in trees]
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
        if errors and len(errors) == len(trees):
            raise errors[0]
    return list(zip(trees, known, strict=True))


# -- points ----------------------------------------------------------------------------------------


def _points(prediction: Prediction) -> list[Point]:
    totals = Totaller(_Ideal(prediction.tree)).kernel(prediction.tree.entry)
    exprs = graph.substitute(list(totals.values()), {prediction.tree.entry.context: graph.ZERO})
    numbers = prediction.scope.values(exprs, prediction.seed)
    values = {key: float(value) for key, value in zip(totals, numbers, strict=True)}
    worst = prediction.bottleneck
    whole = _point(prediction, None, values, prediction.runtime, worst.resource if worst else None)
    uses = sorted(prediction.kernels, key=lambda use: -use.exclusive)
    found = [_point(prediction, use.name, values, use.exclusive, use.bound_by) for use in uses]
    return [point for point in (whole, *found) if point is not None]


def _point(
    prediction: Prediction, kernel: str | None, values: Mapping[Any, float], time: float, waits_for: str | None
) -> Point | None:
    """None for what does no flops, or takes no time."""
    amounts = {name: values.get(("amount", kernel, name), 0.0) for name in PLACED_BY}
    flops, volume = amounts[COMPUTE], sum(amounts[name] for name in MEMORY)
    ideal = {name: values[key] for name in PLACED_BY if values.get(key := ("ideal", kernel, name), 0.0) > 0}
    if not flops or not time or COMPUTE not in ideal:
        return None
    groups = conflict_groups(dict.fromkeys(ideal, graph.ONE), prediction.tree.conflicts)
    spent = {group.resources: sum(ideal[name] for name in group.resources) for group in groups}
    slowest = max(spent, key=spent.__getitem__)
    return Point(
        prediction.application.name,
        kernel,
        flops,
        volume,
        flops / volume if volume else None,
        flops / spent[slowest],
        slowest,
        flops / time,
        waits_for,
        time,
    )


class _Ideal:
    """What kernels ask for, and how long that takes at least, in keys `("amount", kernel, resource)` and
    `("ideal", kernel, resource)`; None stands for all kernels together."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree
        self.where = target(tree.machine, tree.socket)

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        wanted = [item for item in block.requirements if item.resource in PLACED_BY]
        return added(self._requirement(item, block, name) for item in wanted for name in (kernel.name, None))

    def _requirement(self, asked: flow.Requirement, block: flow.Block, kernel: str | None) -> Totals:
        """P times the amount, at the seconds that one more takes where there are many already, on all components."""
        first, second = (
            price(asked.replace(amount=graph.number(amount)), graph.ONE, self.where, self.tree.origins)
            for amount in LARGE[:2]
        )
        amount = graph.mul(block.parallelism, asked.amount)
        found: Totals = {("amount", kernel, asked.resource): amount}
        if first.offer is None:
            return found
        slope = graph.div(_difference(second.serial, first.serial), graph.number(LARGE[1] - LARGE[0]))
        return found | {("ideal", kernel, asked.resource): graph.mul(amount, graph.div(slope, first.offer.place.count))}

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        return added(branches)

    def call(self, call: flow.Call, callee: Totals) -> Totals:
        return callee


def _difference(more: Expr, less: Expr) -> Expr:
    return graph.add(more, graph.mul(graph.number(-1), less))
